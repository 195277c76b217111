"""Classes and weights stay where the rows are: the model is that of one machine, and the client holds none of them."""

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from distributed import Client

from besvm import BESVMClassifier
from besvm.basis import IndexBasis, KMedoidsBasis, RandomBasis
from besvm.blocks import MemoryBlocks
from besvm.blocks.cluster import DaskBlocks
from besvm.blocks.cluster_values import ClusterValues, spread_on
from besvm.expand.cluster_targets import ClusterClasses
from besvm.normalize import Nystrom
from besvm.solver.calibration import N_FOLDS, deal_folds
from besvm.solver.preconditioner import _sample
from besvm.solver.problem import Problem
from variants import first_fast

PARAMS = {"basis": 20, "C": 0.1, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = np.array(["a", "bb", "ccc"])[np.abs(X[:, :3]).argmax(axis=1)]
    return X, y, rng.integers(0, 4, 2000).astype(float)


def same(model, other):
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-6)
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.probability_slope_ == pytest.approx(other.probability_slope_, rel=1e-5)
    for one, another in zip(model.basis_labels_, other.basis_labels_, strict=True):
        assert one.tolist() == another.tolist()
    for one, another in zip(model.basis_rows_, other.basis_rows_, strict=True):
        assert one.tolist() == another.tolist()


@pytest.mark.parametrize("class_weight", first_fast(["balanced", None, {"a": 3.0, "bb": 0.5}]), ids=str)
def test_weights_and_classes_in_partitions_of_their_own(client, data, class_weight):
    X, y, weights = data
    params = PARAMS | {"class_weight": class_weight}
    rows, classes, weighs = (da.from_array(a, chunks=c) for a, c in ((X, (600, 6)), (y, 350), (weights, 999)))
    model = BESVMClassifier("rbf", **params).fit(rows, classes, weighs)
    same(model, BESVMClassifier("rbf", **params).fit(X, y, weights))


@pytest.mark.slow
def test_classes_of_every_collection(client, data):
    X, y, _ = data
    other = BESVMClassifier("rbf", **PARAMS).fit(X, y)
    rows = da.from_array(X, chunks=(600, 6))
    for classes in (db.from_sequence(y.tolist(), npartitions=3), dd.from_pandas(pd.Series(y), npartitions=4)):
        same(BESVMClassifier("rbf", **PARAMS).fit(rows, classes), other)
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        same(BESVMClassifier("rbf", **PARAMS).fit(rows, da.from_array(y[:, None], chunks=(500, 1))), other)


@pytest.mark.parametrize(
    "basis",
    first_fast(
        ["auto", KMedoidsBasis(10), RandomBasis(20, balanced=False), IndexBasis(per_class=5), RandomBasis(0.02)]
    ),
    ids=str,
)
def test_every_basis_is_that_of_one_machine(client, data, basis):
    """Rows that weigh nothing are no candidates; of the others only the chosen come here."""
    X, y, weights = data
    params = PARAMS | {"basis": basis, "probability": False}
    model = BESVMClassifier("rbf", **params).fit(
        da.from_array(X, chunks=(600, 6)), da.from_array(y, chunks=600), weights
    )
    other = BESVMClassifier("rbf", **params).fit(X, y, weights)
    assert model.basis_rows_[0].tolist() == other.basis_rows_[0].tolist()
    assert (weights[model.basis_rows_[0]] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("normalize", ["z-score", Nystrom()], ids=str)
def test_weights_of_the_normalization(client, data, normalize):
    X, y, weights = data
    params = PARAMS | {"normalize": normalize}
    rows = da.from_array(X, chunks=(600, 6))
    model = BESVMClassifier("rbf", **params).fit(rows, y, da.from_array(weights, chunks=700))
    other = BESVMClassifier("rbf", **params).fit(X, y, weights)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    ("classes", "weights", "sentence"),
    [
        (lambda y: np.where(np.arange(len(y)) == 1500, np.nan, 1.0), None, "it contains nan in row 1500, 1 missing"),
        (lambda y: y[:-1], None, "must have the same length; .* 2000 rows and 1999 labels"),
        (lambda y: np.full(len(y), "x"), None, "at least two classes, got only one class: x"),
        (lambda y: np.linspace(0, 1, len(y)), None, "Unknown label type: continuous"),
        (lambda y: y, lambda w: np.where(np.arange(len(w)) == 1234, -1.0, w), "got -1 for row 1234"),
        (lambda y: y, lambda w: w[:-3], "a weight for each of the 2000 rows, got 1997"),
        (lambda y: y, lambda w: 0 * w, "above zero for some rows, got only zeros"),
        (lambda y: y, lambda w: w * 1e300, "sample_weight must be at most"),
    ],
)
def test_what_is_wrong_is_said_as_on_one_machine(client, data, classes, weights, sentence):
    X, y, w = data
    given = classes(y), None if weights is None else weights(w)
    there = [None if a is None else da.from_array(a, chunks=600) for a in given]
    for rows, (labels, weighs) in ((X, given), (da.from_array(X, chunks=(600, 6)), there)):
        with pytest.raises(ValueError, match=sentence) as error:
            BESVMClassifier("rbf", **PARAMS).fit(rows, labels, weighs)
        assert "\n" not in str(error.value)


