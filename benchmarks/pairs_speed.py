"""Sets, graphs, histograms and point clouds: pairs per second, next to other libraries that compare the same."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from besvm._support.threads import workers
from besvm.similarities import (
    ChiSquared,
    HistogramIntersection,
    Jaccard,
    ShortestPath,
    Sinkhorn,
    SlicedWasserstein,
    Tanimoto,
    WeisfeilerLehman,
)

Compare = Callable[[Any, Any], Any]  # samples, exemplars


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Time each similarity on all threads and on one, and the others on as many of the same pairs as they bear."""
    rng = np.random.default_rng(0)
    share = 20 if quick else 1
    rows: list[dict[str, Any]] = []
    for what in (_bits, _sets, _graphs, _histograms, _clouds):
        rows += what(rng, share)
    return rows


def _race(
    what: str, A: Any, B: Any, ours: Compare, others: dict[str, tuple[Compare, int]], repeats: int = 3
) -> list[dict[str, Any]]:
    """Return a row for each; the others compare so many of the samples A."""

    def alone(samples: Any, exemplars: Any) -> None:
        with workers(1):
            ours(samples, exemplars)

    rows = []
    for who, (compare, n) in {"besvm": (ours, len(A)), "besvm, one thread": (alone, len(A)), **others}.items():
        compare(A[:2], B[:2])  # compile, load
        seconds = np.inf
        for _ in range(repeats):
            start = perf_counter()
            compare(A[:n], B)
            seconds = min(seconds, perf_counter() - start)
        pairs = min(n, len(A)) * len(B)
        rows.append({"what": what, "who": who, "pairs": pairs, "seconds": seconds, "pairs_a_second": pairs / seconds})
        rows[-1]["besvm_over_it"] = rows[0]["pairs_a_second"] / rows[-1]["pairs_a_second"]
    return rows


