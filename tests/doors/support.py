"""What the scripts beside this one share: tools that must be there, folders, a server on this machine.

Each script is a unittest program; tests/doors.rs runs them with CDS_PROGRAM, the program under test.
A number such as C 41 is a row of tests/complaints.md.
"""

import functools
import http.server
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CDS_PROGRAM") or sys.exit("CDS_PROGRAM must name the program under test")
NAME = "check-detached-spawns"
BAD = "import subprocess\nsubprocess.Popen(['x'], start_new_session=True)\n"
GOOD = (
    "import subprocess\n"
    "# detached-spawn: the updater must outlive the process that it replaces\n"
    "subprocess.Popen(['x'], start_new_session=True)\n"
)
# Names that some tool or other has taken for syntax.
ODD = "sp ace,co:lon%41.py"
# No tool needs as long; a hang must become a failure.
LIMIT = 300


def needs(*tools):
    """Skips a test aloud where a tool is missing, and fails it where all must be there (CI=true).

    A tool is a program on PATH, or `python:MODULE`.
    """

    def there(tool):
        kind, _, module = tool.partition(":")
        return importlib.util.find_spec(module) if kind == "python" and module else shutil.which(tool)

    def decorate(test):
        @functools.wraps(test)
        def wrapped(*arguments):
            for tool in tools:
                if not there(tool):
                    if os.environ.get("CI") == "true":
                        raise AssertionError(f"{tool} is missing and CI=true")
                    print(f"not run: {test.__name__}: {tool} missing", flush=True)
                    raise unittest.SkipTest(f"{tool} missing")
            return test(*arguments)

        return wrapped

    return decorate


def run(*command, timeout=LIMIT, **options):
    """Runs a command to its end; both streams come back as one text."""
    return subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
        **options,
    )


def output(folder, *arguments):
    """What the program under test writes to standard output, and its status."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout, done.returncode


def write(folder, files):
    """Writes files given by name and text; makes their folders."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def git(folder, *arguments):
    """Runs git with none of the user's settings."""
    settings = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = run("git", *settings, *arguments, cwd=folder, env=alone)
    if done.returncode:
        raise AssertionError(f"git {arguments}: {done.stdout}")
    return done.stdout


def commit(folder):
    """Makes a folder a repository with all that it holds in one commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "all")


def unescaped(value):
    """A property of a workflow command, as the runner reads it."""
    for code, character in [("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")]:
        value = value.replace(code, character)
    return value


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="cds-door-")
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def content(self, done):
        """Asserts that a command was content."""
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout}")
        return done.stdout


class Server:
    """Files of a folder over HTTP, on this machine only; `asked` are the paths that were asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                super().do_GET()

            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
