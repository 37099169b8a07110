"""The supervisor is watched: killed it comes back, broken it does not, and it leaves when it is idle."""

import os
import select
import signal
import time

from spawn_owned import Owner, Unprotected, process

from .witness import TestCase, lives, runs, until


class Supervisor(TestCase):
    def test_killed_it_comes_back_and_knows_everything(self):
        owner = self.owner()
        many = [owner.number("spawn exec sleep 1000") for _ in range(3)]
        kept = owner.number("spawn exec sleep 1000")
        owner.tell(f"release {kept}")
        first = owner.supervisor()
        # A pattern kill sends this one first, which it does not hear.
        os.kill(first, signal.SIGTERM)
        os.kill(first, signal.SIGKILL)
        until("another supervisor", lambda: owner.supervisor() not in (0, first))
        self.assertEqual(owner.tell("status").split(" ", 3)[1:], ["2", "1", f"{sorted(many)} "])
        owner.kill()
        self.until_only(kept)

    def test_killed_too_often_it_is_said_aloud(self):
        with Owner(grace=1, ledger=None) as owner:
            child = owner.spawn_owned(["sleep", "1000"], env=self.environment)
            deadline = time.monotonic() + 10
            for killed in range(6):
                supervisor = owner.status().supervisor
                os.kill(supervisor, signal.SIGKILL)
                until("that is noticed", lambda: owner.status().supervisor != supervisor)
                if time.monotonic() > deadline:
                    self.skipTest("not run: this machine is too slow to kill six within ten seconds")
            self.assertIsNone(owner.status().supervisor)
            self.assertIn("killed 6 times", owner.status().unprotected)
            self.assertEqual((owner.status().started, owner.status().restarted), (6, 5))
            with self.assertRaisesRegex(Unprotected, "killed 6 times"):
                owner.spawn_owned(["sleep", "1000"], env=self.environment)
            child.stop()

    def test_one_that_exits_by_itself_is_not_started_again(self):
        with Owner(grace=1, ledger=None, shell="/bin/false") as owner:
            try:
                owner.spawn_owned(["sleep", "1000"], env=self.environment)
            except Unprotected:
                pass  # The watcher was faster.
            until("that is noticed", lambda: owner.status().unprotected)
            self.assertRegex(owner.status().unprotected, "`/bin/false` exited by itself with status 1")
            self.assertEqual((owner.status().started, owner.status().supervisor), (1, None))
        with Owner(ledger=None, shell="/no/shell") as owner:
            with self.assertRaisesRegex(Unprotected, "/no/shell"):
                owner.spawn_owned(["sleep", "1000"])

    def test_it_is_started_when_it_is_needed_and_leaves_when_it_is_not(self):
        with Owner(idle=0.1, ledger=None) as owner:
            self.assertIsNone(owner.status().supervisor)
            child = owner.spawn_owned(["sleep", "1000"], env=self.environment)
            supervisor = owner.status().supervisor
            self.assertTrue(lives(supervisor))
            child.stop()
            until("it leaves", lambda: owner.status().supervisor is None)
            self.assertIsNone(process.look(supervisor))
            # And comes again.
            with owner.spawn_owned(["sleep", "1000"], env=self.environment):
                self.assertTrue(lives(owner.status().supervisor))
            self.assertEqual((owner.status().started, owner.status().restarted), (2, 0))

    def test_one_that_does_not_read_is_replaced(self):
        with Owner(grace=1, ledger=None) as owner:
            child = owner.spawn_owned(["sleep", "1000"], env=self.environment)
            first = owner.status().supervisor
            os.kill(first, signal.SIGSTOP)
            shared = owner._shared()
            while owner.status().supervisor == first:
                # Lines that mean nothing, until its pipe is full.
                shared.tell("nothing\n" * 1000)
            until("another supervisor", lambda: owner.status().supervisor not in (None, first))
            self.assertIsNone(process.look(first))
            child.stop()

    def test_it_holds_nothing_of_its_owner(self):
        read, write = os.pipe()
        os.set_inheritable(write, True)
        with Owner(ledger=None) as owner, owner.spawn_owned(["sleep", "1000"], env=self.environment) as child:
            os.close(write)
            # A supervisor or a child that had it would keep this from its end.
            self.assertEqual(os.read(read, 1), b"")
            supervisor = owner.status().supervisor
            lifeline = os.readlink(f"/proc/self/fd/{owner._shared().link.line}")
            until("it reads", lambda: self.held(supervisor, but="1") == {"/dev/null", lifeline})
            # What it said its word on is a pipe that nobody reads any more.
            with open(f"/proc/{supervisor}/fd/1", "wb", buffering=0) as word:
                readers = select.poll()
                readers.register(word, 0)
                self.assertEqual([event for _, event in readers.poll(0)], [select.POLLERR])
            self.assertEqual(os.readlink(f"/proc/{supervisor}/cwd"), "/")
            self.assertNotIn(b"WITNESS", process.environment(supervisor))
            until("it has become its program", lambda: runs(child.pid, "sleep"))
            self.assertNotIn(lifeline, self.held(child.pid))
        os.close(read)

    def held(self, pid, but=None):
        """What the descriptors of a process lead to, but one."""
        all_of_them = (one for one in os.scandir(f"/proc/{pid}/fd") if one.name != but)
        return {os.readlink(one.path) for one in all_of_them if os.path.lexists(one.path)}
