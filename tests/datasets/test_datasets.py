"""CIFAR-10 from small files in its format, folders of images, and the toy problem. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
import tarfile
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.svm import SVC

from besvm._support import extras
from besvm._support.threads import workers
from besvm.datasets import cifar10, fetch_cifar10, images, load_cifar10, load_images, make_toy

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
    with pytest.raises(ValueError, match="got an empty text"):
        fetch_cifar10("")
    (tmp_path / cifar10.FOLDER_NAME).touch()
    with pytest.raises(ValueError, match="where a file is"):
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
        "file left out": "archive must hold cifar-10-batches-bin/data_batch_1.bin",
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
    with pytest.raises(ImportError, match=r"needs PIL; install besvm\[data\]"):
        load_images(tmp_path)
    with pytest.raises(ImportError, match=r"needs pooch; install besvm\[data\]"):
        fetch_cifar10(tmp_path)
    with pytest.raises(ImportError, match=rf"install besvm\[{extras.EXTRA_OF[module]}\]"):
        extras.optional(module, "this")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Two classes, four images of different sizes and modes, and a hidden file."""
    random = np.random.default_rng(0)
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
    Image.fromarray(random.integers(0, 256, (12, 10, 3), dtype=np.uint8)).save(tmp_path / "cat" / "1.png")
    Image.fromarray(np.full((8, 9), 77, dtype=np.uint8)).save(tmp_path / "cat" / "2.png")
    Image.fromarray(np.full((6, 7), 77 * 257, dtype=np.uint16)).save(tmp_path / "dog" / "deep.png")
    Image.fromarray(np.full((5, 4, 4), 50, dtype=np.uint8)).quantize().save(tmp_path / "dog" / "palette.png")
    (tmp_path / "dog" / ".hidden").write_text("no image")
    return tmp_path


def test_images_of_any_size_come_as_a_list(zoo: Path) -> None:
    images, labels = load_images(zoo)
    assert [picture.shape for picture in images] == [(12, 10, 3), (8, 9, 3), (6, 7, 3), (5, 4, 3)]
    assert labels.tolist() == ["cat", "cat", "dog", "dog"]
    np.testing.assert_array_equal(images[0], np.asarray(Image.open(zoo / "cat" / "1.png")))
    assert np.unique(images[1]) == np.unique(images[2]) == [77]


def test_images_of_one_size_come_as_an_array(zoo: Path) -> None:
    images, labels = load_images(zoo, size=(16, 24))
    assert (images.shape, images.dtype, len(labels)) == ((4, 16, 24, 3), np.uint8, 4)
    assert np.unique(images[1]) == [77]


