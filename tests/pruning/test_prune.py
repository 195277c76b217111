"""A pruned model is what fitting with those exemplars gives, whatever it is made of."""

import json
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import besvm
from besvm import BESVMClassifier, LinearSVMClassifier, Measure, Nystrom
from besvm.basis import Exemplars
from besvm.normalize import MeanNorm
from besvm.normalize.spectrum import SPECTRA
from besvm.pruning import PruningCurve, pruning_curve
from besvm.pruning.projection import RIDGE
from besvm.selection import GreedySelection
from besvm.similarities import RBF, SeriesParts


@pytest.fixture(scope="module")
def data():
    """Three classes of 5 numbers, 240 rows: clusters that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    centers = rng.normal(size=(3, 4, 5)) * 1.6
    return centers[y, rng.integers(0, 4, 240)] + rng.normal(size=(240, 5)), y


def classifier(measures="rbf", **options):
    return BESVMClassifier(measures, **{"basis": 60, "C": 1.0, "random_state": 0} | options)


KINDS = {
    "plain": classifier(),
    "several measures": classifier(["rbf", "manhattan"]),
    "bases of their own": classifier([Measure("rbf", basis=range(30)), Measure("manhattan", basis=range(20, 50))]),
    "z-score": classifier(normalize="z-score"),
    "raw": classifier(normalize=None),
    "balanced": classifier(normalize=MeanNorm(balanced=True)),
    "nystrom": classifier(normalize=Nystrom()),
    "nystrom, covariance": classifier(["rbf", "manhattan"], normalize=Nystrom("covariance")),
    "l1": classifier(penalty="l1", C=10.0),
    "ovo": classifier(multi_class="ovo"),
    "ovo-pair-basis": classifier(multi_class="ovo-pair-basis"),
    "class weights": classifier(class_weight="balanced"),
    "no probabilities": classifier(probability=False),
    "on disk": classifier(storage="disk"),
    "computed anew": classifier(storage="recompute"),
    "little memory": classifier(memory_limit="300 MB"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_predicts_what_a_model_fitted_with_these_exemplars_does(kind, data):
    X, y = data
    model = clone(KINDS[kind]).fit(X, y)
    pruned = besvm.prune(model, 15, X, y, learn="labels", curve=False)
    assert pruned.n_basis_ <= 15 if kind == "l1" else pruned.n_basis_ == 15
    assert len(np.unique(np.concatenate(pruned.basis_rows_))) == pruned.n_basis_
    same = clone(KINDS[kind])
    rows = pruned.basis_rows_
    if kind == "bases of their own":
        measures = [Measure(m.similarity, basis=own) for m, own in zip(same.measures, rows, strict=True)]
        same.set_params(measures=measures)
    same.set_params(basis=rows[0]).fit(X, y)
    np.testing.assert_allclose(pruned.decision_function(X), same.decision_function(X), rtol=1e-6, atol=1e-8)
    if kind != "no probabilities":
        np.testing.assert_allclose(pruned.predict_proba(X), same.predict_proba(X), rtol=1e-6, atol=1e-8)
    assert pruned.score(X, y) > 0.6
    assert hasattr(model, "coef_")
    assert model.n_basis_ > 15  # it stays as it was


def sides(y, n_classes):
    return np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)


def with_pairs(margins, y):
    """Margins of pairs of classes, with labels in those of the two classes alone."""
    out = margins.copy()
    for column, pair in enumerate([(0, 1), (0, 2), (1, 2)]):
        for label, side in zip(pair, (-1, 1), strict=True):
            out[y == label, column] = 0.7 * margins[y == label, column] + 0.3 * side
    return out


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"l1", "ovo-pair-basis"}))
def test_decides_like_the_large_model_as_far_as_its_exemplars_can(kind, data):
    """The weights are those of a ridge regression on the margins of the large one and the labels, written out."""
    X, y = data
    model = clone(KINDS[kind]).fit(X, y)
    pruned = besvm.prune(model, 15, X, y, curve=False)
    assert pruned.n_basis_ == 15
    features, margins = pruned.transform(X).astype(float), model._margins(X)
    targets = 0.7 * margins + 0.3 * sides(y, 3) if kind != "ovo" else with_pairs(margins, y)
    A, F = features - features.mean(axis=0), targets - targets.mean(axis=0)
    H = A.T @ A
    W = np.linalg.solve(H + RIDGE * np.trace(H) / len(H) * np.eye(len(H)), A.T @ F)
    if kind != "class weights":
        np.testing.assert_allclose(pruned.coef_.T, W, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose((pruned._margins(X) - targets).mean(axis=0), 0, atol=1e-8)
    if kind != "no probabilities":
        assert pruned.probability_slope_ == model.probability_slope_
    labels = besvm.prune(model, 15, X, y, learn="labels", curve=False)
    np.testing.assert_array_equal(pruned.basis_rows_[0], labels.basis_rows_[0])
    distance = [np.square(one._margins(X) - margins).sum() for one in (pruned, labels)]
    assert distance[0] < distance[1]


def test_of_two_classes_and_of_margins_alone(data):
    X, y = data
    model = classifier().fit(X, y > 0)
    for learn, targets in (
        ("margins", model._margins(X)),
        ("both", 0.7 * model._margins(X) + 0.3 * sides(y > 0, 2)[:, 1:]),
    ):
        pruned = besvm.prune(model, 15, X, y > 0, learn=learn, curve=False)
        A = pruned.transform(X).astype(float)
        A -= A.mean(axis=0)
        H = A.T @ A
        W = np.linalg.solve(H + RIDGE * np.trace(H) / len(H) * np.eye(len(H)), A.T @ (targets - targets.mean(axis=0)))
        np.testing.assert_allclose(pruned.coef_.T, W, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["l1", "ovo-pair-basis"])
def test_weights_that_have_a_form_are_learned_from_labels(kind, data):
    X, y = data
    model = clone(KINDS[kind]).fit(X, y)
    one, other = (besvm.prune(model, 15, X, y, learn=learn, curve=False) for learn in ("margins", "labels"))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_what_is_kept_counts_the_rows_of_the_model_and_is_among_its_exemplars(data):
    X, y = data
    model = classifier(["rbf", "manhattan"]).fit(X, y)
    pruned = besvm.prune(model, 0.25, X, y, curve=False)
    assert pruned.n_basis_ == 15
    assert set(pruned.basis_rows_[0]) < set(model.basis_rows_[0])
    np.testing.assert_array_equal(*pruned.basis_rows_)  # kept for all measures, or for none
    assert pruned.coef_.shape == (3, 30)
    assert pruned.transform(X[:2]).shape == (2, 30)


def test_keeps_the_c_that_was_picked_and_all_other_parameters(data):
    X, y = data
    model = classifier(C="auto", tol=1e-4).fit(X, y)
    pruned = besvm.prune(model, 10, X, y, curve=False)
    assert pruned.C_ == model.C_ == pruned.C
    assert pruned.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert pruned.tol == 1e-4
    assert pruned.curve_ is None


def test_all_exemplars_give_the_model_again(data):
    X, y = data
    model = classifier().fit(X, y)
    for n in (60, 1.0):
        again = besvm.prune(model, n, X, y, curve=False)
        np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-9)


def test_exemplars_given_outright_can_be_pruned(data):
    X, y = data
    model = classifier(basis=Exemplars(X[:40])).fit(X, y)
    pruned = besvm.prune(model, 10, X, y, learn="labels", curve=False)
    (kept,) = (measure.places for measure in pruned._map.expander.measures)
    same = classifier(basis=Exemplars(X[kept])).fit(X, y)
    np.testing.assert_allclose(pruned.decision_function(X), same.decision_function(X), rtol=1e-9)
    again = besvm.prune(pruned, 5, X, y, curve=False)
    assert set(again._map.expander.measures[0].places) < set(kept)


def test_parts_can_be_pruned(rng):
    series = rng.normal(size=(60, 40))
    y = np.arange(60) % 2
    series[y == 1, 10:20] += np.sin(np.arange(10))[None] * 3
    whole = Measure("rbf", basis=range(0, 60, 2))
    model = BESVMClassifier([SeriesParts(9), whole], basis=30, C=1.0, random_state=0).fit(series, y)
    pruned = besvm.prune(model, 12, series, y, curve=False)
    assert pruned.n_basis_ == 12
    parts, whole = pruned.basis_rows_
    assert len(parts) + len(whole) == 12
    assert pruned.basis_parts_[0].places.shape == (len(parts), 1)
    assert pruned.coef_.shape[1] == sum(m.width for m in pruned._map.expander.measures)
    assert model.n_basis_ == 60


def test_texts_sparse_rows_and_precomputed_similarities_can_be_pruned(data):
    X, y = data
    words = [f"{'abc'[label]}{'xyz'[i % 3]}{i % 7}" for i, label in enumerate(y)]
    pruned = besvm.prune(classifier("edit", basis=20).fit(words, y), 5, words, y)
    assert pruned.n_basis_ == 5
    assert pruned.score(words, y) > 0.9
    dense = besvm.prune(classifier().fit(X, y), 10, X, y, curve=False)
    sparse = besvm.prune(classifier().fit(csr_matrix(X), y), 10, csr_matrix(X), y, curve=False)
    np.testing.assert_array_equal(dense.basis_rows_[0], sparse.basis_rows_[0])
    S = RBF(gamma=0.1)(X, X)
    for basis in ("auto", 60):
        model = classifier("precomputed", basis=basis).fit(S, y)
        assert besvm.prune(model, 10, S, y, curve=False).score(S, y) > 0.7


@pytest.mark.parametrize("spectrum", [*SPECTRA, "covariance"])
def test_a_measure_may_be_left_without_exemplars(data, spectrum, tmp_path):
    X, y = data
    bases = [Measure("rbf", basis=np.arange(20)), Measure("linear", basis=np.arange(20, 27))]
    pruned = besvm.prune(classifier(bases, normalize=Nystrom(spectrum)).fit(X, y), 1, X, y)
    assert sorted(map(len, pruned.basis_rows_)) == [0, 1]
    besvm.save(pruned, tmp_path / "model.besvm", facts={})
    loaded = besvm.load(tmp_path / "model.besvm")
    np.testing.assert_array_equal(loaded.decision_function(X), pruned.decision_function(X))


def test_rows_of_weight_zero_are_no_rows(data):
    X, y = data
    weights = (np.arange(240) < 200).astype(float)
    model = classifier(basis=range(60)).fit(X, y)
    with_zero = besvm.prune(model, 12, X, y, sample_weight=weights)
    without = besvm.prune(model, 12, X[:200], y[:200])
    np.testing.assert_array_equal(with_zero.basis_rows_[0], without.basis_rows_[0])
    np.testing.assert_allclose(with_zero.decision_function(X), without.decision_function(X), rtol=1e-6, atol=1e-8)


def test_other_rows_than_those_of_the_training_will_do(data):
    X, y = data
    model = classifier().fit(X[:120], y[:120])
    pruned = besvm.prune(model, 20, X[120:], y[120:])
    assert set(pruned.basis_rows_[0]) < set(model.basis_rows_[0])  # which count the rows of the first training
    assert pruned.n_rows_ == 120
    assert pruned.score(X, y) > 0.7


def test_a_copy_of_an_exemplar_goes_before_the_one_that_is_needed(data):
    """Weights alone would halve the copies' worth and let both stay or both go."""
    X, y = data
    rows = np.arange(24)
    X = X.copy()
    X[12:24] = X[:12]  # every exemplar twice
    model = classifier(basis=rows).fit(X, y)
    kept = besvm.prune(model, 12, X, y, curve=False).basis_rows_[0]
    assert len(np.unique(kept % 12)) >= 10


