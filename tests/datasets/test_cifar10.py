"""CIFAR-10 from small files in its format, fetched from a server of our own."""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from besvm._support import extras
from besvm.datasets import cifar10, fetch_cifar10, load_cifar10, load_images

OFFICIAL_FOLDER = cifar10._cifar_folder(None)
N_RECORDS = 7


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """The bytes of six small files in the format of CIFAR-10."""
    random = np.random.default_rng(0)
    records = random.integers(0, 256, (6, N_RECORDS, 3073), dtype=np.uint8)
    records[:, :, 0] %= 10
    return {name: records[k].tobytes() for k, name in enumerate(cifar10.FOLD_FILES)}


@pytest.fixture
def folder(tmp_path: Path, contents: dict[str, bytes]) -> Path:
    inner = tmp_path / "around" / cifar10.FOLDER_NAME
    inner.mkdir(parents=True)
    for name, content in contents.items():
        (inner / name).write_bytes(content)
    (inner / cifar10.NAMES_FILE).write_text("\n".join(cifar10.CLASS_NAMES) + "\n\n")
    return inner


def test_records_become_images_labels_and_folds(folder: Path, contents: dict[str, bytes]) -> None:
    images, labels, fold = load_cifar10(folder, verify=False)
    assert (images.shape, images.dtype) == ((42, 32, 32, 3), np.uint8)
    np.testing.assert_array_equal(fold, np.repeat(range(6), N_RECORDS))
    for k, content in enumerate(contents.values()):
        for i in (0, N_RECORDS - 1):
            record = content[i * 3073 : (i + 1) * 3073]
            assert labels[k * N_RECORDS + i] == record[0]
            image = images[k * N_RECORDS + i]
            for row, column, color in [(0, 0, 0), (3, 5, 1), (31, 30, 2)]:
                assert image[row, column, color] == record[1 + color * 1024 + row * 32 + column]


def test_class_names_survive_a_pickle(folder: Path) -> None:
    (folder / cifar10.NAMES_FILE).write_text("\n".join("abcdefghij"))
    data = load_cifar10(folder, verify=False)
    assert data.class_names == tuple("abcdefghij")
    assert pickle.loads(pickle.dumps(data)).class_names == data.class_names
    (folder / cifar10.NAMES_FILE).unlink()
    assert load_cifar10(folder, verify=False).class_names[3] == "cat"


def test_the_folder_around_will_do_and_so_will_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_cifar10(folder, verify=False).labels
    np.testing.assert_array_equal(load_cifar10(str(folder.parent), verify=False).labels, expected)
    monkeypatch.setenv("BESVM_DATA", str(folder.parent))
    np.testing.assert_array_equal(load_cifar10(verify=False).labels, expected)
    monkeypatch.delenv("BESVM_DATA")
    monkeypatch.setenv("HOME", str(folder))
    assert cifar10._cifar_folder(None) == folder / ".cache" / "besvm" / cifar10.FOLDER_NAME


def test_altered_files_are_refused_with_their_checksum(
    folder: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cifar10, "OFFICIAL", sums_of(b"", contents))
    load_cifar10(folder)
    path, content = folder / "data_batch_3.bin", contents["data_batch_3.bin"]
    for altered in (content[:-100], content[:-1] + bytes([content[-1] ^ 1]), b""):
        path.write_bytes(altered)
        with pytest.raises(ValueError, match="damaged") as error:
            load_cifar10(folder)
        for part in (str(path), md5(content), md5(altered), "fetch_cifar10()"):
            assert part in str(error.value)


def test_small_files_are_not_the_official_ones(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"data_batch_1\.bin.*5dd7e06a14cb22eb9f671a540d1b7c25"):
        load_cifar10(folder)


def test_half_a_record_is_refused_even_unverified(folder: Path) -> None:
    path = folder / "test_batch.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="records of 3073 bytes"):
        load_cifar10(folder, verify=False)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "data_batch_5.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"data_batch_5\.bin.*fetch_cifar10"):
        load_cifar10(folder, verify=False)


