"""The table of complexities, and what a run is measured to take."""

import threading
import time

import numpy as np
import pytest

import besvm.analysis.costs as costs
from besvm import BESVMClassifier, LinearSVMClassifier
from besvm.analysis import Run, complexity, profile
from besvm.analysis.costs import Cost


def test_complexity_is_the_table_of_the_paper():
    """Worked out by hand for n = 10,000, C = 10, M = 4, |B| = 1,000, d_φ = 500 and d_K = 800."""
    table = complexity(10_000, 10, 4, 1000, 500.0, 800.0)
    assert table.kernel == Cost(3e7, 4.2e11, 2e7, 3.2e8)  # 20 M + 10 M; 320 G + 100 G; 20 M; 320 M
    assert table.besvm == Cost(6e7, 3.2e11, 2e6, 3.2e7)  # 20 M + 40 M; 320 G; 2 M; 32 M
    assert table.ratios == Cost(0.5, 1.3125, 10.0, 10.0)
    assert complexity(10_000, 10, 4, 1000, 500.0).kernel.testing_computation == 2e8  # d_K is d_φ


@pytest.mark.parametrize(
    ("sizes", "says"),
    [((0, 2, 1, 5, 3), "n must be"), ((9, 2, 1, 5, -1), "d_phi must be"), ((9, 2, 1, 5, 3, 0), "d_K must be")],
)
def test_sizes_that_are_none(sizes, says):
    with pytest.raises(ValueError, match=says):
        complexity(*sizes)


def test_measured_runs_stand_beside_the_bounds(toy):
    X, y = toy
    model = BESVMClassifier(basis=20, probability=False, random_state=0)
    run = profile(model, X, y, X[:30])
    assert not hasattr(model, "coef_")
    assert run.n_predicted == 30
    assert run.model.score(X, y) > 0.5
    lines = str(complexity(120, 2, 1, 20, 2).beside(besvm=run)).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["K", "BE-SVM", "ratio", "besvm"]
    assert lines[-1].endswith("ms a sample")


def test_what_stands_beside_the_bounds_is_a_run():
    with pytest.raises(TypeError, match=r"beside takes the results of profile\(model, X, y\), got 3 for mine"):
        complexity(120, 2, 1, 20, 2).beside(mine=3)


def test_memory_and_time_of_a_run_are_seen():
    class Hungry(LinearSVMClassifier):
        def fit(self, X, y):
            block = np.ones(8_000_000)  # 64 MB
            time.sleep(0.05)
            del block
            return super().fit(X, y)

    run = profile(Hungry(), [[0.0], [1.0]], [0, 1])
    assert run.fit_seconds >= 0.05
    assert 60e6 < run.fit_bytes < 100e6
    assert run.predict_bytes < 20e6
    assert not any(thread.name == "besvm-memory" for thread in threading.enumerate())


def test_memory_is_unknown_where_the_system_does_not_tell(monkeypatch, toy):
    monkeypatch.setattr(costs, "_resident", lambda: None)
    run = profile(LinearSVMClassifier(), *toy)
    assert (run.fit_bytes, run.predict_bytes) == (None, None)
    assert "memory unknown" in str(run)


def test_a_run_that_fails_leaves_no_thread(toy):
    with pytest.raises(ValueError, match="C must be"):
        profile(LinearSVMClassifier(C=-1), *toy)
    assert not any(thread.name == "besvm-memory" for thread in threading.enumerate())


def test_a_run_of_nothing_takes_no_time_a_sample():
    assert Run(1.0, 0.0, 5, 5, 0).cells() == ("5 bytes", "1 s", "5 bytes", "0 ms a sample")