def test_photographs_are_turned_upright(zoo: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # taken with the camera turned by a quarter
    Image.new("RGB", (20, 10)).save(zoo / "cat" / "3.jpg", exif=exif)
    assert load_images(zoo)[0][2].shape == (20, 10, 3)


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"


def test_only_the_formats_we_name_are_opened(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow hands an EPS file to Ghostscript, whatever the file is called."""
    from PIL import EpsImagePlugin

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *args, **kwargs: pytest.fail("Ghostscript was started"))
    (zoo / "cat" / "0.jpg").write_bytes(EPS)
    Image.new("RGB", (4, 4)).save(zoo / "cat" / "1.pcx")
    with pytest.raises(ValueError, match=r"(?s)2 of 6 files.*0\.jpg: must be an image as BMP, .*1\.pcx: must be"):
        load_images(zoo)
    with pytest.warns(UserWarning, match="skipped 2 of 6"):
        assert len(load_images(zoo, errors="skip")[0]) == 4


@pytest.mark.parametrize("kind", ["bmp", "gif", "jpg", "png", "ppm", "tif", "webp"])
def test_every_format_we_name_is_read(zoo: Path, kind: str) -> None:
    Image.new("RGB", (9, 5), (10, 100, 200)).save(zoo / "cat" / f"0.{kind}")
    for size in (None, (5, 9)):
        image = load_images(zoo, size=size)[0][0]
        assert image.shape == (5, 9, 3)
        assert np.abs(image.astype(int) - (10, 100, 200)).max() <= 4


def test_an_image_of_too_many_pixels_is_not_decoded(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (8001, 8000)).save(zoo / "cat" / "0.png")
    monkeypatch.setattr(Image.Image, "resize", lambda *args: pytest.fail("decoded"))
    with pytest.raises(ValueError, match=r"0\.png: an image must have at most 64,000,000 pixels, got 8001 x 8000"):
        load_images(zoo)


@pytest.mark.parametrize(("side", "got"), [(9600, "9600 x 9600"), (14_000, "far more")])
def test_of_too_many_pixels_our_limit_speaks_and_not_pillow_s(zoo: Path, side: int, got: str) -> None:
    (zoo / "cat" / "0.bmp").write_bytes(
        b"BM" + struct.pack("<IIIIiiHHIIIIII", 54, 0, 54, 40, side, side, 1, 24, *[0] * 6)
    )
    with pytest.raises(ValueError, match=rf"0\.bmp: an image must have at most 64,000,000 pixels, got {got}"):
        load_images(zoo)


def test_large_images_are_decoded_one_at_a_time(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(4):
        Image.new("L", (1100, 1000)).save(zoo / "cat" / f"{k}.png")
    decoding, most = set(), []
    as_rgb = images._as_rgb

    def watched(image: Image.Image, module: object) -> Image.Image:
        me = threading.get_ident()
        if image.width > 1000:
            decoding.add(me)
            most.append(len(decoding))
        rgb = as_rgb(image, module)
        decoding.discard(me)
        return rgb

    monkeypatch.setattr(images, "_as_rgb", watched)
    with workers(4):
        assert load_images(zoo, size=(16, 16))[0].shape == (6, 16, 16, 3)
    assert most == [1] * 4


def test_jpeg_is_reduced_while_it_is_decoded(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = np.linspace(0, 255, 1600).astype(np.uint8)
    Image.fromarray(np.broadcast_to(ramp, (1200, 1600)).copy()).save(zoo / "cat" / "0.jpg", quality=95)
    sizes = []
    as_rgb = images._as_rgb
    monkeypatch.setattr(images, "_as_rgb", lambda image, module: sizes.append(image.size) or as_rgb(image, module))
    found = load_images(zoo, size=(30, 40))[0][0]
    assert (200, 150) in sizes
    np.testing.assert_allclose(found[..., 0], np.broadcast_to(np.linspace(3, 252, 40), (30, 40)), atol=3)


@pytest.mark.parametrize("mode", ["F", "I"])
def test_images_of_more_than_16_bits_are_refused_rather_than_clipped(zoo: Path, mode: str) -> None:
    Image.new(mode, (4, 4), 70_000).save(zoo / "cat" / "0.tif")
    with pytest.raises(ValueError, match=r"0\.tif: an image must have 8 or 16 bits a color"):
        load_images(zoo)


@pytest.mark.parametrize("error", [IndexError(), KeyError("tag"), MemoryError(), RuntimeError("codec"), TypeError("x")])
def test_whatever_a_decoder_raises_is_skipped(zoo: Path, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    as_rgb = images._as_rgb

    def fragile(image: Image.Image, module: object) -> Image.Image:
        if image.size == (10, 12):
            raise error
        return as_rgb(image, module)

    monkeypatch.setattr(images, "_as_rgb", fragile)
    with pytest.warns(UserWarning, match=f"(?s)skipped 1 of 4.*{str(error) or type(error).__name__}"):
        assert len(load_images(zoo, errors="skip")[0]) == 3


def test_fuzzed_images_are_read_or_skipped(zoo: Path) -> None:
    random = np.random.default_rng(0)
    for kind in ("bmp", "gif", "jpg", "png", "ppm", "tif", "webp"):
        out = io.BytesIO()
        Image.effect_noise((24, 16), 64).save(out, {"jpg": "jpeg", "tif": "tiff"}.get(kind, kind))
        for k in range(20):
            content = np.frombuffer(out.getvalue(), np.uint8).copy()
            content[random.integers(0, len(content), 8)] = random.integers(0, 256, 8)
            (zoo / "dog" / f"fuzzed{k}.{kind}").write_bytes(content.tobytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, labels = load_images(zoo, errors="skip")
    assert len(found) == len(labels) >= 4


@pytest.mark.parametrize("size", [None, (8, 8)])
def test_unreadable_files_are_reported_together(zoo: Path, size: tuple[int, int] | None) -> None:
    (zoo / "cat" / "0.txt").write_text("no image")
    whole = (zoo / "cat" / "1.png").read_bytes()
    (zoo / "dog" / "half.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r'(?s)2 of 6 files .*errors="skip".*0\.txt.*half\.png'):
        load_images(zoo, size=size)
    with pytest.warns(UserWarning, match=r"(?s)skipped 2 of 6 files.*0\.txt.*half\.png"):
        images, labels = load_images(zoo, size=size, errors="skip")
    assert labels.tolist() == ["cat", "cat", "dog", "dog"]
    assert len(images) == 4
    assert images[3].max() > 0


def test_nothing_readable_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.png").touch()
    with pytest.raises(ValueError, match="1 of 1 files"):
        load_images(tmp_path, errors="skip")


def test_folders_without_classes_or_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="one directory per class"):
        load_images(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="one directory per class"):
        load_images(tmp_path)
    (tmp_path / "cat").mkdir()
    with pytest.raises(ValueError, match="got none for cat"):
        load_images(tmp_path)
    with pytest.raises(ValueError, match="errors must be"):
        load_images(tmp_path, errors="ignore")
    with pytest.raises(ValueError, match="size must be"):
        load_images(tmp_path, size=(0, 4))
    for wrong in (64, (4,), (4.5, 4), "64"):
        with pytest.raises(ValueError, match="size must be"):
            load_images(tmp_path, size=wrong)


def test_toy_is_the_same_problem_at_every_noise() -> None:
    X, y = make_toy(300, random_state=0)
    assert (X.shape, X.dtype, set(y)) == ((300, 2), np.float64, {0, 1})
    assert np.abs(X).max() <= 1
    little, much = (make_toy(300, noise, random_state=0) for noise in (0.01, 0.2))
    np.testing.assert_array_equal(little[1], y)
    np.testing.assert_allclose((much[0] - X) / 20, little[0] - X, atol=1e-12)
    assert 0.18 < (much[0] - X).std() < 0.22


def test_toy_needs_a_curve() -> None:
    X, y = make_toy(400, noise=0.05, random_state=1)
    X_test, y_test = make_toy(400, noise=0.05, random_state=2)
    assert SVC(kernel="linear").fit(X, y).score(X_test, y_test) < 0.75
    assert SVC(gamma=10, C=10).fit(X, y).score(X_test, y_test) > 0.97


@pytest.mark.parametrize(("imbalance", "n_ones"), [(1, 60), (2, 40), (0.5, 80), (11, 10)])
def test_toy_imbalance(imbalance: float, n_ones: int) -> None:
    assert make_toy(120, imbalance=imbalance, random_state=0)[1].sum() == n_ones


@pytest.mark.parametrize("options", [{"noise": -1}, {"imbalance": 0}, {"n_samples": 1}, {"imbalance": 1e6}])
def test_toy_refuses_what_makes_no_problem(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        make_toy(**options)