@pytest.mark.slow
def test_beats_random_choices(digits):
    X, y = digits
    model = BESVMClassifier("rbf", basis=200, C=1.0, random_state=0, probability=False).fit(X[:900], y[:900])
    curve = pruning_curve(model, X[:900], y[:900], random=2)
    few = [place for place, size in enumerate(curve.sizes) if size < 60]
    gains = [curve.accuracy[place] - curve.random[place] for place in few]
    assert np.mean(gains) > 0.01
    pruned = besvm.prune(model, 40, X[:900], y[:900], curve=False)
    rng = np.random.default_rng(0)
    drawn = [clone(model).set_params(basis=rng.choice(model.basis_rows_[0], 40, replace=False)) for _ in range(3)]
    scores = [one.fit(X[:900], y[:900]).score(X[900:], y[900:]) for one in drawn]
    assert pruned.score(X[900:], y[900:]) > np.mean(scores)


def test_the_curve_goes_down_in_size_and_says_what_is_held_out(data):
    X, y = data
    model = classifier().fit(X, y)
    pruned = besvm.prune(model, 20, X, y, random=1)
    curve = pruned.curve_
    assert isinstance(curve, PruningCurve)
    assert curve.sizes == sorted(set(curve.sizes), reverse=True)
    assert curve.sizes[0] == 60
    assert 20 in curve.sizes
    assert len(curve.accuracy) == len(curve.random) == len(curve.sizes)
    assert curve.accuracy[0] == curve.random[0]
    assert curve.n_rows == 240  # five folds
    assert curve.accuracy[0] > 0.6 > curve.accuracy[-1] - 0.2
    again = besvm.prune(model, 20, X, y, random=1)
    assert again.curve_ == curve
    assert pruning_curve(model, X, y, random=1).accuracy[0] == curve.accuracy[0]
    json.dumps(curve.to_dict())
    assert pickle.loads(pickle.dumps(pruned)).curve_ == curve


