"""BE-SVM on the first fold of CIFAR-10: single measures, the paper's set M2, and two steps beyond it.

    python examples/cifar10.py [FOLDER] [--out FOLDER]

FOLDER holds the official binary files (by default where besvm.datasets.fetch_cifar10 puts them). Trains on 10,000
images with 10 x 100 exemplars and C = 1, tests on 10,000, prints one table, and draws the winning alignments of a few
test images. The table lands in cifar10.json, the drawing in cifar10-alignments.png, both in the --out folder.

Measures recur in several rows, so their similarities are computed once, by BasisExpansion, and put side by side: this
is what BESVMClassifier([...], basis=IndexBasis(per_class=100)) does in one step. The times of a row are what its
similarities took (of all 20,000 images) and what training took.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from sklearn.pipeline import make_pipeline

from besvm import FHOG, BasisExpansion, CellColor, LinearSVMClassifier, MeanNormScaler, Measure
from besvm.basis import IndexBasis
from besvm.datasets import load_cifar10
from besvm.measures import as_measures, mirrored
from besvm.similarities import RBF, Deformable, Rigid

SINGLE = ["H8L", "H8R", "H8(0,1)", "H8(1,0)", "H4L", "H4R", "H4(0,1)", "H4(1,0)", "H4(1,1)", "H4(2,0)", "H4(2,1)"]
M2 = ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"]
COLOR = [
    Measure(similarity, features=make_pipeline(CellColor(cell=4), MeanNormScaler()), name=f"color {name}")
    for name, similarity in (("R", RBF(gamma=1.0)), ("(2,0)", Rigid(2)))
]
BASIS = IndexBasis(per_class=100)


def main() -> None:
    parser = argparse.ArgumentParser(description="BE-SVM on the first fold of CIFAR-10")
    parser.add_argument("folder", nargs="?", help="where the official binary files are")
    parser.add_argument("--out", type=Path, default=Path(), help="where the table and the drawing go (default: here)")
    args = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    images, labels, fold = load_cifar10(args.folder)
    rows: list[dict[str, object]] = []
    train, test = fold == 0, fold == 5
    computed: dict[str, tuple[np.ndarray, np.ndarray, float]] = {}

    def similarities(measure: Measure) -> tuple[np.ndarray, np.ndarray, float]:
        if measure.label not in computed:
            start = perf_counter()
            expansion = BasisExpansion(measure, basis=BASIS)
            of_train, of_test = expansion.fit_transform(images[train], labels[train]), expansion.transform(images[test])
            computed[measure.label] = of_train, of_test, perf_counter() - start
        return computed[measure.label]

    def report(name: str, measures: list[Measure]) -> None:
        with console.status(name):
            parts = [similarities(measure) for measure in measures]
            seconds = sum(part[2] for part in parts)
            evaluate(name, np.hstack([part[0] for part in parts]), np.hstack([part[1] for part in parts]), seconds)

    def evaluate(name: str, of_train: np.ndarray, of_test: np.ndarray, seconds: float) -> None:
        start = perf_counter()
        classifier = LinearSVMClassifier(probability=False).fit(of_train, labels[train])
        training = perf_counter() - start
        accuracy = classifier.score(of_test, labels[test])
        console.print(f"{name:30}{accuracy:10.3f}{seconds:13.1f} s{training:10.1f} s")
        row = {"measures": name, "accuracy": accuracy, "similarities_seconds": seconds, "training_seconds": training}
        rows.append(row)

    console.print(f"{'measures':30}{'accuracy':>10}{'similarities':>15}{'training':>12}")
    for cell in (8, 4):
        start = perf_counter()
        features = make_pipeline(FHOG(cell=cell), MeanNormScaler()).fit(images[train])
        of_train, of_test = (features.transform(images[rows]).reshape(10_000, -1) for rows in (train, test))
        evaluate(f"linear SVM, H{cell}", of_train, of_test, perf_counter() - start)
    for measure in as_measures(SINGLE):
        report(f"BE-SVM, {measure.label}", [measure])
    report("BE-SVM, M2", as_measures(M2))
    mirrors = [mirrored(measure) for measure in M2]
    report("BE-SVM, M2 mirrored", mirrors)
    report("BE-SVM, M2 mirrored + color", mirrors + [mirrored(measure) for measure in COLOR])
    result = {
        "what": "BE-SVM trained on fold 1 of CIFAR-10, 10 x 100 exemplars, C = 1; accuracy on the 10,000 test images.",
        "command": "python examples/cifar10.py",
        "machine": {"cores": os.cpu_count()},
        "rows": rows,
    }
    (args.out / "cifar10.json").write_text(json.dumps(result, indent=1) + "\n")
    draw_alignments(images[train], labels[train], images[test], args.out / "cifar10-alignments.png")
    console.print(f"wrote {args.out / 'cifar10.json'}, drew {args.out / 'cifar10-alignments.png'}")


def draw_alignments(exemplars: np.ndarray, labels: np.ndarray, samples: np.ndarray, path: Path, n: int = 6) -> None:
    """Draw test images above their most similar exemplars, with an arrow from every cell to its match there."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    similarity = Deformable(rigid=2, local=1, cosine=True)
    rows = BASIS(exemplars, labels, None, None)
    features = make_pipeline(FHOG(cell=4), MeanNormScaler()).fit(exemplars)
    basis, some = features.transform(exemplars[rows]), features.transform(samples[:200])
    scores = similarity(some, basis)
    chosen = np.argsort(scores.max(axis=1))[::-1][:n]
    figure, axes = plt.subplots(2, n, figsize=(1.9 * n, 4.2), layout="constrained")
    for (top, bottom), i in zip(axes.T, chosen, strict=True):
        j = int(scores[i].argmax())
        found = similarity.alignment(some[i], basis[j])
        y, x = np.mgrid[0:8, 0:8] * 4 + 1.5
        moved = np.asarray(found.local) + np.asarray(found.rigid)  # (8, 8, 2): rows, columns
        strength = np.clip(found.contribution / found.contribution.max(), 0, 1)
        top.imshow(samples[i])
        bottom.imshow(exemplars[rows[j]])
        bottom.quiver(
            x, y, moved[..., 1] * 4, moved[..., 0] * 4, strength, angles="xy", scale_units="xy", scale=1,
            cmap="autumn", width=0.012, headwidth=4,
        )  # fmt: skip
        top.set_title("test image", fontsize=9)
        bottom.set_title(f"exemplar, {scores[i, j]:.2f}\nmoved by {found.rigid}", fontsize=9)
        for axis in (top, bottom):
            axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
