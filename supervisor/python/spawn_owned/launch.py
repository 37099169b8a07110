"""The one place that starts programs: the launcher in a child's place, and the supervisor.

A child that somebody else registers is nobody's until that is done, and an owner killed in between leaves
it. So what is started is a launcher in the child's place. It holds the lifeline from birth, writes its
own line to it, and only then becomes the program.

``os.posix_spawn``, since a descriptor can be given another number there: a shell names one digit only.
"""

import contextlib
import os
import pkgutil
import signal
import stat
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .process import VARIABLE
from .streams import DEVNULL, PIPE, Streams, close_all, lifted_pipe

Text = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

#: The crate's own scripts, byte for byte.
LAUNCHER = pkgutil.get_data(__package__, "launcher.sh") or b""
SUPERVISOR = pkgutil.get_data(__package__, "supervisor.sh") or b""
#: Said before the launcher where a child has a folder: ``posix_spawn`` cannot.
_FOLDER = b'cd -P "$1" || exit 126\nshift\n'
#: What becomes of variables on their way through it: a name, and what happens to it.
_ON_THE_WAY = [
    line.split()
    for line in (pkgutil.get_data(__package__, "environment.txt") or b"").splitlines()
    if not line.startswith(b"#")
]
#: What a shell, or the launcher in it, sets although nobody gave it.
_SET_BY_SHELLS = tuple(name for name, *what in _ON_THE_WAY if b"set" in what)
#: What a shell changes or drops, beside its own ``BASH…``.
_CHANGED_BY_SHELLS = frozenset(name for name, *what in _ON_THE_WAY if b"changed" in what)
#: Meant for others than a supervisor: it starts with these blocked, and ignores them.
_FOR_OTHERS = [signal.Signals[f"SIG{name}"] for name in "HUP INT QUIT PIPE TERM TSTP TTIN TTOU".split()]
#: Python ignores these; a program expects them.
_EXPECTED = [signal.SIGPIPE, signal.SIGXFSZ]


class Program(NamedTuple):
    """A program to start, looked up before anything is started, so that the error is the caller's."""

    path: bytes
    #: What it is started by: the path, or the bare name where that is found again in the child's ``PATH``.
    name: bytes
    arguments: List[bytes]
    environment: Dict[bytes, bytes]
    folder: Optional[bytes]


def prepare(argv: Union[Text, Sequence[Text]], cwd: Optional[Text], env: Optional[Mapping[Any, Any]]) -> Program:
    """Finds the program as ``Popen`` does: raises ``FileNotFoundError`` or ``PermissionError``."""
    words = [argv] if isinstance(argv, (str, bytes, os.PathLike)) else list(argv)
    if not words:
        raise ValueError("no program is named: the list of arguments is empty")
    given = os.environb if env is None else env
    environment = {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
    environment.pop(VARIABLE.encode(), None)
    # Not made simpler: where a folder is a link, `..` after it means what the system says.
    folder = None if cwd is None else os.path.join(os.getcwdb(), os.fsencode(cwd))
    if folder is not None and not os.path.isdir(folder):
        raise FileNotFoundError(2, "No such folder to start in", os.fsdecode(folder))
    name = os.fsencode(words[0])
    path = _find(name, environment, folder)
    # A bare name that begins with `-` would be an option to the shell or to `env`.
    bare = b"/" not in name and not name.startswith(b"-")
    found_again = bare and all(map(os.path.isabs, environment.get(b"PATH", b"").split(b":")))
    return Program(path, name if found_again else path, [os.fsencode(word) for word in words[1:]], environment, folder)


def _find(name: bytes, environment: Dict[bytes, bytes], folder: Optional[bytes]) -> bytes:
    if b"/" in name:
        _check(name if folder is None else os.path.join(folder, name))
        # A relative name could be taken for an option.
        return name if name[:1] in (b"/", b".") else b"./" + name
    fault: OSError = FileNotFoundError(2, "No such program in PATH", os.fsdecode(name))
    for place in os.get_exec_path({"PATH": os.fsdecode(environment[b"PATH"])} if b"PATH" in environment else {}):
        path = os.path.abspath(os.path.join(os.fsencode(place), name))
        try:
            _check(path)
            return path
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            fault = error
    raise fault


def _check(path: bytes) -> None:
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) or not os.access(path, os.X_OK):
        raise PermissionError(13, "Not a program that can be run", os.fsdecode(path))
    if not os.access(path, os.R_OK):
        return
    with open(path, "rb") as file:
        words = file.read(256).partition(b"\n")[0].split()
    interpreter = words[0][2:] or b"".join(words[1:2]) if words and words[0].startswith(b"#!") else b""
    if interpreter and not os.path.exists(interpreter):
        raise FileNotFoundError(2, f"No such interpreter, named by the first line of {os.fsdecode(path)}", os.fsdecode(interpreter))