def test_the_curve_is_honest_about_labels_that_mean_nothing(rng):
    """Chosen with a view to the rows that judge, exemplars would look better than chance."""
    X, y = rng.normal(size=(400, 8)), rng.integers(0, 2, 400)
    model = BESVMClassifier("rbf", basis=100, C=1.0, random_state=0).fit(X, y)
    curve = pruning_curve(model, X, y)
    assert abs(np.mean(curve.accuracy) - 0.5) < 0.05


def test_a_loss_that_is_allowed_gives_the_smallest_model_within_it(digits):
    X, y = (part[:1000] for part in digits)
    model = BESVMClassifier("rbf", basis=80, C=1.0, probability=False, random_state=0).fit(X, y)
    pruned = besvm.prune(model, None, X, y, max_loss=0.01)
    curve = pruned.curve_
    losses = dict(zip(curve.sizes, curve.loss, strict=True))
    assert losses[pruned.n_basis_] <= 0.01
    assert all(loss <= 0.01 for size, loss in losses.items() if size > pruned.n_basis_)
    assert pruned.n_basis_ < 80
    stricter = besvm.prune(model, None, X, y, max_loss=0.0)
    assert stricter.n_basis_ >= pruned.n_basis_
    lax = besvm.prune(model, None, X, y, max_loss=0.99, curve=False)
    assert lax.n_basis_ == min(lax.curve_.sizes)


