"""Greedy selection of measures (sets M1 and M2).

On one fold with 10 x 50 bases, greedily adding the most contributing measure gives the low-resolution set M1 = {H8R,
H8(1,0), H8(0,1)} and the two-resolution set M2 = {H8R, H4(2,0), H4(0,1), H8(1,0)}: a coarse rigid level and a fine
deformable one.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from besvm._support.figures import COLORS, Figures, axes
from besvm.basis import IndexBasis
from besvm.reproduction.cells import OURS, Cell, Cells, Claims, Costs, check, value, where
from besvm.reproduction.config import M1, M2, MEASURES, Config
from besvm.reproduction.lab import Basis, Lab, Row, Table
from besvm.selection import GreedySelection

LABELED = 5  # candidates of every step that the figure names
CANDIDATES = {"both resolutions": MEASURES, "H8 only": tuple(m for m in MEASURES if m.startswith("H8"))}
PAPER_SETS = {"both resolutions": M2, "H8 only": M1}


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every set of candidates, and one for the test accuracy of the paper's set."""
    size = config.greedy_size
    basis = lab.index_basis(size, config.steps)
    for name, candidates in CANDIDATES.items():
        seconds = costs.fixed(40) + costs.fit(candidates, 1, basis)
        memory = costs.fit_memory(len(candidates), 1, lab.n_classes * size)
        key = {"candidates": name, "by": "greedy selection"}
        n_measures = min(config.n_measures, len(PAPER_SETS[name]))
        yield Cell(key, partial(_greedy, lab, name, n_measures, size, basis), seconds, memory)
        key = {"candidates": name, "by": "the paper"}
        yield Cell(key, partial(_tested, lab, PAPER_SETS[name], basis), costs.fixed(2), memory)


def _greedy(lab: Lab, name: str, n_measures: int, per_class: int, basis: Basis) -> Row:
    rows = lab.train_rows()
    search = GreedySelection(
        list(CANDIDATES[name]),
        n_measures=n_measures,
        basis=IndexBasis(per_class=per_class),
        random_state=0,
        folder=lab.cache.folder / "greedy",
        refit=False,
        memory_limit=lab.model_limit,
    ).fit(lab.images[rows], lab.labels[rows])
    steps = [
        {"chosen": step.chosen, "accuracy": step.accuracy, "candidates": dict(step.accuracies)}
        for step in search.trace_
    ]
    return _tested(lab, tuple(search.names_), basis) | {"held_out": search.trace_[-1].accuracy, "steps": steps}


def _tested(lab: Lab, measures: tuple[str, ...], basis: Basis) -> Row:
    return {"measures": ", ".join(measures), "accuracy": lab.fit(measures, basis).accuracy}


def figures(config: Config, table: Table) -> Figures:
    """Draw every candidate's held-out accuracy at every step, and that of the paper's choices."""
    searches = where(table, by="greedy selection")
    if not searches:
        return
    tried = [step["candidates"].values() for search in searches for step in search["steps"]]
    every = [score for scores in tried for score in scores if score is not None]
    line = (max(every) - min(every)) / 28  # of text
    figure, several = axes(6.4 * len(searches), 4.4, columns=len(searches), sharey=True, squeeze=False)
    for ax, search in zip(several[0], searches, strict=True):
        steps, paper = search["steps"], PAPER_SETS[search["candidates"]]
        for place, step in enumerate(steps, start=1):
            scores = {name: score for name, score in step["candidates"].items() if score is not None}
            ax.scatter([place] * len(scores), list(scores.values()), s=12, color="#9b9a97")
            for name, height in _apart(scores, line):
                look: Any = {"fontsize": 7, "weight": "bold" if name == step["chosen"] else "normal", "va": "center"}
                ax.annotate(name, (place, height), (7, 0), textcoords="offset points", **look)
        places = range(1, len(steps) + 1)
        ax.plot(places, [step["accuracy"] for step in steps], "o-", color=COLORS[0], label="chosen here")
        along = list(_along(steps, paper))
        ax.plot(range(1, len(along) + 1), along, "s--", mfc="none", color=COLORS[1], label="the paper's order")
        ax.set(title=f"candidates: {search['candidates']}", xlabel="measures", xticks=list(places))
        ax.set_xlim(0.7, len(steps) + 0.8)
        ax.legend(loc="lower right")
    several[0, 0].set_ylabel("held-out accuracy")
    yield "greedy", figure


def _apart(scores: dict[str, float], line: float) -> list[tuple[str, float]]:
    """Return the best candidates with heights for their names, at least a line apart, the best first."""
    found: list[tuple[str, float]] = []
    for name, score in sorted(scores.items(), key=lambda item: -item[1])[:LABELED]:
        found.append((name, score if not found else min(score, found[-1][1] - line)))
    return found


def _along(steps: list[Row], paper: tuple[str, ...]) -> Iterator[float]:
    """Yield the held-out accuracies of the paper's order, as far as it is among the sets that were tried."""
    for step, measure in zip(steps, paper, strict=False):
        score = step["candidates"].get(measure)
        if score is not None:
            yield score
        if score is None or step["chosen"] != measure:
            return


def claims(config: Config, table: Table) -> Claims:
    """Check that our own search finds the paper's sets, or others as good."""
    for name, paper in PAPER_SETS.items():
        ours = value(table, "accuracy", candidates=name, by="greedy selection")
        theirs = value(table, "accuracy", candidates=name, by="the paper")
        chosen = next((row["measures"] for row in where(table, candidates=name, by="greedy selection")), "")
        wanted = set(paper[: config.n_measures])
        yield check(
            f"Greedy selection among the candidates of {name} finds {', '.join(paper)}.",
            "it chooses these measures, in any order",
            f"chosen: {chosen}; {{:.1%}} on the test set",
            lambda _, chosen=chosen, wanted=wanted: set(chosen.split(", ")) == wanted,
            [ours],
        )
        yield check(
            f"The set chosen greedily among the candidates of {name} is as good as the paper's.",
            "its test accuracy, with the same bases, is at most 0.5 % lower",
            "{:.1%}; the paper's set {:.1%}",
            lambda a, b: a >= b - 0.005,
            [ours, theirs],
            origin=OURS,
        )


CAPTIONS = {
    "greedy": "Held-out accuracy of every candidate (gray) at every step of the greedy selection; the "
    "best five are named, the chosen ones in bold."
}
