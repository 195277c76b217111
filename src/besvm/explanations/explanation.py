"""An explanation: what every exemplar added to every class, as a plain object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from besvm._support.extras import optional
from besvm._support.parameters import check_count, shown
from besvm._support.tables import table
from besvm.explanations.contribution import Contribution, signed
from besvm.explanations.exemplars import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from besvm.explanations.pairs import Pair
    from besvm.similarities import Match

TOP = 10  # rows that are shown where nobody says how many


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model decided as it did for one sample, as :func:`besvm.explain` returns it.

    For every class, the contributions, what is left over (``rest``) and the constant add up to the decision value:
    ``sum(c.contribution[k] for c in contributions) + rest[k] + constant[k] == decision[k]``, up to the last digit of
    the largest of them.

    Attributes
    ----------
    prediction : object
        The predicted class.
    classes : list
        The classes that are explained.
    decision : dict
        The decision value of each, as ``decision_function`` has it. Of two classes, the value is that of the second,
        and its negative that of the first.
    probability : dict or None
        The probability of each, where the model knows it.
    contributions : list of Contribution
        What every exemplar added, the largest in size for the class ``focus`` first.
    focus : object
        The class that they are sorted for: the predicted one, or the first that was asked for.
    rest : dict
        What the exemplars that are not listed add together.
    constant : dict
        What of the decision value is no exemplar's: the intercept (one-vs-one, the votes too), and ``rounding``.
    rounding : dict
        How much of the constant is there only because the model multiplies and adds in float32 or float64, which
        rounds: what makes the sum exact.
    votes : dict or None
        One-vs-one with more than two classes, how many pairs each class has won.
    measures : dict of dict
        What all exemplars of each measure add to each class, listed or not.
    n_exemplars : int
        How many exemplars there are, listed or not; one that several measures use counts for each.
    pairs : callable
        What :meth:`pair` asks.
    sample : object
        The sample, as the only row of X.

    Examples
    --------
    >>> import besvm
    >>> words, y = ["cat", "cart", "carts", "dog", "dogs", "dig"], ["c", "c", "c", "d", "d", "d"]
    >>> model = besvm.BESVMClassifier("edit", basis=[0, 3], C=1.0).fit(words, y)
    >>> why = besvm.explain(model, "cats")
    >>> why.prediction
    'c'
    >>> for one in why.towards("c"):
    ...     print(words[one.row], "is more like it than usual" if one.similarity > one.usual else "is less like it")
    dog is less like it
    cat is more like it than usual
    >>> total = sum(one.contribution["c"] for one in why.contributions) + why.constant["c"]
    >>> abs(total - why.decision["c"]) < 1e-12
    True
    """

    prediction: Any
    classes: list[Any]
    decision: dict[Any, float]
    probability: dict[Any, float] | None
    contributions: list[Contribution]
    focus: Any
    rest: dict[Any, float]
    constant: dict[Any, float]
    rounding: dict[Any, float]
    votes: dict[Any, float] | None
    measures: dict[str, dict[Any, float]]
    n_exemplars: int
    pairs: Callable[[Contribution, Any], Pair]
    sample: Any

    def towards(self, cls: Any = None, top: int | None = None) -> list[Contribution]:
        """Return what pulled towards a class (by default the one in focus), the strongest first."""
        cls = self._known(cls)
        found = sorted(self.contributions, key=lambda one: -one.contribution[cls])
        return _first([one for one in found if one.contribution[cls] > 0], top)

    def against(self, cls: Any = None, top: int | None = None) -> list[Contribution]:
        """Return what pulled away from a class (by default the one in focus), the strongest first."""
        cls = self._known(cls)
        found = sorted(self.contributions, key=lambda one: one.contribution[cls])
        return _first([one for one in found if one.contribution[cls] < 0], top)

    def between(self, one: Any, other: Any, top: int | None = None) -> list[tuple[Contribution, float]]:
        """Return what spoke for one class rather than another, with how much, the largest in size first.

        That is the difference of the contributions to both: they add up, with the constants and the rest, to the
        difference of the decision values.
        """
        one, other = self._known(one), self._known(other)
        found = [(each, each.contribution[one] - each.contribution[other]) for each in self.contributions]
        return _first(sorted(found, key=lambda pair: -abs(pair[1])), top)

    def per_measure(self) -> dict[str, dict[Any, float]]:
        """Return what the exemplars of each measure add to each class together."""
        return {name: dict(values) for name, values in self.measures.items()}

    def top(self, n: int) -> Explanation:
        """Return the explanation with the first ``n`` contributions listed, and the others in ``rest``."""
        kept = self.contributions[: check_count("top", n)]
        left = self.contributions[len(kept) :]
        rest = {c: fsum([self.rest[c], *(one.contribution[c] for one in left)]) for c in self.classes}
        return Explanation(**{**vars(self), "contributions": kept, "rest": rest})

    def pair(self, contribution: Contribution, cls: Any = None) -> Pair:
        """Return the sample and the exemplar of a contribution: what both look like, and how they match.

        A part is looked for in several regions; the match is that of the region that pulls most on a class (by default
        the one in focus), in the direction of all of them together.
        """
        return self.pairs(contribution, self._known(cls))

    def match(self, contribution: Contribution, cls: Any = None) -> Match:
        """Return how the sample and the exemplar of a contribution match, as :meth:`pair` does."""
        return self.pair(contribution, cls).match

    def to_dict(self, top: int | None = None, *, matches: bool = False) -> dict[str, Any]:
        """Return the explanation as plain values that JSON can hold.

        What belongs to classes is a list in the order of "classes". With ``matches``, every contribution that is listed
        has a "match": how the sample and the exemplar match, as :meth:`besvm.similarities.Match.to_dict` says.
        """
        if top is not None:
            return self.top(top).to_dict(matches=matches)
        rows = [one.to_dict() for one in self.contributions]
        if matches:
            for row, one in zip(rows, self.contributions, strict=True):
                row["match"] = self.match(one).to_dict()
        of_classes = {name: getattr(self, name) for name in ("decision", "probability", "constant", "rounding")}
        of_classes |= {"rest": self.rest, "votes": self.votes}
        return {
            "prediction": plain(self.prediction),
            "focus": plain(self.focus),
            "classes": [plain(c) for c in self.classes],
            **{name: None if values is None else list(values.values()) for name, values in of_classes.items()},
            "measures": {name: list(values.values()) for name, values in self.measures.items()},
            "n_exemplars": self.n_exemplars,
            "contributions": rows,
        }

    def to_frame(self) -> Any:
        """Return the contributions as a pandas DataFrame, a row for each exemplar that is listed."""
        pandas = optional("pandas", "a table of contributions as a DataFrame")
        rows = []
        for one in self.contributions:
            row = {name: getattr(one, name) for name in ("measure", "exemplar", "row", "label", "place", "column")}
            row |= {"similarity": one.similarity, "usual": one.usual}
            row |= {f"contribution_{c}": value for c, value in one.contribution.items()}
            rows.append(row | {f"share_{c}": value for c, value in one.share.items()})
        frame = pandas.DataFrame(rows)
        if len(rows):
            frame["row"] = frame["row"].astype("Int64")
        return frame

    def plot(self, cls: Any = None, top: int = 5, *, columns: int = 2, figure: Any = None) -> Figure:
        """Draw the sample, and with it the ``top`` exemplars that pulled towards a class and away from it.

        Images are drawn as images with the alignment that was found, series as lines with what was paired, texts with
        what matched. Returns the matplotlib figure; ``figure.savefig`` writes it.

        Parameters
        ----------
        cls : class, optional
            By default the one in focus.
        top : int, default=5
        columns : int, default=2
            2: those that pulled towards the class stand to the left of those that pulled away. 1: they stand above
            them, in a figure half as wide.
        figure : matplotlib figure, optional
            Where to draw, such as ``plt.figure()``, for ``plt.show()`` to show it; its size is set. By default a new
            one, which a notebook shows and pyplot does not know.
        """
        from besvm.explanations.drawing import draw

        if columns not in (1, 2):
            raise ValueError(f"columns must be 1 or 2, got {shown(columns)}")
        return draw(self, self._known(cls), check_count("top", top), columns, figure)

    def to_html(self, cls: Any = None, top: int = 5) -> str:
        """Return the same as a piece of HTML that needs nothing else; a notebook shows it by itself."""
        from besvm.explanations.markup import html

        return html(self, self._known(cls), check_count("top", top))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return text(self, TOP)

    def _known(self, cls: Any) -> Any:
        if cls is None:
            return self.focus
        cls = cls.item() if hasattr(cls, "item") else cls
        known = next(
            (one for one in self.classes if one == cls and isinstance(one, bool) == isinstance(cls, bool)), None
        )
        if known is None:
            raise ValueError(f"cls must be one of the explained classes, {shown(self.classes)}, got {shown(cls)}")
        return known


