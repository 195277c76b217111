"""The parts of a reproduction: the cache, finished cells, the plan, and claims."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from besvm import BESVMClassifier, Nystrom
from besvm.basis import IndexBasis
from besvm.datasets import make_digit_images
from besvm.experiments import MODULES, experiments
from besvm.experiments.base import Cell, Experiment, check, distinct, value, where
from besvm.experiments.cache import MatrixCache
from besvm.experiments.config import M2, QUICK
from besvm.experiments.eigenvalues import correlation
from besvm.experiments.lab import Lab
from besvm.experiments.results import Results, as_csv, write_table, write_text
from besvm.experiments.runner import make_plan, show_seconds
from besvm.experiments.sparsity import sparser
from besvm.report.page import Section, html_page, markdown_page


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


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    (tmp_path / "x.999999999.part").write_bytes(b"half")
    (tmp_path / f"y.{os.getpid()}.part").write_bytes(b"at work")
    MatrixCache(tmp_path, 100)
    assert [path.name for path in tmp_path.iterdir()] == [f"y.{os.getpid()}.part"]


# --- finished cells ------------------------------------------------------------------------------------------------


def test_finished_cells_are_found_again(tmp_path):
    cell = Cell({"measure": "H8R"}, dict)
    Results(tmp_path, "context").keep("full", cell, {"measure": "H8R", "accuracy": 0.5})
    assert Results(tmp_path, "context").get("full", cell) == {"measure": "H8R", "accuracy": 0.5}
    assert Results(tmp_path, "other data").get("full", cell) is None
    assert Results(tmp_path, "context").get("eigs", cell) is None
    assert Results(tmp_path, "context").get("full", Cell({"measure": "H4R"}, dict)) is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"measure": "H4R"}'])
def test_damaged_cell_is_run_again(tmp_path, damage):
    cell, results = Cell({"measure": "H8R"}, dict), Results(tmp_path, "context")
    results.keep("full", cell, {"measure": "H8R"})
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damage)
    assert results.get("full", cell) is None


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")
    monkeypatch.setattr(Path, "write_bytes", lambda *args: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_csv_leaves_lists_out():
    assert as_csv([{"a": 1, "long": [1, 2]}, {"a": 2, "b": "x,y"}]) == 'a,b\n1,\n2,"x,y"\n'


# --- the plan ------------------------------------------------------------------------------------------------------


def test_plan_leaves_out_what_does_not_fit_and_what_is_slow(lab, tmp_path):
    found = [Cell({"k": 0}, dict), Cell({"k": 1}, dict, memory=10**6), Cell({"k": 2}, dict, thorough=True)]
    experiment = Experiment("some", "title", "paper", lambda lab: found)
    results = Results(tmp_path, "context")
    results.keep("some", found[0], {"k": 0, "accuracy": 1.0})
    (step,) = make_plan([experiment], lab, results, memory_limit=1000)
    assert step.table == [{"k": 0, "accuracy": 1.0}]
    assert step.waiting == []
    assert [reason for _, reason in step.skipped] == ["needs 1.0 MB, the limit is 1.0 kB", "only with --thorough"]


def test_similarities_are_planned_once(lab):
    basis = lab.index_basis(2)
    assert lab.seconds(["H4(2,1)"], 1, basis) > lab.seconds(["H4(2,1)"], 1, basis)


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
    """Cached similarities, put side by side and normalised, give what BESVMClassifier gives from images."""
    rows, test = lab.train_rows(), lab.test_rows
    clf = BESVMClassifier(list(M2), basis=IndexBasis(per_class=8), probability=False, tol=1e-5)
    clf.fit(lab.images[rows], lab.labels[rows])
    fitted = lab.fit(M2, lab.index_basis(8))
    assert abs(clf.score(lab.images[test], lab.labels[test]) - fitted.accuracy) <= 0.02
    raw = lab.expansion(["H4(2,0)"], [5], lab.index_basis(8))
    places = [list(clf.basis_rows_[1]).index(np.searchsorted(rows, row)) for row in np.concatenate(lab.index_basis(8))]
    theirs = clf._expander(lab.images[test])[:, 80:160][:, places]
    assert_allclose(raw, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("normalize", [None, "z-score", "mean-norm", Nystrom("clip"), Nystrom("covariance")])
def test_lab_normalises_training_and_test_rows_alike(lab, normalize):
    assert lab.fit(["H8R"], lab.index_basis(8), normalize=normalize).accuracy > 0.4


def test_cost_is_chosen_among_three(lab):
    assert lab.fit(["H8R"], lab.index_basis(8), C=None).model.C in (0.1, 1.0, 10.0)


# --- tables, claims, pages -----------------------------------------------------------------------------------------


TABLE = [{"a": 1, "b": 0.5}, {"a": 2, "b": 0.25}, {"a": 1, "b": 1.5}]


def test_tables():
    assert where(TABLE, a=2) == [TABLE[1]]
    assert value(TABLE, "b", a=1) == 1.0
    assert value(TABLE, "b", a=3) is None
    assert distinct(TABLE, "a") == [1, 2]


def test_claim_without_its_values_is_not_measured():
    assert check("x", "{:.1f}", lambda a: a > 1, 2.0).holds is True
    assert check("x", "{:.1f}", lambda a: a > 1, 0.5).holds is False
    assert check("x", "{:.1f}", lambda a: a > 1, None).holds is None


def test_correlation_is_pearsons():
    table = [{"NgRat": x, "accuracy": x**2} for x in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    x = np.array([row["NgRat"] for row in table])
    assert correlation(table, "NgRat", "accuracy") == pytest.approx(np.corrcoef(x, x**2)[0, 1])
    assert correlation([{"NgRat": 0.0, "accuracy": 0.5}] * 6, "NgRat", "accuracy") is None
    assert correlation(table[:3], "NgRat", "accuracy") is None


def test_sparser_reads_the_curve_between_two_sizes():
    kernel = [{"accuracy": 0.7, "exemplars": 1000}]
    ours = [{"accuracy": 0.6, "exemplars": 10}, {"accuracy": 0.8, "exemplars": 1000}]
    assert sparser(kernel, ours, "exemplars") == pytest.approx(10.0)  # 100 exemplars at .7
    assert sparser([{"accuracy": 0.9, "exemplars": 1000}], ours, "exemplars") is None
    assert sparser([], ours, "exemplars") is None


@pytest.mark.parametrize("name", MODULES)
def test_nothing_measured_is_said_so(name):
    """Every claim of every experiment copes with empty tables."""
    (experiment,) = experiments([name])
    claims = experiment.claims(*[[] for _ in range(1 + len(experiment.uses))])
    assert all(claim.holds is None for claim in claims)


def test_page_escapes_what_it_shows():
    section = Section("x", "a < b", "the paper & more", table=[{"a|b": "<script>"}])
    page = html_page("t", "about", [section])
    assert "<script>" not in page
    assert "a &lt; b".lower() in page.lower()
    assert "\\|" in markdown_page("t", "about", [Section("x", "y", "z", table=[{"a": "b|c"}])], "figures")


def test_tables_are_valid_json(tmp_path):
    write_table(tmp_path, "full", [{"a": 1.5}], {"title": "x"})
    assert json.loads((tmp_path / "tables" / "full.json").read_text()) == {"title": "x", "rows": [{"a": 1.5}]}
