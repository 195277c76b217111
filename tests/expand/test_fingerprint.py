"""What a fingerprint follows, values and source files, and what a search with a folder does with it."""

import importlib
import os
import runpy
import sys
import threading
from functools import partial

import numpy as np
import pytest
from numba import njit
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator

from besvm.expand.fingerprint import UnknownSourceError, fingerprint, hash_of_rows, sources
from besvm.features import Shifts
from besvm.selection import GreedySelection
from besvm.similarities import RBF, Jitter, Latent, PairFunction, contract

# --- values ----------------------------------------------------------------------------------------------------------


def make(power):
    def near(a, b, scale=1.0):
        return scale * float(a @ b) ** power

    return near


def times(a, b):
    return a * b


class Scorer:
    def __init__(self, weight):
        self.weight = weight

    def score(self, a, b):
        return self.weight * (a - b)


def test_equal_things_have_one_fingerprint_and_others_another():
    keys = [
        [fingerprint(make(2)), fingerprint(make(2))],
        [fingerprint(make(3))],
        [fingerprint(make([2, 3])), fingerprint(make([2, 3]))],
        [fingerprint(partial(make(2), scale=2.0)), fingerprint(partial(make(2), scale=2.0))],
        [fingerprint(PairFunction(make(2)))],
        [fingerprint(Scorer(2).score), fingerprint(Scorer(2).score)],
        [fingerprint(Scorer(3).score)],
        [fingerprint(njit(times)), fingerprint(njit(times))],
        [fingerprint(njit(fastmath=True)(times))],
        [fingerprint(RBF(gamma=1.0)), fingerprint(RBF(gamma=1.0))],
        [fingerprint(RBF(gamma=2.0))],
        [fingerprint(Latent("rbf", exemplar_variants=Shifts(1)))],
        [fingerprint(Jitter("rbf", exemplar_variants=Shifts(1)))],
        [fingerprint(PCA(2)), fingerprint(PCA(2))],
        [fingerprint(PCA(3))],
        [fingerprint(FrozenEstimator(PCA(1).fit(np.eye(3))))],
        [fingerprint(FrozenEstimator(PCA(1).fit(np.diag([1.0, 2.0, 3.0]))))],
        [fingerprint(["ab", "c"]), fingerprint(["".join("ab"), "c"])],
        [fingerprint(["a", "bc"])],
        [fingerprint({8, 0}), fingerprint({0, 8})],  # which are listed in different orders
        [fingerprint(np.arange(3)), fingerprint(np.arange(6)[:3])],
        [fingerprint(np.arange(3.0))],
        [fingerprint(np.array([make(2), None])), fingerprint(np.array([make(2), None]))],
        [fingerprint(np.array([make(3), None]))],
        [fingerprint(len)],
        [fingerprint(np.add)],
    ]
    assert [len(set(same)) for same in keys] == [1] * len(keys)
    assert len({key for same in keys for key in same}) == len(keys)


ONE, OTHER = frozenset([8, 0]), frozenset([0, 8])  # which are listed in different orders
SAMPLES = {
    "sets": ([ONE, {ONE}], [OTHER, {OTHER}]),
    "sets of sets": ([frozenset([ONE, frozenset([1])])], [frozenset([frozenset([1]), OTHER])]),
    "sets as keys": ([{ONE: 1, frozenset([1]): 2}], [{frozenset([1]): 2, OTHER: 1}]),
    "pairs": ([(1, 2.5)] * 2, [(1, number) for number in (2.5, 2.5)]),
    "graphs": ([[(0, 1, "a"), (1, 2, "b")]] * 2, [[(0, 1, "a"), (1, 2, "b")] for _ in range(2)]),
    "numbers": ([np.float64(2.5)] * 2, [np.float64(2.5), np.float64(2.5)]),
    "objects": ([Scorer({8, 0})] * 2, [Scorer({8, 0}), Scorer({0, 8})]),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_count_by_value_in_whatever_run(kind):
    """A set has another order in every run, and what was one object may be two that are equal."""
    samples, same = SAMPLES[kind]
    assert hash_of_rows(samples) == hash_of_rows(same)
    assert len({hash_of_rows(some) for some in (samples, samples * 2, [samples])}) == 3


def test_a_sample_may_hold_itself():
    around_itself, same = [1], [1]
    around_itself.append(around_itself)
    same.append(same)
    assert hash_of_rows([around_itself]) == hash_of_rows([same])


def test_lambdas_in_one_line_are_told_apart():
    one, two = lambda a, b: a, lambda a, b: b
    assert fingerprint(one) != fingerprint(two)


def in_function():
    class Local:
        pass

    return Local()


def locked():
    lock = threading.Lock()
    return lambda a, b: lock


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (eval("lambda a, b: a"), "no source file, only <string>"),
        (in_function(), r"in_function.<locals>.Local cannot be found in .*test_fingerprint"),
        (locked(), "cannot be hashed: .*lock"),
        ((x for x in "ab"), "cannot be hashed: .*generator"),
    ],
)
def test_what_has_no_fingerprint_says_why(thing, says):
    with pytest.raises(UnknownSourceError, match=says):
        fingerprint(PairFunction(thing))


