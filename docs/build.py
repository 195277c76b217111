"""Write what was measured into the pages: docs/benchmarks.md, and the tables that others quote; check every link."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from besvm.reproduction.cells import columns_of
from besvm.reproduction.config import Config
from besvm.reproduction.experiments import MODULES as EXPERIMENTS
from besvm.reproduction.experiments import experiments
from besvm.reproduction.page import TITLE, Page, both_claims, cost, section_of, show

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from quoted import BLOCKS, measured, table  # noqa: E402

ORDER = (
    *("cifar10", "linear", "kernel", "sparse", "scaling", "falling", "products", "tolerance"),
    *("features", "grid", "images", "greedy", "bases", "multiclass", "prior", "startup", "auto_c", "text"),
    *("series_speed", "text_speed", "pairs_speed", "against_svc", "series", "series_scale", "model_files"),
)
CHOSEN = "1-NN, chosen on training rows"
NAMES = (
    "H8 and H4 are features of images ([HOG cells](images.md) of 8 and 4 pixels). L, R and (2,1) are measures of them: "
    "the dot product, the Gaussian kernel, and the best match of grids that may shift by up to 2 cells, and each of "
    "their cells by 1 more."
)
WORDS = (
    f"Names are those of the paper. {NAMES} K8R and K4R are kernel SVMs with the measures H8R and H4R. M1 is the set "
    "H8R, H8(1,0), H8(0,1), and M2 the set H8R, H4(2,0), H4(0,1), H8(1,0). Bases are exemplars, the training samples "
    "that a sample is compared with; 10 x 100 bases are 100 of each of ten classes. The kernel map of a sample is its "
    "similarities to all bases. A PSD kernel is one that is positive semi-definite ([what that "
    "means](ideas.md#what-indefinite-means)). A fold is one of CIFAR-10's five training files. A cell is one run of an "
    "experiment, such as one trained model."
)


def benchmarks() -> str:
    """Return the page of everything that was measured."""
    parts = [
        "# Benchmarks",
        "How fast and how accurate besvm is, next to other tools. `make bench` measures everything again and writes "
        "JSON files; `make docs` builds this page from them.",
        "Both sides of every comparison were measured in one run, with nothing else running, unless a note says "
        "otherwise. "
        "Compare the ratios, not the seconds.",
        f"Some names come from the paper. {NAMES} M2 is the set H8R, H4(2,0), H4(0,1), H8(1,0). K8R is a kernel SVM "
        "with the measure H8R. A fold is one of CIFAR-10's five training files, of 10,000 images each. 10 x 100 "
        "exemplars are 100 of each of ten classes.",
    ]
    for name in ORDER:
        path = DOCS / "benchmarks" / f"{name}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text())
        machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
        parts += [f"## {name}", result["what"], f"`{result['command']}` on: {machine}.", table(result["rows"])]
        if (DOCS / "benchmarks" / f"{name}.png").exists():
            parts.append(f"![{name}](benchmarks/{name}.png)")
        note = DOCS / "benchmarks" / f"{name}.md"
        if note.exists():
            parts.append(note.read_text().strip())
    return "\n\n".join(parts) + "\n"


def readme() -> str:
    """Return the README with the measured parts filled in between their markers."""
    text = (DOCS.parent / "README.md").read_text()
    return filled_in(text, "peers", peers_table())


def filled_in(text: str, name: str, part: str) -> str:
    """Return the text with ``part`` between the markers of that name."""
    pattern = rf"<!-- {name} -->.*?<!-- /{name} -->"
    return re.sub(pattern, lambda _: f"<!-- {name} -->\n{part}\n<!-- /{name} -->", text, flags=re.S)


def recipes_table() -> str:
    """Return what the recipes of images reached on all of CIFAR-10."""
    rows = [
        {
            "recipe": f'`recipes.images("{row["recipe"]}")`',
            "test accuracy": f"{row['accuracy']:.3f}",
            "exemplars and parts": f"{row['exemplars_and_parts']:,}",
            "train": f"{row['training_seconds']:.0f} s",
            "predict an image": f"{row['prediction_ms_an_image']:.1f} ms",
            "peak memory": f"{row['peak_gb']:.1f} GB",
        }
        for row in measured("recipes")["rows"]
    ]
    return table(rows)


def peers_table() -> str:
    """Return besvm beside what people use today: pairs of rows, each of one run."""
    images, svc = measured("against_svc")["rows"]
    series = {row["method"]: row for row in measured("series")["rows"] if row["data"] == "mean"}
    ours, rocket = series["besvm large"], series["Rocket"]  # of the sets that all methods take
    scale = {row["method"]: row for row in measured("any_scale")["rows"] if row["data"] == "series"}
    warping = next(row for name, row in scale.items() if name.startswith("BESVMClassifier"))
    tslearn = next(row for name, row in scale.items() if name.endswith("extrapolated"))
    shape = "50,000 x 2,000"
    linear = {row["classifier"]: row for row in measured("linear")["rows"] if row["shape"] == shape}
    rows = [
        ("CIFAR-10, 50,000 images", "**besvm**, 200 parts", images["accuracy"], images["training_seconds"]),
        ("", "SVC, RBF on HOG features", svc["accuracy"], svc["training_seconds"]),
        (
            "six data sets of series, mean",
            '**besvm**, `recipes.series("large")`',
            ours["accuracy"],
            ours["training_seconds"],
        ),
        ("", "Rocket", rocket["accuracy"], rocket["training_seconds"]),
        ("20,000 series, time warping", "**besvm**, `DTW(window=0.1)`", None, warping["train_seconds"]),
        ("", "tslearn's TimeSeriesSVC (extrapolated)", None, tslearn["train_seconds"]),
        (f"linear SVM, {shape}", "**besvm**, `LinearSVMClassifier`", *_linear(linear["LinearSVMClassifier"])),
        ("", "LinearSVC(dual=True, tol=0.1)", *_linear(linear["LinearSVC(dual=True, tol=0.1)"])),
    ]
    return table(
        [
            {"data": data, "tool": tool, "accuracy": score and f"{score:.3f}", "train": duration(seconds)}
            for data, tool, score, seconds in rows
        ]
    )


def _linear(row: dict[str, Any]) -> tuple[float, float]:
    return row["test_accuracy"], row["seconds"]


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds >= 3600:
        return f"{seconds / 3600:.0f} hours"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def speed() -> str:
    """Return how much faster the linear solver is than LinearSVC, shape by shape."""
    times: dict[str, list[str]] = {}
    for row in measured("linear")["rows"]:
        if row["classifier"].startswith("LinearSVC"):
            times.setdefault(row["shape"], []).append(f"{row['times slower than ours']:.0f}")
    parts = [f"{' and '.join(factors)} times on {shape}" for shape, factors in times.items()]
    return (
        "  `LinearSVMClassifier` reaches `LinearSVC`'s objective faster than `LinearSVC(dual=True, tol=0.1)` and\n"
        f"  `LinearSVC(dual=False, tol=1e-3)` do (features of CIFAR-10, ten classes, two cores):\n"
        f"  {'; '.join(parts)}.\n"
        f"  {kernel_speed()}"
    )


def kernel_speed() -> str:
    """Return how much faster the kernel SVM and the L1 penalty are than scikit-learn's."""
    svc = next(row for row in measured("kernel")["rows"] if row["classifier"] == "SVC")
    l1 = [row for row in measured("sparse")["rows"] if row["model"].startswith("LinearSVC")]
    factors = " and ".join(f"{row['times slower than ours']:.0f}" for row in l1)
    shapes = " and ".join(row["data"].split(", ", 1)[1] for row in l1)
    train, predict = svc["fit, times ours"], svc["predict, times ours"]
    return (
        f"`KernelSVMClassifier` trains {train:.0f} and predicts {predict:.0f} times as fast as `SVC` (10,000 images);\n"
        f'  with `penalty="l1"`, `LinearSVMClassifier` is {factors} times faster than `LinearSVC` ({shapes}).'
    )


