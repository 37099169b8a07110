"""What an owner covers. The set is the truth; what its supervisor knows is a copy of it."""

import collections
import os
import time
from pathlib import Path
from subprocess import Popen
from typing import Any, Deque, Dict, List, Optional, Set, Tuple

from . import forks, process, reap, streams, watch
from .errors import Unprotected
from .ledger import Ledger
from .link import Link, await_end
from .process import Marks

#: After how long a new supervisor is tried where there was none to be had, in seconds.
RETRY = 60.0


class Covered:
    """A covered group."""

    def __init__(self, start: int, number: Optional[int]) -> None:
        self.start = start
        #: The number in its mark; none if somebody else started it.
        self.number = number
        #: Whether it is handed back when nobody is left in it.
        self.until_empty = False


class Shared:
    """One owner in one process; a forked child gets another. What changes is changed under `forks.STATE`."""

    def __init__(self, grace: float, idle: float, ledger: Optional[Path], shell: str) -> None:
        self.grace, self.idle, self.shell = grace, idle, shell
        self.token = os.urandom(16).hex()
        self.pid, self.start = os.getpid(), process.start_of(os.getpid())
        self.groups: Dict[int, Covered] = {}
        #: Children that were handed back: what carries their number is not ours.
        self.kept: Set[int] = set()
        #: Children whose handles are gone. Appended to without a lock, by finalizers.
        self.unreaped: Deque[int] = collections.deque()
        self.detached: List["Popen[Any]"] = []
        self.link: Optional[Link] = None
        self.watcher: Optional[watch.Watcher] = None
        self.unprotected: Optional[Tuple[str, float]] = None
        #: When supervisors were started again.
        self.restarts: Deque[float] = collections.deque()
        self.numbers = self.started = self.restarted = 0
        self.empty_since = time.monotonic()
        #: Set in a forked child, where nothing of this is its own.
        self.forked = False
        self._wake = streams.lifted_pipe()
        os.set_blocking(self._wake[1], False)
        self.ledger = Ledger(ledger, self.token, self.pid, self.start)
        forks.join(self)

    def __del__(self) -> None:
        streams.close_all(getattr(self, "_wake", ()))

    @property
    def bell(self) -> int:
        """What the watcher reads when it is to look again."""
        return self._wake[0]

    def wake(self) -> None:
        """Makes the watcher look again."""
        try:
            if not self.forked:
                os.write(self._wake[1], b"!")
        except BlockingIOError:
            pass  # Full of calls already.

    # Told by `forks`.

    def rest(self) -> None:
        """A fork is about to be: the watcher ends, and comes back after it."""
        watcher = self.watcher
        self.wake()
        if watcher:
            watcher.join()

    def go_on(self) -> None:
        """The fork is over."""
        if self.link and not self.watcher and not forks.resting():
            self.watcher = watch.Watcher.start(self)

    def forget(self) -> None:
        """This is the forked child: nothing of its parent's is its own."""
        self.forked = True
        self.watcher = None
        if self.link:
            self.link.close()

    # Under the lock.

    def protect(self) -> Link:
        """Starts a supervisor that knows everything covered, and its watcher, unless there is one."""
        self.reap_others()
        if self.link is None:
            if self.unprotected and time.monotonic() - self.unprotected[1] < RETRY:
                raise Unprotected(self.unprotected[0])
            self.unprotected = None
            try:
                self.start_supervisor()
            except OSError as error:
                raise Unprotected(f"cannot start the supervisor `{self.shell}`: {error}") from error
            # One that ends at once protects nothing, and is seen before a child is started for it.
            while self.link and self.link.stillborn:
                watch.replace(self)
            if self.unprotected:
                raise Unprotected(self.unprotected[0])
        self.go_on()
        assert self.link
        return self.link

    def start_supervisor(self) -> None:
        """Starts a supervisor and tells it everything that is covered."""
        # What was handed back first: it must be known however little is heard of the rest.
        lines = [f"~ {number}\n" for number in self.kept]
        lines += [f"+ {pid} {covered.start}\n" for pid, covered in self.groups.items()]
        self.link = Link(self.shell, self.token, self.grace, "".join(lines))
        self.started += 1

    def cover(self, pid: int, start: int, number: Optional[int]) -> None:
        """Covers a group, beside what a launcher said of itself."""
        self.groups[pid] = Covered(start, number)
        self.tell(f"+ {pid} {start}\n")

    def uncover(self, pid: int, keep: bool = False) -> Optional[Covered]:
        """Forgets a group. With ``keep``, what carries its mark is handed back too."""
        covered = self.groups.pop(pid, None)
        if covered is None:
            return None
        lines = f"- {pid} {covered.start}\n"
        if keep and covered.number is not None:
            self.kept.add(covered.number)
            lines += f"~ {covered.number}\n"
        self.tell(lines)
        self.empty_since = time.monotonic()
        self.wake()
        return covered

    def tell(self, lines: str) -> None:
        """Tells the supervisor, if there is one."""
        if self.link:
            self.link.tell(lines)

    def marks(self, only: Optional[int] = None, since: int = 0) -> Marks:
        """What carries this owner's mark, or only that of one of its children, started at ``since``."""
        return Marks(self.token, only, frozenset(self.kept), since)

    def reap_others(self) -> None:
        """Reaps what nobody waits for."""
        for _ in range(len(self.unreaped)):
            pid = self.unreaped.popleft()
            try:
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    self.unreaped.append(pid)
            except ChildProcessError:
                pass
        self.detached = [child for child in self.detached if child.poll() is None]

    def close(self) -> None:
        """Closes the lifeline and waits until the supervisor has ended everything. Not under the lock."""
        with forks.STATE:
            link, self.link = self.link, None
            groups, self.groups = self.groups, {}
            self.unprotected = ("this owner was closed", float("inf"))
        # First: a thread that waits on a descriptor keeps it open.
        self.rest()
        if link:
            left = any(map(reap.lives, groups)) or self.marks().anywhere()
            with forks.STATE:
                # Not for nothing: it looks long for what got away.
                link.tell("" if left else ".\n")
                link.close()
            await_end(link.supervisor, self.grace + 10)
