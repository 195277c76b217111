"""The similarity that a name, an instance or a function stands for."""

from difflib import get_close_matches
from typing import Any

from besvm.similarities.contract import Similarity, registered
from besvm.similarities.functions import PairFunction
from besvm.similarities.metrics import KERNEL_NAMES, NegativeDistance, PairwiseKernel, distance_names


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
    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, type) and issubclass(similarity, Similarity):
        raise TypeError(f"a similarity must be an instance; write {similarity.__name__}() with the brackets")
    if isinstance(similarity, str):
        known = registered()
        if similarity in known:
            return known[similarity]()
        if similarity in KERNEL_NAMES:
            return PairwiseKernel(similarity)
        if similarity in distance_names():
            return NegativeDistance(similarity)
        names = [*known, *KERNEL_NAMES, *distance_names()]
        near = get_close_matches(similarity.lower(), names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"registered are: {', '.join(known)}"
        raise ValueError(f"similarity must be a known name, got {similarity!r}; {hint}")
    if callable(similarity):
        return PairFunction(similarity)
    raise TypeError(
        f"similarity must be a name, a Similarity, or a function of two items, got {type(similarity).__name__}"
    )
