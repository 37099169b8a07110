"""Groups of others: owned, handed back, and refused where their end would end something else."""

import os
import signal
import subprocess
import sys
import time
import unittest

from spawn_owned import Owner, Refusal, Refused, process

from .witness import FOLDER, TestCase, lives, runs, until


class Groups(TestCase):
    def test_what_is_owned_ends_and_what_is_handed_back_lives(self):
        owner = self.owner()
        adopted, returned, stranger = (owner.number("plain exec sleep 1000") for _ in range(3))
        until("they are there", lambda: len(self.living()) == 4)
        self.assertEqual(owner.tell(f"adopt {adopted}"), "adopted")
        self.assertEqual(owner.tell(f"adopt {returned}"), "adopted")
        self.assertEqual(owner.tell(f"release {returned}"), "released")
        child = owner.number("spawn setsid sleep 1000 & sleep 1000")
        # Not before all run: what is just becoming another program has no mark for a moment.
        sleeping = lambda: sum(runs(pid, "sleep") for pid in self.living())
        until("one has left its group", lambda: sleeping() == 5 and len(self.living()) == 7)
        # What carries a child's mark is handed back with it.
        owner.tell(f"release {child}")
        kept = [pid for pid in self.living() if pid not in (adopted, owner.pid)]
        owner.kill()
        until("the adopted one ends", lambda: not lives(adopted))
        self.until_only(*kept)
        self.assertIn(stranger, kept)

    def test_what_is_handed_back_at_once_lives(self):
        owner = self.owner()
        # Its launcher has not said yet that it runs.
        child = owner.number("spawn exec sleep 1000")
        self.assertEqual(owner.tell(f"release {child}"), "released")
        until("it is its program", lambda: runs(child, "sleep"))
        supervisor = int(owner.tell("status").split()[0])
        owner.kill()
        until("the supervisor has done its work", lambda: not lives(supervisor))
        self.until_only(child)

    def test_once_empty_and_not_before(self):
        owner = self.owner()
        leader = owner.number("spawn sleep 1000 & exec sleep 1000")
        until("both are there", lambda: len(self.living()) == 3)
        member = next(pid for pid in self.living() if pid not in (leader, owner.pid))
        owner.tell(f"once-empty {leader}")
        os.kill(leader, signal.SIGKILL)
        self.assertEqual(owner.tell(f"wait {leader}"), "-9")
        self.assertIn(str(leader), owner.tell("status"))
        os.kill(member, signal.SIGKILL)
        until("it is handed back", lambda: str(leader) not in owner.tell("status"))

    def test_what_is_refused(self):
        # detached-spawn: a group that is older than its would-be owner; the test ends it
        older = subprocess.Popen(["sleep", "1000"], env=self.environment, start_new_session=True)
        self.addCleanup(older.wait)
        self.addCleanup(older.kill)
        # Starts are told in ticks: in the same one, neither is older.
        ticks = os.sysconf("SC_CLK_TCK")
        start = process.start_of(older.pid)
        until("a tick has passed", lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME) * ticks) > start)
        code = (
            "import os, spawn_owned, sys\n"
            "owner = spawn_owned.Owner(ledger=None)\n"
            "for group in map(int, sys.argv[1:]):\n"
            "    try: owner.own_process_groups([group or os.getpgrp()])\n"
            "    except spawn_owned.Refused as error: print(error.why.name)\n"
            "print(owner.status().supervisor)"
        )
        member = subprocess.Popen(["sleep", "1000"], env=self.environment)
        with subprocess.Popen(["true"]) as gone:
            pass
        numbers = [os.getpgrp(), 0, -1, 1, member.pid, older.pid, gone.pid, os.getpid(), 2**31 - 1]
        # detached-spawn: in a session of its own, the test's group is that of an ancestor; it is waited for
        said = subprocess.run(
            [sys.executable, "-c", code, *map(str, numbers)],
            cwd=FOLDER, env=self.environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        member.kill()
        member.wait()
        self.assertEqual(
            said.stdout.split(),
            "ANCESTORS_GROUP OWN_GROUP NOT_A_GROUP NOT_A_GROUP NOT_A_LEADER OLDER_THAN_OWNER GONE "
            "ANCESTORS_GROUP GONE None".split(),
        )

    def test_all_of_them_or_none(self):
        # detached-spawn: the group that is to be owned; the test ends it
        good = subprocess.Popen(["sleep", "1000"], env=self.environment, start_new_session=True)
        self.addCleanup(good.wait)
        self.addCleanup(good.kill)
        with Owner(ledger=None) as owner:
            owner._shared().start = process.start_of(good.pid)
            with self.assertRaises(Refused) as refused:
                owner.own_process_groups([good.pid, 1])
            self.assertEqual((refused.exception.group, refused.exception.why), (1, Refusal.NOT_A_GROUP))
            self.assertIn("process group 1: that is no number", str(refused.exception))
            self.assertEqual(owner.status().groups, [])

    @unittest.skipUnless(os.geteuid() == 0, "not run: only root can start what belongs to another user")
    def test_another_users_is_refused(self):
        with Owner(ledger=None) as owner:
            owner.status()
            script = "import os, time; os.setuid(65534); print('ready', flush=True); time.sleep(1000)"
            command = [sys.executable, "-c", script]
            # detached-spawn: a group of another user, which must be refused; the test ends it
            other = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, start_new_session=True)
            other.stdout.readline()
            with self.assertRaises(Refused) as refused:
                owner.own_process_groups([other.pid])
            other.kill()
            other.communicate()
            self.assertEqual(refused.exception.why, Refusal.ANOTHER_USER)

    def test_a_number_that_means_somebody_else_by_now_is_not_signalled(self):
        """By its start time: the supervisor is told of a leader that has this number and started before."""
        with Owner(grace=1, ledger=None) as owner:
            owner.spawn_owned(["sleep", "1000"], env=self.environment)
            # detached-spawn: the stranger who has got the number; the test ends it
            stranger = subprocess.Popen(["sleep", "1000"], env=self.environment, start_new_session=True)
            self.addCleanup(stranger.wait)
            self.addCleanup(stranger.kill)
            until("it is there", lambda: lives(stranger.pid))
            start = process.start_of(stranger.pid)
            owner._shared().cover(stranger.pid, start - 1, None)
        self.until_only(stranger.pid)
        # The control: with the right start time it is ended.
        with Owner(grace=1, ledger=None) as owner:
            owner._shared().protect()
            owner._shared().cover(stranger.pid, start, None)
        until("it is ended", lambda: not lives(stranger.pid))
