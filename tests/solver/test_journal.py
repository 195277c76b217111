"""A solve that is interrupted after any step goes on, and ends as if nothing had happened."""

import numpy as np
import pytest

from besvm.blocks import MemoryBlocks
from besvm.solver.journal import Journal
from besvm.solver.one_vs_one import fit_pairs
from besvm.solver.one_vs_rest import fit_linear
from besvm.solver.training import Training


class EndOfProcessError(Exception):
    """Stands for the end of a process."""


class Pages(dict):
    """A notebook that can be taken away after so many entries."""

    def __init__(self, *args, allowed=np.inf):
        super().__init__(*args)
        self.allowed, self.n_written = allowed, 0

    def read(self, name):
        return self.get(name)

    def write(self, name, **arrays):
        if self.n_written >= self.allowed:
            raise EndOfProcessError
        self.n_written += 1
        self[name] = {key: np.array(value) for key, value in arrays.items()}


def problem(n=1500, D=40, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, D)) + 1.5 * np.eye(n_classes, D)[labels]
    return X.astype(np.float32), labels


def train(pages, X, labels, fit=fit_linear, **params):
    journal = None if pages is None else Journal(pages)
    options = {"C": "auto", "penalty": "l2", "intercept": "free", "tol": 1e-4, "max_iter": 500} | params
    training = Training(**options, journal=journal)
    return fit(MemoryBlocks(X), labels, 4, np.ones(len(X)), training, probability=True)


@pytest.mark.parametrize(
    ("fit", "params"),
    [
        (fit_linear, {}),
        (fit_linear, {"C": 1.0, "intercept": "penalized"}),
        (fit_linear, {"C": 3e4, "tol": 1e-6}),  # float32 falls short
        (fit_linear, {"penalty": "l1", "C": 1.0}),
        (fit_pairs, {"C": 1.0}),
    ],
)
def test_goes_on_after_any_step(fit, params):
    X, labels = problem()
    whole = Pages()
    expected = train(whole, X, labels, fit, **params)
    for allowed in range(0, whole.n_written, max(1, whole.n_written // 7)):
        pages = Pages(allowed=allowed)
        with pytest.raises(EndOfProcessError):
            train(pages, X, labels, fit, **params)
        again = Pages(pages)
        got = train(again, X, labels, fit, **params)
        np.testing.assert_array_equal(got.coef, expected.coef)
        np.testing.assert_array_equal(got.intercept, expected.intercept)
        assert got.slope == expected.slope
        assert again.n_written <= whole.n_written - allowed + 1  # what was finished is not done again


def test_what_is_written_down_changes_nothing_but_the_last_digits():
    X, labels = problem()
    with_pages, without = train(Pages(), X, labels, tol=1e-8), train(None, X, labels, tol=1e-8)
    np.testing.assert_allclose(with_pages.coef, without.coef, atol=1e-5)
    assert with_pages.path.best == without.path.best
    assert with_pages.slope == pytest.approx(without.slope, rel=1e-4)
