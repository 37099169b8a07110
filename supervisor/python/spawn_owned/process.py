"""What the system says of a process: who it is, whose, in which group, and whose mark it carries.

On Linux from `proc(5) <https://man7.org/linux/man-pages/man5/proc.5.html>`_. Elsewhere nothing is known
here, and what needs it falls back to numbers.
"""

import os
from typing import FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

#: The variable that marks what an owner started: ``TOKEN.NUMBER:`` for each owner above.
VARIABLE = "SPAWN_OWNED"


class Process(NamedTuple):
    """A process at one moment."""

    parent: int
    group: int
    #: When it started, in clock ticks since the machine did: with the number, its identity.
    start: int
    #: Whether it only waits to be reaped.
    ended: bool


def look(pid: int) -> Optional[Process]:
    """The process with this number, if there is one."""
    return _parse(_read(f"/proc/{pid}/stat"))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _parse(line: bytes) -> Optional[Process]:
    """Reads a line of ``stat``. The name in it may hold anything, so fields count from its last bracket."""
    _, bracket, rest = line.rpartition(b")")
    fields = rest.split()
    if not bracket or len(fields) < 20:
        return None
    try:
        return Process(int(fields[1]), int(fields[2]), int(fields[19]), fields[0] in (b"Z", b"X", b"x"))
    except ValueError:
        return None


def start_of(pid: int) -> int:
    """When the process started; 0 where the system does not say."""
    process = look(pid)
    return process.start if process else 0


def everyone() -> Iterator[int]:
    """The numbers of all processes that can be seen."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return iter(())
    return (int(name) for name in names if name.isdigit())


def environment(pid: int) -> bytes:
    """The environment that a process was started with; empty if it may not be read."""
    return _read(f"/proc/{pid}/environ")


def user(pid: int) -> Optional[int]:
    """Whose process it is."""
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def ancestors(pid: int) -> List[Tuple[int, int]]:
    """The numbers of the parent, its parent, and so on, with their groups."""
    found: List[Tuple[int, int]] = []
    process = look(pid)
    # A loop cannot be, but numbers may be given again while they are read.
    while process and process.parent > 0 and len(found) < 1000:
        number, process = process.parent, look(process.parent)
        if process:
            found.append((number, process.group))
    return found


def boot() -> str:
    """Names this start of the machine: numbers and start times mean nothing in another."""
    return _read("/proc/sys/kernel/random/boot_id").decode().strip()


def space() -> str:
    """Names the space in which numbers of processes count: a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def mark(token: str, number: int) -> bytes:
    """The variable's value for a child, below what owners above this one say."""
    outer = os.environb.get(VARIABLE.encode(), b"")
    if outer and not outer.endswith(b":"):
        outer += b":"
    return outer + f"{token}.{number}:".encode()


class Marks(NamedTuple):
    """Which processes are meant: an owner's, or one child's; not those that were handed back."""

    token: str
    only: Optional[int] = None
    kept: FrozenSet[int] = frozenset()
    #: Nothing that carries the mark started before: what is older need not be looked at.
    since: int = 0

    def carried(self, environment: bytes) -> bool:
        """Whether an environment, entries ended by NUL, carries the mark."""
        token = self.token.encode()
        if token not in environment:
            return False
        head = VARIABLE.encode() + b"="
        values = [entry[len(head) :] for entry in environment.split(b"\0") if entry.startswith(head)]
        entries = (entry.partition(b".") for value in values for entry in value.split(b":"))
        return any(name == token and self._means(number) for name, _, number in entries)

    def _means(self, number: bytes) -> bool:
        if not number.isdigit():
            return False
        return self.only in (None, int(number)) and int(number) not in self.kept

    def anywhere(self) -> bool:
        """Whether any process carries the mark."""
        return any(self.carried(environment(pid)) for pid in everyone())