def launch(program: Program, streams: Streams, passed: Sequence[int], mark: bytes, line: int, shell: str) -> int:
    """Starts the launcher in the child's place, a group of its own; returns its pid."""
    spare = next((number for number in range(9, 2, -1) if number not in passed), None)
    if spare is None:
        raise ValueError("the descriptors 3 to 9 are all passed on to the child; one must be left for the launcher")
    environment = dict(program.environment)
    arguments: List[bytes] = [b"sh", b"-c", LAUNCHER, b"sh"]
    if program.folder is not None:
        arguments = [b"sh", b"-c", _FOLDER + LAUNCHER, b"sh", program.folder]
    # Nothing, in the place of the file by which a control group is entered: that is the crate's.
    arguments += [b"%d" % os.getpid(), b"%d" % spare, b""]
    # In a name with `=` the next program would see a variable: there, what the shell leaves has to do.
    if b"=" not in program.path:
        arguments += _environment_arguments(environment)
    arguments += [program.name, *program.arguments]
    environment[VARIABLE.encode()] = mark
    places = [*streams.places, *((fd, fd) for fd in passed), (line, spare)]
    signals: Any = {"setsigmask": [], "setsigdef": _EXPECTED}
    # detached-spawn: the group that an owned child leads, which its supervisor ends as a whole
    return os.posix_spawn(shell, arguments, environment, file_actions=_actions(places), setpgroup=0, **signals)


def _environment_arguments(environment: Mapping[bytes, bytes]) -> List[bytes]:
    """A call of ``env`` that makes the environment what it was before a shell had it."""
    arguments = [b"/usr/bin/env"]
    for name in _SET_BY_SHELLS:
        arguments += [b"-u", name] if name not in environment else []
    return [*arguments, b"--", *(b"%s=%s" % item for item in environment.items() if _changed_by_a_shell(item[0]))]


def _changed_by_a_shell(name: bytes) -> bool:
    """Whether a shell would drop or change the variable: then ``env`` sets it, right before the program."""
    plain = name.replace(b"_", b"a").isalnum() and not name[:1].isdigit()
    return not plain or name.startswith(b"BASH") or name in _CHANGED_BY_SHELLS


def start_supervisor(shell: str, token: str, grace: float, read: int) -> Tuple[int, int]:
    """Starts the script with the lifeline's read end, in a session, folder and environment of its own.
    Its pid, and the descriptor on which it says that it works."""
    arguments = ["sh", "-s", token, f"{-int(-grace // 1)}", f"{os.getpgrp()}"]
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin"}
    script, ours = lifted_pipe()
    streams = Streams(script, PIPE, DEVNULL)
    try:
        actions = _actions([*streams.places, (read, 3)])
        signals: Any = {"setsigmask": _FOR_OTHERS, "setsigdef": _EXPECTED}
        # detached-spawn: the supervisor must outlive its owner, and ends itself when that has ended
        pid = os.posix_spawn(shell, arguments, environment, file_actions=actions, setsid=True, **signals)
    except BaseException:
        close_all(filter(None, streams.ends))
        raise
    else:
        # Less than a pipe holds: nobody is waited for. A reader that is gone says nothing, and is seen by that.
        with contextlib.suppress(BrokenPipeError):
            os.write(ours, SUPERVISOR)
        word = streams.ends[1]
        assert word is not None
        return pid, word
    finally:
        streams.close()
        close_all((script, ours))


def _actions(places: List[Tuple[int, int]]) -> List[Tuple[int, ...]]:
    """What gives a program the descriptors of ``places``, and no other above the standard ones."""
    kept = {here for here, there in places if here == there}
    actions: List[Tuple[int, ...]] = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable() if fd not in kept]
    return actions + [(os.POSIX_SPAWN_DUP2, here, there) for here, there in places]


def _inheritable() -> List[int]:
    """The numbers from 3 on that programs started now would inherit."""
    found = []
    for name in os.listdir("/dev/fd"):
        try:
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            pass  # Closed meanwhile, as that of the list itself.
    return found
