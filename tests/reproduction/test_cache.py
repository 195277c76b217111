"""Matrices that are kept on disk."""

import os
from pathlib import Path

import numpy as np
import pytest

from besvm.blocks.npy import NpyMatrix
from besvm.reproduction.cache import MatrixCache


def ones() -> np.ndarray:
    return np.ones((10, 10), dtype=np.float32)


def never() -> np.ndarray:
    raise AssertionError("computed although it is in the cache")


def test_matrix_is_computed_once_for_each_recipe(tmp_path):
    cache = MatrixCache(tmp_path, 10_000)
    first = cache.get({"a": 1}, (10, 10), ones)
    assert np.array_equal(cache.get({"a": 1}, (10, 10), never), first)
    assert np.array_equal(MatrixCache(tmp_path, 10_000).get({"a": 1}, (10, 10), never), first)
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


@pytest.mark.parametrize("damage", [b"", b"not a matrix", b"\x93NUMPY", "another shape", "pickled code"])
def test_damaged_matrix_is_computed_again(tmp_path, damage):
    cache = MatrixCache(tmp_path, 10_000)
    path = cache.path({"a": 1})
    if damage == "another shape":
        np.save(path, np.zeros((3, 3), dtype=np.float32))
    elif damage == "pickled code":
        np.save(path, np.array([print], dtype=object), allow_pickle=True)
    else:
        path.write_bytes(damage)
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert cache.get({"a": 1}, (10, 10), never).sum() == 100


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("pattern", [b"\x00\x00\x80\xbf", b"\x00\x00\xc0\x7f"], ids=["other sign", "nan"])
def test_a_matrix_in_which_bits_were_flipped_is_computed_again(tmp_path, pattern, restarted):
    cache = MatrixCache(tmp_path, 10_000)
    cache.get({"a": 1}, (10, 10), ones)
    cache.get({"a": 1}, (10, 10), never)
    with open(cache.path({"a": 1}), "r+b") as file:
        file.seek(200)
        file.write(pattern)
    if restarted:
        cache = MatrixCache(tmp_path, 10_000)
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert cache.get({"a": 1}, (10, 10), never).sum() == 100


def test_matrices_below_the_folder_count_too(tmp_path):
    cache = MatrixCache(tmp_path, 2 * 600)
    old = tmp_path / "greedy" / f"rbf-{'a' * 20}.npy"
    old.parent.mkdir()
    np.save(old, ones())
    os.utime(old, (1, 1))
    assert cache.n_bytes >= 400
    for name in "ab":
        cache.get({"name": name}, (10, 10), ones)
    assert cache.n_bytes <= cache.limit
    assert not old.exists()


def test_matrices_of_others_are_neither_counted_nor_removed(tmp_path):
    cache = MatrixCache(tmp_path, 600)
    mine = [tmp_path / "mine.npy", tmp_path / "thesis" / "features-2.npy"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        np.save(path, ones())
        os.utime(path, (1, 1))
    assert cache.n_bytes == 0
    for name in "ab":
        cache.get({"name": name}, (10, 10), ones)
    assert all(path.exists() for path in mine)


def test_matrix_removed_by_another_process_does_no_harm(tmp_path, monkeypatch):
    cache = MatrixCache(tmp_path, 10_000)
    monkeypatch.setattr(Path, "rglob", lambda *args: [tmp_path / f"{'0' * 32}.npy"])
    assert cache.n_bytes == 0
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100


def test_full_disk_is_reported(tmp_path, monkeypatch, capsys):
    cache = MatrixCache(tmp_path, 10_000, verbose=1)
    monkeypatch.setattr(NpyMatrix, "create", lambda *args: (_ for _ in ()).throw(OSError(28, "No space left")))
    assert cache.get({"a": 1}, (10, 10), ones).sum() == 100
    assert "are not kept" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
