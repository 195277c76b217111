"""The parts of a reproduction: the cache, finished cells, the plan, and claims."""

import io
import os
import signal
import subprocess
import sys
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from besvm import BESVMClassifier, Nystrom
from besvm._support.units import show_seconds
from besvm.basis import IndexBasis
from besvm.datasets import make_digit_images
from besvm.reproduction import MODULES, experiments
from besvm.reproduction.base import Cell, Experiment
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.config import M2, QUICK
from besvm.reproduction.lab import Lab
from besvm.reproduction.results import Results, Spent, as_csv
from besvm.reproduction.runner import Step, context_of, make_plan, run, seconds_left, show_plan


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    images, labels = make_digit_images(900, random_state=0)
    cache = MatrixCache(tmp_path_factory.mktemp("cache"), 10**8)
    return Lab(images, labels, np.repeat(np.arange(6), 150), QUICK, cache)


# --- the cache ---------------------------------------------------------------------------------------------------


def ones() -> np.ndarray:
    return np.ones((10, 10), dtype=np.float32)


def never() -> np.ndarray:
    raise AssertionError("computed although it is in the cache")


def test_matrix_is_computed_once(tmp_path):
    cache = MatrixCache(tmp_path, 10_000)
    first = cache.get({"a": 1}, (10, 10), ones)
    assert np.array_equal(cache.get({"a": 1}, (10, 10), never), first)
    assert np.array_equal(MatrixCache(tmp_path, 10_000).get({"a": 1}, (10, 10), never), first)


def test_another_recipe_is_another_matrix(tmp_path):
    cache = MatrixCache(tmp_path, 10_000)
    cache.get({"a": 1}, (10, 10), ones)
    assert cache.get({"a": 2}, (10, 10), lambda: 2 * ones())[0, 0] == 2


def test_least_used_matrices_go_first(tmp_path):
    cache = MatrixCache(tmp_path, 3 * 600)
    for name in "abc":
        cache.get({"name": name}, (10, 10), ones)
        os.utime(cache.path({"name": name}), (ord(name), ord(name)))
    cache.get({"name": "a"}, (10, 10), never)  # used again
    cache.get({"name": "d"}, (10, 10), ones)
    kept = [name for name in "abcd" if cache.path({"name": name}).exists()]
    assert kept == ["a", "c", "d"]
    assert cache.n_bytes <= cache.limit


def test_matrix_beyond_the_limit_is_not_kept(tmp_path):
    cache = MatrixCache(tmp_path, 100)
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert cache.n_bytes == 0


@pytest.mark.parametrize("damage", [b"", b"not a matrix", b"\x93NUMPY"])
def test_damaged_matrix_is_computed_again(tmp_path, damage):
    cache = MatrixCache(tmp_path, 10_000)
    cache.path({"a": 1}).write_bytes(damage)
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert cache.get({"a": 1}, (10, 10), never).sum() == 100


def test_cache_never_runs_code(tmp_path):
    cache = MatrixCache(tmp_path, 10_000)
    np.save(cache.path({"a": 1}), np.array([print], dtype=object), allow_pickle=True)
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100


def test_matrix_of_another_shape_is_computed_again(tmp_path):
    cache = MatrixCache(tmp_path, 10_000)
    np.save(cache.path({"a": 1}), np.zeros((3, 3), dtype=np.float32))
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100


def test_matrices_below_the_folder_count_too(tmp_path):
    cache = MatrixCache(tmp_path, 2 * 600)
    (tmp_path / "greedy").mkdir()
    np.save(tmp_path / "greedy" / "old.npy", ones())
    os.utime(tmp_path / "greedy" / "old.npy", (1, 1))
    assert cache.n_bytes >= 400
    for name in "ab":
        cache.get({"name": name}, (10, 10), ones)
    assert cache.n_bytes <= cache.limit
    assert not (tmp_path / "greedy" / "old.npy").exists()


