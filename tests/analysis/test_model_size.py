"""Exemplars and parameters as the paper counts them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from besvm import BESVMClassifier, LinearSVMClassifier, Measure, Nystrom
from besvm.analysis import model_size
from besvm.baselines import DualBESVMClassifier, JitteredClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.basis import Exemplars
from besvm.similarities import Rigid


def test_linear_and_kernel_svm_are_counted_as_in_the_paper(problem_data):
    X, y = problem_data
    for model in (LinearSVMClassifier(), LinearSVC(max_iter=100_000)):
        size = model_size(model.fit(X / 10, y))
        assert (size.exemplars, size.parameters, size.weights) == (0, 30, 3 * 31)
    svc = SVC().fit(X, y)
    n_sv = len(svc.support_)
    size = model_size(svc)
    assert (size.exemplars, size.parameters) == (n_sv, n_sv * (30 + 1))
    precomputed = model_size(SVC(kernel="precomputed").fit(X @ X.T, y))
    assert (precomputed.dimension, precomputed.parameters) == (None, None)


@pytest.mark.parametrize("linear", [LinearSVMClassifier(), LinearSVC(max_iter=100_000)])
def test_nystroem_features_are_counted_like_those_of_besvm(problem_data, linear):
    X, y = problem_data
    pipeline = make_pipeline(Nystroem(n_components=20, random_state=0), linear)
    with pytest.raises(NotFittedError):
        model_size(pipeline)
    size = model_size(pipeline.fit(X / 10, y))
    assert (size.exemplars, size.parameters, size.weights) == (20, 20 * (30 + 1), 3 * 21)
    ours = BESVMClassifier("rbf", basis=20, normalize=Nystrom(), probability=False, random_state=0).fit(X / 10, y)
    assert size == model_size(ours)


def test_measures_of_a_kernel_svm_share_one_coefficient(problem_data):
    X, y = problem_data
    for weights, n_numbers in ((None, 30), ((1, 0), 30)):
        model = KernelSVMClassifier(["rbf", "linear"], weights=weights).fit(X / 10, y)
        n_sv = len(model.support_)
        size = model_size(model)
        assert (size.exemplars, size.dimension, size.coefficients) == (n_sv, n_numbers, n_sv)
        assert size.parameters == n_sv * (n_numbers + 1)
        assert size.weights == 3 * n_sv + 3
    scaled = ["rbf", Measure("linear", features=StandardScaler())]
    two = model_size(KernelSVMClassifier(scaled).fit(X / 10, y))
    assert two.parameters == two.exemplars * (30 + 30 + 1)


def test_a_search_and_a_wrapper_are_as_large_as_the_model_inside(toy, rng):
    mkl = LineSearchMKL(["rbf", "linear"], alphas=[0.5], cv=2, random_state=0).fit(*toy)
    assert model_size(mkl) == model_size(mkl.model_)
    jittered = JitteredClassifier(KernelSVMClassifier()).fit(rng.normal(size=(20, 3, 3, 2)), np.arange(20) % 2)
    assert model_size(jittered).dimension == 18
    assert model_size(jittered) == model_size(jittered.estimator_)
    grid = GridSearchCV(BESVMClassifier(basis=10, C=1.0, probability=False), {"C": [1.0, 2.0]}, cv=2).fit(*toy)
    assert model_size(grid) == model_size(grid.best_estimator_)
    steps = make_pipeline(Nystroem(n_components=10, random_state=0), LinearSVC())
    assert model_size(GridSearchCV(steps, {"linearsvc__C": [1.0]}, cv=2).fit(*toy)).exemplars == 10


def test_a_function_as_kernel(problem_data):
    X, y = problem_data
    svc = SVC(kernel=linear_kernel).fit(X / 10, y)
    assert model_size(svc).parameters == len(svc.support_) * (30 + 1)
    words = ["cat", "cart", "dog", "dig"]

    def shared_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)

    size = model_size(SVC(kernel=shared_letters).fit(words, [0, 0, 1, 1]))
    assert (size.dimension, size.parameters) == (None, None)


def test_besvm_counts_a_shared_representation_once(rng):
    """The paper's M2 on the HOG cells of 32 x 32 images: 496 + 1984 numbers an exemplar, and 4 coefficients."""
    images = rng.integers(0, 256, (30, 32, 32, 3), dtype=np.uint8)
    clf = BESVMClassifier(["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"], basis=10, probability=False, random_state=0)
    size = model_size(clf.fit(images, np.arange(30) % 3))
    assert (size.exemplars, size.dimension, size.coefficients) == (10, 496 + 1984, 40)
    assert size.parameters == 10 * (496 + 1984 + 4)
    assert size.weights == 3 * 41


