"""What a greedy selection keeps on disk, and how little memory it takes."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from besvm.blocks.plan import plan_training
from besvm.selection.candidates import Candidates
from besvm.selection.store import ScoreBook
from searches import same, select


def test_short_memory_sends_the_candidates_to_disk_and_changes_little(split, capsys):
    roomy = select(basis=np.arange(300), n_measures=2, memory_limit="1 GB").fit(*split)
    work = plan_training(300, 600, 4, 10, storage="disk", memory_limit="1 GB").work
    tight = select(basis=np.arange(300), n_measures=2, memory_limit=work + 10**6, verbose=1).fit(*split)
    assert (roomy.storage_, tight.storage_) == ("memory", "disk")
    assert same(roomy, tight)
    assert "features on disk: the features take 3.4 MB" in capsys.readouterr().err
    with pytest.raises(MemoryError, match=r"within 10 kB, but with storage='disk' it needs"):
        select(memory_limit="10 kB").fit(*split)


def test_the_last_training_is_planned_for_before_anything_is_computed(split, monkeypatch):
    """It has more rows, and holds some out in turn for the probabilities."""
    limit = plan_training(300, 600, 4, 10, storage="disk", memory_limit="1 GB").work + 10**6
    monkeypatch.setattr(Candidates, "_fill", pytest.fail)
    with pytest.raises(MemoryError, match=r"training must stay within .* but with storage='disk' it needs"):
        select(basis=np.arange(300), n_measures=2, memory_limit=limit, refit=True).fit(*split)


def test_kept_files_are_used_again_and_only_for_the_same_input(split, tmp_path):
    calls = []

    def near(a, b):
        calls.append(1)
        return -float(np.abs(a - b).max())

    X, y, X_val, y_val = (part[:60] for part in split)
    greedy = select(["linear", near], n_measures=2, folder=tmp_path, basis=np.arange(10), n_jobs=1)
    first = greedy.fit(X, y, X_val, y_val)
    assert len(calls) == 120 * 10
    calls.clear()
    again = clone(greedy).fit(X, y, X_val, y_val)
    assert not calls
    assert same(first, again)
    assert [step.seconds for step in first.trace_] == [step.seconds for step in again.trace_]
    clone(greedy).set_params(C=2.0).fit(X, y, X_val, y_val)  # other scores, the same similarities
    assert not calls
    for changed in (
        (X + 1e-9, y, X_val, y_val),
        (X, y, X_val * 1.01, y_val),
        (X, np.roll(y, 1), X_val, y_val),
    ):
        clone(greedy).fit(*changed)
        assert len(calls) == 120 * 10
        calls.clear()
    clone(greedy).set_params(basis=np.arange(1, 11)).fit(X, y, X_val, y_val)
    assert len(calls) == 120 * 10
    calls.clear()
    clone(greedy).set_params(normalize=None).fit(X, y, X_val, y_val)
    assert len(calls) == 120 * 10
    assert not list(tmp_path.glob("*.part"))


def test_more_candidates_use_what_fewer_have_left(split, tmp_path):
    select(["linear", "rbf"], n_measures=1, folder=tmp_path).fit(*split)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npy")}
    select(["rbf", "sigmoid", "linear"], n_measures=2, folder=tmp_path).fit(*split)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())
    assert len(list(tmp_path.glob("*.npy"))) == 3


@pytest.mark.parametrize("damage", ["cut", "longer", "sign", "shape", "text", "empty", "json"])
def test_damaged_files_are_made_anew(split, tmp_path, damage):
    fresh = select(folder=tmp_path).fit(*split)
    features, scores = next(tmp_path.glob("rbf*.npy")), next(tmp_path.glob("*.json"))
    good = features.read_bytes()
    if damage == "json":
        kept = json.loads(scores.read_text())
        for entry in kept["tried"]:
            entry["accuracy"] = 1 - entry["accuracy"]  # as plausible as the right one
        scores.write_text(json.dumps(kept))
    else:
        scores.write_text('{"tried": [')
        if damage == "shape":
            np.save(features, np.load(features)[:-1])
        else:
            flipped = good[:1003] + bytes([good[1003] ^ 0x80]) + good[1004:]
            content = {"cut": good[:-8], "longer": good + b"x", "sign": flipped, "text": b"no array", "empty": b""}
            features.write_bytes(content[damage])
    again = select(folder=tmp_path).fit(*split)
    assert same(fresh, again)
    assert features.read_bytes() == good


KILLED = """
import sys, time
from besvm.selection import GreedySelection
from besvm.selection.store import ScoreBook
from sklearn.datasets import load_digits
enter = ScoreBook.enter
def slowly(self, *args):
    enter(self, *args)
    print("tried", flush=True)
    time.sleep(0.2)  # so that the kill comes in the middle
ScoreBook.enter = slowly
X, y = load_digits(return_X_y=True)
names = ["linear", "rbf", "laplacian", "sigmoid"]
GreedySelection(names, n_measures=3, basis=30, random_state=0, folder=sys.argv[1]).fit(X[:400], y[:400])
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    for _ in range(5):  # to the middle of the second step
        assert process.stdout.readline() == "tried\n"
    os.kill(process.pid, signal.SIGKILL)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    X, y = load_digits(return_X_y=True)
    tried = []
    enter = ScoreBook.enter
    monkeypatch.setattr(ScoreBook, "enter", lambda self, keys, *args: tried.append(keys) or enter(self, keys, *args))
    monkeypatch.setattr(Candidates, "_fill", pytest.fail)  # all similarities are there already
    resumed = select(basis=30, folder=tmp_path).fit(X[:400], y[:400])
    assert len(tried) == 4 + 3 + 2 - 5
    monkeypatch.undo()
    assert same(resumed, select(basis=30).fit(X[:400], y[:400]))


def test_a_run_that_fails_leaves_no_half_file_and_no_half_fit(split, tmp_path):
    def fails(a, b):
        raise KeyboardInterrupt

    greedy = select(["linear", fails], folder=tmp_path, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        greedy.fit(*split)
    assert not hasattr(greedy, "trace_")
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]


# --- threads, and what is not finite ---------------------------------------------------------------------------------


PEAK = """
import re, numpy as np
def peak():  # getrusage would count what the parent process had when it forked
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
from besvm.measures import as_measures
from besvm.selection import GreedySelection
from besvm.similarities import RBF
rng = np.random.default_rng(0)
X = rng.normal(size=(10_000, 20)).astype(np.float32)
y = rng.integers(0, 4, len(X)) + 4 * (X[:, 0] > 0)
def select(n_basis):
    candidates = [RBF(gamma) for gamma in np.geomspace(0.01, 1, 10)]
    return GreedySelection(candidates, n_measures=1, basis=n_basis, random_state=0, memory_limit="260 MB", tol=0.1)
select(20).fit(X[:500], y[:500])  # load all that is loaded lazily
before = peak()
greedy = select(1000).fit(X, y)
print(greedy.storage_, peak() - before)
"""


@pytest.mark.slow
def test_peak_memory_stays_under_the_limit():
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    storage, extra = done.stdout.split()
    assert storage == "disk"  # the candidates alone take 400 MB
    assert int(extra) <= 260e6
