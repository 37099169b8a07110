"""An owner that does what it is told, a line at a time: what the tests start and kill."""

import multiprocessing
import os
import pty
import signal
import subprocess
import sys
import time
import warnings

import spawn_owned
from spawn_owned import Owner

# Whoever started the tests may ignore it, as nohup does: then no owner would die of it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
NUMBER = os.environ.get
owner = Owner(
    grace=float(NUMBER("GRACE", "3")),
    idle=float(NUMBER("IDLE", "30")),
    ledger=NUMBER("LEDGER"),
    shell=NUMBER("SUPERVISING_SHELL", "/bin/sh"),
)
held = {}


def spawn(text):
    child = owner.spawn_owned(["/bin/sh", "-c", text], "a test", stdin=spawn_owned.DEVNULL)
    held[child.pid] = child
    return child.pid


def plain(text):
    # detached-spawn: a group that somebody else started, which the tests own, or see survive
    return subprocess.Popen(["/bin/sh", "-c", text], start_new_session=True).pid


def detach(text):
    return owner.spawn_detached(["/bin/sh", "-c", text], "it must live on for the test").pid


def adopt(number):
    owner.own_process_groups([int(number)])
    return "adopted"


def release(number):
    owner.release_process_groups([int(number)])
    return "released"


def once_empty(number):
    owner.release_process_group_once_empty(int(number))
    return "later"


def stop(number):
    return held.pop(int(number)).stop()


def wait(number):
    return held[int(number)].wait()


def drop(number):
    del held[int(number)]
    return "dropped"


def status(_):
    now = owner.status()
    return f"{now.supervisor or 0} {now.started} {now.restarted} {now.groups} {now.unprotected or ''}"


def many(number):
    for _ in range(int(number)):
        spawn("exec sleep 1000")
    return "many"


def beside(way):
    """A child that nobody owns, started in one of Python's ways. It lives on."""
    words = ["/bin/sleep", "1000"]
    if way == "popen":
        return subprocess.Popen(words).pid
    if way == "all open":
        return subprocess.Popen(words, close_fds=False).pid
    if way == "session":
        # detached-spawn: it must be nobody's, whom no kill of a group reaches; the test ends it
        return subprocess.Popen(words, start_new_session=True).pid
    if way == "posix_spawn":
        return os.posix_spawn(words[0], words, os.environ)
    if way == "system":
        os.system("sleep 1000 &")
        return 0
    # detached-spawn: it must be nobody's, at a terminal whose hangup it does not heed; the test ends it
    pid, _ = pty.fork()
    if pid == 0:
        # detached-spawn: the hangup is not to end it; the test does
        os.execv("/bin/sh", ["sh", "-c", "trap '' HUP; exec sleep 1000"])
    return pid


def live_on(pipe, text):
    """What a forked or started child does: may own a child itself, says so, and stays."""
    pipe.send(spawn(text) if text else 0)
    while True:
        time.sleep(1000)


def fork(text):
    """A child by fork alone, which has every descriptor of this process. Answers its pid and its child's."""
    ours, theirs = multiprocessing.Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pid = os.fork()
    if pid == 0:
        live_on(theirs, text)
    return f"{pid} {ours.recv()}"


def child(rest):
    """The same by ``multiprocessing``, with the method that is the first word."""
    method, _, text = rest.partition(" ")
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=live_on, args=(theirs, text))
    process.start()
    held[process] = process
    return f"{process.pid} {ours.recv()}"


def use_in_fork(number):
    """What a forked child is told that uses the handle of its parent's child."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            held[int(number)].stop()
        except spawn_owned.Forked as error:
            os.write(write, type(error).__name__.encode())
        os._exit(0)
    os.close(write)
    with open(read) as pipe:
        return pipe.read()


def die(way):
    """Ends in the named way."""
    if way == "raise":
        raise RuntimeError("as it was told")
    if way == "exec":
        os.execv("/bin/sleep", ["sleep", "1000"])
    if way == "_exit":
        os._exit(0)
    os.kill(os.getpid(), signal.Signals[f"SIG{way.upper()}"])
    return "alive"


ORDERS = {"once-empty": once_empty, "use-in-fork": use_in_fork}
for one in (spawn, plain, beside, detach, adopt, release, stop, wait, drop, status, many, fork, child, die):
    ORDERS[one.__name__] = one


def main():
    for line in sys.stdin:
        order, _, rest = line.rstrip("\n").partition(" ")
        if order == "return":
            return
        try:
            answer = ORDERS[order](rest)
        except spawn_owned.OwnedError as error:
            answer = f"{type(error).__name__}: {error}"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
