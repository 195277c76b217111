"""One-vs-one: from the decisions of all pairs of classes to votes and scores. A decision above 0 is for the second."""

from itertools import combinations

import numpy as np


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs (a, b) of classes, a < b, in the order that LIBSVM and scikit-learn keep too."""
    return list(combinations(range(n_classes), 2))


def count_votes(decisions: np.ndarray, pairs: list[tuple[int, int]], n_classes: int) -> np.ndarray:
    """Return the votes (n, n_classes) from the decisions (n, pairs), as LIBSVM counts: 0 is for the second class.

    Examples
    --------
    >>> import numpy as np
    >>> count_votes(np.array([[1.0, 1.0, -1.0]]), class_pairs(3), 3)
    array([[0, 2, 1]])
    """
    votes = np.zeros((len(decisions), n_classes), dtype=np.intp)
    for decision, (a, b) in zip(decisions.T, pairs, strict=True):
        votes[:, a] += decision < 0
        votes[:, b] += decision >= 0
    return votes


def class_scores(decisions: np.ndarray, pairs: list[tuple[int, int]], n_classes: int) -> np.ndarray:
    """Return a score for every class: its votes, and less than half a vote for its decisions.

    This is scikit-learn's rule: sums of decisions, squeezed into (-1/3, 1/3), decide where votes are equal.
    """
    confidence = np.zeros((len(decisions), n_classes))
    for decision, (a, b) in zip(decisions.T, pairs, strict=True):
        confidence[:, a] -= decision
        confidence[:, b] += decision
    scores: np.ndarray = count_votes(decisions, pairs, n_classes) + confidence / (3 * (np.abs(confidence) + 1))
    return scores
