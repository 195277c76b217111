"""How fast the grid similarities are: useful operations per second, compared with sgemm in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from besvm.similarities import Deformable

DEPTH = 31  # the entries of a HOG cell
SIDE = {"H4": 8, "H8": 4}  # cells along the side of a 32 x 32 image, for cells of 4 and of 8 pixels
MEASURES = [  # (features, rigid, local)
    ("H4", 0, 1),
    ("H4", 1, 0),
    ("H4", 1, 1),
    ("H4", 2, 0),
    ("H4", 2, 1),
    ("H8", 0, 1),
    ("H8", 1, 0),
    ("H8", 1, 1),
]


def useful_operations(side: int, reach: int) -> int:
    """Return the operations a pair of grids needs if each pair of cells that can meet is multiplied once."""
    return 2 * DEPTH * (side + 2 * sum(side - k for k in range(1, min(reach, side - 1) + 1))) ** 2


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Time every measure, and its rivals beside it: one row of plain values each, the best of seven."""
    n_samples, n_basis, repeats = (100, 64, 1) if quick else (2000, 1024, 7)
    rng = np.random.default_rng(0)
    rows = []
    for features, rigid, local in MEASURES:
        name, side = f"{features}({rigid},{local})", SIDE[features]
        samples, basis = (rng.random((n, side, side, DEPTH), dtype=np.float32) for n in (n_samples, n_basis))
        contestants = {name: Deformable(rigid, local).against(basis)}
        if local == 0:
            contestants |= {f"{name} {rival}": make(basis, rigid) for rival, make in _rivals().items()}
        operations = useful_operations(side, rigid + local) * n_samples * n_basis
        rows += _race(contestants, samples, operations, repeats)
    return rows


def _race(
    contestants: dict[str, Callable[[np.ndarray], np.ndarray]],
    samples: np.ndarray,
    operations: int,
    repeats: int,
) -> list[dict[str, Any]]:
    """Run all in turns with sgemm, so that each sees the machine as busy as the others do."""
    matrix = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
    seconds = dict.fromkeys(contestants, np.inf)
    sgemm_seconds = np.inf
    for similarities in contestants.values():
        similarities(samples[:8])  # compile, load
    for _ in range(repeats):
        for name, similarities in contestants.items():
            sgemm_seconds = min(sgemm_seconds, _seconds(lambda: matrix @ matrix))
            seconds[name] = min(seconds[name], _seconds(lambda run=similarities: run(samples)))
    peak = 2 * len(matrix) ** 3 / sgemm_seconds / 1e9
    return [
        {
            "name": name,
            "seconds": taken,
            "useful_gflops": operations / taken / 1e9,
            "peak_gflops": peak,
            "ratio": operations / taken / 1e9 / peak,
        }
        for name, taken in seconds.items()
    ]


def _seconds(run: Callable[[], Any]) -> float:
    time.sleep(0.1)  # threads of the library that ran before spin for a while, and would take a core from this one
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _rivals() -> dict[str, Callable[[np.ndarray, int], Callable[[np.ndarray], np.ndarray]]]:
    return {"numpy": _numpy_rigid} | ({"torch": _torch_rigid} if find_spec("torch") else {})


def _numpy_rigid(basis: np.ndarray, radius: int) -> Callable[[np.ndarray], np.ndarray]:
    """Multiply the whole grids once per translation: what one writes without this library."""
    _, h, w, _ = basis.shape
    exemplars = basis.reshape(len(basis), -1).T

    def similarities(samples: np.ndarray) -> np.ndarray:
        padded = np.pad(samples, ((0, 0), (radius, radius), (radius, radius), (0, 0)))
        best = np.full((len(samples), len(basis)), -np.inf, dtype=np.float32)
        for dy, dx in np.ndindex(2 * radius + 1, 2 * radius + 1):
            moved = padded[:, dy : dy + h, dx : dx + w].reshape(len(samples), -1)
            np.maximum(best, moved @ exemplars, out=best)
        return best

    return similarities


def _torch_rigid(basis: np.ndarray, radius: int) -> Callable[[np.ndarray], np.ndarray]:
    """Let the exemplars be the filters of a convolution."""
    import torch

    filters = torch.from_numpy(np.ascontiguousarray(basis.transpose(0, 3, 1, 2)))

    def similarities(samples: np.ndarray) -> np.ndarray:
        images = torch.from_numpy(np.ascontiguousarray(samples.transpose(0, 3, 1, 2)))
        with torch.inference_mode():
            scores = torch.nn.functional.conv2d(images, filters, padding=radius).amax(dim=(2, 3))
        return scores.numpy()

    return similarities