@pytest.mark.parametrize(
    "search",
    [
        GreedySelection(["rbf", "manhattan"], n_measures=2, basis=40, random_state=0),
        GridSearchCV(classifier(probability=False), {"basis": [40]}, cv=2),
    ],
    ids=lambda search: type(search).__name__,
)
def test_a_search_is_pruned_as_the_model_inside(search, data):
    X, y = data
    search.fit(X, y)
    small, same = (besvm.prune(model, 10, X, y, curve=False) for model in (search, search.best_estimator_))
    assert small.n_basis_ == 10
    np.testing.assert_array_equal(small.coef_, same.coef_)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "options", "error", "message"),
    [
        (61, {}, ValueError, "n must be at most 60, the number of exemplars in the model, got 61"),
        (0, {}, ValueError, "n must be a whole number of at least 1, or a share"),
        (-3, {}, ValueError, "n must be a whole number of at least 1, or a share"),
        (1.5, {}, ValueError, "n must be a whole number of at least 1, or a share"),
        (True, {}, ValueError, "n must be a whole number of at least 1, or a share"),
        ("ten", {}, ValueError, "n must be a whole number of at least 1, or a share"),
        (float("nan"), {}, ValueError, "n must be a whole number of at least 1, or a share"),
        (None, {}, ValueError, "pass either n or max_loss, got n=None and max_loss=None"),
        (10, {"max_loss": 0.1}, ValueError, "pass either n or max_loss, got n=10 and max_loss=0.1"),
        (None, {"max_loss": -0.1}, ValueError, "max_loss must be a share of the rows"),
        (None, {"max_loss": "half"}, ValueError, "max_loss must be a share of the rows"),
        (10, {"random": -1}, ValueError, "random must be the number of random choices"),
        (10, {"random": 0.5}, ValueError, "random must be the number of random choices"),
        (10, {"learn": "all"}, ValueError, "learn must be 'both', 'margins' or 'labels', got 'all'"),
        (10, {"curve": "yes"}, ValueError, "curve must be True or False, got 'yes'"),
        (10, {"random_state": "x"}, ValueError, "random_state must be a whole number"),
        (10, {"sample_weight": [1.0]}, ValueError, "sample_weight must hold a weight for each of the 240 rows, got 1"),
    ],
)
def test_one_sentence_for_what_cannot_be_meant(n, options, error, message, data):
    X, y = data
    model = classifier().fit(X, y)
    with pytest.raises(error, match=message) as caught:
        besvm.prune(model, n, X, y, **options)
    assert "\n" not in str(caught.value)


