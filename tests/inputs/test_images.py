"""Folders of images, with classes and without, single files, and CIFAR-10's own files."""

import numpy as np
import pytest
from PIL import Image

from besvm.inputs import read, stream


@pytest.fixture
def folder(tmp_path, rng):
    for k, name in enumerate(["cats", "dogs"]):
        for i in range(3):
            path = tmp_path / "pets" / name / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(k * 100, 100 + k * 100, (20, 24, 3), dtype=np.uint8)).save(path)
    return tmp_path / "pets"


def test_a_folder_for_each_class(folder):
    data = read(folder)
    assert (data.kind, data.X.shape, data.X.dtype, data.size) == ("images", (6, 20, 24, 3), np.uint8, (20, 24))
    assert data.y.tolist() == ["cats"] * 3 + ["dogs"] * 3
    assert data.names[:2] == ["cats/0.png", "cats/1.png"]
    assert data.said == "pets: 6 images in 2 classes (cats, dogs), of 20 x 24 pixels"
    np.testing.assert_array_equal(np.concatenate([block.X for block in stream(folder, rows=4)]), data.X)
    assert read(folder, size=8).X.shape == (6, 8, 8, 3)


def test_unlike_or_large_images_become_small(folder):
    Image.new("L", (100, 50)).save(folder / "cats" / "large.jpg")
    (folder / "cats" / "Thumbs.db").write_bytes(b"x")
    (folder / ".hidden").mkdir()
    data = read(folder)
    assert data.X.shape == (7, 32, 32, 3)
    assert (
        data.said
        == "pets: 7 images in 2 classes (cats, dogs), made 32 x 32 pixels; 1 file that is not an image left out"
    )


def test_images_without_classes(folder):
    data = read(folder / "cats")
    assert (data.y, data.names) == (None, ["0.png", "1.png", "2.png"])
    one = read(folder / "cats" / "1.png")
    assert (one.names, len(one)) == (["1.png"], 1)
    np.testing.assert_array_equal(one.X[0], data.X[1])


def test_what_cannot_be_read_is_named_or_left_out(folder, capsys):
    (folder / "cats" / "1.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"1 file in pets cannot be read as images: .*cats/1.png: must be an image"):
        read(folder)
    data = read(folder, skip_unreadable=True)
    assert data.names[:2] == ["cats/0.png", "cats/2.png"]
    assert "skipped: " in capsys.readouterr().err
    for path in folder.rglob("*.png"):
        path.write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"pets must have samples that can be read, got none"):
        read(folder, skip_unreadable=True)


def test_folders_that_hold_no_classes(folder):
    (folder / "birds").mkdir()
    with pytest.raises(
        ValueError, match=r"every class in pets must have at least one image, got none in birds; add images or remove"
    ):
        read(folder)
    with pytest.raises(ValueError, match=r"birds must have images, or one folder of images per class, got neither"):
        read(folder / "birds")
    (folder / "birds").rmdir()
    with pytest.raises(ValueError, match=r"pets must hold text, but is a folder of images"):
        read(folder, kind="text")


@pytest.fixture
def cifar(tmp_path, rng):
    folder = tmp_path / "cifar"
    folder.mkdir()
    records = rng.integers(0, 256, (3, 5, 3073), dtype=np.uint8)
    records[:, :, 0] %= 10
    for name, part in zip(["data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"], records, strict=True):
        (folder / name).write_bytes(part.tobytes())
    return folder, records


def test_cifar10(cifar):
    folder, records = cifar
    data = read(folder)
    assert data.said == "cifar: 10 images in CIFAR-10's format (test_batch.bin is left to be tested on)"
    planes = records[:2, :, 1:].reshape(10, 3, 32, 32)
    np.testing.assert_array_equal(data.X, planes.transpose(0, 2, 3, 1))
    test = read(folder / "test_batch.bin")
    assert (len(test), test.names[0]) == (5, "test_batch:0")
    (folder / "batches.meta.txt").write_text(" ".join("abcdefghij"))
    assert read(folder / "test_batch.bin").y.tolist() == ["abcdefghij"[k] for k in records[2, :, 0]]
    assert [len(block) for block in stream(folder, rows=3)] == [3, 2, 3, 2]
    (folder / "test_batch.bin").write_bytes(bytes([77]) + bytes(3072))
    with pytest.raises(ValueError, match=r"record 0 of test_batch.bin must have a class from 0 to 9, got 77"):
        read(folder / "test_batch.bin")
    (folder / "test_batch.bin").write_bytes(bytes(3000))
    with pytest.raises(
        ValueError, match=r"test_batch.bin must hold records of 3073 bytes, as CIFAR-10's files do, got"
    ):
        read(folder / "test_batch.bin")


@pytest.mark.parametrize("size", [0, -1, 5000, "8", (8, 8, 3), 2.5])
def test_sizes_that_are_none(folder, size):
    with pytest.raises(ValueError, match=r"size must be a number of pixels up to 4,096, or "):
        read(folder, size=size)


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_images_that_are_skipped_have_a_line_of_classes_too(folder, tmp_path, rows):
    flat, labels = folder / "cats", tmp_path / "labels.txt"
    (flat / "1.png").write_bytes(b"no image")
    labels.write_text("a\nb\nc\n\n\n")
    data = list(stream(flat, labels=labels, skip_unreadable=True, rows=rows))
    assert [(name, own) for block in data for name, own in zip(block.names, block.y, strict=True)] == [
        ("0.png", "a"),
        ("2.png", "c"),
    ]
    labels.write_text("a\nb\n\nc\n")
    with pytest.raises(ValueError, match=r"one class for each of the 3 samples \(1 of which skipped\), got more"):
        read(flat, labels=labels, skip_unreadable=True)
    labels.write_text("a\n\n")
    with pytest.raises(ValueError, match=r"labels.txt must have a class for every sample, got only 1 classes"):
        read(flat, labels=labels, skip_unreadable=True)


def test_an_empty_line_among_the_classes_is_a_class_that_is_missing(folder, tmp_path):
    (tmp_path / "labels.txt").write_text("a\n\nc\n\n")
    assert read(folder / "cats", labels=tmp_path / "labels.txt").y.tolist() == ["a", "", "c"]
