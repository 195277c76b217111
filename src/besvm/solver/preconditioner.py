"""A preconditioner for the Newton systems of all columns, from one randomized sketch of φᵀφ."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from besvm._support.threads import WORTH_THREADS, slices, thread_map
from besvm.blocks.estimates import first_rank, last_rank
from besvm.blocks.stores import CACHE_BYTES, rows_for
from besvm.solver.design import Design

FLAT = 40.0  # what the Hessian may still vary by outside the leading eigenvectors, before more of them pay
ILL_CONDITIONED = 0.01  # rounding errors of this share of the flat part are worth a second projection

Apply = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Preconditioner:
    """The leading eigenvectors of φᵀφ, and every row's coordinates along them.

    Within their span a column's Hessian is formed exactly, from the rows active in that column; outside it, φᵀφ is
    taken to be flat. It depends neither on C nor on the column, so one sketch serves a whole path.
    """

    vectors: np.ndarray  # (D + 1, r), orthonormal
    coordinates: np.ndarray  # (n, r): φ @ vectors
    rest: float  # the eigenvalue of φᵀφ outside their span

    def at(self, active: np.ndarray, C: float) -> Apply:
        """Return the approximate inverse of I + 2C φᵀ diag(active[:, k]) φ, for every column k at once."""
        share = (active > 0).mean(axis=0)
        rest = 1 + 2 * C * share * self.rest  # (k,)
        columns = range(active.shape[1])
        many = active.size * self.coordinates.shape[1] ** 2 > WORTH_THREADS
        factors, traces = zip(
            *(thread_map if many else map)(lambda k: self._factor(active[:, k], C), columns), strict=True
        )
        noise = float(np.finfo(self.vectors.dtype).eps)
        ill_conditioned = bool((noise * np.array(traces) > ILL_CONDITIONED * rest).any())

        def apply(R: np.ndarray) -> np.ndarray:
            inside = self._coordinates_of(R)  # (r, k)
            solved = np.stack([cho_solve(f, inside[:, k]) for k, f in enumerate(factors)], axis=1)
            result: np.ndarray = self._combined(solved)
            if self.vectors.shape[0] > self.vectors.shape[1]:
                outside = R - self._combined(inside)
                if (
                    ill_conditioned
                ):  # what rounding has left of R inside the span is large beside what the Hessian makes of it
                    outside -= self._combined(self._coordinates_of(outside))
                result += outside / rest
            return result

        return apply

    def _coordinates_of(self, R: np.ndarray) -> np.ndarray:
        inside: np.ndarray = self.vectors.T @ R.astype(self.vectors.dtype)
        return inside

    def _combined(self, inside: np.ndarray) -> np.ndarray:
        R: np.ndarray = (self.vectors @ inside.astype(self.vectors.dtype)).astype(np.float64)
        return R

    def _factor(self, active: np.ndarray, C: float) -> tuple[Any, float]:
        """Return the Cholesky factor of the Hessian within the span, and the trace."""
        n, r = self.coordinates.shape
        hessian = np.zeros((r, r))
        for some in slices(n, rows_for(CACHE_BYTES, r, self.coordinates.itemsize)):  # all at once would be a copy
            rows = np.flatnonzero(active[some])
            part = self.coordinates[some][rows]
            part *= np.sqrt(active[some][rows]).astype(part.dtype)[:, None]
            hessian += 2 * C * (part.T @ part)
        trace = float(np.trace(hessian))
        eps = float(np.finfo(self.coordinates.dtype).eps)
        hessian[np.diag_indices_from(hessian)] += 1 + eps * trace  # it stays definite
        return cho_factor(hessian, lower=True), trace


def sketch(design: Design, weights: np.ndarray, C: float, max_rank: int | None = None, seed: int = 0) -> Preconditioner:
    """Find the leading eigenvectors of the weighted φᵀφ, as many as the Hessians at this C call for.

    The method is the Nyström approximation from Gaussian test vectors (Frangella, Tropp and Udell 2023), with more
    test vectors than are kept: the surplus is what makes the kept ones good. Normalized features are content with
    the first try, of two passes; where the spectrum falls slowly, twice as many vectors are tried, and so on.
    """
    size = design.shape[1]
    most = min(max_rank or size, last_rank(size))
    rank = min(first_rank(size), most)
    while True:
        vectors, rest = _leading(design, weights, rank, seed) if rank < size else (np.eye(size), 0.0)
        if C * rest <= FLAT or rank == most:
            return Preconditioner(vectors.astype(design.dtype), design.product(vectors), rest)
        rank = min(2 * rank, most)


def _leading(design: Design, weights: np.ndarray, rank: int, seed: int) -> tuple[np.ndarray, float]:
    """Return about ``rank`` leading eigenvectors, orthonormal, and the last of their eigenvalues."""
    size = design.shape[1]
    n_tests = min(size, 2 * rank)
    test = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, n_tests)))[0]
    weights = weights.astype(design.dtype)[:, None]
    forward = design.forward(test)
    image = design.backward(lambda rows, block: (forward(block) * weights[rows],), True)[0]  # φᵀφ @ test
    core = test.T @ image
    values, rotation = np.linalg.eigh((core + core.T) / 2)
    sound = values > n_tests * np.finfo(design.dtype).eps * values[-1]  # the others are rounding errors
    half = image @ (rotation[:, sound] / np.sqrt(values[sound]))  # half @ half.T ≈ φᵀφ
    values, rotation = np.linalg.eigh(half.T @ half)
    vectors = np.linalg.qr(half @ rotation[:, -rank:])[0]  # rounding has left the angles not quite right
    return vectors, float(values[-rank]) if len(values) > rank else 0.0
