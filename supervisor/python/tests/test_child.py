"""A child gets what it would get from ``Popen``, and its handle says the same words."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import spawn_owned
from spawn_owned import DEVNULL, PIPE, STDOUT, Owner, StatusLost, TimeoutExpired

from .witness import TestCase, lives, until


class Child(TestCase):
    def setUp(self):
        super().setUp()
        self.spawning = Owner(grace=1, ledger=None)
        self.addCleanup(self.spawning.close)

    def spawn(self, *argv, **options):
        return self.spawning.spawn_owned(argv, **{"env": self.environment, **options})

    def says(self, *argv, **options):
        with self.spawn(*argv, stdout=PIPE, text=True, **options) as child:
            return child.communicate()[0]

    def test_streams(self):
        with self.spawn("cat", stdin=PIPE, stdout=PIPE, text=True) as child:
            child.stdin.write("ü\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "ü\n")
            self.assertEqual(child.communicate("more")[0], "more")
            self.assertEqual(child.returncode, 0)
        with self.spawn("sh", "-c", "echo out; echo err >&2", stdin=DEVNULL, stdout=PIPE, stderr=PIPE) as child:
            self.assertEqual(child.communicate(), (b"out\n", b"err\n"))
        self.assertEqual(self.says("sh", "-c", "echo out; echo err >&2", stderr=STDOUT), "out\nerr\n")
        with tempfile.TemporaryFile() as file:
            self.spawn("echo", "to a file", stdout=file).wait()
            file.seek(0)
            self.assertEqual(file.read(), b"to a file\n")
        big = b"x" * 1_000_000
        with self.spawn("cat", stdin=PIPE, stdout=PIPE) as child:
            self.assertEqual(child.communicate(big)[0], big)

    def test_the_environment_arrives_as_it_is(self):
        show = ("/usr/bin/env", "-0")
        odd = {"A-B": "1", "IFS": "x", "UID": "7", "PS4": "!", "é": "ü", "EMPTY": "", "LINES": "a\nb", "PWD": "/a", "OLDPWD": "/b"}
        theirs = {**self.environment, **odd}
        for cwd in (None, "/"):
            with self.subTest(cwd):
                got = dict(one.split("=", 1) for one in self.says(*show, env=theirs, cwd=cwd).split("\0") if one)
                self.assertRegex(got.pop("SPAWN_OWNED"), "^[0-9a-f]{32}\\.[0-9]+:$")
                for name in (set(theirs) | set(got)) - {"_", "SHLVL"}:
                    # A shell puts right what is no true folder, where nothing is said of folders.
                    if name != "PWD" or cwd:
                        self.assertEqual(got.get(name), theirs.get(name), name)
        mark = self.says(*show, env={})
        self.assertRegex(mark, "^SPAWN_OWNED=[0-9a-f]{32}\\.[0-9]+:\0$")

    def test_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            real = os.path.realpath(folder)
            Path(real, "-x").mkdir()
            program = Path(real, "-x", "program")
            program.write_text("#!/bin/sh\npwd\n")
            program.chmod(0o755)
            self.assertEqual(self.says("pwd", cwd=real), real + "\n")
            self.assertEqual(self.says("-x/program", cwd=real), real + "\n")
            before = os.getcwd()
            os.chdir(real)
            try:
                self.assertEqual(self.says("./program", cwd="-x"), f"{real}/-x\n")
            finally:
                os.chdir(before)
        with self.assertRaisesRegex(FileNotFoundError, "No such folder"):
            self.spawn("pwd", cwd="/no/such/folder")

    def test_arguments_are_not_read_by_a_shell(self):
        odd = ["a b", "", "*", "$HOME", "-n", "é\nü", "'\""]
        code = "import sys; print(ascii(sys.argv[1:]))"
        self.assertEqual(self.says(sys.executable, "-c", code, *odd), ascii(odd) + "\n")

    def test_descriptors(self):
        read, write = os.pipe()
        os.set_inheritable(read, True)
        # The list's own descriptor is the fourth.
        self.assertEqual(self.says("sh", "-c", "exec ls /proc/self/fd").split(), ["0", "1", "2", "3"])
        self.assertIn(str(write), self.says("ls", "/proc/self/fd", pass_fds=[write]).split())
        with self.spawn("sh", "-c", f"echo through >&{write}" if write < 10 else "exit 0", pass_fds=[write]) as child:
            child.wait()
        low = os.dup2(write, 9, inheritable=False)
        with self.spawn("sh", "-c", "echo nine >&9", pass_fds=[low]) as child:
            self.assertEqual(child.wait(), 0)
        self.assertIn(b"nine\n", os.read(read, 100))
        os.close(low)
        with self.assertRaisesRegex(ValueError, "3 to 9"):
            self.spawn("true", pass_fds=range(3, 10))
        before = sorted(os.listdir("/proc/self/fd"))
        for _ in range(4):
            with self.spawn("true", stdin=PIPE, stdout=PIPE, stderr=PIPE):
                pass
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)
        os.close(read)
        os.close(write)

    def test_signals_are_as_a_program_expects_them(self):
        command = ["grep", "^Sig[BI]", "/proc/self/status"]
        # The C library's own two signals, 32 and 33, may be ignored in what `posix_spawn` starts.
        own = 3 << 31

        def sets(said):
            return [int(word, 16) & ~own for word in said.split()[1::2]]

        self.assertEqual(sets(self.says(*command)), sets(subprocess.check_output(command, text=True)))

    def test_what_cannot_be_run_is_said_before_anything_is_started(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script")
            script.write_text("#!/no/interpreter -x\n")
            for argv, error in (
                (["no-such-program"], FileNotFoundError),
                (["/no/such/program"], FileNotFoundError),
                ([folder], PermissionError),
                ([script], PermissionError),
                ([], ValueError),
                (["nul\0"], ValueError),
            ):
                with self.subTest(argv), self.assertRaises(error):
                    self.spawn(*argv)
            script.chmod(0o755)
            with self.assertRaisesRegex(FileNotFoundError, "/no/interpreter"):
                self.spawn(script)
        self.assertEqual(self.spawning.status().groups, [])

    def test_a_program_may_have_any_name(self):
        names = ["-x", "-", "-a=b", "a=b", "--", "-d/p", "-d/a=b"]
        shells = filter(os.path.exists, ("/bin/dash", "/bin/bash", "/bin/busybox"))
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/-d")
            for name in names:
                Path(folder, name).write_text("#!/bin/sh --\nexit 7\n")
                Path(folder, name).chmod(0o755)
            environment = {**self.environment, "PATH": f"{folder}:/usr/bin:/bin"}
            for shell in shells:
                with Owner(ledger=None, shell=shell) as owner:
                    for name in names:
                        with self.subTest(name, shell=shell), owner.spawn_owned([name], cwd=folder, env=environment) as child:
                            self.assertEqual(child.wait(), 7)

    def test_a_grace_may_be_longer_than_any_clock(self):
        for grace in (1e30, float("inf")):
            with Owner(grace=grace, ledger=None) as owner:
                self.assertEqual(owner.spawn_owned(["true"], env=self.environment).wait(), 0)

    def test_waiting(self):
        child = self.spawn("sh", "-c", "read line; exit 3", stdin=PIPE)
        self.assertEqual((child.poll(), child.pgid), (None, os.getpgid(child.pid)))
        with self.assertRaises(TimeoutExpired):
            child.wait(0.01)
        child.stdin.close()
        self.assertEqual((child.wait(60), child.wait(), child.poll(), child.returncode), (3, 3, 3, 3))
        child.kill()
        child.terminate()
        self.assertEqual(child.stop(), 3)
        child = self.spawn("sleep", "1000")
        child.terminate()
        self.assertEqual(child.wait(), -signal.SIGTERM)
        child = self.spawn("cat", stdin=PIPE, stdout=PIPE)
        read = os.dup(child.stdin.fileno())
        with self.assertRaises(TimeoutExpired):
            child.communicate(b"x", 0.01)
        os.close(read)
        self.assertEqual(child.communicate()[0], b"x")

    def test_an_end_is_the_childs_own_and_not_that_of_its_output(self):
        child = self.spawn("sh", "-c", "sleep 1000 & exit 0", stdout=PIPE)
        self.assertEqual(child.wait(60), 0)
        # What it started is owned still, and ended with the handle.
        self.assertEqual(self.spawning.status().groups, [child.pid])
        until("it runs", lambda: len(self.living()) == 1)
        with child:
            pass
        self.assertEqual((self.living(), self.spawning.status().groups), ([], []))

    def test_a_forgotten_handle_leaves_the_child_running_and_reaped(self):
        pid = self.spawn("sh", "-c", "read line", stdin=PIPE).pid
        gc.collect()
        # Its pipe is closed with the handle, so that it ends.
        until("it is reaped and forgotten", lambda: spawn_owned.process.look(pid) is None)
        until("it is forgotten", lambda: self.spawning.status().groups == [])
        pid = self.spawn("sleep", "1000").pid
        gc.collect()
        self.spawning.spawn_owned(["true"], env=self.environment).wait()
        self.assertTrue(lives(pid))
        self.assertIn(pid, self.spawning.status().groups)

    def test_a_status_that_another_took(self):
        child = self.spawn("true")
        os.waitpid(child.pid, 0)
        with self.assertRaises(StatusLost):
            child.wait()

    def test_what_is_handed_back_is_not_ended_with_its_handle(self):
        with self.spawn("sleep", "1000") as child:
            self.spawning.release_process_groups([child.pid])
        self.assertTrue(lives(child.pid))
        child.kill()
        self.assertEqual(child.wait(), -signal.SIGKILL)


class Names(TestCase):
    def test_the_functions_of_the_package_are_those_of_its_owner(self):
        for name in spawn_owned.__all__:
            self.assertTrue(hasattr(spawn_owned, name), name)
        self.assertEqual(spawn_owned.default.status, spawn_owned.status)
        self.assertIs(spawn_owned.PIPE, subprocess.PIPE)