def test_matrix_removed_by_another_process_is_no_matter(tmp_path, monkeypatch):
    cache = MatrixCache(tmp_path, 10_000)
    monkeypatch.setattr(Path, "rglob", lambda *args: [tmp_path / "gone.npy"])
    assert cache.n_bytes == 0
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100


def test_full_disk_is_said(tmp_path, monkeypatch, capsys):
    cache = MatrixCache(tmp_path, 10_000, verbose=1)
    monkeypatch.setattr(os, "posix_fallocate", lambda *args: (_ for _ in ()).throw(OSError(28, "No space left")))
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert "are not kept" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- finished cells ------------------------------------------------------------------------------------------------


def test_finished_cells_are_found_again(tmp_path):
    cell = Cell({"measure": "H8R"}, dict)
    kept = {"measure": "H8R", "accuracy": 0.5}, Spent(2.0, 3.0, 10**9)
    Results(tmp_path, "context").keep("full", cell, *kept)
    assert Results(tmp_path, "context").get("full", cell) == kept
    assert Results(tmp_path, "other data").get("full", cell) is None
    assert Results(tmp_path, "context").get("eigs", cell) is None
    assert Results(tmp_path, "context").get("full", Cell({"measure": "H4R"}, dict)) is None


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"measure": "H8R"}', '{"row": {"measure": "H4R"}, "took": [1, 1, 1]}', '{"row": {}}']
)
def test_damaged_cell_is_run_again(tmp_path, damage):
    cell, results = Cell({"measure": "H8R"}, dict), Results(tmp_path, "context")
    results.keep("full", cell, {"measure": "H8R"}, Spent())
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damage)
    assert results.get("full", cell) is None


def test_csv_leaves_lists_out():
    assert as_csv([{"a": 1, "long": [1, 2]}, {"a": 2, "b": "x,y"}]) == 'a,b\n1,\n2,"x,y"\n'


# --- the plan ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(lab):
    """The lab with room for a megabyte beside the features."""
    limited = copy(lab)
    limited.memory_limit = lab.costs.base_memory + 10**6
    return limited


def some(*cells: Cell, **options) -> Experiment:
    return Experiment("some", "title", "paper", lambda lab: list(cells), **options)


def test_plan_leaves_out_what_does_not_fit_and_what_is_slow(small, tmp_path):
    found = [Cell({"k": 0}, dict), Cell({"k": 1}, dict, memory=2 * 10**6), Cell({"k": 2}, dict, thorough=True)]
    results = Results(tmp_path, "context")
    results.keep("some", found[0], {"k": 0, "accuracy": 1.0}, Spent())
    (step,) = make_plan([some(*found)], small, results)
    assert step.table == [{"k": 0, "accuracy": 1.0}]
    assert step.waiting == []
    fits, slow = (reason for _, reason in step.skipped)
    assert fits.startswith("needs ")
    assert ", the limit is " in fits
    assert slow == "only with --thorough"


def test_finished_cells_are_never_left_out(small, tmp_path):
    """Less free memory, or a run without --thorough, does not take away what another run has finished."""
    found = [Cell({"k": 1}, dict, memory=2 * 10**6), Cell({"k": 2}, dict, thorough=True)]
    results = Results(tmp_path, "context")
    for cell in found:
        results.keep("some", cell, cell.key | {"accuracy": 0.5}, Spent())
    (step,) = make_plan([some(*found)], small, results)
    assert len(step.table) == 2
    assert step.skipped == []


def test_failed_cell_is_reported_and_the_others_go_on(lab, tmp_path):
    def fail() -> dict:
        raise MemoryError("the matrix needs 9 TB")

    console = Console(file=io.StringIO(), width=140)
    results = Results(tmp_path, "context")
    cells = [Cell({"k": 0}, fail), Cell({"k": 1}, lambda: {"accuracy": 0.5})]
    (step,) = steps = make_plan([some(*cells)], lab, results)
    run(steps, results, console)
    assert step.table == [{"k": 1, "accuracy": 0.5}]
    assert [reason for _, reason in step.failed] == ["failed: the matrix needs 9 TB"]
    assert "failed: the matrix needs 9 TB" in console.file.getvalue()
    assert results.get("some", cells[0]) is None  # tried again the next time


