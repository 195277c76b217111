import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_extensions")]


@pytest.fixture(scope="session")
def site():
    """The site, built anew where its sources have changed, as `make docs` does it."""
    pytest.importorskip("sphinx_gallery")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "2",
        "-d",
        "build/doctrees",
        "docs",
        "site",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / "site"
