"""The scripts of a release: what is packed, and what the tag holds."""

import hashlib
import os
import shutil
import tarfile
import time
import tomllib
import unittest

from support import NAME, PROGRAM, ROOT, Case, git, run

PACK = ROOT / ".github/release/pack.py"


class Release(Case):
    def pack(self, program, folder="packed"):
        done = run("python3", PACK, "x86_64-unknown-linux-musl", program, self.folder / folder)
        self.content(done)
        return self.folder / folder / f"{NAME}-x86_64-unknown-linux-musl.tar.gz"

    def program(self):
        # The name in the archive does not come from here, and the debug build takes long to pack.
        path = self.folder / "built"
        path.write_text(f'#!/bin/sh\nexec {PROGRAM} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_an_archive_holds_what_people_look_for(self):
        with tarfile.open(self.pack(self.program())) as archive:
            modes = {entry.name: entry.mode for entry in archive}
            archive.extract(NAME, self.folder)
            texts = {name: archive.extractfile(name).read().decode() for name in modes}
        beside = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md", "schema.json", "config-schema.json"]
        said = [f"{NAME}.1", *(f"completions/{name}" for name in [f"{NAME}.bash", f"_{NAME}", f"{NAME}.fish"])]
        said += [f"completions/{name}" for name in [f"{NAME}.elv", f"_{NAME}.ps1"]]
        self.assertEqual(modes, {NAME: 0o755, **dict.fromkeys(beside + said, 0o644)})
        self.assertIn(f".TH {NAME} 1", texts[f"{NAME}.1"].replace("\\-", "-"))
        for name in said:
            self.assertIn("list-justified", texts[name].replace("\\-", "-"), name)
        version = self.content(run(self.folder / NAME, "--version"))
        self.assertTrue(version.startswith(NAME), version)

    def test_binstall_is_told_the_names_of_the_archives(self):
        cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["metadata"]
        told = {key: cargo["binstall"][key] for key in ("pkg-url", "bin-dir", "pkg-fmt")}
        archive = self.pack(self.program())
        values = {"{ name }": NAME, "{ bin }": NAME, "{ target }": "x86_64-unknown-linux-musl", "{ binary-ext }": ""}
        for hole, value in values.items():
            told = {key: text.replace(hole, value) for key, text in told.items()}
        self.assertEqual(told["pkg-url"].rsplit("/", 1)[1], archive.name)
        self.assertEqual(told["pkg-url"].rsplit("/", 2)[1], "v{ version }")
        with tarfile.open(archive, "r:gz") as packed:
            self.assertIn(told["bin-dir"], packed.getnames())

    def test_windows_keeps_its_suffix(self):
        shutil.copy(self.program(), self.folder / "built.exe")
        with tarfile.open(self.pack(self.folder / "built.exe")) as archive:
            self.assertIn(f"{NAME}.exe", archive.getnames())

    def test_the_same_program_gives_the_same_bytes(self):
        program = self.program()
        first = self.pack(program).read_bytes()
        os.utime(program, (1, 1))
        self.assertNotEqual(int(time.time()), 1)
        self.assertEqual(self.pack(program, "again").read_bytes(), first)

    def test_no_program_is_said(self):
        done = run("python3", PACK, "t", self.folder / "none", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("build it first", done.stdout)

    def test_the_tag_holds_the_checksums_and_nothing_else(self):
        archive = self.pack(self.program(), "release")
        origin, work = self.folder / "origin", self.folder / "work"
        (work / ".github").mkdir(parents=True)
        for name in ["action", "release"]:
            shutil.copytree(ROOT / ".github" / name, work / ".github" / name)
        (work / "Cargo.toml").write_text('version = "1.2.3"\n', encoding="utf-8")
        git(self.folder, "init", "--quiet", "--bare", str(origin))
        git(work, "init", "--quiet")
        git(work, "add", "--all")
        git(work, "commit", "--quiet", "--message", "built from this")
        git(work, "remote", "add", "origin", str(origin))
        who = {f"GIT_{role}_{what}": "t@localhost" for role in ["AUTHOR", "COMMITTER"] for what in ["NAME", "EMAIL"]}
        done = run(work / ".github/release/tag.sh", archive.parent, env={**os.environ, **who})
        self.assertEqual(self.content(done), "v1.2.3\n")
        self.assertEqual(git(origin, "tag").split(), ["v1.2.3"])
        self.assertEqual(git(origin, "branch"), "")
        changed = git(origin, "diff", "--name-only", "v1.2.3~1", "v1.2.3").split()
        self.assertEqual(changed, [".github/action/SHA256SUMS"])
        line = f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"
        self.assertEqual(git(origin, "show", "v1.2.3:.github/action/SHA256SUMS"), line)
        self.assertEqual((archive.parent / "SHA256SUMS").read_text(encoding="utf-8"), line)


if __name__ == "__main__":
    unittest.main()
