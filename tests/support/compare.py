#!/usr/bin/env python3
"""What others find in the fixtures: a table for the README.

    python3 tests/support/compare.py target/release/check-detached-spawns

The truth is what the linter reports there, which the tests hold to the markers in the fixtures. A tool
that is not installed is left out: `pip install ruff ast-grep-cli semgrep`, and ripgrep.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ["fixtures/python", "fixtures/rust", "fixtures/shell"]

WORDS = (
    "setsid|setpgid|setpgrp|start_new_session|process_group|preexec_fn|pre_exec|forkpty|posix_spawn"
    "|creationflags|creation_flags|DETACHED_PROCESS|nohup|[dD]aemon|systemd-run|tmux|disown"
)

# What a team would write for its own spawns, in each tool's words.
AST_GREP = """
id: python-keyword
language: python
severity: error
message: detaches
rule:
  kind: keyword_argument
  has: {field: name, regex: '^(start_new_session|process_group|preexec_fn)$'}
---
id: python-call
language: python
severity: error
message: detaches
rule:
  any: [{pattern: os.setsid()}, {pattern: os.setpgrp()}, {pattern: 'os.setpgid($$$)'}, {pattern: 'os.forkpty()'}]
---
id: rust-method
language: rust
severity: error
message: detaches
rule:
  any:
    - {pattern: '$C.process_group($$$)'}
    - {pattern: '$C.pre_exec($$$)'}
    - {pattern: 'libc::setsid()'}
    - {pattern: 'setsid()'}
"""

SEMGREP = """
rules:
  - id: python
    languages: [python]
    severity: ERROR
    message: detaches
    pattern-either:
      - pattern: $F(..., start_new_session=True, ...)
      - pattern: $F(..., process_group=$N, ...)
      - pattern: $F(..., preexec_fn=$H, ...)
      - pattern: os.setsid()
      - pattern: os.setpgrp()
      - pattern: os.setpgid(...)
  - id: rust
    languages: [rust]
    severity: ERROR
    message: detaches
    pattern-either:
      - pattern: $C.process_group(...)
      - pattern: $C.pre_exec(...)
      - pattern: libc::setsid()
      - pattern: setsid()
"""


def run(*command, ok=(0, 1)):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def truth(program):
    report = json.loads(run(program, "--output-format", "json", "--deny", "all", *FOLDERS))
    spawns = [item for item in report["findings"] + report["justified"] if item["mechanisms"]]
    return [(item["path"], item["line"], item["statement"]) for item in spawns]


def rg():
    lines = run("rg", "--line-number", "--no-heading", "--with-filename", "-e", WORDS, *FOLDERS).splitlines()
    return [(path, int(line)) for path, line, _ in (text.split(":", 2) for text in lines)]


def ruff():
    # Every rule that speaks of starting processes.
    rules = "PLW1509,S404,S602,S603,S604,S605,S606,S607"
    found = json.loads(run("ruff", "check", "--isolated", "--output-format", "json", "--select", rules, *FOLDERS))
    return [(os.path.relpath(item["filename"]), item["location"]["row"]) for item in found]


def ast_grep():
    found = json.loads(run("ast-grep", "scan", "--inline-rules", AST_GREP, "--json", *FOLDERS))
    return [(item["file"], item["range"]["start"]["line"] + 1) for item in found]


def semgrep():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as rules:
        rules.write(SEMGREP)
        rules.flush()
        command = ["semgrep", "scan", "--quiet", "--metrics=off", "--disable-version-check", "--no-git-ignore"]
        found = json.loads(run(*command, "--json", "--config", rules.name, *FOLDERS))
    return [(item["path"], item["start"]["line"]) for item in found["results"]]


def inside(spawn, hit):
    """Whether a tool's line lies in the statement of a spawn."""
    path, line, statement = spawn
    return hit[0] == path and (hit[1] == line or statement["line"] <= hit[1] <= statement["end_line"])


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "check-detached-spawns"
    spawns = truth(program)
    print(f"| | found of {len(spawns)} | alarms where nothing detaches |\n| --- | --- | --- |")
    for name, tool in [("rg", rg), ("ruff", ruff), ("ast-grep", ast_grep), ("semgrep", semgrep)]:
        if not shutil.which(name):
            continue
        hits = set(tool())
        found = sum(any(inside(spawn, hit) for hit in hits) for spawn in spawns)
        alarms = sum(not any(inside(spawn, hit) for spawn in spawns) for hit in hits)
        print(f"| {name} | {found} | {alarms} |", flush=True)


if __name__ == "__main__":
    main()
