"""Finished cells, the plan, and running it."""

import io
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from besvm.reproduction.cells import Cell, Costs, Experiment
from besvm.reproduction.config import QUICK
from besvm.reproduction.experiments import MODULES, experiments
from besvm.reproduction.page import as_csv
from besvm.reproduction.runner import (
    Planned,
    Results,
    Spent,
    counted,
    describe,
    make_plan,
    run,
    seconds_left,
    show_plan,
)


def never() -> dict:
    raise AssertionError("run although it is finished")


def cell(k: int, function=dict, **options) -> Cell:
    return Cell({"k": k}, partial(function), **options)


def results_in(folder, key: str = "key") -> Results:
    return Results(folder, lambda cell: f"{key} {cell.key}")


def plan_of(lab, results, *cells: Cell, config=QUICK) -> Planned:
    experiment = Experiment("some", "title", "paper", lambda config, lab, costs: list(cells))
    (planned,) = make_plan([experiment], config, lab, Costs(lab), results)
    return planned


def test_finished_cells_are_found_again(tmp_path):
    kept = {"k": 1, "accuracy": 0.5}, Spent(2.0, 3.0, 10**9)
    results_in(tmp_path).keep("full", cell(1), *kept)
    assert results_in(tmp_path).get("full", cell(1)) == kept
    assert results_in(tmp_path, "other data").get("full", cell(1)) is None
    assert results_in(tmp_path).get("eigs", cell(1)) is None
    assert results_in(tmp_path).get("full", cell(2)) is None


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"k": 1}', '{"row": {"k": 2}, "took": [1, 1, 1]}', '{"row": {"k": 1}}']
)
def test_damaged_cell_is_run_again(tmp_path, damage):
    results = results_in(tmp_path)
    results.keep("full", cell(1), {"k": 1}, Spent())
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damage)
    assert results.get("full", cell(1)) is None


def test_csv_leaves_lists_out():
    assert as_csv([{"a": 1, "long": [1, 2]}, {"a": 2, "b": "x,y"}]) == 'a,b\n1,\n2,"x,y"\n'


def test_cells_are_described_and_counted():
    assert describe({"measure": "H8R", "folds": 3}) == "measure H8R, folds 3"
    assert counted([(cell(1), "slow"), (cell(2), "large"), (cell(3), "slow")]) == ["2 cells, slow", "1 cell, large"]


def test_plan_leaves_out_what_does_not_fit_and_what_is_slow_unless_it_is_finished(make_lab, lab, tmp_path):
    small = make_lab(tmp_path / "cache", memory_limit=lab.base_memory + 10**6)
    results = results_in(tmp_path)
    cells = [cell(0), cell(1, memory=2 * 10**6), cell(2, thorough=True)]
    planned = plan_of(small, results, *cells)
    assert [one for _, one in planned.waiting] == cells[:1]
    fits, slow = (reason for _, reason in planned.skipped)
    assert fits.startswith("needs ")
    assert ", the limit is " in fits
    assert slow == "only with --thorough"
    assert len(plan_of(small, results, *cells, config=replace(QUICK, thorough=True)).waiting) == 2
    for one in cells:
        results.keep("some", one, one.key | {"accuracy": 0.5}, Spent())
    planned = plan_of(small, results, *cells)
    assert len(planned.table) == 3
    assert not planned.waiting
    assert not planned.skipped


def test_failed_cell_is_reported_and_the_others_go_on(lab, tmp_path):
    def fail() -> dict:
        raise MemoryError("the matrix needs 9 TB")

    console, results = Console(file=io.StringIO(), width=140), results_in(tmp_path)
    cells = [cell(0, fail), cell(1, lambda: {"accuracy": 0.5})]
    planned = plan_of(lab, results, *cells)
    run([planned], results, console)
    assert planned.table == [{"k": 1, "accuracy": 0.5}]
    assert [reason for _, reason in planned.failed] == ["failed: the matrix needs 9 TB"]
    assert "failed: the matrix needs 9 TB" in console.file.getvalue()
    assert results.get("some", cells[0]) is None  # tried again the next time


