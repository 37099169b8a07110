"""The watcher: one thread that sleeps until the supervisor ends, or there is nothing left to protect."""

import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, Optional

from . import forks, reap
from .link import Link, await_end

if TYPE_CHECKING:
    from .shared import Shared

#: A supervisor that exits by itself sooner than this, in seconds, is broken, and another would be too.
STILLBORN = 5.0
#: At most so many are started again within so many seconds.
RESTARTS, WINDOW = 5, 10.0
#: How often groups are looked at that are handed back once they are empty, in seconds.
LOOK = 0.5


class Watcher:
    """The thread of one owner. It ends when there is nothing to watch, and for the time of a fork."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._thread = threading.Thread(target=self._run, name="lifeline", daemon=True)

    @classmethod
    def start(cls, shared: "Shared") -> Optional["Watcher"]:
        """Starts one; none where a program that is ending may not start threads any more."""
        watcher = cls(shared)
        try:
            watcher._thread.start()
        except RuntimeError:
            return None
        return watcher

    def join(self) -> None:
        """Waits until it has ended, which it does soon after a call of the bell."""
        if self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        # A signal that comes here would not interrupt what the main thread waits for.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            while self._step():
                pass
        finally:
            # Whatever ended it: the next spawn starts another.
            with forks.STATE:
                if self._shared.watcher is self:
                    self._shared.watcher = None

    def _step(self) -> bool:
        """Waits for one thing and sees to it; false when there is nothing more to watch."""
        shared = self._shared
        with forks.STATE:
            shared.reap_others()
            self._hand_back_empty()
            link = shared.link
            if link is None or forks.resting():
                shared.watcher = None
                return False
            line, limit = link.line, self._limit()
        poll = select.poll()
        poll.register(line, 0)
        poll.register(shared.bell, select.POLLIN)
        ready = [fd for fd, _ in poll.poll(None if limit is None else max(limit, 0) * 1000 + 1)]
        if shared.bell in ready:
            os.read(shared.bell, 64)
        if line in ready:
            self._supervisor_ended(link)
        elif not ready:
            self._stop_if_idle()
        return True

    def _limit(self) -> Optional[float]:
        """When to look again although nothing happens; none while there is something to protect."""
        shared = self._shared
        if not shared.groups:
            return shared.empty_since + shared.idle - time.monotonic()
        look = any(covered.until_empty for covered in shared.groups.values())
        return LOOK if look or shared.unreaped else None

    def _hand_back_empty(self) -> None:
        shared = self._shared
        for pid, covered in list(shared.groups.items()):
            if covered.until_empty and not reap.lives(pid):
                shared.uncover(pid)
                shared.ledger.child("release", pid, covered.start, how="empty")

    def _supervisor_ended(self, link: Link) -> None:
        with forks.STATE:
            if self._shared.link is link:
                replace(self._shared)

    def _stop_if_idle(self) -> None:
        """Lets the supervisor go when nothing was covered for long enough and nothing carries our mark.
        Under the lock that covers, so that nothing is covered meanwhile."""
        shared = self._shared
        if not self._is_idle():
            return
        # Looked at twice: what is just becoming another program shows no mark for a moment.
        seen = shared.marks().anywhere()
        time.sleep(0.05)
        with forks.STATE:
            link = shared.link
            if link is None or not self._is_idle():
                return
            if seen or shared.marks().anywhere():
                shared.empty_since = time.monotonic()
                return
            link.tell(".\n")
            shared.link = None
            link.close()
            await_end(link.supervisor, 2)

    def _is_idle(self) -> bool:
        shared = self._shared
        return not shared.groups and time.monotonic() - shared.empty_since >= shared.idle


def replace(shared: "Shared") -> None:
    """The supervisor is gone: starts another, or says that there is none. Under the lock."""
    link, shared.link = shared.link, None
    if link is None:
        return
    link.close()
    status = await_end(link.supervisor, 1)
    why = _why_not_again(shared, link, status, time.monotonic())
    if why is None:
        try:
            shared.start_supervisor()
            shared.restarted += 1
        except OSError as error:
            why = f"cannot start the supervisor `{shared.shell}` again: {error}"
    if why is not None:
        shared.unprotected = (why, time.monotonic())
        shared.ledger.add("unprotected", why=why)


def _why_not_again(shared: "Shared", link: Link, status: Optional[int], now: float) -> Optional[str]:
    lived = now - link.since
    if status is not None and os.WIFEXITED(status) and lived < STILLBORN:
        return (
            f"the supervisor `{shared.shell}` exited by itself with status {os.WEXITSTATUS(status)}, "
            f"{lived * 1000:.0f} ms after its start; it is not started again"
        )
    while shared.restarts and now - shared.restarts[0] >= WINDOW:
        shared.restarts.popleft()
    if len(shared.restarts) >= RESTARTS:
        return f"the supervisor was killed {RESTARTS + 1} times in {WINDOW:.0f} seconds"
    shared.restarts.append(now)
    return None
