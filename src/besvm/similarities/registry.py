"""Similarities by name."""

from __future__ import annotations

from collections.abc import Callable
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
