"""The three margins of the paper, and their eigenvalue view, against dense float64 algebra."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from besvm import BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm.analysis import margins
from besvm.baselines import DualBESVMClassifier, JitteredClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.normalize import Unscaled
from besvm.normalize.spectrum import SPECTRA, inverse_root, made_psd
from besvm.selection import GreedySelection
from besvm.similarities import RBF, Linear, Sigmoid

INDEFINITE = Sigmoid(gamma=3.0, coef0=-1.0)


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
    model = KernelSVMClassifier(RBF(gamma=10.0), C=1e6, tol=1e-8).fit(X, y)
    found = margins(model, X)
    alphas = signed_of(model, len(X))
    assert ((alphas >= 0) | (y == 0)).all()
    assert ((alphas <= 0) | (y == 1)).all()
    assert (found.formula, found.pairs) == ("M_K", [("0", "1")])
    np.testing.assert_allclose(found.margins, [1 / (alphas @ K @ alphas)], rtol=1e-6)
    svc = SVC(kernel="precomputed", C=1e6, tol=1e-8).fit(K, y)
    distance = np.abs(svc.decision_function(K)).min() / np.sqrt(found.squared_norms[0])
    assert distance**2 == pytest.approx(found.margins[0], rel=1e-4)


def test_margin_in_nystrom_features_is_its_formula(toy):
    """M_N = (αᵀY K_XB K_BB⁻¹ K_BX Yα)⁻¹: a dual BE-SVM on the features of eq. nystrom_feature_map."""
    X, y = toy
    K_XB, K_BB = rbf_kernel(X, X[::6], gamma=10.0), rbf_kernel(X[::6], gamma=10.0)
    clf = DualBESVMClassifier(RBF(gamma=10.0), basis=np.arange(0, 120, 6), normalize=Nystrom()).fit(X, y)
    alphas = signed_of(clf, len(X))
    expected = 1 / (alphas @ K_XB @ np.linalg.inv(K_BB) @ K_XB.T @ alphas)
    np.testing.assert_allclose(margins(clf, X).margins, [expected], rtol=1e-6)
    assert margins(clf).formula == "M_N"
    by_hand = DualBESVMClassifier("precomputed", basis="auto").fit(K_XB @ inverse_root(K_BB, "clip")[0], y)
    np.testing.assert_allclose(margins(by_hand).margins, [expected], rtol=1e-3)


@pytest.mark.parametrize(
    ("normalize", "formula"),
    [
        (None, "M_BE"),
        ("mean-norm", "dual"),
        ("z-score", "dual"),
        (Nystrom("covariance"), "dual"),
        *((Nystrom(spectrum), "M_N") for spectrum in SPECTRA),
    ],
)
def test_name_of_the_formula_is_that_of_the_fit(toy, normalize, formula):
    X, y = toy
    clf = DualBESVMClassifier(RBF(gamma=10.0), basis=20, normalize=normalize, random_state=0).fit(X, y)
    assert margins(clf, X).formula == formula
    if isinstance(normalize, Nystrom):
        clf.set_params(normalize__spectrum="covariance" if formula == "M_N" else "clip")
        assert margins(clf).formula == formula
    clf.set_params(normalize=None if normalize else Nystrom())
    assert margins(clf).formula == formula


def test_weighted_exemplars_have_a_margin_that_the_paper_does_not_name(toy):
    X, y = toy
    clf = DualBESVMClassifier(RBF(gamma=10.0), basis=20, normalize=Unscaled(balanced=True), random_state=0).fit(X, y)
    assert margins(clf, X).formula == "dual"


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
    (plain,) = margins(KernelSVMClassifier(RBF(gamma=10.0), C=10.0).fit(X, y), X).views
    (squared,) = margins(DualBESVMClassifier(RBF(gamma=10.0), C=10.0).fit(X, y), X).views
    np.testing.assert_allclose(squared.eigenvalues, plain.eigenvalues**2, rtol=1e-6, atol=1e-9)
    large = plain.eigenvalues > 1
    assert 0 < large.sum() < len(X)
    assert (squared.eigenvalues[large] > plain.eigenvalues[large]).all()
    small = (plain.eigenvalues < 1) & (plain.eigenvalues > 1e-6)
    assert (squared.eigenvalues[small] < plain.eigenvalues[small]).all()
    assert squared.shares[large].sum() > plain.shares[large].sum()


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_contributions_of_a_kernel_svm_with_a_fixed_spectrum(toy, spectrum):
    X, y = toy
    fixed, _ = made_psd(np.tanh(3 * X @ X.T - 1), spectrum)
    model = KernelSVMClassifier(INDEFINITE, spectrum=spectrum).fit(X, y)
    found = margins(model, X, y)
    alphas = signed_of(model, len(X))
    assert found.views[0].contributions.sum() == pytest.approx(alphas @ fixed @ alphas, rel=1e-6)
    values = np.linalg.eigvalsh(fixed)
    np.testing.assert_allclose(found.views[0].eigenvalues, values[::-1], atol=1e-8 * values[-1])
    model.set_params(spectrum=None)
    np.testing.assert_array_equal(margins(model, X).views[0].eigenvalues, found.views[0].eigenvalues)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_rows_without_weight_have_no_part_in_the_view(toy, spectrum):
    X, y = toy
    weights = np.ones(len(X))
    weights[::5] = 0
    model = KernelSVMClassifier(INDEFINITE, spectrum=spectrum, tol=1e-6).fit(X, y, weights)
    (view,) = margins(model, X, y).views
    alone = KernelSVMClassifier(INDEFINITE, spectrum=spectrum, tol=1e-6).fit(X[weights > 0], y[weights > 0])
    (expected,) = margins(alone, X[weights > 0]).views
    np.testing.assert_allclose(view.eigenvalues, expected.eigenvalues, rtol=1e-6, atol=1e-9)
    assert view.contributions.sum() == pytest.approx(expected.contributions.sum(), rel=1e-3)


def test_dual_besvm_with_rows_without_weight(problem_data):
    X, y = problem_data
    weights = np.ones(len(X))
    weights[::5] = 0
    clf = DualBESVMClassifier(RBF(gamma=0.01), basis=30, random_state=0).fit(X, y, weights)
    sizes = [len(view.eigenvalues) for view in margins(clf, X).views]
    assert sizes == [int(weights[y != left_out].sum()) for left_out in (2, 1, 0)]


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


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("multi_class", ["ovo", "ovo-pair-basis"])
def test_margins_of_a_one_vs_one_besvm(digits, n_classes, multi_class):
    X, y = digits[0][digits[1] < n_classes], digits[1][digits[1] < n_classes]
    clf = BESVMClassifier(basis=20, multi_class=multi_class, probability=False, random_state=0).fit(X, y)
    found = margins(clf)
    assert found.pairs == [(str(a), str(b)) for a in range(n_classes) for b in range(a + 1, n_classes)]
    np.testing.assert_allclose(found.margins, 1 / (clf.coef_**2).sum(axis=1))
    first_two = (y == 0) | (y == 1)
    assert ((clf._margins(X[first_two])[:, 0] > 0) == y[first_two]).mean() > 0.95
    clf.set_params(multi_class="ovr")
    assert margins(clf).pairs == found.pairs
    assert margins(clf.fit(X, y)).pairs == [(str(c), "rest") for c in range(n_classes)]
    assert margins(clf.set_params(multi_class=multi_class).fit(X[first_two], y[first_two])).pairs == [("0", "1")]


def test_what_was_not_trained_has_no_margin(problem_data):
    X, y = problem_data
    names, weights = np.array(["ash", "birch", "cedar"])[y], (y != 1).astype(float)
    similarity = RBF(gamma=0.01)
    for clf in (
        KernelSVMClassifier(similarity),
        DualBESVMClassifier(similarity, basis=20, random_state=0),
        BESVMClassifier(similarity, basis=20, multi_class="ovo", random_state=0),
    ):
        found = margins(clf.fit(X, names, weights))
        assert found.pairs == [("ash", "cedar")]
        assert found.margins.shape == (1,)
        assert np.isfinite(found.margins).all()
    (view,) = margins(KernelSVMClassifier(similarity).fit(X, names, weights), X, names).views
    assert len(view.eigenvalues) == weights.sum()
    one_vs_rest = BESVMClassifier(similarity, basis=20, random_state=0).fit(X, names, weights)
    assert margins(one_vs_rest).pairs == [("ash", "rest"), ("cedar", "rest")]


def test_a_search_and_a_wrapper_have_the_margin_of_the_model_inside(toy, rng):
    X, y = toy
    mkl = LineSearchMKL([RBF(gamma=10.0), "linear"], alphas=[0.5], cv=2, random_state=0).fit(X, y)
    assert margins(mkl, X).formula == "M_K"
    assert margins(mkl).margins.tolist() == margins(mkl.model_).margins.tolist()
    greedy = GreedySelection(["rbf", "linear"], n_measures=1, basis=20, random_state=0).fit(X, y)
    assert margins(greedy).margins.tolist() == margins(greedy.best_estimator_).margins.tolist()
    grids = rng.normal(size=(20, 3, 3, 2))
    jittered = JitteredClassifier(LinearSVMClassifier()).fit(grids, np.arange(20) % 2)
    assert margins(jittered).margins.tolist() == margins(jittered.estimator_).margins.tolist()


def test_a_boundary_that_is_nowhere_has_an_infinite_margin():
    clf = DualBESVMClassifier(Linear()).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert margins(clf).margins.tolist() == [np.inf]
    assert margins(clf, np.zeros((4, 2))).views[0].shares.tolist() == [0, 0, 0, 0]


def test_a_margin_asked_of_a_model_that_has_none(toy):
    X, y = toy
    with pytest.raises(TypeError, match=r"^margins needs .* got a DecisionTreeClassifier$"):
        margins(DecisionTreeClassifier().fit(X, y))
    for model in (DualBESVMClassifier(), BESVMClassifier(), LinearSVMClassifier()):
        with pytest.raises(NotFittedError):
            margins(model)
    for model in (JitteredClassifier(LinearSVMClassifier()), LineSearchMKL()):
        with pytest.raises(NotFittedError):
            margins(model)
    with pytest.raises(TypeError, match=r"pass its last step, pipeline\[-1\]"):
        margins(make_pipeline(StandardScaler(), LinearSVMClassifier()).fit(X, y))
    sparse = BESVMClassifier(basis=20, penalty="l1", C=1.0, random_state=0).fit(X, y).set_params(penalty="l2")
    with pytest.raises(ValueError, match="needs a model with penalty='l2', got a BESVMClassifier with 'l1'"):
        margins(sparse)
    with pytest.raises(ValueError, match="got 'crammer_singer', which has one problem for all classes"):
        margins(LinearSVC(multi_class="crammer_singer", C=1e-3).fit(StandardScaler().fit_transform(X), y))
    with pytest.raises(ValueError, match="needs a model with penalty='l2', got a LinearSVC with 'l1'"):
        margins(LinearSVC(penalty="l1", dual=False).fit(X, y))
    with pytest.raises(ValueError, match="needs dual variables, but a LinearSVMClassifier has none"):
        margins(LinearSVMClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match=r"call margins\(model, X\)"):
        margins(DualBESVMClassifier().fit(X, y)).plot()


def test_an_indefinite_matrix_may_leave_no_margin(toy):
    X, y = toy
    K = -rbf_kernel(X, gamma=10.0)
    model = KernelSVMClassifier("precomputed", spectrum="ignore").fit(K, y)
    assert model.squared_norms_[0] < 0
    with pytest.raises(
        ValueError, match=r"^a margin needs a definite matrix, but αᵀYKYα = -.* for 0 - 1, because the simil"
    ):
        margins(model)
    assert 0 < margins(model.set_params(spectrum="flip").fit(K, y), K).margins[0] < np.inf


def test_a_positive_norm_does_not_make_an_ignored_spectrum_definite(toy):
    """αᵀYKYα > 0 here although K has negative eigenvalues: 1/‖w‖² would be the margin in no space."""
    X, y = toy
    model = KernelSVMClassifier(INDEFINITE, spectrum="ignore", C=0.01).fit(X, y)
    assert model.squared_norms_[0] > 0
    with pytest.raises(
        ValueError, match=r"with spectrum='ignore' it is unknown whether that of 'sigmoid' is; pass X, train"
    ):
        margins(model)
    with pytest.raises(
        ValueError, match=r"definite matrix, but that of 0 - 1 has the eigenvalue -\d.*; train with spectr"
    ):
        margins(model, X)
    model.set_params(spectrum="clip")  # which says nothing of what it was trained with
    with pytest.raises(ValueError, match="it is unknown whether"):
        margins(model)


def test_an_ignored_spectrum_that_is_definite_has_a_margin(toy):
    """Whether the similarity says so itself, or the rows of X do."""
    X, y = toy
    checked = margins(KernelSVMClassifier(RBF(gamma=10.0)).fit(X, y), X)
    trusted = KernelSVMClassifier(RBF(gamma=10.0), spectrum="ignore").fit(X, y)
    assert margins(trusted).margins.tolist() == checked.margins.tolist()
    K = rbf_kernel(X, gamma=10.0)
    found = margins(KernelSVMClassifier("precomputed", spectrum="ignore").fit(K, y), K)
    assert found.formula == "M_K"
    np.testing.assert_allclose(found.margins, checked.margins, rtol=1e-3)


def test_rounding_errors_make_no_negative_norm():
    """αᵀYKYα = -40 · 1e-9 of this matrix, which is that of 40 equal rows but for its rounding."""
    K = np.ones((40, 40)) - 1e-9 * np.eye(40)
    model = KernelSVMClassifier("precomputed").fit(K, np.arange(40) % 2)
    assert model.squared_norms_.tolist() == [0]
    assert margins(model, K).margins.tolist() == [np.inf]


@pytest.mark.parametrize("gamma", [1e-9, 1e-17])
def test_similarities_that_hardly_differ_are_still_the_same_rows(problem_data, gamma):
    """‖w‖² is then smaller than the rounding errors of the matrix."""
    X, y = problem_data
    X, y = X[y < 2], y[y < 2]
    for model in (KernelSVMClassifier(RBF(gamma=gamma)), DualBESVMClassifier(RBF(gamma=gamma))):
        found = margins(model.fit(X, y), X, y)
        assert found.margins[0] > 0
        assert len(found.views[0].eigenvalues) == len(X)


def test_eigenvalue_view_wants_the_training_rows(toy):
    X, y = toy
    for clf in (DualBESVMClassifier(RBF(gamma=10.0)), KernelSVMClassifier(INDEFINITE, spectrum="flip")):
        clf.fit(X, y)
        with pytest.raises(ValueError, match="must be the 120 rows that the model was trained on, got 50"):
            margins(clf, X[:50])
        with pytest.raises(ValueError, match=r"must be the rows that the model was trained on, but they give ‖w‖² = "):
            margins(clf, X[::-1])
        with pytest.raises(ValueError, match="got 120 rows and 3 labels"):
            margins(clf, X, y[:3])
        with pytest.raises(
            ValueError, match=r"y must be the classes that the model was trained on, but row 0 was \d, got \d"
        ):
            margins(clf, X, 1 - y)


def test_matrices_are_taken_pair_by_pair_within_the_memory_limit(digits):
    X, y = digits[0][:300], digits[1][:300] % 6
    similarity = RBF(gamma=0.001)
    for clf in (KernelSVMClassifier(similarity), DualBESVMClassifier(similarity, basis=20, random_state=0)):
        clf.fit(X, y)
        free = margins(clf, X)
        assert max(len(view.eigenvalues) for view in free.views) < 150
        clf.set_params(memory_limit="1.2 MB")  # 40 bytes for each of 300 x 300 entries would be 3.6 MB
        for limited, view in zip(margins(clf, X).views, free.views, strict=True):
            np.testing.assert_array_equal(limited.contributions, view.contributions)
        clf.set_params(memory_limit="300 kB")
        with pytest.raises(
            MemoryError, match=r"view of \d+ rows, .* would need \d+ kB, but the memory limit is 300 kB"
        ):
            margins(clf, X)
        with pytest.raises(MemoryError, match=r"the 300 x 300 matrix would need .*, but the memory limit is 300 kB"):
            clf.gram(X)
