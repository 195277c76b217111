"""Build the source distribution and the wheel into dist/, and check what they hold.

Only files that git tracks, or would, go in; whatever else lies in the folder is ignored. The sdist is built from them,
and the wheel from the sdist, as an installer would do it. Needs ``build`` and ``setuptools``, and no network.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEFT_OUT = (".github/", ".gitignore")  # of use in the repository only


def sources() -> set[str]:
    """Return the files of the project: those of git, or, in an unpacked sdist, all that it came with."""
    if (ROOT / "PKG-INFO").exists():
        lines = (ROOT / "src" / "besvm.egg-info" / "SOURCES.txt").read_text().splitlines()
        return {line for line in lines if ".egg-info/" not in line and line not in ("PKG-INFO", "setup.cfg")}
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def build(files: set[str], out: Path) -> tuple[Path, Path]:
    """Build both from a copy of these files; return where they are."""
    with tempfile.TemporaryDirectory() as folder:
        for name in files:
            copy = Path(folder) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def check_sdist(sdist: Path, files: set[str]) -> None:
    """See that the sdist holds all of the files, and beside them only what setuptools adds."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames() if archive.getmember(name).isfile()}
    added = {name for name in held if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    expect(sdist, held - added, {name for name in files if not name.startswith(LEFT_OUT)})


def check_wheel(wheel: Path, files: set[str]) -> None:
    """See that the wheel holds the package, its metadata and the license, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    info = f"besvm-{version()}.dist-info"
    metadata = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt")}
    package = {name.removeprefix("src/") for name in files if name.startswith("src/besvm/")}
    expect(wheel, held, package | metadata | {f"{info}/licenses/LICENSE"})


def expect(archive: Path, held: set[str], wanted: set[str]) -> None:
    """Stop with a list of the differences if an archive does not hold what it should."""
    missing = [f"  lacks {name}" for name in sorted(wanted - held)]
    beside = [f"  should not hold {name}" for name in sorted(held - wanted)]
    if missing or beside:
        sys.exit("\n".join([f"{archive.name}: see MANIFEST.in and package-data in pyproject.toml", *missing, *beside]))


def version() -> str:
    """Return the version that pyproject.toml states."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def main(out: Path) -> None:
    """Build, check, and say how large both are."""
    for old in out.glob("besvm-*"):
        old.unlink()
    files = sources()
    sdist, wheel = build(files, out)
    check_sdist(sdist, files)
    check_wheel(wheel, files)
    for path in (sdist, wheel):
        print(f"{os.path.relpath(path)}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
