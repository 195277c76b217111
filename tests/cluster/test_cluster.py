"""Training on a Dask cluster gives the model of one machine, whatever X is."""

import subprocess
import sys
import textwrap
import time

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from besvm import BESVMClassifier
from besvm.blocks.cluster import DaskBlocks
from besvm.blocks.half import HalfBlocks
from besvm.sources import ArraySource


@pytest.fixture(scope="module")
def data():
    return make_classification(3000, 12, n_informative=6, n_classes=3, random_state=0)


@pytest.fixture(scope="module")
def params():
    return {"basis": 60, "C": 1.0, "tol": 1e-8, "random_state": 0}


@pytest.fixture(scope="module")
def alone(data, params):
    return BESVMClassifier("rbf", **params).fit(*data)


def same(model, other):
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-6)
    assert model.C_ == other.C_
    assert model.probability_slope_ == pytest.approx(other.probability_slope_, rel=1e-5)


def test_an_array_with_a_client(client, data, params, alone):
    model = BESVMClassifier("rbf", client=client, **params).fit(*data)
    same(model, alone)
    assert model.storage_ == "cluster"


def test_equal_weights_go_out_as_one_number(client, rng):
    """Every function of the normalization carried the weights of all rows, and so did the tasks of the solver."""
    X = client.submit(np.ones, (3000, 2), key="ones")
    blocks = DaskBlocks(client, [X, X], [slice(0, 3000), slice(3000, 6000)], 2, np.float64)
    state = blocks.state()
    labels = rng.integers(0, 3, 6000)
    state.put("weights", np.full(6000, 0.5))
    state.put("labels", labels)
    found = state.sum(lambda rows: (rows["weights"] @ rows.features, rows["labels"] @ rows.features))
    np.testing.assert_allclose(found, [[3000, 3000], [labels.sum()] * 2])


@pytest.mark.slow
def test_half_precision_halves_what_the_workers_hold(client, data, params):
    """Blocks have scales of their own there, so that the models are alike, not the same."""
    from dask.sizeof import sizeof

    X, y = data
    model = BESVMClassifier("rbf", client=client, storage_dtype="float16", **params).fit(X, y)
    here = BESVMClassifier("rbf", storage_dtype="float16", **params).fit(X, y)
    assert (model.predict(X) == here.predict(X)).mean() > 0.99
    np.testing.assert_allclose(model.decision_function(X), here.decision_function(X), atol=0.1)
    block = np.ones((400, 50), np.float32)
    assert sizeof(HalfBlocks.of(block)) < 0.6 * block.nbytes  # by which workers know when to spill


@pytest.mark.slow
def test_c_is_picked_alike(client, data, params):
    picked = params | {"C": "auto"}
    same(BESVMClassifier("rbf", client=client, **picked).fit(*data), BESVMClassifier("rbf", **picked).fit(*data))


