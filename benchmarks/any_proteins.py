"""Peptides: BE-SVM over alignments and k-mers against nearest neighbors by alignment and k-mers with LinearSVC.

Needs pyopal. Antimicrobial and anticancer peptides against others, every sequence once, five folds.
"""

from __future__ import annotations

from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.any_data import load
from benchmarks.any_data.folds import CS, Method, besvm, compared, nearest, searched
from besvm.similarities import KMers

BASIS = 1000
SEVERAL = ["align-global", "align-local", KMers(1), KMers(2), KMers(3)]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the accuracy of every method on both sets."""
    rows = []
    for name in ("antimicrobial", "anticancer"):
        X, y = load.peptides(name)
        if quick:
            X, y = X[::20], y[::20]
        basis = min(BASIS, len(X) // 2)
        methods: dict[str, Method] = {
            "k-NN, align-global": nearest("align-global"),
            "k-NN, align-local": nearest("align-local"),
            "BE-SVM, align-global": besvm("align-global", basis),
            "BE-SVM, align-local": besvm("align-local", basis),
            "BE-SVM, kmers of 2": besvm(KMers(2), basis),
            "BE-SVM, both alignments, kmers of 1, 2, 3": besvm(SEVERAL, basis),
            "TF-IDF of 1 to 3 residues, LinearSVC": searched(
                lambda: make_pipeline(
                    TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True), LinearSVC()
                ),
                linearsvc__C=CS,
            ),
        }
        rows += compared(name, X, y, StratifiedKFold(5, shuffle=True, random_state=0).split(X, y), methods)
    return rows
