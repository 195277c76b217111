"""A quick sample of `make torture`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


# the peaks of memory are measured in tests/blocks and tests/selection
@pytest.mark.parametrize("parts", [["problems", "caches", "kills"], ["input"]])
@pytest.mark.slow
def test_a_sample_of_the_torture_breaks_no_promise(parts):
    done = subprocess.run(
        [sys.executable, "-m", "torture", *parts, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
