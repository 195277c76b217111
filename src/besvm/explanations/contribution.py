"""What one exemplar added to the decision values of one sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from besvm.explanations.exemplars import Exemplar


@dataclass(frozen=True)
class Contribution(Exemplar):
    """What one exemplar added to the decision values of a sample.

    Attributes
    ----------
    measure, exemplar, row, label, place, file : object
        As in :class:`Exemplar`.
    similarity : float
        How similar the sample is to it, as the similarity says. Of an exemplar with several columns (a part that is
        looked for in several regions), that of the column that adds most to the class in focus, in the direction of
        the whole contribution.
    usual : float or None
        The same of the average training sample, where the normalization knows it.
    column : str
        What that column is called; empty if there is only one.
    contribution : dict
        What it adds to the decision value of every class.
    share : dict
        That over the sum of the sizes of all contributions to the class: from -1 to 1.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    >>> one = besvm.explain(model, X[0]).contributions[0]
    >>> one.label, one.similarity < one.usual, one.contribution[0] > 0  # unlike the others, which speaks for class 0
    (2, True, True)
    """

    similarity: float
    usual: float | None
    column: str
    contribution: dict[Any, float]
    share: dict[Any, float]
    number: int = field(default=0, repr=False)  # among all exemplars of the model

    @property
    def compared(self) -> str:
        """How similar the sample is to the exemplar, in words: "0.83, more than usual (0.41)"."""
        if self.usual is None:
            return f"{self.similarity:.3g}"
        more = "more" if self.similarity > self.usual else "less" if self.similarity < self.usual else "no more"
        return f"{self.similarity:.3g}, {more} than usual ({self.usual:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; those of classes are in the order of the explanation's classes."""
        return {
            **super().to_dict(),
            "column": self.column,
            "similarity": self.similarity,
            "usual": self.usual,
            "contribution": list(self.contribution.values()),
            "share": list(self.share.values()),
        }


def signed(value: float) -> str:
    """Return what is added, to three digits with its sign."""
    return f"{value:+.3g}" if abs(value) < 1e-3 or abs(value) >= 100 else f"{value:+.3f}"
