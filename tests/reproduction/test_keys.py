"""What is kept is found again exactly as long as what it depends on is the same: data, sizes and code."""

import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import besvm
from besvm.reproduction import lab as lab_module
from besvm.reproduction.cells import Cell, Costs
from besvm.reproduction.config import QUICK
from besvm.reproduction.experiments import MODULES, experiments, full, jittering
from besvm.reproduction.runner import key_of
from besvm.reproduction.sources import SOURCES, Sources

PACKAGE = Path(besvm.__file__).parent


def keys(name, lab, config=QUICK):
    return [key_of(cell) for cell in experiments([name])[0].cells(config, lab, Costs(lab))]


@pytest.fixture(scope="module")
def before(lab):
    return {name: keys(name, lab) for name in MODULES}


# --- data and sizes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_every_cell_has_a_key_of_its_own_and_estimates(lab, before, name):
    assert len(set(before[name])) == len(before[name])
    assert all(cell.memory > 0 and cell.seconds > 0 for cell in experiments([name])[0].cells(QUICK, lab, Costs(lab)))


@pytest.mark.parametrize(
    ("change", "concerned"),
    [
        ({"thorough": True}, set()),
        ({"cv_folds": 3}, {"normalizations"}),
        ({"mkl_folds": 3}, {"mkl"}),
        ({"n_measures": 2}, {"greedy"}),
        ({"repeats": 2}, {"complexity", "variants"}),
        ({"toy_points": 70}, {"toy"}),
        ({"n_folds": 4}, {"endtoend"}),
    ],
)
def test_size_counts_where_it_is_used(lab, before, change, concerned):
    config = replace(QUICK, **change)
    assert {name for name in MODULES if not set(keys(name, lab, config)) <= set(before[name])} == concerned


def test_more_trials_and_levels_keep_those_that_are_finished(lab, before):
    config = replace(QUICK, trials=3, toy_levels=4)
    for name in ("selection", "toy"):
        assert set(before[name]) < set(keys(name, lab, config))


@pytest.mark.parametrize("part", ["images", "labels", "fold"])
def test_other_data_are_other_cells_but_for_those_that_see_none(lab, make_lab, before, tmp_path, part):
    other = make_lab(tmp_path, **{part: getattr(lab, part)[::-1].copy()})
    for name in set(MODULES) - {"toy", "sparsity"}:
        assert not set(keys(name, other)) & set(before[name])
    assert keys("toy", other) == before["toy"]


def test_similarities_depend_on_data_rows_and_features(lab, make_lab, tmp_path):
    rows = np.arange(3)
    recipe = lab.recipe("H4(2,0)", rows, rows, "mean-norm")
    assert recipe == make_lab(tmp_path).recipe("H4(2,0)", rows, rows, "mean-norm")
    others = [
        make_lab(tmp_path, images=lab.images[::-1]).recipe("H4(2,0)", rows, rows, "mean-norm"),
        lab.recipe("H4(2,1)", rows, rows, "mean-norm"),
        lab.recipe("H4(2,0)", rows + 1, rows, "mean-norm"),
        lab.recipe("H4(2,0)", rows, rows + 1, "mean-norm"),
        lab.recipe("H4(2,0)", rows, rows, "z-score"),
    ]
    assert all(other != recipe for other in others)


def test_argument_that_cannot_be_a_key_is_refused():
    with pytest.raises(TypeError, match=r"an argument of a cell must be plain data, an array, .* got <object"):
        key_of(Cell({}, partial(full._accuracy, object())))


# --- code ----------------------------------------------------------------------------------------------------------

CELL, KERNEL_CELL = full._accuracy, jittering._measured
MATRIX = (lab_module.FHOG, lab_module.normalized_features, lab_module.cell_and_similarity, lab_module.compared)


class Copy:
    """A copy of the package that can be edited, and the hashes of a cell, a cell with a kernel SVM and a matrix."""

    def __init__(self, root):
        shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
        self.sources = Sources(root)
        self.before = self.hashes()

    def hashes(self):
        return [self.sources.hash_of(*definitions) for definitions in ((CELL,), (KERNEL_CELL,), MATRIX)]

    def concerned(self, edit, *files):
        """Return which of the three hashes an edit of files changes; the files are put back."""
        originals = {self.sources.root / file: (self.sources.root / file).read_text() for file in files}
        for path, text in originals.items():
            assert edit(text) != text
            self._write(path, edit(text))
        after = self.hashes()
        for path, text in originals.items():
            self._write(path, text)
        return tuple(a != b for a, b in zip(self.before, after, strict=True))

    def _write(self, path, text):
        path.write_text(text)
        name = ".".join(path.relative_to(self.sources.root.parent).with_suffix("").parts)
        self.sources._read.pop(name.removesuffix(".__init__"), None)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("copy") / "besvm")


