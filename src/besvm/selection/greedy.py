"""Choose among many measures: forward selection of the one that contributes most."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.available import available_if
from besvm._support.files import as_folder
from besvm._support.parameters import atomic_fit, check_loss_weight, check_positive, is_number, make_rng, shown
from besvm._support.progress import say
from besvm._support.threads import workers
from besvm._support.validation import check_classes, check_vectors, forget
from besvm.blocks.plan import Plan, plan_training
from besvm.classifier import BESVMClassifier
from besvm.expand import Expander, fit_expander
from besvm.expand.training import mark_input, with_params_of
from besvm.measures import Measure, as_measures, compares_vectors, portable_measures
from besvm.normalize import as_normalization
from besvm.selection.candidates import Candidates
from besvm.selection.split import Split, given, hold_out
from besvm.selection.store import make_folder
from besvm.selection.trace import draw, table
from besvm.selection.trials import Trials, choose
from besvm.solver.one_vs_rest import n_columns


def _refits(self: Any) -> bool:
    if not self.refit:
        raise AttributeError("there is no model to predict with, because refit=False; set refit=True and fit again")
    return True


@dataclass(eq=False, repr=False)
class GreedySelection(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Forward selection of measures by held-out accuracy ("Multiple Similarity Measures" in the paper).

    Each step trains a BE-SVM (equation 6) on the measures chosen so far and, in turn, each of the others, and
    keeps the one with which the validation rows are classified best. Every candidate's similarities are computed and
    normalized once. All candidates share one basis, chosen by the first of them from the rows to train on; those with
    a basis of their own keep it. Row numbers count the rows of X; rows that a basis names are never held out.

    Parameters
    ----------
    candidates : list of str, Similarity, callable or Measure
        The measures to choose from.
    n_measures : int, default=4
        How many to choose; all, if there are fewer.
    basis : default="auto"
        Which rows become exemplars, as in :class:`besvm.BasisExpansion`.
    normalize : {"mean-norm", "z-score", None} or Normalization, default="mean-norm"
        What makes features of the similarities, as in :class:`besvm.BasisExpansion`.
    C : float, default=1.0
        Weight of the loss against the norm.
    validation : float, default=0.2
        The share of the rows that is held out, the classes in proportion; unused where ``fit`` is given rows for it.
        The columns of square "precomputed" similarities go with their rows.
    min_gain : float, optional
        Stop before a measure that adds less than this to the accuracy; by default, never. The first is taken whatever
        it adds.
    tol : float, default=1e-3
        How far the objective may be above its minimum, as a share of itself.
    folder : path, optional
        Where to keep the similarities (.npy) and the scores (.json), so that a run that was stopped goes on where it
        was. They are found by a hash of the data, the labels, the basis, the measures with all that they hold, and the
        source files of what they are made of: besvm's, yours, and those of your own modules that these import. Where
        any of it changed, nothing old is served. Not seen are files and environment variables that a function reads,
        globals that a program sets from those or changes while it runs, and modules imported by a computed name. What
        has no source file (a function typed into a notebook) or cannot be hashed (a lock) is computed anew in every
        run; ``verbose=1`` says which. Needs a whole number as ``random_state``. What was
        damaged is computed anew. A killed run may leave a file that ends in ``.part``, which the next one removes.
    refit : bool, default=True
        Train a classifier with the chosen measures on all rows of X, to predict with.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that the selection may take beyond X; by default 70 % of what is free. Where the
        candidates do not fit, they go to disk: to ``folder``, or to a temporary one.
    n_jobs : int, optional
        Threads (processes, for a Python function); by default all that BLAS may use.
    random_state : int, RandomState or None, default=None
        Controls the random choice of exemplars and of held-out rows.
    verbose : int, default=0
        0: a progress bar, in a terminal only. 1: messages as well, also outside a terminal.

    Attributes
    ----------
    measures_ : list of Measure
        The chosen ones, in the order of their choice.
    names_ : list of str
        Their names.
    best_estimator_ : BESVMClassifier
        With the chosen measures and the same basis, normalization and C, trained on all rows of X; only with ``refit``.
    classes_ : ndarray
    trace_ : list of SelectionStep
        For every step the chosen measure, its accuracy and gain, all candidates' accuracies, and the seconds.
    rejected_ : SelectionStep or None
        The step that ``min_gain`` forbade, its ``chosen`` being the best that was left; None if it forbade none.
    storage_ : str
        Where the similarities lived: "memory" or "disk".

    Examples
    --------
    >>> from besvm.selection import GreedySelection
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GreedySelection(["linear", "rbf", "manhattan"], n_measures=2, basis=30, random_state=0).fit(X, y)
    >>> len(search.names_), [step.chosen for step in search.trace_] == search.names_
    (2, True)
    >>> search.best_estimator_.n_basis_, search.score(X, y) > 0.9
    (30, True)
    """

    _inside: ClassVar[str] = "best_estimator_"  # what analyses look at

    candidates: Any
    _: KW_ONLY
    n_measures: int = 4
    basis: Any = "auto"
    normalize: Any = "mean-norm"
    C: float = 1.0
    validation: float = 0.2
    min_gain: float | None = None
    tol: float = 1e-3
    folder: Any = None
    refit: bool = True
    memory_limit: int | float | str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @atomic_fit
    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Choose the measures.

        Parameters
        ----------
        X : anything with a length and slices that the measures can compare
        y : array of shape (n,)
        X_val, y_val : of the same kinds, optional
            Rows to judge by; by default a share of X is held out.
        """
        self._check_parameters()
        measures = as_measures(self.candidates, "candidates")
        names = _distinct([measure.label for measure in measures])
        named = [replace(measure, name=name) for measure, name in zip(measures, names, strict=True)]
        rng = make_rng(self.random_state)
        split = self._split(X, y, X_val, y_val, named, rng)
        with workers(self.n_jobs):
            order = self._search(split, names, rng, split.n_all if X_val is None else len(split.labels))
        self.measures_, self.names_ = [measures[i] for i in order], [names[i] for i in order]
        self._sizes = (len(split.labels), len(split.val_labels), len(names))
        del split  # a copy of X, which the last training has better use for
        forget(self, "best_estimator_")
        if self.refit:
            self.best_estimator_ = with_params_of(self, BESVMClassifier, measures=list(self.measures_)).fit(X, y)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "candidates": portable_measures(self.candidates)}

    def _search(self, split: Split, names: list[str], rng: np.random.Generator, n: int) -> list[int]:
        """Compute all candidates' features, and return which were chosen, in order; n rows will be trained on last."""
        folder = None if self.folder is None else make_folder(self.folder)
        most = min(self.n_measures, len(names))
        expander = fit_expander(split.X, split.classes[split.labels], split.measures, split.basis, rng)
        chosen = self._plan(split, expander, most, n)
        say(self.verbose, str(chosen))
        training = {"C": float(self.C), "tol": float(self.tol)}
        candidates = Candidates(split, names, expander, as_normalization(self.normalize), self.verbose)
        keys = candidates.keys(tuple(training.values()), folder)
        scratch = None if chosen.storage == "memory" else folder or chosen.folder or Path(gettempdir())
        with workers(chosen.n_jobs):
            parts = candidates.features(keys, folder, scratch)
            trials = Trials(split, parts, keys.names, names, keys.scores, training | chosen.solver_options)
            order, self.trace_, self.rejected_ = choose(trials, most, self.min_gain, self.verbose)
        self.storage_ = chosen.storage
        return order

    @available_if(_refits)
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample, by ``best_estimator_``."""
        return self._best().predict(X)

    @available_if(_refits)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins of the samples, by ``best_estimator_``."""
        return self._best().decision_function(X)

    @available_if(_refits)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, by ``best_estimator_``."""
        return self._best().predict_proba(X)

    @available_if(_refits)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of ``best_estimator_``."""
        return float(self._best().score(X, y, sample_weight))

    def _best(self) -> BESVMClassifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def report(self) -> str:
        """Return the trace as a table: a row for every candidate, a column for every step, * for the chosen one.

        Where ``min_gain`` ended the selection, the last column is the step that was not taken.
        """
        check_is_fitted(self, "trace_")
        n, n_val, n_candidates = self._sizes
        chosen = f"{len(self.trace_)} of {n_candidates} measures, chosen on {n_val:,} held-out rows"
        return f"{chosen} ({n:,} to train on)\n{table(self.trace_, self.rejected_)}"

    def __str__(self) -> str:
        return self.report() if hasattr(self, "trace_") else repr(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracy by step: all candidates as dots, the chosen ones joined; return the axes.

        Where ``min_gain`` ended the selection, the candidates of the step that was not taken are drawn too.
        """
        check_is_fitted(self, "trace_")
        return draw(self.trace_, self.rejected_, ax)

    def _check_parameters(self) -> None:
        as_normalization(self.normalize)
        check_loss_weight(self.C)
        if not 0 < check_positive("validation", self.validation) < 1:
            raise ValueError(f"validation must be a share between 0 and 1, got {shown(self.validation)}")
        gain = 0.0 if self.min_gain is None else self.min_gain
        if not is_number(gain):
            raise ValueError(f"min_gain must be a finite number or None, got {shown(self.min_gain)}")
        if not (self.folder is None or isinstance(self.folder, (str, PathLike))):
            raise TypeError(f"folder must be a path or None, got {shown(self.folder)}")
        seeded = isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool)
        if self.folder is not None and not seeded:
            raise ValueError(
                "random_state must be a whole number if you give a folder, so that later runs find its files again, "
                f"got {shown(self.random_state)}"
            )

    def _split(
        self, X: Any, y: Any, X_val: Any, y_val: Any, measures: list[Measure], rng: np.random.Generator
    ) -> Split:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together, got only one of them")
        vectors = compares_vectors(measures)
        X = check_vectors(self, X, vectors)
        self.classes_, labels = check_classes(X, y)
        if X_val is None:
            return hold_out(X, self.classes_, labels, self.validation, measures, self.basis, rng)
        X_val = check_vectors(self, X_val, vectors, reset=False)
        return given(X, self.classes_, labels, X_val, y_val, measures, self.basis)

    def _plan(self, split: Split, expander: Expander, most: int, n: int) -> Plan:
        """Return where the features go, and what training on the widest set may take; n rows are trained on last."""
        widest, itemsize = sum(sorted(expander.widths)[-most:]), expander.dtype.itemsize
        beside = as_normalization(self.normalize).takes(expander.widths, n, itemsize)
        limits: dict[str, Any] = {"beside": beside, "memory_limit": self.memory_limit}
        if self.refit:  # what the classifier will refuse, is refused before the search
            plan_training(n, widest, itemsize, n_columns(n, len(self.classes_), hold_out=True), **limits)
        columns = n_columns(len(split.labels), len(split.classes), hold_out=False)
        limits["features"] = itemsize * split.n_all * expander.width
        limits["folder"] = None if self.folder is None else as_folder("folder", self.folder)
        planned = partial(plan_training, len(split.labels), widest, itemsize, columns, **limits)
        chosen = planned()
        return chosen if chosen.storage != "recompute" else planned(storage="disk")  # each is read dozens of times

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, self.candidates, self.basis)
        return tags


def _distinct(labels: list[str]) -> list[str]:
    """Return the labels, those that occur more than once with their place behind them."""
    return [label if labels.count(label) == 1 else f"{label}.{place}" for place, label in enumerate(labels)]
