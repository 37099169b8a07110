#!/usr/bin/env python3
"""How fast the linter is beside others, as a table and a chart for the README.

    python3 tests/support/speed.py target/release/check-detached-spawns FOLDER [--runs 7] [--only rg,ruff]
        [--chart speed.svg] [--readme]

FOLDER gets two corpora from the registries, once: `site` (Python packages with all that they need, about
22 000 files) and `crates` (vendored Rust crates, about 30 000 files). Each round runs every tool once, so that
whatever else the machine does meets all of them; one that takes more than half a minute runs once. A tool that is
not installed is left out: `pip install ruff ast-grep-cli semgrep`, and ripgrep. The table goes to standard output,
the chart to its file, and what is being done to standard error. `--readme` puts both into the README between its
lines for them, the chart as `.github/speed.svg`.
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
from xml.sax.saxutils import escape

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


OURS, BASE = "check-detached-spawns", "rg -l, words"
ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- speed: made by tests/support/speed.py -->\n", "<!-- end of speed -->"
# Seconds beyond which a tool runs once.
SLOW = 30


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
    # semgrep reads no folder that is named by a link.
    return {"py": site.resolve(), "rs": crates.resolve()}


def tools(linter, language, corpus, own):
    """The command of each tool, by its name."""
    words = own / f"words.{language}"
    words.write_text("\n".join(WORDS[language]) + "\n")
    rules = {"ruff.toml": RUFF, "rules.yml": AST_GREP, "semgrep.yml": SEMGREP, ".semgrepignore": ""}
    for name, text in rules.items():
        (own / name).write_text(text)
    found = {OURS: [linter, "--no-config", corpus]}
    found[BASE] = ["rg", "-l", "-uuu", "-F", "-f", words, "-g", f"*.{language}", corpus]
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


def medians(linter, language, corpus, runs, only):
    """For each tool: median wall seconds, seconds of all processors and peak in MB, and the number of runs."""
    with tempfile.TemporaryDirectory() as own:
        all_tools = tools(linter, language, corpus, pathlib.Path(own))
        kept = {name: cmd for name, cmd in all_tools.items() if not only or name.split()[0].rstrip(",") in only}
        figures = {}
        for name, command in kept.items():
            print(f"{language}: {name}", file=sys.stderr)
            first = measure(command, own)  # For the caches, too: it counts only where it is the one run.
            figures[name] = [first] if first[0] > SLOW else []
        slow = {name for name, rows in figures.items() if rows}
        for turn in range(runs):
            print(f"{language}: turn {turn + 1} of {runs}", file=sys.stderr)
            for name, command in kept.items():
                if name not in slow:
                    figures[name].append(measure(command, own))
    return {name: [*map(statistics.median, zip(*rows)), len(rows)] for name, rows in figures.items() if rows}


def title(language, corpus):
    files = [path for path in corpus.rglob(f"*.{language}") if path.is_file()]
    size = sum(path.stat().st_size for path in files) // 1_000_000
    return f"{len(files)} .{language} files, {size} MB"


def table(figures):
    """The figures in Markdown."""
    lines = ["| tool | wall, s | all processors, s | peak, MB | wall ÷ `rg` | runs |", "| --- " * 6 + "|"]
    base = figures.get(BASE, [None])[0]
    for name, (wall, cpu, peak, runs) in figures.items():
        ratio = f"{wall / base:.1f}" if base else "–"
        lines.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {ratio} | {runs} |")
    return "\n".join(lines)


def chart(parts):
    """Bars of wall seconds in SVG, each part to its own scale: the slowest would leave nothing of the others."""
    left, width, row = 190, 470, 22
    body, y = [], 0
    for heading, figures in parts:
        y += 28
        body.append(f'<text x="0" y="{y}" font-weight="bold">{escape(heading)}: wall time</text>')
        y += 10
        longest = max((wall for wall, *_ in figures.values()), default=1)
        for name, (wall, *_) in figures.items():
            bar = max(1.5, wall / longest * width)
            fill = "#2563eb" if name == OURS else "#9ca3af"
            body.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
            body.append(f'<rect x="{left}" y="{y + 3}" width="{bar:.1f}" height="{row - 6}" rx="2" fill="{fill}"/>')
            body.append(f'<text x="{left + bar + 6:.1f}" y="{y + 15}">{wall:.2f} s</text>')
            y += row
    size = f'width="{left + width + 80}" height="{y + 10}" viewBox="0 0 {left + width + 80} {y + 10}"'
    # Shown on a light page or a dark one: a grey that both let through.
    style = 'font-family="sans-serif" font-size="13" fill="#6b7280"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n' + "\n".join(body) + "\n</svg>\n"


def put(text):
    """Into the README, between the two lines that say so."""
    page = ROOT / "README.md"
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{page} has no lines {BEGIN.strip()} and {END}")
    page.write_text(before + begin + text + end + after)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("linter")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--runs", type=int, default=7)
    words.add_argument("--only", default="", help="names of tools, commas between")
    words.add_argument("--chart", type=pathlib.Path, help="an SVG file to write")
    words.add_argument("--readme", action="store_true", help="write the table and the chart into the README")
    given = words.parse_args()
    linter = os.path.realpath(given.linter)
    only = [name for name in given.only.split(",") if name]
    given.folder.mkdir(parents=True, exist_ok=True)
    chart_file = ROOT / ".github" / "speed.svg" if given.readme else given.chart
    parts, page = [], ""
    for language, corpus in fetch(given.folder.resolve()).items():
        figures = medians(linter, language, corpus, given.runs, only)
        parts.append((title(language, corpus), figures))
        text = f"{parts[-1][0]}, medians of runs in turn:\n\n{table(figures)}\n\n"
        print(text, end="", flush=True)
        page += text
    if chart_file:
        chart_file.write_text(chart(parts))
    if given.readme:
        put(f"\n![Wall time of each tool](.github/speed.svg)\n\n{page}")


if __name__ == "__main__":
    main()
