"""Every parameter of every part, set to nasty values."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.basis import FarthestBasis, GradientBasis, IndexBasis, KMeansBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.normalize import MeanNorm, Unscaled
from besvm.selection import GreedySelection
from besvm.similarities import (
    RBF,
    Deformable,
    Laplacian,
    Latent,
    NegativeDistance,
    PairwiseKernel,
    Polynomial,
    Rigid,
    Sigmoid,
)

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2


class Odd:
    def __repr__(self):
        return "odd"


NASTY = {
    "None": None, "True": True, "text": "no", "digit": "2", "bytes": b"x", "0": 0, "-1": -1, "1.5": 1.5, "nan": np.nan,
    "inf": np.inf, "huge": 10**400, "1j": 1j, "[]": [], "{}": {}, "set": set(), "object": Odd(),
    "array": np.array([1.0, 2.0]), "0-d": np.array(3), "type": int, "texts": ["a"], "dict": {"a": "b"},
}  # fmt: skip
NOT_OURS = {("exemplar_variants", "type"), ("sample_variants", "type"), ("params", "dict")}  # a function's own words
GRIDS = (Rigid(), Deformable())
TWICE = {"exemplar_variants": lambda v: [v, -v]}
PARTS = [  # (what is tried, the classifier it is part of)
    (BESVMClassifier(basis=5), lambda one: one),
    (LinearSVMClassifier(), lambda one: one),
    (BasisExpansion(basis=5), lambda one: one),
    (KernelSVMClassifier(), lambda one: one),
    (DualBESVMClassifier(), lambda one: one),
    (LineSearchMKL(cv=2, alphas=(0, 0.5)), lambda one: one),
    (GreedySelection(["linear", "rbf"], n_measures=1, basis=5, random_state=0), lambda one: one),
    *((part, lambda one: BasisExpansion(basis=5, normalize=one)) for part in (Nystrom(), MeanNorm(), Unscaled())),
    *(
        (Selector(5), lambda one: BESVMClassifier(basis=one))
        for Selector in (
            *(RandomBasis, IndexBasis, KMeansBasis, KMedoidsBasis),
            *(PivotedBasis, FarthestBasis, GradientBasis),
        )
    ),
    *(
        (part, lambda one: BESVMClassifier(one, basis=5))
        for part in (RBF(), Laplacian(), Polynomial(), Sigmoid(), NegativeDistance(), PairwiseKernel("rbf"), Measure(),
                     Latent("rbf", **TWICE))
    ),
    *((grid, lambda one: BasisExpansion(Measure(one, features=AsGrids()), basis=5)) for grid in GRIDS),
]  # fmt: skip


class AsGrids(FunctionTransformer):
    """A vector of three numbers as a grid of three cells."""

    def __init__(self):
        super().__init__(lambda A: np.asarray(A, dtype=np.float32).reshape(-1, 1, 3, 1))


REFUSED = dict.fromkeys(
    ("fit_intercept", "penalize_intercept", "probability", "warm_start", "refit", "balanced", "warn", "cosine",
     "verbose", "tol", "C", "n_jobs", "max_iter", "gamma", "degree", "coef0", "rigid_penalty", "local_penalty",
     "max_rows"),
    ("text", "digit", "bytes", "nan", "inf", "huge", "1j", "[]", "{}", "set", "object", "array", "dict", "type"),
) | {"measures": set(NASTY), "basis": {"True", "0", "-1", "1.5", "set", "{}", "type", "object", "bytes"}}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("part", "whole"), PARTS, ids=lambda one: type(one).__name__)
def test_every_parameter_fits_or_is_refused_in_one_sentence_that_names_it(part, whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # GreedySelection takes a text for a folder
    for name, (label, value) in product(part.get_params(deep=False), NASTY.items()):
        if (name, label) in NOT_OURS:
            continue
        try:
            whole(clone(part).set_params(**{name: value})).fit(X, y)
        except (ValueError, TypeError) as error:
            text = str(error)
            assert name in text, (name, label, text)
            assert "\n" not in text, (name, label, text)
            assert len(text) < 400, (name, label, text)
        except MemoryError:
            assert name == "memory_limit"
        else:
            assert label not in REFUSED.get(name, ()), (name, label)
