"""A fork that does not exec keeps nothing: neither the lifeline, nor what its parent owns."""

import os
import signal
import sys
import threading

from .witness import TestCase, lives, runs, until


class Forks(TestCase):
    def test_a_forked_child_does_not_hide_its_parents_death(self):
        for how in ("fork", "child fork", "child forkserver", "child spawn"):
            with self.subTest(how):
                owner = self.owner()
                owned = owner.number("spawn exec sleep 1000")
                # The child lives on, as plain children do.
                forked = int(owner.tell(f"{how} ").split()[0])
                owner.kill()
                until("the owned child ends", lambda: not lives(owned))
                self.assertTrue(lives(forked))
                self._end_all()

    def test_nor_does_any_other_child(self):
        for how in ("popen", "all open", "session", "posix_spawn", "system", "terminal"):
            with self.subTest(how):
                owner = self.owner()
                owned = owner.number("spawn exec sleep 1000")
                owner.number(f"beside {how}")
                until("both sleep", lambda: len([pid for pid in self.living() if runs(pid, "sleep")]) == 2)
                (beside,) = {pid for pid in self.living() if runs(pid, "sleep")} - {owned}
                owner.kill()
                self.until_only(beside)
                self._end_all()

    def test_a_forked_child_owns_for_itself(self):
        for how in ("fork", "child fork", "child forkserver", "child spawn"):
            with self.subTest(how):
                owner = self.owner()
                owned = owner.number("spawn exec sleep 1000")
                pid, its_own = map(int, owner.tell(f"{how} exec sleep 1000").split())
                os.kill(pid, signal.SIGKILL)
                until("what the forked child owned ends", lambda: not lives(its_own))
                self.assertTrue(lives(owned) and lives(owner.supervisor()))
                # The other way round: the parent's death is not the child's.
                pid, its_own = map(int, owner.tell(f"{how} exec sleep 1000").split())
                owner.kill()
                until("what the parent owned ends", lambda: not lives(owned))
                self.assertTrue(lives(its_own) and lives(pid))
                os.kill(pid, signal.SIGKILL)
                until("what the forked child owned ends", lambda: not lives(its_own))
                self._end_all()

    def test_a_handle_of_the_parent_is_refused(self):
        owner = self.owner()
        owned = owner.number("spawn exec sleep 1000")
        self.assertEqual(owner.tell(f"use-in-fork {owned}"), "Forked")
        self.assertTrue(lives(owned))
        self.assertEqual(owner.tell(f"stop {owned}"), str(-signal.SIGTERM))

    def test_the_watcher_is_there_after_a_fork_and_not_during_it(self):
        owner = self.owner()
        owned = owner.number("spawn exec sleep 1000")
        # Since Python 3.12 a fork of a program with threads is warned of, which is an error here.
        for _ in range(3):
            owner.tell("fork ")
        supervisor = owner.supervisor()
        os.kill(supervisor, signal.SIGKILL)
        until("another supervisor", lambda: owner.supervisor() not in (0, supervisor))
        owner.kill()
        until("the owned child ends", lambda: not lives(owned))

    def test_forks_and_spawns_at_once(self):
        """No lock is left held in a child, and no lifeline: forks fall between all steps of a spawn."""
        from spawn_owned import Owner

        owner, children, stop = Owner(grace=1, ledger=None), [], threading.Event()

        def spawn_for_ever():
            while not stop.is_set():
                children.append(owner.spawn_owned(["/bin/sleep", "1000"], env=self.environment))
                children[-1].kill()
                children[-1].wait()

        thread = threading.Thread(target=spawn_for_ever)
        thread.start()
        try:
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    try:
                        child = owner.spawn_owned(["/bin/true"], env=self.environment)
                        os._exit(child.wait(60))
                    finally:
                        os._exit(9)
                self.assertEqual(os.waitpid(pid, 0), (pid, 0))
        finally:
            stop.set()
            thread.join()
        owner.close()
        self.until_only()
        self.assertGreater(len(children), 0, sys.version)
