#!/usr/bin/env python3
"""Packs one release: pack.py TARGET PROGRAM FOLDER writes FOLDER/check-detached-spawns-TARGET.tar.gz.

The same program gives the same bytes on every system and on every day, so that anyone can build an
archive again and compare. Its name and the name of the program in it are what .github/action/run.sh
looks for.
"""

import gzip
import pathlib
import sys
import tarfile

NAME = "check-detached-spawns"
ROOT = pathlib.Path(__file__).resolve().parents[2]
BESIDE = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md", "src/report/schema.json"]


def add(archive, name, path, mode):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = path.stat().st_size, mode, 0
    with path.open("rb") as file:
        archive.addfile(entry, file)


def pack(target, program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / f"{NAME}-{target}.tar.gz"
    # Level 6 is what gzip itself does; a name or a time in the header would differ between runs.
    with packed.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            add(archive, NAME + program.suffix, program, 0o755)
            for name in BESIDE:
                add(archive, pathlib.Path(name).name, ROOT / name, 0o644)
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
