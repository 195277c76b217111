"""Training as the commands do it: what to read, what to train, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from besvm import BESVMClassifier
from besvm._support.parameters import check_memory_limit, check_n_jobs, check_seed, is_whole, shown
from besvm._support.progress import compilation, on_terminal, say
from besvm._support.rows import take
from besvm._support.units import show_seconds
from besvm.blocks.plan import Limit
from besvm.commands.measures import check_size, chosen, shared_basis, with_basis
from besvm.commands.scores import Accuracy
from besvm.inputs import Data, read
from besvm.inputs.contract import counted
from besvm.linear import check_c
from besvm.measures import Measure
from besvm.similarities import resolve

WORTH_SAYING = 2.0  # seconds that are left
NAMED = 5  # classes that a note names


@dataclass(frozen=True)
class Reading:
    """What a user says of the data; the rest is guessed."""

    label: str | None = None
    columns: list[str] | None = None
    kind: str | None = None
    size: int | None = None
    labels: str | None = None
    skip_unreadable: bool = False

    def options(self) -> list[tuple[str, Any]]:
        """Return it as options of the command line."""
        named = [("--label", self.label), ("--kind", self.kind), ("--image-size", self.size), ("--labels", self.labels)]
        return [pair for pair in named if pair[1] is not None] + [("--column", one) for one in self.columns or ()]

    def read(self, path: str, memory_limit: Limit) -> Data:
        """Read the samples to train on, say what was found, and refuse what nothing can be learned from."""
        data = read(path, **vars(self), memory_limit=memory_limit)
        say(1, data.said)
        check_trainable(data)
        _say_rare(data)
        return data


@dataclass(frozen=True)
class Recipe:
    """What to train."""

    measures: list[str] = field(default_factory=list)  # as a user writes them; none: the usual ones
    size: str = "small"
    basis: float | None = None  # exemplars of each measure; None: the usual number
    C: float | str = "auto"
    seed: int = 0
    jobs: int | None = None
    memory_limit: Limit = None
    checkpoint: str | None = None  # the folder that keeps what is finished
    client: Any = None  # of a cluster

    def __post_init__(self) -> None:
        check_size(self.size)
        check_c(self.C)
        check_n_jobs("--jobs", self.jobs)
        check_seed("--seed", self.seed)
        check_memory_limit("--memory-limit", self.memory_limit)

    def chosen(self, data: Data) -> list[Measure]:
        """Return the measures that the data are compared by."""
        return chosen(data, self.measures, self.size)

    def estimator(self, measures: list[Measure], n: int, part: str | None = None) -> BESVMClassifier:
        """Return the classifier to be trained on n rows; a ``part`` of the work has a checkpoint of its own."""
        precomputed = any(resolve(measure.similarity).precomputed for measure in measures)
        if precomputed and self.basis is not None:
            raise ValueError(
                "--basis cannot be used with precomputed similarities, where every column is an exemplar; remove it"
            )
        return BESVMClassifier(
            with_basis(measures, self.basis, n),
            basis=shared_basis(self.basis, n),
            C=self.C,
            random_state=self.seed,
            n_jobs=self.jobs,
            memory_limit=self.memory_limit,
            checkpoint=None if self.checkpoint is None or part is None else str(Path(self.checkpoint, part)),
            client=self.client,
        )


class Stages:
    """Says on a terminal what is being trained, and about how long it takes until ``total`` rows were trained on."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self._rows = total, 0, 0
        self._start = self._now()

    @staticmethod
    def _now() -> float:
        return monotonic() - compilation.seconds

    def begin(self, what: str, rows: int) -> None:
        """Say what comes next."""
        self.done += self._rows
        self._rows = rows
        left = (self._now() - self._start) * (self.total - self.done) / max(1, self.done)
        about = f"; about {show_seconds(left)} left" if self.done and left > WORTH_SAYING else ""
        say(int(on_terminal()), what + about)


