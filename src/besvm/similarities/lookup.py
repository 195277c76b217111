"""The similarity that a name, an instance or a function stands for."""

from difflib import get_close_matches
from typing import Any, Self, cast

from besvm._support.parameters import shown
from besvm.similarities.compiled_functions import of_function
from besvm.similarities.contract import Similarity, registered
from besvm.similarities.metrics import KERNEL_NAMES, NegativeDistance, PairwiseKernel, distance_names

OTHER_NAMES = {"levenshtein": ["edit"], "gaussian": ["rbf"], "dot": ["linear"], "needleman-wunsch": ["align-global"]}
OTHER_NAMES |= {"smith-waterman": ["align-local"], "wl": ["weisfeiler-lehman"], "tversky": ["jaccard"]}


class TunableSimilarity:
    """Mixed into what holds a ``similarity``, maybe by name: scikit-learn reaches its parameters, processes know it."""

    similarity: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``deep`` includes those of a similarity given by name."""
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep and isinstance(self.similarity, str):
            try:
                inner = resolve(self.similarity).get_params()
            except ValueError:  # fit will say what is wrong with the name
                return params
            params |= {f"similarity__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the similarity too."""
        if "similarity" in params:  # first: the others may be about the new one
            self.similarity = params.pop("similarity")
        if any(name.startswith("similarity__") for name in params):
            self.similarity = resolve(self.similarity)
        super().set_params(**params)  # type: ignore[misc]
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = cast(dict[str, Any], super().__getstate__())
        return state | {"similarity": portable(self.similarity)}


def portable(similarity: Any) -> Any:
    """Return what to send to other processes: what the user's own name stands for, as it is known in this one only."""
    cls = registered().get(similarity) if isinstance(similarity, str) else None
    return similarity if cls is None or cls.__module__.partition(".")[0] == "besvm" else cls()


def resolve(similarity: Any, what: str = "similarity") -> Similarity:
    """Return the Similarity meant by a name, an instance, or a function of two items.

    A name is looked up among the registered similarities, then among scikit-learn's pairwise kernels, then
    among its pairwise distances (a distance is negated). A function ``f(exemplar, sample)`` is called for every
    pair, spread over processes, or over threads if numba has compiled it.

    Parameters
    ----------
    similarity : str, Similarity or callable
        What a user may give as a similarity.
    what : str, default="similarity"
        The parameter that a message about it names.

    Returns
    -------
    Similarity
        An instance, not fitted.

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
    if isinstance(similarity, type):
        raise TypeError(
            f"{what} must be an instance, got the class {similarity.__name__}; write {similarity.__name__}() with "
            "parentheses"
        )
    if isinstance(similarity, str):
        known = registered()
        for name in (similarity, similarity.replace("_", "-"), similarity.replace("-", "_")):
            if name in known:
                return known[name]()
        if similarity in KERNEL_NAMES:
            return PairwiseKernel(similarity)
        if similarity in distance_names():
            return NegativeDistance(similarity)
        names = [*known, *KERNEL_NAMES, *distance_names()]
        plain = similarity.strip().lower().replace("_", "-").replace(" ", "-")
        alike = [name for name in names if name.replace("_", "-") == plain] or OTHER_NAMES.get(plain, [])
        begins = [name for name in names if len(plain) > 2 and name.startswith(plain)]
        near = alike or begins or get_close_matches(plain, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "`besvm similarities` lists all of them"
        raise ValueError(f"{what} must be a known name, got {shown(similarity)}; {hint}")
    if callable(similarity):
        return of_function(similarity)
    raise TypeError(f"{what} must be a name, a Similarity, or a function of two items, got {type(similarity).__name__}")
