"""Greedy selection: against a naive loop over classifiers."""

from threading import current_thread

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from besvm import BESVMClassifier, Measure, Nystrom
from besvm._support import threads
from besvm.blocks import stores
from besvm.expand.training import with_params_of
from besvm.measures import as_measures
from besvm.selection import GreedySelection
from besvm.selection.split import hold_out
from besvm.similarities import RBF
from searches import CANDIDATES, naive, same, select, story


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
    with pytest.raises(
        ValueError,
        match=r"the 250 rows of the basis are always trained on, so 60 of the 300 rows cannot be held out; lower valid",
    ):
        select(basis=np.arange(250)).fit(X, y)
    assert select(basis=np.arange(240), n_measures=1).fit(X, y)._sizes == (240, 60, 4)
    with pytest.raises(ValueError, match=r"basis rows must be between 0 and 299 \(there are 300 rows\), got 300"):
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
    with pytest.raises(ValueError, match=r"y_val must contain classes of y \(0, 1, 2, 3, 4, \.\.\.\), but has none"):
        select().fit(X, y, X_val, y_val.astype(str))


def test_a_class_that_was_never_trained_on_counts_as_missed(split):
    X, y, X_val, y_val = split
    everything = select(n_measures=1).fit(X[y < 9], y[y < 9], X_val, y_val).trace_[0].accuracies
    known = select(n_measures=1).fit(X[y < 9], y[y < 9], X_val[y_val < 9], y_val[y_val < 9]).trace_[0].accuracies
    for name in CANDIDATES:
        assert everything[name] == pytest.approx(known[name] * (y_val < 9).mean())


# --- memory and disk ---------------------------------------------------------------------------------------------


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