@dataclass(frozen=True)
class Check:
    """How to find out how good a model is before it is trained on all rows."""

    holdout: float = 0.2
    folds: int | None = None
    wanted: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.holdout < 1:
            raise ValueError(f"--holdout must be a share between 0 and 1, such as 0.2, got {self.holdout}")
        if not (self.folds is None or is_whole(self.folds, 2)):
            raise ValueError(f"--cv must be at least 2 folds, got {shown(self.folds)}")

    def splits(self, y: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to train on and the rows to test on, the classes in proportion where they are large enough."""
        rows, (_, counts) = np.arange(len(y)), np.unique(y, return_counts=True)
        if self.folds is not None:
            folds = self._folds(len(y))
            proportional = counts.min() >= folds
            cut = (StratifiedKFold if proportional else KFold)(folds, shuffle=True, random_state=seed)
            yield from cut.split(rows, y)
            return
        n_test = max(1, round(self.holdout * len(y)))
        proportional = counts.min() >= 2 and min(n_test, len(y) - n_test) >= len(counts)
        train, test = train_test_split(rows, test_size=n_test, stratify=y if proportional else None, random_state=seed)
        yield np.sort(train), np.sort(test)

    def stages(self, y: np.ndarray, seed: int) -> Stages:
        """Return what will say how far the training is, that on all rows at the end."""
        checked = sum(len(train) for train, _ in self.splits(y, seed)) if self.wanted else 0
        return Stages(checked + len(y))

    def how(self, n: int) -> str:
        """Return what is done with n rows, in words."""
        return "held out" if self.folds is None else f"{self._folds(n)}-fold cross-validation"

    def _folds(self, n: int) -> int:
        """Return how many folds n rows give."""
        return min(self.folds or n, n)

    def accuracy(self, recipe: Recipe, data: Data, measures: list[Measure], stages: Stages) -> Accuracy | None:
        """Return the accuracy on rows that were not trained on; None if it is not wanted, or cannot be told."""
        if not self.wanted:
            return None
        right = n = 0
        y = _classes(data)
        for fold, (train, test) in enumerate(self.splits(y, recipe.seed), start=1):
            which = "" if self.folds is None else f", fold {fold} of {self._folds(len(y))}"
            stages.begin(f"checking{which}: training on {len(train):,} rows, testing on {len(test):,}", len(train))
            if len(np.unique(y[train])) < 2:
                say(1, "note: the accuracy is not measured, because there are too few samples to hold some out")
                return None
            model = recipe.estimator(measures, len(train), f"check-{fold}").fit(take(data.X, train), y[train])
            right += int((model.predict(take(data.X, test)) == y[test]).sum())
            n += len(test)
        return Accuracy.of(right, n, self.how(len(y)))


def check_trainable(data: Data) -> None:
    """Refuse samples without classes, with a single one, or with hardly more samples than classes."""
    if data.y is None:
        if data.kind == "images":
            hint = "put the images of each class into their own folder"
        else:
            hint = "name their column with --label, or give a file of classes with --labels"
        raise ValueError(f"{data.source} must have a class for every sample to train on, but has none; {hint}")
    empty = np.flatnonzero(data.y == "")
    if len(empty):
        name = data.names[int(empty[0])]
        raise ValueError(
            f"{data.source} must have a class for every sample to train on, but it is missing for "
            f"{counted(len(empty), 'samples')}, the first being {name}; fill in the classes, or remove the samples"
        )
    classes = np.unique(data.y)
    where = f" (the classes are taken from column {data.label!r}; --label names another)" if data.columns else ""
    if len(classes) < 2:
        raise ValueError(f"{data.source} must have samples of at least two classes, got only {classes[0]!s}{where}")
    if len(data) < 2 * len(classes):
        raise ValueError(
            f"{data.source} must have at least two samples for each class, got {counted(len(data), 'samples')} of "
            f"{counted(len(classes), 'classes')}{where}"
        )


def _say_rare(data: Data) -> None:
    """Say which classes are too rare to learn much of them, as that may be a typing error."""
    classes, counts = np.unique(_classes(data), return_counts=True)
    rare = [str(name) for name, count in zip(classes, counts, strict=True) if count == 1]
    if rare:
        listed = ", ".join(rare[:NAMED]) + (", ..." if len(rare) > NAMED else "")
        say(
            1, f"note: {counted(len(rare), 'classes')} with a single sample, from which little can be learned: {listed}"
        )


def facts_of(data: Data, accuracy: Accuracy | None, model: Any, **more: Any) -> dict[str, Any]:
    """Return what is kept with a model: how to read samples for it, and what is known of its training."""
    known = {
        "kind": data.kind,
        "columns": data.columns,
        "label": data.label,
        "size": None if data.size is None else list(data.size),
        "source": data.source,
        "rows": len(data),
        "accuracy": None if accuracy is None else accuracy.facts(),
        "names": _names(data, model),
        **more,
    }
    return {name: value for name, value in known.items() if value is not None}


def _names(data: Data, model: Any) -> dict[str, str] | None:
    """Return what the data call the exemplars, by their numbers from 0; those that are mere numbers are left out."""
    rows = {int(row) for own in model.basis_rows_ if own is not None for row in own}
    rows |= {int(row) for own in model.basis_parts_ if own is not None for row in own.samples}
    return {str(row): data.names[row] for row in sorted(rows) if data.names[row] != str(row + 1)} or None


def _classes(data: Data) -> np.ndarray:
    assert data.y is not None, "check_trainable has seen to that"
    return data.y
