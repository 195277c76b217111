"""A fit that keeps what is finished: killed at any moment, it goes on, and ends as if nothing had happened."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import numpy as np
import pytest

from besvm import BESVMClassifier
from besvm.blocks import checkpoint as checkpoints
from besvm.blocks.checkpoint import MANIFEST, Checkpoint
from besvm.expand import Expander
from besvm.similarities import Similarity
from besvm.sources import ArraySource


@pytest.fixture
def data(digits):
    return digits[0][:300], digits[1][:300]


@pytest.fixture
def computed(monkeypatch):
    """The first rows of all blocks that were computed, of 50 rows each."""
    first_rows = []
    compute = Expander.__call__
    monkeypatch.setattr(Expander, "rows_each", lambda self, X: 50)
    monkeypatch.setattr(
        Expander, "__call__", lambda self, X, first_row=0: first_rows.append(first_row) or compute(self, X, first_row)
    )
    return first_rows


def model(folder, **options):
    return BESVMClassifier(**{"basis": 30, "C": 1.0, "random_state": 0, "checkpoint": folder} | options)


def blocks_in(folder):
    return sorted(folder.glob("rows-*.npz"))


def test_what_is_kept_is_not_computed_again(data, computed, tmp_path):
    plain = model(None).fit(*data)
    computed.clear()
    first = model(tmp_path).fit(*data)
    assert computed == [0, 50, 100, 150, 200, 250]
    assert len(blocks_in(tmp_path)) == 6
    computed.clear()
    options = {"n_jobs": 1, "memory_limit": "1 GB", "storage": "disk", "verbose": 0}  # none of which matters
    again = model(tmp_path, **options).fit(ArraySource(data[0]), data[1])
    assert computed == []
    for one in (first, again):  # with slacks computed anew at every step
        np.testing.assert_allclose(one.coef_, plain.coef_, rtol=1e-9)
        np.testing.assert_allclose(one.intercept_, plain.intercept_, rtol=1e-9)


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "gone", "other file"])
def test_only_damaged_blocks_are_computed_anew(damage, data, computed, tmp_path):
    plain = model(tmp_path).fit(*data)
    broken = blocks_in(tmp_path)[2]
    good = broken.read_bytes()
    place = len(good) // 2
    content = {
        "cut": good[:-1000],
        "bit": good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :],
        "empty": b"",
        "other file": blocks_in(tmp_path)[0].read_bytes()[:-1],
    }
    if damage == "gone":
        broken.unlink()
    else:
        broken.write_bytes(content[damage])
    computed.clear()
    again = model(tmp_path).fit(*data)
    assert computed == [100]
    assert np.load(broken)["block"].shape == (50, 30)
    np.testing.assert_array_equal(again.coef_, plain.coef_)


@pytest.mark.parametrize("kinds", [("rows-*", "rows-*"), ("solve-*", "solve-*"), ("rows-*", "solve-*")])
def test_files_in_each_others_places_are_not_believed(kinds, data, computed, tmp_path):
    """Each is whole, with a checksum that fits: only its name can tell that it is another."""
    plain = model(tmp_path).fit(*data)
    one, other = sorted(tmp_path.glob(kinds[0]))[0], sorted(tmp_path.glob(kinds[1]))[-1]
    assert one != other
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    computed.clear()
    np.testing.assert_array_equal(model(tmp_path).fit(*data).coef_, plain.coef_)
    assert len(computed) == sum(path.name.startswith("rows-") for path in (one, other))


def test_a_seed_that_was_drawn_is_kept(data, computed, tmp_path):
    first = model(tmp_path, random_state=None).fit(*data)
    computed.clear()
    again = model(tmp_path, random_state=None).fit(*data)
    assert computed == []
    np.testing.assert_array_equal(first.basis_rows_[0], again.basis_rows_[0])
    np.testing.assert_array_equal(first.coef_, again.coef_)
    other = model(tmp_path / "other", random_state=None).fit(*data)
    assert not np.array_equal(first.basis_rows_[0], other.basis_rows_[0])


def test_a_generator_counts_by_its_state(data, tmp_path):
    model(tmp_path, random_state=np.random.default_rng(3)).fit(*data)
    model(tmp_path, random_state=np.random.default_rng(3)).fit(*data)
    with pytest.raises(ValueError, match="where these differ: random_state; choose another folder"):
        model(tmp_path, random_state=np.random.default_rng(4)).fit(*data)


def test_a_folder_of_another_fit_is_refused(data, tmp_path):
    X, y = data
    model(tmp_path).fit(X, y)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=r"these differ: C \(1.0 there, 2.0 here\); choose another folder, or remove"):
        model(tmp_path, C=2.0).fit(X, y)
    with pytest.raises(ValueError, match=r"basis \(30 there, 31 here\), tol \(0.001 there, 0.1 here\);"):
        model(tmp_path, basis=31, tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"these differ: measures \('rbf' there, 'linear' here\);"):
        model(tmp_path, measures="linear").fit(X, y)
    changed = X.copy()
    changed[77, 3] += 1
    with pytest.raises(ValueError, match="these differ: the rows of X;"):
        model(tmp_path).fit(changed, y)
    with pytest.raises(ValueError, match="these differ: the labels y;"):
        model(tmp_path).fit(X, np.roll(y, 1))
    with pytest.raises(ValueError, match="these differ: the weights of the rows;"):
        model(tmp_path).fit(X, y, sample_weight=np.arange(300))
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_folder_of_something_else_is_left_alone(data, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match=r"checkpoint must be a new or empty folder.*'thesis.tex'"):
        model(tmp_path).fit(*data)
    with pytest.raises(ValueError, match="checkpoint must be a folder, new or existing, got"):
        model(tmp_path / "thesis.tex").fit(*data)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_code_that_cannot_be_known_again_is_refused(data, tmp_path):
    scope = {}
    exec("def near(a, b): return float(a @ b)", scope)  # typed at a prompt
    with pytest.raises(ValueError, match="checkpoint needs measures and samples that a later run can recognize"):
        model(tmp_path, measures=scope["near"]).fit(*data)


def test_a_damaged_manifest_loses_no_block(data, computed, tmp_path):
    model(tmp_path).fit(*data)
    computed.clear()
    (tmp_path / MANIFEST).write_text('{"parts": {')
    model(tmp_path).fit(*data)
    assert computed == []


class Failing(Similarity):
    """Breaks down in the middle of the rows."""

    rows_per_block = 50

    def __call__(self, A, B):
        if self.broken and A is not B and 200.0 in A:
            raise RuntimeError("out of luck")
        return A @ B.T

    broken = True


def test_a_similarity_that_fails_loses_nothing_that_is_finished(tmp_path, monkeypatch):
    X, y = np.arange(300.0)[:, None], np.arange(300) % 2
    options = {"measures": Failing(), "basis": [1, 2, 3]}
    with pytest.raises(RuntimeError, match="out of luck"):
        model(tmp_path, **options).fit(X, y)
    assert len(blocks_in(tmp_path)) == 4
    monkeypatch.setattr(Failing, "broken", False)
    model(tmp_path, **options).fit(X, y)
    assert len(blocks_in(tmp_path)) == 6


def test_a_full_disk_is_said_and_what_is_finished_is_kept(data, computed, tmp_path, monkeypatch):
    save, left = np.savez, [3]

    def savez(file, **arrays):
        if "block" in arrays:
            left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(file, **arrays)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.np, "savez", savez)
        with pytest.raises(OSError, match=r"has no more room: .* are free; all that is finished is kept, so make room"):
            model(tmp_path).fit(*data)
    assert len(blocks_in(tmp_path)) == 3
    assert list(tmp_path.glob("*.part")) == []
    computed.clear()
    model(tmp_path).fit(*data)
    assert computed == [150, 200, 250]
    monkeypatch.setattr(checkpoints.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match=r"no more room: \d+ kB more are needed, and 1.0 kB are free"):
        model(tmp_path / "new").fit(*data)


def test_arrays_are_kept_by_name(tmp_path, rng):
    kept = Checkpoint(tmp_path, "a" * 40)
    coef = rng.normal(size=(5, 3))
    assert kept.read("newton") is None
    kept.write("newton", coef=coef, step=np.array(3))
    kept.write("newton", coef=coef + 1, step=np.array(4))
    found = kept.read("newton")
    np.testing.assert_array_equal(found["coef"], coef + 1)
    assert found["step"] == 4
    assert Checkpoint(tmp_path, "b" * 40).read("newton") is None
    path = kept.path("newton")
    good = path.read_bytes()
    for place in range(0, len(good), 97):
        path.write_bytes(good[:place])
        assert kept.read("newton") is None
        path.write_bytes(good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :])
        assert kept.read("newton") is None


# --- killed ----------------------------------------------------------------------------------------------------------


FIT = """
    import sys, time
    import numpy as np
    from besvm import BESVMClassifier
    from besvm.expand import Expander
    from besvm.solver.newton import _Newton
    compute, pause = Expander.__call__, float(sys.argv[2])
    def slowly(self, X, first_row=0):
        print("computing", first_row, flush=True)
        time.sleep(pause)
        return compute(self, X, first_row)
    Expander.__call__, Expander.rows_each = slowly, lambda self, X: 40
    step = _Newton.step
    def slow_step(self):
        print("step", flush=True)
        time.sleep(pause)
        return step(self)
    _Newton.step = slow_step
    X = np.random.default_rng(0).normal(size=(1000, 8))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = BESVMClassifier(["rbf", "linear"], basis=50, checkpoint=sys.argv[1] or None, random_state=0).fit(X, y)
    print("done", model.coef_.tobytes().hex() + model.intercept_.tobytes().hex(), flush=True)
