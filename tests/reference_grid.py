"""The grid similarities as the paper writes them: nested loops in float64."""

from __future__ import annotations

import numpy as np


def regularization(penalty, radius, z):
    """R(z) of a weight or a table."""
    if np.ndim(penalty) == 0:
        return -penalty * (z[0] ** 2 + z[1] ** 2)
    return penalty[radius + z[0]][radius + z[1]]


def box(radius):
    """The displacements {-radius, …, radius}²."""
    moves = range(-radius, radius + 1)
    return [(dy, dx) for dy in moves for dx in moves]


def cell_products(x, y):
    """φ(x, c)ᵀ φ(y, to) by (c, to), of the cells there are; the products are taken once, as many loops look at them."""
    cells_x, cells_y = list(np.ndindex(x.shape[:2])), list(np.ndindex(y.shape[:2]))
    return {(c, to): float(x[c] @ y[to]) for c in cells_x for to in cells_y}


def deformable_pair(x, y, rigid=0, local=0, rigid_penalty=0.0, local_penalty=0.0):
    """s(x, y) of eq. sim:nonrigid (of eq. sim:rigid when local is 0), each cell of x finding its match in y."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    best, products = -np.inf, cell_products(x, y)
    moves = [(z_l, regularization(local_penalty, local, z_l)) for z_l in box(local)]
    for z_r in box(rigid):
        total = regularization(rigid_penalty, rigid, z_r)
        for c in np.ndindex(x.shape[:2]):
            total += max(  # outside y, the product is zero
                cost + products.get((c, (c[0] + z_r[0] + z_l[0], c[1] + z_r[1] + z_l[1])), 0.0) for z_l, cost in moves
            )
        best = max(best, total)
    return best


def deformable(A, B, cosine=False, moving="exemplar", **parameters):
    """The matrix of K(A[i], B[j]), or of K(B[j], A[i]) if it is the samples A that move."""
    pairs = [[(a, b) if moving == "exemplar" else (b, a) for b in B] for a in A]
    scores = np.array([[deformable_pair(*pair, **parameters) for pair in row] for row in pairs])
    scores = scores.reshape(len(A), len(B))
    if not cosine:
        return scores
    own_a, own_b = (np.array([deformable_pair(x, x, **parameters) for x in X]) for X in (A, B))
    product = np.clip(own_a, 0, None)[:, None] * np.clip(own_b, 0, None)
    return np.where(product > 0, scores / np.sqrt(np.where(product > 0, product, 1)), 0)
