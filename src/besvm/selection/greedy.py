"""Choose among many measures: forward selection of the one that contributes most."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

import besvm
from besvm._support.progress import Progress, progress, say
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices, workers
from besvm._support.validation import (
    atomic_fit,
    check_classes,
    check_count,
    check_positive,
    check_vectors,
    make_rng,
)
from besvm.blocks.joined import JoinedBlocks, Part
from besvm.blocks.plan import Plan, plan_training
from besvm.classifier import BESVMClassifier
from besvm.expand.expander import Expander, fit_expander, mark_input
from besvm.measures import Measure, as_measures, compares_vectors
from besvm.normalize.normalization import apply_in_place, check_normalize, fit_normalizer, normalizer_bytes
from besvm.selection.fingerprint import fingerprint
from besvm.selection.split import Split, given, hold_out
from besvm.selection.store import FeatureStore, ScoreBook, file_name, make_folder
from besvm.selection.trials import Data, Trials


@dataclass(frozen=True)
class Step:
    """One step of a selection: what was added, and how every candidate would have done in its place."""

    chosen: str
    accuracy: float
    gain: float  # over the step before; of the first step, over always naming the most frequent class
    accuracies: dict[str, float]
    seconds: float


class GreedySelection(BaseEstimator):  # type: ignore[misc]
    """Forward selection of measures by held-out accuracy ("Multiple Similarity Measures" in the paper).

    Each step trains a BE-SVM (eq. besvm_primal) on the measures chosen so far and, in turn, each of the others, and
    keeps the one with which the validation rows are classified best. Every candidate's similarities are computed and
    normalized once. All candidates share one basis, chosen by the first of them from the rows to train on; those with
    a basis of their own keep it. Row numbers count the rows of X; rows that a basis names are never held out.

    Parameters
    ----------
    candidates : list of str, Similarity, callable or Measure
    n_measures : int, default=4
        How many to choose; all, if there are fewer.
    basis, normalize, C, tol
        As in :class:`besvm.BESVMClassifier`.
    validation : float, default=0.2
        The share of the rows that is held out, the classes in proportion; unused where ``fit`` is given rows for it.
        The columns of square "precomputed" similarities go with their rows.
    min_gain : float, optional
        Stop before a measure that adds less than this to the accuracy; by default, never. The first is taken whatever
        it adds.
    folder : path, optional
        Where to keep the similarities (.npy) and the scores (.json), so that a run that was stopped goes on where it
        was. Files are found by a hash of the data, the labels, the basis and the measures, with the code of their
        functions and of those of your own that these call, and the globals they name: where any of it changed, nothing
        old is served. Not seen are files that a function reads, and what it imports or looks up while it runs. What
        cannot be hashed (a lock, an open file) is computed anew in every run. Needs a whole number as
        ``random_state``. A killed run may leave a file that ends in ``.part``; the next run removes it.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that the selection may take beyond X; by default 70 % of what is free. Where the
        candidates do not fit, they go to disk: to ``folder``, or to a temporary one.
    n_jobs : int, optional
    random_state : int, RandomState or None
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 says what happens anywhere.

    Attributes
    ----------
    measures_ : list of Measure
        The chosen ones, in the order of their choice.
    labels_ : list of str
        Their names.
    trace_ : list of Step
        For every step the chosen measure, its accuracy and gain, all candidates' accuracies, and the seconds.
    rejected_ : Step or None
        The step that ``min_gain`` forbade, its ``chosen`` being the best that was left; None if it forbade none.
    storage_ : str
        Where the similarities lived: "memory" or "disk".

    Examples
    --------
    >>> from besvm.selection import GreedySelection
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> chosen = GreedySelection(["linear", "rbf", "manhattan"], n_measures=2, basis=30, random_state=0).fit(X, y)
    >>> len(chosen.labels_), [step.chosen for step in chosen.trace_] == chosen.labels_
    (2, True)
    >>> chosen.best_estimator().fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        candidates: Any,
        *,
        n_measures: int = 4,
        basis: Any = "auto",
        normalize: Any = "mean-norm",
        C: float = 1.0,
        validation: float = 0.2,
        min_gain: float | None = None,
        tol: float = 1e-3,
        folder: Any = None,
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.candidates = candidates
        self.n_measures = n_measures
        self.basis = basis
        self.normalize = normalize
        self.C = C
        self.validation = validation
        self.min_gain = min_gain
        self.tol = tol
        self.folder = folder
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        measures = as_measures(self.candidates)
        labels = _distinct([measure.label for measure in measures])
        self._check_parameters()
        most = min(self.n_measures, len(measures))
        rng = make_rng(self.random_state)
        split = self._split(X, y, X_val, y_val, measures, rng)
        data = split.data
        if self.folder is not None:
            make_folder(Path(self.folder))
        with workers(self.n_jobs):
            expander = fit_expander(data.X, data.classes[data.labels], split.measures, split.basis, rng)
            chosen = self._plan(data, expander, most)
            say(self.verbose, str(chosen))
            with self._folder(chosen) as folder, workers(chosen.n_jobs):
                keys, scores = self._keys(data, expander, measures, labels, folder)
                parts = self._features(data, expander, keys, FeatureStore(folder, chosen.storage == "memory"))
                options = {"C": float(self.C), "tol": float(self.tol), **chosen.solver_options}
                trials = Trials(data, parts, keys, labels, scores, options)
                order, self.trace_, self.rejected_ = self._select(trials, most)
        self.measures_ = [measures[i] for i in order]
        self.labels_ = [labels[i] for i in order]
        self.storage_ = chosen.storage
        self._sizes = (len(data.labels), len(data.val_labels), len(labels))
        return self

    def best_estimator(self) -> BESVMClassifier:
        """Return a BESVMClassifier with the chosen measures and the same basis, normalization and C, not yet fitted."""
        check_is_fitted(self, "measures_")
        return BESVMClassifier(
            list(self.measures_),
            basis=self.basis,
            normalize=self.normalize,
            C=self.C,
            tol=self.tol,
            memory_limit=self.memory_limit,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
        )

    def report(self) -> str:
        """Return the trace as a table: a row for every candidate, a column for every step, * for the chosen one.

        Where ``min_gain`` ended the selection, the last column is the step that was not taken.
        """
        check_is_fitted(self, "trace_")
        n, n_val, n_candidates = self._sizes
        names = list(self.trace_[0].accuracies)
        columns = [(f"step {number}", step, step.chosen) for number, step in enumerate(self.trace_, start=1)]
        if self.rejected_ is not None:
            columns.append(("rejected", self.rejected_, ""))
        width = max(len("candidate"), *map(len, names))
        lines = [
            f"{len(self.trace_)} of {n_candidates} measures, chosen on {n_val:,} held-out rows ({n:,} to train on)",
            "candidate".ljust(width) + "".join(f"{head:>9}" for head, *_ in columns),
        ]
        for name in names:
            cells = [_cell(step.accuracies.get(name), taken == name) for _, step, taken in columns]
            lines.append((name.ljust(width) + "".join(cells)).rstrip())
        lines.append("gain".ljust(width) + "".join(f"{step.gain:>+8.4f} " for _, step, _ in columns).rstrip())
        lines.append("seconds".ljust(width) + "".join(f"{step.seconds:>8.1f} " for _, step, _ in columns).rstrip())
        if self.rejected_ is not None:
            lines.append(f"stopped: {self.rejected_.chosen} would add only {self.rejected_.gain:+.4f}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.report() if hasattr(self, "trace_") else repr(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracy by step: all candidates as dots, the chosen ones joined; return the axes.

        Where ``min_gain`` ended the selection, the candidates of the step that was not taken are drawn too.
        """
        check_is_fitted(self, "trace_")
        from besvm.selection.plot import draw

        return draw(self.trace_, self.rejected_, ax)

    # --- the parts of fit ----------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_normalize(self.normalize)
        check_count("n_measures", self.n_measures)
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        if not 0 < check_positive("validation", self.validation) < 1:
            raise ValueError(f"validation must be a share between 0 and 1, got {self.validation!r}")
        gain = 0.0 if self.min_gain is None else self.min_gain
        if not (isinstance(gain, (int, float, np.number)) and np.isfinite(gain)):
            raise ValueError(f"min_gain must be a finite number or None, got {self.min_gain!r}")
        seeded = isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool)
        if self.folder is not None and not seeded:
            raise ValueError(
                "random_state must be a whole number where a folder is given, or else no later run could find its "
                f"files again; got {self.random_state!r}"
            )

    def _split(
        self, X: Any, y: Any, X_val: Any, y_val: Any, measures: list[Measure], rng: np.random.Generator
    ) -> Split:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together, got only one of them")
        vectors = compares_vectors(measures)
        X = check_vectors(self, X, vectors)
        classes, labels = check_classes(X, y)
        if X_val is None:
            return hold_out(X, classes, labels, self.validation, measures, self.basis, rng)
        X_val = check_vectors(self, X_val, vectors, reset=False)
        return Split(given(X, classes, labels, X_val, y_val), measures, self.basis)

    def _plan(self, data: Data, expander: Expander, most: int) -> Plan:
        """Return where the features go, and what training on the widest set may take."""
        widest = sum(sorted(map(len, expander.measures))[-most:])
        itemsize = expander.dtype.itemsize
        planned = partial(
            plan_training,
            len(data.labels),
            widest,
            itemsize,
            len(data.positive),
            features=itemsize * data.n_all * expander.width,
            beside=normalizer_bytes(self.normalize, expander, len(data.labels)),
            folder=None if self.folder is None else Path(self.folder),
            memory_limit=self.memory_limit,
        )
        chosen = planned()
        return chosen if chosen.storage != "recompute" else planned(storage="disk")  # each is read dozens of times

    @contextmanager
    def _folder(self, chosen: Plan) -> Iterator[Path | None]:
        """Yield where files go: the user's folder, a temporary one if memory is short, or nowhere."""
        if self.folder is not None:
            yield Path(self.folder)
        elif chosen.storage == "disk":
            with tempfile.TemporaryDirectory(prefix="besvm-", dir=chosen.folder) as name:
                yield Path(name)
        else:
            yield None

    def _keys(
        self, data: Data, expander: Expander, measures: list[Measure], labels: list[str], folder: Path | None
    ) -> tuple[list[str], ScoreBook]:
        """Return a key for every candidate's features, and the scores that an earlier run left for these data."""
        if folder is None:
            return labels, ScoreBook(None)
        rows = fingerprint(besvm.__version__, data.X, data.classes[data.labels], data.X_val, self.normalize)
        keys = []
        for label, measure, fitted in zip(labels, measures, expander.measures, strict=True):
            exemplars = fitted.exemplars if fitted.rows is None else fitted.rows
            recipe = fingerprint(rows, measure.similarity, measure.features, exemplars, str(expander.dtype))
            keys.append(file_name(label, recipe))
        problem = fingerprint(rows, data.val_labels, float(self.C), float(self.tol))
        return keys, ScoreBook(folder / f"{file_name('scores', problem)}.json")

    def _features(self, data: Data, expander: Expander, keys: list[str], store: FeatureStore) -> list[Part]:
        """Return every candidate's normalized similarities: the training rows, then those held out."""
        parts = []
        with progress("similarities", data.n_all * len(keys), self.verbose) as shown:
            for place, (key, measure) in enumerate(zip(keys, expander.measures, strict=True)):
                source = Expander(expander.transformers, [measure], expander.dtype)
                shown.note(f"similarities of {measure.label}")
                fill = partial(self._fill, data, source, shown)
                parts.append(store.get(key, (data.n_all, source.width), source.dtype, fill))
                shown.advance(data.n_all * (place + 1) - shown.done)  # what was found, counts as done
        return parts

    def _fill(self, data: Data, source: Expander, shown: Progress, part: Part) -> None:
        first = 0
        for X in (data.X, data.X_val):
            for rows in slices(n_rows(X), source.rows_per_block):
                part[slice(first + rows.start, first + rows.stop)] = source(span(X, rows), rows.start)
                shown.advance(rows.stop - rows.start)
            first += n_rows(X)
        normalizer = fit_normalizer(source, JoinedBlocks([part], data.train), data.X, None, self.normalize)
        apply_in_place(normalizer, JoinedBlocks([part], slice(0, data.n_all)))

    def _select(self, trials: Trials, most: int) -> tuple[list[int], list[Step], Step | None]:
        order: list[int] = []
        trace: list[Step] = []
        rejected: Step | None = None
        last = trials.chance
        n = len(trials.labels)
        with progress("choosing", sum(n - i for i in range(most)), self.verbose) as shown:
            while len(order) < most:
                left = [i for i in range(n) if i not in order]
                results = {i: trials.score([*order, i], shown) for i in left}
                best = max(left, key=lambda i: results[i][0])  # the first of equals
                accuracy = results[best][0]
                accuracies = {trials.labels[i]: results[i][0] for i in left}
                seconds = sum(took for _, took in results.values())
                step = Step(trials.labels[best], accuracy, accuracy - last, accuracies, seconds)
                if trace and self.min_gain is not None and step.gain < self.min_gain:
                    rejected = step
                    say(self.verbose, f"stopped: {step.chosen} would add only {step.gain:+.4f}")
                    break
                trace.append(step)
                say(self.verbose, f"step {len(trace)}: {step.chosen}, accuracy {accuracy:.4f}")
                order.append(best)
                last = accuracy
        trials.warn()
        return order, trace, rejected

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, lambda: self.candidates, self.basis)
        tags.target_tags.required = True
        return tags


def _distinct(labels: list[str]) -> list[str]:
    """Return the labels, those that occur more than once with their place behind them."""
    return [label if labels.count(label) == 1 else f"{label}.{place}" for place, label in enumerate(labels)]


def _cell(accuracy: float | None, chosen: bool) -> str:
    return " " * 9 if accuracy is None else f"{accuracy:>8.4f}" + ("*" if chosen else " ")
