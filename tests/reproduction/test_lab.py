"""The lab against the library it is made of, and against naive loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from besvm import BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm.basis import IndexBasis
from besvm.reproduction.config import M2, QUICK
from besvm.reproduction.lab import CS, best_cost, normalize_in_place


def test_larger_basis_begins_with_the_smaller(lab):
    small, large = (lab.index_basis(size, QUICK.steps) for size in (2, 8))
    for a, b in zip(small, large, strict=False):
        assert_array_equal(a, b)
    rows = np.concatenate(large)
    assert_array_equal(np.bincount(lab.labels[rows]), np.full(10, 8))
    first = lab.train_rows()
    assert sorted(rows) == sorted(first[IndexBasis(per_class=8)(lab.images[first], lab.labels[first], None, None)])


@pytest.mark.slow
def test_lab_trains_the_classifier_of_the_library(lab):
    """Cached similarities, put side by side and normalized, give what BESVMClassifier gives from images."""
    rows, test = lab.train_rows(), lab.test_rows
    basis = lab.index_basis(8, QUICK.steps)
    clf = BESVMClassifier(list(M2), basis=IndexBasis(per_class=8), probability=False, tol=1e-5)
    clf.fit(lab.images[rows], lab.labels[rows])
    assert abs(clf.score(lab.images[test], lab.labels[test]) - lab.fit(M2, basis).accuracy) <= 0.02
    raw = lab.expansion(["H4(2,0)"], [5], basis)
    places = [list(clf.basis_rows_[1]).index(np.searchsorted(rows, row)) for row in np.concatenate(basis)]
    theirs = clf._map.expander(lab.images[test])[:, 80:160][:, places]
    assert_allclose(raw, theirs, rtol=1e-3, atol=1e-4)


NORMALIZATIONS = {
    None: lambda X, X_test, K: X_test,
    "z-score": lambda X, X_test, K: (X_test - X.mean(axis=0)) / X.std(axis=0),
    "mean-norm": lambda X, X_test, K: (X_test - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=1).mean(),
    Nystrom("clip"): lambda X, X_test, K: Nystrom("clip").fit(K).transform(X_test),
    Nystrom("covariance"): lambda X, X_test, K: Nystrom("covariance").fit(X).transform(X_test),
}


@pytest.mark.parametrize(("normalize", "naive"), NORMALIZATIONS.items(), ids=map(str, NORMALIZATIONS))
def test_rows_are_normalized_by_what_the_training_rows_say(lab, normalize, naive):
    """Each measure for itself, training and test rows in the same way."""
    labels, basis = ["H8R", "H4L"], lab.index_basis(4, QUICK.steps)
    width = sum(map(len, basis))
    X, X_test = (lab.expansion(labels, [fold], basis) for fold in (0, 5))
    in_basis = np.concatenate(basis)  # the first fold comes first
    expected = [
        np.hstack([naive(X[:, own], rows[:, own], X[in_basis, own]) for own in (slice(width), slice(width, None))])
        for rows in (X, X_test)
    ]
    normalize_in_place(X, X_test, in_basis, len(labels), normalize)
    for found, wanted in zip((X, X_test), expected, strict=True):
        assert_allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


@pytest.mark.parametrize(("scale", "wanted"), [(0.3, 10.0), (1.0, 1.0), (3.0, 0.1)])
def test_cost_with_the_best_cross_validated_accuracy_is_chosen(lab, scale, wanted):
    """Against one model after the other; features that are larger want a smaller C."""
    X, X_test = (lab.expansion(["H8R"], [fold], lab.index_basis(8, QUICK.steps)) for fold in (0, 5))
    normalize_in_place(X, X_test, np.arange(1), 1, "mean-norm")
    X *= scale
    y = lab.labels[lab.train_rows()]
    fold = np.empty(len(y), dtype=int)
    for c in range(10):
        fold[y == c] = np.arange((y == c).sum()) % 3
    accuracies = []
    for C in CS:
        models = [LinearSVMClassifier(C=C, probability=False).fit(X[fold != k], y[fold != k]) for k in range(3)]
        accuracies.append(sum((m.predict(X[fold == k]) == y[fold == k]).sum() for k, m in enumerate(models)))
    assert best_cost(X, y, 10, 3) == CS[int(np.argmax(accuracies))] == wanted
