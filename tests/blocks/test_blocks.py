import errno
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from besvm._support.memory import available_memory
from besvm._support.threads import workers
from besvm._support.units import parse_bytes, show_bytes
from besvm.blocks import DiskBlocks, MemoryBlocks
from besvm.blocks.fill import by_blocks
from besvm.blocks.npy import NpyMatrix, check_seal
from besvm.blocks.stores import Buffers, SparseBlocks, rows_for
from stores import STORES, make
from variants import first_fast


@pytest.fixture
def small_blocks(monkeypatch):
    for name in ("CACHE_BYTES", "COARSE_BYTES", "DISK_BYTES"):
        monkeypatch.setattr(f"besvm.blocks.stores.{name}", 1 << 12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("store", [*STORES, "joined"])
def test_every_store_gives_the_same_blocks_in_row_order(store, n_jobs, rng, tmp_path):
    matrix = rng.normal(size=(503, 7)).astype(np.float32)
    with workers(n_jobs), make(store, matrix, tmp_path) as blocks:
        seen = list(blocks.map(lambda rows, block: (rows.start, rows.stop, block @ np.ones(7, np.float32))))
        assert len(seen) > 3
        assert [start for start, *_ in seen] == [0, *[stop for _, stop, _ in seen][:-1]]
        np.testing.assert_allclose(
            np.concatenate([part for *_, part in seen]), matrix.sum(axis=1), rtol=1e-4, atol=1e-5
        )
        total, count = blocks.sum(lambda rows, block: (block.sum(axis=0), block.shape[0]))
        np.testing.assert_allclose(np.ravel(total), matrix.sum(axis=0), rtol=1e-4, atol=1e-4)
        assert count == 503


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("store", ["memory", "disk", "recompute", "joined"])
def test_update_changes_every_block_once(store, n_jobs, rng, tmp_path):
    matrix = rng.normal(size=(303, 5))
    with workers(n_jobs), make(store, matrix, tmp_path) as blocks:
        blocks.update(lambda rows, block: block * 2)
        blocks.update(lambda rows, block: np.add(block, 1, out=np.asarray(block)))
        for _ in range(2):
            got = np.concatenate(list(blocks.map(lambda rows, block: block.copy())))
            np.testing.assert_allclose(got, matrix * 2 + 1)


def test_the_file_is_closed_after_closing_and_after_forgetting(tmp_path):
    with DiskBlocks((10, 3), folder=tmp_path) as blocks:
        closed = blocks.matrix._file
    assert closed.closed
    forgotten = DiskBlocks((10, 3), folder=tmp_path)
    file = forgotten.matrix._file
    del forgotten
    assert file.closed
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("signal", first_fast([signal.SIGKILL, signal.SIGTERM]))
def test_a_killed_process_leaves_nothing_on_disk(tmp_path, signal):
    code = """
        import sys, tempfile
        import numpy as np
        from besvm import BESVMClassifier
        from besvm.selection import GreedySelection
        tempfile.tempdir = sys.argv[1]
        def slow(exemplar, sample):
            if len(calls) == 2_000:
                print("at work", flush=True)
                input()
            calls.append(1)
            return float(exemplar @ sample)
        calls = []
        X = np.random.default_rng(0).normal(size=(400, 3))
        estimators = {
            "fit": BESVMClassifier(slow, basis=20, storage="disk", n_jobs=1),
            "selection": GreedySelection([slow, "rbf"], basis=20, memory_limit="9 MB", n_jobs=1, random_state=0),
        }
        estimators[sys.argv[2]].fit(X, np.arange(400) % 2)
    """
    for what in ("fit", "selection"):
        arguments = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), what]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"at work\n"
            process.send_signal(signal)
        assert os.listdir(tmp_path) == []


def test_threads_write_to_one_nameless_file_without_meeting(tmp_path, rng):
    values = rng.normal(size=(2000, 50))
    blocks = NpyMatrix.temporary(tmp_path, values.shape, values.dtype)

    def write(start):
        rows = slice(start, start + 10)
        blocks[rows] = values[rows]
        return np.array_equal(blocks[rows], values[rows])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(0, 2000, 10)))
    np.testing.assert_array_equal(blocks[slice(0, 2000)], values)
    blocks.close()


@pytest.mark.parametrize("place", [3, 40, 128 + 7, -40, -1])
def test_a_sealed_matrix_in_which_a_bit_was_flipped_is_refused(tmp_path, place, rng):
    path = tmp_path / "a.npy"
    matrix = NpyMatrix.create(path, (50, 3), np.float32)
    matrix[slice(0, 50)] = rng.normal(size=(50, 3))
    matrix.seal()
    check_seal(path)
    assert NpyMatrix(path, sealed=True).shape == (50, 3)
    assert np.load(path).shape == (50, 3)  # still a file that anyone can read
    content = bytearray(path.read_bytes())
    content[place] ^= 0x80
    path.write_bytes(content)
    with pytest.raises(ValueError, match="its checksum does not match"):
        check_seal(path)