def test_rows_that_do_not_fit_the_model_are_refused(data):
    X, y = data
    model = classifier().fit(X, y)
    for bad_X, bad_y, message in [
        (X[:, :4], y, "4 features"),
        (["text"] * 240, y, "X must hold numbers"),
        (X[:0], y[:0], "0 sample"),
        (X, y[:100], "240 rows and 100 labels"),
        (X, None, "y to be passed"),
        (X, np.where(y == 2, 7, y), "y must have only classes that the model knows, got 7; fit a new model"),
        (X[y < 2], y[y < 2], "rows of every class of the model, got none of 2"),
        (X[:2], y[:2], "rows of every class of the model, got none of 2"),
        (X, y.astype(str), "only classes that the model knows, got '0'"),
    ]:
        with pytest.raises(ValueError, match=message):
            besvm.prune(model, 10, bad_X, bad_y)


def test_models_that_cannot_be_pruned_are_refused(data):
    X, y = data
    with pytest.raises(NotFittedError):
        besvm.prune(classifier(), 10, X, y)
    for other in (LinearSVMClassifier().fit(X, y), SVC().fit(X, y), "model.besvm"):
        with pytest.raises(TypeError, match="prune needs a fitted BESVMClassifier, got a"):
            besvm.prune(other, 10, X, y)
    steps = make_pipeline(StandardScaler(), classifier(probability=False))
    for pipeline in (steps.fit(X, y), GridSearchCV(steps, {"besvmclassifier__C": [1.0]}, cv=2).fit(X, y)):
        with pytest.raises(TypeError, match=r"got a Pipeline; pass its last step, pipeline\[-1\], and X as the other"):
            besvm.prune(pipeline, 10, X, y)
    with pytest.warns(UserWarning, match="makes all weights zero"):
        empty = classifier(penalty="l1", C=1e-9).fit(X, y)
    with pytest.raises(ValueError, match="the model must have exemplars to choose from"):
        besvm.prune(empty, 1, X, y)


def test_rows_too_few_to_hold_any_out_are_said(data):
    X, y = data
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match="at least one class must have two different rows"):
        besvm.prune(model, 10, X[:3], y[:3])
    assert besvm.prune(model, 10, X[:3], y[:3], curve=False).n_basis_ == 10


@pytest.mark.parametrize("options", [{"normalize": MeanNorm(balanced=True)}, {"multi_class": "ovo-pair-basis"}])
def test_classes_of_exemplars_are_never_guessed_from_other_rows(options, data):
    X, y = data
    model = classifier(**options).fit(X[:120], y[:120])
    assert besvm.prune(model, 10, X[:120], y[:120]).n_basis_ == 10
    with pytest.raises(ValueError, match="known only from the rows that the model was trained on"):
        besvm.prune(model, 10, X[120:], y[120:])


# --- the curve, drawn and printed ------------------------------------------------------------------------------------


def test_the_curve_is_a_table_and_a_figure(axes):
    curve = PruningCurve([1000, 500, 250], [0.7, 0.7, 0.68], [0.7, 0.68, 0.66], n_rows=2000)
    lines = str(curve).splitlines()
    assert lines[0] == "accuracy on 2,000 held-out rows, by the number of exemplars"
    assert lines[1].split() == ["exemplars", "accuracy", "change", "random"]
    assert lines[2].split() == ["1,000", "0.7000", "+0.0000", "0.7000"]
    assert lines[4].split() == ["250", "0.6800", "-0.0200", "0.6600"]
    assert curve.plot(axes) is axes
    assert len(axes.lines) == 2
    plain = PruningCurve([4], [0.5], None, n_rows=10)
    assert plain.smallest(0.0) == 4
    assert "random" not in str(plain)
