"""Where features enter: fitted once, and computed once per block for all measures that share them."""

import pickle
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows
from besvm._support.validation import shown
from besvm.measures import Measure
from besvm.similarities.contract import Similarity


class SharedFeatures:
    """The fitted transformers of several measures; equal ones are fitted once."""

    def __init__(self, X: Any, y: np.ndarray | None) -> None:
        self.X, self.y = X, y
        self.transformers: list[Any] = []
        self._known: dict[str, int] = {}
        self._some: dict[int | None, Any] = {None: X}  # of the rows that similarities are settled on

    def number_of(self, measure: Measure) -> int | None:
        """Return the number of the measure's fitted transformer; None if it has none."""
        if measure.features is None:
            return None
        if isinstance(measure.features, type) or not hasattr(measure.features, "transform"):
            raise TypeError(
                f"features must be a transformer (an instance with fit and transform), got {shown(measure.features)}"
            )
        try:
            recipe = joblib.hash((type(measure.features), measure.features.get_params()))
        except (pickle.PicklingError, AttributeError, TypeError):  # a lambda in it: equal only to itself
            recipe = str(id(measure.features))
        if recipe not in self._known:
            self._known[recipe] = len(self.transformers)
            self.transformers.append(clone(measure.features).fit(self.X, self.y))
        return self._known[recipe]

    def to_settle_on(self, number: int | None) -> Any:
        """Return what a similarity is settled on: X itself or, behind features, at most 5,000 of its rows."""
        if number not in self._some:
            self._some[number] = self.transformers[number].transform(evenly_spaced(self.X, SETTLE_ROWS))  # type: ignore[index]
        return self._some[number]


class Samples:
    """A block of samples, and what each transformer makes of them, computed when it is first asked for."""

    def __init__(self, raw: Any, transformers: list[Any]) -> None:
        self._seen: dict[int | None, Any] = {None: raw}
        self._transformers = transformers

    def __len__(self) -> int:
        return n_rows(self._seen[None])

    def behind(self, number: int | None) -> Any:
        """Return the features of the samples by transformer ``number``; None is for the samples themselves."""
        if number not in self._seen:
            self._seen[number] = self._transformers[number].transform(self._seen[None])  # type: ignore[index]
        return self._seen[number]

    def seen_by(self, similarity: Similarity, number: int | None) -> Any:
        """Return the samples as a similarity behind transformer ``number`` wants them."""
        return self.behind(None if similarity.raw_samples else number)


class Behind(Similarity):
    """A similarity behind its features: compares raw samples, so that a basis selector can use it."""

    def __init__(self, features: Any, similarity: Similarity) -> None:
        self.features = features
        self.similarity = similarity

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.similarity.symmetric

    @property
    def label(self) -> str:
        return self.similarity.label

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.similarity(self.features.transform(A), self.features.transform(B))

    def prepared(self, X: Any) -> tuple[Similarity, Any]:
        return self.similarity.prepared(self.features.transform(X))
