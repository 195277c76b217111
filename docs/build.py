"""Write docs/benchmarks.md from the measured JSON and docs/api.md from the docstrings, and check every link."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import besvm
import besvm.analysis
import besvm.baselines
import besvm.basis
import besvm.datasets
import besvm.explanations
import besvm.features
import besvm.files
import besvm.inputs
import besvm.measures
import besvm.normalize
import besvm.pruning
import besvm.report
import besvm.selection
import besvm.similarities
import besvm.sources
import besvm.testing
from besvm.reproduction.cells import PAPER, columns_of, tally
from besvm.reproduction.config import Config
from besvm.reproduction.experiments import MODULES as EXPERIMENTS
from besvm.reproduction.experiments import experiments
from besvm.reproduction.page import TITLE, Page, both_claims, claims_of, cost, section_of, show

DOCS = Path(__file__).parent
ORDER = (
    *("cifar10", "linear", "kernel", "sparse", "scaling", "tolerance", "features", "grid", "images"),
    *("greedy", "bases", "multiclass", "prior", "startup", "auto_c", "text"),
    *("series_speed", "text_speed", "pairs_speed", "against_svc", "series", "series_scale", "model_files"),
)
CHOSEN = "1-NN, chosen on training rows"
MODULES = {
    "besvm": besvm.__all__,
    "besvm.similarities": besvm.similarities.__all__,
    "besvm.basis": besvm.basis.__all__,
    "besvm.normalize": ["MeanNorm", "ZScore", "Unscaled", "Normalization"],
    "besvm.selection": ["GreedySelection"],
    "besvm.pruning": ["pruning_curve", "PruningCurve"],
    "besvm.baselines": besvm.baselines.__all__,
    "besvm.analysis": besvm.analysis.__all__,
    "besvm.explanations": ["explain_many", "carriers", "Explanation"],
    "besvm.sources": besvm.sources.__all__,
    "besvm.datasets": ["load_cifar10", "fetch_cifar10", "load_images", "make_toy"],
    "besvm.report": ["write_page"],
    "besvm.testing": ["check_similarity"],
    "besvm.measures": ["mirrored", "parse_shorthand"],
    "besvm.inputs": ["read", "stream", "as_trained", "Data"],
    "besvm.files": ["describe", "savable"],
    "besvm.features": ["mirror", "Shifts", "Rotations", "Crops"],
}


def benchmarks() -> str:
    """Return the page of everything that was measured."""
    parts = [
        "# Benchmarks",
        "Written by `make docs` from the JSON beside this page, which `make bench` writes.",
        "Both sides of every comparison ran in one go, and nothing else did, unless a note says otherwise. Compare "
        "the ratios, not the seconds.",
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


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows of plain values as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a value as text, floats to three digits."""
    if value is None or value != value:  # NaN
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def api() -> str:
    """Return the page of public names, each with its first sentence."""
    parts = ["# Public names", "Written by `make docs`. `help(name)` shows the whole docstring, with an example."]
    for module, names in MODULES.items():
        rows = []
        for name in names:
            thing = getattr(sys.modules[module], name)
            first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            rows.append({"name": f"`{name}`", "what it is": first})
        parts += [f"## {module}", table(rows)]
    return "\n\n".join(parts) + "\n"


def readme() -> str:
    """Return the README with the measured parts filled in between their markers."""
    text = (DOCS.parent / "README.md").read_text()
    parts = {
        "demo": demo_table(),
        "cifar10": cifar10_table(),
        "endtoend": endtoend_table(),
        "recipes": recipes_table(),
        "speed": speed(),
        "claims": claims(),
    }
    for name, part in parts.items():
        text = filled_in(text, name, part)
    return text


def filled_in(text: str, name: str, part: str) -> str:
    """Return the text with ``part`` between the markers of that name."""
    pattern = rf"<!-- {name} -->.*?<!-- /{name} -->"
    return re.sub(pattern, lambda _: f"<!-- {name} -->\n{part}\n<!-- /{name} -->", text, flags=re.S)


def measured(name: str) -> Any:
    """Return what a command wrote into docs/benchmarks."""
    return json.loads((DOCS / "benchmarks" / f"{name}.json").read_text())


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


def demo_table() -> str:
    """Return the table of `besvm demo --json`."""
    rows = [
        {
            "classifier": row["classifier"] + ("" if row["definite"] else " *"),
            "accuracy": f"{row['accuracy']:.3f}",
            "predict": f"{1e3 * row['predict_seconds']:.0f} ms",
            "exemplars": row["exemplars"] or "-",
            "parameters": f"{row['parameters']:,}",
        }
        for row in measured("demo")
    ]
    return table(rows)


def cifar10_table() -> str:
    """Return the most telling rows of the example on CIFAR-10."""
    wanted = ("linear SVM, H8", "BE-SVM, H8R", "BE-SVM, H4(2,0)", "BE-SVM, M2", "BE-SVM, M2 mirrored + color")
    by_name = {row["measures"]: row for row in measured("cifar10")["rows"]}
    rows = [{"measures": name, "test accuracy": f"{by_name[name]['accuracy']:.3f}"} for name in wanted]
    return table(rows)


def endtoend_table() -> str:
    """Return the table of BE-SVM against the kernel SVM on all training images."""
    path = DOCS / "results" / "tables" / "endtoend.json"
    rows = [
        {
            "model": row["model"],
            "test accuracy": f"{row['accuracy']:.3f}",
            "exemplars": f"{row['exemplars']:,}",
            "train": f"{row['train_seconds']:.0f} s",
            "predict an image": f"{row['predict_ms_per_image']:.1f} ms",
        }
        for row in json.loads(path.read_text())["rows"]
    ]
    return table(rows)


def claims() -> str:
    """Return how many sentences of the paper were found to hold."""
    return tally(claim for _, claim in claims_of(read_page(DOCS / "results").sections, PAPER))


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
    lines = [f"# {TITLE}", "", page.about, *(["", f"**{page.warning}**"] if page.warning else [])]
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


def with_tables(page: str) -> str:
    """Return a page with the tables of benchmarks filled in between their markers."""
    text = (DOCS / f"{page}.md").read_text()
    for name in re.findall(r"<!-- (\w+) -->", text):
        if (DOCS / "benchmarks" / f"{name}.json").exists():
            text = filled_in(text, name, recipes_table() if name == "recipes" else table(measured(name)["rows"]))
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
    for page in [DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                found.append(f"{page.name}: {target}")
    return found


def main() -> None:
    """Write the pages, then check the links."""
    (DOCS / "benchmarks.md").write_text(benchmarks())
    (DOCS / "api.md").write_text(api())
    (DOCS / "results.md").write_text(results())
    (DOCS / "analysis.md").write_text(analysis())
    (DOCS / "reliability.md").write_text(reliability())
    (DOCS / "parts.md").write_text(parts())
    (DOCS / "pruning.md").write_text(pruning())
    (DOCS / "model-files.md").write_text(with_tables("model-files"))
    (DOCS / "any-data.md").write_text(any_data())
    (DOCS.parent / "README.md").write_text(readme())
    broken = broken_links()
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print("wrote benchmarks, api, results and the measured parts of the other pages; every link leads somewhere")


if __name__ == "__main__":
    main()
