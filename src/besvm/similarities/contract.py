"""The contract every similarity keeps, and the names they go by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from sklearn.base import BaseEstimator

from besvm._support.row_source import RowSource
from besvm._support.rows import n_rows, span, take
from besvm._support.threads import slices
from besvm.similarities.match import Match

TOGETHER = 16  # items compared with each other for the diagonal of one small matrix: a call costs more than its pairs


class Similarity(BaseEstimator, ABC):  # type: ignore[misc]
    """What "similar" means: a function of two sets of items that gives a matrix.

    ``similarity(A, B)`` has shape ``(len(A), len(B))``. Row i, column j holds ``s(B[j], A[i])``, the exemplar first, as
    in the paper (equation 3). Only an asymmetric similarity can tell the difference.

    A subclass stores its parameters in ``__init__`` and writes ``__call__``. It must be pure: the same items give the
    same numbers, whatever block of rows they arrive in. :func:`besvm.testing.check_similarity` checks all of this.

    Attributes
    ----------
    symmetric : bool
        Whether s(a, b) = s(b, a) for all items.
    psd : bool
        Whether every Gram matrix is positive semi-definite.
    vectors : bool
        Whether the items are the rows of a 2-D numeric array; X is then validated as scikit-learn does.
    any_float : bool
        Whether vectors may come in float32 or float64, whichever the features are kept in.
    needs_scaling : bool
        Whether a column of large numbers outweighs the others, so that vectors with uneven columns are warned of.
    missing : bool
        Whether items may hold NaN, for values that are missing.
    settles_on_sources : bool
        Whether ``fit`` takes a :class:`besvm.sources.RowSource` and reads it by blocks; otherwise it is given 5,000 of
        its rows.
    precomputed : bool
        Whether X holds similarities, not items: an exemplar is then a column of X, and kept as its number.
    raw_exemplars, raw_samples : bool
        Whether the exemplars, and the samples, come before the features of a Measure, which the similarity then
        applies itself (see :meth:`behind`), as :class:`Latent` does to the variants it makes.
    of_parts : bool
        Whether the exemplars are parts of rows, as in :class:`Parts`, and not whole rows.
    columns_each : int
        How many columns an exemplar gives, side by side: ``similarity(A, B)`` then has so many times ``len(B)``.
    parallel : bool
        Whether several threads may call it at once, which pays off where it releases Python's lock, as NumPy and
        compiled code do: ``n_jobs`` then cuts every block of samples. False: one thread calls it, whatever ``n_jobs``.
    rows_per_block : int or None
        How many samples to compare at a time; None: as many as the memory budget of a block allows.
    kind : str
        What it compares, in a word: the heading it stands under in ``besvm similarities``.
    extra : str or None
        Which extra of besvm has to be installed for it, as in ``besvm[text]``; None: none.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Similarity, register
    >>> @register("overlap")
    ... class Overlap(Similarity):
    ...     "How many words two texts share."
    ...     symmetric = True
    ...     def __call__(self, A, B):
    ...         return np.array([[len(set(a.split()) & set(b.split())) for b in B] for a in A])
    >>> Overlap()(["a rose is a rose"], ["a nose", "is a rose"])
    array([[1, 3]])
    """

    name: ClassVar[str] = ""
    symmetric: ClassVar[bool] = False
    psd: ClassVar[bool] = False
    vectors: ClassVar[bool] = False
    any_float: ClassVar[bool] = False
    needs_scaling: ClassVar[bool] = False
    missing: ClassVar[bool] = False
    settles_on_sources: ClassVar[bool] = False
    precomputed: ClassVar[bool] = False
    raw_exemplars: ClassVar[bool] = False
    raw_samples: ClassVar[bool] = False
    of_parts: ClassVar[bool] = False
    columns_each: ClassVar[int] = 1
    parallel: ClassVar[bool] = False
    rows_per_block: ClassVar[int | None] = None
    kind: ClassVar[str] = "anything"
    extra: ClassVar[str | None] = None

    def fit(self, X: Any) -> Similarity:
        """Settle what follows from the data, once, on the training rows; also takes ``sample_weight`` if it matters."""
        return self

    @property
    def settles(self) -> bool:
        """Whether there is anything to settle: ``fit`` need not be called where it only returns self."""
        return type(self).fit is not Similarity.fit

    @abstractmethod
    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix of s(B[j], A[i]), of shape (len(A), len(B))."""

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        """Return the function A -> self(A, basis); override it to pack the basis once for every block."""
        return lambda A: self(A, basis)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int | None:
        """Return the bytes that comparing a sample of so many bytes takes for a while; None: they are measured."""
        return None

    def exemplars(self, X: Any, rows: np.ndarray) -> Any:
        """Return what is kept of the training rows chosen as basis: by default, the items themselves."""
        return take(X, rows)

    def between_rows(self, X: Any, rows: np.ndarray, exemplars: np.ndarray) -> np.ndarray:
        """Return the similarities of some rows of X, as samples, to others, as exemplars."""
        return self(take(X, rows), self.exemplars(X, exemplars))

    def subset(self, X: Any, rows: np.ndarray) -> Any:
        """Return X as if it had these rows alone; of a source, they are not read yet."""
        return X[rows] if isinstance(X, RowSource) else take(X, rows)

    def behind(self, features: Any) -> Similarity:
        """Return the similarity to use where a Measure has these fitted features: itself, unless it applies them."""
        return self

    def show(self, x: Any, b: Any) -> Match:
        """Return how a sample x and an exemplar b match, for people to look at; by default there is nothing to see.

        Both are single items as the similarity compares them: behind the features of a Measure or, with
        ``raw_exemplars``, before them.
        """
        return Match()

    def prepared(self, X: Any) -> tuple[Similarity, Any]:
        """Return the samples in a form that is quick to compare again and again, and the similarity of that form."""
        return self, X

    @property
    def label(self) -> str:
        """The name to show to people, and the prefix of the feature names."""
        return self.name or type(self).__name__.lower()


