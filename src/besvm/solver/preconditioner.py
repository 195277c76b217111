"""A preconditioner for the Newton systems of all columns, from a sample of the rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from besvm._support.hashed import uniform
from besvm._support.threads import WORTH_THREADS, slices, thread_map
from besvm.blocks.estimates import sample_rows
from besvm.blocks.state import Rows, RowState
from besvm.blocks.stores import CACHE_BYTES, COARSE_BYTES, MemoryBlocks, rows_for
from besvm.solver.design import Design
from besvm.solver.problem import Problem

ILL_CONDITIONED = 0.01  # rounding errors of this share of the flat part are worth a second projection
DAMPED = 0.1  # the share of a diagonal that is trusted, as it knows nothing of what features have in common

Apply = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Preconditioner:
    """Some directions, and the coordinates of rows along them.

    Within the span of the directions a column's Hessian is formed from the rows active in that column; outside it, φᵀφ
    is taken to be flat. It depends neither on C nor on the column, so one serves a whole path.
    """

    rows: np.ndarray  # (m,) those that the Hessians are formed from: all, or a sample
    boost: np.ndarray | None  # (m,) how many rows each of a sample stands for
    coordinates: np.ndarray  # (m, r): rows @ vectors
    vectors: np.ndarray | None = None  # (D + 1, r), orthonormal; None: all directions there are
    rest: float = 0.0  # the eigenvalue of φᵀφ outside their span
    least: float = 0.0  # what the eigenvalues there fall to, by the power of their number that they begin to fall with

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision it was made in."""
        return self.coordinates.dtype

    @property
    def rank(self) -> int:
        """The number of the directions."""
        return self.coordinates.shape[1]

    def at(self, state: RowState, active_of: Callable[[Rows], np.ndarray], C: np.ndarray) -> Apply:
        """Return the approximate inverse of I + 2Cₖ φᵀ diag(active[:, k]) φ, for every column k at once.

        ``active_of(rows)`` are the weights of the rows within the margin, (rows, k).
        """
        rest = np.ones(len(C))
        if self.rest:
            (n_active,) = state.sum(lambda rows: ((active_of(rows) > 0).sum(axis=0),), features=False)
            rest += 2 * C * n_active / state.shape[0] * self.rest
        active = state.take(self.rows, active_of)
        if self.boost is not None:
            active = active * self.boost[:, None]
        columns = range(active.shape[1])
        many = active.size * self.coordinates.shape[1] ** 2 > WORTH_THREADS
        found = (thread_map if many else map)(lambda k: self._factor(active[:, k], float(C[k])), columns)
        factors, traces = zip(*found, strict=True)
        noise = float(np.finfo(self.dtype).eps)
        ill_conditioned = bool((noise * np.array(traces) > ILL_CONDITIONED * rest).any())

        def apply(R: np.ndarray) -> np.ndarray:
            inside = self._coordinates_of(R)  # (r, k)
            solved = np.stack([dpotrs(factor, inside[:, k], lower=1)[0] for k, factor in enumerate(factors)], axis=1)
            result: np.ndarray = self._combined(solved)
            if self.vectors is not None:
                outside = R - self._combined(inside)
                if ill_conditioned:  # what rounding has left of R inside the span is large beside what H makes of it
                    outside -= self._combined(self._coordinates_of(outside))
                result += outside / rest
            return result

        return apply

    def _coordinates_of(self, R: np.ndarray) -> np.ndarray:
        return R if self.vectors is None else np.asarray(self.vectors.T @ R.astype(self.dtype))

    def _combined(self, inside: np.ndarray) -> np.ndarray:
        return inside if self.vectors is None else (self.vectors @ inside.astype(self.dtype)).astype(np.float64)

    def _factor(self, active: np.ndarray, C: float) -> tuple[np.ndarray, float]:
        """Return the Cholesky factor of the Hessian within the span, and the trace."""
        n, r = self.coordinates.shape
        hessian = np.zeros((r, r))
        for some in slices(n, rows_for(CACHE_BYTES, r, self.coordinates.itemsize)):  # all at once would be a copy
            rows = np.flatnonzero(active[some])
            part = self.coordinates[some][rows]
            part *= np.sqrt(active[some][rows]).astype(part.dtype)[:, None]
            hessian += part.T @ part
        hessian *= 2 * C
        trace = float(np.trace(hessian))
        # rounding errors of an entry are a share of the two diagonal ones that it lies between: it stays definite
        diagonal = hessian.reshape(-1)[:: r + 1]
        diagonal *= 1 + r * float(np.finfo(self.dtype).eps)
        diagonal += 1
        factor, failed = dpotrf(hessian.T, lower=1, clean=0, overwrite_a=1)  # without what cho_factor checks every time
        if failed:
            raise LinAlgError("the Hessian of a column is not positive definite")
        return factor, trace


