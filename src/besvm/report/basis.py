"""The different exemplars of a model, whichever measures compare with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from besvm.expand import Expander
from besvm.expand.room import steps_of
from besvm.similarities.variants import column_apart

Key = tuple[Any, ...]  # ("row", training row), ("given", list, place) or ("part", measure, place)


@dataclass(frozen=True)
class Basis:
    """The different exemplars, numbered.

    Attributes
    ----------
    expander : Expander
    keys : list of tuple
        What identifies each.
    of_measure : list of ndarray
        For every measure, the number of each of its exemplars.
    first_row : int
        The number that the first training row goes by.
    files : dict of int to str
        What the training data called its rows, as far as that is known.
    """

    expander: Expander
    keys: list[Key]
    of_measure: list[np.ndarray]
    first_row: int = 0
    files: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def of_column(self) -> np.ndarray:
        """The number of the exemplar that every column belongs to, (D,)."""
        each = [measure.similarity.columns_each for measure in self.expander.measures]
        return np.concatenate([n.repeat(e) for n, e in zip(self.of_measure, each, strict=True)])

    @property
    def rows(self) -> np.ndarray:
        """The training row that each is, or is a part of; -1 where that is not known."""
        return np.array([self._row(key) for key in self.keys], dtype=np.intp)

    def _row(self, key: Key) -> int:
        if key[0] == "row":
            return int(key[1])
        rows = self.expander.measures[key[1]].rows if key[0] == "part" else None
        return -1 if rows is None else int(rows[key[2]])

    def name(self, number: int) -> str:
        """Return what to call an exemplar."""
        key = self.keys[number]
        row = self._row(key)
        called = self.files.get(row, f"training row {row + self.first_row}")
        if key[0] != "part":
            return f"exemplar {key[2]}" if row < 0 else called
        at = self.expander.measures[key[1]].at
        where = "" if at is None else f", at {', '.join(map(str, np.atleast_1d(at[key[2]])))}"
        return f"part {key[2]}" if row < 0 else f"part of {called}{where}"

    def classes(self, labels: list[np.ndarray | None]) -> list[str]:
        """Return the class of each, from the labels of every measure's exemplars; an empty text where it is unknown."""
        out = [""] * len(self)
        for numbers, own in zip(self.of_measure, labels, strict=True):
            for number, label in zip(numbers, () if own is None else own.tolist(), strict=own is not None):
                out[number] = str(label)
        return out

    def frame(self, number: int) -> list[int] | None:
        """Return where in its sample a part lies, in pixels, time points or characters; None of a whole exemplar.

        In an image that is [top, left, height, width], in a series or a text [first, length].
        """
        kind, place, k = (*self.keys[number], 0)[:3]
        if kind != "part" or self.expander.measures[place].at is None:
            return None
        measure = self.expander.measures[place]
        at = [int(one) for one in np.atleast_1d(measure.at[k])]
        item = measure.exemplars[k]
        if len(at) == 2:
            transformer = None if measure.transformer is None else self.expander.transformers[measure.transformer]
            _, features = column_apart(transformer)
            cell = 1 if features is None else int(getattr(steps_of(features)[0], "cell", 1))
            return [cell * value for value in (*at, *np.shape(item)[:2])]
        if getattr(item, "dtype", None) is not None and item.dtype.names:
            return [at[0], int(item["dilation"]) * (np.shape(item["values"])[-1] - 1) + 1]
        return [at[0], len(item)]


def basis_of(expander: Expander, first_row: int = 0, files: dict[int, str] | None = None) -> Basis:
    """Return the different exemplars: one row of the training data is one exemplar, a part is one for itself."""
    number: dict[Key, int] = {}
    of_measure = []
    for place, measure in enumerate(expander.measures):
        if measure.similarity.of_parts:
            keys: list[Key] = [("part", place, k) for k in range(measure.n_exemplars)]
        elif measure.rows is not None:
            keys = [("row", int(row)) for row in measure.rows]
        else:
            keys = [("given", measure.basis, int(k)) for k in measure.numbers]
        seen: dict[Key, int] = {}
        for k, key in enumerate(keys):  # a row that was given twice is two exemplars
            seen[key] = seen.get(key, 0) + 1
            keys[k] = key if seen[key] == 1 else (*key, seen[key])
        of_measure.append(np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp))
    return Basis(expander, list(number), of_measure, first_row, files or {})
