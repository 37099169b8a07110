#!/usr/bin/env python3
"""Code of others, frozen by version and hash, on which `tests/cost.rs` counts how many files the filter lets through.

    python3 tests/support/corpus.py FOLDER

FOLDER gets a `site` of Python packages and a `crates` of Rust ones, through pip and cargo; one that is there is kept.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PACKAGES = {
    "celery==5.4.0": "369631eb580cf8c51a82721ec538684994f8277637edde2dfc0dacd73ed97f64",
    "django==5.1.4": "236e023f021f5ce7dee5779de7b286565fdea5f4ab86bae5338e3f7b69896cf0",
    "fabric==3.2.2": "91c47c0be68b14936c88b34da8a1f55e5710fd28397dac5d4ff2e21558113a6f",
    "invoke==2.2.0": "6ea924cc53d4f78e3d98bc436b08069a03077e6f85ad1ddaa8a116d7dad15820",
    "jupyter-client==8.6.3": "e8a19cc986cc45905ac3362915f410f3af85424b4c0905e94fa5f2cb08e8f23f",
    "supervisor==4.2.5": "2ecaede32fc25af814696374b79e42644ecaba5c09494c51016ffda9602d0f08",
    "twisted==24.11.0": "fe403076c71f04d5d2d789a755b687c5637ec3bcd3b2b8252d76f2ba65f54261",
}

CRATES = {
    "axum-0.8.4": "021e862c184ae977658b36c4500f7feac3221ca5da43e3f25bd04ab6c79a29b5",
    "clap_builder-4.5.40": "e0c66c08ce9f0c698cbce5c0279d0bb6ac936d8674174fe48f736533b964f59e",
    "hyper-1.6.0": "cc2b571658e38e0c01b1fdca3bbbe93c00d3d71693ff2770043f8c29bc7d6f80",
    "nix-0.30.1": "74523f3a35e05aba87a1d978330aef40f67b0304ac79c1c00b294c9830543db6",
    "regex-automata-0.4.9": "809e8dc61f6de73b46c85f4c96486310fe304c434cfa43669d7b40f711150908",
    "rustix-1.0.7": "c71e83d6afe7ff64890ec6b71d6a69bb8a610ab78ce364b3352876bb4c801266",
    "serde_json-1.0.140": "20068b6e96dc6c9bd23e01df8827e6c7e1f2fddd43c21810382803c136b99373",
    "tokio-1.46.1": "0cc3a2344dafbe23a245241fe8b09735b521110d30fcefbbd5feb1797ca35d17",
    "toml_edit-0.22.27": "41fe8c660ae4257887cf66394862d21dbca4a6ddd26f04a3560410406a2f819a",
}


def site(folder):
    """The Python files of the packages."""
    with tempfile.TemporaryDirectory() as own:
        wanted = pathlib.Path(own, "requirements.txt")
        wanted.write_text("".join(f"{name} --hash=sha256:{digest}\n" for name, digest in PACKAGES.items()))
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        only = ["--only-binary", ":all:", "--require-hashes", "--requirement", wanted, "--dest", own]
        subprocess.run([*pip, *only], check=True)
        for wheel in pathlib.Path(own).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])


def crates(folder):
    """The Rust files of the crates; cargo brings their dependencies too, which are left out."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    with tempfile.TemporaryDirectory() as own:
        source = pathlib.Path(own, "src")
        source.mkdir()
        (source / "lib.rs").write_text("")
        pins = (name.rpartition("-") for name in CRATES)
        lines = [f'{name} = {{ version = "={version}", default-features = false }}' for name, _, version in pins]
        package = '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n'
        pathlib.Path(own, "Cargo.toml").write_text(package + "\n".join(lines) + "\n")
        # The rest of what they need is only for other systems.
        subprocess.run(["cargo", "fetch", "--quiet", "--target", "x86_64-unknown-linux-gnu"], cwd=own, check=True)
    for name, digest in CRATES.items():
        archives = list(home.glob(f"registry/cache/*/{name}.crate"))
        known = [path for path in archives if hashlib.sha256(path.read_bytes()).hexdigest() == digest]
        if not known:
            sys.exit(f"{name}.crate is not what its hash says, or cargo keeps it elsewhere than in {home}")
        with tarfile.open(known[0]) as archive:
            files = [file for file in archive.getmembers() if file.isfile() and file.name.endswith(".rs")]
            archive.extractall(folder, files, filter="data")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make, pins in [(site, PACKAGES), (crates, CRATES)]:
        # Another list is another corpus: it gets a folder of its own.
        name = hashlib.sha256(repr(pins).encode()).hexdigest()[:12]
        final = folder / f"{make.__name__}-{name}"
        link = folder / make.__name__
        if not final.is_dir():
            unfinished = folder / f"{final.name}.part"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(final)
        link.unlink(missing_ok=True)
        link.symlink_to(final.name)


if __name__ == "__main__":
    main()
