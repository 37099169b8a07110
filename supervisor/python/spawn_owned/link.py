"""The lifeline of an owner and the supervisor at its other end."""

import contextlib
import os
import select
import signal
import time
from typing import Optional

from .launch import start_supervisor
from .reap import signal_process
from .streams import close_all, lifted_pipe

#: How long a supervisor may let its owner wait for it to read everything, in seconds.
PATIENCE = 2.0


class Link:
    """A supervisor at work. Made and closed under the lock that a fork takes."""

    def __init__(self, shell: str, token: str, grace: float, lines: str) -> None:
        """Starts a supervisor and tells it ``lines``."""
        read, self.line = lifted_pipe()
        try:
            os.set_blocking(self.line, False)
            # Before there is a supervisor: one whose owner dies meanwhile is to know what was handed back.
            rest = _write_what_fits(self.line, lines)
            self.supervisor, word = start_supervisor(shell, token, grace, read)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(read)
        self.since = time.monotonic()
        self.tell(rest, PATIENCE)
        #: Whether it ended before it said that it works: nothing may be started for it to protect.
        self.stillborn = _ended_at_once(word)

    def tell(self, lines: str, patience: float = 0.0) -> None:
        """Writes lines to the supervisor. One that does not read is ended: its end is seen by the
        watcher, which starts another and tells that one everything."""
        data, limit = lines.encode(), time.monotonic() + patience
        while data:
            try:
                data = data[os.write(self.line, data) :]
            except BlockingIOError:
                left = limit - time.monotonic()
                if left <= 0:
                    signal_process(self.supervisor, signal.SIGKILL)
                    return
                room = select.poll()
                room.register(self.line, select.POLLOUT)
                room.poll(left * 1000)
            except OSError:
                return  # Nobody reads any more: the watcher sees it.

    def close(self) -> None:
        """Closes the lifeline, which the supervisor takes for the owner's death."""
        if self.line >= 0:
            close_all((self.line,))
            self.line = -1


def _write_what_fits(line: int, lines: str) -> str:
    """Writes as much as the pipe holds; gives the rest."""
    data = lines.encode()
    with contextlib.suppress(BlockingIOError):
        while data:
            data = data[os.write(line, data) :]
    return data.decode()


def _ended_at_once(word: int) -> bool:
    """Whether a supervisor closed its output without a word; takes the descriptor. One that says nothing
    for long is slow, not broken: its end is seen later."""
    try:
        said = select.poll()
        said.register(word, select.POLLIN)
        return bool(said.poll(PATIENCE * 1000)) and not os.read(word, 8)
    finally:
        os.close(word)


def await_end(pid: int, limit: float) -> Optional[int]:
    """Reaps a supervisor; ends one that does not end within ``limit`` seconds. Its wait status; none if
    that is lost."""
    limit += time.monotonic()
    pause = 0.001
    while True:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if found:
            return status
        if time.monotonic() >= limit:
            signal_process(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
