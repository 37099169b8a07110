"""What each format writes, read by the programs and rules it is written for.

Unit tests beside the writers hold the details; here whole reports meet a validator, a parser, or the
documented way of reading them.
"""

import json
import re
import unittest
import urllib.parse
import xml.etree.ElementTree

from support import BAD, GOOD, ODD, Case, needs, output, run, unescaped, write

FORMATS = ["concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "checkstyle", "rdjsonl", "markdown"]
# The validator would ask the network whether addresses are there.
OFFLINE = """<Properties><Properties Key="SARIF2006.UrisShouldBeReachable.Options">
<Property Key="RuleEnabled" Value="Disabled" Type="Driver.RuleEnabledState" /></Properties></Properties>
"""
# A character that UTF-16 counts as two, one of two bytes, a tab and a combining mark before the call (C 45).
UNITS = "import subprocess\nx = '𝕏é\t\u0301'; subprocess.Popen(['x'], start_new_session=True)\n"
FILES = {
    f"a folder/{ODD}": BAD + BAD,
    "good.py": GOOD,
    "units.py": UNITS,
    "warned.py": "import webbrowser\nwebbrowser.open('http://127.0.0.1')\n",
    "stale.py": "# detached-spawn: nothing here detaches any longer\nx = 1\n",
    "control.py": "import os\nos.system('setsid \x01<&]]> x')\n",
    "broken.py": "def f(:\n" + BAD,
}


class Formats(Case):
    def setUp(self):
        super().setUp()
        write(self.folder, FILES)
        self.report = json.loads(self.of("json"))

    def of(self, form, *arguments):
        text, status = output(self.folder, "--output-format", form, *arguments)
        self.assertEqual(status, 1, form)
        return text.decode()

    def test_fixture_is_rich(self):
        summary = self.report["summary"]
        self.assertGreaterEqual(summary["findings"], 5)
        self.assertGreaterEqual(summary["justified"], 1)
        self.assertGreaterEqual(summary["problems"], 1)

    def test_sarif_places(self):
        run_ = json.loads(self.of("sarif"))["runs"][0]
        self.assertEqual(run_["columnKind"], "utf16CodeUnits")
        names = set()
        for result in run_["results"]:
            # C 46: that key is the uploader's.
            self.assertNotIn("primaryLocationLineHash", result["partialFingerprints"])
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            # C 47.
            self.assertRegex(uri, r"^[A-Za-z0-9._~/%-]+$")
            names.add(urllib.parse.unquote(uri))
            if uri == "units.py":
                region = result["locations"][0]["physicalLocation"]["region"]
                line = UNITS.splitlines()[1]
                before = line[: line.index("start_new_session")]
                self.assertEqual(region["startColumn"], len(before.encode("utf-16-le")) // 2 + 1)
        self.assertIn(f"a folder/{ODD}", names)

    @needs("sarif-multitool")
    def test_sarif_is_as_its_validator_wants_it(self):
        clean = json.loads(self.of("sarif"))
        clean["runs"][0]["tool"]["driver"]["rules"][0]["name"] = "new-session"
        write(
            self.folder,
            {
                "all.sarif": self.of("sarif"),
                "listed.sarif": output(self.folder, "--list-justified", "--output-format", "sarif")[0].decode(),
                "nothing.sarif": output(self.folder, "--output-format", "sarif", "good.py")[0].decode(),
                "wrong.sarif": json.dumps(clean),
                "offline.xml": OFFLINE,
            },
        )
        faults = {"all": [], "listed": [], "nothing": [], "wrong": ["warning SARIF1001"]}
        for name, said in faults.items():
            found = []
            for kind in ["Sarif", "Ghas"]:
                options = ["--config", "offline.xml", "--rule-kind", kind]
                done = run("sarif-multitool", "validate", f"{name}.sarif", *options, cwd=self.folder)
                self.assertIn("Analysis completed successfully", self.content(done))
                found += re.findall(r"\.sarif\S*: ((?:error|warning) \w+)", done.stdout)
            self.assertEqual(found, said, name)

    def test_xml_is_xml(self):
        for form, root in [("junit", "testsuites"), ("checkstyle", "checkstyle")]:
            tree = xml.etree.ElementTree.fromstring(self.of(form))
            self.assertEqual(tree.tag, root)
            text = xml.etree.ElementTree.tostring(tree, encoding="unicode")
            self.assertIn("sp ace,co:lon%41.py", text)
        errors = xml.etree.ElementTree.fromstring(self.of("checkstyle")).findall("./file/error")
        self.assertTrue(all({"line", "severity", "message", "source"} <= set(error.attrib) for error in errors))
        summary = self.report["summary"]
        self.assertEqual(len(errors), summary["findings"] + summary["problems"])

    def test_github_lines_say_what_was_found(self):
        # C 41, read as the runner reads: properties by comma, then the escapes.
        found = set()
        for line in self.of("github", "--max-annotations", "1000").splitlines():
            kind, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
            self.assertIn(kind, ["error", "warning", "notice"])
            pairs = dict(pair.split("=", 1) for pair in properties.split(","))
            self.assertNotRegex(message, r"[\r\n]")
            found.add((unescaped(pairs["file"]), int(pairs["line"])))
        wanted = {(one["path"], one["line"]) for one in self.report["findings"] + self.report["problems"]}
        self.assertEqual(found, wanted)

    def test_github_is_capped_and_says_so(self):
        # C 40.
        write(self.folder, {"many.py": "import subprocess\n" + BAD.splitlines()[1].join(["\n"] * 38)})
        lines = self.of("github", "--max-annotations", "10", "many.py").splitlines()
        self.assertEqual([line.split(" ")[0] for line in lines], ["::error"] * 10 + ["::notice"])
        self.assertIn("27 more are not shown", lines[-1])

    def test_gitlab_has_its_documented_shape(self):
        issues = json.loads(self.of("gitlab"))
        for issue in issues:
            self.assertLessEqual({"description", "check_name", "fingerprint", "severity", "location"}, set(issue))
            self.assertIn(issue["severity"], ["info", "minor", "major", "critical", "blocker"])
            self.assertFalse(issue["location"]["path"].startswith(("/", "./")))
            self.assertGreaterEqual(issue["location"]["lines"]["begin"], 1)
        # C 55: two equal statements in one file are two issues.
        self.assertEqual(len({issue["fingerprint"] for issue in issues}), len(issues))
        summary = self.report["summary"]
        self.assertEqual(len(issues), summary["findings"] + summary["problems"])

    def test_rdjsonl_counts_bytes(self):
        for line in self.of("rdjsonl", "units.py").splitlines():
            place = json.loads(line)["location"]
            text = UNITS.splitlines()[1].encode()
            self.assertEqual(place["range"]["start"]["column"], text.index(b"start_new_session") + 1)

    def test_lines_end_with_a_summary(self):
        kinds = [json.loads(line)["kind"] for line in self.of("jsonl").splitlines()]
        self.assertEqual(kinds.index("summary"), len(kinds) - 1)

    def test_every_format_is_whole_on_standard_output(self):
        # C 43, C 49, C 50: `of` drops standard error and asserts the status; twice gives the same bytes.
        for form in FORMATS:
            self.assertEqual(self.of(form, "-j", "1"), self.of(form, "-j", "8"), form)


if __name__ == "__main__":
    unittest.main()
