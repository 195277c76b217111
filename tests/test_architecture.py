"""The house: rooms import only from rooms that stand before them, in no circle, and models name rooms, not files."""

import ast
import pickle
import pickletools
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import besvm
from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.basis import GradientBasis
from besvm.features import Shifts
from besvm.measures import mirrored
from besvm.similarities import RBF, Jitter, Latent

ROOT = Path(besvm.__file__).parent
ORDER = (
    *("_support", "blocks", "similarities", "features", "normalize", "solver", "basis", "measures", "recipes"),
    *("expand", "expansion", "linear", "classifier", "selection", "baselines", "files", "analysis", "explanations"),
    *("pruning", "datasets", "sources", "inputs", "reproduction", "report", "testing", "demo", "commands", "cli"),
)


def room_of(module: str) -> str:
    return module.split(".")[1]


@cache
def imports() -> dict[str, set[str]]:
    """Return, for every module of besvm, the modules of besvm that it imports, inside functions too."""
    found: dict[str, set[str]] = {}
    known = {".".join(["besvm", *path.relative_to(ROOT).with_suffix("").parts]): path for path in ROOT.rglob("*.py")}
    known = {name.removesuffix(".__init__"): path for name, path in known.items()}
    for name, path in known.items():
        own = found.setdefault(name, set())
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                own |= {alias.name for alias in node.names if alias.name in known}
            elif isinstance(node, ast.ImportFrom) and node.module in known:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & set(known)
                own |= inner or {node.module}
    return found


def test_every_module_has_a_room():
    rooms = {room_of(name) for name in imports() if name != "besvm"}
    assert rooms == set(ORDER)


def test_every_room_has_its_row_in_the_docs_in_order():
    page = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text()
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [name.strip("`/").removesuffix(".py") for row in rows for name in row.removeprefix("| ").split(", ")]
    assert named == list(ORDER)


def test_rooms_import_only_from_rooms_before_them():
    against = [
        f"{name} imports {other}"
        for name, others in imports().items()
        for other in others
        if "besvm" not in (name, other) and ORDER.index(room_of(other)) > ORDER.index(room_of(name))
    ]
    assert against == []


def test_no_import_goes_in_a_circle():
    """Within a room too; that a room's front door imports what lies in it is no circle."""
    left = {name: {o for o in others if not name.startswith(f"{o}.")} for name, others in imports().items()}
    left.pop("besvm")  # names its modules in order not to import them
    while True:
        free = {name for name, others in left.items() if not others & set(left)}
        if not free:
            break
        left = {name: others for name, others in left.items() if name not in free}
    assert left == {}


def shifted(x):
    return [x, np.roll(x, 1)]


MODELS = {
    "besvm": BESVMClassifier([("a", Latent(RBF(), exemplar_variants=shifted)), "linear"], basis=GradientBasis(5)),
    "nystrom": BESVMClassifier(["rbf", "manhattan", "chi2"], basis=5, normalize=Nystrom()),
    "z-score": BESVMClassifier(Jitter("rbf", exemplar_variants=shifted), basis=5, normalize="z-score"),
    "raw": BESVMClassifier("cosine", basis=5, normalize=None, multi_class="ovo"),
    "parts": BESVMClassifier(["P4(2)"], basis=5),
    "images": BasisExpansion([mirrored("H4R"), "H4(1,1)", ("bent", Latent("rigid", exemplar_variants=Shifts(1)))]),
    "linear": LinearSVMClassifier(),
    "kernel": KernelSVMClassifier("rbf"),
    "dual": DualBESVMClassifier("rbf", basis=5),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_names_rooms_and_not_files(name, rng):
    """So that moving a file within its room breaks no saved model."""
    X, y = np.abs(rng.normal(size=(30, 4))), np.arange(30) % 3
    X = rng.random((30, 12, 12, 3)) if name in ("images", "parts") else X
    saved = pickle.dumps(MODELS[name].fit(X, y))
    words = [word for _, word, _ in pickletools.genops(saved) if isinstance(word, str)]
    modules = {word for word in words if word == "besvm" or word.startswith("besvm.")}
    assert modules
    assert {module for module in modules if not hasattr(import_module(module), "__path__")} == set()
