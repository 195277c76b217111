"""scikit-learn's own checks: every public estimator, and the settings that take a way of their own through the code."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.selection import GreedySelection
from besvm.similarities import RBF, Linear


@pytest.mark.filterwarnings("ignore:at this C the L1 penalty leaves all weights zero")  # class weights near zero
@parametrize_with_checks(
    [
        LinearSVMClassifier(),
        LinearSVMClassifier(penalty="l1", C=10.0),
        BESVMClassifier(),
        BESVMClassifier(["linear", "cosine"], normalize="z-score", multi_class="ovo", storage="disk"),
        BESVMClassifier("precomputed"),
        BasisExpansion("linear", normalize=Nystrom()),
        MeanNormScaler(),
        Nystrom(),
        GreedySelection(["linear", "rbf"], n_measures=1),
        KernelSVMClassifier(RBF(gamma=0.1), tol=1e-9),
        DualBESVMClassifier(RBF(gamma=0.1), basis="auto", tol=1e-10),
        LineSearchMKL([RBF(gamma=0.1), Linear()], alphas=(0, 0.5), cv=2, random_state=0),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
