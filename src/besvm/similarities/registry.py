"""Similarities by name, and what a name, an instance or a function means."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar, overload

from besvm.similarities.contract import Similarity

SimilarityClass = TypeVar("SimilarityClass", bound="type[Similarity]")
_registry: dict[str, type[Similarity]] = {}


@overload
def register(name: str) -> Callable[[SimilarityClass], SimilarityClass]: ...


@overload
def register(name: SimilarityClass) -> SimilarityClass: ...


def register(name: Any) -> Any:
    """Give a similarity class a name, by which everything else in besvm can then call it.

    Use it as ``@register("edit")``, or as plain ``@register`` to take the class's own name in lower case.

    Examples
    --------
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
            raise TypeError(f"register takes a subclass of Similarity, got {cls!r}")
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

    Examples
    --------
    >>> from besvm.similarities import registered
    >>> "rbf" in registered()
    True
    """
    return dict(sorted(_registry.items()))


def resolve(similarity: Any) -> Similarity:
    """Return the Similarity meant by a name, an instance, or a function of two items.

    A name is looked up among the registered similarities, then among scikit-learn's pairwise kernels, then
    among its pairwise distances (a distance is negated). A function ``f(exemplar, sample)`` is called for every
    pair, spread over processes.

    Examples
    --------
    >>> from besvm.similarities import resolve
    >>> resolve("rbf"), resolve("chi2"), resolve("manhattan")
    (RBF(), PairwiseKernel(metric='chi2'), NegativeDistance(metric='manhattan'))
    >>> resolve(lambda a, b: -abs(a - b))([1, 5], [2, 7])
    array([[-1., -6.],
           [-3., -2.]])
    """
    from besvm.similarities.functions import PairFunction
    from besvm.similarities.metrics import KERNEL_NAMES, NegativeDistance, PairwiseKernel, distance_names

    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, type) and issubclass(similarity, Similarity):
        raise TypeError(f"a similarity must be an instance; write {similarity.__name__}() with the brackets")
    if isinstance(similarity, str):
        if similarity in _registry:
            return _registry[similarity]()
        if similarity in KERNEL_NAMES:
            return PairwiseKernel(similarity)
        if similarity in distance_names():
            return NegativeDistance(similarity)
        names = [*_registry, *KERNEL_NAMES, *distance_names()]
        near = get_close_matches(similarity.lower(), names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"registered are: {', '.join(sorted(_registry))}"
        raise ValueError(f"similarity must be a known name, got {similarity!r}; {hint}")
    if callable(similarity):
        return PairFunction(similarity)
    raise TypeError(
        f"similarity must be a name, a Similarity, or a function of two items, got {type(similarity).__name__}"
    )
