"""Dask collections of every form: the model of the same rows in memory, or a sentence."""

import pickle

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import h5py
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

from besvm import BESVMClassifier
from besvm.sources import DaskSource

PARAMS = {"basis": 20, "C": 1.0, "probability": False, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(240, 3)) * [1, 5, 1], columns=list("abc"))


@pytest.fixture(scope="module")
def y(frame):
    return (frame["a"] + frame["c"] > 0).to_numpy()


def test_some_rows_of_a_bag_are_those_rows(client):
    """The choice of rows was lost on the way to the workers: another model, without a word."""
    words = ["".join(word) for word in np.random.default_rng(0).choice(list("abcdefgh"), (200, 5))]
    y = np.array(["a" in word for word in words])
    order = np.random.default_rng(1).permutation(200)[:150]
    some = DaskSource(db.from_sequence(words, npartitions=4))[order]
    model = BESVMClassifier("edit", client=client, **PARAMS).fit(some, y[order])
    other = BESVMClassifier("edit", **PARAMS).fit([words[row] for row in order], y[order])
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)


def test_columns_are_known_by_their_names(frame, y):
    model = BESVMClassifier("rbf", **PARAMS).fit(dd.from_pandas(frame, npartitions=3), y)
    assert model.feature_names_in_.tolist() == list("abc")
    rows = dd.from_pandas(frame, npartitions=2)
    np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(rows[["c", "a", "b"]])
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(dd.from_pandas(frame[["c", "a", "b"]], npartitions=2))


def test_a_model_of_arrays_takes_frames_without_a_warning(frame, y):
    model = BESVMClassifier("rbf", **PARAMS).fit(frame.to_numpy(), y)
    predicted = model.predict(dd.from_pandas(frame, npartitions=2)).compute()
    np.testing.assert_array_equal(predicted, model.predict(frame.to_numpy()))


def test_empty_partitions_and_the_score(frame, y):
    model = BESVMClassifier("rbf", **PARAMS).fit(frame, y)
    rows = dd.from_pandas(frame, npartitions=4)
    some = rows[rows["a"] > frame["a"].iloc[:180].max()]  # none of the first partitions
    assert model.predict(some).compute().shape == (len(some),)
    assert model.decision_function(some).compute().shape == (len(some),)
    assert model.score(rows, y) == model.score(frame, y)
    of_arrays = BESVMClassifier("rbf", **PARAMS).fit(frame.to_numpy(), y)
    assert of_arrays.score(da.from_array(frame.to_numpy(), chunks=(50, 3)), da.from_array(y, chunks=70)) > 0.8


def test_arrays_whose_chunks_are_not_known(frame, y):
    model = BESVMClassifier("rbf", **PARAMS).fit(dd.from_pandas(frame, npartitions=3).to_dask_array(), y)
    np.testing.assert_allclose(model.coef_, BESVMClassifier("rbf", **PARAMS).fit(frame.to_numpy(), y).coef_, atol=1e-6)


def test_columns_of_any_numbers(frame, y):
    other = frame.assign(b=(10 * frame["b"]).round().astype("Int64"), c=frame["c"] > 0)
    plain = other.astype(float)
    model = BESVMClassifier("rbf", **PARAMS).fit(dd.from_pandas(other, npartitions=2), y)
    np.testing.assert_allclose(model.coef_, BESVMClassifier("rbf", **PARAMS).fit(plain, y).coef_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(dd.from_pandas(other, npartitions=3)).compute(), model.predict(plain))
    with pytest.raises(ValueError, match="must have columns of numbers, or one column of texts"):
        DaskSource(dd.from_pandas(frame.assign(c="text"), npartitions=2))


def test_a_private_copy_of_a_file_goes_as_it_is(client, frame, y, tmp_path):
    """Workers opened the file, which does not have what was written to the copy."""
    X = frame.to_numpy()
    np.save(tmp_path / "X.npy", X[::-1])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:] = X
    model = BESVMClassifier("rbf", client=client, **PARAMS).fit(mapped, y)
    np.testing.assert_allclose(model.coef_, BESVMClassifier("rbf", **PARAMS).fit(X, y).coef_, atol=1e-6)


def test_a_model_leaves_its_client_behind(client, frame, y):
    model = BESVMClassifier("rbf", client=client, **PARAMS).fit(frame.to_numpy(), y)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert model.client is client
    np.testing.assert_array_equal(again.predict(frame.to_numpy()), model.predict(frame.to_numpy()))
    assert pickle.loads(pickle.dumps(BESVMClassifier(client="tcp://here:1"))).client == "tcp://here:1"
    assert clone(model).client is client


def test_a_closed_client(cluster, frame, y):
    closed = Client(cluster)
    closed.close()
    with pytest.raises(ConnectionError, match="client must be open, but it was closed"):
        BESVMClassifier("rbf", client=closed, **PARAMS).fit(frame.to_numpy(), y)


def test_what_cannot_be_sent(client, frame, y, tmp_path):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        rows = file.create_dataset("X", data=frame.to_numpy())
        with pytest.raises(TypeError, match=r"X must be something that workers can open.*h5py.*; use a Dask array"):
            BESVMClassifier("rbf", client=client, **PARAMS).fit(rows, y)


def test_a_cluster_without_workers_is_refused_at_once(frame, y):
    """What Dask computes would wait for workers that nobody starts."""
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty,
        Client(empty) as client,
    ):
        for X in (da.from_array(frame.to_numpy(), chunks=(100, 3)), frame.to_numpy()):
            with pytest.raises(ConnectionError, match="has no workers; start some, then fit again"):
                BESVMClassifier("rbf", client=client, **PARAMS).fit(X, y)


def test_float32_features_give_the_model_of_one_machine_but_for_rounding(client):
    """The solver took other steps on a cluster, which ended elsewhere within the tolerance: a thousandth off."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8000, 20)).astype(np.float32)
    y = (np.tanh(X @ rng.normal(size=(20, 4))) + 0.3 * rng.normal(size=(8000, 4))).argmax(axis=1)
    options = {"basis": 60, "C": 1.0, "random_state": 0}
    here = BESVMClassifier("rbf", **options).fit(X, y)
    there = BESVMClassifier("rbf", client=client, **options).fit(X, y)
    assert np.abs(there.coef_ - here.coef_).max() < 1e-4 * np.abs(here.coef_).max()
