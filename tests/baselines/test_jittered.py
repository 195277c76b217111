"""Training on shifted grids, against shifting by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import LinearSVMClassifier
from besvm.baselines import JitteredClassifier, KernelSVMClassifier
from besvm.baselines.jitter import _moved
from besvm.features import Shifts
from besvm.similarities import RBF, Rigid


def shifted(grid, dy, dx):
    """One grid of cells, moved down by dy and right by dx, zeros coming in."""
    h, w, _ = grid.shape
    out = np.zeros_like(grid)
    for y in range(h):
        for x in range(w):
            if 0 <= y - dy < h and 0 <= x - dx < w:
                out[y, x] = grid[y - dy, x - dx]
    return out


@pytest.fixture(scope="module")
def spots():
    """A bright spot (class 0) or a ring (class 1), somewhere on 5 x 5 cells; in training always in the middle."""
    rng = np.random.default_rng(0)

    def draw(n, far):
        y = np.arange(n) % 2
        X = rng.normal(scale=0.3, size=(n, 5, 5, 2)).astype(np.float32)
        for grid, label in zip(X, y, strict=True):
            dy, dx = rng.integers(-far, far + 1, 2)
            spot = np.zeros((5, 5, 2), dtype=np.float32)
            spot[1:4, 1:4, 0] = 1
            spot[2, 2] = (0, 3) if label else (3, 0)
            grid += shifted(spot, dy, dx)
        return X, y

    return *draw(60, 0), *draw(200, 1)


@pytest.mark.parametrize("rigid", [0, 1, 2])
def test_moves_are_those_of_a_loop(rng, rigid):
    X = rng.normal(size=(3, 4, 5, 2))
    moves = Shifts(rigid).moves
    assert moves[0] == (0, 0)
    assert len(set(moves)) == (2 * rigid + 1) ** 2
    expected = np.array([shifted(grid, dy, dx) for dy, dx in moves for grid in X])
    assert np.array_equal(_moved(X, moves), expected)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVMClassifier(),
        KernelSVMClassifier(RBF(gamma=0.05)),
        make_pipeline(StandardScaler(), LinearSVMClassifier()),
    ],
    ids=["linear", "kernel", "pipeline"],
)
def test_trains_on_all_displacements_flattened(spots, estimator):
    X, y, X_test, y_test = spots
    weights = np.linspace(0.5, 1.5, len(X))
    keywords = {} if hasattr(estimator, "steps") else {"sample_weight": weights}
    model = JitteredClassifier(estimator, rigid=1).fit(X, y, **keywords)
    moves = Shifts(1).moves
    by_hand = np.array([shifted(grid, *move) for move in moves for grid in X]).reshape(9 * len(X), -1)
    repeated = {name: np.tile(value, 9) for name, value in keywords.items()}
    expected = clone(estimator).fit(by_hand, np.tile(y, 9), **repeated)
    flat = X_test.reshape(len(X_test), -1)
    assert np.array_equal(model.decision_function(X_test), expected.decision_function(flat))
    assert model.score(X_test, y_test) > clone(estimator).fit(X.reshape(len(X), -1), y).score(flat, y_test)


def test_grids_stay_grids_for_a_similarity_of_grids(spots):
    X, y, X_test, y_test = spots
    model = JitteredClassifier(KernelSVMClassifier(Rigid(1), spectrum="shift"), rigid=1).fit(X[:12], y[:12])
    assert model.score(X_test[:40], y_test[:40]) > 0.8
    assert not hasattr(model, "predict_proba")


def test_probabilities_pass_through(spots):
    X, y, X_test, _ = spots
    assert JitteredClassifier(LinearSVMClassifier()).fit(X, y).predict_proba(X_test).shape == (200, 2)


def test_says_what_it_takes_and_keeps_to_the_limit(spots, capsys):
    X, y, *_ = spots
    JitteredClassifier(LinearSVMClassifier(), verbose=1).fit(X, y)
    assert "9 times 60 samples take 108 kB" in capsys.readouterr().err
    with pytest.raises(MemoryError, match="9 times 60 samples would need 108 kB, but the memory limit is 100 kB"):
        JitteredClassifier(LinearSVMClassifier(), memory_limit="100 kB").fit(X, y)


@pytest.mark.parametrize("rigid", [-1, 5, 1.5, True, None])
def test_bad_rigid(spots, rigid):
    X, y, *_ = spots
    with pytest.raises(ValueError, match="rigid must be a whole number from 0 to 4 on a grid of 5 x 5 cells, got"):
        JitteredClassifier(LinearSVMClassifier(), rigid=rigid).fit(X, y)


def test_bad_grids(spots):
    X, y, *_ = spots
    model = JitteredClassifier(LinearSVMClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"must hold grids of numbers, of shape \(n, h, w, d\), got .* \(60, 50\)"):
        model.fit(X.reshape(60, -1), y)
    with pytest.raises(ValueError, match=r"must have the shape \(5, 5, 2\) of the training samples, got \(4, 5, 2\)"):
        model.predict(X[:, :4])
    with pytest.raises(ValueError, match="must be finite"):
        model.predict(np.full_like(X, np.nan))


@pytest.mark.parametrize("estimator", ["x", None, LinearSVMClassifier, object()])
def test_what_is_no_classifier_is_refused(spots, estimator):
    X, y, *_ = spots
    with pytest.raises(TypeError, match=r"must be a scikit-learn classifier \(an instance with fit and predict"):
        JitteredClassifier(estimator).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.ones(3), "sample_weight must hold a weight for each of the 60 rows, got 3"),
        (-np.ones(60), "sample_weight must be finite and at least 0, got -1 for row 0"),
        (np.arange(60) % 2, "rows of at least two classes must weigh more than 0"),
    ],
)
def test_weights_are_checked_before_they_are_repeated(spots, weights, says):
    X, y, *_ = spots
    with pytest.raises(ValueError, match=says):
        JitteredClassifier(LinearSVMClassifier()).fit(X, y, sample_weight=weights)


def test_weights_for_an_estimator_that_takes_none(spots):
    X, y, *_ = spots
    with pytest.raises(
        TypeError, match="sample_weight must be None for a KNeighborsClassifier, whose fit does not accept it"
    ):
        JitteredClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(60))


def test_grids_of_several_shapes(spots):
    X, y, *_ = spots
    with pytest.raises(ValueError, match=r"grids must all have one shape here, got \(4, 5, 2\) and \(5, 5, 2\)"):
        JitteredClassifier(LinearSVMClassifier()).fit([X[0, :4], *X[1:]], y)
    with pytest.raises(ValueError, match=r"of shape \(n, h, w, d\), got lists of different lengths"):
        JitteredClassifier(LinearSVMClassifier()).fit([X[0, :4].tolist(), *X[1:].tolist()], y)


def test_keeps_the_conventions_of_scikit_learn(spots):
    """Its own checks have no grids to try."""
    X, y, X_test, _ = spots
    inner = LinearSVMClassifier(C=0.1)
    model = JitteredClassifier(inner, rigid=1)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    assert model.fit(X, y) is model
    assert not hasattr(inner, "coef_")  # only the clone is trained
    assert np.array_equal(clone(model).fit(X, y).decision_function(X_test), model.decision_function(X_test))
    search = GridSearchCV(JitteredClassifier(inner), {"rigid": [0, 1], "estimator__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"rigid", "estimator__C"}
