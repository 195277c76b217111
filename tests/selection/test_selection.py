"""Greedy selection: against a naive loop over classifiers, and what it keeps on disk."""

import json
import os
import signal
import subprocess
import sys
from threading import current_thread

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import FunctionTransformer

from besvm import BESVMClassifier, Measure, Nystrom
from besvm._support import threads
from besvm.blocks import stores
from besvm.blocks.plan import plan_training
from besvm.expand.training import with_params_of
from besvm.measures import as_measures
from besvm.selection import GreedySelection
from besvm.selection.candidates import Candidates
from besvm.selection.split import hold_out
from besvm.selection.store import ScoreBook
from besvm.similarities import RBF

CANDIDATES = ["linear", "rbf", "laplacian", "sigmoid"]


@pytest.fixture(scope="module")
def split(digits):
    X, y = digits
    return X[:300], y[:300], X[300:700], y[300:700]


def select(candidates=CANDIDATES, **params):
    usual = {"basis": np.arange(40), "n_measures": 3, "random_state": 0, "refit": False}
    return GreedySelection(candidates, **usual | params)


def naive(candidates, X, y, X_val, y_val, n_measures, basis):
    """The paper's procedure with a whole classifier for every trial."""
    chosen, trace = [], []
    while len(chosen) < n_measures:
        scores = {}
        for name in candidates:
            if name not in chosen:
                clf = BESVMClassifier([*chosen, name], basis=basis, C=1.0, probability=False)
                scores[name] = clf.fit(X, y).score(X_val, y_val)
        chosen.append(max(scores, key=scores.get))
        trace.append(scores)
    return chosen, trace


def story(greedy):
    return [(step.chosen, step.accuracies) for step in greedy.trace_]


def same(a, b):
    return story(a) == story(b)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_it_is_the_naive_loop_over_classifiers(split, n_classes):
    X, y, X_val, y_val = split
    y, y_val = y % n_classes, y_val % n_classes
    chosen, trace = naive(CANDIDATES, X, y, X_val, y_val, 3, np.arange(40))
    greedy = select().fit(X, y, X_val, y_val)
    assert greedy.names_ == chosen
    for step, scores in zip(greedy.trace_, trace, strict=True):
        assert step.accuracies == pytest.approx(scores, abs=1 / len(y_val) + 1e-9)
        assert step.accuracy == step.accuracies[step.chosen] == max(step.accuracies.values())
    gains = [step.gain for step in greedy.trace_]
    chance = (y_val == np.bincount(y).argmax()).mean()
    np.testing.assert_allclose(chance + np.cumsum(gains), [step.accuracy for step in greedy.trace_])
    assert [measure.label for measure in greedy.measures_] == chosen


def test_the_best_estimator_scores_what_the_last_step_says(split):
    X, y, X_val, y_val = split
    greedy = select(C=3.0, normalize="z-score", refit=True).fit(X, y, X_val, y_val)
    best = greedy.best_estimator_
    assert (best.C, best.normalize, best.random_state) == (3.0, "z-score", 0)
    assert best.score(X_val, y_val) == pytest.approx(greedy.trace_[-1].accuracy, abs=0.006)


def test_it_predicts_with_the_chosen_measures_trained_on_all_rows(digits):
    X, y = digits[0][:400], digits[1][:400]
    greedy = select(["linear", "sigmoid", "rbf"], basis=40, n_measures=2, refit=True).fit(X[:300], y[:300])
    by_hand = BESVMClassifier(greedy.names_, basis=40, C=1.0, random_state=0).fit(X[:300], y[:300])
    np.testing.assert_allclose(greedy.decision_function(X), by_hand.decision_function(X))
    assert greedy.predict(X).tolist() == by_hand.predict(X).tolist()
    assert greedy.score(X[300:], y[300:]) == by_hand.score(X[300:], y[300:]) > 0.8
    np.testing.assert_allclose(greedy.predict_proba(X), by_hand.predict_proba(X))
    assert greedy.classes_.tolist() == list(range(10))