"""


def start(folder, pause):
    arguments = [sys.executable, "-c", textwrap.dedent(FIT), str(folder), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def lines_of(process):
    out, _ = process.communicate()
    lines = out.splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("computing")], lines


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_with_the_same_coefficients(tmp_path):
    _, expected = lines_of(start(tmp_path / "whole", 0))
    tmp_path = tmp_path / "killed"
    random = np.random.default_rng(0)
    seen = []
    for _ in range(4):
        process = start(tmp_path, 0.05)
        assert process.stdout.readline().startswith("computing")
        time.sleep(random.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert len(blocks_in(tmp_path)) >= len(seen)
        seen = blocks_in(tmp_path)
    again, lines = lines_of(start(tmp_path, 0))
    assert lines[-1] == expected[-1]
    assert again == list(range(0, 1000, 40))[len(seen) :]  # those that were kept were not computed again
    assert 0 < len(seen) < 25
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.slow  # tests/solver/test_journal.py goes on after every step, in one process
@pytest.mark.parametrize("kills", [1, 3])
def test_killed_between_steps_of_the_solver_it_ends_with_the_same_coefficients(tmp_path, kills):
    _, expected = lines_of(start(tmp_path / "whole", 0))
    n_steps = expected.count("step")
    killed, done = tmp_path / "killed", 0
    for _ in range(kills):
        process = start(killed, 0.02)
        for line in process.stdout:
            if line.startswith("step"):
                done += 1
                if done % 4 == 0:
                    break
        process.send_signal(signal.SIGKILL)
        process.communicate()
    computed, lines = lines_of(start(killed, 0))
    assert lines[-1] == expected[-1]
    assert computed == []
    assert lines.count("step") <= n_steps - done + kills  # but for the step that each kill has cost
