"""The examples that need no download run."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_every_way_to_bring_a_similarity_runs():
    done = subprocess.run([sys.executable, EXAMPLES / "anything.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scores = {line[:20].strip(): float(line[20:]) for line in done.stdout.splitlines()}
    assert len(scores) == 6
    assert min(scores.values()) > 0.55
    assert max(scores, key=scores.get) == "one for each column"
