"""Whatever ends the owner ends what it owns, and nothing else."""

import os
import random
import signal
import subprocess
import time

from spawn_owned import Owner, process

from .witness import ALL, TestCase, lives, until

#: A tree of three: a shell, its child in the background, and a child of that.
TREE = "sh -c 'sleep 1000 & sleep 1000' & sleep 1000"
WAYS = "return raise _exit exec kill term hup segv".split()


class Deaths(TestCase):
    def test_every_way_to_die(self):
        for way in WAYS:
            with self.subTest(way):
                owner = self.owner()
                owner.number(f"spawn {TREE}")
                until("the tree stands", lambda: len(self.living()) == 6)
                # The control: an equal child that nobody owns.
                control = owner.number("plain exec sleep 1000")
                supervisor = owner.supervisor()
                self.assertTrue(lives(supervisor))
                owner.order(way if way == "return" else f"die {way}")
                if way == "exec":
                    self.until_only(control, owner.pid)
                    owner.kill()
                owner.process.wait(60)
                self.until_only(control)
                until("the supervisor ends too", lambda: not lives(supervisor))
                os.kill(control, signal.SIGKILL)
                until("the control is gone", lambda: not lives(control))

    def test_in_every_shell(self):
        for shell in ("/bin/dash", "/bin/bash", "/bin/busybox"):
            if not os.path.exists(shell):
                self.assertNotIn("CI", os.environ, f"{shell} is needed")
                print(f"not run: {shell} missing")
                continue
            with self.subTest(shell):
                owner = self.owner(SUPERVISING_SHELL=shell)
                owner.number(f"spawn setsid sleep 1000 & {TREE}")
                until("the tree stands", lambda: len(self.living()) == 7)
                owner.kill()
                self.until_only()

    def test_what_does_not_want_to_end(self):
        owner = self.owner(GRACE="1")
        stopped = owner.number("spawn sleep 1000 & kill -STOP $$; wait")
        until("it is stopped", lambda: b") T" in process._read(f"/proc/{stopped}/stat"))
        owner.number("spawn trap '' TERM HUP INT; while :; do sleep 1000; done")
        # A leader that has ended and left a member.
        leader = owner.number("spawn trap '' TERM; sleep 1000 & exit 3")
        until("the leader has ended", lambda: not lives(leader))
        # What has left its group is found by its mark.
        owner.number("spawn setsid sleep 1000 & sleep 1000")
        until("it has left", lambda: any(process.look(pid).group == pid for pid in self.sleepers(leader)))
        owner.kill()
        self.until_only()

    def sleepers(self, *but):
        return [pid for pid in self.living() if pid not in but and b"sleep" in process._read(f"/proc/{pid}/cmdline")[:6]]

    def test_stop_and_the_end_of_a_block(self):
        with Owner(grace=1, ledger=None) as owner:
            for leave in (lambda child: child.stop(), lambda child: child.__exit__()):
                text = "trap '' TERM; setsid sleep 1000 & sleep 1000; sleep 1000"
                child = owner.spawn_owned(["/bin/sh", "-c", text], env=self.environment)
                until("all stand", lambda: len(self.living()) == 3)
                leave(child)
                self.assertEqual(self.living(), [])
                self.assertEqual((child.returncode, owner.status().groups), (-signal.SIGKILL, []))

    def test_close_ends_what_is_owned(self):
        with Owner(grace=1, ledger=None) as owner:
            owner.spawn_owned(["sleep", "1000"], env=self.environment)
            owner.spawn_owned(["sleep", "1000"], env=self.environment)
            # A look at what is just becoming another program shows no mark.
            until("both run", lambda: len(self.living()) == 2)
        self.until_only()


class Moments(TestCase):
    """Kills at moments that nobody chose: no instant leaves a child that is not ended."""

    def owner_for(self, start, micros=0):
        """Forks an owner that starts children with ``start``, and kills it so long after its first word."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                owner, ended = Owner(grace=1, ledger=None), []
                while True:
                    ended.append(start(owner, lambda: os.write(write, b"!")))
                    if len(ended) > 5:
                        # So that ends are killed in the middle too.
                        ended.pop(0).kill()
            finally:
                os._exit(1)
        os.close(write)
        os.read(read, 1)
        moment = time.monotonic() + micros / 1e6
        while time.monotonic() < moment:
            pass
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read)

    def owned(self, owner, say):
        child = owner.spawn_owned(["/bin/sleep", "1000"], env=self.environment)
        say()
        return child

    def registered_late(self, owner, say):
        # detached-spawn: the control: its owner registers it after its start, which is too late
        child = subprocess.Popen(["/bin/sleep", "1000"], env=self.environment, start_new_session=True)
        # Killed before it comes to register it.
        say()
        signal.pause()
        owner.own_process_groups([child.pid])
        return child

    def test_kills_at_random_moments_leave_nothing(self):
        moments, rounds = random.Random(7), 1000 if ALL else 40
        for number in range(rounds):
            micros = moments.randrange(6_000 if number % 2 else 60_000)
            self.owner_for(self.owned, micros)
            self.until_only()
        print(f"{rounds} kills of a Python owner, 0 survivors")

    def test_the_control_loses(self):
        """Each kill between a child's start and its registration: so that none is lost above is no chance."""
        for _ in range(3):
            self.owner_for(self.registered_late)
            until("the child is left", lambda: len(self.living()) == 1)
            (child,) = self.living()
            self.assertEqual(process.look(child).group, child)
            self._end_all()
