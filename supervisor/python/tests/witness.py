"""The witness: starts owners, talks to them, and counts what lives.

Everything that descends from an owner under test carries a variable of the witness in its environment;
only supervisors do not. It waits for events with a deadline, and never for time to pass.
"""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from spawn_owned import process

#: What tests wait at most, in seconds: far more than anything takes, also on a busy machine.
DEADLINE = 60
#: Whether the long counts are run.
ALL = "CHECK_ALL" in os.environ
FOLDER = Path(__file__).resolve().parent.parent

_numbers = itertools.count()


def until(what, so):
    """Looks again until it is so, and fails after a deadline."""
    end, pause = time.monotonic() + DEADLINE, 0.002
    while not so():
        if time.monotonic() > end:
            raise AssertionError(f"not in time: {what}")
        # Ever less often: a look at all processes is what a busy machine is busy with.
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def lives(pid):
    """Whether a process is there and has not ended."""
    one = process.look(pid)
    return one is not None and not one.ended


def runs(pid, program):
    """Whether a process has become this program: a launcher has not yet."""
    line = Path(f"/proc/{pid}/cmdline")
    return line.exists() and line.read_bytes().split(b"\0")[0].endswith(program.encode())


def carrying(mark):
    """Processes that have not ended and carry ``mark`` in their environment, in ascending order."""
    found = (pid for pid in process.everyone() if mark in process.environment(pid))
    return sorted(pid for pid in found if lives(pid))


def new_mark():
    """A variable of the environment, ``(name, value)``, that no other test has."""
    return "WITNESS", f"{os.getpid()}.{next(_numbers)};"


class TestCase(unittest.TestCase):
    """A test with a mark of its own; whatever it leaves is ended, so that a failed one leaves nothing."""

    def setUp(self):
        name, value = new_mark()
        self.mark = f"{name}={value}".encode()
        self.environment = {**os.environ, name: value}
        self.environment.pop("SPAWN_OWNED", None)
        self.addCleanup(self._end_all)

    def _end_all(self):
        def none_left():
            for pid in self.living():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not self.living()

        until("all of the test is ended", none_left)

    def living(self):
        """What lives and carries the mark of the test."""
        return carrying(self.mark)

    def until_only(self, *pids):
        """Waits until nothing of the test lives but ``pids``."""
        try:
            until("the others end", lambda: self.living() == sorted(pids))
        except AssertionError:
            lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.living()]
            self.fail(f"living: {self.living()} {lines}, wanted {pids}")

    def owner(self, **variables):
        """Starts a program that takes orders: see `orders`."""
        owner = Program({**self.environment, **variables})
        self.addCleanup(owner.end)
        return owner


class Program:
    """A program that takes orders, a line each, and answers each with one line."""

    def __init__(self, environment):
        loud = None if "LOUD" in os.environ else subprocess.DEVNULL
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.orders"]
        self.process = subprocess.Popen(
            command, cwd=FOLDER, env=environment, stdin=pipe, stdout=pipe, stderr=loud, text=True, bufsize=1
        )
        self.pid = self.process.pid

    def order(self, order):
        """Gives an order that is not answered."""
        self.process.stdin.write(order + "\n")

    def tell(self, order):
        """Gives an order and returns the answer."""
        self.order(order)
        return self.process.stdout.readline().rstrip("\n")

    def number(self, order):
        """Gives an order that is answered with a number."""
        answer = self.tell(order)
        if not answer.isdigit():
            raise AssertionError(f"{order}: {answer}")
        return int(answer)

    def supervisor(self):
        """The supervisor's process, 0 if there is none."""
        return int(self.tell("status").split()[0])

    def kill(self):
        """Kills the owner, as nothing can be done against, and reaps it."""
        self.process.kill()
        self.process.wait()

    def end(self):
        """Leaves nothing of it."""
        self.kill()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