@pytest.mark.slow
def test_a_dask_array_with_the_current_client(client, data, params, alone):
    X, y = data
    rows = da.from_array(X, chunks=(700, 5))  # columns in pieces, and a last partition that is shorter
    model = BESVMClassifier("rbf", **params).fit(rows, da.from_array(y, chunks=1000))
    same(model, alone)
    lazy = model.predict(rows)
    assert lazy.shape == (3000,)
    assert hasattr(lazy, "__dask_graph__")
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))
    np.testing.assert_allclose(model.predict_proba(rows).compute(), model.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model.decision_function(rows).compute(), model.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(model.transform(rows).compute(), model.transform(X), atol=1e-6)


@pytest.mark.slow
def test_a_file_that_the_workers_read(client, data, params, alone, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same(BESVMClassifier("rbf", client=client, **params).fit(mapped, y), alone)


def test_a_mapped_file_travels_by_name(tmp_path):
    import pickle

    np.save(tmp_path / "X.npy", np.arange(4_000_000.0).reshape(-1, 4))
    part = np.load(tmp_path / "X.npy", mmap_mode="r")[1000:900_000]
    sent = pickle.dumps(ArraySource(part))
    assert len(sent) < 2000
    np.testing.assert_array_equal(pickle.loads(sent)[5:7], part[5:7])


def test_a_bag_of_texts(client):
    words = [f"{'ab' if k % 2 else 'xy'}{k % 17}" for k in range(300)]
    y = np.arange(300) % 2
    params = {"basis": 20, "C": 1.0, "probability": False, "random_state": 0}
    model = BESVMClassifier("edit", **params).fit(db.from_sequence(words, npartitions=5), y)
    other = BESVMClassifier("edit", **params).fit(words, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    assert model.predict(db.from_sequence(words, npartitions=3)).compute().tolist() == other.predict(words).tolist()


@pytest.mark.slow
def test_a_frame_of_numbers(client, data, params, alone):
    X, y = data
    frame = dd.from_pandas(pd.DataFrame(X, columns=[f"x{k}" for k in range(12)]), npartitions=4)
    same(BESVMClassifier("rbf", **params).fit(frame, y), alone)


def test_a_clone_shares_the_client(client):
    model = BESVMClassifier("rbf", client=client)
    assert clone(model).client is client
    assert model.client is client


def test_what_needs_all_rows_in_one_place_is_refused(client, data):
    for params, name in [({"penalty": "l1"}, "penalty"), ({"multi_class": "ovo"}, "multi_class")]:
        with pytest.raises(ValueError, match=f"on a cluster {name} must be"):
            BESVMClassifier("rbf", client=client, basis=10, **params).fit(*data)


def fails_on_17(a, b):
    if 17 in (a[0], b[0]):
        raise ValueError("seventeen is not a number I like")
    return -abs(a[0] - b[0])


def test_a_similarity_that_raises_says_so_once(client):
    X = np.arange(200.0)[:, None]
    with pytest.raises(RuntimeError, match="seventeen is not a number I like") as caught:
        BESVMClassifier(fails_on_17, basis=[0, 1, 2], client=client).fit(X, np.arange(200) % 2)
    assert str(caught.value).count("seventeen") == 1
    assert "sample 17" in str(caught.value)


def test_nobody_there(monkeypatch):
    monkeypatch.setattr("besvm.blocks.client.WAIT", 1)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answered at 'tcp://127\.0\.0\.1:1' within"):
        BESVMClassifier("rbf", client="tcp://127.0.0.1:1").fit(np.eye(4), [0, 1, 0, 1])


def in_thread(fit):
    """Run a fit beside the test; return a function that waits for it."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    running = pool.submit(fit)
    pool.shutdown(wait=False)
    return running


def n_passes(dask_scheduler):
    """Return how many passes over a block have been finished."""
    prefix = dask_scheduler.task_prefixes.get("pass over rows")
    return 0 if prefix is None else prefix.state_counts["memory"]


def wait_for_passes(client, more=0):
    """Wait until the solver has begun, and gone on for so many more tasks."""
    for _ in range(600):
        done = client.run_on_scheduler(n_passes)
        if done > more:
            return
        time.sleep(0.05)
    raise AssertionError("the solver did not begin")


@pytest.mark.slow
def test_workers_that_are_killed_in_mid_fit_and_one_that_joins(data, params, alone):
    import os
    import signal

    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        running = in_thread(lambda: BESVMClassifier("rbf", client=client, **params).fit(*data))
        for k in range(2):
            wait_for_passes(client, more=10 * k)
            pid = next(iter(client.run(os.getpid, on_error="ignore").values()), None)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        cluster.scale(3)
        same(running.result(timeout=300), alone)


@pytest.mark.slow
def test_a_fit_without_workers_says_that_it_waits(data, params, alone):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):

        def fitted():
            with pytest.warns(UserWarning, match=r"has no workers left; the fit goes on as soon as one joins") as told:
                model = BESVMClassifier("rbf", client=client, **params).fit(*data)
            return model, len(told)

        running = in_thread(fitted)
        wait_for_passes(client)
        cluster.scale(0)
        time.sleep(6)
        assert not running.done()
        cluster.scale(1)
        model, n_told = running.result(timeout=300)
        same(model, alone)
        assert n_told == 1


@pytest.mark.slow
def test_workers_with_too_little_memory_are_refused_before_anything_is_computed():
    from distributed import Client, LocalCluster

    rows = np.random.default_rng(0).standard_normal((100_000, 2), dtype=np.float32)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50, "memory_limit": "300 MB"}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        model = BESVMClassifier("rbf", basis=1000, client=client)
        with pytest.raises(MemoryError, match=r"must stay within the 300 MB of 1 workers together, but needs"):
            model.fit(rows, np.arange(100_000) % 2)


def test_a_search_over_the_cluster(client, data):
    import joblib
    from sklearn.model_selection import GridSearchCV

    X, y = data[0][:300], data[1][:300]
    search = GridSearchCV(BESVMClassifier("rbf", basis=20, random_state=0), {"C": [0.1, 1.0]}, cv=2)
    with joblib.parallel_config("dask"):
        found = search.fit(X, y)
    assert found.best_score_ > 0.5


@pytest.mark.slow
def test_the_command_line_trains_on_processes_of_its_own(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from besvm.cli import app

    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    np.savez(tmp_path / "data.npz", X=rng.standard_normal((120, 3)) + 3 * y[:, None], y=y)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["train", "data.npz", "-o", "m.besvm", "--no-check", "--cluster", "local:2"])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(app, ["train", "data.npz", "-o", "n.besvm", "--cluster", "somewhere"])
    assert wrong.exit_code != 0
    assert not (tmp_path / "n.besvm").exists()


@pytest.mark.slow
def test_two_clients_of_one_cluster_do_not_meet(cluster, data, params):
    """Tasks of two processes must never have one name: each would be given the other's numbers."""
    code = """
        import sys
        import numpy as np
        from besvm import BESVMClassifier
        X = np.random.default_rng(int(sys.argv[2])).standard_normal((200, 3))
        y = X[:, 0] > 0
        fits = [BESVMClassifier("rbf", basis=9, C=1.0, probability=False, random_state=0, client=client).fit(X, y)
                for client in (sys.argv[1], None)]
        np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-4)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), cluster.scheduler_address]
    both = [subprocess.Popen([*command, str(seed)]) for seed in (1, 2)]
    assert [process.wait(timeout=200) for process in both] == [0, 0]


def test_what_is_not_asked_for_goes_along_with_the_next_task(client, monkeypatch):
    """Tasks that only change what is kept of the rows need no message of their own, and lose nothing."""
    from besvm.blocks import MemoryBlocks

    X = np.random.default_rng(0).standard_normal((90, 3))
    spans = [slice(0, 40), slice(40, 90)]
    far = DaskBlocks(client, [client.submit(lambda rows: X[rows], rows) for rows in spans], spans, 3, X.dtype)
    sent, submit = [], client.submit
    monkeypatch.setattr(client, "submit", lambda *args, **options: sent.append(args[0]) or submit(*args, **options))
    for blocks in (far, MemoryBlocks(X)):
        state = blocks.state()
        state.put("weights", np.arange(90.0))

        def begin(rows):
            rows["kept"] = np.column_stack([rows["weights"], 2 * rows["weights"], -rows["weights"]])

        def double(rows):
            rows["kept"] = 2 * rows["kept"]

        before = len(sent)
        state.each(begin)
        state.each(double)
        state.select(["kept"], np.array([True, False, True]))
        assert len(sent) == before
        taken = state.take(np.array([3, 50]), lambda rows: rows["kept"])
        np.testing.assert_array_equal(taken, [[6.0, -6.0], [100.0, -100.0]])
        (total,) = state.sum(lambda rows: (rows.features.T @ rows["kept"],))
        np.testing.assert_allclose(total, X.T @ np.column_stack([2 * np.arange(90), -2 * np.arange(90)]))
        assert state.take(np.arange(90), lambda rows: rows["kept"]).shape == (90, 2)


def on_worker(package, version):
    """Return what makes a process believe that it has this version of a package; None: that it has none."""

    def pretend():
        from distributed import versions

        real = versions._version_cached.__wrapped__
        versions._version_cached = lambda name: version if name == package else real(name)
        versions._version_cached.__wrapped__ = real

    return pretend


@pytest.mark.parametrize(
    ("package", "version", "error", "sentence"),
    [
        ("besvm", None, ModuleNotFoundError, "every worker needs besvm, but the worker at tcp://.* does not have it"),
        ("besvm", "0.0.7", ValueError, "the same version of besvm as this process, .*, but the worker .* has 0.0.7"),
        ("distributed", "2020.1", ValueError, "the same version of distributed as this process.* 2020.1; install the"),
    ],
)
def test_workers_of_another_version(client, package, version, error, sentence):
    client.run(on_worker(package, version))
    try:
        with pytest.raises(error, match=sentence):
            BESVMClassifier("rbf", client=client).fit(np.eye(4), [0, 1, 0, 1])
    finally:
        client.run(on_worker("nothing", None))


@pytest.mark.slow
def test_a_client_that_is_killed_goes_on_from_its_checkpoint(cluster, data, params, alone, tmp_path):
    """The process that trains is killed after some Newton steps; the same call then ends with the same model."""
    np.save(tmp_path / "X.npy", data[0])
    np.save(tmp_path / "y.npy", data[1])
    code = f"""
        import os, signal, sys
        import numpy as np
        from besvm import BESVMClassifier
        from besvm.blocks.checkpoint import Checkpoint
        steps, write = [], Checkpoint.write
        def noted(self, name, **arrays):
            write(self, name, **arrays)
            steps.append(name)
            if sys.argv[2] == "dies" and len(steps) == 4:
                os.kill(os.getpid(), signal.SIGKILL)
        Checkpoint.write = noted
        model = BESVMClassifier("rbf", client=sys.argv[1], checkpoint="kept", **{params!r})
        model.fit(np.load("X.npy", mmap_mode="r"), np.load("y.npy"))
        np.savez("model.npz", coef=model.coef_, intercept=model.intercept_, steps=len(steps))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), cluster.scheduler_address]
    first = subprocess.run([*command, "dies"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert first.returncode == -9, first.stderr
    second = subprocess.run([*command, "lives"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    model = np.load(tmp_path / "model.npz")
    np.testing.assert_allclose(model["coef"], alone.coef_, atol=1e-6)
    np.testing.assert_allclose(model["intercept"], alone.intercept_, atol=1e-6)


@pytest.mark.slow
def test_the_dashboard_shows_names_that_people_understand(client, data, params):
    BESVMClassifier("rbf", client=client, **params).fit(*data)
    names = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    assert {"similarities of rows", "normalize rows", "pass over rows", "sums of rows"} <= names
