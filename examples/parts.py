"""Parts of images: which pieces a BE-SVM goes by, and where it finds them in images it has not seen.

    python examples/parts.py [FOLDER] [--out FOLDER]

FOLDER holds the official binary files of CIFAR-10 (by default where besvm.datasets.fetch_cifar10 puts them). Trains on
4,000 images with 300 random patches of 6 x 6 pixels and their mirror images (half a minute), and draws a few test
images, each with a frame around the places where the five parts that speak most for its class fit best (dashed: in the
mirror), and these parts below. The drawing lands in parts.png, in the --out folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from besvm import BESVMClassifier
from besvm.datasets import load_cifar10
from besvm.features import Pixels
from besvm.measures import mirrored

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
COLORS = ("#ff3b30", "#ffcc00", "#34c759", "#5ac8fa", "#ff2dd5")
N_IMAGES = 8


def main() -> None:
    parser = argparse.ArgumentParser(description="Parts of images, and where they are found")
    parser.add_argument("folder", nargs="?", help="where the official binary files are")
    parser.add_argument("--out", type=Path, default=Path(), help="where the drawing goes (default: here)")
    args = parser.parse_args()
    images, labels, fold = load_cifar10(args.folder)
    X, y, X_test, y_test = images[:4000], labels[:4000], images[fold == 5][:1000], labels[fold == 5][:1000]
    model = BESVMClassifier(mirrored("P6"), basis=300, C=1.0, random_state=0, verbose=1).fit(X, y)
    print(f"{model.score(X_test, y_test):.3f} of 1,000 test images are classified correctly")
    draw(model, X_test, y_test, args.out / "parts.png")
    print(f"drew {args.out / 'parts.png'}")


def draw(model: BESVMClassifier, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    """Draw the surest of the images that are classified correctly, one of each class at most."""
    margins = model.decision_function(X)
    sure = np.where(margins.argmax(axis=1) == y, margins.max(axis=1), -np.inf)
    best = [int(np.flatnonzero(y == label)[sure[y == label].argmax()]) for label in range(10)][:N_IMAGES]
    similarity, pieces = model._map.expander.measures[0].similarity, model.basis_parts_[0]
    features, grids = model.transform(X[best]), Pixels().transform(X[best])
    each = similarity.columns_each
    figure, axes = plt.subplots(2, N_IMAGES, figsize=(1.7 * N_IMAGES, 2.6), height_ratios=(5, 1), layout="constrained")
    for (top, below), row, phi, grid in zip(axes.T, best, features, grids, strict=True):
        pull = (model.coef_[y[row]] * phi).reshape(-1, each)  # what every part adds, region by region
        strongest = np.argsort(-pull.max(axis=1))[: len(COLORS)]
        top.imshow(X[row], interpolation="nearest")
        strip = np.ones((6, 8 * len(COLORS) - 2, 3))
        for k, part in enumerate(strongest):
            piece = pieces.items[part]
            similarity.plot(grid, piece, top, color=COLORS[k])
            found = similarity.alignment(grid, piece)
            strip[:, 8 * k : 8 * k + 6] = piece[:, ::-1] if found.mirrored[found.score.argmax()] else piece
            below.add_patch(
                Rectangle((8 * k - 0.5, -0.5), 6, 6, fill=False, edgecolor=COLORS[k], linewidth=1.6, clip_on=False)
            )
        below.imshow(strip, interpolation="nearest")
        top.set_title(CLASSES[y[row]], fontsize=10)
        top.axis("off")
        below.axis("off")
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
