"""What can go wrong, said to people. A program that cannot be run raises what ``Popen`` raises for it."""

import enum


class OwnedError(Exception):
    """Any refusal of this package."""


class Unprotected(OwnedError):
    """There is no supervisor, so a child would outlive its owner: nothing was started."""

    def __init__(self, why: str) -> None:
        super().__init__(f"nothing was started, as it would outlive this process: {why}")
        self.why = why


class Refusal(enum.Enum):
    """What is wrong with a group that was to be owned."""

    NOT_A_GROUP = "that is no number of a process group"
    GONE = "no process leads it"
    NOT_A_LEADER = "the process does not lead a group"
    OWN_GROUP = "it is the owner's own group"
    ANCESTORS_GROUP = "a process above the owner is in it"
    ANOTHER_USER = "it belongs to another user"
    OLDER_THAN_OWNER = "it started before the owner"


class Refused(OwnedError, ValueError):
    """A group was not taken, because ending it would end something else."""

    def __init__(self, group: int, why: Refusal) -> None:
        super().__init__(f"cannot own process group {group}: {why.value}")
        self.group = group
        self.why = why


class NoReason(OwnedError, ValueError):
    """The reason of a detached process is missing, too short, or a placeholder."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"a process that outlives this one needs a reason, and the reason {fault}")


class StatusLost(OwnedError):
    """The child's status was taken by another part of the program."""

    def __init__(self, pid: int) -> None:
        super().__init__(
            f"the status of process {pid} was taken by another part of this program "
            "(a handler of SIGCHLD, or a wait for any child)"
        )


class Forked(OwnedError):
    """The handle was made before this process was forked: the child is the other process's."""

    def __init__(self) -> None:
        super().__init__(
            "this handle was made before the process was forked: "
            "only the process that started the child can wait for it or end it"
        )


class StillAlive(OwnedError):
    """The child, or something it started, does not end although it was killed."""

    def __init__(self, processes: int) -> None:
        super().__init__(
            f"{processes} processes live on although they were killed "
            "(waiting for a device, or of another user)"
        )
        self.processes = processes
