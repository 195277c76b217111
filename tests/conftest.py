import os

if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores: threads of BLAS would wait for one another
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits, make_classification

from besvm.datasets import make_toy

mpl.use("agg")

# The time of an example says nothing where two workers share the machine and code is compiled on its first call. A run
# that decides what lands draws the same examples each time, as newer versions of hypothesis do by themselves.
settings.register_profile("besvm", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("besvm")


def pytest_collection_modifyitems(items):
    """Begin with the reproduction, which takes longest: no worker is to be left with it at the end."""
    items.sort(key=lambda item: "reproduction" not in item.path.parts)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def build():
    """What writes the pages of the documentation."""
    return runpy.run_path(str(Path(__file__).parent.parent / "docs" / "build.py"))


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


@pytest.fixture(scope="session")
def problem_data():
    """Three classes, 400 rows, 30 features far from the origin."""
    X, y = make_classification(400, 30, n_informative=8, n_classes=3, class_sep=0.6, flip_y=0.1, random_state=0)
    return X + 3.0, y


@pytest.fixture(scope="session")
def toy():
    """Two spirals, 120 points."""
    return make_toy(120, noise=0.05, random_state=0)


@pytest.fixture
def axes():
    """Somewhere to draw."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)
