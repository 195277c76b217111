"""Jittered training: linear and kernel SVMs on training sets expanded by shifted cells."""

from __future__ import annotations

from functools import partial
from time import perf_counter

from besvm.baselines import JitteredClassifier, KernelSVMClassifier
from besvm.classifier import LinearSVMClassifier
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, value, where
from besvm.experiments.config import Config
from besvm.experiments.lab import Lab
from besvm.similarities import RBF

COPIES = 9  # of every image: shifts of one cell in all directions
SHARE = 5  # the kernel SVM sees a fifth of the fold, unless --thorough: nine times as many rows take 81 times as long


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every model, with and without jitter."""
    n, costs = len(lab.train_rows()), lab.costs
    found = []
    for cell in (8, 4):
        for rigid in (0, 1):
            rows, width = n * COPIES**rigid, lab.features_per_image(cell)
            key = {"model": f"linear SVM, H{cell}", "images": n, "jitter": rigid}
            seconds, memory = costs.fixed(1) + costs.train(rows, width), 2 * 4 * rows * width
            found.append(Cell(key, partial(_linear, lab, cell, rigid), seconds, memory))
    for images in (n // SHARE, n):
        for rigid in (0, 1):
            rows = images * COPIES**rigid
            key = {"model": "kernel SVM, K8R", "images": images, "jitter": rigid}
            slow = rigid == 1 and images == n
            seconds, memory = costs.kernel(rows), costs.kernel_memory(rows) + 4 * rows * lab.features_per_image(8)
            found.append(Cell(key, partial(_kernel, lab, images, rigid), seconds, memory, thorough=slow))
    return found


def _linear(lab: Lab, cell: int, rigid: int) -> Row:
    return _measured(lab, LinearSVMClassifier(C=1.0, probability=False), cell, len(lab.train_rows()), rigid)


def _kernel(lab: Lab, images: int, rigid: int) -> Row:
    model = KernelSVMClassifier(RBF(gamma=1.0), C=2.0, memory_limit=lab.model_limit)
    return _measured(lab, model, 8, images, rigid)


def _measured(lab: Lab, model: KernelSVMClassifier | LinearSVMClassifier, cell: int, images: int, rigid: int) -> Row:
    features = lab.features(cell)
    rows = lab.train_rows()[:images]
    start = perf_counter()
    jittered = JitteredClassifier(model, rigid=rigid, memory_limit=lab.model_limit)
    jittered.fit(features[rows], lab.labels[rows])
    seconds = perf_counter() - start
    accuracy = float(jittered.score(features[lab.test_rows], lab.labels[lab.test_rows]))
    return {"accuracy": accuracy, "train_seconds": round(seconds, 2)}


def claims(config: Config, table: Table) -> list[Claim]:
    """Check what the paper reports of its trial."""
    found = []
    slower = []
    for model in ("linear SVM, H8", "linear SVM, H4", "kernel SVM, K8R"):
        jittered = [row["images"] for row in where(table, model=model, jitter=1)]
        images = max(jittered, default=None)

        def of(column: str, jitter: int, model: str = model, images: int | None = images) -> float | None:
            return value(table, column, model=model, jitter=jitter, images=images)

        plain, with_jitter = (of("train_seconds", jitter) for jitter in (0, 1))
        slower.append(None if plain is None or with_jitter is None else with_jitter / max(plain, 0.01))
        found.append(
            check(
                f"Jittering the training set loses accuracy significantly: {model}.",
                "it loses more than 1 %",
                f"{{:.1%}} without, {{:.1%}} with{'' if images is None else f' ({images:,} images)'}",
                lambda plain, jittered: plain - jittered > 0.01,
                of("accuracy", 0),
                of("accuracy", 1),
            )
        )
    found.append(
        check(
            "Jittering increases memory and time significantly.",
            "training takes more than twice as long for all three models",
            f"{COPIES} times the rows; linear SVM, H8 {{:.1f}} times the seconds, H4 {{:.1f}}, kernel SVM {{:.1f}}",
            lambda *times: min(times) > 2,
            *slower,
        )
    )
    return found


EXPERIMENT = Experiment(
    name="jittering",
    title="training sets expanded by shifted cells",
    paper=(
        "Training linear and kernel SVMs on shifted copies of the features, zero-padded as the invariant measures "
        "do, lost accuracy significantly and cost much more memory and time; the paper blames the boundaries."
    ),
    cells=cells,
    claims=claims,
    note=lambda config: (
        f"Shifts of one cell in all directions: {COPIES} copies of every image. The kernel SVM sees a fifth of the fold"
        + (", and the whole fold too." if config.thorough else "; the whole fold only with --thorough.")
    ),
)
