"""Similarities that workers compute: kept as they are finished, computed once, and counted."""

import sys
import time
from itertools import cycle
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import numpy as np
import pytest

from besvm._support.progress import Progress
from besvm.blocks import fill_cluster
from besvm.blocks.checkpoint import MARK, Checkpoint
from besvm.blocks.fill_cluster import filled_on

X = np.arange(190, dtype=np.float32).reshape(95, 2)


class Watched:
    """Similarities that leave a file for every piece that was computed."""

    width, dtype = 3, np.dtype(np.float32)

    def __init__(self, folder, seconds=0.0):
        self.folder, self.seconds = folder, seconds

    def rows_each(self, samples):
        return 10

    def __call__(self, samples, first_row):
        time.sleep(self.seconds)
        (self.folder / str(first_row)).touch()
        return np.repeat(samples[:, :1], 3, axis=1)


@pytest.fixture
def computed(tmp_path):
    (tmp_path / "computed").mkdir()
    return tmp_path / "computed"


@pytest.fixture
def checkpoint(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / MARK).touch()
    return Checkpoint(tmp_path / "kept", "key")


def taken(folder):
    """Return where the pieces begin that were computed since this was last asked."""
    found = sorted(int(path.name) for path in folder.iterdir())
    for path in folder.iterdir():
        path.unlink()
    return found


def whole(blocks):
    return np.concatenate(list(blocks.map(lambda rows, block: block)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_what_is_finished_is_not_computed_again(client, computed, checkpoint, monkeypatch, threads):
    """Not even where there are more workers, or fewer, than the first time."""
    expected = np.repeat(X[:, :1], 3, axis=1)
    np.testing.assert_array_equal(whole(filled_on(client, Watched(computed), X, checkpoint=checkpoint)), expected)
    assert taken(computed) == list(range(0, 95, 10))
    monkeypatch.setattr(client, "nthreads", lambda: {"a worker": threads})
    np.testing.assert_array_equal(whole(filled_on(client, Watched(computed), X, checkpoint=checkpoint)), expected)
    assert taken(computed) == []


def test_only_what_is_broken_is_computed_again(client, computed, checkpoint):
    filled_on(client, Watched(computed), X, checkpoint=checkpoint)
    taken(computed)
    broken = checkpoint.path("rows-000000000040")
    broken.write_bytes(broken.read_bytes()[:-9])
    found = whole(filled_on(client, Watched(computed), X, checkpoint=checkpoint))
    assert taken(computed) == [40]
    np.testing.assert_array_equal(found[:, 2], X[:, 0])


def test_few_rows_are_shared_out_all_the_same(client, computed, checkpoint):
    """Pieces are no larger than what every worker gets, so that all of them have something to do."""
    blocks = filled_on(client, Watched(computed), X[:12], checkpoint=checkpoint)
    assert [rows.stop - rows.start for rows in blocks.rows] == [6, 6]


def test_a_folder_that_the_workers_do_not_see_is_left_alone(client, computed, tmp_path, capsys):
    blocks = filled_on(client, Watched(computed), X, verbose=1, checkpoint=Checkpoint(tmp_path / "elsewhere", "key"))
    np.testing.assert_array_equal(whole(blocks)[:, 0], X[:, 0])
    assert "not all workers see the checkpoint" in capsys.readouterr().err
    assert not Path(tmp_path / "elsewhere").exists()


def test_progress_within_a_block(client, computed, monkeypatch):
    """There are as many blocks as workers, and they end together: of blocks alone nothing would be seen till then."""
    seen = []

    class Seen(Progress):
        def advance(self, n):
            super().advance(n)
            seen.append(self.done)

    monkeypatch.setattr("besvm._support.progress.Progress", Seen)
    filled_on(client, Watched(computed, seconds=0.4), X)
    assert seen == sorted(seen)
    assert 0 < seen[0] < 48
    assert seen[-1] == 95


def test_a_piece_may_end_while_a_block_is_counted():
    """A thread of the client hears of pieces."""
    told, done = fill_cluster._Told(Progress("counting", 2000, 0)), Event()

    def hear():
        for first in cycle(range(2000)):
            if done.is_set():
                break
            told.piece_done((0.0, (first, 1)))

    client = Thread(target=hear)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    client.start()
    end = perf_counter() + 0.3
    try:
        for first in cycle(range(0, 2000, 100)):
            told.block_done(slice(first, first + 100))
            if perf_counter() > end:
                break
    finally:
        done.set()
        client.join()
        sys.setswitchinterval(interval)


def test_what_is_computed_twice_counts_once():
    bar = Progress("counting", 30, 0)
    told = fill_cluster._Told(bar)
    for first, n in [(0, 5), (0, 5), (10, 10)]:
        told.piece_done((0.0, (first, n)))
    assert bar.done == 15
    told.block_done(slice(0, 10))
    assert bar.done == 20
    told.block_done(slice(10, 30))
    assert bar.done == 30
