"""What a fork without exec must not keep, break, or find half done.

A forked child has a copy of every descriptor. Were a lifeline's write end among them, the owner's death
would not close it. So a hook closes all lifelines in each forked child. The hooks also take both locks
around the fork, so that no child finds a pipe that is in no table or a lock that nobody gives back, and
rest the threads of this package, so that it never makes a program one that forks with threads.

``os.fork``, ``os.forkpty`` and ``multiprocessing`` run the hooks; a fork inside a C library does not.
"""

import os
import threading
from typing import Any
from weakref import WeakSet

#: Guards what owners cover. Taken before `WRITING` where both are.
STATE = threading.RLock()
#: Guards what is written to ledgers.
WRITING = threading.RLock()
#: What has a lifeline and a watcher: see `Shared`, which has the three methods called here.
_members: "WeakSet[Any]" = WeakSet()
_resting = 0


def join(member: Any) -> None:
    """Tells `member` of forks from now on."""
    with STATE:
        _members.add(member)


def resting() -> bool:
    """Whether a fork is under way, so that no thread may be started."""
    return _resting > 0


def _before() -> None:
    global _resting
    with STATE:
        _resting += 1
        members = list(_members)
    for member in members:
        member.rest()
    STATE.acquire()
    WRITING.acquire()


def _in_parent() -> None:
    global _resting
    _resting -= 1
    for member in list(_members):
        member.go_on()
    WRITING.release()
    STATE.release()


def _in_child() -> None:
    global _resting
    _resting = 0
    for member in list(_members):
        member.forget()
    WRITING.release()
    STATE.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
