"""The naive loop that backward elimination is checked against."""

import numpy as np


def least(H, linear, left):
    """Return the least value of ½ wᵀHw - linearᵀw, summed over the columns of ``linear``, with these weights alone."""
    w = np.linalg.solve(H[np.ix_(left, left)], linear[left])
    return 0.5 * (w * (H[np.ix_(left, left)] @ w)).sum() - (linear[left] * w).sum()


def eliminated(H, linear, owner, goes):
    """Return the exemplars whose absence raises the minimum least, one after the other."""
    alive, gone = sorted(set(owner.tolist())), []
    for _ in range(goes):
        without = {one: np.flatnonzero(np.isin(owner, [other for other in alive if other != one])) for one in alive}
        cheapest = min(alive, key=lambda one: least(H, linear, without[one]))
        alive.remove(cheapest)
        gone.append(cheapest)
    return gone
