"""The wheel as pip builds and installs it, without a network: the build's own tools are those that are installed.

The build has a target folder of its own beside the one of the tests, and takes the profile of development.
"""

import os
import pathlib
import sys
import sysconfig
import unittest
import zipfile

from support import BAD, GOOD, NAME, PROGRAM, ROOT, Case, needs, run, write

TARGET = pathlib.Path(PROGRAM).resolve().parents[1] / "wheel"
# A build from nothing on a busy machine.
LIMIT = 1500


class Wheel(Case):
    def pip(self, python, *arguments):
        """Runs pip with the cargo settings of a test; whatever it builds is built by maturin."""
        alone = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_NET_OFFLINE": "true"}
        # A fresh environment finds the backend, and nothing else of ours.
        backend = self.folder / "backend"
        if not backend.exists():
            import maturin

            backend.mkdir()
            (backend / "maturin").symlink_to(pathlib.Path(maturin.__file__).parent)
        pip = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
        done = run(*pip, cwd=self.folder, env={**alone, "PYTHONPATH": str(backend)}, timeout=LIMIT)
        return self.content(done)

    @needs("maturin", "python:maturin", "python:pip", "python:venv", "cargo")
    def test_pip_builds_and_installs_the_command(self):
        # maturin looks at the packages of every platform; a build for this one has not brought them all.
        looked = run("cargo", "metadata", "--locked", "--offline", "--format-version", "1", cwd=ROOT)
        if looked.returncode and os.environ.get("CI") != "true":
            print("not run: packages are missing: cargo fetch --locked", flush=True)
            self.skipTest("packages missing")
        offline = ["--no-index", "--no-deps", "--no-build-isolation", "--config-settings=build-args=--profile=dev"]
        self.pip(sys.executable, "wheel", *offline, "--wheel-dir", self.folder / "wheels", ROOT)
        (wheel,) = (self.folder / "wheels").iterdir()
        # No interpreter and no ABI, for the system that it was built on: any Python 3 there takes it.
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        version = self.content(run(PROGRAM, "--version")).split()[1]
        self.assertEqual(wheel.name, f"check_detached_spawns-{version}-py3-none-{system}.whl")
        with zipfile.ZipFile(wheel) as packed:
            names = packed.namelist()
            metadata = packed.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        for line in [f"Name: {NAME}", f"Version: {version}", "License: MIT OR Apache-2.0", "License-File: LICENSE-MIT"]:
            self.assertIn(f"\n{line}\n", metadata)
        programs = [name for name in names if ".data/" in name]
        self.assertEqual(programs, [f"check_detached_spawns-{version}.data/scripts/{NAME}"])

        fresh = self.folder / "fresh"
        self.content(run(sys.executable, "-m", "venv", fresh))
        self.pip(fresh / "bin/python", "install", *offline, ROOT)
        write(self.folder, {"work/bad.py": BAD, "work/good.py": GOOD})
        path = {**os.environ, "PATH": f"{fresh / 'bin'}:/usr/bin:/bin"}
        self.assertEqual(run("sh", "-c", f"command -v {NAME}", env=path).stdout.strip(), str(fresh / "bin" / NAME))
        for name, status in [("bad.py", 1), ("good.py", 0)]:
            done = run(NAME, "--output-format", "concise", name, cwd=self.folder / "work", env=path)
            self.assertEqual(done.returncode, status, done.stdout)


if __name__ == "__main__":
    unittest.main()
