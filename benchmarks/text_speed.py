"""How fast texts and sequences are compared: pairs per second, relative to the library that does it, on all cores.

The same work: distances and scores as they are, of random texts and proteins. k-mers, which are ours, stand beside
scikit-learn's CountVectorizer and a product of its sparse matrices. Each pair of contestants runs in turns, the best of
several.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from besvm.similarities import (
    CommonSubsequence,
    Edit,
    GlobalAlignment,
    JaroWinkler,
    KMers,
    LocalAlignment,
    PartialRatio,
    TextParts,
    TokenRatio,
)

N_BASIS = 500
RESIDUES = "ARNDCQEGHILKMFPSTWYV"
TEXTS = {"names": (4, 12, 10_000), "sentences": (30, 60, 2_000)}  # shortest, longest, how many
PROTEINS = {40: 2_000, 200: 200, 500: 50}  # by length
SLOW = 10  # times fewer samples for measures that take long

Run = Callable[[list[str]], Any]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Time every measure beside the library it is computed by."""
    repeats, share = (1, 50) if quick else (5, 1)
    rng = np.random.default_rng(0)
    rows = []
    for kind, (shortest, longest, n) in TEXTS.items():
        A, B = (_random(rng, "abcdefghijklmnop ", shortest, longest, m) for m in (n // share, N_BASIS))
        for name, (ours, theirs, slow) in _of_texts(A, B).items():
            some = A[:: SLOW if slow else 1]
            rows.append(_race(name, f"{kind}, {shortest} to {longest}", ours, theirs, some, repeats))
    for length, n in PROTEINS.items():
        A, B = (_random(rng, RESIDUES, length, length, m) for m in (max(20, n // share), N_BASIS))
        for name, (ours, theirs) in _of_proteins(B).items():
            rows.append(_race(name, f"proteins of {length}", ours, theirs, A, repeats))
    return rows


def _of_texts(A: list[str], B: list[str]) -> dict[str, tuple[Run, Run, bool]]:
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import OSA, JaroWinkler as Winkler, LCSseq, Levenshtein  # isort: skip

    def cdist(scorer: Any, basis: Any = B) -> Run:
        return lambda A: process.cdist(A, basis, scorer=scorer, dtype=np.float32, workers=-1)

    pieces = TextParts(5).draw(B, 1, np.random.default_rng(0)).items.tolist()
    return {
        "edit": (Edit(False).distances_to(B), cdist(Levenshtein.distance), False),
        "edit, normalized": (Edit().distances_to(B), cdist(Levenshtein.normalized_distance), False),
        "edit, as a similarity": (Edit().fit(A).against(B), cdist(Levenshtein.normalized_distance), False),
        "edit, transpositions": (Edit(False, True).distances_to(B), cdist(OSA.distance), False),
        "lcs": (CommonSubsequence().distances_to(B), cdist(LCSseq.normalized_distance), False),
        "jaro-winkler": (JaroWinkler().against(B), cdist(Winkler.normalized_similarity), False),
        "token-ratio, sort": (TokenRatio("sort").against(B), cdist(fuzz.token_sort_ratio), False),
        "token-ratio, set": (TokenRatio().against(B), cdist(fuzz.token_set_ratio), True),
        "partial-ratio": (PartialRatio().against(B), cdist(fuzz.partial_ratio), True),
        "text-parts": (TextParts(5).against(pieces), cdist(fuzz.partial_ratio, pieces), True),
    }


def _of_proteins(B: list[str]) -> dict[str, tuple[Run, Run]]:
    import pyopal

    aligner = pyopal.Aligner("BLOSUM62", gap_open=11, gap_extend=1)
    database = pyopal.Database(B, alphabet=aligner.alphabet)

    def direct(algorithm: str) -> Run:
        def scores(a: str) -> list[int]:
            return [hit.score for hit in aligner.align(a, database, algorithm=algorithm)]

        def run(A: list[str]) -> Any:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return np.array(list(pool.map(scores, A)), dtype=np.float32)

        return run

    return {
        "align-global": (GlobalAlignment(normalize=False).against(B), direct("nw")),
        "align-global, normalized": (GlobalAlignment().against(B), direct("nw")),
        "align-local": (LocalAlignment(normalize=False).against(B), direct("sw")),
        "align-local, normalized": (LocalAlignment().against(B), direct("sw")),
        "kmers": (KMers().against(B), _counted(B)),
    }


def _counted(B: list[str]) -> Run:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    counter = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False, dtype=np.float32)
    basis = normalize(counter.fit_transform(B)).T.tocsr()
    return lambda A: (normalize(counter.transform(A)) @ basis).toarray()


def _race(name: str, data: str, ours: Run, theirs: Run, A: list[str], repeats: int) -> dict[str, Any]:
    best = [np.inf, np.inf]
    for run in (ours, theirs):
        run(A[:8])  # load what is loaded lazily
    for _ in range(repeats):
        for place, run in enumerate((ours, theirs)):
            start = time.perf_counter()
            run(A)
            best[place] = min(best[place], time.perf_counter() - start)
    pairs = len(A) * N_BASIS
    return {
        "measure": name,
        "data": data,
        "pairs_a_second": pairs / best[0],
        "library": pairs / best[1],
        "ratio": best[1] / best[0],
    }


def _random(rng: np.random.Generator, symbols: str, shortest: int, longest: int, n: int) -> list[str]:
    return ["".join(rng.choice(list(symbols), size)) for size in rng.integers(shortest, longest + 1, n)]