# --- source files ----------------------------------------------------------------------------------------------------

MINE = """
from functools import cached_property, lru_cache
import helpers
try:
    import notes_that_are_not_there
except ImportError:
    pass
from numba import njit
from sklearn.base import BaseEstimator, TransformerMixin
from besvm.similarities import Similarity, register
from packed import near

SCALE = 1.0
@lru_cache
def cached(a, b):
    return SCALE * float(a[0] * b[0])
@njit
def compiled(a, b):
    return a @ b
def lazy(a, b):
    import late.scales
    return late.scales.scale(a)
def make(power):
    return lambda a, b: helpers.dot(a, b) ** power
@register("mine_alone")
class Mine(Similarity):
    def __call__(self, A, B):
        return A @ B.T
class Scaled(TransformerMixin, BaseEstimator):
    @cached_property
    def factor(self):
        return 1.0
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return self.factor * X
"""
FILES = {
    "mine.py": MINE,
    "helpers.py": "import deeper\ndef dot(a, b):\n    return deeper.times * float(a @ b)\n",
    "deeper.py": "times = 1.0\n",
    "late/__init__.py": "",
    "late/scales.py": "def scale(x):\n    return x\n",
    "packed/__init__.py": "",
    "packed/near.py": "from .scales import SCALE\n",
    "packed/scales.py": "SCALE = 1.0\n",
    "packed/other.py": "SCALE = 1.0\n",
    "alone.py": "def alone(a, b):\n    return float(a @ b)\n",
    "unrelated.py": "import mine\n",
}
THINGS = {
    "lru_cache": lambda mine: PairFunction(mine.cached),
    "njit": lambda mine: PairFunction(mine.compiled),
    "import in a function": lambda mine: PairFunction(mine.lazy),
    "closure": lambda mine: PairFunction(mine.make(2)),
    "similarity": lambda mine: mine.Mine(),
    "name of a similarity": lambda mine: Latent("mine_alone", exemplar_variants=Shifts(1)),
    "cached_property": lambda mine: mine.Scaled(),
    "module": lambda mine: mine,
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return what writes the user's files, edited, and loads ``mine`` and ``alone`` as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(contract, "_registry", dict(contract._registry))
    tops = {name.split("/")[0].removesuffix(".py") for name in FILES}

    def forget():
        for name in [name for name in sys.modules if name.split(".")[0] in tops]:
            del sys.modules[name]
        importlib.invalidate_caches()

    def load(name="", old="", new="", mtime=1e9):
        for file, text in FILES.items():
            path = tmp_path / file
            path.parent.mkdir(exist_ok=True)
            assert file != name or old in text
            path.write_text(text.replace(old, new) if file == name else text)
            os.utime(path, (mtime, mtime))
        forget()
        return importlib.import_module("mine"), importlib.import_module("alone")

    yield load
    forget()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mine.py", "SCALE = 1.0", "SCALE = 2.0"),
        ("mine.py", "a @ b", "b @ a"),
        ("mine.py", "return 1.0", "return 2.0"),
        ("helpers.py", "a @ b", "b @ a"),
        ("deeper.py", "1.0", "2.0"),
        ("late/scales.py", "return x", "return -x"),
        ("packed/scales.py", "1.0", "2.0"),
    ],
)
def test_an_edit_changes_the_fingerprint_of_all_that_imports_the_file(program, file, old, new):
    mine, alone = program()
    before, untouched = {name: fingerprint(make(mine)) for name, make in THINGS.items()}, fingerprint(alone.alone)
    mine, alone = program()
    assert {name: fingerprint(make(mine)) for name, make in THINGS.items()} == before
    mine, alone = program(file, old, new)
    after = {name: fingerprint(make(mine)) for name, make in THINGS.items()}
    assert [name for name in before if before[name] == after[name]] == []
    assert fingerprint(alone.alone) == untouched