@dataclass(frozen=True)
class Diagonal:
    """The diagonals of the Hessians: what sparse features can afford, as no two of them go together much."""

    design: Design

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision it is made in."""
        return np.dtype(self.design.dtype)

    def at(self, state: RowState, active_of: Callable[[Rows], np.ndarray], C: np.ndarray) -> Apply:
        """Return the approximate inverse of I + 2Cₖ φᵀ diag(active[:, k]) φ, for every column k at once."""
        diagonal = 1 + DAMPED * 2 * C * self.design.squares(active_of)
        return lambda R: R / diagonal


def precondition(design: Design, problem: Problem, rank: int, seed: int = 0) -> Preconditioner:
    """Return a preconditioner of so many leading eigenvectors of the weighted φᵀφ, or of all directions there are.

    Its eigenvectors are those of a sample of the rows: they need not be better known than the Hessians within their
    span, which are formed from the same rows. The method is the Nyström approximation from Gaussian test vectors
    (Frangella, Tropp and Udell 2023), with more test vectors than are kept: the surplus is what makes the kept ones
    good.
    """
    rows, weights, boost = _sample(design.state, problem.mean_weights(), sample_rows(design.shape[0], rank), seed)
    sample = design.rows(rows)
    if rank >= design.shape[1]:
        return Preconditioner(rows, boost, sample)
    blocks = MemoryBlocks(sample)
    stands_for = weights if boost is None else weights * boost
    vectors, rest, least = _leading(blocks, stands_for.astype(sample.dtype), rank, seed)
    vectors = vectors.astype(sample.dtype)
    coordinates = _joined(blocks.map(lambda at, block: block @ vectors, coarse=True))
    return Preconditioner(rows, boost, coordinates, vectors, rest, least)


def _sample(
    state: RowState, weights_of: Callable[[Rows], np.ndarray], wanted: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return about so many rows, their weights, and how many rows each stands for; None: they are all there are.

    They are drawn by their weights, those that weigh most for certain, each by its number: where it is does not matter.
    """
    n = state.shape[0]
    if wanted >= n:
        numbers, weights = state.collect(lambda rows: (rows.numbers, weights_of(rows)))
        return numbers, weights, None
    (total,) = state.sum(lambda rows: (weights_of(rows).sum(dtype=np.float64),), features=False)

    def drawn(rows: Rows) -> tuple[np.ndarray, ...]:
        weights = weights_of(rows)
        chance = np.minimum(1, wanted * (0.5 * weights / total + 0.5 / n))
        here = np.flatnonzero(uniform(rows.numbers, seed) < chance)
        return rows.numbers[here], weights[here], 1 / chance[here]

    numbers, weights, boost = state.collect(drawn)
    return numbers, weights, boost


def _leading(blocks: MemoryBlocks, weights: np.ndarray, rank: int, seed: int) -> tuple[np.ndarray, float, float]:
    """Return about ``rank`` leading eigenvectors, orthonormal, the last of their eigenvalues, and the least of all."""
    size = blocks.shape[1]
    rounding = float(np.sqrt(size) * np.finfo(blocks.dtype).eps)
    if 3 * rank >= size:  # the whole matrix is no dearer than a sketch of it
        values, vectors = np.linalg.eigh(_gram(blocks, weights))
        return vectors[:, -rank:], *_ends(values, rank, size, rounding)
    image, core = _sketch(blocks, weights, 2 * rank, seed)
    values, rotation = np.linalg.eigh((core + core.T) / 2)
    sound = values > rounding * values[-1]  # the others are rounding errors
    half = image @ (rotation[:, sound] / np.sqrt(values[sound]))  # half @ half.T ≈ φᵀφ
    del image
    values, rotation = np.linalg.eigh(half.T @ half)
    vectors = np.linalg.qr(half @ rotation[:, -rank:])[0]  # rounding has left the angles not quite right
    return vectors, *_ends(values, rank, size, rounding)


def _ends(values: np.ndarray, rank: int, size: int, rounding: float) -> tuple[float, float]:
    """Return the eigenvalue at ``rank``, and what the last of all will be if they go on falling as they do there.

    ``values`` are the largest ones, ascending, some more than ``rank`` of them if so many are known.
    """
    floor = rounding * values.max(initial=0)
    further = min(len(values), rank + rank // 2)
    if further <= rank:
        return float(floor), 0.0
    rest, next_one = max(values[-rank], floor), max(values[-further], floor)
    if not next_one > 0:
        return float(rest), 0.0
    power = np.log(rest / next_one) / np.log(further / rank)
    return float(rest), float(rest * (rank / size) ** power)


def _sketch(blocks: MemoryBlocks, weights: np.ndarray, n_tests: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return φᵀφ times Gaussian test vectors, and that times them from the left too, in float64."""
    size = blocks.shape[1]
    test: np.ndarray = np.random.default_rng(seed).standard_normal((size, n_tests), dtype=blocks.dtype.type)
    if 4 * n_tests > size:  # few among many directions are orthogonal enough
        test = np.linalg.qr(test)[0]
    products = _joined(blocks.map(lambda rows, block: block @ test * weights[rows, None], coarse=True))
    columns = slices(size, rows_for(COARSE_BYTES, blocks.shape[0], blocks.dtype.itemsize))
    image = _joined(thread_map(lambda some: blocks.matrix[:, some].T @ products, columns))
    return image, test.T.astype(np.float64) @ image


def _gram(blocks: MemoryBlocks, weights: np.ndarray) -> np.ndarray:
    """Return φᵀφ of weighted rows."""

    def part(rows: slice, block: np.ndarray) -> tuple[np.ndarray]:
        weighted = block * np.sqrt(weights[rows, None])
        return (weighted.T @ weighted,)

    return blocks.sum(part, coarse=True)[0]


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate(list(parts))
