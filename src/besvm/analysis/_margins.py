"""The margins of section "Margin Analysis", and what every eigenpair of the kernel matrix contributes to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from besvm._extras import optional
from besvm._rows import n_rows
from besvm._spectrum import SPECTRA, eigenpairs, made_psd, rounding
from besvm.baselines.dual import DualBESVMClassifier
from besvm.classifier import BESVMClassifier, LinearSVMClassifier

SAME = 1e-3  # relative: how closely the rows given must reproduce the model's own ‖w‖²
VISIBLE = 1e-4  # the share of ‖w‖² below which an eigenpair at the end of a curve is not drawn


@dataclass(frozen=True)
class EigenView:
    """The squared norm of one problem, split over the eigenpairs of its kernel matrix G = Σᵢ λᵢ vᵢ vᵢᵀ.

    ``eigenvalues`` are in descending order; ``contributions`` are λᵢ (vᵢᵀYα)², whose sum is αᵀYGYα = ‖w‖².
    """

    eigenvalues: np.ndarray
    contributions: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The contributions as shares of the whole."""
        total = self.contributions.sum()
        return self.contributions / total if total else self.contributions

    def worth_showing(self) -> np.ndarray:
        """Return the places of all eigenpairs but the null space and the tail that adds nothing any more."""
        noise = len(self.eigenvalues) * np.finfo(np.float64).eps * np.abs(self.eigenvalues).max(initial=0)
        n_kept = np.flatnonzero(np.abs(self.shares) > VISIBLE).max(initial=-1) + 1
        kept: np.ndarray = np.flatnonzero(np.abs(self.eigenvalues[:n_kept]) > noise)
        return kept


