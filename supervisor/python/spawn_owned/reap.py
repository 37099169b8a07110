"""The end of a set of groups: ask, wait, end, and look for what got away by its mark."""

import os
import signal
import time
from typing import Callable, Collection, Dict, NamedTuple, Optional, Set

from . import process
from .process import Marks

#: How long what was killed may take to be gone, in seconds.
KILLED = 2.0
#: Rounds of the search for what got away: what is found after so many is not ours to find.
ROUNDS = 20


class Group(NamedTuple):
    """A process group by its leader's identity."""

    pid: int
    start: int

    def holds(self) -> bool:
        """Whether its number still means it. With the leader gone the system keeps the number as long as
        the group has a member; a leader with another start time is somebody else."""
        now = process.look(self.pid)
        return now is None or self.start in (0, now.start)

    def signal(self, number: int) -> None:
        """Sends a signal to all members; nothing if the number means somebody else by now."""
        if self.holds():
            signal_group(self.pid, number)


def signal_group(group: int, number: int) -> bool:
    """Sends a signal to a group; 0 asks whether there is one. False if nobody could be reached."""
    if group < 2:
        return False
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def lives(group: int) -> bool:
    """Whether a group has a member that has not ended."""
    if not signal_group(group, 0):
        return False
    leader = process.look(group)
    if leader and leader.group == group and not leader.ended:
        return True
    seen = list(filter(None, map(process.look, process.everyone())))
    # Where processes cannot be looked at, the signal's word has to do.
    return not seen or any(one.group == group and not one.ended for one in seen)


class Living(NamedTuple):
    """What lives of what is to be ended: members of groups, and strays with the group each is in."""

    members: Set[int]
    strays: Dict[int, int]

    def __bool__(self) -> bool:
        return bool(self.members or self.strays)


def survey(groups: Collection[Group], marks: Optional[Marks]) -> Living:
    """One look at all processes."""
    numbers = {group.pid for group in groups if signal_group(group.pid, 0) and group.holds()}
    living = Living(set(), {})
    seen = False
    for pid in process.everyone() if numbers or marks else ():
        one = process.look(pid)
        seen = seen or one is not None
        if one is None or one.ended or pid == os.getpid():
            continue
        if one.group in numbers:
            living.members.add(pid)
        elif marks and one.start >= marks.since and marks.carried(process.environment(pid)):
            living.strays[pid] = one.group
    return living if seen else Living(numbers, {})


def end(groups: Collection[Group], marks: Marks, grace: float) -> int:
    """Ends groups and what carries the mark: asks, waits at most ``grace`` seconds, kills. Returns how
    many processes live on all the same."""
    living = survey(groups, marks)
    if not living:
        return 0
    if grace > 0:
        for number in (signal.SIGTERM, signal.SIGCONT):
            _signal_all(groups, living, marks, number)
        wait_until(grace, lambda: not survey(groups, marks))
    for _ in range(ROUNDS):
        living = survey(groups, marks)
        if not living:
            break
        _signal_all(groups, living, marks, signal.SIGKILL)
        wait_until(KILLED / ROUNDS, lambda: not survey(groups, marks))
    living = survey(groups, marks)
    return len(living.members) + len(living.strays)


def _signal_all(groups: Collection[Group], living: Living, marks: Marks, number: int) -> None:
    for group in groups:
        group.signal(number)
    for pid, group in living.strays.items():
        # Read again right before the signal: the number may have been given to another.
        if not marks.carried(process.environment(pid)):
            continue
        # A group of its kind is ended as a whole, since it may fork faster than anybody can look.
        of_its_kind = group in living.strays or process.look(group) is None
        if of_its_kind and group != os.getpgrp():
            signal_group(group, number)
        else:
            signal_process(pid, number)


def signal_process(pid: int, number: int) -> None:
    """Sends a signal to one process; what has gone shows in the next look."""
    if pid > 1:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def wait_until(limit: float, done: Callable[[], bool]) -> None:
    """Looks again and again, ever less often, until ``done`` or the limit in seconds."""
    limit += time.monotonic()
    pause = 0.001
    while not done() and time.monotonic() < limit:
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
