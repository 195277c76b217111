"""Columns of unlike scales: warned of once, where a similarity minds."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import BasisExpansion, BESVMClassifier, Measure
from besvm.baselines import KernelSVMClassifier
from besvm.expand.features import SharedFeatures
from besvm.similarities import RBF

X, y = load_wine(return_X_y=True)
WARNING = r"the columns of X have very different scales .* median 0\.8.*StandardScaler"


@pytest.mark.parametrize("make", [BESVMClassifier, BasisExpansion, KernelSVMClassifier])
@pytest.mark.parametrize("measures", ["rbf", ["linear", "manhattan"]])
def test_unscaled_columns_are_warned_of_once(make, measures):
    with pytest.warns(UserWarning, match=WARNING) as seen:
        make(measures).fit(X, y)
    assert len(seen) == 1


def test_the_advice_helps():
    with warnings.catch_warnings(action="ignore"):
        as_it_is = cross_val_score(BESVMClassifier(random_state=0), X, y, cv=3).mean()
    scaled = cross_val_score(make_pipeline(StandardScaler(), BESVMClassifier(random_state=0)), X, y, cv=3).mean()
    assert scaled > as_it_is + 0.2


def test_where_there_is_nothing_to_warn_of_nothing_is_said():
    for data, labels in (load_iris(return_X_y=True), load_digits(return_X_y=True)):
        BESVMClassifier(probability=False).fit(data[:150], labels[:150])
    constant = np.c_[np.full((178, 9), 0.1), StandardScaler().fit_transform(X)]
    for measure in ("canberra", "chi2", "precomputed", Measure("rbf", features=StandardScaler()), lambda a, b: a @ b):
        BasisExpansion(measure, basis="auto" if measure == "precomputed" else 5).fit(X)
    BasisExpansion("rbf", basis=5).fit(constant)


def test_wide_columns_are_looked_at_a_few_at_a_time(rng):
    """The deviations of 5,000 rows were taken at once, on a copy in float64 that no memory plan counted."""
    wide = rng.normal(size=(1000, 2000)).astype(np.float32)
    tracemalloc.start()
    SharedFeatures(wide, None).warn_of_uneven_columns(RBF())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * wide.nbytes
