"""asyncio: streams to await, and an end that comes with a cancelled task."""

import asyncio
import os
import time

from spawn_owned import DEVNULL, PIPE, Owner, spawn_owned_async

from .witness import TestCase, lives, until

#: A child and what has left its group.
# detached-spawn: what the owner must end
TREE = ["sh", "-c", "setsid sleep 1000 & exec sleep 1000"]


class Asyncio(TestCase):
    def setUp(self):
        super().setUp()
        self.spawning = Owner(grace=1, ledger=None)
        self.addCleanup(self.spawning.close)

    def spawn(self, *argv, **options):
        return spawn_owned_async(argv, owner=self.spawning, env=self.environment, **options)

    def test_streams(self):
        async def talk():
            async with await self.spawn("cat", stdin=PIPE, stdout=PIPE, limit=100) as child:
                child.stdin.write(b"one\n")
                await child.stdin.drain()
                self.assertEqual(await child.stdout.readline(), b"one\n")
                self.assertEqual(await child.communicate(b"x" * 1_000_000), (b"x" * 1_000_000, None))
                self.assertEqual((child.returncode, await child.wait()), (0, 0))
            text = "read line; echo out; echo err >&2; exit 3"
            async with await self.spawn("sh", "-c", text, stdin=DEVNULL, stdout=PIPE, stderr=PIPE) as child:
                self.assertEqual(await child.communicate(), (b"out\n", b"err\n"))
                self.assertEqual(await child.wait(), 3)

        asyncio.run(talk())

    def test_many_at_once(self):
        async def one(number):
            async with await self.spawn("sh", "-c", f"echo {number}", stdout=PIPE) as child:
                out, status = await asyncio.gather(child.stdout.read(), child.wait())
                return int(out) + status

        async def all_of_them():
            return await asyncio.gather(*map(one, range(20)))

        before = sorted(os.listdir("/proc/self/fd"))
        self.assertEqual(asyncio.run(all_of_them()), list(range(20)))
        until("all is closed", lambda: len(os.listdir("/proc/self/fd")) <= len(before) + 3)

    def test_cancellation_ends_the_child_and_what_it_started(self):
        async def wait_for_ever(started):
            async with await self.spawn(*TREE) as child:
                started.set_result(child)
                await child.wait()

        async def cancel():
            started = asyncio.get_running_loop().create_future()
            task = asyncio.ensure_future(wait_for_ever(started))
            child = await started
            while len(self.living()) < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            # It is all over when the task is.
            self.assertEqual((self.living(), child.returncode), ([], -15))

        asyncio.run(cancel())

    def test_a_wait_with_a_limit_leaves_the_child(self):
        async def wait():
            child = await self.spawn("sleep", "1000")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(child.wait(), 0.05)
            self.assertTrue(lives(child.pid))
            self.assertEqual(await child.stop(), -15)

        asyncio.run(wait())

    def test_cancelled_in_the_start(self):
        async def cancel():
            task = asyncio.ensure_future(self.spawn(*TREE))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            while self.spawning.status().started == 0:
                await asyncio.sleep(0.01)

        asyncio.run(cancel())
        self.until_only()

    def test_the_loop_is_not_held_up(self):
        async def tick():
            worst, last = 0.0, time.monotonic()
            while True:
                await asyncio.sleep(0.01)
                worst, last = max(worst, time.monotonic() - last), time.monotonic()
                ticks.append(worst)

        async def stop_what_does_not_want_to():
            ticking = asyncio.ensure_future(tick())
            child = await self.spawn("sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done", stdout=PIPE)
            await child.stdout.readline()
            self.assertEqual(await child.stop(0.5), -9)
            ticking.cancel()

        ticks = []
        asyncio.run(stop_what_does_not_want_to())
        self.assertGreater(len(ticks), 5)

    def test_what_cannot_be_run_or_said(self):
        with self.assertRaises(FileNotFoundError):
            asyncio.run(self.spawn("/no/such/program"))
        with self.assertRaisesRegex(ValueError, "streams are of bytes"):
            asyncio.run(self.spawn("true", text=True))
