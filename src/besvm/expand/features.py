"""Where features enter: fitted once, and computed once per block for all measures that share them."""

import pickle
import warnings
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from besvm._support.parameters import shown
from besvm._support.row_source import RowSource
from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows, span
from besvm._support.sizes import bytes_of, large_one, some_described
from besvm._support.threads import slices
from besvm._support.validation import described
from besvm.blocks.plan import Limit
from besvm.blocks.state import Values
from besvm.blocks.stores import CACHE_BYTES
from besvm.expand.room import describing_bytes, fit_features, rows_of_work
from besvm.measures import Measure
from besvm.similarities.contract import Similarity

UNEVEN = 100  # times the median standard deviation of the columns: what a column must have to be warned of


class SharedFeatures:
    """The fitted transformers of several measures; equal ones are fitted once."""

    def __init__(self, X: Any, y: Any, memory_limit: Limit = None, weights: Values | None = None) -> None:
        self.X, self.y, self.memory_limit, self.weights = X, y, memory_limit, weights
        self.transformers: list[Any] = []
        self._known: dict[str, int] = {}
        self._warned = False
        self._some: dict[int | None, Any] = {None: X}  # of the rows that similarities are settled on

    def number_of(self, measure: Measure) -> int | None:
        """Return the number of the measure's fitted transformer; None if it has none."""
        if measure.features is not None and (
            isinstance(measure.features, type) or not hasattr(measure.features, "transform")
        ):
            raise TypeError(
                f"features must be a transformer (an instance with fit and transform), got {shown(measure.features)}"
            )
        transformer = measure.transformer
        if transformer is None:
            return None
        try:
            recipe = joblib.hash((type(transformer), transformer.get_params()))
        except (pickle.PicklingError, AttributeError, TypeError):  # a lambda in it: equal only to itself
            recipe = f"{id(measure.features)} of {measure.column!r}"
        if recipe not in self._known:
            self._known[recipe] = len(self.transformers)
            fitted = fit_features(clone(transformer), self.X, self.y, self.memory_limit, self.weights)
            self.transformers.append(fitted)
        return self._known[recipe]

    def refuse_records(self, similarity: Similarity) -> None:
        """Refuse a DataFrame with columns that are no numbers, where a similarity would take them for vectors."""
        dtypes = self.X.dtypes.items() if hasattr(self.X, "iloc") and hasattr(self.X, "columns") else ()
        wrong = [name for name, dtype in dtypes if getattr(dtype, "kind", "O") not in "biuf"]
        if wrong:
            raise ValueError(
                f"{similarity.label!r} compares rows of numbers, but column {wrong[0]!r} of X has no numbers; choose "
                f"the columns to compare, as in Measure({similarity.label!r}, column=[...])"
            )

    def warn_of_uneven_columns(self, similarity: Similarity) -> None:
        """Warn, once, if a similarity of the vectors X would see little but a few columns of large numbers."""
        X = self.X
        arrays = isinstance(X, (np.ndarray, RowSource)) and X.ndim == 2 and X.dtype.kind == "f" and X.shape[1] > 2
        if self._warned or not arrays:
            return
        spread = _spread(evenly_spaced(X, SETTLE_ROWS) if isinstance(X, RowSource) else X)
        self._warned = len(spread) > 2 and bool(spread.max() > UNEVEN * np.median(spread))
        if self._warned:
            warnings.warn(
                f"the columns of X have very different scales (largest standard deviation {spread.max():.3g}, median "
                f"{np.median(spread):.3g}), so {similarity.label!r} depends almost only on the largest; scale them, "
                "as in make_pipeline(StandardScaler(), ...), unless all have the same unit",
                UserWarning,
                stacklevel=6,
            )

    def to_settle_on(self, number: int | None) -> Any:
        """Return what a similarity is settled on: X itself or, behind features, some of its rows."""
        if number not in self._some:
            self._some[number] = some_described(self.transformers[number], self.X)  # type: ignore[index]
        return self._some[number]


def _spread(X: np.ndarray) -> np.ndarray:
    """Return the standard deviation of every column that varies on some rows; a few at a time, as X may be wide."""
    columns_each = max(1, CACHE_BYTES // (8 * min(len(X), SETTLE_ROWS)))
    spread = []
    for columns in slices(X.shape[1], columns_each):
        some = evenly_spaced(X[:, columns], SETTLE_ROWS)
        with np.errstate(over="ignore", invalid="ignore"):
            spread.append(some.std(axis=0, dtype=np.float64)[some.min(axis=0) < some.max(axis=0)])
    return np.concatenate(spread)


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
            self._seen[number] = described(self._transformers[number], self._seen[None])  # type: ignore[index]
        return self._seen[number]

    def seen_by(self, similarity: Similarity, number: int | None) -> Any:
        """Return the samples as a similarity behind transformer ``number`` wants them."""
        return self.behind(None if similarity.raw_samples else number)


class Behind(Similarity):
    """A similarity behind its features: compares raw samples, so that a basis selector can use it."""

    def __init__(self, features: Any, similarity: Similarity, room: float = np.inf) -> None:
        self.features = features
        self.similarity = similarity
        self.room = room  # bytes that the features of all samples may take

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.similarity.symmetric

    @property
    def label(self) -> str:
        return self.similarity.label

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        n, rows_each = n_rows(A), self._rows_each(B)
        columns = slices(n_rows(B), rows_each)
        if len(columns) < 2 and n <= rows_each:
            return self.similarity(described(self.features, A), described(self.features, B))
        out: np.ndarray | None = None
        for place in columns:
            compare = self.similarity.against(described(self.features, span(B, place)))
            for rows in slices(n, rows_each):
                block = np.asarray(compare(described(self.features, span(A, rows))))
                if out is None:
                    out = np.empty((n, n_rows(B)), block.dtype)
                out[rows, place] = block
        assert out is not None, "there are rows, or it would have been done in one go"
        return out

    def _rows_each(self, X: Any) -> int:
        return rows_of_work(describing_bytes(self.features, large_one(X))) if n_rows(X) else 1

    def prepared(self, X: Any) -> tuple[Similarity, Any]:
        if n_rows(X) * bytes_of(described(self.features, large_one(X))) > self.room:
            return self, X  # described anew for every comparison
        return self.similarity.prepared(described(self.features, X))
