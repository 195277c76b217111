"""Folders of images, of every format and with every damage."""

from __future__ import annotations

import io
import struct
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from besvm._support.threads import workers
from besvm.datasets import images, load_images


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
    with pytest.raises(ValueError, match=r"0\.tif: an image must have 8 or 16 bits per color"):
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
    with pytest.raises(FileNotFoundError, match="one subdirectory per class"):
        load_images(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="one subdirectory per class"):
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


def test_two_readers_leave_the_filters_of_warnings_as_they_were(zoo: Path) -> None:
    paths, before = sorted(zoo.rglob("*.p*g")), list(warnings.filters)
    first, second = (images.read_images(paths, (8, 8)) for _ in range(2))
    next(first), next(second)
    assert warnings.filters == before
    first.close()
    second.close()
    assert warnings.filters == before
    assert sum(isinstance(image, np.ndarray) for image in images.read_images(paths, None)) == 4
