"""What must outlive its owner does, and its reason is one."""

import json
import os
import tempfile
from pathlib import Path

from spawn_owned import NoReason, Owner, process, reason

from .witness import FOLDER, TestCase, lives, runs, until


class Detached(TestCase):
    def test_it_lives_on_without_a_mark_and_the_ledger_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ledger.jsonl")
            # The owner is itself below another, whose mark must go too.
            owner = self.owner(LEDGER=str(path), SPAWN_OWNED="0123456789abcdef0123456789abcdef.1:")
            owned = owner.number("spawn exec sleep 1000")
            until("it has become its program", lambda: runs(owned, "sleep"))
            self.assertIn(b"SPAWN_OWNED=0123456789abcdef0123456789abcdef.1:", process.environment(owned))
            detached = owner.number("detach exec sleep 1000")
            until("it has become its program", lambda: runs(detached, "sleep"))
            self.assertNotIn(b"SPAWN_OWNED=", process.environment(detached))
            self.assertEqual(os.getsid(detached), detached)
            owner.kill()
            self.until_only(detached)
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            self.assertEqual([row["kind"] for row in rows], ["owner", "start", "detached"])
            self.assertEqual(rows[2]["reason"], "it must live on for the test")
            self.assertEqual(rows[2]["child"], {"pid": detached, "start": process.start_of(detached)})

    def test_one_that_has_ended_is_reaped(self):
        with Owner(idle=0.1, ledger=None) as owner:
            pid = owner.spawn_detached(["true"], "it ends before its owner does").pid
            until("it has ended", lambda: not lives(pid))
            with owner.spawn_owned(["true"], env=self.environment):
                self.assertIsNone(process.look(pid))

    def test_without_a_reason_nothing_is_started(self):
        with Owner(ledger=None) as owner:
            said = "the reason `todo` is a placeholder"
            self.assertRaisesRegex(NoReason, said, owner.spawn_detached, ["/no/such/program"], "todo")


class Reasons(TestCase):
    def test_every_case_of_the_table_that_the_linter_and_the_crate_keep(self):
        table = Path(FOLDER, "../../src/justify/reasons.txt").read_text(encoding="utf-8")
        seen = 0
        for line in table.split("\n"):
            if line.startswith("#") or not line:
                continue
            verdict, _, text = line.partition("\t")
            self.assertEqual(reason.fault(text) is None, verdict == "ok", f"{text!r}: {reason.fault(text)}")
            seen += 1
        self.assertGreater(seen, 60)


