"""The examples that need no download run."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.slow
def test_every_way_to_bring_a_similarity_runs():
    done = subprocess.run([sys.executable, EXAMPLES / "anything.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scores = {line[:20].strip(): float(line[20:]) for line in done.stdout.splitlines()}
    assert len(scores) == 6
    assert min(scores.values()) > 0.55
    assert max(scores, key=scores.get) == "one for each column"


@pytest.mark.slow
def test_explanations_are_printed_and_drawn(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "explain.py", "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "patro and pedro have p and ro in common" in done.stdout
    assert (tmp_path / "explanations.png").stat().st_size > 10_000
