"""What is installed has the crate's own scripts, byte for byte, also by way of an archive of the sources."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from spawn_owned import launch

from .witness import FOLDER

try:
    import setuptools
except ImportError:
    setuptools = None

SCRIPTS = ("launcher.sh", "supervisor.sh", "environment.txt")
SOURCE = FOLDER.parent / "src"


class Package(unittest.TestCase):
    def test_the_scripts_are_those_of_the_crate(self):
        self.assertEqual(launch.LAUNCHER, (SOURCE / "launcher.sh").read_bytes())
        self.assertEqual(launch.SUPERVISOR, (SOURCE / "supervisor.sh").read_bytes())

    def build(self, folder, *words):
        command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", *words]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_they_are_in_what_is_built(self):
        if setuptools is None:
            if os.environ.get("CI"):
                self.fail("setuptools is needed")
            self.skipTest("not run: setuptools missing")
        with tempfile.TemporaryDirectory() as name:
            # A copy of the repository's part: a build leaves folders beside its sources.
            folder = Path(name, "supervisor", "python")
            shutil.copytree(FOLDER, folder, symlinks=True, ignore=shutil.ignore_patterns("build", "*.egg-info"))
            shutil.copytree(SOURCE, Path(name, "supervisor", "src"))
            self.build(folder, "sdist", "--dist-dir", name)
            archive = next(Path(name).glob("*.tar.gz"))
            with tarfile.open(archive) as sources:
                self.assertFalse([one.name for one in sources if one.issym() or one.islnk()])
                sources.extractall(Path(name, "away"))
            self.build(next(Path(name, "away").iterdir()), "build", "--build-lib", str(Path(name, "built")))
            built = Path(name, "built", "spawn_owned")
            for script in SCRIPTS:
                self.assertEqual((built / script).read_bytes(), (SOURCE / script).read_bytes())
            self.assertTrue((built / "py.typed").exists())
            self.assertEqual({one.name for one in built.glob("*.py")}, {one.name for one in FOLDER.glob("spawn_owned/*.py")})
