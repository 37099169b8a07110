"""Where a child's standard streams lead, in the words of ``subprocess``."""

import fcntl
import io
import os
from subprocess import DEVNULL, PIPE, STDOUT
from typing import IO, Any, List, Optional, Tuple, Union

#: Nothing, ``PIPE``, ``DEVNULL``, a descriptor, or an open file.
Stream = Union[None, int, IO[Any]]
#: The first number that is safe from the fixed places of a child's descriptors.
ABOVE = 10


def lifted(fd: int) -> int:
    """A copy of ``fd`` with a number that no fixed place of a child has, closed in started programs."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE)


def lifted_pipe() -> Tuple[int, int]:
    """A pipe, read end first, with such numbers."""
    low: Tuple[int, ...] = os.pipe()
    high: List[int] = []
    try:
        high.extend(map(lifted, low))
        return high[0], high[1]
    except OSError:
        close_all(high)
        raise
    finally:
        close_all(low)


def close_all(descriptors: Any) -> None:
    """Closes every one of them."""
    for fd in descriptors:
        os.close(fd)


class Streams:
    """The three streams of a child to come, and our ends of those that are pipes."""

    def __init__(self, stdin: Stream, stdout: Stream, stderr: Stream) -> None:
        #: From a descriptor here to its number there.
        self.places: List[Tuple[int, int]] = []
        #: Our ends of its pipes, by the number of the stream.
        self.ends: List[Optional[int]] = [None, None, None]
        try:
            for number, wish in enumerate((stdin, stdout, stderr)):
                if wish is not None:
                    self.places.append((self._open(number, wish), number))
        except BaseException:
            self.close()
            close_all(fd for fd in self.ends if fd is not None)
            raise

    def _open(self, number: int, wish: Union[int, IO[Any]]) -> int:
        if wish == PIPE:
            read, write = lifted_pipe()
            theirs, self.ends[number] = (read, write) if number == 0 else (write, read)
            return theirs
        if wish == DEVNULL:
            null = os.open(os.devnull, os.O_RDWR)
            try:
                return lifted(null)
            finally:
                os.close(null)
        if wish == STDOUT:
            if number != 2:
                raise ValueError("STDOUT says where stderr goes, and nothing else")
            return lifted(dict((there, here) for here, there in self.places).get(1, 1))
        return lifted(wish if isinstance(wish, int) else wish.fileno())

    def close(self) -> None:
        """Closes the child's ends here: it has its own copies, or was not started."""
        close_all(here for here, _ in self.places)
        self.places = []

    def files(self, text: bool, encoding: Optional[str], errors: Optional[str]) -> List[Optional[IO[Any]]]:
        """Our ends as files, of text or of bytes."""
        made: List[Optional[IO[Any]]] = [
            None if fd is None else io.open(fd, "wb" if number == 0 else "rb")
            for number, fd in enumerate(self.ends)
        ]
        if text or encoding or errors:
            for number, file in enumerate(made):
                if file:
                    made[number] = io.TextIOWrapper(file, encoding, errors, write_through=number == 0)
        return made