def test_cell_finished_by_another_process_is_not_run_again(lab, tmp_path):
    results = Results(tmp_path, "context")
    cell = Cell({"k": 0}, never)
    steps = make_plan([some(cell)], lab, results)
    results.keep("some", cell, {"k": 0, "accuracy": 0.25}, Spent())
    run(steps, results, Console(file=io.StringIO()))
    assert steps[0].table == [{"k": 0, "accuracy": 0.25}]


def test_plan_learns_from_the_time_that_cells_took(lab, tmp_path):
    results = Results(tmp_path, "context")
    cells = [Cell({"k": k}, dict, seconds=10.0) for k in range(3)]
    results.keep("some", cells[0], {"k": 0}, Spent(200.0, 100.0, 10**9))
    results.keep("some", cells[1], {"k": 1}, Spent(40.0, 290.0, 10**6))
    (step,) = make_plan([some(*cells)], lab, Results(tmp_path, "context"))
    assert step.spent == (240.0, 390.0, 10**9)
    assert step.seconds == pytest.approx(15.0)  # 450 for 300: a minute is taken on trust
    other = Step(some(), [Cell({"k": 0}, dict, seconds=100.0)])
    assert seconds_left([step, other]) == pytest.approx(15.0 + 150.0)  # nothing is known of the other
    other.finish(0, {"k": 0}, Spent(940.0, 40.0))
    other.cells.append(Cell({"k": 1}, dict, seconds=100.0))
    assert seconds_left([step, other]) == pytest.approx(15.0 + 10.0)  # now it has a pace of its own


def test_cells_that_do_not_converge_print_no_warnings(lab, tmp_path):
    def warn() -> dict:
        warnings.warn("the solver stopped", ConvergenceWarning, stacklevel=1)
        return {"accuracy": 0.5}

    results = Results(tmp_path, "context")
    run(make_plan([some(Cell({"k": 0}, warn))], lab, results), results, Console(file=io.StringIO()))


def test_plan_counts_the_disk_that_similarities_will_take(lab, tmp_path):
    fresh, basis = replaced(lab, cache=MatrixCache(tmp_path, 10**8)), lab.index_basis(2)
    fresh.similarities("H8R", fresh.test_rows, basis[0])  # there already
    fresh.costs.fit(["H8R", "H4(2,1)"], 1, basis)
    fresh.costs.fit(["H8R"], 1, basis)  # planned already
    assert fresh.costs.planned_bytes == 4 * 150 * sum(map(len, basis)) * 4 - 4 * 150 * len(basis[0])


def test_plan_of_what_is_finished_takes_no_disk(lab, tmp_path):
    """The similarities of finished cells may have left the cache: they are not computed again."""
    fresh, results = replaced(lab, cache=MatrixCache(tmp_path / "cache", 10**8)), Results(tmp_path, "context")
    fresh.costs.fit(["H8R"], 1, lab.index_basis(2))
    cell, said = Cell({"k": 0}, never), io.StringIO()
    show_plan(Console(file=said), make_plan([some(cell)], fresh, results), fresh)
    results.keep("some", cell, {"k": 0}, Spent())
    assert "about 0 bytes more" not in said.getvalue()
    show_plan(Console(file=said), make_plan([some(cell)], fresh, results), fresh)
    assert "about 0 bytes more" in said.getvalue()


def test_estimates_shrink_with_the_data(lab):
    assert lab.costs.fixed(60) == pytest.approx(60 * 900 / 60_000)