def test_without_refitting_there_is_nothing_to_predict_with(split):
    X = split[0]
    greedy = select(n_measures=1, refit=True)
    with pytest.raises(NotFittedError):
        greedy.predict(X)
    greedy.fit(*split).set_params(refit=False).fit(*split)
    for name in ("predict", "decision_function", "predict_proba", "score", "best_estimator_"):
        assert not hasattr(greedy, name)
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as error:
        greedy.predict(X)
    assert "set refit=True" in str(error.value.__cause__)


def test_a_search_is_an_estimator_like_any_other(digits):
    """Validated from outside, its own held-out rows are inside every fold."""
    X, y = digits[0][:240], digits[1][:240] % 3
    scores = cross_val_score(select(["linear", "rbf"], basis=30, n_measures=1, refit=True), X, y, cv=3)
    assert scores.min() > 0.6


def test_a_share_is_held_out_in_proportion_and_reproducibly(digits):
    X, y = digits[0][:400], digits[1][:400]
    greedy = select(basis=40, validation=0.25).fit(X, y)
    assert greedy._sizes == (300, 100, 4)
    assert same(greedy, clone(greedy).fit(X, y))
    assert any(not same(greedy, select(basis=40, validation=0.25, random_state=s).fit(X, y)) for s in (1, 2))


def test_it_stops_where_nothing_is_gained(split):
    greedy = select(["linear", "linear", "linear"], min_gain=0.5).fit(*split)
    assert greedy.names_ == ["linear.0"]
    assert len(select(["linear", "linear"], n_measures=9).fit(*split).names_) == 2


def test_the_step_that_was_not_taken_can_be_seen(split, axes, capsys):
    whole = select(n_measures=2).fit(*split)
    assert whole.rejected_ is None
    greedy = select(n_measures=2, min_gain=0.9, verbose=1).fit(*split)  # which the first step does not reach either
    assert story(greedy) == story(whole)[:1]
    rejected, second = greedy.rejected_, whole.trace_[1]
    assert (rejected.chosen, rejected.accuracies, rejected.gain) == (second.chosen, second.accuracies, second.gain)
    stopped = f"stopped: {second.chosen} would add only {second.gain:+.4f}"
    assert stopped in capsys.readouterr().err
    lines = greedy.report().splitlines()
    assert (lines[1].split(), lines[-1]) == (["candidate", "step", "1", "rejected"], stopped)
    assert greedy.report().count("*") == 1
    assert f"{second.accuracy:.4f}" in next(line for line in lines if line.startswith(second.chosen))
    *dots, path = greedy.plot(axes).lines
    assert [len(dot.get_ydata()) for dot in dots] == [3, 3]
    assert list(path.get_xdata()) == [1]
    assert greedy.set_params(min_gain=None).fit(*split).rejected_ is None


def test_equals_are_taken_in_the_order_of_the_candidates(split):
    assert select([Measure(RBF(gamma=0.01), name=name) for name in "cab"], n_measures=1).fit(*split).names_ == ["c"]


def test_it_takes_anything_that_can_be_compared():
    words = [a + b for a in "abcdef" for b in "uvwxyz"] * 3
    y = [word[0] < "d" for word in words]

    def first(a, b):
        return float(a[0] == b[0])

    def last(a, b):
        return float(a[-1] == b[-1])

    greedy = GreedySelection([last, first], n_measures=2, basis=20, random_state=0).fit(words, y)
    assert greedy.names_ == ["first", "last"]
    assert greedy.trace_[0].accuracies["first"] == 1.0


def test_precomputed_similarities_are_cut_in_rows_and_columns(digits):
    X, y = digits[0][:200], digits[1][:200]
    greedy = GreedySelection(["precomputed"], basis=30, random_state=0).fit(X @ X.T, y)
    plain = GreedySelection(["linear"], basis=30, random_state=0, normalize="mean-norm").fit(X, y)
    assert greedy.trace_[0].accuracy == pytest.approx(plain.trace_[0].accuracy, abs=0.026)