def test_copy_of_the_code_has_the_same_hash(copy):
    assert copy.before[0] == SOURCES.hash_of(CELL)
    assert copy.before[2] == lab_module.matrix_code()


@pytest.mark.parametrize(
    ("files", "concerned"),  # a cell with BE-SVM, a cell with a kernel SVM, a matrix of similarities
    [
        (["similarities/grid/simd_tile.py"], (True, True, True)),
        (["similarities/__init__.py"], (True, True, True)),
        (["features/descriptors.py"], (True, True, True)),
        (["solver/newton.py"], (True, True, False)),
        (["reproduction/lab.py"], (True, True, False)),  # what is added there is not needed for a matrix
        (["baselines/kernel.py"], (False, True, False)),
        (
            [
                "selection/greedy.py",
                "reproduction/experiments/toy.py",
                "reproduction/experiments/full.py",
                "reproduction/cells.py",
                "reproduction/page.py",
            ],
            (False, False, False),
        ),
    ],
)
def test_code_counts_where_it_is_used(copy, files, concerned):
    assert copy.concerned(lambda text: text + "\n\nEXTRA = 1\n", *files) == concerned


@pytest.mark.parametrize(
    ("old", "new", "concerned"),
    [
        ("lab.fit([measure], ", "lab.fit([measure, measure], ", (True, False, False)),
        ("the smallest gain is above 0", "the least gain is above 0", (False, False, False)),
        ("lambda least, most: least > 0", "lambda least, most: least > 1", (False, False, False)),
    ],
)
def test_experiment_counts_but_not_its_claims(copy, old, new, concerned):
    file = "reproduction/experiments/full.py"
    assert copy.concerned(lambda text: text.replace(old, new), file) == concerned


def test_docstrings_comments_and_line_breaks_do_not_count(copy):
    def edit(text):
        return (
            text.replace('"""', '"""Reworded. ')
            .replace("Reworded. \n", "\n")
            .replace("\n\n\ndef ", "\n\n# why\n\n\n\ndef ")
        )

    ours = ["solver/newton.py", "similarities/vector.py", "features/descriptors.py", "blocks/plan.py"]
    assert copy.concerned(edit, *ours, "reproduction/lab.py") == (False, False, False)


def test_all_that_python_loads_counts():
    """The imports that are read from the files are those that Python follows."""
    code = "import sys, besvm.classifier; print(*[name for name in sys.modules if name.startswith('besvm.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert len(loaded) > 20
    needed = SOURCES._needed("besvm.classifier", "BESVMClassifier")
    assert set(loaded) - {"besvm.classifier"} <= set(SOURCES.modules_of(needed))


def made_up(root, files):
    """Write a package; return the hash of the function f of its module a."""
    for name, text in files.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Sources(root).hash_of(SimpleNamespace(__module__="besvm.a", __qualname__="f"))


A = "from besvm.room.b import g\nK = 1\nK += 1\nL = 2\ndef f():\n    return g(K)\ndef h():\n    return L\n"
FILES = {
    "a": A,
    "room/b": "def g(k):\n    from besvm import c\n    return c.M * k\n",
    "room/__init__": "",
    "c": "",
    "d": "",
}


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"a": A.replace("K = 1", "K = 3")}, True),
        ({"a": A.replace("K += 1", "K += 3")}, True),
        ({"a": A.replace("L = 2", "L = 3")}, False),
        ({"a": A.replace("return L", "return -L")}, False),
        ({"a": A + "print(K)\n"}, True),  # who knows what it does
        ({"room/b": "def g(k): return -k\n"}, True),
        ({"room/__init__": "M = 1\n"}, True),
        ({"c": "M = 1\n"}, True),  # imported inside of a function
        ({"d": "M = 1\n"}, False),
    ],
)
def test_what_a_function_needs(tmp_path, change, counts):
    before = made_up(tmp_path / "one", FILES)
    assert (made_up(tmp_path / "other", FILES | change) != before) is counts


@pytest.mark.parametrize("name", ["test_keys.f", "besvm.measures.<lambda>"])
def test_code_that_is_not_found_is_refused(name):
    module, _, function = name.rpartition(".")
    with pytest.raises(ValueError, match=f"the code must be a top-level definition in .*, got {name}"):
        SOURCES.hash_of(SimpleNamespace(__module__=module, __qualname__=function))