def test_context_depends_on_code_data_and_sizes(lab, monkeypatch):
    before = context_of(lab)
    assert context_of(replaced(lab, config=replace(QUICK, thorough=True))) == before  # adds cells, changes none
    others = [replaced(lab, config=replace(QUICK, size=3)), replaced(lab, images=lab.images[::-1])]
    others.append(replaced(lab, labels=lab.labels.astype(np.int32)))
    assert all(context_of(other) != before for other in others)
    monkeypatch.setattr("besvm.reproduction.lab.FORMAT", -1)
    assert context_of(lab) != before


def replaced(lab: Lab, **changes) -> Lab:
    parts = {"images": lab.images, "labels": lab.labels, "fold": lab.fold, "config": lab.config, "cache": lab.cache}
    return Lab(**(parts | changes))


def test_matrices_depend_on_the_code_too(lab, monkeypatch):
    rows = np.arange(3)
    before = lab.recipe("H4(2,0)", rows, rows, "mean-norm")
    assert "'rigid': 2" in before["measure"]
    assert "'rigid_penalty': 0.0" in before["measure"]  # defaults too
    assert "'cell': 4" in before["measure"]
    monkeypatch.setattr("besvm.reproduction.lab.__version__", "99")
    assert lab.recipe("H4(2,0)", rows, rows, "mean-norm") != before


@pytest.mark.parametrize("name", MODULES)
def test_every_cell_says_what_memory_it_takes(lab, name):
    assert all(cell.memory > 0 and cell.seconds > 0 for cell in experiments([name])[0].cells(lab))


def test_similarities_are_planned_once(lab):
    costs, basis = replaced(lab).costs, lab.index_basis(2)
    assert costs.fit(["H4(2,1)"], 1, basis) > costs.fit(["H4(2,1)"], 1, basis)


@given(st.floats(0, 1e6))
def test_durations_are_short(seconds):
    assert len(show_seconds(seconds)) <= 12


def test_experiments_by_name():
    assert [experiment.name for experiment in experiments()] == list(MODULES)
    with pytest.raises(ValueError, match="no experiment is called 'table 1'; there are baselines, full"):
        experiments(["table 1"])


# --- the lab -------------------------------------------------------------------------------------------------------


def test_larger_basis_begins_with_the_smaller(lab):
    small, large = lab.index_basis(2), lab.index_basis(8)
    for a, b in zip(small, large, strict=False):
        assert np.array_equal(a, b)
    rows = np.concatenate(large)
    assert np.array_equal(np.bincount(lab.labels[rows]), np.full(10, 8))
    assert sorted(rows) == sorted(
        lab.train_rows()[
            IndexBasis(per_class=8)(lab.images[lab.train_rows()], lab.labels[lab.train_rows()], None, None)
        ]
    )


def test_lab_trains_the_classifier_of_the_library(lab):
    """Cached similarities, put side by side and normalized, give what BESVMClassifier gives from images."""
    rows, test = lab.train_rows(), lab.test_rows
    clf = BESVMClassifier(list(M2), basis=IndexBasis(per_class=8), probability=False, tol=1e-5)
    clf.fit(lab.images[rows], lab.labels[rows])
    fitted = lab.fit(M2, lab.index_basis(8))
    assert abs(clf.score(lab.images[test], lab.labels[test]) - fitted.accuracy) <= 0.02
    raw = lab.expansion(["H4(2,0)"], [5], lab.index_basis(8))
    places = [list(clf.basis_rows_[1]).index(np.searchsorted(rows, row)) for row in np.concatenate(lab.index_basis(8))]
    theirs = clf._map.expander(lab.images[test])[:, 80:160][:, places]
    assert_allclose(raw, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("normalize", [None, "z-score", "mean-norm", Nystrom("clip"), Nystrom("covariance")])
def test_lab_normalizes_training_and_test_rows_alike(lab, normalize):
    assert lab.fit(["H8R"], lab.index_basis(8), normalize=normalize).accuracy > 0.4


def test_cost_is_chosen_among_three(lab):
    assert lab.fit(["H8R"], lab.index_basis(8), C=None).model.C in (0.1, 1.0, 10.0)