@pytest.mark.parametrize("spectrum", ["clip", "square", "covariance"])
def test_nystrom_features_are_those_of_the_classifier(split, spectrum):
    X, y, X_val, y_val = split
    greedy = select(["rbf", "sigmoid"], n_measures=2, normalize=Nystrom(spectrum), C=10.0).fit(X, y, X_val, y_val)
    for name, accuracy in greedy.trace_[0].accuracies.items():
        clf = BESVMClassifier(name, basis=np.arange(40), normalize=Nystrom(spectrum), C=10.0, probability=False)
        assert accuracy == pytest.approx(clf.fit(X, y).score(X_val, y_val), abs=1 / 400 + 1e-9)
    best = with_params_of(greedy, BESVMClassifier, measures=greedy.measures_, probability=False).fit(X, y)
    assert best.score(X_val, y_val) == pytest.approx(greedy.trace_[-1].accuracy, abs=1 / 400 + 1e-9)


# --- which rows are held out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, np.array, lambda rows: np.isin(np.arange(150), rows)])
def test_row_numbers_count_all_rows_and_these_are_trained_on(digits, kind):
    X, y = digits[0][:150], digits[1][:150]
    shared, own = kind([149, 3, 7, 90, 4]), kind(range(120, 140))
    candidates = [Measure("rbf"), Measure("linear", basis=own)]
    split = hold_out(X, *np.unique(y, return_inverse=True), 0.5, candidates, shared, np.random.default_rng(0))
    assert len(split.X) == len(split.X_val) == 75
    np.testing.assert_array_equal(split.X[split.basis], X[shared])
    np.testing.assert_array_equal(split.X[split.measures[1].basis], X[own])
    assert split.measures[0].basis is None
    everything = np.concatenate([split.X, split.X_val])
    np.testing.assert_array_equal(np.sort(everything, axis=0), np.sort(X, axis=0))
    greedy = select(candidates, basis=shared, validation=0.5, n_measures=2, refit=True).fit(X, y)
    by_hand = select(split.measures, basis=split.basis, n_measures=2)
    by_hand.fit(split.X, split.classes[split.labels], split.X_val, split.classes[split.val_labels])
    assert same(greedy, by_hand)
    assert greedy.best_estimator_.basis_rows_[greedy.names_.index("linear")].tolist() == [*range(120, 140)]


def test_a_basis_that_leaves_nothing_to_hold_out_is_refused(split):
    X, y = split[:2]
    with pytest.raises(ValueError, match=r"must leave 60 of the 300 rows to be held out, got 250 of them; lower valid"):
        select(basis=np.arange(250)).fit(X, y)
    assert select(basis=np.arange(240), n_measures=1).fit(X, y)._sizes == (240, 60, 4)
    with pytest.raises(ValueError, match=r"basis rows must lie between 0 and 299 \(there are 300 rows\), got 300"):
        select(basis=[300]).fit(X, y)


@pytest.mark.parametrize("basis", ["auto", 20, np.arange(5)])
def test_the_columns_of_precomputed_similarities_go_with_the_rows(digits, basis):
    X, y = digits[0][:100], digits[1][:100] % 2
    rng = np.random.default_rng(0)
    split = hold_out(X @ X.T, np.arange(2), y, 0.2, as_measures("precomputed"), basis, rng)
    assert (split.X.shape, split.X_val.shape) == ((80, 80), (20, 80))
    block = hold_out(X[:, :30], np.arange(2), y, 0.2, as_measures("precomputed"), "auto", rng)  # exemplars elsewhere
    assert (block.X.shape, block.X_val.shape) == ((80, 30), (20, 30))


def test_validation_labels_that_are_all_unknown_are_refused(split):
    X, y, X_val, y_val = split
    with pytest.raises(ValueError, match=r"y_val must hold some of the classes of y, 0, 1, 2, 3, 4, \.\.\.; got none"):
        select().fit(X, y, X_val, y_val.astype(str))


def test_a_class_that_was_never_trained_on_counts_as_missed(split):
    X, y, X_val, y_val = split
    everything = select(n_measures=1).fit(X[y < 9], y[y < 9], X_val, y_val).trace_[0].accuracies
    known = select(n_measures=1).fit(X[y < 9], y[y < 9], X_val[y_val < 9], y_val[y_val < 9]).trace_[0].accuracies
    for name in CANDIDATES:
        assert everything[name] == pytest.approx(known[name] * (y_val < 9).mean())


# --- memory and disk ---------------------------------------------------------------------------------------------


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