def test_a_full_disk_says_how_much_was_wanted_and_leaves_nothing(tmp_path):
    """The kernel's limit on a file's size stands in for the end of the disk: the same write fails the same way."""
    code = """
        import resource, signal, sys
        from besvm.blocks import DiskBlocks
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            DiskBlocks((100_000, 100), folder=sys.argv[1])
        except OSError as error:
            print(error.errno, error.strerror)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], capture_output=True, text=True, check=True
    )
    number, sentence = done.stdout.split(" ", 1)
    assert int(number) in (errno.EFBIG, errno.ENOSPC)
    assert "the features need 40 MB of disk" in sentence
    assert "storage='recompute'" in sentence
    assert os.listdir(tmp_path) == []


def test_a_matrix_in_a_file_takes_its_space_at_once_and_is_an_npy_file(tmp_path, rng, monkeypatch):
    values = rng.normal(size=(50, 3))
    for reserved in (True, False):  # with and without the system's help
        if not reserved:
            monkeypatch.delattr(os, "posix_fallocate", raising=False)
        path = tmp_path / f"{reserved}.npy"
        matrix = NpyMatrix.create(path, (50, 3), np.float64)
        assert os.stat(path).st_blocks * 512 >= 50 * 3 * 8
        assert not np.load(path).any()
        for rows in (slice(20, 50), slice(0, 20)):
            matrix[rows] = values[rows]
        np.testing.assert_array_equal(np.load(path), values)
        np.testing.assert_array_equal(NpyMatrix(path)[slice(7, 31)], values[7:31])
    with pytest.raises(ValueError, match="cannot hold a block"):
        matrix[slice(0, 5)] = values[:4]


@pytest.mark.parametrize(
    "wrong", [np.ones(3), np.ones((3, 3), dtype=int), np.asfortranarray(np.ones((3, 2))), np.array([[None]])]
)
def test_a_file_that_is_no_such_matrix_is_refused(tmp_path, wrong):
    np.save(tmp_path / "a.npy", wrong)
    with pytest.raises(ValueError, match="must hold a matrix of floating-point numbers"):
        NpyMatrix(tmp_path / "a.npy")


def test_an_error_in_a_block_comes_through_and_stops_the_rest(rng):
    blocks = MemoryBlocks(rng.normal(size=(100_000, 50)))
    calls = []

    def fail(rows, block):
        calls.append(rows)
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        blocks.sum(fail)
    assert len(calls) < 10


def test_bytes_as_people_write_them():
    assert parse_bytes("2GB") == 2 * 10**9
    assert parse_bytes("2 GiB") == 2 * 2**30
    assert parse_bytes(5e8) == 500_000_000
    assert (show_bytes(12), show_bytes(160e6), show_bytes(2.35e9)) == ("12 bytes", "160 MB", "2.4 GB")
    for wrong in ("lots", -1, 0, "5 XB"):
        with pytest.raises(ValueError, match="memory_limit must be"):
            parse_bytes(wrong)
    assert 0 < available_memory() < 2**62


def test_blocks_of_rows_are_multiples_of_16():
    assert (rows_for(1 << 20, 100, 4), rows_for(1, 100, 4)) == (2608, 16)


def test_something_is_computed_for_every_row_some_at_a_time():
    firsts = []
    out = by_blocks([3, 1, 2], lambda some, first: firsts.append(first) or np.square(some), np.empty(3), 2, "squaring")
    assert out.tolist() == [9, 1, 4]
    assert firsts == [0, 2]


def test_sparse_blocks_are_views_that_nobody_replaces(rng):
    X = csr_matrix(rng.random((3000, 1000)) * (rng.random((3000, 1000)) < 0.3))
    blocks = SparseBlocks(X)
    assert len(list(blocks.map(lambda rows, block: rows))) > 2  # SciPy copies parts of less than half
    (total,) = blocks.sum(lambda rows, block: (block.T @ np.ones(block.shape[0]),))
    np.testing.assert_allclose(total, X.toarray().sum(axis=0))
    for name in ("data", "indices"):
        for seen in (lambda block: block, lambda block: block.T):
            views = blocks.map(lambda rows, block, seen=seen, name=name: getattr(seen(block), name))
            assert all(np.shares_memory(view, getattr(X, name)) for view in views)
    with pytest.raises(TypeError, match="sparse features cannot be changed"):
        blocks.update(lambda rows, block: block)


def test_room_is_used_again_only_when_nobody_holds_a_part_of_it():
    buffers = Buffers(800)
    first = buffers.array((10, 10), np.dtype(np.float64))
    first[:] = 1
    place = first.__array_interface__["data"][0]
    part = first[3:5].T[:, 1:]
    del first
    second = buffers.array((10, 10), np.dtype(np.float64))
    second[:] = 2
    assert (part == 1).all()
    del part
    third = buffers.array((5, 10), np.dtype(np.float64))
    assert third.shape == (5, 10)
    assert third.__array_interface__["data"][0] == place
    assert (second == 2).all()
    assert buffers.array((0, 10), np.dtype(np.float64)).shape == (0, 10)
