"""Read pictures from a folder that has one folder for each class."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.threads import thread_map


def list_pictures(folder: Path) -> tuple[list[Path], list[str]]:
    """Return every file in the class folders, in order of class and name, and the class of each."""
    if not folder.is_dir():
        raise FileNotFoundError(f"folder must be a directory with one directory per class, {folder} is none")
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not _is_hidden(path))
    if not classes:
        raise ValueError(f"folder must hold one directory per class, {folder} holds none; move the images into some")
    files = {path: sorted(file for file in path.rglob("*") if _is_visible_file(file)) for path in classes}
    empty = [path.name for path in classes if not files[path]]
    if empty:
        raise ValueError(f"every class must have an image, got none for {', '.join(empty)}; remove or fill these")
    return (
        [file for path in classes for file in files[path]],
        [path.name for path in classes for _ in files[path]],
    )


def read_pictures(
    paths: list[Path], size: tuple[int, int] | None
) -> tuple[np.ndarray | list[np.ndarray], list[int], list[str]]:
    """Return the readable pictures (h, w, 3), their places in ``paths``, and what ails the rest."""
    pictures: Any = [] if size is None else np.empty((len(paths), *size, 3), dtype=np.uint8)
    places: list[int] = []
    problems: list[str] = []
    for place, picture in enumerate(thread_map(lambda path: _read_picture(path, size), paths)):
        if isinstance(picture, str):
            problems.append(picture)
            continue
        if size is None:
            pictures.append(picture)
        else:
            pictures[len(places)] = picture  # into the array at once: a list of them would double the memory
        places.append(place)
    return pictures[: len(places)], places, problems


def report(problems: list[str], n_files: int, *, skip: bool) -> None:
    """Raise one error for all the unreadable files, or warn if they may be skipped."""
    if not problems:
        return
    lines = "\n".join(f"  {problem}" for problem in problems)
    if not skip or len(problems) == n_files:
        raise ValueError(
            f"{len(problems)} of {n_files} files must be images but cannot be read; remove them or pass "
            f'errors="skip":\n{lines}'
        )
    warnings.warn(f"skipped {len(problems)} of {n_files} files that cannot be read:\n{lines}", stacklevel=3)


def _read_picture(path: Path, size: tuple[int, int] | None) -> np.ndarray | str:
    image_module, operations = (optional(name, "reading images") for name in ("PIL.Image", "PIL.ImageOps"))
    try:
        with image_module.open(path) as file:
            picture = _as_rgb(operations.exif_transpose(file))  # upright, as a viewer would show it
            if size is not None:
                picture = picture.resize((size[1], size[0]), image_module.Resampling.BILINEAR)
            return np.array(picture, dtype=np.uint8)
    # Pillow's decoders raise any of these on a broken file.
    except (OSError, ValueError, SyntaxError, EOFError, image_module.DecompressionBombError) as error:
        return f"{path}: {error}"


def _as_rgb(picture: Any) -> Any:
    if picture.mode in ("P", "PA"):
        picture = picture.convert("RGBA")  # a palette may hold transparency that RGB cannot take
    if picture.mode.startswith("I;16"):
        return _from_16_bits(picture)
    return picture.convert("RGB")


def _from_16_bits(picture: Any) -> Any:
    levels = (np.asarray(picture) / 257).round().astype(np.uint8)  # Pillow itself would clip at 255
    return optional("PIL.Image", "reading images").fromarray(levels).convert("RGB")


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _is_visible_file(path: Path) -> bool:
    return path.is_file() and not _is_hidden(path)
