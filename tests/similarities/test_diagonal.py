"""How similar items are to themselves, without the rest of the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from besvm.similarities import RBF, Deformable, Linear, PairFunction
from besvm.similarities.contract import diagonal


@pytest.mark.parametrize("n", [0, 1, 16, 37])
@pytest.mark.parametrize(
    "similarity", [Linear(), RBF(0.3), PairFunction(lambda b, x: b[0] - 3 * x[1])], ids=["linear", "rbf", "function"]
)
def test_equals_the_diagonal_of_the_whole_matrix(similarity, n, rng):
    X = rng.normal(size=(n, 5))
    np.testing.assert_allclose(diagonal(similarity, X), np.diagonal(similarity(X, X)), rtol=1e-6)


def test_grids_and_lists(rng):
    grids = rng.normal(size=(20, 3, 3, 2))
    np.testing.assert_allclose(diagonal(Deformable(), list(grids)), np.diagonal(Deformable()(grids, grids)), rtol=1e-5)


def test_an_expensive_function_is_called_once_for_each_item():
    calls = []
    diagonal(PairFunction(lambda b, x: calls.append((b, x)) or 1.0), list("abcdefghijklmnopqrst"))
    assert calls == [(letter, letter) for letter in "abcdefghijklmnopqrst"]


def test_a_cheap_similarity_is_not_called_for_each_item():
    sizes = []

    def counted(A, B):
        sizes.append((len(A), len(B)))
        return Linear()(A, B)

    diagonal(counted, np.ones((40, 2)))
    assert sizes == [(16, 16), (16, 16), (8, 8)]
