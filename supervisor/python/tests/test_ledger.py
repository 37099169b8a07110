"""The ledger, with several owners of both kinds at once, some of which are killed."""

import fcntl
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from spawn_owned import Owner, ledger, process

from .witness import TestCase, until


class LedgerTests(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "below", "ledger.jsonl")

    def rows(self):
        """Every line, which must be a row."""
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n") if line]

    def rows_of(self, pid):
        rows, _ = ledger.parse(self.path.read_bytes() if self.path.exists() else b"")
        return len([row for row in rows if row["owner"]["pid"] == pid])

    def test_no_row_is_lost_and_none_is_torn(self):
        owners = [self.owner(LEDGER=str(self.path)) for _ in range(3)]
        # Of the crate too: the program of its own tests, which takes the same orders.
        theirs = os.environ.get("SPAWN_OWNED_RUST_OWNER")
        rust = []
        if theirs:
            environment = {**self.environment, "LEDGER": str(self.path)}
            pipe = subprocess.PIPE
            for _ in range(3):
                one = subprocess.Popen([theirs, "/bin/sh"], env=environment, stdin=pipe, stdout=pipe, text=True)
                self.addCleanup(one.communicate)
                self.addCleanup(one.kill)
                rust.append(one)
        else:
            print("not run with Rust writers: SPAWN_OWNED_RUST_OWNER names no program (`cargo test` does)")
        # One more is killed while it writes.
        killed = self.owner(LEDGER=str(self.path))
        killed.order("many 1000")
        for one in rust:
            one.stdin.write("many 15\n")
            one.stdin.flush()
        for owner in owners:
            owner.order("many 15")
        until("the killed one has written", lambda: self.rows_of(killed.pid) > 5)
        killed.kill()
        for owner in owners:
            self.assertEqual(owner.process.stdout.readline(), "many\n")
        for one in rust:
            self.assertEqual(one.stdout.readline(), "many\n")
        counts = [self.rows_of(one.pid) for one in [*owners, *rust]]
        self.assertEqual(counts, [16] * len(counts), "the owner and 15 starts")
        rows = self.rows()
        self.assertTrue(all(row["version"] == 1 and row["owner"]["boot"] == process.boot() for row in rows))
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)
        shapes = {(row["kind"], tuple(sorted(row)), tuple(sorted(row["owner"]))) for row in rows}
        self.assertEqual(len(shapes), 2, "rows of both kinds of owners have one shape")
        print(f"{len(rows)} rows of {len(counts) + 1} owners, {len(rust)} of them Rust, one killed: none lost or torn")

    def test_the_story_of_a_child(self):
        with Owner(ledger=self.path) as owner:
            owner.spawn_owned(["sh", "-c", "exit 3"], "to exit", env=self.environment).wait()
            child = owner.spawn_owned(["sleep", "1000"], env=self.environment)
            owner.release_process_groups([child.pid])
            child.kill()
            child.wait()
        rows = self.rows()
        self.assertEqual([row["kind"] for row in rows], ["owner", "start", "end", "start", "release"])
        self.assertEqual((rows[1]["purpose"], rows[1]["number"], rows[3]["number"]), ("to exit", 1, 2))
        self.assertEqual((rows[2]["how"], rows[4]["how"]), ("exit status: 3", "handed back"))

    def test_a_torn_line_is_closed_and_kept_aside(self):
        owner = {"boot": process.boot(), "space": process.space(), "pid": os.getpid(), "start": process.start_of(os.getpid())}
        ledger.append(self.path, {"kind": "a", "owner": owner})
        with open(self.path, "ab") as file:
            file.write(b'{"kind": "tor')
        ledger.append(self.path, {"kind": "ü\udcff", "owner": owner})
        # Of another start of the machine, and of an owner and a child that are no more.
        ledger.append(self.path, {"kind": "b", "owner": {**owner, "boot": "another"}})
        ledger.append(self.path, {"kind": "c", "owner": {**owner, "start": 1}, "child": {"pid": 2**31 - 1, "start": 1}})
        # A child that lives although its owner does not.
        ledger.append(self.path, {"kind": "d", "owner": {**owner, "start": 1}, "child": owner})
        ledger.compact(self.path)
        self.assertEqual([row["kind"] for row in self.rows()], ["a", "ü?", "d"])
        self.assertEqual(Path(f"{self.path}.torn").read_bytes(), b'{"kind": "tor\n')

    def test_writers_and_compaction_at_once_lose_nothing(self):
        owner = {"boot": process.boot(), "space": "elsewhere"}

        def write(writer):
            for row in range(30):
                ledger.append(self.path, {"writer": writer, "row": row, "owner": owner})
                if row == 15:
                    ledger.compact(self.path)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # On a busy machine a writer may have gone without the lock, and have written twice.
        self.assertEqual(len({(row["writer"], row["row"]) for row in self.rows()}), 240)

    def test_a_held_lock_makes_nobody_wait_for_ever(self):
        ledger.append(self.path, {"first": 1})
        with open(f"{self.path}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            start = time.monotonic()
            ledger.append(self.path, {"second": 2})
            self.assertGreaterEqual(time.monotonic() - start, ledger.PATIENCE)
        self.assertEqual(len(self.rows()), 2)

    def test_what_cannot_be_written_fails_no_spawn(self):
        with Owner(ledger="/proc/no/ledger.jsonl") as owner:
            self.assertEqual(owner.spawn_owned(["true"], env=self.environment).wait(), 0)
            self.assertIn("cannot write the ledger /proc/no/ledger.jsonl", owner.status().ledger_fault)

    def test_where_it_is(self):
        before = {name: os.environ.get(name) for name in ("XDG_STATE_HOME", "HOME")}
        try:
            for state, home, path in (
                ("/state", "/home/me", "/state/spawn-owned/ledger.jsonl"),
                ("relative", "/home/me", "/home/me/.local/state/spawn-owned/ledger.jsonl"),
                ("", "", None),
            ):
                os.environ.update(XDG_STATE_HOME=state, HOME=home)
                self.assertEqual(ledger.default_path(), path and Path(path))
        finally:
            os.environ.update({name: value for name, value in before.items() if value is not None})
            if before["XDG_STATE_HOME"] is None:
                del os.environ["XDG_STATE_HOME"]
