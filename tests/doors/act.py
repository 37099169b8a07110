"""The action as a runner runs it: act, on this machine itself, with no container.

What the script does with each input is held by tests/action.rs; here is what only a runner shows: that
action.yml hands inputs and outputs on, and the whole way of a release, from packing to the cache.
"""

import hashlib
import json
import os
import re
import shutil
import unittest

from support import BAD, GOOD, NAME, ODD, PROGRAM, ROOT, Case, Server, commit, needs, run, unescaped, write

# All that the action may need of a machine; no wget, no jq (C 51).
NEEDED = "bash cat chmod curl cut dirname gzip head mkdir mktemp rm sed sh sha256sum tar wc".split()
HEAD = """\
on: push
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
        with:
          persist-credentials: false
"""
# Written by the last step, which runs whatever the others came to.
TAIL = """\
      - if: always()
        run: printf '%s' "$STEPS" >"$RECORD"
        env:
          STEPS: ${{ toJSON(steps) }}
"""


def linter(name, **inputs):
    """A step that uses the action."""
    text = f"      - uses: ./\n        id: {name}\n        continue-on-error: true\n        with:\n"
    for key, value in inputs.items():
        text += f"          {key.replace('_', '-')}: {json.dumps(str(value))}\n"
    return text


def shell(*lines):
    """A step that changes something between two others."""
    return "      - run: |\n" + "".join(f"          {line}\n" for line in lines)


class Act(Case):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "repository"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in NEEDED:
            (self.bin / name).symlink_to(shutil.which(name))
        shutil.copytree(ROOT / ".github/action", self.work / ".github/action")
        for name in ["action.yml", "Cargo.toml"]:
            shutil.copy(ROOT / name, self.work)

    def act(self, steps, files):
        """Runs steps over files: the log, and outcome and outputs of each step."""
        write(self.work, files)
        write(self.work, {".github/workflows/test.yml": HEAD + steps + TAIL})
        commit(self.work)
        record, home = self.folder / "record", self.folder / "home"
        home.mkdir()
        alone = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "PATH": str(self.bin)}
        log = run(
            *[shutil.which("act"), "push", "--workflows", ".github/workflows/test.yml"],
            *["--platform", "ubuntu-latest=-self-hosted", "--use-gitignore=false"],
            *["--env", f"PATH={self.bin}", "--env", f"RECORD={record}"],
            cwd=self.work,
            env=alone,
        ).stdout
        self.assertTrue(record.exists(), log)
        return log, json.loads(record.read_text(encoding="utf-8"))

    def one(self, files, **inputs):
        """One step with the program at hand: the log, its outcome, its outputs."""
        log, steps = self.act(linter("linter", binary=PROGRAM, **inputs), files)
        step = steps["linter"]
        return log, step["outcome"], step["outputs"]

    @needs("act")
    def test_a_clean_repository_passes(self):
        log, outcome, outputs = self.one({"good.py": GOOD}, args="--exclude\ntarget")
        self.assertEqual(outcome, "success", log)
        counts = {"findings": "0", "justified": "1", "problems": "0", "exit-code": "0"}
        self.assertEqual(outputs, outputs | counts)
        self.assertIn("Summary - ## Detached spawns", log)
        self.assertIn("the updater must outlive the process that it replaces", log)
        self.assertNotIn("::error", log)

    @needs("act")
    def test_findings_fail_the_step(self):
        files = {"pkg/bad.py": BAD, "good.py": GOOD}
        log, outcome, outputs = self.one(files, sarif_file="out.sarif", working_directory="pkg", paths=".\n../good.py")
        self.assertEqual(outcome, "failure", log)
        counts = {"findings": "1", "justified": "1", "problems": "0", "exit-code": "1", "sarif-file": "out.sarif"}
        self.assertEqual(outputs, outputs | counts)
        # From the root, whatever the working directory is (C 42).
        self.assertRegex(log, r"::error title=[^ ]*,file=pkg/bad\.py,line=2,")

    @needs("act")
    def test_bad_input_fails_even_where_findings_do_not(self):
        log, outcome, outputs = self.one({"bad.py": BAD}, paths="missing.py\nbad.py", fail_on_findings="false")
        self.assertEqual((outcome, outputs["exit-code"]), ("failure", "2"), log)
        self.assertIn("missing.py", log)

    @needs("act")
    def test_names_may_hold_anything(self):
        folder = "a b,c:d%0A::error::x"
        files = {f"{folder}/{ODD}": BAD, f"{folder}/good.py": GOOD}
        log, outcome, outputs = self.one(files, paths=f"{folder}/{ODD}\n{folder}/good.py\n")
        self.assertEqual((outcome, outputs["findings"], outputs["justified"]), ("failure", "1", "1"), log)
        named = re.search(r"::error title=[^ ]*,file=(.*?),line=2,", log).group(1)
        self.assertEqual(unescaped(named), f"{folder}/{ODD}")

    @needs("act")
    def test_a_release_is_downloaded_verified_and_kept(self):
        target = "x86_64-unknown-linux-musl"
        version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M).group(1)
        served = self.folder / "served" / f"v{version}"
        # A debug build is large, and packing it slow; CHECK_ALL=1 packs it all the same.
        write(self.folder, {"built": f'#!/bin/sh\nexec {PROGRAM} "$@"\n'})
        (self.folder / "built").chmod(0o755)
        built = PROGRAM if os.environ.get("CHECK_ALL") else self.folder / "built"
        self.content(run("python3", ROOT / ".github/release/pack.py", target, built, served))
        archive = served / f"{NAME}-{target}.tar.gz"
        kept, sums, called = self.folder / "kept", ".github/action/SHA256SUMS", self.folder / "called"
        shutil.copy(archive, kept)
        good = f"{hashlib.sha256(kept.read_bytes()).hexdigest()}  {archive.name}\n"
        # A cargo that says how it was called, and builds by copying; the last word is the target folder.
        write(self.bin, {"cargo": f'#!/bin/sh\necho "$@" >{called}\nfor last; do :; done\n'
              f'mkdir -p "$last/release"\ncat {PROGRAM} >"$last/release/{NAME}"\nchmod +x "$last/release/{NAME}"\n'})
        (self.bin / "cargo").chmod(0o755)
        with Server(self.folder / "served") as server:
            use = {"base_url": server.url, "paths": "good.py"}
            log, steps = self.act(
                linter("first", **use)
                + shell(f"rm {archive}")
                + linter("cached", **use)
                + shell(f"cat {kept} >{archive}", f"printf '%064d  {archive.name}\\n' 0 >{sums}")
                + linter("wrong", **use)
                + shell(f"head -c {kept.stat().st_size // 2} {kept} >{archive}", f"echo '{good.strip()}' >{sums}", 'rm -rf "$RUNNER_TOOL_CACHE"')
                + linter("truncated", **use)
                + shell(f"rm {archive}")
                + linter("built", **use),
                {"good.py": GOOD, sums: good},
            )
        outcomes = {name: step["outcome"] for name, step in steps.items() if not name.isdigit()}
        wanted = {"first": "success", "cached": "success", "wrong": "failure", "truncated": "failure", "built": "success"}
        self.assertEqual(outcomes, wanted, log)
        self.assertEqual(log.count("nothing was run"), 2, log)
        self.assertEqual(steps["built"]["outputs"]["justified"], "1")
        self.assertIn("--release --locked --manifest-path", called.read_text(encoding="utf-8"))
        # Once for each but the cached one: a file that is not there is not asked for again.
        self.assertEqual(server.asked, [f"/v{version}/{archive.name}"] * 4)


if __name__ == "__main__":
    unittest.main()