def test_labels_of_several_columns(client, data):
    X, y, _ = data
    several = da.from_array(np.column_stack([y, y]), chunks=(600, 2))
    with pytest.raises(
        ValueError, match=r"y must be one label for each row, got an array of shape \(n, 2\); select one"
    ):
        BESVMClassifier("rbf", **PARAMS).fit(da.from_array(X, chunks=(600, 6)), several)


def test_labels_of_two_kinds_in_different_partitions(client, data):
    X, y, _ = data
    mixed = db.from_sequence([*y[:1000].tolist(), *range(1000)], npartitions=2)
    with pytest.raises(ValueError, match="y must hold labels of one kind, numbers or strings, got"):
        BESVMClassifier("rbf", **PARAMS).fit(da.from_array(X, chunks=(600, 6)), mixed)


def test_values_on_a_cluster_are_an_array(client, rng):
    values = rng.integers(0, 9, 1000).astype(np.int16)
    there = ClusterValues.of_array(client, values, "numbers")
    assert (there.shape, there.dtype) == ((1000,), np.int16)
    np.testing.assert_array_equal(there[:], values)
    np.testing.assert_array_equal(there[333:777], values[333:777])
    rows = rng.integers(0, 1000, 50)
    np.testing.assert_array_equal(there.take(rows), values[rows])
    assert len(there.take([])) == 0
    cuts = [slice(0, 1), slice(1, 499), slice(499, 990), slice(990, 1000)]
    np.testing.assert_array_equal(np.concatenate(client.gather(there.cut(cuts))), values)
    doubled = there.map(np.add, "sums of numbers", np.int16, there)
    np.testing.assert_array_equal(doubled[:], 2 * values)
    at = np.array([0, 499, 999])
    np.testing.assert_array_equal(np.flatnonzero(spread_on(client, cuts, at, np.ones(3, np.int8), 0)[:]), at)


@pytest.mark.parametrize("weighted", [True, False])
def test_rows_of_a_class_are_found_by_rank(client, rng, weighted):
    numbers = rng.integers(0, 4, 1000)
    weights = rng.integers(0, 2, 1000).astype(float) if weighted else np.ones(1000)
    there = [ClusterValues.of_array(client, values, "values") for values in (numbers, weights)]
    names = np.array(list("wxyz"))
    classes = ClusterClasses(there[0], names, there[1] if weighted else np.broadcast_to(1.0, 1000))
    own = [np.flatnonzero((numbers == k) & (weights > 0)) for k in range(4)]
    assert list(classes.sizes) == [len(rows) for rows in own]
    ranks = [rng.permutation(len(rows))[:size] for rows, size in zip(own, (7, 0, 1, 50), strict=True)]
    for found, rows, some in zip(classes.rows_at(ranks), own, ranks, strict=True):
        np.testing.assert_array_equal(found, np.sort(rows[some]))
    everyone = np.flatnonzero(weights)
    assert classes.together().sizes == [len(everyone)]
    np.testing.assert_array_equal(classes.together().rows_at([np.array([9, 3])])[0], everyone[[3, 9]])
    np.testing.assert_array_equal(classes[:], names[numbers])


