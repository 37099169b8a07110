#!/usr/bin/env python3
"""How fast the linter is beside others, as a table for the README.

    python3 tests/support/speed.py target/release/check-detached-spawns FOLDER [--runs 7] [--only rg,ruff]

FOLDER gets two corpora from the registries, once: `site` (Python packages with all that they need, about
22 000 files) and `crates` (vendored Rust crates, about 30 000 files). Each round runs every tool once, so that
whatever else the machine does meets all of them. A tool that is not installed is left out:
`pip install ruff ast-grep-cli semgrep`, and ripgrep.
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from compare import AST_GREP, SEMGREP  # noqa: E402

PACKAGES = """
aiohttp ansible-core babel bandit black buildbot celery cryptography dask distributed django fabric fastapi
flask gunicorn hatch invoke ipykernel jupyter_client jupyterlab luigi lxml matplotlib mlflow-skinny mypy
networkx nltk notebook nox numpy pandas paramiko pexpect poetry-core pre-commit protobuf psutil pyarrow pylint
pytest python-daemon scikit-learn scipy scrapy setuptools sphinx sqlalchemy statsmodels streamlit sympy tox
twisted uvicorn
""".split()

CRATES = """
[package]
name = "corpus"
version = "0.0.0"
edition = "2024"
[dependencies]
axum = "*"
bevy = "*"
cargo = "*"
clap = "*"
nextest-runner = "*"
nix = { version = "*", features = ["process", "signal"] }
process-wrap = "*"
reqwest = "*"
sqlx = "*"
tokio = { version = "1", features = ["full"] }
tonic = "*"
watchexec = "*"
"""

WORDS = {
    "py": """start_new_session process_group preexec_fn setsid setpgid setpgrp os.fork forkpty DETACHED_PROCESS
        CREATE_NEW_PROCESS_GROUP CREATE_BREAKAWAY_FROM_JOB nohup disown daemonize systemd-run posix_spawn
        creationflags login_tty start-stop-daemon DaemonContext""".split(),
    "rs": """process_group setsid setpgid setpgrp pre_exec before_exec creation_flags DETACHED_PROCESS
        CREATE_NEW_PROCESS_GROUP CREATE_BREAKAWAY_FROM_JOB daemonize daemon( nohup disown systemd-run fork(
        posix_spawn group_spawn ProcessGroup ProcessSession forkpty login_tty POSIX_SPAWN_SETSID""".split(),
}

RUFF = """
[lint]
preview = true
select = ["PLW1509", "TID251"]
[lint.flake8-tidy-imports.banned-api]
"os.setsid".msg = "detaches"
"os.setpgrp".msg = "detaches"
"os.fork".msg = "detaches"
"""


def fetch(folder):
    """Both corpora below `folder`; what is there is taken as it is."""
    site, crates = folder / "site", folder / "crates"
    if not site.is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*pip, "--no-warn-conflicts", "--target", site, *PACKAGES], check=True)
    if not crates.is_dir():
        source = folder / "rust" / "src"
        source.mkdir(parents=True, exist_ok=True)
        (source / "lib.rs").write_text("")
        (source.parent / "Cargo.toml").write_text(CRATES)
        subprocess.run(
            ["cargo", "vendor", "--quiet", crates], cwd=source.parent, check=True, stdout=subprocess.DEVNULL
        )
    return {"py": site, "rs": crates}


def tools(linter, language, corpus, own):
    """The command of each tool, by its name."""
    words = own / f"words.{language}"
    words.write_text("\n".join(WORDS[language]) + "\n")
    rules = {"ruff.toml": RUFF, "rules.yml": AST_GREP, "semgrep.yml": SEMGREP, ".semgrepignore": ""}
    for name, text in rules.items():
        (own / name).write_text(text)
    found = {"check-detached-spawns": [linter, corpus]}
    found["rg -l, words"] = ["rg", "-l", "-uuu", "-F", "-f", words, "-g", f"*.{language}", corpus]
    if language == "py":
        found["ruff, two rules"] = ["ruff", "check", "--no-cache", "--config", own / "ruff.toml", corpus]
    found["ast-grep"] = ["ast-grep", "scan", "--rule", own / "rules.yml", "--no-ignore", "vcs", corpus]
    found["semgrep"] = [
        "semgrep", "scan", "--config", own / "semgrep.yml", "--metrics", "off", "--disable-version-check",
        "--no-git-ignore", "--max-target-bytes", "0", "-j", "2", "-q", corpus,
    ]
    return {name: command for name, command in found.items() if shutil.which(str(command[0]))}


def measure(command, own):
    """Wall seconds, seconds of all processors, and the peak of memory in MB of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    # Waited for by number: only so is the peak that of this one.
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen([str(word) for word in command], stdout=nowhere, stderr=nowhere, cwd=own)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if child.returncode not in (0, 1):
        sys.exit(f"{command[0]} ended with {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, usage.ru_maxrss / 1024


def table(linter, language, corpus, runs, only):
    files = [path for path in corpus.rglob(f"*.{language}") if path.is_file()]
    size = sum(path.stat().st_size for path in files) // 1_000_000
    print(f"\n{len(files)} .{language} files, {size} MB, median of {runs} runs in turn\n")
    print("| tool | wall, s | all processors, s | peak, MB | wall ÷ `rg` |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as own:
        all_tools = tools(linter, language, corpus, pathlib.Path(own))
        kept = {name: cmd for name, cmd in all_tools.items() if not only or name.split()[0].rstrip(",") in only}
        figures = {name: [] for name in kept}
        for command in kept.values():
            measure(command, own)  # Once for the caches.
        for _ in range(runs):
            for name, command in kept.items():
                figures[name].append(measure(command, own))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in figures.items()}
    base = medians.get("rg -l, words", [None])[0]
    for name, (wall, cpu, peak) in medians.items():
        ratio = f"{wall / base:.1f}" if base else "–"
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {ratio} |")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("linter")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--runs", type=int, default=7)
    words.add_argument("--only", default="", help="names of tools, commas between")
    given = words.parse_args()
    linter = os.path.realpath(given.linter)
    only = [name for name in given.only.split(",") if name]
    given.folder.mkdir(parents=True, exist_ok=True)
    for language, corpus in fetch(given.folder.resolve()).items():
        table(linter, language, corpus, given.runs, only)


if __name__ == "__main__":
    main()
