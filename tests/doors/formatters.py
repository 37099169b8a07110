"""Justifications after real formatters: what they move stays in force, and means the same (C 5, C 7)."""

import json
import shutil
import unittest

from support import ROOT, Case, needs, output, run

PYTHON = {
    "black": ["black", "--quiet"],
    "black-short": ["black", "--quiet", "--line-length", "60"],
    "black-preview": ["black", "--quiet", "--preview", "--unstable"],
    "ruff": ["ruff", "format", "--isolated", "--quiet"],
    "ruff-long": ["ruff", "format", "--isolated", "--quiet", "--line-length", "140"],
    "yapf": ["yapf", "--in-place"],
    "yapf-google": ["yapf", "--in-place", "--style", "google"],
    "yapf-facebook": ["yapf", "--in-place", "--style", "facebook"],
}
RUST = {
    "2021": ["rustfmt", "--edition", "2021"],
    "2024": ["rustfmt", "--edition", "2024"],
    "narrow": ["rustfmt", "--edition", "2024", "--config", "max_width=60"],
}


class Formatters(Case):
    def verdicts(self, path):
        """What is found in a file, in order, and the reason of each."""
        text, _ = output(self.folder, "--no-config", "--today", "2027-01-15", "--output-format", "json", path.name)
        report = json.loads(text)
        self.assertEqual(report["problems"], [], path)
        found = sorted(report["findings"] + report["justified"], key=lambda one: (one["line"], one["column"]))
        reason = lambda one: (one["justification"] or {}).get("reason")
        return [(one["rule"], one["mechanisms"], one["verdict"], reason(one)) for one in found]

    def unchanged(self, fixture, formatters):
        source = ROOT / "fixtures/justified" / fixture
        for name, command in formatters.items():
            with self.subTest(formatter=name):
                path = self.folder / f"{name}{source.suffix}"
                shutil.copy(source, path)
                before, text = self.verdicts(path), path.read_text(encoding="utf-8")
                self.assertGreater(len(before), 5)
                for _ in range(2):
                    done = run(*command, path, cwd=self.folder)
                    # rustfmt says so of a comment behind a macro's arm, and has formatted the file.
                    if "left behind trailing whitespace" not in done.stdout:
                        self.content(done)
                    self.assertEqual(self.verdicts(path), before)
                self.assertNotEqual(path.read_text(encoding="utf-8"), text, "the formatter did nothing")

    @needs("black", "ruff", "yapf")
    def test_python_is_judged_as_before(self):
        self.unchanged("places.py", PYTHON)

    @needs("rustfmt")
    def test_rust_is_judged_as_before(self):
        self.unchanged("places.rs", RUST)


if __name__ == "__main__":
    unittest.main()
