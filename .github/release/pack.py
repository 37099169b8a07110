#!/usr/bin/env python3
"""Packs one release: pack.py TARGET PROGRAM FOLDER writes FOLDER/check-detached-spawns-TARGET.tar.gz.

The same program gives the same bytes on every system and on every day, so that anyone can build an
archive again and compare. Its name and the name of the program in it are what .github/action/run.sh
looks for.
"""

import gzip
import io
import pathlib
import subprocess
import sys
import tarfile

NAME = "check-detached-spawns"
ROOT = pathlib.Path(__file__).resolve().parents[2]
BESIDE = {
    "LICENSE-APACHE": "LICENSE-APACHE",
    "LICENSE-MIT": "LICENSE-MIT",
    "README.md": "README.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "schema.json": "src/report/schema.json",
    "config-schema.json": "src/config/schema.json",
}
# What the program says of itself: it runs where it was built.
SAID = {
    f"{NAME}.1": ["--man"],
    f"completions/{NAME}.bash": ["--completions", "bash"],
    f"completions/_{NAME}": ["--completions", "zsh"],
    f"completions/{NAME}.fish": ["--completions", "fish"],
    f"completions/{NAME}.elv": ["--completions", "elvish"],
    f"completions/_{NAME}.ps1": ["--completions", "powershell"],
}


def add(archive, name, content, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(content), mode, 0
    archive.addfile(entry, io.BytesIO(content))


def said(program, arguments):
    # The same line ends on every system.
    text = subprocess.run([program.resolve(), *arguments], stdout=subprocess.PIPE, check=True).stdout
    return text.replace(b"\r\n", b"\n")


def pack(target, program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / f"{NAME}-{target}.tar.gz"
    # Level 6 is what gzip itself does; a name or a time in the header would differ between runs.
    with packed.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            add(archive, NAME + program.suffix, program.read_bytes(), 0o755)
            for name, path in BESIDE.items():
                add(archive, name, (ROOT / path).read_bytes())
            for name, arguments in SAID.items():
                add(archive, name, said(program, arguments))
    return packed


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    target, program, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if not program.is_file():
        sys.exit(f"no program to pack at {program}: build it first")
    print(pack(target, program, folder))


if __name__ == "__main__":
    main()
