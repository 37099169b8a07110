"""The owner: what a program talks to."""

import os
import subprocess
from pathlib import Path
from typing import IO, Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import forks, launch, process
from .child import Owned
from .errors import NoReason, Refusal, Refused
from .launch import Text
from .ledger import default_path
from .process import VARIABLE
from .reason import fault as reason_fault
from .shared import Shared
from .streams import Stream, Streams

#: Nobody means to wait longer: ten years, in seconds. A shell cannot count to every number.
_LONGEST = 10 * 366 * 86_400.0


class Status(NamedTuple):
    """What an owner covers, and how well."""

    #: The process groups that end with this process, in ascending order.
    groups: List[int]
    #: What launcher and supervisor are made of: always the shell.
    tier: str
    #: The supervisor's process; none while there is nothing to protect.
    supervisor: Optional[int]
    #: Why there is no supervisor although one is needed.
    unprotected: Optional[str]
    #: How many supervisors were started.
    started: int
    #: How many of them replaced one that was killed.
    restarted: int
    #: Where starts and ends are recorded.
    ledger: Optional[Path]
    #: Why the last row could not be recorded.
    ledger_fault: Optional[str]


class Owner:
    """The owner of child processes: when this process ends, by whatever means, they are ended.

    A program has one, whose methods are the functions of this package. Another is made where a part of a
    program has a life of its own: closed, it ends what it owns while the program goes on.

    ``grace``: seconds between asking to end and killing, ten years at most; the supervisor counts in whole ones.
    ``idle``: seconds that a supervisor stays when there is nothing to protect. ``ledger``: the file that records
    starts and ends, None for none. ``shell``: the POSIX shell that runs launcher and supervisor.
    """

    def __init__(
        self,
        *,
        grace: float = 3.0,
        idle: float = 30.0,
        ledger: Union[None, str, "os.PathLike[str]"] = default_path(),
        shell: str = "/bin/sh",
    ) -> None:
        self._built = (min(grace, _LONGEST), idle, None if ledger is None else Path(ledger), shell)
        self._here: Optional[Shared] = None

    def _shared(self) -> Shared:
        """The state of this very process."""
        with forks.STATE:
            if self._here is None or self._here.forked:
                self._here = Shared(*self._built)
            return self._here

    def spawn_owned(
        self,
        argv: Union[Text, Sequence[Text]],
        purpose: str = "",
        *,
        cwd: Optional[Text] = None,
        env: Optional[Mapping[Any, Any]] = None,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        text: bool = False,
        encoding: Optional[str] = None,
        errors: Optional[str] = None,
        pass_fds: Sequence[int] = (),
    ) -> Owned:
        """Starts a child that ends when this process ends; ``purpose`` tells readers of the ledger what it
        is for. The rest are ``Popen``'s words. The child leads a process group, and is known to the
        supervisor before it runs anything.

        Raises what ``Popen`` raises for a program that cannot be run, and `Unprotected` if there is no
        supervisor. Nothing was started then. What fails only when the program is loaded ends the child
        with status 126 or 127.
        """
        shared = self._shared()
        program = launch.prepare(argv, cwd, env)
        streams = Streams(stdin, stdout, stderr)
        files: List[Optional[IO[Any]]] = []
        try:
            files = streams.files(text, encoding, errors)
            with forks.STATE:
                link = shared.protect()
                shared.numbers += 1
                number = shared.numbers
                mark = process.mark(shared.token, number)
                pid = launch.launch(program, streams, pass_fds, mark, link.line, shared.shell)
                start = process.start_of(pid)
                shared.cover(pid, start, number)
        except BaseException:
            for file in filter(None, files):
                file.close()
            raise
        finally:
            streams.close()
        name = os.fsdecode(program.path)
        shared.ledger.child("start", pid, start, number=number, purpose=purpose, program=name)
        return Owned(shared, argv, pid, start, number, files)

    def own_process_groups(self, groups: Iterable[int]) -> None:
        """Owns process groups that somebody else started: an SDK, a daemon. All of them or none.

        Raises `Refused` if ending one of them would end something else, `Unprotected` if there is no
        supervisor.
        """
        shared = self._shared()
        leaders = [(group, _examine(shared, group)) for group in groups]
        for group, start in leaders:
            with forks.STATE:
                shared.protect()
                shared.cover(group, start, None)
            shared.ledger.child("adopt", group, start)

    def release_process_groups(self, groups: Iterable[int]) -> None:
        """Hands process groups back: they live on when this process ends. Groups that are not owned are
        passed over."""
        shared = self._shared()
        for group in groups:
            with forks.STATE:
                covered = shared.uncover(group, keep=True)
            if covered:
                shared.ledger.child("release", group, covered.start, how="handed back")

    def release_process_group_once_empty(self, group: int) -> None:
        """Hands a process group back as soon as nobody is left in it, and not before."""
        shared = self._shared()
        with forks.STATE:
            if group in shared.groups:
                shared.groups[group].until_empty = True
                shared.wake()

    def spawn_detached(
        self, argv: Union[Text, Sequence[Text]], reason: str, **options: Any
    ) -> "subprocess.Popen[Any]":
        """Starts a process that outlives this one, in a session of its own, and records why. It carries no
        mark: neither this owner nor one above ends it. ``options`` are ``Popen``'s.

        Raises `NoReason` if ``reason`` is none, and what ``Popen`` raises.
        """
        fault = reason_fault(reason)
        if fault is not None:
            raise NoReason(fault)
        shared = self._shared()
        given = os.environ if options.get("env") is None else options["env"]
        options["env"] = {name: given[name] for name in given if os.fsdecode(name) != VARIABLE}
        # detached-spawn: the caller gave a reason, which was checked above and goes into the ledger below
        child = subprocess.Popen(argv, **{**options, "start_new_session": True})
        with forks.STATE:
            shared.detached.append(child)
        name = os.fsdecode(argv if isinstance(argv, (str, bytes, os.PathLike)) else argv[0])
        shared.ledger.child("detached", child.pid, process.start_of(child.pid), reason=reason, program=name)
        return child

    def status(self) -> Status:
        """What is covered, and by whom."""
        shared = self._shared()
        with forks.STATE:
            return Status(
                groups=sorted(shared.groups),
                tier="sh",
                supervisor=shared.link.supervisor if shared.link else None,
                unprotected=shared.unprotected[0] if shared.unprotected else None,
                started=shared.started,
                restarted=shared.restarted,
                ledger=shared.ledger.path,
                ledger_fault=shared.ledger.fault,
            )

    def close(self) -> None:
        """Ends everything that is owned, as the death of this process would, and waits for that."""
        if self._here and not self._here.forked:
            self._here.close()

    def __enter__(self) -> "Owner":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _examine(shared: Shared, group: int) -> int:
    """When the leader of `group` started, if the group may be owned."""
    if group < 2:
        raise Refused(group, Refusal.NOT_A_GROUP)
    if group == os.getpgrp():
        raise Refused(group, Refusal.OWN_GROUP)
    if any(group in above for above in process.ancestors(shared.pid)):
        raise Refused(group, Refusal.ANCESTORS_GROUP)
    leader = process.look(group)
    if leader is None:
        raise Refused(group, Refusal.GONE)
    if leader.group != group:
        raise Refused(group, Refusal.NOT_A_LEADER)
    if process.user(group) != process.user(shared.pid):
        raise Refused(group, Refusal.ANOTHER_USER)
    if leader.start < shared.start:
        raise Refused(group, Refusal.OLDER_THAN_OWNER)
    return leader.start
