"""The margins of section "Margin Analysis" of the paper, and what every eigenpair contributes to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from besvm._support.extras import optional
from besvm._support.rows import n_rows
from besvm.analysis.size import analyzed
from besvm.baselines.dual import DualBESVMClassifier
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.blocks.estimates import PAIR_VIEW
from besvm.classifier import BESVMClassifier
from besvm.linear import LinearSVMClassifier
from besvm.normalize.spectrum import eigenpairs, rounding

Sides = tuple[int, int | None]  # class numbers; None stands for all other classes

SAME = 1e-3  # relative: how closely the rows given must reproduce the model's own ‖w‖²
FIX = "train with spectrum='clip', 'flip', 'shift' or 'square'"
VISIBLE = 1e-4  # the share of ‖w‖² below which an eigenpair at the end of a curve is not drawn


@dataclass(frozen=True)
class EigenView:
    """The squared norm of one problem, split over the eigenpairs of its kernel matrix G = Σᵢ λᵢ vᵢ vᵢᵀ.

    ``eigenvalues`` are in descending order, those no larger than ``noise`` being rounding errors of the entries of G;
    ``contributions`` are λᵢ (vᵢᵀYα)², whose sum is αᵀYGYα = ‖w‖².
    """

    eigenvalues: np.ndarray
    contributions: np.ndarray
    noise: float

    @property
    def shares(self) -> np.ndarray:
        """The contributions as shares of the whole."""
        total = self.contributions.sum()
        return self.contributions / total if total else self.contributions

    def worth_showing(self) -> np.ndarray:
        """Return the places of all eigenpairs but the null space and the tail that adds nothing any more."""
        noise = len(self.eigenvalues) * np.finfo(np.float64).eps * np.abs(self.eigenvalues).max(initial=0)
        n_kept = np.flatnonzero(np.abs(self.shares) > VISIBLE).max(initial=-1) + 1
        return np.flatnonzero(np.abs(self.eigenvalues[:n_kept]) > noise)


@dataclass(frozen=True)
class Margins:
    """The margin of every binary problem of a model.

    Attributes
    ----------
    formula : str
        "M_BE" for (βᵀY S_BXᵀ S_BX Yβ)⁻¹, "M_K" for (αᵀYKYα)⁻¹, "M_N" for (αᵀY K_XB K_BB⁻¹ K_BX Yα)⁻¹. The paper has no
        name for two more, 1/‖w‖² in the space of the model's own features: "dual" for a dual BE-SVM whose features are
        normalized or weighted in another way, "primal" for a model trained in the primal.
    pairs : list of (str, str)
        The two sides of every problem; "rest" stands for all other classes. A problem that was not trained, since one
        side has no rows of weight above 0, is left out.
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
        which amplifies those above 1 and dampens those below. Draws on ``ax``, by default on a new figure, and returns
        the axes.
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
        ax.axvline(1, color="gray", linestyle=":", linewidth=1)
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
        A fitted DualBESVMClassifier (M_BE, or M_N with the Nyström normalization by K_BB), a KernelSVMClassifier (M_K),
        or one trained in the primal with ``penalty="l2"``: BESVMClassifier, LinearSVMClassifier or LinearSVC. Of a
        GridSearchCV, GreedySelection, LineSearchMKL or JitteredClassifier, the model inside is taken. Margins are
        comparable in one feature space only: those of a normalized and an unnormalized model are not.
    X : optional
        All rows that the model was trained on, for the eigenvalue view of a model with dual variables. It takes an
        eigendecomposition of every problem's own matrix, within the model's ``memory_limit``. After
        ``spectrum="ignore"`` only these eigenvalues can tell whether there is a margin at all.
    y : array of shape (n,), optional
        Their labels. The model remembers them, so that they are only compared.

    Returns
    -------
    Margins
        One for every binary problem, with the formula that it follows.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.analysis import margins
    >>> from besvm.baselines import DualBESVMClassifier
    >>> from besvm.datasets import make_toy
    >>> X, y = make_toy(100, random_state=0)
    >>> found = margins(DualBESVMClassifier("rbf").fit(X, y), X)
    >>> found.formula, bool(np.isclose(found.views[0].contributions.sum(), found.squared_norms[0]))
    ('M_BE', True)
    """
    model = analyzed(model)
    if isinstance(model, (DualBESVMClassifier, KernelSVMClassifier)):
        return _dual_margins(model, X, y)
    name = type(model).__name__
    if not isinstance(model, (LinearSVMClassifier, BESVMClassifier, LinearSVC)):
        raise TypeError(
            "margins needs a DualBESVMClassifier, a KernelSVMClassifier, a BESVMClassifier or a linear SVM, "
            f"got a {name}"
        )
    check_is_fitted(model, "coef_")
    penalty = model.penalty if isinstance(model, LinearSVC) else model._penalty
    if penalty != "l2":
        raise ValueError(f"a margin 1/‖w‖² needs a model with penalty='l2', got a {name} with {penalty!r}")
    if isinstance(model, LinearSVC) and model.multi_class != "ovr":
        raise ValueError(
            f"a margin needs a LinearSVC with multi_class='ovr', got {model.multi_class!r}, "
            "which has one problem for all classes"
        )
    if X is not None:
        raise ValueError(
            f"the eigenvalue view needs dual variables, but a {name} has none; leave out X, or use DualBESVMClassifier"
        )
    has_rows = getattr(model, "_has_rows", np.ones(len(model.classes_), dtype=bool))  # LinearSVC wants rows of all
    problems = _problems(model)
    trained = [place for place, sides in enumerate(problems) if all(has_rows[c] for c in sides if c is not None)]
    norms = np.square(model.coef_[trained], dtype=np.float64).sum(axis=1)
    return Margins("primal", _names(model, [problems[place] for place in trained]), norms)


def _problems(model: Any) -> list[Sides]:
    """Return the two sides of every problem."""
    if hasattr(model, "pairs_"):
        return list(model.pairs_)
    n_classes = len(model.classes_)
    return [(0, 1)] if n_classes == 2 else [(place, None) for place in range(n_classes)]


def _names(model: Any, problems: list[Sides]) -> list[tuple[str, str]]:
    names = [str(label) for label in model.classes_]
    return [(names[a], "rest" if b is None else names[b]) for a, b in problems]


def _dual_margins(model: Any, X: Any, y: Any) -> Margins:
    check_is_fitted(model, "squared_norms_")
    trained = np.flatnonzero(~np.isnan(model.squared_norms_))
    norms = model.squared_norms_[trained]
    pairs = _names(model, [model.pairs_[place] for place in trained])
    if (norms < 0).any():
        lowest = int(norms.argmin())
        raise ValueError(
            f"a margin needs a definite matrix, but αᵀYKYα = {norms[lowest]:.4g} for {' - '.join(pairs[lowest])}, "
            f"because the similarity is indefinite and no feature space has such a norm; {FIX}"
        )
    kernel = isinstance(model, KernelSVMClassifier)  # the matrix of the other is one of inner products
    unknown = kernel and model._solver.spectrum == "ignore" and not model._solver.trusted
    if unknown and X is None:
        raise ValueError(
            f"a margin needs a definite matrix, but with spectrum='ignore' it is unknown whether that of "
            f"{model._solver.label!r} is; pass X, train with spectrum=None, which checks it, or {FIX}"
        )
    views = None if X is None else _views(model, trained, X, y)
    if unknown and views is not None:
        for (a, b), view in zip(pairs, views, strict=True):
            lowest = view.eigenvalues[-1]
            if lowest < -view.noise:
                raise ValueError(
                    f"a margin needs a definite matrix, but that of {a} - {b} has the eigenvalue {lowest:.4g}; {FIX}"
                )
    return Margins("M_K" if kernel else model._formula, pairs, norms, views)


def _views(model: Any, trained: np.ndarray, X: Any, y: Any) -> list[EigenView]:
    """Return the view of every trained problem, each from the matrix of its own rows alone."""
    _check_rows(model, X, y)
    rows_of = [np.concatenate([np.flatnonzero(model._row_class == c) for c in model.pairs_[k]]) for k in trained]
    largest = max(map(len, rows_of))
    what = f"the eigenvalue view of {largest:,} rows, the largest pair of classes,"
    seen = model._described(X, what, PAIR_VIEW * largest**2)
    views = []
    for place, rows in zip(trained, rows_of, strict=True):
        gram = model._pair_matrix(seen, model.pairs_[place], rows)
        alphas = np.zeros(len(model._row_class))
        support, signed = model.alphas_[place]
        alphas[support] = signed
        values, vectors = eigenpairs(gram)
        contributions = (values * (alphas[rows] @ vectors) ** 2)[::-1]
        noise = rounding(gram, np.float32)  # LIBSVM itself works on float32
        total, squared_norm = float(contributions.sum()), model.squared_norms_[place]
        if not np.isclose(total, squared_norm, rtol=SAME, atol=noise * float(signed @ signed)):
            raise ValueError(
                "X must be the rows that the model was trained on, but "
                f"they give ‖w‖² = {total:.6g} and the model has {squared_norm:.6g}"
            )
        views.append(EigenView(values[::-1], contributions, noise))
    return views


def _check_rows(model: Any, X: Any, y: Any) -> None:
    """Refuse rows that are not as many, or labels that are not the same, as the model was trained on."""
    n, row_class = n_rows(X), model._row_class
    if n != len(row_class):
        raise ValueError(f"X must be the {len(row_class):,} rows that the model was trained on, got {n:,}")
    if y is None:
        return
    if len(y) != n:
        raise ValueError(f"X and y must have the same length, got {n} rows and {len(y)} labels")
    used = np.flatnonzero(row_class >= 0)
    known, given = model.classes_[row_class[used]], np.asarray(y)[used]
    if (known != given).any():
        first = int(np.argmax(known != given))
        raise ValueError(
            f"y must be the classes that the model was trained on, but row {used[first]} was {known[first]!s}, got "
            f"{given[first]!s}"
        )