def test_measures_with_bases_of_their_own(toy):
    X, y = toy
    own = [Measure("rbf", basis=[0, 1, 2]), Measure("linear", basis=[2, 3]), Measure(Rigid(0), features=AsGrid())]
    size = model_size(BESVMClassifier(own, basis=[7, 8, 9, 10]).fit(X, y))
    assert (size.exemplars, size.coefficients) == (8, 3 + 2 + 4)
    assert size.parameters == 4 * 2 + 4 * 2 + 9  # four different vectors, four grids, nine similarities
    given = model_size(BESVMClassifier(["rbf", "linear"], basis=Exemplars(X[:5])).fit(X, y))
    assert (given.exemplars, given.parameters) == (5, 5 * 2 + 10)


class AsGrid(StandardScaler):
    """Vectors as grids of one cell."""

    def transform(self, X, copy=None):
        return super().transform(X, copy).reshape(len(X), 1, 1, -1)


def test_dual_besvm_sparse_rows_and_exemplars_that_are_not_numbers(toy):
    X, y = toy
    dual = DualBESVMClassifier("linear", basis=[1, 2, 3])
    assert model_size(dual.fit(X, y)).parameters == 3 * (2 + 1)
    assert model_size(dual.fit(csr_matrix(X), y)).parameters == 3 * (2 + 1)
    words = ["cat", "cart", "carts", "dog", "dogs", "dig"]
    shared = BESVMClassifier(lambda a, b: len(set(a) & set(b)), basis=4, random_state=0).fit(words, [0, 0, 0, 1, 1, 1])
    size = model_size(shared)
    assert (size.exemplars, size.dimension, size.coefficients, size.parameters) == (4, None, 4, None)
    assert str(size) == "4 exemplars that are not numbers, and 4 coefficients"
    unequal = [np.ones(n) for n in (1, 2, 3, 4)]
    lengths = BESVMClassifier(lambda a, b: -abs(len(a) - len(b)), probability=False).fit(unequal, [0, 0, 1, 1])
    assert model_size(lengths).parameters is None
    scalars = BESVMClassifier(lambda a, b: -abs(a - b), probability=False).fit([1.0, 2.0, 8.0, 9.0], [0, 0, 1, 1])
    assert model_size(scalars).parameters == 4 * (1 + 1)
    K = rbf_kernel(X)
    assert model_size(BESVMClassifier("precomputed", basis=[1, 2]).fit(K, y)).parameters is None


def test_size_of_what_cannot_be_counted(toy):
    with pytest.raises(TypeError, match=r"model_size needs a BESVMClassifier, .* got a DecisionTreeClassifier"):
        model_size(DecisionTreeClassifier().fit(*toy))
    with pytest.raises(TypeError, match=r"pass its last step, pipeline\[-1\]"):
        model_size(make_pipeline(StandardScaler(), SVC()).fit(*toy))
    for model in (BESVMClassifier(), KernelSVMClassifier(), JitteredClassifier(SVC()), SVC(), LinearSVC()):
        with pytest.raises(NotFittedError):
            model_size(model)