def results() -> str:
    """Return the page of the reproduction, from the tables that `besvm reproduce --out docs/results` wrote."""
    return markdown_page(read_page(DOCS / "results"), "results/figures")


def read_page(folder: Path) -> Page:
    """Return the page of the tables that a reproduction has written into ``folder``; without the figures themselves."""
    kept = {path.stem: json.loads(path.read_text()) for path in (folder / "tables").glob("*.json")}
    tables = {name: entry["rows"] for name, entry in kept.items()}
    sections = []
    shown = [experiment for experiment in experiments() if experiment.name in kept]
    for one in shown:
        entry = kept[one.name]
        sizes: Any = {key: tuple(size) if isinstance(size, list) else size for key, size in entry["config"].items()}
        sections.append(section_of(one, Config(**sizes), tables, dict.fromkeys(entry["figures"], b""), entry))
    about = [*dict.fromkeys(kept[one.name]["about"] for one in shown), cost(sections)]
    missing = [name for name in EXPERIMENTS if name not in kept]
    if missing:
        about.append(f"Not run yet, and so not on this page: {', '.join(missing)}.")
    warnings = dict.fromkeys(kept[one.name]["warning"] for one in shown)
    return Page(sections, " ".join(about), " ".join(warnings).strip())


def markdown_page(page: Page, figures: str) -> str:
    """Return the page in Markdown; ``figures`` is the folder of the PNG files, as seen from the page."""
    lines = [f"# {TITLE}", "", page.about, "", WORDS, *(["", f"**{page.warning}**"] if page.warning else [])]
    for _, title, said, found in both_claims(page.sections):
        rows = [
            {"claim": c.sentence, "measured": c.measured, "holds if": c.criterion, "verdict": c.verdict}
            for _, c in found
        ]
        lines += ["", f"## {title}", "", said, "", *results_table(rows)]
    for section in page.sections:
        title, captions = section.experiment.title, section.experiment.captions
        lines += ["", f"## {title}", "", f"> The paper: {section.experiment.paper}", ""]
        lines += [section.note, ""] if section.note else []
        for name in section.figures:
            lines += [f"![{title}: {name}]({figures}/{name}.png)", ""]
            lines += [f"*{captions[name]}*", ""] if name in captions else []
        lines += results_table(section.table)
        lines += ["", section.took] if section.table and section.seconds else []
        lines += [line for text in section.left_out for line in ("", f"Left out: {text}")]
    return "\n".join(lines) + "\n"


