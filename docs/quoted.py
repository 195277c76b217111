"""Tables of the pages, and what the pages quote from the measurements: nothing measured is typed in by hand.

`docs/build.py` puts every block of ``BLOCKS`` between the markers of its name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

DOCS = Path(__file__).parent
M2 = "H8R + H4(2,0) + H4(0,1) + H8(1,0)"
HEADINGS = {  # what people read instead of the keys that programs write
    "accuracy, class_weight balanced": "accuracy with balanced class weights",
    "aeon_pairs_per_second": "aeon (pairs/s)",
    "besvm_over_it": "besvm is faster by a factor of",
    "besvm_pairs_per_second": "besvm (pairs/s)",
    "bit_equal": "predicts the same, to the last bit",
    "C_": "C picked by auto",
    "exemplars_and_parts": "exemplars and parts",
    "extra_memory": "extra memory",
    "features_seconds": "features (s)",
    "first_100_seconds": "first 100 predictions (s)",
    "fit_cpu": "fit (CPU s)",
    "fit_seconds": "fit (s)",
    "images_per_second": "images per second",
    "load_seconds": "load (s)",
    "megabytes": "size (MB)",
    "pairs_a_second": "pairs per second",
    "peak_gb": "peak memory (GB)",
    "peak_gflops": "peak GFLOP/s",
    "predict_cpu": "predict (CPU s)",
    "predict_seconds": "predict (s)",
    "prediction_ms_a_series": "predict (ms per series)",
    "prediction_ms_an_image": "predict (ms per image)",
    "prediction_seconds": "predict (s)",
    "product_seconds": "matrix product (s)",
    "rbf_seconds": "RBF (s)",
    "save_seconds": "save (s)",
    "selection_seconds": "selection (s)",
    "similarities_seconds": "similarities (s)",
    "support_vectors": "support vectors",
    "test_accuracy": "test accuracy",
    "times ours": "times slower than ours",
    "times_faster_prediction": "times faster to predict",
    "times_faster_training": "times faster to train",
    "train_seconds": "train (s)",
    "training_seconds": "train (s)",
    "useful_gflops": "useful GFLOP/s",
}


def table(rows: list[dict[str, Any]], headings: dict[str, str] = HEADINGS) -> str:
    """Return rows of plain values as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(headings.get(name, name) for name in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a value as text, floats to three digits."""
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def measured(name: str) -> Any:
    """Return what a command wrote into docs/benchmarks."""
    return json.loads((DOCS / "benchmarks" / f"{name}.json").read_text())


def reproduced(name: str) -> list[dict[str, Any]]:
    """Return the rows of one of the paper's experiments."""
    rows: list[dict[str, Any]] = json.loads((DOCS / "results" / "tables" / f"{name}.json").read_text())["rows"]
    return rows


def drawn(name: str) -> Any:
    """Return what docs/figures/ideas.py found."""
    return json.loads((DOCS / "figures" / "ideas.json").read_text())[name]


def one(rows: list[dict[str, Any]], key: str = "accuracy", **where: Any) -> Any:
    """Return a value of the only row that has these values."""
    (found,) = (row[key] for row in rows if all(row.get(name) == value for name, value in where.items()))
    return found


def three(value: float) -> str:
    """Return a share with three digits, as the pages write it in a sentence."""
    return f"{value:.3f}".removeprefix("0")


def indefinite() -> str:
    """Return what became of an indefinite matrix in three classifiers, over several orders of the training rows."""
    return table(
        [
            {
                "classifier": row["classifier"],
                "accuracy, over five orders of the rows": f"{row['low']:.3f} to {row['high']:.3f}"
                if row["high"] > row["low"]
                else f"{row['high']:.3f}",
                "predictions that depend on the order": f"up to {row['changed']:.0%}" if row["changed"] else "none",
                "comparisons to predict a sample": row["compared"],
            }
            for row in drawn("indefinite")
        ]
    )


def spectrum() -> str:
    """Return how indefinite the best shift is."""
    shift = drawn("spectrum")["best shift"]
    return (
        f"Of the best shift's {shift['of']} eigenvalues, {shift['negative']} are negative. Together they have "
        f"{shift['energy']:.0%} of the size of the positive ones, which is\nfar too much to be a rounding error."
    )


def scales() -> str:
    """Return how large the values of two measures of the same digits are."""
    found = drawn("normalization")["sizes"]
    return (
        "Take two measures of the digits: the best shift, and minus the Manhattan distance of pixels from 0 to 255.\n"
        f"The first has values of {found['best shift']:.0f} on average, the second of −{found['distance']:,.0f}."
    )


def normalization() -> str:
    """Return what the normalizations of the similarities are worth on CIFAR-10, features normalized as in the paper."""
    names = {"none": "none", "z-score": "z-score (as `StandardScaler`)", "BE-SVM": "mean norm (the default)"}
    found = []
    for way, name in names.items():
        rows = [row for row in reproduced("normalizations") if row["features"] == "BE-SVM" and row["kernel_map"] == way]
        single = [row["accuracy"] for row in rows if "+" not in row["measures"]]
        found.append(
            {
                "normalization of the similarities": name,
                f"one measure, mean of {len(single)}": f"{fmean(single):.3f}",
                "four measures side by side": f"{one(rows, measures=M2):.3f}",
                "passes of the solver over these": one(rows, "passes", measures=M2),
            }
        )
    return table(found)


def sizes() -> str:
    """Return the accuracy on CIFAR-10 by the number of exemplars, beside the kernel SVM."""
    found = [
        {
            "model": "BE-SVM, four measures (the paper's M2)",
            "exemplars": 10 * size,
            "test accuracy": f"{one(reproduced('multiple'), set='M2', measures=4, per_class=size, folds=5):.3f}",
        }
        for size in (25, 50, 100, 250, 500)
    ]
    kernel: dict[str, Any] = {"model": "K8R", "folds": 5}
    found.append(
        {
            "model": "kernel SVM, Gaussian kernel",
            "exemplars": one(reproduced("baselines"), "exemplars", **kernel),
            "test accuracy": f"{one(reproduced('baselines'), **kernel):.3f}",
        }
    )
    return table(found)


def cost() -> str:
    """Return what training and prediction took with growing data, kernel SVM and BE-SVM, one Gaussian kernel."""
    rows = [row for row in reproduced("complexity") if row["measures"] == 1 and row.get("bases") is None]
    return table(
        [
            {
                "model": row["model"],
                "training samples": row["n"],
                "exemplars or support vectors": f"{row['exemplars']:,}",
                "train": f"{row['train_seconds']:.2f} s",
                "predict a sample": f"{1e3 * row['predict_ms_per_image']:.0f} µs",
                "memory to train": f"{row['train_MB']:.0f} MB",
            }
            for row in sorted(rows, key=lambda row: (row["model"] != "kernel SVM", row["n"]))
        ]
    )


def forms() -> str:
    """Return the ways from distance to similarity, each at its best scale among those that were tried."""
    formulas = {
        "exponential": "$e^{-u}$",
        "inverse": "$1 / (1 + u)$",
        "log": "$-\\log(1 + u)$",
        "negative": "$-u$",
        "gaussian": "$e^{-u^2}$",
    }
    tried: dict[str, dict[str, float]] = {}
    for row in measured("any_choices")["rows"]:
        how, _, share = row["what"].partition(", ")
        if row["choice"] == "form" and how in formulas:
            tried.setdefault(how, {})[share.removesuffix(" of the median")] = row["mean"]
    found = []
    for how, formula in formulas.items():
        best = max(tried[how], key=lambda share: tried[how][share])
        worst = min(tried[how], key=lambda share: tried[how][share])
        found.append(
            {
                '`how="..."`': f'`"{how}"`' + (" (the default)" if how == "exponential" else ""),
                "similarity": formula,
                "accuracy at its best scale": f"{three(tried[how][best])} ({times_median(best)})",
                "at the worst scale tried": f"{three(tried[how][worst])} ({times_median(worst)})"
                if len(tried[how]) > 1
                else "",
            }
        )
    return table(found)


def times_median(share: str) -> str:
    """Return a share of the median distance in words."""
    words = {
        "1": "the median",
        "0.667": "2/3 of the median",
        "0.333": "1/3 of the median",
        "0.0333": "1/30 of the median",
    }
    return words.get(share, f"{share} times the median")


def nystrom() -> str:
    """Return BE-SVM's own normalization beside Nyström's, for a kernel and for indefinite measures."""
    rows, names = reproduced("selection"), ("H8R", "H8(1,0)", "H4(1,0)", "H4(2,0)")
    kinds = {"H8R": "yes: Gaussian kernel"}
    return table(
        [
            {
                "measure": name,
                "positive definite": kinds.get(name, "no"),
                '`"mean-norm"`': three(one(rows, measure=name, way="Indx")),
                '`Nystrom(spectrum="clip")`': three(one(rows, measure=name, way="Nyström, clip")),
                '`Nystrom(spectrum="shift")`': three(one(rows, measure=name, way="Nyström, shift")),
            }
            for name in names
        ]
    )


def auto_c() -> str:
    """Return what picking C is worth on twenty sets."""
    mean = measured("auto_c")["rows"][-1]
    return table(
        [
            {"C": "1 (the paper's)", "mean accuracy": three(mean["C = 1"])},
            {"C": "10", "mean accuracy": three(mean["C = 10"])},
            {
                "C": '`"auto"` (the default)',
                "mean accuracy": three(mean["auto"]),
                "time": f"{mean['times one fit']:.1f} times that of one fit",
            },
        ]
    )


def tslearn() -> str:
    """Return how long besvm and tslearn's SVM take on series."""
    return table(
        [
            {
                "classifier": f"`{row['method']}`" if row["method"].startswith("BESVM") else row["method"],
                "training series": f"{row['train']:,}",
                "train": f"{row['train_seconds']:,.0f} s",
                "predicted series": f"{row['predict']:,}",
                "predict": f"{row['predict_seconds']:,.0f} s",
                "peak memory": f"{row['peak_gb']:.1f} GB",
            }
            for row in measured("any_scale")["rows"]
            if row["data"] == "series"
        ]
    )


def when_not() -> str:
    """Return what other tools are better at, each with what was measured."""
    text, records, series = (measured(f"any_{kind}")["rows"] for kind in ("text", "records", "series"))
    scale, demo, parts = measured("series_scale")["rows"], measured("demo"), measured("series")["rows"]
    chosen, baselines = reproduced("selection"), reproduced("baselines")

    def mean(method: str) -> str:
        return three(fmean(row["accuracy"] for row in series if row["method"] == method))

    def on(rows: list[dict[str, Any]], data: str, method: str) -> str:
        return three(one(rows, data=data, method=method))

    def at(key: str, method: str) -> float:
        return float(one(scale, key, series=10_000, method=method))

    def digits(name: str) -> str:
        return three(one(demo, classifier=name))

    found = [
        (
            "long texts, to be classified by topic",
            "TF-IDF and `LinearSVC` (or `LinearSVMClassifier`)",
            f"News: {on(text, 'news', 'TF-IDF of 1 and 2 words, LinearSVC')}; the best BE-SVM "
            f"{on(text, 'news', 'BE-SVM, kmers of 5')}.",
        ),
        (
            "a table of numbers and categories",
            "gradient boosting, at least as a first try",
            f"Cars: {on(records, 'cars', 'gradient boosting')}; Gower in two forms "
            f"{on(records, 'cars', 'BE-SVM, gower in two forms')}. About equal on three other tables.",
        ),
        (
            "series of equal length, and enough memory",
            "Rocket, or besvm's `recipes.series`: try both",
            f"10,000 artificial series: {three(at('accuracy', 'Rocket'))} in {at('peak_gb', 'Rocket'):.1f} GB; "
            f'`recipes.series("small")` {three(at("accuracy", "besvm small"))} in '
            f"{at('peak_gb', 'besvm small'):.1f} GB. "
            f"Mean of six real sets: {on(parts, 'mean', 'Rocket')}; "
            f'`recipes.series("large")` {on(parts, "mean", "besvm large")}.',
        ),
        (
            "vectors, a Gaussian kernel, up to about 10,000 rows",
            "`SVC`, or besvm's `KernelSVMClassifier`, which predicts faster",
            f"500 digits: {digits('kernel SVM (SVC), RBF')}; BE-SVM with 100 exemplars {digits('BE-SVM, RBF')}. "
            f"10,000 images: {three(one(baselines, model='K8R', folds=1))}; BE-SVM with 1,000 exemplars "
            f"{three(one(chosen, measure='H8R', way='Indx'))}.",
        ),
        (
            "vectors, a Gaussian kernel, more rows",
            "`normalize=Nystrom()`, or scikit-learn's `Nystroem`",
            f"10,000 images, 1,000 exemplars: {three(one(chosen, measure='H8R', way='Nyström, clip'))}; "
            f'`"mean-norm"` {three(one(chosen, measure="H8R", way="Indx"))}.',
        ),
        (
            "one indefinite measure, and an n × n matrix that fits in memory",
            '`KernelSVMClassifier(..., spectrum="clip")`',
            f"TWE, mean of ten sets of series: {mean('kernel SVM, clipped, twe')}; BE-SVM {mean('BE-SVM, twe')}.",
        ),
        (
            "a dozen training samples of each class",
            "nearest neighbors",
            f"DTW on ArrowHead: {on(series, 'ArrowHead', '1-NN, dtw')}; BE-SVM "
            f"{on(series, 'ArrowHead', 'BE-SVM, dtw')}. On Coffee: {on(series, 'Coffee', '1-NN, dtw')} and "
            f"{on(series, 'Coffee', 'BE-SVM, dtw')}.",
        ),
        (
            "many photographs, and a GPU",
            "a convolutional network, ideally a pretrained one",
            f"CIFAR-10: .954 is published for a residual network "
            f'([He et al. 2016](https://arxiv.org/abs/1603.05027)); `recipes.images("large")` '
            f"{three(one(measured('recipes')['rows'], recipe='large'))}.",
        ),
    ]
    return table([{"if you have": have, "use": use, "measured (accuracy)": why} for have, use, why in found])


BLOCKS: dict[str, Callable[[], str]] = {
    "idea_spectrum": spectrum,
    "idea_indefinite": indefinite,
    "idea_scales": scales,
    "idea_normalization": normalization,
    "idea_sizes": sizes,
    "idea_cost": cost,
    "choose_forms": forms,
    "choose_nystrom": nystrom,
    "choose_c": auto_c,
    "choose_not": when_not,
    "come_tslearn": tslearn,
}
