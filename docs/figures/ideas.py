"""Draw the figures of docs/ideas.md and write the figures that it quotes into docs/figures/ideas.json.

    python docs/figures/ideas.py

About half a minute on one core, without a download: handwritten digits that ship with scikit-learn, moved at random by
up to a pixel (those of `besvm demo`), and two spirals.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from besvm import BESVMClassifier
from besvm._support.figures import COLORS, axes, in_style, rendered
from besvm.baselines import KernelSVMClassifier
from besvm.datasets import make_toy
from besvm.demo import N_BASIS, N_TRAIN, displaced_digits
from besvm.similarities import RBF, NegativeDistance, Rigid

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, PLUM = COLORS[:4]
CS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
ORDERS = 5  # of the training rows
SIZES = (2, 5, 10, 20, 50, 100, 200, 500)
DRAWS = 5
WIDTH = 5.2  # inches: letters of 11 points are then readable on a phone


def main() -> None:
    X, y = displaced_digits()
    data = X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
    shift = similarities(Rigid(2), data)
    gaussian = similarities(RBF(), tuple(part.reshape(len(part), -1) if part.ndim > 1 else part for part in data))
    found: dict[str, Any] = {
        "spectrum": spectra({"Gaussian (RBF)": gaussian[0], "best shift": shift[0]}),
        "indefinite": indefinite(*shift, data[1], data[3]),
        "normalization": normalization(*shift, data),
        "exemplars": exemplars(*shift, data[1], data[3]),
        "spirals": spirals(),
    }
    found["exemplars"]["support_vectors"] = int(
        SVC(C=10.0, kernel="precomputed").fit(gaussian[0], data[1]).n_support_.sum()
    )
    (HERE / "ideas.json").write_text(json.dumps(found, indent=2) + "\n")


def similarities(measure: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the similarities of the training and of the test samples to the training samples."""
    train, _, test, _ = data
    measure = measure.fit(train)
    K = np.asarray(measure(train, train), dtype=np.float64)
    return (K + K.T) / 2, np.asarray(measure(test, train), dtype=np.float64)


def spectra(matrices: dict[str, np.ndarray]) -> dict[str, Any]:
    """Draw the eigenvalues of each matrix, the negative ones in another color."""
    figure, both = axes(WIDTH, 2.7, 1, 2, sharey=True)
    found = {}
    with in_style():
        for ax, (name, K) in zip(both, matrices.items(), strict=True):
            values = np.linalg.eigvalsh(K)[::-1]
            values = np.where(np.abs(values) < 1e-9 * values[0], 0, values)
            place = np.arange(1, len(values) + 1)
            for sign, color in ((1, BLUE), (-1, ORANGE)):
                of_sign = np.sign(values) == sign
                ax.fill_between(place[of_sign], 0, values[of_sign], color=color, lw=0)
            ax.axhline(0, color="#37352f", lw=0.8)
            ax.set_yscale("symlog", linthresh=1)
            ax.set_yticks([-100, -10, -1, 0, 1, 10, 100, 1000], ["−100", "−10", "−1", "0", "1", "10", "100", "1,000"])
            ax.tick_params(labelsize=9.5)
            negative = int((values < 0).sum())
            ax.set_title(f"{name}\n{negative or 'none'} of {len(values)} negative", fontsize=11)
            ax.set_xlabel("eigenvalue, the largest first", fontsize=10)
            ax.grid(axis="x", visible=False)
            energy = float(-values[values < 0].sum() / values[values > 0].sum())
            found[name] = {"negative": negative, "of": len(values), "energy": energy, "smallest": float(values[-1])}
    save(figure, "spectrum")
    return found


def indefinite(K: np.ndarray, K_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> list[dict[str, Any]]:
    """Train an SVM that trusts the matrix, one on the clipped matrix, and a BE-SVM, on the rows in several orders."""
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(y)) for _ in range(ORDERS)]
    basis = rng.permutation(len(y))[:N_BASIS]

    def as_it_is(C: float, o: np.ndarray) -> np.ndarray:
        return SVC(C=C, kernel="precomputed").fit(K[np.ix_(o, o)], y[o]).predict(K_test[:, o])

    def clipped(C: float, o: np.ndarray) -> np.ndarray:
        svm = KernelSVMClassifier("precomputed", spectrum="clip", C=C)
        return svm.fit(K[np.ix_(o, o)], y[o]).predict(K_test[:, o])

    def besvm(C: float, o: np.ndarray) -> np.ndarray:
        svm = BESVMClassifier("precomputed", C=C, probability=False)
        return svm.fit(K[np.ix_(o, basis)], y[o]).predict(K_test[:, basis])

    methods = {
        "kernel SVM (SVC), the matrix as it is": (as_it_is, ORANGE, "o-"),
        "kernel SVM, negative eigenvalues set to 0": (clipped, GREEN, "s--"),
        f"BE-SVM, {N_BASIS} exemplars": (besvm, BLUE, "D-"),
    }
    rows = []
    figure, ax = axes(WIDTH, 3.4)
    with in_style():
        for name, (predict, color, style) in methods.items():
            predicted = {C: [predict(C, o) for o in orders] for C in CS}
            right = np.array([[np.mean(p == y_test) for p in predicted[C]] for C in CS])
            ax.fill_between(CS, right.min(axis=1), right.max(axis=1), color=color, alpha=0.2, lw=0)
            ax.plot(CS, right.mean(axis=1), style, color=color, ms=5, label=name)
            changed = max(np.mean(p != predicted[10.0][0]) for p in predicted[10.0])
            at = right[CS.index(10.0)]
            compared = N_BASIS if predict is besvm else len(y)
            rows.append({"classifier": name, "low": at.min(), "high": at.max(), "changed": changed})
            rows[-1] |= {"compared": compared, "best": right.mean(axis=1).max()}
        ax.set_xscale("log")
        ax.set_ylim(0.78, 1.0)
        ax.set_xlabel("C")
        ax.set_ylabel("test accuracy")
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), fontsize=10)
    save(figure, "indefinite")
    return rows


