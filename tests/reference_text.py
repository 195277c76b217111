"""Texts and sequences, cell by cell: the naive loops that the fast ways are checked against."""

from collections import Counter
from functools import cache

import numpy as np


def edits(a, b, transpositions=False):
    """Return the Levenshtein distance; with transpositions, that of optimal string alignment (restricted Damerau)."""

    @cache
    def d(i, j):
        if min(i, j) == 0:
            return max(i, j)
        found = [d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
        if transpositions and min(i, j) > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            found.append(d(i - 2, j - 2) + 1)
        return min(found)

    return d(len(a), len(b))


def common(a, b):
    """Return the length of the longest common subsequence."""

    @cache
    def longest(i, j):
        if min(i, j) == 0:
            return 0
        if a[i - 1] == b[j - 1]:
            return longest(i - 1, j - 1) + 1
        return max(longest(i - 1, j), longest(i, j - 1))

    return longest(len(a), len(b))


def over_longer(distance, a, b):
    return distance / max(len(a), len(b)) if max(len(a), len(b)) else 0.0


def ratio(a, b):
    return 2 * common(a, b) / (len(a) + len(b)) if len(a) + len(b) else 1.0


def jaro_winkler(a, b, prefix_weight=0.1):
    if not a and not b:
        return 1.0
    reach = max(max(len(a), len(b)) // 2 - 1, 0)
    taken, matched = set(), []
    for i, x in enumerate(a):
        for j in range(max(0, i - reach), min(len(b), i + reach + 1)):
            if j not in taken and b[j] == x:
                taken.add(j)
                matched.append(x)
                break
    m = len(matched)
    if m == 0:
        return 0.0
    moved = sum(x != b[j] for x, j in zip(matched, sorted(taken), strict=True)) // 2
    jaro = (m / len(a) + m / len(b) + (m - moved) / m) / 3
    same = next((i for i, (x, y) in enumerate(zip(a[:4], b[:4], strict=False)) if x != y), min(len(a), len(b), 4))
    return jaro + same * prefix_weight * (1 - jaro) if jaro > 0.7 else jaro


def partial_ratio(a, b):
    if not a or not b:
        return float(a == b)
    if len(a) == len(b):
        return max(_in_longer(a, b), _in_longer(b, a))
    return _in_longer(*sorted((a, b), key=len))


def _in_longer(short, long):
    n = len(short)
    return max(ratio(short, long[max(0, end - n) : end]) for end in range(1, len(long) + n))


def token_sort_ratio(a, b):
    a, b = (" ".join(sorted(text.split())) for text in (a, b))
    return ratio(a, b)


def token_set_ratio(a, b):
    a, b = set(a.split()), set(b.split())
    if not a or not b:
        return 0.0
    both, only_a, only_b = (" ".join(sorted(words)) for words in (a & b, a - b, b - a))
    if both and not (only_a and only_b):
        return 1.0
    with_a, with_b = (f"{both} {only}".strip() for only in (only_a, only_b))
    found = [ratio(with_a, with_b)]
    if both:
        found += [ratio(both, with_a), ratio(both, with_b)]
    return max(found)


def alignment(a, b, score, gap_open, gap_extend, local):
    """Return the best score of an alignment; a gap of n symbols costs gap_open + (n - 1) gap_extend."""
    m, n = len(a), len(b)
    ending = np.full((m + 1, n + 1, 3), -np.inf)  # with a pair, with a symbol of a left out, with one of b
    ending[0, 0, 0] = 0
    best = 0.0
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                before = max(ending[i - 1, j - 1].max(), 0 if local else -np.inf)
                ending[i, j, 0] = before + score(a[i - 1], b[j - 1])
            for state, (p, q) in ((1, (i - 1, j)), (2, (i, j - 1))):
                if min(p, q) >= 0:
                    other = np.delete(ending[p, q], state).max()
                    ending[i, j, state] = max(ending[p, q, state] - gap_extend, other - gap_open)
            best = max(best, ending[i, j].max())
    return best if local else ending[m, n].max()


def kmers(a, b, k, normalize=True):
    counts = [Counter(text[i : i + k] for i in range(len(text) - k + 1)) for text in (a, b)]

    def dot(one, other):
        return sum(n * other[word] for word, n in one.items())

    length = np.sqrt(dot(counts[0], counts[0]) * dot(counts[1], counts[1])) if normalize else 1
    return dot(*counts) / length if length else 0.0


def matrix(similarity, A, B):
    """Return similarity(b, a) of every pair, exemplars in columns."""
    return np.array([[similarity(b, a) for b in B] for a in A], dtype=float).reshape(len(A), len(B))
