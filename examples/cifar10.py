"""BE-SVM on the first fold of CIFAR-10: single measures, the paper's set M2, and two steps beyond it.

    python examples/cifar10.py [FOLDER]

FOLDER holds the official binary files (by default where besvm.datasets.fetch_cifar10 puts them). Trains on 10,000
images with 10 x 100 exemplars and C = 1, tests on 10,000, prints one table, and draws the winning alignments of a few
test images into cifar10-alignments.png.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from rich.console import Console
from sklearn.pipeline import make_pipeline

from besvm import FHOG, BESVMClassifier, CellColour, LinearSVMClassifier, MeanNormScaler, Measure
from besvm.basis import IndexBasis
from besvm.datasets import load_cifar10
from besvm.measures import mirrored
from besvm.similarities import RBF, Deformable, Rigid

SINGLE = ["H8L", "H8R", "H8(0,1)", "H8(1,0)", "H4L", "H4R", "H4(0,1)", "H4(1,0)", "H4(1,1)", "H4(2,0)", "H4(2,1)"]
M2 = ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"]
COLOUR = [
    Measure(similarity, features=make_pipeline(CellColour(cell=4), MeanNormScaler()), name=f"colour {name}")
    for name, similarity in (("R", RBF(gamma=1.0)), ("(2,0)", Rigid(2)))
]
BASIS = IndexBasis(per_class=100)


def main() -> None:
    console = Console(highlight=False)
    images, labels, fold = load_cifar10(*sys.argv[1:2])
    train, test = fold == 0, fold == 5
    console.print(f"{'measures':34}{'accuracy':>10}{'fit':>9}{'predict':>9}")

    def report(name: str, classifier: object, X: np.ndarray = images) -> None:
        with console.status(name):
            start = perf_counter()
            classifier.fit(X[train], labels[train])
            fitted = perf_counter()
            accuracy = classifier.score(X[test], labels[test])
            done = perf_counter()
        console.print(f"{name:34}{accuracy:10.3f}{fitted - start:8.1f}s{done - fitted:8.1f}s")

    for cell in (8, 4):
        features = MeanNormScaler().fit_transform(FHOG(cell=cell).fit_transform(images)).reshape(len(images), -1)
        report(f"linear SVM on H{cell}", LinearSVMClassifier(probability=False), features)
    for measure in SINGLE:
        report(f"BE-SVM {measure}", BESVMClassifier(measure, basis=BASIS, probability=False))
    report("BE-SVM M2", BESVMClassifier(M2, basis=BASIS, probability=False))
    mirrors = [mirrored(measure) for measure in M2]
    report("BE-SVM M2 mirrored", BESVMClassifier(mirrors, basis=BASIS, probability=False))
    coloured = mirrors + [mirrored(measure) for measure in COLOUR]
    report("BE-SVM M2 mirrored + colour", BESVMClassifier(coloured, basis=BASIS, probability=False))
    draw_alignments(images[train], labels[train], images[test], "cifar10-alignments.png")
    console.print("drew cifar10-alignments.png: exemplars, and where each of their cells found its match")


def draw_alignments(exemplars: np.ndarray, labels: np.ndarray, samples: np.ndarray, path: str, n: int = 6) -> None:
    """Draw test images beside their most similar exemplars, with an arrow for every cell that moved."""
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
        found = similarity.alignment(basis[j], some[i])
        y, x = np.mgrid[0:8, 0:8] * 4 + 1.5
        moved = np.asarray(found.local) + np.asarray(found.rigid)  # (8, 8, 2): rows, columns
        strength = np.clip(found.contribution / found.contribution.max(), 0, 1)
        top.imshow(exemplars[rows[j]])
        bottom.imshow(samples[i])
        bottom.quiver(
            x, y, moved[..., 1] * 4, moved[..., 0] * 4, strength, angles="xy", scale_units="xy", scale=1,
            cmap="autumn", width=0.012, headwidth=4,
        )  # fmt: skip
        top.set_title(f"exemplar, {scores[i, j]:.2f}", fontsize=9)
        bottom.set_title(f"moved by {tuple(int(z) for z in found.rigid)}", fontsize=9)
        for axis in (top, bottom):
            axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