def diagonal(similarity: Callable[[Any, Any], np.ndarray], X: Any) -> np.ndarray:
    """Return s(x, x) of every item of X, (n,).

    A similarity that asks for few rows per block, because each pair takes long, gets the items one by one.
    """
    each = 1 if getattr(similarity, "rows_per_block", None) else TOGETHER
    tiles = [span(X, rows) for rows in slices(n_rows(X), each)]
    return np.concatenate([np.empty(0, np.float32), *(np.asarray(similarity(t, t)).diagonal() for t in tiles)])


def name_of(function: Any, unnamed: str) -> str:
    """Return what to call a function; ``unnamed`` if it is a lambda."""
    name = str(getattr(function, "__name__", type(function).__name__))
    return unnamed if name == "<lambda>" else name


SimilarityClass = TypeVar("SimilarityClass", bound="type[Similarity]")
_registry: dict[str, type[Similarity]] = {}


@overload
def register(name: str) -> Callable[[SimilarityClass], SimilarityClass]: ...


@overload
def register(name: SimilarityClass) -> SimilarityClass: ...


def register(name: Any) -> Any:
    """Give a similarity class a name, by which everything else in besvm can then call it.

    Use it as ``@register("edit")``, or as plain ``@register`` to take the class's own name in lower case.

    Parameters
    ----------
    name : str or type
        The name; or, as ``@register`` without brackets, the class itself.

    Returns
    -------
    callable or type
        What puts the name on the class below it; or that class.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Similarity, register, resolve
    >>> @register("same")
    ... class Same(Similarity):
    ...     def __call__(self, A, B):
    ...         return np.equal.outer(A, B).astype(float)
    >>> resolve("same")
    Same()
    """
    if isinstance(name, type):
        return register(name.__name__.lower())(name)

    def enter(cls: SimilarityClass) -> SimilarityClass:
        if not (isinstance(cls, type) and issubclass(cls, Similarity)):
            raise TypeError(f"register needs a subclass of Similarity, got {cls!r}")
        known = _registry.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(
                f"the name {name!r} already belongs to {known.__module__}.{known.__qualname__}; choose another"
            )
        cls.name = name
        _registry[name] = cls
        return cls

    return enter


def registered() -> dict[str, type[Similarity]]:
    """Return every registered similarity, name by name.

    Returns
    -------
    dict of str to type
        The classes, by their names in alphabetical order.

    Examples
    --------
    >>> from besvm.similarities import registered
    >>> "rbf" in registered()
    True
    """
    return dict(sorted(_registry.items()))