def text(explanation: Explanation, top: int) -> str:
    """Return an explanation as lines of text, with the first ``top`` contributions to the class in focus."""
    cls = explanation.focus
    ranked = sorted(explanation.classes, key=lambda c: -explanation.decision[c])
    others = [f"{c} {explanation.decision[c]:.3g}" for c in ranked if c != cls]
    beside = f" ({', '.join(others[:3])}{', ...' if len(others) > 3 else ''})" if others else ""
    chance = "" if explanation.probability is None else f", probability {explanation.probability[cls]:.2f}"
    lines = [
        f"predicted: {explanation.prediction}; decision value of {cls}: {explanation.decision[cls]:.3g}{chance}{beside}"
    ]
    listed = explanation.contributions[:top]
    rows = [
        [
            signed(one.contribution[cls]),
            f"{100 * one.share[cls]:+.1f} %",
            one.measure,
            one.name + (f", {one.column}" if one.column else ""),
            "" if one.label is None else str(one.label),
            f"{one.similarity:.3g}",
            "" if one.usual is None else f"{one.usual:.3g}",
        ]
        for one in listed
    ]
    heads = [f"adds to {cls}", "share", "measure", "exemplar", "class", "similarity", "usual"]
    lines += [table(heads, rows, right=(0, 1, 5, 6))]
    left = explanation.n_exemplars - len(listed)
    more = fsum([explanation.rest[cls], *(one.contribution[cls] for one in explanation.contributions[top:])])
    if left:
        of_all = " of all measures" if len(explanation.measures) > 1 else ""
        lines.append(f"{signed(more)} from the other {left:,} exemplars{of_all}")
    lines.append(
        f"{signed(explanation.constant[cls])} from the {'votes and intercepts' if explanation.votes else 'intercept'}"
    )
    if len(explanation.measures) > 1:
        sums = ", ".join(f"{name} {signed(values[cls])}" for name, values in explanation.measures.items())
        lines.append(f"by measure: {sums}")
    return "\n".join(lines)


def _first(found: list[Any], top: int | None) -> list[Any]:
    return found if top is None else found[: check_count("top", top)]
