"""A NaN or an infinity behind features, where X itself cannot be checked, must be found and named."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from besvm import BESVMClassifier, Measure
from besvm.similarities import RBF, Cosine, Laplacian, Linear, NegativeDistance, Polynomial, Sigmoid, Tanimoto

SIMILARITIES = [
    RBF(0.5), Laplacian(0.5), NegativeDistance("euclidean"), NegativeDistance("sqeuclidean"),
    NegativeDistance("manhattan"), Linear(), Polynomial(2, 0.5), Sigmoid(0.5), Cosine(), Tanimoto(),
]  # fmt: skip
each_similarity = pytest.mark.parametrize("similarity", SIMILARITIES, ids=str)
ROWS, BASIS = 600, 500  # large enough for features in float32


@each_similarity
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_only_the_pairs_of_what_is_not_finite_are_nan(similarity, dtype, bad, rng):
    A, B = rng.random((40, 20)).astype(dtype), rng.random((30, 20)).astype(dtype)
    of_sample, of_exemplar = A.copy(), B.copy()
    of_sample[3, 7] = of_exemplar[5, 7] = bad
    for K, row in ((similarity(of_sample, B), 3), (similarity(A, of_exemplar).T, 5)):
        assert np.isnan(K[row]).all()
        assert np.isfinite(np.delete(K, row, axis=0)).all()


@each_similarity
def test_a_sample_is_named(similarity, rng):
    X, y = rng.random((ROWS, 4)), np.arange(ROWS) % 2
    measure = Measure(similarity, features=FunctionTransformer(lambda X: np.where(X < 0, np.nan, X)))
    model = BESVMClassifier(measure, basis=np.arange(BASIS), max_iter=1, tol=1.0).fit(X, y)
    X[550, 2] = -1
    with pytest.raises(ValueError, match=r"must be finite, got nan for the pair of exemplar 0 .* and sample 550"):
        model.predict(X)


@each_similarity
def test_an_exemplar_is_named(similarity, rng):
    X, y = rng.random((ROWS, 4)), np.arange(ROWS) % 2
    X[7, 2] = -1
    measure = Measure(similarity, features=FunctionTransformer(lambda X: np.where(X < 0, np.nan, X)))
    with pytest.raises(ValueError, match=r"must be finite, got NaN or infinity in exemplar 7 \(training row 7\)"):
        BESVMClassifier(measure, basis=np.arange(BASIS)).fit(X, y)
