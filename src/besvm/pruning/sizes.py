"""The curve: models of ever fewer exemplars, each judged by rows that had no say in it."""

import numpy as np

from besvm._support.progress import Progress, progress
from besvm.pruning.curve import PruningCurve
from besvm.pruning.ranking import ranked
from besvm.pruning.stage import Stage

SHARE = 64  # the smallest is one of so many of the exemplars
FEWEST = 4  # but no fewer than these, and than there are classes
REFINED = 3  # sizes more that are tried where the curve comes to lose too much


def measured(
    stage: Stage,
    learn: str,
    size: int | None,
    max_loss: float | None,
    n_draws: int,
    rng: np.random.Generator,
) -> PruningCurve:
    """Return the accuracy at sizes from all exemplars down, at ``size`` too, and where ``max_loss`` comes to be lost.

    For every part of the rows that is held out, exemplars are chosen and models trained on the others.
    """
    if not stage.held_out:
        raise ValueError(
            "at least one class must have two different rows, so that some can be held out to measure the cost; pass "
            "more rows, or n and curve=False"
        )
    sizes = grid(stage.n_exemplars, len(stage.classes), size)
    more = 0 if max_loss is None else REFINED
    total = len(stage.held_out) * (1 + (len(sizes) + more) * (1 + n_draws))
    with progress("choosing exemplars", total, stage.params.verbose) as shown:
        judged = _Judged(stage, learn, sizes[-1], n_draws, rng, shown)
        found = {one: judged(one) for one in sizes}
        for _ in range(more):
            curve = _curve(found, judged)
            last = curve.smallest(max_loss or 0.0)
            place = curve.sizes.index(last) + 1
            between = round(np.sqrt(last * curve.sizes[place])) if place < len(curve.sizes) else last
            if between in found:
                break
            found[between] = judged(between)
    return _curve(found, judged)


def grid(n: int, fewest: int, asked: int | None) -> list[int]:
    """Return the sizes to measure, from n down by the root of two; ``asked`` is among them.

    Examples
    --------
    >>> grid(100, fewest=10, asked=25)
    [100, 71, 50, 35, 25, 18, 12]
    """
    last = max(FEWEST, fewest, n // SHARE)
    halves = (round(n * 0.5 ** (half / 2)) for half in range(2 * n.bit_length()))
    return sorted({n, n if asked is None else asked, *(size for size in halves if size >= last)}, reverse=True)


class _Judged:
    """What a number of exemplars reaches on the rows held out: (accuracy, that of random choices)."""

    def __init__(
        self, stage: Stage, learn: str, fewest: int, n_draws: int, rng: np.random.Generator, shown: Progress
    ) -> None:
        self.stage, self.n_draws, self.rng, self.shown = stage, n_draws, rng, shown
        self.mass = [float(stage.counts[out].sum()) for out in stage.held_out]
        every = np.arange(stage.n_exemplars)
        large, self.orders, self.targets = [], [], []
        for out in stage.held_out:
            accuracy, margins = stage.judged(every, out)  # a model with all exemplars that has not seen these rows
            large.append(accuracy)
            self.targets.append(stage.targets(margins, learn))
            self.orders.append(ranked(stage, margins, np.where(out, 0.0, stage.weights), fewest))
            shown.advance(1)
        self.large = float(np.average(large, weights=self.mass))

    def __call__(self, size: int) -> tuple[float, float]:
        n = self.stage.n_exemplars
        if size == n:
            self.shown.advance((1 + self.n_draws) * len(self.orders))
            return self.large, self.large
        self.shown.note(f"training with {size:,} exemplars")
        ours = self._accuracy([order[:size] for order in self.orders])
        draws = [self.rng.choice(n, size, replace=False) for _ in range(self.n_draws)]
        beside = [self._accuracy([draw] * len(self.orders)) for draw in draws]
        return ours, float(np.mean(beside)) if beside else ours

    def _accuracy(self, kept: list[np.ndarray]) -> float:
        """Return the accuracy over all rows that are held out in turn, each time with these exemplars."""
        found = []
        for some, out, targets in zip(kept, self.stage.held_out, self.targets, strict=True):
            found.append(self.stage.judged(some, out, targets)[0])
            self.shown.advance(1)
        return float(np.average(found, weights=self.mass))


def _curve(found: dict[int, tuple[float, float]], judged: _Judged) -> PruningCurve:
    sizes = sorted(found, reverse=True)
    return PruningCurve(
        sizes,
        [found[size][0] for size in sizes],
        [found[size][1] for size in sizes] if judged.n_draws else None,
        int(sum(out.sum() for out in judged.stage.held_out)),
    )
