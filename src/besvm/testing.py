"""Checks that a similarity of your own keeps the contract."""

from copy import deepcopy
from functools import partial
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from besvm._support.rows import n_rows, span, take
from besvm.similarities.contract import Similarity
from besvm.similarities.lookup import resolve
from besvm.similarities.parts import PartSimilarity


def check_similarity(similarity: Any, X: Any, *, rtol: float = 1e-4) -> None:
    """Raise an AssertionError, saying which rule is broken, unless ``similarity`` keeps the contract on ``X``.

    Checked are: the shape and the values of the matrix, that the same items always give the same numbers, that any
    block of rows or columns equals that part of the whole, that ``against`` agrees with the call, that the items are
    left as they were, that the flags ``symmetric`` and ``psd`` are true, and that it can be cloned, copied and
    fitted again.

    Parameters
    ----------
    similarity : Similarity, str or callable
        The similarity, its name, or a function of two items.
    X : samples
        A handful that it can compare, at least three.
    rtol : float, default=1e-4
        How far two ways to the same number may differ, relative to the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import RBF
    >>> from besvm.testing import check_similarity
    >>> check_similarity(RBF(), np.random.default_rng(0).normal(size=(8, 3)))
    """
    n = n_rows(X)
    assert n >= 3, f"X must have at least three samples to check with, got {n}"
    original = resolve(similarity)
    before = deepcopy(X) if hasattr(X, "equals") else joblib.hash(X)  # pandas keeps more in a frame than its values
    fitted = clone(original).fit(X)
    assert isinstance(fitted, Similarity), f"fit must return the similarity itself, got {type(fitted).__name__}"
    rows, each = np.arange(n), fitted.columns_each
    pieces = fitted.draw(X, 1, np.random.default_rng(0)).items if isinstance(fitted, PartSimilarity) else None

    def basis(numbers: np.ndarray) -> Any:
        return fitted.exemplars(X, numbers) if pieces is None else pieces[numbers]

    def columns(numbers: np.ndarray) -> np.ndarray:
        return (numbers[:, None] * each + np.arange(each)).ravel()

    whole = np.asarray(fitted(X, basis(rows)))
    shape = n, n * each
    wanted = "(len(A), len(B))" if each == 1 else "(len(A), columns_each * len(B))"
    assert whole.shape == shape, f"similarity(A, B) must have shape {wanted} = {shape}, got {whole.shape}"
    assert whole.dtype.kind in "fiub", f"similarities must be real numbers, got dtype {whole.dtype}"
    finite = np.isfinite(whole)
    assert finite.all(), f"similarities must be finite, got {whole[~finite][0]} for the pair {np.argwhere(~finite)[0]}"
    same = partial(np.testing.assert_allclose, rtol=rtol, atol=rtol * float(np.abs(whole).max()))

    some = rows[::2]
    same(fitted(X, basis(rows)), whole, err_msg="the same items must give the same numbers")
    tile = fitted(span(X, slice(1, n)), basis(some))
    same(tile, whole[1:][:, columns(some)], err_msg="a block of rows and columns must equal that part of the whole")
    one = fitted(take(X, [1]), basis(rows[2:3]))
    same(one, whole[1:2, columns(rows[2:3])], err_msg="a single pair must equal its place in the whole")
    packed = fitted.against(basis(some))
    for _ in range(2):  # packed once, used twice
        same(packed(X), whole[:, columns(some)], err_msg="against(basis)(A) must equal similarity(A, basis)")
    unchanged = X.equals(before) if hasattr(X, "equals") else joblib.hash(X) == before
    assert unchanged, "a similarity must not change the items it compares"
    if fitted.symmetric:
        same(whole, whole.T, err_msg="symmetric = True, but s(a, b) differs from s(b, a)")
    if fitted.psd:
        values = np.linalg.eigvalsh((whole + whole.T) / 2)
        lowest = -rtol * max(1.0, float(values[-1]))
        assert values[0] >= lowest, (
            f"with psd = True no eigenvalue may be negative, but one is {values[0]:.3g}; set psd = False"
        )
    copy = deepcopy(fitted)
    same(copy(X, basis(rows)), whole, err_msg="a copy must give the same numbers")
    assert set(clone(original).get_params()) == set(original.get_params()), "clone must keep the parameters"