@dataclass(frozen=True)
class Margins:
    """The margin of every binary problem of a model.

    Attributes
    ----------
    formula : str
        "M_BE" for (βᵀY S_BXᵀ S_BX Yβ)⁻¹, "M_K" for (αᵀYKYα)⁻¹, "M_N" for (αᵀY K_XB K_BB⁻¹ K_BX Yα)⁻¹, and "primal" for
        1/‖w‖² of a model trained in the primal, with squared hinge loss, in the space of its own features.
    pairs : list of (str, str)
        The two sides of every problem; "rest" stands for all other classes.
    squared_norms : ndarray of shape (n_problems,)
        ‖w‖².
    margins : ndarray of shape (n_problems,)
        1/‖w‖², the paper's margin; its square root is the distance from the boundary to the nearest rows on either
        side, if the classes are separable.
    views : list of EigenView, or None
        For every problem, the eigenvalues of its kernel matrix and the contribution of each eigenpair; None unless the
        training rows were given.

    Examples
    --------
    >>> from besvm import LinearSVMClassifier
    >>> from besvm.analysis import margins
    >>> clf = LinearSVMClassifier(C=1e6).fit([[0.0], [4.0]], ["low", "high"])
    >>> margins(clf).pairs, margins(clf).margins.round(3)  # the boundary is 2 away from both: 2² = 4
    ([('high', 'low')], array([4.]))
    """

    formula: str
    pairs: list[tuple[str, str]]
    squared_norms: np.ndarray
    views: list[EigenView] | None = None

    @property
    def margins(self) -> np.ndarray:
        """1/‖w‖², infinite where w is 0."""
        with np.errstate(divide="ignore"):
            return 1 / self.squared_norms

    def __str__(self) -> str:
        values = self.margins
        lines = [
            f"{self.formula} of {len(values)} problem{'s' * (len(values) > 1)}: smallest {values.min():.4g}, "
            f"median {np.median(values):.4g}, largest {values.max():.4g}"
        ]
        width = max(len(f"{a} - {b}") for a, b in self.pairs)
        for place, ((a, b), value) in enumerate(zip(self.pairs, values, strict=True)):
            line = f"  {f'{a} - {b}':<{width}}  {value:.4g}"
            if self.views is not None:
                view = self.views[place]
                line += f", {view.shares[view.eigenvalues > 1].sum():.1%} of ‖w‖² from eigenvalues above 1"
            lines.append(line)
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw how the contributions to ‖w‖² add up, from the largest eigenvalue down, a curve for every problem.

        The dotted line marks λ = 1: BE-SVM on the whole training set squares the eigenvalues of a symmetric similarity,
        which amplifies those above 1 and dampens those below.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
        """
        if self.views is None:
            raise ValueError("the eigenvalue view needs the training rows; call margins(model, X)")
        if ax is None:
            ax = optional("matplotlib.pyplot", "drawing margins").subplots(figsize=(6, 3.6), layout="constrained")[1]
        definite = True
        for (a, b), view in zip(self.pairs, self.views, strict=True):
            shown = view.worth_showing()
            values = view.eigenvalues[shown]
            definite &= bool((values > 0).all())
            added_up = np.cumsum(view.shares[shown])
            ax.plot(values, added_up, ".-", markersize=3, linewidth=1, drawstyle="steps-post", label=f"{a} - {b}")
        ax.set_xscale("log" if definite else "symlog")
        ax.axvline(1, color="grey", linestyle=":", linewidth=1)
        ax.invert_xaxis()
        ax.set(xlabel="eigenvalue λ", ylabel="share of ‖w‖², added up", title=self.formula)
        if definite:
            ax.set_ylim(0, 1.05)
        ax.spines[["top", "right"]].set_visible(False)
        if len(self.pairs) <= 10:
            ax.legend(frameon=False, fontsize="small")
        return ax


def margins(model: Any, X: Any = None, y: Any = None) -> Margins:
    """Return the margin of every binary problem of a fitted model, by the paper's formulas.

    Parameters
    ----------
    model : estimator
        A fitted DualBESVMClassifier (M_BE, or M_N with a Nyström normalisation), a KernelSVMClassifier (M_K), or one
        trained in the primal with ``penalty="l2"``: BESVMClassifier, LinearSVMClassifier or LinearSVC. Margins are
        comparable in one feature space only: those of a normalised and an unnormalised model are not.
    X : optional
        The rows that the model was trained on, for the eigenvalue view of a model with dual variables. It takes the
        matrix of all rows and an eigendecomposition for every problem.
    y : array of shape (n,), optional
        Their labels, needed beside X where there are more than two classes: they tell the rows of each problem.

    Returns
    -------
    Margins

    Examples
    --------
    >>> from besvm.analysis import margins
    >>> from besvm.baselines import DualBESVMClassifier
    >>> from besvm.datasets import make_toy
    >>> X, y = make_toy(100, random_state=0)
    >>> found = margins(DualBESVMClassifier("rbf").fit(X, y), X)
    >>> found.formula, bool(np.isclose(found.views[0].contributions.sum(), found.squared_norms[0]))
    ('M_BE', True)
    """
    if hasattr(model, "gram") and hasattr(model, "fit"):
        return _dual_margins(model, X, y)
    name = type(model).__name__
    if not isinstance(model, (LinearSVMClassifier, BESVMClassifier, LinearSVC)):
        raise TypeError(
            "a margin needs a DualBESVMClassifier, a KernelSVMClassifier, a BESVMClassifier or a linear SVM; "
            f"a {name} has none"
        )
    if model.penalty != "l2":
        raise ValueError(f"a margin 1/‖w‖² needs a model with penalty='l2', got a {name} with {model.penalty!r}")
    check_is_fitted(model, "coef_")
    if X is not None:
        raise ValueError(
            f"the eigenvalue view needs dual variables, and a {name} has none; leave X out, or use DualBESVMClassifier"
        )
    return Margins("primal", _sides(model), np.square(model.coef_, dtype=np.float64).sum(axis=1))


def _dual_margins(model: Any, X: Any, y: Any) -> Margins:
    check_is_fitted(model, "squared_norms_")
    formula = "M_K"
    if isinstance(model, DualBESVMClassifier):
        formula = "M_BE" if model.normalize is None or isinstance(model.normalize, str) else "M_N"
    views = None if X is None else _views(model, X, y)
    return Margins(formula, _sides(model), np.asarray(model.squared_norms_, dtype=np.float64), views)


def _sides(model: Any) -> list[tuple[str, str]]:
    """Return the names of the two sides of every problem."""
    names = [str(label) for label in model.classes_]
    if hasattr(model, "pairs_"):
        return [(names[a], names[b]) for a, b in model.pairs_]
    return [(names[0], names[1])] if len(names) == 2 else [(name, "rest") for name in names]


# --- the eigenvalue view ----------------------------------------------------------------------------------------


def _views(model: Any, X: Any, y: Any) -> list[EigenView]:
    n = n_rows(X)
    if n <= model.support_.max(initial=-1):
        raise ValueError(f"X must be the rows the model was trained on, more than {model.support_.max()}, got {n}")
    if y is None and len(model.classes_) > 2:
        raise ValueError("with more than two classes the eigenvalue view needs the labels; call margins(model, X, y)")
    if y is not None and len(y) != n:
        raise ValueError(f"X and y must have the same length, got {n} rows and {len(y)} labels")
    gram = np.asarray(model.gram(X), dtype=np.float64)
    views = []
    for pair, (support, signed), squared_norm in zip(model.pairs_, model.alphas_, model.squared_norms_, strict=True):
        rows = np.arange(n) if y is None else np.flatnonzero(np.isin(y, model.classes_[list(pair)]))
        alphas = np.zeros(n)
        alphas[support] = signed
        view = _view(_as_trained(model, gram[np.ix_(rows, rows)]), alphas[rows])
        total = float(view.contributions.sum())
        if not np.isclose(total, squared_norm, rtol=SAME, atol=0):
            raise ValueError(
                "X and y must be what the model was trained on: "
                f"they give ‖w‖² = {total:.6g}, the model has {squared_norm:.6g}"
            )
        views.append(view)
    return views


def _as_trained(model: Any, gram: np.ndarray) -> np.ndarray:
    """Return the matrix of a pair as the solver saw it: a kernel SVM may have fixed its spectrum."""
    spectrum = getattr(model, "spectrum", None)
    return made_psd(gram, spectrum, rounding(gram, np.float32))[0] if spectrum in SPECTRA else gram


def _view(gram: np.ndarray, alphas: np.ndarray) -> EigenView:
    values, vectors = eigenpairs(gram)
    return EigenView(values[::-1], (values * (alphas @ vectors) ** 2)[::-1])
