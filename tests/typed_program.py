"""A program that uses the main public names as a typed program would; a test runs ``mypy --strict`` on it.

``assert_type`` notices a public annotation that turned vaguer; the declared types notice one that turned wrong.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import besvm
from besvm import (
    FHOG,
    BasisExpansion,
    BESVMClassifier,
    LinearSVMClassifier,
    MeanNormScaler,
    Measure,
    Nystrom,
    explain,
    load,
    prune,
    recipes,
    save,
)
from besvm.analysis import spectrum
from besvm.basis import IndexBasis, KMedoidsBasis, RandomBasis
from besvm.datasets import make_toy
from besvm.explanations import Explanation
from besvm.features import mirror
from besvm.files import describe
from besvm.measures import mirrored
from besvm.normalize import MeanNorm
from besvm.selection import GreedySelection
from besvm.similarities import RBF, BlockFunction, FromDistance, Latent, Match, Similarity, register, registered
from besvm.sources import ArraySource, BlockSource, RowSource
from besvm.testing import check_similarity

Floats = NDArray[np.float64]


@register("best-shift")
class BestShift(Similarity):
    """The best dot product over circular shifts, with a parameter and an override of every optional method."""

    symmetric = True

    def __init__(self, shifts: int = 2) -> None:
        self.shifts = shifts

    def fit(self, X: Any) -> "BestShift":
        return self

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return np.asarray(np.max([A @ np.roll(B, s, axis=1).T for s in range(self.shifts)], axis=0))

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        return lambda A: self(A, basis)

    def show(self, x: Any, b: Any) -> Match:
        return Match(caption="the best of a few shifts")


@register
class Equal(Similarity):
    """Registered by its own name."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return np.asarray(np.equal.outer(A, B), float)


def shared_letters(exemplar: str, sample: str) -> float:
    """A similarity that is a plain function."""
    return float(len(set(exemplar) & set(sample)))


def train(X: Floats, y: NDArray[np.int64], folder: Path) -> float:
    """Train, save, load, explain and prune."""
    measures: list[Measure] = [
        Measure("rbf"),
        Measure(BestShift(shifts=3), basis=IndexBasis(per_class=5), name="shift"),
    ]
    clf = BESVMClassifier(measures, basis=20, C=1.0, memory_limit="1 GB", random_state=0).fit(X, y)
    assert_type(clf, BESVMClassifier)
    for array in (clf.predict(X), clf.decision_function(X), clf.predict_proba(X), clf.transform(X), clf.coef_):
        assert_type(array, np.ndarray)
    score: float = clf.score(X, y)  # scikit-learn's, without types
    assert_type((clf.C_, clf.converged_, clf.n_basis_), tuple[float, bool, int])
    assert_type(clf.basis_rows_, list[np.ndarray | None])
    save(clf, folder / "model.besvm", facts={"score": score, "converged": clf.converged_, "C": clf.C_})
    assert_type(describe(folder / "model.besvm"), dict[str, Any])
    loaded: BESVMClassifier = load(folder / "model.besvm")
    why = explain(loaded, X[0], top=3)
    assert_type(why, Explanation)
    assert_type(why.contributions[0].measure, str)
    smaller = prune(loaded, 10, X, y)
    assert_type(smaller, BESVMClassifier)
    print(why.contributions[0].measure, smaller.n_basis_)
    return score


def transform(X: Floats, y: NDArray[np.int64]) -> np.ndarray:
    """Use the parts one by one."""
    expansion = BasisExpansion(RBF(gamma=1.0), basis=RandomBasis(30), normalize=Nystrom()).fit(X, y)
    assert_type(expansion, BasisExpansion)
    features = expansion.transform(X)
    assert_type(features, np.ndarray)
    assert_type(expansion.get_feature_names_out(), np.ndarray)
    assert_type(expansion.similarities_, list[Similarity])
    assert_type(LinearSVMClassifier(C="auto", penalty="l2").fit(features, y), LinearSVMClassifier)
    assert_type(MeanNormScaler().fit(X).transform(X), np.ndarray)
    assert_type(spectrum(RBF(gamma=1.0)(X, X)).negative_ratio, float)
    return features


def choose() -> list[BESVMClassifier | GreedySelection]:
    """Make models for other kinds of data; none is trained."""
    images: list[Measure] = recipes.images("small")
    series: list[Measure] = recipes.series("large")
    hogs: Measure = Measure(Latent("rbf", exemplar_variants=mirror), features=FHOG(cell=8))
    return [
        BESVMClassifier([*images, hogs, mirrored("H8R")], normalize=MeanNorm(balanced=True)),
        BESVMClassifier(series, basis=KMedoidsBasis(per_class=3), storage="disk", storage_dtype="float16"),
        BESVMClassifier(shared_letters, basis=0.5),
        BESVMClassifier([("a", FromDistance("manhattan")), ("b", BlockFunction(lambda A, B: A @ B.T))]),
        GreedySelection(["rbf", "linear"], n_measures=1),
    ]


def stream(X: Floats, y: NDArray[np.int64]) -> tuple[RowSource, BESVMClassifier]:
    """Train on rows that are read a block at a time."""

    def blocks() -> Iterator[Floats]:
        yield X[:50]
        yield X[50:]

    source: BlockSource = BlockSource(blocks, len(X))
    in_memory: RowSource = ArraySource(X)
    return in_memory, BESVMClassifier("linear", basis=10, C=1.0).fit(source, y)


def main(folder: Path) -> None:
    """Run all of it."""
    X, y = make_toy(100, random_state=0)
    check_similarity(BestShift(), X[:20])
    print(besvm.__version__, "equal" in registered(), train(X, y, folder), transform(X, y).shape, len(choose()))
    print(*(len(source) for source in stream(X, y)[:1]))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
