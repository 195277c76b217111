"""What pyproject.toml declares is what the code needs."""

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from besvm._support.extras import EXTRA_OF

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "besvm"
TOML = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = TOML["project"]
IMPORTED_AS = {"scikit-learn": "sklearn", "pillow": "PIL", "scoring-matrices": "scoring_matrices", "pot": "ot"}


def imports() -> set[str]:
    """Return the dotted names of all modules and members that some file of besvm imports, inside functions too."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has a relative import"
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if top(name) not in {"besvm", *sys.stdlib_module_names}}


def top(module: str) -> str:
    return module.split(".")[0]


def declared(lines: list[str]) -> set[str]:
    """Return what is imported of the packages that such lines declare."""
    names = (re.match(r"[\w-]+", line).group() for line in lines)
    return {IMPORTED_AS.get(name, name) for name in names}


def test_packages_imported_are_those_declared():
    optional = {top(module) for module in EXTRA_OF}
    core = declared(PROJECT["dependencies"])
    assert {top(name) for name in imports()} - optional == core
    assert not optional & core


def test_nothing_private_is_imported():
    """Names with an underscore, of modules too, go with any release."""
    assert {name for name in imports() if "._" in name} == set()


def test_optional_packages_are_in_the_extra_that_an_error_names():
    extras = PROJECT["optional-dependencies"]
    for module, extra in EXTRA_OF.items():
        assert top(module) in declared(extras[extra])
    for extra in set(EXTRA_OF.values()):
        assert declared(extras[extra]) <= {top(module) for module in EXTRA_OF}


def test_every_floor_is_read_by_make_test_oldest(capsys):
    runpy.run_path(str(ROOT / ".ci" / "floors.py"))
    floors = dict(line.split("==") for line in capsys.readouterr().out.split())
    lines = sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"])
    assert {f"{name}>={floor.removesuffix('.*')}" for name, floor in floors.items()} == {
        line for line in lines if not line.startswith("besvm[")
    }


def test_files_beside_the_code_are_installed_with_it():
    patterns = TOML["tool"]["setuptools"]["package-data"]["besvm"]
    installed = {path for pattern in patterns for path in SOURCE.glob(pattern)}
    others = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path for path in others if path.suffix != ".py"} == installed


@pytest.mark.slow
def test_a_typed_program_can_use_the_package(tmp_path):
    """As a user would: strict, with none of our settings, and besvm found where Python finds it."""
    program = str(Path(__file__).parent / "typed_program.py")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), program]
    done = subprocess.run(mypy, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    run = [sys.executable, "-W", "error", program]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
