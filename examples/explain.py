"""Why a BE-SVM decides as it does: handwritten digits that are moved about, and words.

    python examples/explain.py [--out FOLDER]

Trains on 500 digits (seconds, no download), takes the test digit that is the closest call among those classified
correctly, prints which exemplars pulled which way, and draws it: explanations.png, in the --out folder. Then the same
in text, for a misspelled name.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import besvm
from besvm._support.figures import rendered
from besvm.demo import displaced_digits
from besvm.explanations import carriers
from besvm.similarities import Rigid

NAMES = ["maria", "marie", "mario", "marco", "mark", "peter", "petra", "pedro", "pierre", "piet"]
CLASSES = ["m"] * 5 + ["p"] * 5


def main() -> None:
    parser = argparse.ArgumentParser(description="Why a BE-SVM decides as it does")
    parser.add_argument("--out", type=Path, default=Path(), help="where the drawing goes (default: here)")
    out = parser.parse_args().out
    digits(out / "explanations.png")
    model = besvm.BESVMClassifier("edit", C=10.0).fit(NAMES, CLASSES)
    why = besvm.explain(model, "patro")
    print(f"\npatro\n{why}")
    for one in (one for one in why.towards() if one.similarity > (one.usual or 0)):
        x, b = "patro", NAMES[one.row or 0]
        pieces = [x[p:q] for p, q, _, _ in why.match(one).pieces]
        print(f"  {x} and {b} have {' and '.join(pieces)} in common")


def digits(path: Path) -> None:
    X, y = displaced_digits()
    train, test = slice(0, 500), slice(500, 1000)
    model = besvm.BESVMClassifier(["rbf", Rigid(2)], basis=100, C=10.0, random_state=0).fit(X[train], y[train])
    margins = model.decision_function(X[test])
    right = margins.argmax(axis=1) == y[test]
    lead = np.diff(np.sort(margins, axis=1)[:, -2:], axis=1)[:, 0]
    close = int(np.where(right, lead, np.inf).argmin())
    why = besvm.explain(model, X[test][close])
    print(why)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(rendered(why.plot(top=4), "png"))
    print(f"drew {path}\n")
    print(carriers(model, X[train]))


if __name__ == "__main__":
    main()