def results_table(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table as the page of the reproduction shows it."""
    if not rows:
        return []
    columns = columns_of(rows)
    lines = ["| " + " | ".join(name.replace("_", " ") for name in columns) + " |", "|" + " --- |" * len(columns)]
    return lines + ["| " + " | ".join(show(row.get(n)).replace("|", "\\|") for n in columns) + " |" for row in rows]


def analysis() -> str:
    """Return the page on the alternatives, with the measured tables filled in between their markers."""
    text = (DOCS / "analysis.md").read_text()
    for name in re.findall(r"<!-- (\w+) -->", text):
        (experiment,) = experiments([name])
        rows = json.loads((DOCS / "results" / "tables" / f"{name}.json").read_text())["rows"]
        shown = table(list(experiment.summary(rows)))
        text = filled_in(text, name, shown)
    return text


def reliability() -> str:
    """Return the page on what is promised, with what `make torture` found filled in between its markers."""
    text, found = (DOCS / "reliability.md").read_text(), json.loads((DOCS / "reliability.json").read_text())
    for name, result in found.items():
        machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
        broken = "\n".join(f"- `{line}`" for line in result["failures"])
        said = f"Promises broken, each with what shows it:\n\n{broken}" if broken else "No promise was broken."
        shown = [
            table(result["rows"]),
            said,
            f"`python -m torture {name}` on: {machine}. {result.get('note', '')}".strip(),
        ]
        text = filled_in(text, name, "\n\n".join(shown))
    return text


def parts() -> str:
    """Return the page on parts, with the tables of benchmarks filled in between their markers."""
    return with_tables("parts")


def pruning() -> str:
    """Return the page on smaller models, with the tables of benchmarks filled in between their markers."""
    return with_tables("pruning")


def scale() -> str:
    """Return the page on large data, with the tables of benchmarks filled in between their markers."""
    return with_tables("scale")


def with_tables(page: str) -> str:
    """Return a page with the tables of benchmarks filled in between their markers."""
    text = (DOCS / f"{page}.md").read_text()
    for name in re.findall(r"<!-- (\w+) -->", text):
        if (DOCS / "benchmarks" / f"{name}.json").exists():
            headings = {"headings": {}} if page == "scale" else {}  # whose sentences explain the names of its columns
            shown = recipes_table() if name == "recipes" else table(measured(name)["rows"], **headings)
            text = filled_in(text, name, shown)
    return text


def ideas() -> str:
    """Return the page on the ideas, with what it quotes filled in between its markers."""
    return with_quotes("ideas")


def choosing() -> str:
    """Return the page on what to choose, with what it quotes filled in between its markers."""
    return with_quotes("choosing")


def coming_from() -> str:
    """Return the page for those who use other tools, with what it quotes filled in between its markers."""
    return filled_in(with_quotes("coming-from"), "speed", speed())


def with_quotes(page: str) -> str:
    """Return a page with the blocks of quoted.py filled in between their markers."""
    text = (DOCS / f"{page}.md").read_text()
    for name in re.findall(r"<!-- (\w+) -->", text):
        if name in BLOCKS:
            text = filled_in(text, name, BLOCKS[name]())
    return text


def any_data() -> str:
    """Return the page on data of any kind, with the tables that were measured filled in between their markers."""
    text = (DOCS / "any-data.md").read_text()
    tables = {"any_series": series_table, "any_choices": choices_table, "any_scale": scale_table}
    for name in re.findall(r"<!-- (any_\w+) -->", text):
        if (DOCS / "benchmarks" / f"{name}.json").exists():
            text = filled_in(text, name, tables.get(name, folds_table)(measured(name)["rows"]))
    return text


def series_table(rows: list[dict[str, Any]]) -> str:
    """Return a row for every set of series and a column for every method; of 1-NN, the best distance alone."""
    by_set: dict[str, dict[str, float]] = {}
    for row in rows:
        by_set.setdefault(row["data"], {})[row["method"]] = row["accuracy"]
    methods = [m for m in dict.fromkeys(row["method"] for row in rows) if not m.startswith("1-NN")]
    shown = []
    for name, found in by_set.items():
        nearest = {m: right for m, right in found.items() if m.startswith("1-NN") and m != CHOSEN}
        best = max(nearest, key=lambda method: nearest[method])
        row = {"data": name, "1-NN, dtw": f"{found['1-NN, dtw']:.3f}"}
        row |= {CHOSEN: f"{found[CHOSEN]:.3f}"} if CHOSEN in found else {}
        row["best 1-NN"] = f"{nearest[best]:.3f} ({best.removeprefix('1-NN, ')})"
        shown.append(row | {m: f"{found[m]:.3f}" if m in found else "" for m in methods})
    return table(shown)


def choices_table(rows: list[dict[str, Any]]) -> str:
    """Return what was tried on training rows, each with its mean over the sets."""
    kinds = {"form": "BE-SVM of dtw, msm, twe and erp, each alone", "set": "BE-SVM, all in one", "1-NN": "1-NN"}
    return table([{"of": kinds[row["choice"]], "tried": row["what"], "accuracy": f"{row['mean']:.3f}"} for row in rows])


def folds_table(rows: list[dict[str, Any]]) -> str:
    """Return what every method reached on every set, over folds."""
    shown = []
    for row in rows:
        spread = "" if row["deviation"] is None else f" ± {row['deviation']:.3f}"
        shown.append({"data": row["data"], "method": row["method"], "accuracy": f"{row['accuracy']:.3f}{spread}"})
    return table(shown)


def scale_table(rows: list[dict[str, Any]]) -> str:
    """Return how long each took, and what memory, at each size."""
    return table(
        [
            {
                "method": row["method"],
                "data": row["data"],
                "trained on": f"{row['train']:,}",
                "predicted": f"{row['predict']:,}",
                "train": f"{row['train_seconds']:,.0f} s",
                "predict": f"{row['predict_seconds']:,.0f} s",
                "peak memory": f"{row['peak_gb']:.1f} GB",
            }
            for row in rows
        ]
    )


def broken_links() -> list[str]:
    """Return every relative link, in the README and the docs, that leads nowhere."""
    found = []
    for page in [
        DOCS.parent / "README.md",
        DOCS.parent / "CHANGELOG.md",
        *DOCS.glob("*.md"),
        *DOCS.glob("reference/*.md"),
    ]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                found.append(f"{page.name}: {target}")
    return found


def main() -> None:
    """Write the pages, then check the links."""
    (DOCS / "benchmarks.md").write_text(benchmarks())
    (DOCS / "results.md").write_text(results())
    (DOCS / "analysis.md").write_text(analysis())
    (DOCS / "reliability.md").write_text(reliability())
    (DOCS / "parts.md").write_text(parts())
    (DOCS / "pruning.md").write_text(pruning())
    (DOCS / "model-files.md").write_text(with_tables("model-files"))
    (DOCS / "scale.md").write_text(scale())
    (DOCS / "any-data.md").write_text(any_data())
    (DOCS / "ideas.md").write_text(ideas())
    (DOCS / "choosing.md").write_text(choosing())
    (DOCS / "coming-from.md").write_text(coming_from())
    (DOCS.parent / "README.md").write_text(readme())
    broken = broken_links()
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print("wrote benchmarks, results and the measured parts of the other pages; every link leads somewhere")


if __name__ == "__main__":
    main()
