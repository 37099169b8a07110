"""What is written for other programs, as their validators see it: workflows, action, hooks, scripts,
and every YAML block of the README."""

import re
import unittest

from support import ROOT, Case, needs, run, write

ZIZMOR = ["zizmor", "--offline", "--no-progress", "--quiet", "--strict-collection", "--persona", "auditor"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCRIPTS = [".ci/run", ".github/action/run.sh", ".github/release/tag.sh"]
# They are handed to `sh` as text, so they name no shell of their own.
TEXTS = ["supervisor/src/launcher.sh", "supervisor/src/supervisor.sh"]
# Stand for what a user fills in.
OWNER, COMMIT = "octo-org", "0123456789abcdef0123456789abcdef01234567"


def runs(node):
    """Every `run:` text under a YAML node."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "run" and isinstance(value, str):
                yield value
            else:
                yield from runs(value)
    elif isinstance(node, list):
        for value in node:
            yield from runs(value)


def blocks():
    """The YAML blocks of the README, with placeholders filled, by what they are for."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = {"workflow": [], "pre-commit": [], "gitlab": []}
    for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S):
        block = block.replace("OWNER", OWNER).replace("COMMIT", COMMIT)
        if "runs-on:" in block:
            found["workflow"].append(block)
        elif block.startswith("repos:"):
            found["pre-commit"].append(block)
        else:
            found["gitlab"].append(block)
    return found


class Texts(Case):
    @needs("zizmor")
    def test_zizmor_has_nothing_to_say(self):
        self.content(run(*ZIZMOR, ".", cwd=ROOT))

    @needs("check-jsonschema")
    def test_schemas_of_action_and_workflows_hold(self):
        self.content(run("check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"))
        self.content(run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS))

    @needs("check-jsonschema")
    def test_a_broken_action_would_be_seen(self):
        # C 52: one key unknown, one missing description, one step without a shell.
        good = (ROOT / "action.yml").read_text(encoding="utf-8")
        for name, (old, new) in enumerate(
            [("inputs:\n", "inptus:\n"), ("description: Fails", "descriptio: Fails"), ("      shell: bash\n", "")]
        ):
            self.assertIn(old, good)
            write(self.folder, {f"{name}/action.yml": good.replace(old, new, 1)})
            path = self.folder / str(name) / "action.yml"
            done = run("check-jsonschema", "--builtin-schema", "vendor.github-actions", path)
            self.assertEqual(done.returncode, 1, f"{new}: {done.stdout}")

    @needs("actionlint", "shellcheck")
    def test_actionlint_has_nothing_to_say(self):
        self.content(run("actionlint", *WORKFLOWS, cwd=ROOT))

    @needs("shellcheck", "python:yaml")
    def test_shellcheck_has_nothing_to_say(self):
        import yaml

        self.content(run("shellcheck", *SCRIPTS, cwd=ROOT))
        self.content(run("shellcheck", "--shell", "sh", *TEXTS, cwd=ROOT))
        count = 0
        for path in [ROOT / "action.yml", *WORKFLOWS]:
            for count, text in enumerate(runs(yaml.safe_load(path.read_text(encoding="utf-8"))), count + 1):
                self.assertNotIn("${{", text, f"{path}: an expression is read as a program")
                write(self.folder, {f"{count}.sh": text + "\n"})
        self.assertGreater(count, 8)
        self.content(run("shellcheck", "--shell", "bash", *sorted(self.folder.glob("*.sh"))))

    def test_every_action_is_pinned_by_commit(self):
        for path in WORKFLOWS:
            for used in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
                self.assertRegex(used, r"^(\S+@[0-9a-f]{40} # v[0-9.]+|\./ # zizmor: .*)$", path.name)

    def test_old_bash_can_run_the_action(self):
        # macOS has bash 3.2: C 51 and the runner's own images.
        text = (ROOT / ".github/action/run.sh").read_text(encoding="utf-8")
        self.assertNotRegex(text, r"\bmapfile\b|\breadarray\b|declare -A|\$\{[a-z_]+(,,|\^\^)|\|&|&>>|wget|\bjq\b")


class Readme(Case):
    def files(self, kind, name):
        texts = blocks()[kind]
        self.assertTrue(texts, f"the README has no {kind} block")
        write(self.folder, {f"{index}/{name}": text for index, text in enumerate(texts)})
        return [self.folder / str(index) / name for index in range(len(texts))]

    @needs("check-jsonschema", "zizmor", "actionlint")
    def test_workflows(self):
        files = self.files("workflow", ".github/workflows/w.yml")
        self.assertGreaterEqual(len(files), 3)
        self.content(run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files))
        # The default persona: names and limits of time are the user's. C 57 is among them.
        self.content(run("zizmor", "--offline", "--no-progress", "--quiet", *files))
        self.content(run("actionlint", *files, cwd=self.folder))

    @needs("pre-commit")
    def test_pre_commit(self):
        files = self.files("pre-commit", ".pre-commit-config.yaml")
        self.content(run("pre-commit", "validate-config", *files))
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        for path in files:
            for used in re.findall(r"- id: (\S+)", path.read_text(encoding="utf-8")):
                self.assertIn(f"- id: {used}\n", hooks)

    @needs("check-jsonschema")
    def test_gitlab(self):
        files = self.files("gitlab", ".gitlab-ci.yml")
        self.content(run("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", *files))

    def test_inputs_are_those_of_the_action(self):
        action = (ROOT / "action.yml").read_text(encoding="utf-8")
        for block in blocks()["workflow"]:
            for uses in re.finditer(r"check-detached-spawns@\S+\n((?:  .*\n)*?)(?= *- |\Z)", block):
                for key in re.findall(r"^ {10}([a-z-]+):", uses.group(1), re.M):
                    self.assertIn(f"\n  {key}:\n", action)


if __name__ == "__main__":
    unittest.main()
