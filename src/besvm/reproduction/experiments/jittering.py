"""Training sets expanded by shifted cells.

Training linear and kernel SVMs on shifted copies of the features, zero-padded as the invariant measures do, lost
accuracy significantly and took much more memory and time; the paper blames effects at the borders.
"""

from functools import partial

import numpy as np

from besvm.analysis import profile
from besvm.baselines import JitteredClassifier
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, value, where
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Lab, Row, Table
from besvm.reproduction.models import plain_svm

LINEAR_H8, LINEAR_H4, KERNEL = "linear SVM, H8", "linear SVM, H4", "kernel SVM, K8R"
CELLS = {LINEAR_H8: 8, LINEAR_H4: 4, KERNEL: 8}
MOVES = {8: (0, 1), 4: (0, 1, 2)}  # cells in all directions: up to 8 pixels, as the invariant measures
COPIES = (1, 9, 25)  # of an image, by the largest displacement
SHARE = 5  # the kernel SVM sees a fifth of the fold, unless --thorough: nine times as many rows take 81 times as long


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every model, with and without jitter."""
    n = len(lab.train_rows())
    for name, images in ((LINEAR_H8, n), (LINEAR_H4, n), (KERNEL, n // SHARE), (KERNEL, n)):
        for rigid in MOVES[CELLS[name]]:
            rows, width = images * COPIES[rigid], lab.features_per_image(CELLS[name])
            seconds, memory = costs.fixed(1) + 3 * costs.train(rows, width), 2 * 4 * rows * width
            if name == KERNEL:
                seconds, memory = costs.kernel(rows), costs.kernel_memory(rows) + 4 * rows * width
            key = {"model": name, "images": images, "jitter": rigid}
            slow = name == KERNEL and rigid == 1 and images == n
            yield Cell(key, partial(_measured, lab, name, images, rigid), seconds, memory, slow)


def _measured(lab: Lab, name: str, images: int, rigid: int) -> Row:
    features = lab.features(CELLS[name])
    rows, test = lab.train_rows()[:images], lab.test_rows
    jittered = JitteredClassifier(plain_svm(lab, name == KERNEL), rigid=rigid, memory_limit=lab.model_limit)
    run = profile(jittered, features[rows], lab.labels[rows], features[test[:1]])
    return {
        "copies": COPIES[rigid],
        "accuracy": float(run.model.score(features[test], lab.labels[test])),
        "train_seconds": round(run.fit_seconds, 2),
        "train_MB": None if run.fit_bytes is None else round(run.fit_bytes / 1e6, 1),
    }


def claims(config: Config, table: Table) -> Claims:
    """Check what the paper reports of its trial."""
    slower, larger = [], []
    for model, cell in CELLS.items():
        most = MOVES[cell][-1]
        images = max((row["images"] for row in where(table, model=model, jitter=most)), default=None)

        def of(column: str, jitter: int, model: str = model, images: int | None = images) -> float:
            return value(table, column, model=model, jitter=jitter, images=images)

        slower.append(of("train_seconds", most) / np.maximum(of("train_seconds", 0), 0.01))
        larger.append(of("train_MB", most) / np.maximum(of("train_MB", 0), 1.0))
        yield check(
            f"Jittering the training set by up to 8 pixels loses accuracy significantly: {model}.",
            "it loses more than 1 %",
            f"{{:.1%}} without, {{:.1%}} with{'' if images is None else f' ({images:,} images)'}",
            lambda plain, jittered: plain - jittered > 0.01,
            [of("accuracy", 0), of("accuracy", most)],
        )
    for what, times in (("time", slower), ("memory", larger)):
        yield check(
            f"Jittering increases {what} significantly.",
            f"training takes more than twice the {what} for all three models",
            "{:.1f} times (linear SVM, H8), {:.1f} (linear SVM, H4), {:.1f} (kernel SVM)",
            lambda *several: min(several) > 2,
            times,
        )


NOTE = (
    "Shifts of whole cells in all directions, by up to 8 pixels: nine copies of every image at H8, 25 at H4 (nine "
    "for up to 4 pixels). Memory is how much the process grew. The kernel SVM sees a fifth of the fold; "
    "the whole fold only with --thorough."
)
