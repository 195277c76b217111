"""Which reader reads a file or folder: by its name, and by a look at its first lines."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from besvm.inputs.contract import Asked, Source
from besvm.inputs.delimited import Delimited, TextLines, all_numbers, delimiter_of, fields_of
from besvm.inputs.lines import Lines
from besvm.inputs.series import Ts, UcrTsv

STANDARD_INPUT = "-"
TABLES = (".csv", ".tsv", ".tab")
READ = ".csv, .tsv, .parquet, .npz, .npy, .ts, .arff, .txt or CIFAR-10's .bin"
SHORTEST_SERIES = 10  # time points: fewer numbers without names are a table


def open_source(path: str | os.PathLike[str], asked: Asked) -> Source:
    """Return what reads a file or folder, or standard input."""
    if os.fspath(path) == STANDARD_INPUT:
        return _standard_input(asked)
    path = Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(f"{str(path)!r} does not exist{_near(path)}")
    if path.is_dir():
        from besvm.inputs.images import open_folder

        return open_folder(path)
    suffix = path.suffix.lower()
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{path.name} must hold samples, but is empty")
    if suffix in TABLES:
        lines = Lines(path)
        if _is_ucr(lines, suffix, asked):
            return UcrTsv(lines)
        return Delimited(lines, delimiter_of(lines) if suffix == ".csv" else "\t")
    if suffix == ".txt":
        return TextLines(Lines(path))
    if suffix == ".ts":
        return Ts(Lines(path))
    return _open_other(path, suffix)


def _open_other(path: Path, suffix: str) -> Source:
    if suffix == ".arff":
        from besvm.inputs.arff import open_arff

        return open_arff(Lines(path))
    if suffix in (".npz", ".npy"):
        from besvm.inputs.arrays import ArrayFile

        return ArrayFile(path)
    if suffix in (".parquet", ".pq"):
        from besvm.inputs.parquet import ParquetTable

        return ParquetTable(path)
    from besvm.inputs.images import SUFFIXES, CifarFiles, ImageFiles

    if suffix == ".bin":
        return CifarFiles(path.name, [path])
    if suffix in SUFFIXES:
        return ImageFiles(path.name, path.parent, [path], None, 0)
    raise ValueError(f"{path.name} must be a folder of images, an image, or a file that ends in {READ}")


def _standard_input(asked: Asked) -> Source:
    lines = Lines(None)
    delimiter = delimiter_of(lines)
    first = fields_of(lines, delimiter)[:1]
    if not first:
        raise ValueError("standard input must hold samples, but is empty")
    if asked.kind in TextLines.kinds and not set(asked.columns or ()) <= set(first[0]):
        return TextLines(lines)
    return Delimited(lines, delimiter)


def _is_ucr(lines: Lines, suffix: str, asked: Asked) -> bool:
    """Say whether a .tsv file holds series as UCR's do: without names, and nothing but numbers."""
    if suffix != ".tsv" or asked.kind not in (None, "series") or asked.columns or asked.label:
        return False
    first = fields_of(lines, "\t")[:1]
    return bool(first) and len(first[0]) > SHORTEST_SERIES and all_numbers(first[0])


def _near(path: Path) -> str:
    try:
        names = os.listdir(path.parent)
    except OSError:
        return ""
    found = get_close_matches(path.name, names, n=1, cutoff=0.7)
    return f"; did you mean {str(path.with_name(found[0]))!r}?" if found else ""
