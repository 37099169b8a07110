"""Child processes that end when their owner ends, whatever ended it: a return, an exception, ``kill -9``.

::

    from spawn_owned import spawn_owned

    server = spawn_owned(["model-server", "--port", "8080"], "the model of this session")
    # … when this process ends now, by whatever means, the server ends too.
    server.stop(grace=5)

The crate ``spawn-owned`` is the specification: its two shell scripts are in this package, and its ledger
is written to. The map:

=========================  ====================================================================
``owner``                  what a program talks to
``child``, ``aio``         the handles of children
``launch``, ``streams``    the launcher, and how programs are started
``shared``                 what is covered: the set that is the truth
``link``, ``watch``        the lifeline, its supervisor, and what happens when that ends
``forks``                  what a fork must not keep
``reap``, ``process``      the end of groups; the mark; what the system says of a process
``reason``, ``ledger``     why something may stay; the record
=========================  ====================================================================
"""

from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired
from typing import TYPE_CHECKING, Any

from .child import Owned
from .errors import Forked, NoReason, OwnedError, Refusal, Refused, StatusLost, StillAlive, Unprotected
from .owner import Owner, Status

if TYPE_CHECKING:
    from .aio import AsyncOwned, spawn_owned_async

#: The owner of the whole program. It is never closed: what it owns ends with the process.
default = Owner()
spawn_owned = default.spawn_owned
own_process_groups = default.own_process_groups
release_process_groups = default.release_process_groups
release_process_group_once_empty = default.release_process_group_once_empty
spawn_detached = default.spawn_detached
status = default.status


def __getattr__(name: str) -> Any:
    """Loads asyncio only for those who use it."""
    if name in ("AsyncOwned", "spawn_owned_async"):
        from . import aio

        return getattr(aio, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DEVNULL", "PIPE", "STDOUT", "TimeoutExpired",
    "AsyncOwned", "Owned", "Owner", "Status", "default",
    "Forked", "NoReason", "OwnedError", "Refusal", "Refused", "StatusLost", "StillAlive", "Unprotected",
    "own_process_groups", "release_process_group_once_empty", "release_process_groups",
    "spawn_detached", "spawn_owned", "spawn_owned_async", "status",
]  # fmt: skip
