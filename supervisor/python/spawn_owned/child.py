"""The handle of an owned child, in ``Popen``'s words."""

import os
import select
import signal
import subprocess
import threading
import time
from typing import IO, Any, Dict, List, Optional, Tuple

from . import forks, reap
from .errors import Forked, StatusLost, StillAlive
from .reap import Group
from .shared import Shared


class Owned:
    """A child that ends with its owner.

    Whether it has ended is told by its own end, never by the end of its output, which a descendant may
    hold open. What it started stays covered when it has ended. Leaving a ``with`` block ends the child,
    its group, and what of it has left the group; a handle that is merely forgotten leaves it running,
    and owned.
    """

    def __init__(
        self, shared: Shared, args: Any, pid: int, start: int, number: int, files: List[Optional[IO[Any]]]
    ) -> None:
        self._shared, self._group, self._number = shared, Group(pid, start), number
        #: Set when nothing of it can be left.
        self._over = False
        self._readers: Dict[str, threading.Thread] = {}
        self._read: Dict[str, Any] = {}
        self.args = args
        self.pid = pid
        #: Its exit status, negative the signal that ended it; none while it lives.
        self.returncode: Optional[int] = None
        self.stdin, self.stdout, self.stderr = files

    @property
    def pgid(self) -> int:
        """The child's process group: the same number, as the child leads it."""
        return self.pid

    def poll(self) -> Optional[int]:
        """Its status if it has ended. Raises `StatusLost` if another part of the program reaped it,
        `Forked` in a process that did not start it."""
        self._check_process()
        with forks.STATE:
            if self.returncode is not None:
                return self.returncode
            try:
                found, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                raise StatusLost(self.pid) from None
            if found:
                ended = os.WIFSIGNALED(status)
                self.returncode = -os.WTERMSIG(status) if ended else os.WEXITSTATUS(status)
                self._note_end()
            return self.returncode

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until it has ended; raises ``subprocess.TimeoutExpired`` after ``timeout`` seconds."""
        limit = None if timeout is None else time.monotonic() + timeout
        pause = 0.001
        handle = self.pidfd()
        try:
            while self.poll() is None:
                left = pause if limit is None else min(pause, limit - time.monotonic())
                if limit is not None and limit <= time.monotonic():
                    raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
                if handle is None:
                    time.sleep(left)
                    pause = min(pause * 2, 0.05)
                else:
                    poll = select.poll()
                    poll.register(handle, select.POLLIN)
                    poll.poll(None if limit is None else max(limit - time.monotonic(), 0) * 1000 + 1)
        finally:
            if handle is not None:
                os.close(handle)
        assert self.returncode is not None
        return self.returncode

    def pidfd(self) -> Optional[int]:
        """A new descriptor that is readable when the child has ended; none where the system has no such."""
        with forks.STATE:
            # Its number is surely its own until it is reaped.
            if self.returncode is not None or self._shared.forked or not hasattr(os, "pidfd_open"):
                return None
            try:
                return int(os.pidfd_open(self.pid))
            except OSError:
                return None

    def communicate(self, input: Any = None, timeout: Optional[float] = None) -> Tuple[Any, Any]:
        """Writes ``input``, reads all output, waits: as ``Popen.communicate``, which may be asked again
        after ``subprocess.TimeoutExpired``."""
        limit = None if timeout is None else time.monotonic() + timeout
        if not self._readers:
            for name in ("stdout", "stderr"):
                if getattr(self, name) and not getattr(self, name).closed:
                    self._readers[name] = threading.Thread(target=self._read_all, args=(name,), daemon=True)
            if self.stdin and not self.stdin.closed:
                self._readers["stdin"] = threading.Thread(target=self._write_all, args=(input,), daemon=True)
            for thread in self._readers.values():
                thread.start()
        for thread in self._readers.values():
            thread.join(None if limit is None else max(limit - time.monotonic(), 0))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        self.wait(None if limit is None else max(limit - time.monotonic(), 0))
        return self._read.get("stdout"), self._read.get("stderr")

    def _read_all(self, name: str) -> None:
        with getattr(self, name) as stream:
            self._read[name] = stream.read()

    def _write_all(self, text: Any) -> None:
        try:
            with self.stdin as stream:  # type: ignore[union-attr]
                if text:
                    stream.write(text)
        except BrokenPipeError:
            pass  # It does not read, as it may.

    def send_signal(self, number: int) -> None:
        """Sends a signal to the child's whole group; nothing once nobody is left in it."""
        self._check_process()
        with forks.STATE:
            if not self._over:
                self._group.signal(number)

    def terminate(self) -> None:
        """Asks the child's group to end: ``SIGTERM``."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the child's group: ``SIGKILL``."""
        self.send_signal(signal.SIGKILL)

    def stop(self, grace: Optional[float] = None) -> int:
        """Ends the child, its group, and what of it has left the group: asks (``SIGTERM``, and ``SIGCONT``
        for what is stopped), waits at most ``grace`` seconds (the owner's if it is not said), kills.
        Returns its status when all of it is gone; raises `StillAlive` if something does not end."""
        self._check_process()
        grace = self._shared.grace if grace is None else grace
        marks = self._shared.marks(self._number, self._group.start)
        left = reap.end([] if self._over else [self._group], marks, grace)
        try:
            status = self.wait(reap.KILLED)
        except subprocess.TimeoutExpired:
            raise StillAlive(max(left, 1)) from None
        finally:
            self._finish("stopped")
        if left:
            raise StillAlive(left)
        return status

    def __enter__(self) -> "Owned":
        return self

    def __exit__(self, *_: Any) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.leave()

    def leave(self) -> None:
        """The end of a block, without its pipes: stops the child unless it was handed back."""
        if self._number not in self._shared.kept:
            self.stop()

    def __del__(self) -> None:
        # No lock here: a finalizer may run anywhere, also where another lock is held.
        shared = getattr(self, "_shared", None)
        if shared is None or shared.forked or self.returncode is not None:
            return
        shared.unreaped.append(self.pid)
        covered = shared.groups.get(self.pid)
        if covered:
            covered.until_empty = True
        shared.wake()

    def __repr__(self) -> str:
        return f"<Owned pid={self.pid} returncode={self.returncode} args={self.args!r}>"

    def _check_process(self) -> None:
        if self._shared.forked:
            raise Forked()

    def _note_end(self) -> None:
        """The child has ended; its group may have members left, and stays covered then."""
        if reap.signal_group(self.pid, 0):
            covered = self._shared.groups.get(self.pid)
            if covered:
                covered.until_empty = True
                self._shared.wake()
        else:
            self._finish(f"exit status: {self.returncode}")

    def _finish(self, how: str) -> None:
        """Forgets the child after its end."""
        with forks.STATE:
            covered = None if self._over else self._shared.uncover(self.pid)
            self._over = True
        if covered:
            self._shared.ledger.child("end", self.pid, covered.start, how=how)
