"""How good predictions are: accuracy with its interval, and class by class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from besvm._support.parameters import is_number, is_whole
from besvm._support.shares import wilson
from besvm._support.tables import table

MOST_SHOWN = 12  # classes of a confusion matrix that is shown whole
PAIRS = 10  # confused pairs that are shown otherwise


@dataclass(frozen=True)
class Accuracy:
    """The share of samples that are right, with Wilson's 95 % interval.

    Examples
    --------
    >>> print(Accuracy.of(90, 100, "held out"))
    0.900 (95 % interval 0.826 to 0.945; 100 rows, held out)
    """

    value: float
    low: float
    high: float
    rows: int
    how: str

    @classmethod
    def of(cls, right: int, n: int, how: str) -> Accuracy:
        """Return the accuracy of n samples, of which so many are right."""
        low, high = wilson(right, n)
        return cls(right / n, low, high, n, how)

    @classmethod
    def known(cls, facts: Any) -> Accuracy | None:
        """Return what a model file says of it; None if that is nothing, or nothing sound."""
        names = ("value", "low", "high")
        if not (isinstance(facts, dict) and all(is_number(facts.get(name)) for name in names)):
            return None
        numbers = {name: float(facts[name]) for name in names}
        return cls(**numbers, rows=facts["rows"], how=str(facts.get("how"))) if is_whole(facts.get("rows")) else None

    def facts(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        rows = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        return f"{self.value:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}; {rows}, {self.how})"


class Confusion:
    """How often each class was taken for each other; counted block by block."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()  # by (true, predicted)

    def add(self, true: Iterable[Any], predicted: Iterable[Any]) -> None:
        """Count more samples."""
        self.counts.update(zip(map(str, true), map(str, predicted), strict=True))

    @property
    def rows(self) -> int:
        """How many samples there are."""
        return self.counts.total()

    @property
    def right(self) -> int:
        """How many of them are right."""
        return sum(n for (true, predicted), n in self.counts.items() if true == predicted)

    @property
    def classes(self) -> list[str]:
        """All classes, true or predicted, in the order that people expect."""
        return sorted({name for pair in self.counts for name in pair}, key=natural)

    def by_class(self) -> list[dict[str, Any]]:
        """Return, for every class, how many samples it has and how well they are told from the others."""
        true, predicted = Counter[str](), Counter[str]()
        for (of, taken_for), n in self.counts.items():
            true[of] += n
            predicted[taken_for] += n
        out = []
        for name in self.classes:
            right = self.counts[name, name]
            precision = right / predicted[name] if predicted[name] else None
            recall = right / true[name] if true[name] else None
            f1 = 2 * right / (true[name] + predicted[name])
            out.append({"class": name, "rows": true[name], "precision": precision, "recall": recall, "f1": f1})
        return out

    def matrix(self) -> list[list[int]]:
        """Return the counts, a row for every true class and a column for every predicted one."""
        return [[self.counts[true, predicted] for predicted in self.classes] for true in self.classes]

    def __str__(self) -> str:
        rows = [
            [one["class"], f"{one['rows']:,}", *(_share(one[key]) for key in ("precision", "recall", "f1"))]
            for one in self.by_class()
        ]
        return f"{table(['class', 'rows', 'precision', 'recall', 'f1'], rows, right=range(1, 5))}\n\n{self._confused()}"

    def _confused(self) -> str:
        names = self.classes
        if len(names) <= MOST_SHOWN:
            rows = [[name, *map(str, counts)] for name, counts in zip(names, self.matrix(), strict=True)]
            return table(["true \\ predicted", *names], rows, right=range(1, len(names) + 1))
        wrong = [(n, pair) for pair, n in self.counts.items() if pair[0] != pair[1]]
        most = sorted(wrong, key=lambda one: (-one[0], natural(one[1][0]), natural(one[1][1])))[:PAIRS]
        if not most:
            return "no sample was taken for another class"
        return table(["most confused", "taken for", "rows"], [[*pair, str(n)] for n, pair in most], right=[2])


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a key by which "2" comes before "10"."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
