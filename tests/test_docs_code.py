"""The code on the pages runs, from the first block to the last, as a reader would run it."""

import ast
import re
import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from besvm import BESVMClassifier, LinearSVMClassifier

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (
    *("ideas", "choosing", "guide", "any-data", "images", "explanations", "model-files", "report"),
    *(pytest.param(page, marks=pytest.mark.slow) for page in ("coming-from", "pruning", "how-to")),  # .ci/run has them
)


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), flags=re.S | re.M)


def imported(code):
    """The packages that a block imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_the_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, left_out = given(), []
    for code in blocks(page):
        missing = {package for package in imported(code) if find_spec(package) is None}
        if missing:  # another tool that a block shows
            left_out.append(missing)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, f"{page}.md", "exec"), names)
    assert all(missing <= {"tslearn", "aeon"} for missing in left_out)


def given():
    """What the pages take to be there: a trained model and its data, a sample, and time series."""
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    waves = np.sin(np.arange(24) * (0.3 + 0.2 * (np.arange(200) % 2))[:, None])
    model = BESVMClassifier("rbf", basis=60, C=1.0, random_state=0).fit(X[:150], y[:150])
    return {"X": X, "y": y, "X_test": X[150:], "y_test": y[150:], "model": model, "sample": X[0]} | {
        "series": waves,
        "new_series": waves[:5],
        "np": np,
    }


@pytest.mark.slow
def test_the_commands_of_the_how_to_run(tmp_path, monkeypatch):
    """On the files of the page Start, which the page names."""
    run = runpy.run_path(str(DOCS / "transcripts.py"))["output_of"]
    monkeypatch.chdir(tmp_path)
    exec(blocks("start")[0], {})
    run("besvm train digits.csv --label digit -o digits.besvm")
    commands = re.findall(r"^besvm .+$", (DOCS / "how-to.md").read_text(), flags=re.M)
    assert len(commands) > 7
    for command in commands:
        run(command)  # or an error


def test_a_linear_svm_with_penalized_intercept_is_that_of_linear_svc():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    theirs = LinearSVC(C=1.0, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    ours = LinearSVMClassifier(C=1.0, penalize_intercept=True, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
