"""The sdist and the wheel can be built, hold what they should, and work when installed in an empty environment.

Slow, since every Python that is found gets an environment of its own; skipped without a network.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NO_WHEELS = {"3.14": {"bio"}}  # pyopal has none yet, and is compiled there
pytestmark = pytest.mark.slow


def run(*command: object, **options: object) -> str:
    """Return what a command prints; fail with all of it if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def python(version: str) -> str:
    """Return a Python of this version; skip the test if there is none on the machine."""
    places = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")]
    for place in filter(None, places):  # pyenv's command may be there without a Python behind it
        try:
            found = run(place, "-c", "import sys, ensurepip; print(*sys.version_info[:2], sep='.')", cwd="/")
        except (AssertionError, OSError):
            continue
        if found.strip() == version:
            return str(place)
    pytest.skip(f"no Python {version} on this machine")


def bare() -> dict[str, str]:
    """Return environment variables without a compiler, a path to programs, or modules of our own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | {
        "PATH": "",
        "CC": "/bin/false",
        "CXX": "/bin/false",
        "COLUMNS": "120",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The Python of an environment that can build, with a new pip."""
    folder = tmp_path_factory.mktemp("tools")
    run(sys.executable, "-m", "venv", folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--upgrade", "pip", "build>=1.2", "setuptools>=77"]
    done = subprocess.run(pip, env=bare(), capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no packages can be installed here: {done.stderr.strip()[-200:]}")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def archives(tools, tmp_path_factory):
    """The sdist and the wheel; .ci/dist.py has checked what they hold."""
    out = tmp_path_factory.mktemp("dist")
    run(tools, ROOT / ".ci" / "dist.py", out)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def installed(archive, version, folder, *options):
    """Install an archive in an empty environment without a compiler; return the folder of its programs."""
    run(python(version), "-m", "venv", folder, cwd="/")
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:", *options, archive]
    run(*pip, env=bare(), cwd=folder)
    return folder / "bin"


def check_works(programs, folder):
    """Use an installed besvm as a new user would; its warnings are errors."""
    options = {"env": bare(), "cwd": folder}
    assert run(programs / "besvm", "--version", **options) == f"besvm {PROJECT['version']}\n"
    assert run(programs / "besvm", "demo", **options).count("BE-SVM,") == 4
    program = [programs / "python", "-I", "-W", "error", Path(__file__).parent / "installed_program.py"]
    assert "works" in run(*program, **options)


def test_both_are_small(archives):
    sdist, wheel = archives
    assert sdist.stat().st_size < 6e6
    assert wheel.stat().st_size < 1e6


@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_works_in_an_empty_environment(archives, version, tmp_path):
    check_works(installed(archives[1], version, tmp_path), tmp_path)


def test_the_sdist_works_in_an_empty_environment(archives, tmp_path):
    version = "{}.{}".format(*sys.version_info)
    check_works(installed(archives[0], version, tmp_path, "--no-binary", "besvm"), tmp_path)


@pytest.mark.parametrize("version", PYTHONS)
def test_all_extras_resolve(tools, archives, version, tmp_path):
    """As wheels, for a Python that need not be here."""
    lacking = NO_WHEELS.get(version, set())
    extras = [extra for extra in PROJECT["optional-dependencies"] if not lacking & parts_of(extra)]
    pip = [tools, "-m", "pip", "install", "-q", "--dry-run", "--target", tmp_path, "--python-version", version]
    run(*pip, "--only-binary", ":all:", f"{archives[1]}[{','.join(extras)}]", env=bare(), cwd=tmp_path)


def parts_of(extra: str) -> set[str]:
    """Return an extra and those that it is made of."""
    inner = re.findall(r"besvm\[([\w,-]+)\]", " ".join(PROJECT["optional-dependencies"][extra]))
    return {extra}.union(*(parts_of(name) for names in inner for name in names.split(",")))
