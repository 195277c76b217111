"""The naive float64 loops that every fast path is checked against."""

import numpy as np


def rbf(b, x, gamma):
    return np.exp(-gamma * ((b - x) ** 2).sum())


def laplacian(b, x, gamma):
    return np.exp(-gamma * np.abs(b - x).sum())


def polynomial(b, x, degree, gamma, coef0):
    return (gamma * (b @ x) + coef0) ** degree


def sigmoid(b, x, gamma, coef0):
    return np.tanh(gamma * (b @ x) + coef0)


def cosine(b, x):
    length = np.sqrt(b @ b) * np.sqrt(x @ x)
    return b @ x / length if length > 0 else 0.0


def tanimoto(b, x):
    union = b @ b + x @ x - b @ x
    return b @ x / union if union > 0 else 1.0


def all_pairs(similarity, A, B, **params):
    """Row i, column j: similarity(B[j], A[i]), exemplar first."""
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    return np.array([[similarity(b, a, **params) for b in B] for a in A]).reshape(len(A), len(B))


def mean_norm(F):
    """Eq. besvm_feature_map_norm, written out."""
    F = np.asarray(F, dtype=np.float64)
    mean = sum(F) / len(F)
    scale = sum(np.sqrt(((row - mean) ** 2).sum()) for row in F) / len(F)
    return np.array([(row - mean) / scale for row in F])


def objective(w, b, X, y, C, weights=None, penalize_intercept=False):
    """Eq. besvm_primal for one problem, y in {-1, 1}."""
    weights = np.ones(len(X)) if weights is None else weights
    loss = sum(c * max(0.0, 1 - t * (row @ w + b)) ** 2 for c, row, t in zip(weights, X, y, strict=True))
    return 0.5 * (w @ w) + 0.5 * penalize_intercept * b * b + C * loss


def gradient(w, b, X, y, C, weights=None, penalize_intercept=False):
    """The gradient of :func:`objective` in (w, b), by central differences."""
    point = np.append(w, b)
    out = np.empty_like(point)
    for i in range(len(point)):
        step = np.zeros_like(point)
        step[i] = 1e-5
        ahead, behind = point + step, point - step
        out[i] = (
            objective(ahead[:-1], ahead[-1], X, y, C, weights, penalize_intercept)
            - objective(behind[:-1], behind[-1], X, y, C, weights, penalize_intercept)
        ) / 2e-5
    return out