def test_cell_finished_by_another_process_is_not_run_again(lab, tmp_path):
    results = results_in(tmp_path)
    planned = plan_of(lab, results, cell(0, never))
    results.keep("some", cell(0), {"k": 0, "accuracy": 0.25}, Spent())
    run([planned], results, Console(file=io.StringIO()))
    assert planned.table == [{"k": 0, "accuracy": 0.25}]


def test_cells_that_do_not_converge_print_no_warnings(lab, tmp_path):
    def warn() -> dict:
        warnings.warn("the solver stopped", ConvergenceWarning, stacklevel=1)
        return {"accuracy": 0.5}

    planned = plan_of(lab, results_in(tmp_path), cell(0, warn))
    run([planned], results_in(tmp_path), Console(file=io.StringIO()))
    assert planned.table == [{"k": 0, "accuracy": 0.5}]


def test_plan_learns_from_the_time_that_cells_took(lab, tmp_path):
    results = results_in(tmp_path)
    cells = [cell(k, seconds=10.0) for k in range(3)]
    results.keep("some", cells[0], {"k": 0}, Spent(200.0, 100.0, 10**9))
    results.keep("some", cells[1], {"k": 1}, Spent(40.0, 290.0, 10**6))
    planned = plan_of(lab, results, *cells)
    assert planned.spent == (240.0, 390.0, 10**9)
    assert planned.seconds == pytest.approx(15.0)  # 450 for 300: a minute counts as planned
    other = Planned(planned.experiment, [cell(0, seconds=100.0)])
    assert seconds_left([planned, other]) == pytest.approx(15.0 + 150.0)  # nothing is known of the other
    other.finish(0, {"k": 0}, Spent(940.0, 40.0))
    other.cells.append(cell(1, seconds=100.0))
    assert seconds_left([planned, other]) == pytest.approx(15.0 + 10.0)  # now it has a pace of its own


# --- estimates -----------------------------------------------------------------------------------------------------


def test_similarities_are_planned_once_and_not_if_they_are_kept(make_lab, tmp_path):
    lab = make_lab(tmp_path)
    costs, basis = Costs(lab), lab.index_basis(2, QUICK.steps)
    width = sum(map(len, basis))
    lab.similarities("H8R", lab.test_rows, basis[0])  # kept already
    first, again = (costs.fit(["H8R", "H8L"], 1, basis) for _ in range(2))
    assert costs.planned_bytes == 4 * 150 * (4 * width - len(basis[0]))  # two measures, two folds
    assert first > again == costs.fixed(0.2) + costs.train(150, 2 * width)


def test_plan_of_what_is_finished_takes_no_disk(make_lab, tmp_path):
    """The similarities of finished cells may have left the cache: they are not computed again."""
    lab, results, output = make_lab(tmp_path / "cache"), results_in(tmp_path), io.StringIO()
    costs = Costs(lab)
    costs.fit(["H8R"], 1, lab.index_basis(2, QUICK.steps))
    show_plan(Console(file=output), [plan_of(lab, results, cell(0))], lab, costs)
    assert "about 0 bytes more" not in output.getvalue()
    results.keep("some", cell(0), {"k": 0}, Spent())
    show_plan(Console(file=output), [plan_of(lab, results, cell(0))], lab, costs)
    assert "about 0 bytes more" in output.getvalue()


def test_estimates_grow_with_the_data(make_lab, lab, tmp_path):
    twice = make_lab(
        tmp_path, images=np.repeat(lab.images, 2, 0), labels=np.repeat(lab.labels, 2), fold=np.repeat(lab.fold, 2)
    )
    for experiment in experiments():
        small, large = ([*experiment.cells(QUICK, one, Costs(one))] for one in (lab, twice))
        if experiment.name not in ("toy", "sparsity"):  # which see no images
            assert sum(cell.seconds for cell in large) > 1.5 * sum(cell.seconds for cell in small), experiment.name
            assert sum(cell.memory for cell in large) > sum(cell.memory for cell in small), experiment.name


def test_experiments_by_name():
    assert [experiment.name for experiment in experiments()] == list(MODULES)
    assert [experiment.name for experiment in experiments(["toy", "eigs"])] == ["eigs", "toy"]
    with pytest.raises(ValueError, match="there is no experiment 'table 1'; choose from baselines, full"):
        experiments(["table 1"])
