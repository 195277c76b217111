"""Turn samples into their normalized similarities to a basis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.threads import workers
from besvm._support.validation import atomic_fit, check_vectors, forget, labels_or_none, make_rng
from besvm.blocks.fill import filled
from besvm.expand.expander import fit_expander, mark_input
from besvm.measures import Measure, as_measure, compares_vectors
from besvm.normalize.affine import Affine
from besvm.normalize.normalization import apply_in_place, check_normalize, fit_normalizer
from besvm.normalize.nystrom import Rotation


class BasisExpansion(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features from similarities: φ(x) = normalize([s(b₁, x), ..., s(b_B, x)]).

    Eqs. besvm_feature_map and besvm_feature_map_norm of the paper, as a scikit-learn transformer. X is never coerced:
    anything with a length and slices will do, as long as the similarity can compare its items.

    Parameters
    ----------
    similarity : str, Similarity, callable or Measure, default="rbf"
        A registered name, an instance, a function ``f(exemplar, sample)``, or the paper's shorthand ("H8R").
    basis : default="auto"
        "auto" (at most 1,000 random rows, classes balanced), a number of random rows, row numbers, a selector such as
        ``IndexBasis(per_class=100)``, your own function ``(X, y, similarity, rng) -> rows``, or the exemplars
        themselves (wrap them in ``Exemplars`` where they could be mistaken for row numbers).
    features : transformer, optional
        Applied before the similarity, block by block.
    normalize : {"mean-norm", "z-score", None} or Nystrom, default="mean-norm"
        "mean-norm" centers the features and divides them by the mean norm of the centered rows. ``Nystrom(...)``
        decorrelates them by the similarities within the basis.
    basis_weight : {None, "balanced"}, default=None
        "balanced" weighs the exemplars so that every class contributes equally to the features, however many of its
        rows are in the basis; needs y.
    n_jobs : int, optional
        Threads (or processes, for a Python function); by default all that BLAS may use.
    random_state : int, RandomState or None
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 prints progress anywhere.

    Attributes
    ----------
    basis_rows_ : ndarray of shape (B,) or None
        The training rows that became the basis; None if exemplars were given outright.
    similarity_ : Similarity
        With its data-derived parameters settled.
    mean_, scale_ : ndarray of shape (B,)
        The learned normalization; absent with ``normalize=None`` and with ``Nystrom``.

    Examples
    --------
    >>> from besvm import BasisExpansion, LinearSVMClassifier
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_digits(return_X_y=True)
    >>> pipe = make_pipeline(BasisExpansion("rbf", basis=200, random_state=0), LinearSVMClassifier())
    >>> bool(pipe.fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.93)
    True
    """

    def __init__(
        self,
        similarity: Any = "rbf",
        *,
        basis: Any = "auto",
        features: Any = None,
        normalize: Any = "mean-norm",
        basis_weight: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.similarity = similarity
        self.basis = basis
        self.features = features
        self.normalize = normalize
        self.basis_weight = basis_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the basis and learn the normalization from the rows of X."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the features of X; the similarities are computed once."""
        return self._fit(X, y)

    @atomic_fit
    def _fit(self, X: Any, y: Any) -> np.ndarray:
        check_normalize(self.normalize, self.basis_weight)
        measure = self._measure()
        vectors = compares_vectors([measure])
        X = check_vectors(self, X, vectors)
        labels = labels_or_none(X, y)
        with workers(self.n_jobs):
            expander = fit_expander(X, labels, [measure], self.basis, make_rng(self.random_state))
            with filled(expander, X, "memory", self.verbose) as blocks:
                normalizer = fit_normalizer(expander, blocks, X, labels, self.normalize, self.basis_weight)
                apply_in_place(normalizer, blocks)
        self._expander, self._normalizer, self._vectors = expander, normalizer, vectors
        self.similarity_ = expander.measures[0].similarity
        self.basis_rows_ = expander.measures[0].rows
        forget(self, "mean_", "scale_")
        if isinstance(normalizer, Affine):
            self.mean_, self.scale_ = normalizer.mean, normalizer.scale
        return _float32(blocks.matrix)

    def transform(self, X: Any) -> np.ndarray:
        """Return the normalized similarities of X to the basis, of shape (len(X), B), in float32."""
        check_is_fitted(self, "similarity_")
        X = check_vectors(self, X, self._vectors, reset=False)
        with workers(self.n_jobs), filled(self._expander, X, "memory", self.verbose) as blocks:
            apply_in_place(self._normalizer, blocks)
        return _float32(blocks.matrix)

    def _measure(self) -> Measure:
        return (
            as_measure(self.similarity) if self.features is None else Measure(self.similarity, features=self.features)
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the feature names: the similarity's label and the exemplar's training row.

        Nyström features are mixtures of exemplars, and numbered.
        """
        check_is_fitted(self, "similarity_")
        names = self._expander.feature_names()
        if isinstance(self._normalizer, Rotation):
            label = self._expander.measures[0].label
            names = np.array([f"{label}_nystrom{place}" for place in range(len(names))], dtype=object)
        return names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, self._measure, self.basis)
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _float32(features: np.ndarray) -> np.ndarray:
    return features.astype(np.float32, copy=False)