def _bits(rng: np.random.Generator, share: int) -> list[dict[str, Any]]:
    """Compare fingerprints of 2,048 bits, of which one in twenty is 1; what is packed is packed beforehand."""
    from sklearn.metrics import pairwise_distances

    bits = rng.random((20_000 // share, 2048)) < 0.05
    packed, basis = np.packbits(bits, axis=1), slice(0, 1000 // share)
    others: dict[str, tuple[Compare, int]] = {
        "scikit-learn jaccard": (lambda A, B: pairwise_distances(bits[: len(A)], bits[basis], metric="jaccard"), 100),
        "float32 product": (_product_of(bits, basis), len(bits)),
    }
    if find_spec("rdkit"):
        from rdkit import DataStructs

        theirs = [DataStructs.CreateFromBitString("".join(map(str, row.astype(int)))) for row in bits[:2000]]
        exemplars = theirs[basis]
        others["RDKit BulkTanimoto"] = (
            lambda A, B: [DataStructs.BulkTanimotoSimilarity(one, exemplars) for one in theirs[: len(A)]],
            2000,
        )
    rows = _race("tanimoto, 2,048 bits", packed, packed[basis], Tanimoto(packed=True), others)
    return rows + _race("tanimoto, zeros and ones", bits, bits[basis], Tanimoto(), {})


def _product_of(bits: np.ndarray, basis: slice) -> Compare:
    rows = bits.astype(np.float32)
    sizes = rows.sum(axis=1)

    def compare(A: Any, B: Any) -> np.ndarray:
        shared = rows[: len(A)] @ rows[basis].T
        return shared / (sizes[: len(A), None] + sizes[basis] - shared)

    return compare


def _sets(rng: np.random.Generator, share: int) -> list[dict[str, Any]]:
    """Compare sets of about thirty of 10,000 words, common ones more often than rare ones."""
    draw = np.minimum(rng.zipf(1.3, (10_000 // share, 40)), 10_000)
    sets = [set(row.tolist()) for row in draw]

    def loop(A: Any, B: Any) -> list[list[float]]:
        return [[len(a & b) / len(a | b) for b in B] for a in A]

    return _race("jaccard, lists of sets", sets, sets[: 1000 // share], Jaccard(), {"Python": (loop, 100)})


def _graphs(rng: np.random.Generator, share: int) -> list[dict[str, Any]]:
    """Compare graphs of about twenty nodes with labels, reading and hashing included."""
    graphs = []
    for _ in range(2000 // share):
        n = int(rng.integers(12, 28))
        tree = [(int(rng.integers(node)), node) for node in range(1, n)]
        ring = [(0, n - 1)] if rng.random() < 0.5 else []
        graphs.append((np.array(tree + ring), rng.integers(0, 5, n).tolist()))
    basis = graphs[: 200 // share]
    rows = []
    for what, similarity in (("weisfeiler-lehman", WeisfeilerLehman(5)), ("shortest-path", ShortestPath())):
        others = {"GraKeL": (_grakel(what), len(graphs))} if find_spec("grakel") else {}
        rows += _race(what, graphs, basis, similarity, others)
    return rows


def _grakel(what: str) -> Compare:
    import grakel

    def read(graphs: Any) -> list[Any]:
        both = [np.concatenate([edges, edges[:, ::-1]]).tolist() for edges, _ in graphs]
        return [
            grakel.Graph({tuple(edge) for edge in edges}, node_labels=dict(enumerate(labels)))
            for edges, (_, labels) in zip(both, graphs, strict=True)
        ]

    def compare(A: Any, B: Any) -> np.ndarray:
        if what == "shortest-path":
            kernel = grakel.ShortestPath(normalize=True)
        else:
            kernel = grakel.WeisfeilerLehman(5, base_graph_kernel=grakel.VertexHistogram, normalize=True)
        return kernel.fit(read(B)).transform(read(A))

    return compare


def _histograms(rng: np.random.Generator, share: int) -> list[dict[str, Any]]:
    """Compare histograms of 256 bins in float32."""
    from sklearn.metrics.pairwise import additive_chi2_kernel

    X = rng.random((10_000 // share, 256), dtype=np.float32)
    basis = X[: 1000 // share]

    def loop(A: Any, B: Any) -> np.ndarray:
        return np.array([np.minimum(a, B).sum(axis=1) for a in A])

    rows = _race(
        "histogram-intersection, 256 bins", X, basis, HistogramIntersection(normalize=False), {"NumPy": (loop, 1000)}
    )
    chi2 = ChiSquared(normalize=False, how="negative", scale=1)
    others = {"scikit-learn additive_chi2": (additive_chi2_kernel, 1000)}
    return rows + _race("chi2-distance, 256 bins", X, basis, chi2, others)


def _clouds(rng: np.random.Generator, share: int) -> list[dict[str, Any]]:
    """Compare clouds of 60 to 100 points in three dimensions; the sinkhorn ones of 30, regularized alike."""
    clouds = [rng.normal(size=(int(n), 3)) for n in rng.integers(60, 101, 2000 // share)]
    small = [cloud[:30] for cloud in clouds[: 200 // share]]
    sliced = SlicedWasserstein(how="negative", scale=1).fit(clouds)
    sinkhorn = Sinkhorn(0.2, how="negative", scale=1).fit(small)
    slow: dict[str, tuple[Compare, int]] = {}
    plans: dict[str, tuple[Compare, int]] = {}
    if find_spec("ot"):
        import ot

        def each(A: Any, B: Any) -> list[list[float]]:
            return [[ot.sliced_wasserstein_distance(b, a, n_projections=50, seed=0) for b in B] for a in A]

        def plan(A: Any, B: Any) -> list[list[float]]:
            even, r = np.full(30, 1 / 30), 0.2 * sinkhorn.cost_scale_
            return [[ot.sinkhorn2(even, even, ot.dist(b, a), r, stopThr=1e-6) for b in B] for a in A]

        slow["POT"], plans["POT"] = (each, 5), (plan, 5)
    rows = _race("sliced-wasserstein, 50 directions", clouds, clouds[: 200 // share], sliced, slow)
    if find_spec("ot"):
        rows += _race("sinkhorn, 30 points", small, small[: 100 // share], sinkhorn, plans, repeats=1)
    return rows
