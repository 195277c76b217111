"""scikit-learn's own checks: every public estimator, and the settings that take a way of their own through the code."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.selection import GreedySelection
from besvm.similarities import RBF, Linear

WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
ORDER = "the features come in the order of the rows, which these checks shuffle"


class WithoutTransform(BESVMClassifier, auto_wrap_output_keys=None):
    """For the checks that compare all outputs, but shuffle the rows."""

    @property
    def transform(self):
        raise AttributeError("transform")


@pytest.mark.parametrize(
    "params", [{}, {"measures": ["linear", "cosine"], "normalize": "z-score", "multi_class": "ovo"}]
)
@pytest.mark.parametrize("check", WEIGHT_CHECKS)
def test_weights_are_repetitions(params, check):
    getattr(estimator_checks, check)("WithoutTransform", WithoutTransform(**params))


@pytest.mark.filterwarnings(
    "ignore:C is so small that the L1 penalty makes all weights zero"
)  # class weights near zero
@parametrize_with_checks(
    [
        LinearSVMClassifier(),
        LinearSVMClassifier(penalty="l1", C=10.0),
        BESVMClassifier(),
        BasisExpansion("linear", normalize=Nystrom()),
        MeanNormScaler(),
        Nystrom(),
    ],
    expected_failed_checks=lambda one: dict.fromkeys(WEIGHT_CHECKS, ORDER) if type(one) is BESVMClassifier else {},
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        BESVMClassifier(["linear", "cosine"], normalize="z-score", multi_class="ovo", storage="disk"),
        BESVMClassifier("precomputed"),
        GreedySelection(["linear", "rbf"], n_measures=1),
        KernelSVMClassifier(RBF(gamma=0.1), tol=1e-9),
        DualBESVMClassifier(RBF(gamma=0.1), basis="auto", tol=1e-10),
        LineSearchMKL([RBF(gamma=0.1), Linear()], alphas=(0, 0.5), cv=2, random_state=0),
    ],
    expected_failed_checks=lambda one: dict.fromkeys(WEIGHT_CHECKS, ORDER) if type(one) is BESVMClassifier else {},
)
def test_scikit_learn_on_the_others(estimator, check):
    check(estimator)
