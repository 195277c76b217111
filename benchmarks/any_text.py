"""Texts: first names by gender and topics of news, BE-SVM against nearest neighbors and n-grams with LinearSVC.

Needs rapidfuzz. Names have five folds, news their own split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.any_data import load
from benchmarks.any_data.folds import CS, Method, besvm, compared, nearest, searched
from besvm.similarities import KMers, TokenRatio

NAMES_BASIS, NEWS_BASIS = 2000, 500


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the accuracy of every method on names and on news."""
    return _names(quick) + _news(quick)


def _names(quick: bool) -> list[dict[str, Any]]:
    names, y = load.names()
    X = [f"^{name.lower()}$" for name in names]  # so that pieces tell where a name begins and ends
    if quick:
        X, y = X[::20], y[::20]
    several = ["edit", "jaro-winkler", KMers(2), KMers(3), KMers(4)]
    basis = min(NAMES_BASIS, len(X) // 2)
    methods: dict[str, Method] = {
        "k-NN, edit": nearest("edit"),
        "k-NN, jaro-winkler": nearest("jaro-winkler"),
        "BE-SVM, edit": besvm("edit", basis),
        "BE-SVM, jaro-winkler": besvm("jaro-winkler", basis),
        "BE-SVM, kmers of 3": besvm(KMers(3), basis),
        "BE-SVM, edit, jaro-winkler, kmers of 2, 3, 4": besvm(several, basis),
        "TF-IDF of 1 to 5 characters, LinearSVC": _ngrams("char_wb", 5),
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    return compared("names", X, y, folds, methods)


def _news(quick: bool) -> list[dict[str, Any]]:
    X, y, X_test, y_test = load.news()
    if quick:
        X, y, X_test, y_test = X[::40], y[::40], X_test[::40], y_test[::40]
    basis = min(NEWS_BASIS, len(X) // 2)
    methods: dict[str, Method] = {
        "k-NN, token-ratio": nearest(TokenRatio("sort")),
        "k-NN, kmers of 5": nearest(KMers(5)),
        "BE-SVM, token-ratio": besvm(TokenRatio("sort"), basis),
        "BE-SVM, kmers of 5": besvm(KMers(5), basis),
        "BE-SVM, token-ratio, kmers of 3, 5, 7": besvm([TokenRatio("sort"), KMers(3), KMers(5), KMers(7)], basis),
        "TF-IDF of 1 and 2 words, LinearSVC": _ngrams("word", 2),
    }
    own = np.arange(len(X)), np.arange(len(X), len(X) + len(X_test))
    return compared("news", X + X_test, np.concatenate([y, y_test]), [own], methods)


def _ngrams(analyzer: str, longest: int) -> Method:
    return searched(
        lambda: make_pipeline(
            TfidfVectorizer(analyzer=analyzer, ngram_range=(1, longest), sublinear_tf=True), LinearSVC()
        ),
        linearsvc__C=CS,
    )