def normalization(shift: np.ndarray, shift_test: np.ndarray, data: Any) -> dict[str, Any]:
    """Train on two measures of very different size, alone and side by side, with and without the normalization."""
    X, y, X_test, y_test = data
    basis = np.random.default_rng(0).permutation(len(y))[:N_BASIS]
    distance = NegativeDistance("manhattan")
    flat, flat_test = (255.0 * part.reshape(len(part), -1) for part in (X, X_test))
    far, far_test = distance(flat, flat[basis]), distance(flat_test, flat[basis])
    near, near_test = shift[:, basis], shift_test[:, basis]
    both, both_test = np.dstack([near, far]), np.dstack([near_test, far_test])
    ways: dict[str, Any] = {
        "best shift alone": (near, near_test, "mean-norm", PLUM, ":"),
        "distance alone": (far, far_test, "mean-norm", GREEN, ":"),
        "both, normalized": (both, both_test, "mean-norm", BLUE, "D-"),
        "both, raw": (both, both_test, None, ORANGE, "o-"),
    }
    figure, ax = axes(WIDTH, 3.4)
    found = {}
    with in_style():
        for name, (S, S_test, normalize, color, style) in ways.items():
            right = []
            for C in CS:
                measures = ["precomputed"] * (S.shape[2] if S.ndim == 3 else 1)
                svm = BESVMClassifier(measures, normalize=normalize, C=C, probability=False)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # of raw features, which are very large
                    right.append(svm.fit(S, y).score(S_test, y_test))
            ax.plot(CS, right, style, color=color, ms=5, lw=2.2 if style == ":" else 1.5, label=name)
            found[name] = {"at 1": right[CS.index(1.0)], "best": max(right)}
        ax.set_xscale("log")
        ax.set_xlabel("C")
        ax.set_ylabel("test accuracy")
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, fontsize=10, columnspacing=1.2)
    save(figure, "normalization")
    sizes = {"best shift": near, "distance": far}
    return found | {"sizes": {name: float(np.abs(S).mean()) for name, S in sizes.items()}}


def exemplars(K: np.ndarray, K_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    """Train with ever more exemplars, drawn at random a few times."""
    right = []
    for n in SIZES:
        draws = [np.random.default_rng(seed).permutation(len(y))[:n] for seed in range(DRAWS)]
        right.append([score(K[:, rows], y, K_test[:, rows], y_test) for rows in draws])
    low, high, mean = np.min(right, axis=1), np.max(right, axis=1), np.mean(right, axis=1)
    figure, ax = axes(WIDTH, 2.9)
    with in_style():
        ax.fill_between(SIZES, low, high, color=BLUE, alpha=0.2, lw=0)
        ax.plot(SIZES, mean, "D-", color=BLUE, ms=5)
        for n, value in zip(SIZES, mean, strict=True):
            if n >= 10:
                ax.annotate(f"{value:.3f}", (n, value), (6, -16), textcoords="offset points", ha="center", fontsize=9.5)
        ax.set_xscale("log")
        ax.set_xticks(SIZES, [str(n) for n in SIZES])
        ax.minorticks_off()
        ax.set_ylim(0.2, 1.02)
        ax.set_xlim(1.7, 640)
        ax.set_xlabel(f"exemplars, of {len(y)} training samples")
        ax.set_ylabel("test accuracy")
    save(figure, "exemplars")
    return {"sizes": dict(zip(map(str, SIZES), mean.tolist(), strict=True))}


def score(S: np.ndarray, y: np.ndarray, S_test: np.ndarray, y_test: np.ndarray) -> float:
    return BESVMClassifier("precomputed", probability=False).fit(S, y).score(S_test, y_test)


def spirals() -> dict[str, float]:
    """Draw what few exemplars make of two spirals."""
    X, y = make_toy(400, noise=0.05, random_state=0)
    X_test, y_test = make_toy(4000, noise=0.05, random_state=1)
    ticks = np.linspace(-1.25, 1.25, 250)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    figure, panels = axes(WIDTH, 2.2, 1, 3)
    found = {}
    with in_style():
        for ax, n in zip(panels, (10, 20, 40), strict=True):
            model = BESVMClassifier(RBF(gamma=10), basis=n, random_state=0, probability=False).fit(X, y)
            found[str(n)] = model.score(X_test, y_test)
            side = model.decision_function(plane).reshape(len(ticks), -1) > 0
            look: Any = {"cmap": ListedColormap(["#cfe3ec", "#f7dfc9"]), "interpolation": "nearest"}
            ax.imshow(side, extent=(-1.25, 1.25) * 2, origin="lower", **look)
            for k, color in enumerate((BLUE, ORANGE)):
                ax.plot(*X[y == k].T, ".", ms=1.8, color=color)
            ax.plot(*X[model.basis_rows_[0]].T, "o", ms=5, mfc="none", mec="#37352f", mew=1.2)
            ax.set_title(f"{n} exemplars\n{found[str(n)]:.1%} right", fontsize=10.5)
            ax.set_axis_off()
    save(figure, "spirals", "png")
    return found


def save(figure: Any, name: str, kind: str = "svg") -> None:
    """Write a figure beside this file."""
    path = HERE / f"{name}.{kind}"
    path.write_bytes(rendered(figure, kind))
    print(f"wrote {path.name}, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
