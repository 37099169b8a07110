"""The file that records every start and end: one JSON object a line, appended with one write.

The same file, rows and lock as the crate's, so that programs of both kinds write to it at once. It is
never the reason for a failed spawn: what could not be written is in ``Status.ledger_fault``.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from . import forks, process
from .process import Marks

#: How long a writer waits for the lock, in seconds. After this its one line is appended without it.
PATIENCE = 2.0
#: Files above this size in bytes are compacted when an owner starts.
LARGE = 1024 * 1024

Row = Dict[str, Any]


def default_path() -> Optional[Path]:
    """``$XDG_STATE_HOME/spawn-owned/ledger.jsonl``, else below ``~/.local/state``; none without a home."""
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if os.path.isabs(state):
        return Path(state, "spawn-owned/ledger.jsonl")
    return Path(home, ".local/state/spawn-owned/ledger.jsonl") if os.path.isabs(home) else None


class Ledger:
    """The ledger of one owner."""

    def __init__(self, path: Optional[Path], token: str, pid: int, start: int) -> None:
        """Notes the owner itself first: its mark leads to everything it will have started."""
        self.path = path
        #: Why the last row was not written.
        self.fault: Optional[str] = None
        self._owner: Row = {"pid": pid, "start": start, "token": token}
        self._owner.update(boot=process.boot(), space=process.space())
        if path and path.exists() and path.stat().st_size > LARGE:
            with forks.WRITING:
                self._try(compact, path)
        self.add("owner", tier="sh", program=sys.executable or "")

    def child(self, kind: str, pid: int, start: int, **what: Any) -> None:
        """A child was started or adopted, was handed back, or has ended."""
        self.add(kind, child={"pid": pid, "start": start}, **what)

    def add(self, kind: str, **what: Any) -> None:
        """Appends a row."""
        if not self.path:
            return
        # Under the lock that a fork takes: a forked copy of the file's lock would hold it for ever.
        with forks.WRITING:
            row = dict(what, version=1, kind=kind, at=time.time(), owner=self._owner)
            self._try(append, self.path, row)

    def _try(self, do: Any, path: Path, *arguments: Any) -> None:
        try:
            do(path, *arguments)
            self.fault = None
        except OSError as error:
            self.fault = f"cannot write the ledger {path}: {error}"


def append(path: Path, row: Row) -> None:
    """Appends one row with one write. A line that a killed writer left unfinished is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = _take_lock(path)
    try:
        # Only without the lock can the file be replaced in between; then the row is written again.
        for _ in range(3):
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(file).st_size
                whole = size == 0 or os.pread(file, 1, size - 1) == b"\n"
                _write(file, (b"" if whole else b"\n") + _line(row))
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    return
            except FileNotFoundError:
                pass
            finally:
                os.close(file)
        raise OSError("it is replaced again and again")
    finally:
        _give_back(lock)


def _line(row: Row) -> bytes:
    text = json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # Names of programs may be no text at all: then what cannot be written is replaced.
    return text.encode("utf-8", "replace") + b"\n"


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _take_lock(path: Path) -> Optional[int]:
    """The lock, on a file of its own since the ledger is replaced; none if it cannot be had in time."""
    file = os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    limit, pause = time.monotonic() + PATIENCE, 0.001
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() >= limit:
                os.close(file)
                return None
        except BaseException:
            os.close(file)
            raise
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def _give_back(lock: Optional[int]) -> None:
    if lock is not None:
        # Said aloud: a fork meanwhile has the descriptor too, and would hold the lock by it.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def parse(data: bytes) -> Tuple[List[Row], List[bytes]]:
    """The rows of a ledger, and the lines that are none: torn by a writer's death, or somebody else's."""
    rows, torn = [], []
    for line in filter(None, data.split(b"\n")):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            torn.append(line)
    return rows, torn


def compact(path: Path) -> None:
    """Writes the ledger anew with the rows of living owners and children; torn lines go to a file beside
    it. Never without the lock. What a writer without the lock adds meanwhile is carried over."""
    lock = _take_lock(path)
    if lock is None:
        return
    try:
        with open(path, "rb") as old:
            rows, torn = parse(old.read())
            if torn:
                _append_to(f"{path}.torn", b"\n".join(torn) + b"\n")
            new = f"{path}.new.{os.getpid()}"
            if os.path.exists(new):
                os.unlink(new)
            _append_to(new, b"".join(_line(row) for row in rows if matters(row)))
            os.replace(new, path)
            _append_to(str(path), old.read())
    finally:
        _give_back(lock)


def _append_to(path: str, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _write(file, data)
    finally:
        os.close(file)


def matters(row: Row) -> bool:
    """Whether a row still says something: of an owner or a child that may live."""
    owner, child = _dict(row, "owner"), _dict(row, "child")
    if owner.get("boot") != process.boot():
        return False
    if owner.get("space") != process.space() or not _provably_dead(owner):
        return True
    now = process.look(child["pid"]) if isinstance(child.get("pid"), int) else None
    if now and now.start == child.get("start") and not now.ended:
        return True
    # The row of the owner itself leads to strays by its mark, for as long as there may be some.
    return row.get("kind") == "owner" and Marks(str(owner.get("token"))).anywhere()


def _dict(row: Row, key: str) -> Row:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _provably_dead(owner: Row) -> bool:
    """Whether it has ended for certain: its number is free, or somebody else's, or waits to be reaped."""
    pid, start = owner.get("pid"), owner.get("start")
    if not isinstance(pid, int) or not isinstance(start, int) or pid <= 0 or start <= 0:
        return False
    now = process.look(pid)
    return now is None or now.start != start or now.ended