@pytest.mark.skipif(not OFFICIAL_FOLDER.is_dir(), reason="CIFAR-10 is not here; besvm.datasets.fetch_cifar10()")
def test_the_official_files() -> None:
    data = load_cifar10()
    assert data.images.shape == (60000, 32, 32, 3)
    np.testing.assert_array_equal(np.bincount(data.fold), [10000] * 6)
    np.testing.assert_array_equal(np.bincount(data.labels), [6000] * 10)
    assert [data.class_names[label] for label in data.labels[:3]] == ["frog", "truck", "truck"]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address under which it is served."""
    served = tmp_path / "served"
    served.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(served))) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield served, f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def make_archive(contents: dict[str, bytes], *, extra: tuple[str, ...] = ()) -> bytes:
    buffer = io.BytesIO()
    members = {f"{cifar10.FOLDER_NAME}/{name}": content for name, content in contents.items()}
    members[f"{cifar10.FOLDER_NAME}/{cifar10.NAMES_FILE}"] = "\n".join("abcdefghij").encode()
    members |= dict.fromkeys(extra, b"unwanted")
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def sums_of(archive: bytes, contents: dict[str, bytes]) -> cifar10.Checksums:
    return cifar10.Checksums(md5(archive), {name: md5(content) for name, content in contents.items()})


def test_fetch_downloads_once(
    server: tuple[Path, str], tmp_path: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, address = server
    archive = make_archive(contents, extra=("../escaped", f"{cifar10.FOLDER_NAME}/readme.html"))
    (served / "a.tar.gz").write_bytes(archive)
    monkeypatch.setattr(cifar10, "OFFICIAL", sums_of(archive, contents))
    cache = tmp_path / "new" / "cache"
    data = fetch_cifar10(cache, f"{address}/a.tar.gz")
    assert data.images.shape == (42, 32, 32, 3)
    assert data.class_names == tuple("abcdefghij")
    assert [path.name for path in cache.iterdir()] == [cifar10.FOLDER_NAME]
    assert {path.name for path in (cache / cifar10.FOLDER_NAME).iterdir()} == {*contents, cifar10.NAMES_FILE}
    assert not list(tmp_path.rglob("escaped"))
    (served / "a.tar.gz").unlink()
    fetch_cifar10(cache, f"{address}/a.tar.gz")


def test_fetch_replaces_a_damaged_file(
    server: tuple[Path, str], folder: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, address = server
    archive = make_archive(contents)
    (served / "a.tar.gz").write_bytes(archive)
    (folder / "data_batch_2.bin").write_bytes(b"half")
    monkeypatch.setattr(cifar10, "OFFICIAL", sums_of(archive, contents))
    fetch_cifar10(folder.parent, f"{address}/a.tar.gz")
    assert (folder / "data_batch_2.bin").read_bytes() == contents["data_batch_2.bin"]
    assert [path.name for path in folder.parent.iterdir()] == [cifar10.FOLDER_NAME]


def test_fetch_leaves_all_other_files_as_they_are(
    server: tuple[Path, str], folder: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, address = server
    archive = make_archive(contents)
    (served / "a.tar.gz").write_bytes(archive)
    monkeypatch.setattr(cifar10, "OFFICIAL", sums_of(archive, contents))
    (folder / "data_batch_2.bin").write_bytes(b"half")
    (folder / "test_batch.bin").unlink()
    (folder / cifar10.NAMES_FILE).write_text("my own names")
    (folder / "notes").mkdir()
    mine = [folder / "notes.txt", folder / "notes" / "more.part", folder.parent / "thesis.tex"]
    for path in mine:
        path.write_text("years of work")
    fetch_cifar10(folder.parent, f"{address}/a.tar.gz")
    assert all(path.read_text() == "years of work" for path in mine)
    assert (folder / cifar10.NAMES_FILE).read_text() == "my own names"
    assert {name: (folder / name).read_bytes() for name in contents} == contents
    assert {path.name for path in folder.parent.iterdir()} == {cifar10.FOLDER_NAME, "thesis.tex"}


def test_an_empty_text_or_a_file_is_no_folder_for_data(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got an empty string"):
        fetch_cifar10("")
    (tmp_path / cifar10.FOLDER_NAME).touch()
    with pytest.raises(ValueError, match="which is a file"):
        fetch_cifar10(tmp_path)


@pytest.mark.parametrize("fault", ["corrupted", "truncated", "missing", "wrong file", "file left out"])
def test_a_failed_fetch_leaves_nothing(
    fault: str,
    server: tuple[Path, str],
    tmp_path: Path,
    contents: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served, address = server
    whole = make_archive(contents)
    archive = {
        "corrupted": whole[:500] + b"?" + whole[501:],
        "truncated": whole[:-1000],
        "wrong file": make_archive(contents | {"data_batch_4.bin": b"other"}),
        "file left out": make_archive({"test_batch.bin": contents["test_batch.bin"]}),
    }.get(fault)
    if archive is not None:
        (served / "a.tar.gz").write_bytes(archive)
    expected = archive if archive and fault in ("wrong file", "file left out") else whole
    message = {
        "corrupted": f"(?s)a.tar.gz must be.*{md5(whole)}.*{md5(archive or b'')}",
        "truncated": f"(?s)a.tar.gz must be.*{md5(whole)}.*{md5(archive or b'')}",
        "missing": "a.tar.gz cannot be downloaded.*404",
        "wrong file": f"data_batch_4.bin is damaged.*{md5(b'other')}",
        "file left out": "archive must contain cifar-10-batches-bin/data_batch_1.bin",
    }[fault]
    monkeypatch.setattr(cifar10, "OFFICIAL", sums_of(expected, contents))
    with pytest.raises((ValueError, OSError), match=message):
        fetch_cifar10(tmp_path / "cache", f"{address}/a.tar.gz")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("module", extras.EXTRA_OF)
def test_a_missing_dependency_names_its_extra(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", refuse)
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.png").touch()
    with pytest.raises(ImportError, match="needs PIL; install besvm with the extra 'data'"):
        load_images(tmp_path)
    with pytest.raises(ImportError, match="needs pooch; install besvm with the extra 'data'"):
        fetch_cifar10(tmp_path)
    with pytest.raises(ImportError, match=f"install besvm with the extra {extras.EXTRA_OF[module]!r}"):
        extras.optional(module, "this")
