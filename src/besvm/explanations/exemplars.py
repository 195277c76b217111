"""Which exemplar, of which measure, every column of the features belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from besvm.explanations.models import Reading
from besvm.similarities.parts import PartSimilarity


def plain(value: Any) -> Any:
    """Return a value as plain Python, and as JSON can hold it: a number, a text, True, False or None."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def leading(columns: np.ndarray) -> np.ndarray:
    """Return which of an exemplar's columns, along the last axis, adds most in the direction of all of them together.

    Examples
    --------
    >>> leading(np.array([[0.5, -0.6, 0.4], [0.1, -0.2, -0.3]]))
    array([0, 2])
    """
    total = columns.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total < 0, -columns, columns).argmax(axis=-1))


@dataclass(frozen=True)
class Exemplar:
    """What an exemplar is called.

    Attributes
    ----------
    measure : str
    exemplar : int
        Its number among those of the measure, as in ``basis_rows_``; of exemplars given outright, in the list given.
    row : int or None
        The training row that it is, or that it is a part of.
    label : object
        The class of that row; None if it is not known.
    place : tuple of int or None
        Where in that row the part begins: row and column in a grid, the first time point or character.
    file : str or None
        What the training data called that row, such as the file of an image, if the model knows.

    Examples
    --------
    >>> from besvm.explanations import Exemplar
    >>> Exemplar("parts", 3, row=812, label="cat", place=(3, 7)).name
    'row 812 at 3,7'
    """

    measure: str
    exemplar: int
    row: int | None
    label: Any
    place: tuple[int, ...] | None
    file: str | None = field(default=None, kw_only=True)
    first_row: int = field(default=0, repr=False, kw_only=True)  # the number that the first training row goes by

    @property
    def name(self) -> str:
        """What to call it in a table: "row 812 at 3,7", or "cats/7.png at 3,7"."""
        text = f"exemplar {self.exemplar}" if self.row is None else self.file or f"row {self.row + self.first_row}"
        return text if self.place is None else f"{text} at {','.join(map(str, self.place))}"

    def to_dict(self) -> dict[str, Any]:
        """Return what it is called as plain values."""
        place = None if self.place is None else list(self.place)
        row = None if self.row is None else self.row + self.first_row
        named = {"measure": self.measure, "exemplar": self.exemplar, "row": row, "label": plain(self.label)}
        return {**named, "place": place, **({} if self.file is None else {"file": self.file})}


class Basis:
    """All exemplars of a model, measure after measure, and their columns.

    Attributes
    ----------
    all : list of Exemplar
    starts, widths : ndarray
        The first column of every exemplar, and how many it has.
    measure : ndarray
        The number of every exemplar's measure.
    place : ndarray
        The number of every exemplar in its measure.
    names : list of str
        A name for every measure, no two alike.
    """

    def __init__(self, reading: Reading, first_row: int = 0) -> None:
        expander = reading.map.expander
        self.names = expander.labels
        self.all: list[Exemplar] = []
        measure: list[int] = []
        place: list[int] = []
        widths: list[int] = []
        for number, (fitted, labels) in enumerate(zip(expander.measures, reading.labels, strict=True)):
            known = fitted.rows is not None
            for k, called in enumerate(fitted.numbers.tolist()):
                at = None if fitted.at is None else tuple(fitted.at[k].tolist())
                label = None if labels is None else labels[k]
                label = label.item() if isinstance(label, np.generic) else label
                own, row = (k, called) if known else (called, None)
                file = None if row is None else reading.files.get(row)
                self.all.append(Exemplar(self.names[number], own, row, label, at, file=file, first_row=first_row))
            measure += [number] * fitted.n_exemplars
            place += range(fitted.n_exemplars)
            widths += [fitted.similarity.columns_each] * fitted.n_exemplars
        self.measure, self.place = np.array(measure, dtype=np.intp), np.array(place, dtype=np.intp)
        self.widths = np.array(widths, dtype=np.intp)
        self.starts = np.cumsum(self.widths) - self.widths
        self._similarities = [fitted.similarity for fitted in expander.measures]

    def __len__(self) -> int:
        return len(self.all)

    def summed(self, columns: np.ndarray) -> np.ndarray:
        """Return what is known of every column, added up for every exemplar: over the last axis."""
        if (self.widths == 1).all():
            return columns
        return np.add.reduceat(columns, self.starts, axis=-1)

    def strongest(self, columns: np.ndarray) -> np.ndarray:
        """Return, for every exemplar, the column that leads, of what all columns (D,) add."""
        if (self.widths == 1).all():
            return self.starts
        return np.array([s + int(leading(columns[s : s + w])) for s, w in zip(self.starts, self.widths, strict=True)])

    def column_name(self, exemplar: int, column: int) -> str:
        """Return what the column of an exemplar is called that has several: the region of the sample, say."""
        similarity, offset = self._similarities[self.measure[exemplar]], int(column - self.starts[exemplar])
        several = isinstance(similarity, PartSimilarity) and self.widths[exemplar] > 1
        return similarity.column_names[offset] if several else ""
