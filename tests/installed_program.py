"""What a new user might do first, in an environment that has besvm and nothing beside it; see test_release.py."""

import sys
import tempfile
from importlib import metadata, resources
from pathlib import Path

import numpy as np

import besvm
from besvm import BESVMClassifier, LinearSVMClassifier, Measure, recipes
from besvm.datasets import make_toy


def main() -> None:
    """Fit, save, load, predict, explain and prune; on vectors, texts, series, images and a function."""
    assert besvm.__version__ == metadata.version("besvm")
    assert "site-packages" in Path(besvm.__file__).parts
    for name in ("py.typed", "_support/style.css", "report/templates/page.html", "report/scripts/main.js"):
        assert resources.files("besvm").joinpath(name).is_file(), name

    X, y = make_toy(120, random_state=0)
    clf = BESVMClassifier(["rbf", Measure("manhattan")], basis=30, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        besvm.save(clf, Path(folder) / "toy.besvm")
        loaded = besvm.load(Path(folder) / "toy.besvm")
    assert (loaded.predict(X) == clf.predict(X)).all()
    assert loaded.score(X, y) > 0.9
    assert besvm.explain(loaded, X[0]).contributions
    assert besvm.prune(loaded, 15, X, y).n_basis_ == 15
    assert LinearSVMClassifier().fit(clf.transform(X), y).score(clf.transform(X), y) > 0.9

    rng, halves = np.random.default_rng(0), np.arange(40) % 2
    series = rng.normal(size=(40, 30)) + 5 * halves[:, None] * np.sin(np.arange(30))
    BESVMClassifier("dtw", basis=10).fit(series, halves).predict(series)
    BESVMClassifier(recipes.series("small"), C=1.0).fit(series, halves)
    images = rng.integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    BESVMClassifier(["H4(1,1)", "H8R"], basis=10, C=1.0).fit(images, halves)
    words = ["cat", "cart", "carts", "dog", "dogs", "dig"]
    BESVMClassifier(shared_letters, basis=4).fit(words, [0, 0, 0, 1, 1, 1]).predict(["cats", "digs"])
    assert "the extra 'text'" in error_of("edit", words), "must say how to get what is missing"
    print(f"besvm {besvm.__version__} works on Python {sys.version.split()[0]}")


def error_of(measure: str, words: list[str]) -> str:
    """Return what is said of a measure whose package is not installed."""
    try:
        BESVMClassifier(measure).fit(words, [0, 0, 0, 1, 1, 1])
    except ImportError as error:
        return str(error)
    return ""


def shared_letters(a: str, b: str) -> int:
    """A similarity of texts, in plain Python."""
    return len(set(a) & set(b))


if __name__ == "__main__":
    main()