def in_blocks(client, X, rows):
    parts = [client.submit(np.array, X[some], key=f"block-{some.start}-{len(X)}-{some.stop}") for some in rows]
    return DaskBlocks(client, parts, rows, X.shape[1], X.dtype)


def test_folds_and_samples_do_not_depend_on_where_the_rows_are(client, rng, monkeypatch):
    monkeypatch.setattr("besvm.solver.calibration.MOST_HELD_OUT", 100)  # so that most rows are never dealt out
    X = rng.normal(size=(6000, 5))
    X[3000:3600] = X[:600]  # copies
    y, weights = rng.integers(0, 3, 6000), rng.integers(0, 3, 6000).astype(float)
    y[3000:3600] = y[:600]
    problem = Problem(y, np.arange(3), weights)
    here = deal_folds(MemoryBlocks(X), problem, 3)
    rows = [slice(0, 700), slice(700, 3100), slice(3100, 6000)]
    blocks = in_blocks(client, X, rows)
    values = [ClusterValues.of_array(client, a, "values") for a in (y, weights)]
    there = deal_folds(blocks, Problem(values[0], np.arange(3), values[1]), 3)
    for name in ("rows", "fold", "labels", "weights"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
    np.testing.assert_array_equal(there.of_rows[:], here.of_rows)
    assert 60 <= (here.of_rows == 0).sum() <= 75  # a sixtieth of what weighs anything
    both = (weights[:600] > 0) & (weights[3000:3600] > 0)
    np.testing.assert_array_equal(here.of_rows[:600][both], here.of_rows[3000:3600][both])
    assert (here.of_rows[weights == 0] == N_FOLDS).all()

    def sampled(blocks, problem):
        state = blocks.state()
        problem.begin(state, None)
        return _sample(state, problem.mean_weights(), 500, seed=1)

    samples = sampled(MemoryBlocks(X), problem), sampled(blocks, Problem(values[0], np.arange(3), values[1]))
    for one, another in zip(*samples, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-12)
    numbers, own, boost = samples[0]
    assert 400 <= len(numbers) <= 600
    assert (own * boost).sum() == pytest.approx(weights.sum(), rel=0.1)  # they stand for all


def test_nothing_as_long_as_the_rows_comes_to_the_client(client, monkeypatch):
    """Not even a byte for each: labels, weights, folds and samples of rows are found where the rows are."""
    monkeypatch.setattr("besvm.solver.calibration.MOST_HELD_OUT", 200)  # which more rows would reach by themselves
    monkeypatch.setattr("besvm.blocks.estimates.SAMPLE", 2000)
    came, gathered = [], Client._gather

    async def noted(self, *args, **options):
        found = await gathered(self, *args, **options)
        came.append(sizeof(found))
        return found

    monkeypatch.setattr(Client, "_gather", noted)
    n = 200_000
    X = da.random.default_rng(0).normal(size=(n, 3), chunks=(n // 4, 3)).astype(np.float32)
    y, weights = (X[:, 0] + X[:, 1] > 0).astype(np.int64), X[:, 2] ** 2
    model = BESVMClassifier("rbf", basis=8, C=0.1, tol=0.1, random_state=0, class_weight="balanced").fit(X, y, weights)
    assert model.score(X[:1000], y[:1000]) > 0.95
    assert len(came) > 20
    assert max(came) < 0.5 * n
