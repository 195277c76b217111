"""How far a share that was seen may be from the true one."""

from math import sqrt

TWO_SIDED_95 = 1.959963984540054  # standard deviations of a normal variable


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of Wilson for a share of which ``right`` of ``n`` were seen.

    Examples
    --------
    >>> low, high = wilson(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    z = TWO_SIDED_95
    share, room = right / n, z * z / n
    middle = (share + room / 2) / (1 + room)
    half = z * sqrt(share * (1 - share) / n + room / (4 * n)) / (1 + room)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
