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
    return 0.5 * (w @ w) + 0.5 * penalize_intercept * b * b + C * squared_hinge(w, b, X, y, weights)


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


def squared_hinge(w, b, X, y, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    return sum(c * max(0.0, 1 - t * (row @ w + b)) ** 2 for c, row, t in zip(weights, X, y, strict=True))


def l1_objective(w, b, X, y, C, weights=None, penalize_intercept=False):
    """What LIBLINEAR minimizes for its L1-regularized L2-loss SVC, for one problem, y in {-1, 1}."""
    return np.abs(w).sum() + penalize_intercept * abs(b) + C * squared_hinge(w, b, X, y, weights)


def l1_violation(w, b, X, y, C, weights=None, intercept="free"):
    """How far each condition of optimality of :func:`l1_objective` is from holding: (D + 1,), zeros at the solution."""
    weights = np.ones(len(X)) if weights is None else weights
    pull = -2 * C * weights * y * np.maximum(0.0, 1 - y * (X @ w + b))
    out = np.empty(len(w) + 1)
    for j, value in enumerate(np.append(w, b)):
        slope = pull @ X[:, j] if j < len(w) else pull.sum()
        price = 1.0 if j < len(w) or intercept == "penalized" else 0.0
        out[j] = abs(slope + price * np.sign(value)) if value else max(0.0, abs(slope) - price)
    if intercept == "none":
        out[-1] = abs(b)
    return out


def l1_proximal_gradient(X, y, C, weights=None, intercept="free", n_steps=20_000):
    """Minimize :func:`l1_objective` by accelerated proximal gradient steps; return w and b."""
    weights = np.ones(len(X)) if weights is None else weights
    A = np.column_stack([X, np.full(len(X), 0.0 if intercept == "none" else 1.0)])
    price = np.append(np.ones(X.shape[1]), 1.0 if intercept == "penalized" else 0.0)
    step = 1 / (2 * C * np.linalg.norm(A * np.sqrt(weights)[:, None], 2) ** 2)
    v = last = np.zeros(A.shape[1])
    momentum = 1.0
    for _ in range(n_steps):
        slope = -2 * C * A.T @ (weights * y * np.maximum(0, 1 - y * (A @ v)))
        ahead = v - step * slope
        now = np.sign(ahead) * np.maximum(0, np.abs(ahead) - step * price)
        after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        if (now - last) @ (v - now) > 0:  # going back: start the momentum again
            after, v = 1.0, now
        else:
            v = now + (momentum - 1) / after * (now - last)
        moved, last, momentum = np.abs(now - last).max(), now, after
        if moved < 1e-14:
            break
    return last[:-1], last[-1]
