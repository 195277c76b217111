"""The exact dual BE-SVM, for the margin analysis: hinge loss, unnormalized features, solved by LIBSVM."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import atomic_fit, make_rng
from besvm._support.progress import progress, say
from besvm._support.rows import n_rows
from besvm._support.threads import workers
from besvm._support.units import show_bytes
from besvm._support.validation import check_vectors
from besvm.baselines.pairs import OneVsOneClassifier, rows_of_classes, solve_pair
from besvm.blocks.estimates import dual_bytes
from besvm.blocks.fill import by_blocks, filled
from besvm.blocks.plan import check_fits, limit_bytes
from besvm.expand import Expander, fit_expander, learn_feature_map
from besvm.normalize import Normalization, Nystrom, Unscaled, as_normalization
from besvm.solver.votes import class_pairs

CACHE_MB = 200  # what LIBSVM may keep of a matrix beside the matrix itself


@dataclass(eq=False, repr=False)
class DualBESVMClassifier(OneVsOneClassifier):
    """The exact dual of BE-SVM, one-vs-one: what section "Margin Analysis" of the paper analyses.

    A support vector machine with hinge loss whose kernel is the inner product of the similarities to the basis,
    K̃(xᵢ, xⱼ) = Σₘ Σ_b sₘ(b, xᵢ) sₘ(b, xⱼ) (equation 13 of the paper), which is positive semi-definite whatever the
    similarity. LIBSVM solves it for every pair of classes, on that pair's matrix alone. It is meant for a few thousand
    rows; for more, and for most work, take :class:`besvm.BESVMClassifier`.

    Parameters
    ----------
    measures : str, Similarity, callable, Measure, or a list of these, default="rbf"
        What is compared, as in :class:`besvm.BESVMClassifier`.
    basis : default="all"
        "all" makes every training row an exemplar; anything else as in :class:`besvm.BESVMClassifier`.
    normalize : {"mean-norm", "z-score", None} or Normalization, default=None
        With ``Nystrom(...)`` this is the Nyströmized SVM of the margin analysis.
    C : float, default=1.0
        The upper bound of the dual variables, for a row of weight 1.
    class_weight : dict, "balanced" or None, default=None
        What the rows of every class weigh, as in ``SVC``.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free. Training that
        would take more is refused before it begins.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    random_state : int, RandomState or None, default=None
        For a basis that is drawn at random.
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 says what happens anywhere.

    Attributes
    ----------
    pairs_ : list of (a, b)
        The pairs of places in ``classes_``, a < b, of which both have rows of weight above 0. Decision values above 0
        speak for b.
    coef_ : ndarray of shape (n_pairs, D)
        w = Σᵢ yᵢ βᵢ φ̃(xᵢ).
    squared_norms_ : ndarray of shape (n_pairs,)
        ‖w‖² = βᵀY S_BXᵀ S_BX Yβ; its inverse is the margin, see :func:`besvm.analysis.margins`.
    classes_, alphas_, intercept_, support_, n_support_
        As in :class:`KernelSVMClassifier`.
    basis_rows_ : list of ndarray or None
        For every measure, the training rows that are its exemplars. A new sample is compared with all of them,
        however few rows support.
    n_basis_ : int
        The number of different exemplars.

    Examples
    --------
    >>> from besvm.baselines import DualBESVMClassifier
    >>> from besvm.datasets import make_toy
    >>> from besvm.similarities import RBF
    >>> X, y = make_toy(200, noise=0.02, random_state=0)
    >>> clf = DualBESVMClassifier([RBF(gamma=10.0), RBF(gamma=100.0)], C=10.0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.99), clf.n_basis_
    (True, 200)
    """

    measures: Any = "rbf"
    _: KW_ONLY
    basis: Any = "all"
    normalize: Any = None
    C: float = 1.0
    class_weight: Any = None
    tol: float = 1e-3
    memory_limit: int | float | str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute the similarities to the basis and solve the dual of every pair of classes.

        X and y are as in :class:`besvm.BESVMClassifier`; ``sample_weight`` scales the upper bound C of every row's dual
        variable, and a row of weight 0 takes no part.
        """
        normalization = as_normalization(self.normalize)
        measures, data = self._checked(X, y, sample_weight)
        X, _, classes, labels, weights = data
        sides = rows_of_classes(data)
        pairs = [(a, b) for a, b in class_pairs(len(classes)) if len(sides[a]) and len(sides[b])]
        rows_of = [np.sort(np.concatenate([sides[a], sides[b]])) for a, b in pairs]
        basis = np.arange(n_rows(X)) if isinstance(self.basis, str) and self.basis == "all" else self.basis
        with workers(self.n_jobs):
            expander = fit_expander(
                X, classes[labels], measures, basis, make_rng(self.random_state), weights, self.memory_limit
            )
            self._check_memory(expander, normalization, n_rows(X), max(map(len, rows_of)))
            with filled(expander, X, "memory", self.verbose) as blocks:
                feature_map = learn_feature_map(expander, blocks, normalization, X, labels, weights)
                alphas = self._solve_pairs(blocks.matrix, labels, weights, rows_of)
        norms = [coef @ coef for coef in self.coef_]  # never below 0, as αᵀYGYα may be
        self._learned(data, pairs, alphas, norms)
        self._map, self._formula = feature_map, _formula(normalization)
        self.basis_rows_ = [measure.rows for measure in expander.measures]
        self.n_basis_ = expander.n_exemplars
        return self

    def _solve_pairs(
        self, features: np.ndarray, labels: np.ndarray, weights: np.ndarray, rows_of: list[np.ndarray]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Solve the problem of every pair of classes, each on its own rows; return what supports it."""
        n_pairs = len(rows_of)
        self.coef_, self.intercept_ = np.empty((n_pairs, features.shape[1])), np.empty(n_pairs)
        support = []
        with progress("training pairs of classes", n_pairs, self.verbose) as shown:
            for place, rows in enumerate(rows_of):
                phi = features[rows].astype(np.float64)  # (rows of the pair, D)
                gram = phi @ phi.T
                positive = labels[rows] == labels[rows].max()
                bounds = weights[rows]
                alphas, self.intercept_[place] = solve_pair(gram, positive, bounds, self.C, self.tol, CACHE_MB)
                self.coef_[place] = alphas @ phi
                support.append((rows[alphas != 0], alphas[alphas != 0]))
                shown.advance(1)
        return support

    def _check_memory(self, expander: Expander, normalization: Normalization, n: int, n_pair: int) -> None:
        """Say how much memory training takes, or refuse it."""
        features = expander.dtype.itemsize * n * expander.width
        solve = dual_bytes(n_pair, expander.width, CACHE_MB * 2**20)
        need = features + max(solve, normalization.takes(expander.widths, n, expander.dtype.itemsize))
        what = f"the {n_pair:,} x {n_pair:,} matrix of the largest pair of classes"
        check_fits(f"training on the features and {what}", need, self.memory_limit)
        sizes = f"the features take {show_bytes(features)} and {what} {show_bytes(8 * n_pair**2)}"
        limit = show_bytes(limit_bytes(self.memory_limit))
        say(self.verbose, f"{sizes}, {show_bytes(need)} in all; the limit is {limit}")

    def _rows_each(self, X: Any) -> int:
        return self._map.expander.rows_each(X)

    def _decide(self, samples: Any, first_row: int) -> np.ndarray:
        return self._map(samples, first_row) @ self.coef_.T + self.intercept_

    def gram(self, X: Any) -> np.ndarray:
        """Return the matrix of K̃(xᵢ, xⱼ) (equation 13) between all rows of X, in float64.

        Refused if it would take more than ``memory_limit``.
        """
        check_is_fitted(self, "coef_")
        n = n_rows(X)
        beside = 8 * n * (n + self._map.expander.width)
        return self._matrix(self._described(X, f"the {n:,} x {n:,} matrix", beside))

    def _described(self, X: Any, what: str, beside: int) -> np.ndarray:
        """Return the features of X, unless they and ``beside`` bytes are too much memory for ``what``."""
        X = check_vectors(self, X, self._vectors, reset=False)
        n, width, dtype = n_rows(X), self._map.expander.width, self._map.expander.dtype
        check_fits(what, beside + dtype.itemsize * n * width, self.memory_limit)
        with workers(self.n_jobs):
            out, what = np.empty((n, width), dtype=dtype), "similarities to the basis"
            return by_blocks(X, self._map, out, self._rows_each(X), what, self.verbose)

    def _matrix(self, features: np.ndarray) -> np.ndarray:
        phi = features.astype(np.float64, copy=False)
        with workers(self.n_jobs):
            return phi @ phi.T

    def _pair_matrix(self, seen: np.ndarray, pair: tuple[int, int], rows: np.ndarray) -> np.ndarray:
        """Return the matrix of the training rows of a pair, from what :meth:`_described` gave."""
        return self._matrix(seen[rows])


def _formula(normalization: Normalization) -> str:
    """Return which margin of the paper the features have; those of a scaling that it does not analyze, only "dual"."""
    if isinstance(normalization, Nystrom) and normalization.spectrum != "covariance":
        return "M_N"
    return "M_BE" if isinstance(normalization, Unscaled) and not normalization.balanced else "dual"
