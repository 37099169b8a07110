"""The hooks as pre-commit and prek run them, over a repository of many files.

The hook that builds the linter is built by the weekly job of .github/workflows/ci.yml; here the
installed program runs, by the same manifest. CHECK_ALL=1 takes 4000 files instead of 600.
"""

import os
import re
import unittest

from support import BAD, NAME, ODD, PROGRAM, ROOT, Case, commit, git, needs, output, run, write

COUNT = 4000 if os.environ.get("CHECK_ALL") else 600
# So long that no command line of pre-commit's holds all of them: C 36.
LONG = "a-folder-with-a-name-that-is-as-long-as-names-may-be-" * 4
HOOK = f"{NAME}-system"


class Hooks(Case):
    def setUp(self):
        super().setUp()
        self.hooks, self.work, self.bin = (self.folder / name for name in ["hooks", "work", "bin"])
        manifest = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        write(self.hooks, {".pre-commit-hooks.yaml": manifest})
        commit(self.hooks)
        self.bin.mkdir()
        (self.bin / NAME).symlink_to(PROGRAM)
        self.alone = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PRE_COMMIT_HOME": str(self.folder / "pre-commit"),
            "PREK_HOME": str(self.folder / "prek"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }

    def consumer(self):
        """Many files; every thirtieth detaches, and so do one script without a suffix and an odd name."""
        text = {True: BAD, False: "import subprocess\nsubprocess.run(['x'])\n"}
        files = {f"{LONG}/{index}.py": text[index % 30 == 0] for index in range(COUNT)}
        files |= {ODD: BAD, "bin/tool": f"#!/usr/bin/env python3\n{BAD}", "README": "words\n", "stub.pyi": BAD}
        write(self.work, files)
        (self.work / "bin/tool").chmod(0o755)
        (self.work / "link.py").symlink_to(ODD)
        commit(self.work)
        return len(range(0, COUNT, 30)) + 2

    def check(self, tool, least):
        wanted = self.consumer()
        done = run(tool, "try-repo", self.hooks, HOOK, "--all-files", "--verbose", cwd=self.work, env=self.alone)
        self.assertEqual(done.returncode, 1, done.stdout)
        counts = [int(count) for count in re.findall(r"(\d+) findings? \(", done.stdout)]
        self.assertGreaterEqual(len(counts), least, f"too few processes: {done.stdout[-2000:]}")
        self.assertEqual(sum(counts), wanted, done.stdout[-2000:])
        # The same as one run by hand, name by name.
        alone, status = output(self.work, "--output-format", "concise")
        self.assertEqual(status, 1)
        places = set(re.findall(r"^(.*?):(\d+):\d+: detaching-spawn", alone.decode(), re.M))
        self.assertEqual(len(places), wanted)
        for path, _ in places:
            self.assertIn(path.rsplit("/", 1)[-1], done.stdout)
        self.assertNotIn("link.py", done.stdout)
        self.assertNotIn("stub.pyi", done.stdout)

    @needs("pre-commit")
    def test_pre_commit_finds_what_one_run_finds(self):
        self.check("pre-commit", 2)

    @needs("prek")
    def test_prek_finds_what_one_run_finds(self):
        # As much goes to one process as the system takes, which is more than pre-commit gives.
        self.check("prek", 1)

    @needs("pre-commit", "prek")
    def test_an_excluded_file_named_by_hand_stays_out(self):
        # C 22: pre-commit names files, and names are read whatever is excluded, but for --force-exclude.
        write(self.work, {"gen/bad.py": BAD, "good.py": "x = 1\n"})
        rev = git(self.hooks, "rev-parse", "HEAD").strip()
        config = f"repos:\n  - repo: {self.hooks}\n    rev: {rev}\n    hooks:\n      - id: {HOOK}\n"
        excluding = f"{config}        args: [--exclude, gen/]\n"
        write(self.work, {"all.yaml": config, ".pre-commit-config.yaml": excluding})
        commit(self.work)
        for tool in ["pre-commit", "prek"]:
            for config, status in [(".pre-commit-config.yaml", 0), ("all.yaml", 1)]:
                command = [tool, "run", "--config", config, "--files", "gen/bad.py", "good.py"]
                done = run(*command, cwd=self.work, env=self.alone)
                self.assertEqual(done.returncode, status, done.stdout)

    @needs("pre-commit")
    def test_the_manifest_is_valid(self):
        self.content(run("pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"))

    def test_the_root_can_be_installed(self):
        # C 37: a hook in Rust is installed from the root, so the root must be a package with a program.
        manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
        self.assertRegex(manifest, rf'(?m)^\[package\]\nname = "{NAME}"$')
        self.assertTrue((ROOT / "src/main.rs").is_file())


if __name__ == "__main__":
    unittest.main()
