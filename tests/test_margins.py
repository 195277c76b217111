"""The three margins of the paper, and their eigenvalue view, against dense float64 algebra."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from besvm import BESVMClassifier, LinearSVMClassifier
from besvm._spectrum import inverse_root
from besvm.analysis import margins
from besvm.baselines import DualBESVMClassifier
from besvm.similarities import RBF, Linear


class KernelModel(BaseEstimator):
    """What margins reads of a kernel SVM on two classes, trained by scikit-learn alone on a matrix K made definite."""

    def __init__(self, K, spectrum=None, definite=None, C=1.0):
        self.K = K
        self.spectrum = spectrum
        self.definite = definite
        self.C = C

    def fit(self, X, y):
        K = self.K if self.definite is None else self.definite
        svc = SVC(kernel="precomputed", C=self.C, tol=1e-8).fit(K, y)
        signed = svc.dual_coef_[0]
        self.classes_, self.pairs_ = svc.classes_, [(0, 1)]
        self.support_ = svc.support_
        self.alphas_ = [(svc.support_, signed)]
        self.squared_norms_ = np.array([signed @ K[np.ix_(svc.support_, svc.support_)] @ signed])
        return self

    def gram(self, X):
        return self.K


def signed_of(model, n, pair=0):
    rows, signed = model.alphas_[pair]
    alphas = np.zeros(n)
    alphas[rows] = signed
    return alphas


def test_margin_of_besvm_is_its_formula(toy):
    """M_BE = (βᵀY S_BXᵀ S_BX Yβ)⁻¹, with S_BX of shape (B, n)."""
    X, y = toy
    clf = DualBESVMClassifier([RBF(gamma=10.0), RBF(gamma=100.0)], basis=np.arange(0, 120, 3), C=10.0).fit(X, y)
    found = margins(clf)
    S_BX = np.vstack([rbf_kernel(X[::3], X, gamma=gamma) for gamma in (10.0, 100.0)])
    Y = np.diag(np.where(y == 1, 1.0, -1.0))
    beta = Y @ signed_of(clf, len(X))
    assert (beta >= 0).all()
    np.testing.assert_allclose(found.margins, [1 / (beta @ Y @ S_BX.T @ S_BX @ Y @ beta)], rtol=1e-6)
    assert (found.formula, found.pairs, found.views) == ("M_BE", [("0", "1")], None)


def test_margin_of_a_kernel_svm_is_its_formula(toy):
    """M_K = (αᵀYKYα)⁻¹; of a separable problem, the square of the distance to the boundary."""
    X, y = toy
    K = rbf_kernel(X, gamma=10.0)
    model = KernelModel(K, C=1e6).fit(X, y)
    found = margins(model, X)
    alphas = signed_of(model, len(X))
    assert found.formula == "M_K"
    np.testing.assert_allclose(found.margins, [1 / (alphas @ K @ alphas)])
    svc = SVC(kernel="precomputed", C=1e6, tol=1e-8).fit(K, y)
    distance = np.abs(svc.decision_function(K)).min() / np.sqrt(found.squared_norms[0])
    assert distance**2 == pytest.approx(found.margins[0], rel=1e-4)


def test_margin_in_nystrom_features_is_its_formula(toy):
    """M_N = (αᵀY K_XB K_BB⁻¹ K_BX Yα)⁻¹: a dual BE-SVM on the features of eq. nystrom_feature_map."""
    X, y = toy
    K_XB, K_BB = rbf_kernel(X, X[::6], gamma=10.0), rbf_kernel(X[::6], gamma=10.0)
    clf = DualBESVMClassifier("precomputed", basis="auto").fit(K_XB @ inverse_root(K_BB, "clip"), y)
    alphas = signed_of(clf, len(X))
    expected = 1 / (alphas @ K_XB @ np.linalg.inv(K_BB) @ K_XB.T @ alphas)
    np.testing.assert_allclose(margins(clf).margins, [expected], rtol=1e-6)


def test_contributions_add_up_to_the_squared_norm(toy):
    X, y = toy
    clf = DualBESVMClassifier(RBF(gamma=10.0), C=10.0).fit(X, y)
    (view,) = margins(clf, X).views
    alphas, G = signed_of(clf, len(X)), clf.gram(X)
    values, vectors = np.linalg.eigh(G)
    naive = [values[i] * (vectors[:, i] @ alphas) ** 2 for i in range(len(X))]
    np.testing.assert_allclose(view.eigenvalues, values[::-1], atol=1e-9)
    assert view.contributions.sum() == pytest.approx(alphas @ G @ alphas)
    np.testing.assert_allclose(np.cumsum(view.contributions), np.cumsum(naive[::-1]), rtol=1e-6, atol=1e-9)
    assert view.shares.sum() == pytest.approx(1)


def test_besvm_on_all_rows_squares_the_eigenvalues(toy):
    """K² = Σ λᵢ² vᵢvᵢᵀ: eigenpairs above 1 are amplified, those below 1 dampened."""
    X, y = toy
    K = rbf_kernel(X, gamma=10.0)
    (plain,) = margins(KernelModel(K, C=10.0).fit(X, y), X).views
    (squared,) = margins(DualBESVMClassifier(RBF(gamma=10.0), C=10.0).fit(X, y), X).views
    np.testing.assert_allclose(squared.eigenvalues, plain.eigenvalues**2, rtol=1e-6, atol=1e-9)
    large = plain.eigenvalues > 1
    assert 0 < large.sum() < len(X)
    assert (squared.eigenvalues[large] > plain.eigenvalues[large]).all()
    small = (plain.eigenvalues < 1) & (plain.eigenvalues > 1e-6)
    assert (squared.eigenvalues[small] < plain.eigenvalues[small]).all()
    assert squared.shares[large].sum() > plain.shares[large].sum()


def test_contributions_of_a_kernel_svm_with_a_fixed_spectrum(toy):
    X, y = toy
    K = np.tanh(3 * X @ X.T - 1)
    values, vectors = np.linalg.eigh(K)
    flipped = (vectors * np.abs(values)) @ vectors.T
    model = KernelModel(K, "flip", flipped).fit(X, y)
    found = margins(model, X)
    alphas = signed_of(model, len(X))
    assert found.views[0].contributions.sum() == pytest.approx(alphas @ flipped @ alphas)
    np.testing.assert_allclose(found.views[0].eigenvalues, np.sort(np.abs(values))[::-1], atol=1e-9)


def test_margins_of_every_pair(problem_data, axes):
    X, y = problem_data
    names = np.array(["ash", "birch", "cedar"])[y]
    clf = DualBESVMClassifier(RBF(gamma=0.01), basis=30, random_state=0).fit(X, names)
    found = margins(clf, X, names)
    assert found.pairs == [("ash", "birch"), ("ash", "cedar"), ("birch", "cedar")]
    G = clf.gram(X)
    for pair, (view, (a, b)) in enumerate(zip(found.views, clf.pairs_, strict=True)):
        rows = np.flatnonzero((y == a) | (y == b))
        alphas = signed_of(clf, len(X), pair)
        assert len(view.eigenvalues) == len(rows)
        assert alphas @ G @ alphas == pytest.approx(1 / found.margins[pair])
        assert view.contributions.sum() == pytest.approx(1 / found.margins[pair])
    lines = str(found).splitlines()
    assert lines[0].startswith("M_BE of 3 problems: smallest ")
    assert lines[3].startswith("  birch - cedar  ")
    found.plot(axes)
    assert [line.get_ydata()[-1] for line in axes.lines[:3]] == pytest.approx([1, 1, 1], abs=1e-3)


def test_margins_of_models_trained_in_the_primal(problem_data):
    X, y = problem_data
    for model in (LinearSVMClassifier(), LinearSVC(), BESVMClassifier(basis=20, random_state=0)):
        found = margins(model.fit(StandardScaler().fit_transform(X), y))
        assert found.formula == "primal"
        assert found.pairs == [("0", "rest"), ("1", "rest"), ("2", "rest")]
        np.testing.assert_allclose(found.margins, 1 / (model.coef_**2).sum(axis=1))


def test_a_boundary_that_is_nowhere_has_an_infinite_margin():
    clf = DualBESVMClassifier(Linear()).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert margins(clf).margins.tolist() == [np.inf]
    assert margins(clf, np.zeros((4, 2))).views[0].shares.tolist() == [0, 0, 0, 0]


def test_a_margin_asked_of_a_model_that_has_none(toy, problem_data):
    X, y = toy
    with pytest.raises(TypeError, match=r"^a margin needs .* a DecisionTreeClassifier has none$"):
        margins(DecisionTreeClassifier().fit(X, y))
    for model in (DualBESVMClassifier(), BESVMClassifier(), LinearSVMClassifier()):
        with pytest.raises(NotFittedError):
            margins(model)
    with pytest.raises(ValueError, match="needs a model with penalty='l2', got a LinearSVC with 'l1'"):
        margins(LinearSVC(penalty="l1", dual=False).fit(X, y))
    with pytest.raises(ValueError, match="needs dual variables, and a LinearSVMClassifier has none"):
        margins(LinearSVMClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match=r"call margins\(model, X\)"):
        margins(DualBESVMClassifier().fit(X, y)).plot()
    three = DualBESVMClassifier(RBF(gamma=0.01), basis=20, random_state=0).fit(*problem_data)
    with pytest.raises(ValueError, match=r"needs the labels; call margins\(model, X, y\)"):
        margins(three, problem_data[0])


def test_eigenvalue_view_wants_the_training_rows(toy):
    X, y = toy
    clf = DualBESVMClassifier(RBF(gamma=10.0)).fit(X, y)
    with pytest.raises(ValueError, match="must be the rows the model was trained on, more than 1"):
        margins(clf, X[:50])
    with pytest.raises(ValueError, match=r"must be what the model was trained on: they give ‖w‖² = "):
        margins(clf, X[::-1])
    with pytest.raises(ValueError, match="got 120 rows and 3 labels"):
        margins(clf, X, y[:3])