def test_threads_change_nothing(split, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_THREADS", 0)
    monkeypatch.setattr(stores, "CACHE_BYTES", 8 * 40 * 80)  # blocks of 80 rows for one candidate, 40 for two
    used = set()
    read = stores.JoinedBlocks._read
    monkeypatch.setattr(
        stores.JoinedBlocks, "_read", lambda self, rows: used.add(current_thread().name) or read(self, rows)
    )
    alone = select(["linear", "sigmoid"], n_jobs=1, n_measures=2).fit(*split)
    assert not any(name.startswith("besvm") for name in used)
    assert same(alone, select(["linear", "sigmoid"], n_jobs=3, n_measures=2).fit(*split))
    assert len([name for name in used if name.startswith("besvm")]) > 1


def root(X):
    with np.errstate(invalid="ignore"):
        return np.sqrt(X - 0.5)


def test_a_nan_behind_features_names_the_candidate(split):
    """That of an exemplar, and that of a sample alone."""
    X, y, X_val, y_val = split
    measures = ["linear", Measure("linear", features=FunctionTransformer(root)), Measure("rbf", name="good")]
    with pytest.raises(ValueError, match=r"exemplars of 'linear.1' must be finite, got NaN .* \(training row 0\)"):
        select(measures).fit(X, y, X_val, y_val)
    positive = X[:300] + 1.0
    positive[299] = -1.0
    with pytest.raises(
        ValueError, match=r"'linear.1' must be finite, got nan for the pair of exemplar 0 .* sample 299"
    ):
        select(measures).fit(positive, y, X_val + 1.0, y_val)


# --- what it shows -----------------------------------------------------------------------------------------------


def test_the_report_names_every_candidate_and_marks_the_chosen(split):
    greedy = select()
    assert str(greedy) == repr(greedy)
    greedy.fit(*split)
    text = str(greedy)
    assert text == greedy.report()
    lines = text.splitlines()
    assert lines[0] == "3 of 4 measures, chosen on 400 held-out rows (300 to train on)"
    assert [line.split()[0] for line in lines[2:6]] == CANDIDATES
    assert text.count("*") == 3
    for name in greedy.names_:
        assert next(line for line in lines if line.startswith(name)).endswith("*")


def test_the_plot_shows_every_trial_and_the_path(split):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    greedy = select().fit(*split)
    _, ax = plt.subplots()
    assert greedy.plot(ax) is ax
    *dots, path = ax.lines
    np.testing.assert_allclose(path.get_ydata(), [step.accuracy for step in greedy.trace_])
    assert [len(dot.get_ydata()) for dot in dots] == [3, 2, 1]
    assert [text.get_text().removeprefix("+ ") for text in ax.texts] == greedy.names_
    assert greedy.plot() is not ax
    plt.close("all")


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"validation": 1.0}, "validation must be a share between 0 and 1, got 1.0"),
        ({"validation": 0}, "validation must be a positive number, got 0"),
        ({"n_measures": 0}, "n_measures must be a whole number of at least 1, got 0"),
        ({"min_gain": np.nan}, "min_gain must be a finite number or None, got nan"),
        ({"min_gain": "some"}, "min_gain must be a finite number or None, got 'some'"),
        ({"candidates": []}, "must name at least one similarity"),
        ({"folder": "x", "random_state": None}, "random_state must be a whole number where a folder is given"),
        ({"C": -1}, "C must be a positive number, got -1"),
        ({"normalize": "max"}, "normalize must be"),
    ],
)
def test_bad_parameters_are_explained(split, params, sentence):
    with pytest.raises(ValueError, match=sentence):
        select().set_params(**params).fit(*split)


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_folder_that_is_a_file_is_explained(split, tmp_path, inside):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"folder must be a folder, there already or to be made, got '.*file"):
        select(folder=tmp_path / "file" / inside).fit(*split)


def test_bad_rows_are_explained(split):
    X, y, X_val, y_val = split
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        select().fit(X, y, X_val)
    with pytest.raises(ValueError, match="X_val and y_val must have the same length, got 400 and 399"):
        select().fit(X, y, X_val, y_val[1:])
    with pytest.raises(ValueError, match="expecting 64 features"):
        select().fit(X, y, X_val[:, 1:], y_val)


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