@pytest.mark.parametrize("file", ["unrelated.py", "packed/other.py", "alone.py"])
def test_an_edit_of_what_is_not_imported_changes_nothing(program, file):
    mine, _ = program()
    before = {name: fingerprint(make(mine)) for name, make in THINGS.items()}
    mine, _ = program(file, FILES[file], FILES[file] + "# edited\n")
    assert {name: fingerprint(make(mine)) for name, make in THINGS.items()} == before


def test_a_module_that_appears_changes_the_fingerprint_of_what_would_import_it(program, tmp_path):
    before = fingerprint(program()[0].cached)
    path = tmp_path / "notes_that_are_not_there.py"
    path.write_text("")
    os.utime(path, (1e9, 1e9))
    assert fingerprint(program()[0].cached) != before


def test_nothing_is_imported_to_look_for_it(program):
    fingerprint(program()[0].lazy)
    assert "late" not in sys.modules


def test_a_file_that_was_edited_while_the_program_runs_is_not_trusted(program):
    mine, _ = program("helpers.py", "a @ b", "b @ a", mtime=4e9)
    with pytest.raises(UnknownSourceError, match=r"\.py was edited while the program was running"):
        fingerprint(mine.cached)


def test_an_extension_module_of_the_users_is_not_trusted(program, tmp_path):
    program()
    path = tmp_path / "compiled.so"
    path.write_bytes(b"\x7fELF\x00\x01")
    os.utime(path, (1e9, 1e9))
    with pytest.raises(UnknownSourceError, match=r"compiled.so is not written in Python"):
        sources(str(path), None)


def test_what_is_installed_counts_by_its_version():
    (found,) = sources(sys.modules["sklearn.decomposition._pca"].__file__, "sklearn.decomposition")
    assert found[1] == f"scikit-learn {importlib.metadata.version('scikit-learn')}"
    assert sources(os.__file__, None)[0][1].startswith("Python 3.")
    assert sources(importlib.import_module("besvm.measures").__file__, "besvm") == (("", "besvm"),)


# --- in a search -----------------------------------------------------------------------------------------------------


def search(candidates, **params):
    params = {"n_measures": 1, "basis": np.arange(10), "random_state": 0, "n_jobs": 1, "refit": False} | params
    X, y = load_iris(return_X_y=True)
    return GreedySelection(candidates, **params).fit(X[::3], y[::3], X[1::3], y[1::3]).trace_[0].accuracies


def test_nothing_stale_is_served(program, tmp_path):
    def run(name="", old="", new="", folder=tmp_path / "kept"):
        mine, alone = program(name, old, new)
        return search([mine.make(3), mine.Mine(), alone.alone], folder=folder)

    def files():
        return {path.name for path in (tmp_path / "kept").glob("*.npy")}

    first = run()
    kept = files()
    assert run() == first
    assert files() == kept
    edit = ("helpers.py", "a @ b", "a[1] * b[1]")
    edited = run(*edit)
    assert edited == run(*edit, folder=None) != first
    assert {name.split("-")[0] for name in files() - kept} == {"function", "mine"}
    assert run() == first


SCRIPT = """
import numpy as np
calls = []
def search(select, power, **params):
    calls.clear()
    near = lambda a, b: calls.append(1) or float(a @ b) ** power
    made = select([near, lambda a, b: calls.append(1) or float(np.abs(a - b).max())], **params)
    return len(calls), made
"""


def test_lambdas_of_a_script_are_found_again(tmp_path):
    path = tmp_path / "script.py"

    def run(power, text=SCRIPT):
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
        return runpy.run_path(str(path), run_name="__main__")["search"](search, power, folder=tmp_path / "kept")

    n, first = run(1)
    assert n == 2 * 100 * 10
    assert run(1) == (0, first)
    assert run(2)[0] == 100 * 10  # in the closure of one of them
    assert run(1, SCRIPT.replace("abs(a - b)", "abs(b - a)"))[0] == n
    assert run(1) == (0, first)


def test_what_cannot_be_known_is_computed_anew_and_said_so(tmp_path, capsys):
    calls = []
    counted = eval("lambda a, b: calls.append(1) or float(a @ b)", {"calls": calls})
    for memory_limit in (None, "40 MB", "40 MB"):
        calls.clear()
        search(["linear", counted], folder=tmp_path, verbose=1, memory_limit=memory_limit)
        assert len(calls) == 100 * 10
        assert "function cannot be reused from earlier runs: its code has no source file" in capsys.readouterr().err
        assert [path.name.split("-")[0] for path in sorted(tmp_path.iterdir())] == ["linear", "scores"]
