"""Read samples from people's files: all at once, or block after block."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain, compress, islice, repeat
from pathlib import Path
from sys import getsizeof
from typing import Any

import numpy as np

from besvm._support.parameters import check_count, is_whole, shown
from besvm._support.progress import progress
from besvm._support.sizes import bytes_of
from besvm.blocks.plan import Limit, check_fits, limit_bytes
from besvm.inputs.contract import BLOCK_BYTES, Asked, Block, Data, Layout, Source, as_columns, as_label, check_kind
from besvm.inputs.lines import Lines
from besvm.inputs.sources import open_source

ROWS = 1000  # in a block
LARGEST_SIDE = 4096  # pixels that images are brought to
TOGETHER = 4000  # in a block, where all are kept anyway


def read(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    columns: Any = None,
    kind: str | None = None,
    size: Any = None,
    labels: str | os.PathLike[str] | None = None,
    skip_unreadable: bool = False,
    memory_limit: Limit = None,
) -> Data:
    """Read samples, with their classes if they have any, from a file or folder; nothing in it is executed.

    What is not given is guessed, and ``said`` tells how. What is broken is refused with the file and line where it is.

    Parameters
    ----------
    path : path
        A folder of images (a folder for each class, or none), an image, CIFAR-10's files (a .bin or their folder), a
        table (.csv, .tsv, .parquet, .arff), arrays (.npz with X and y, .npy), time series (.ts, .arff, UCR's .tsv),
        lines of text (.txt), or "-" for CSV or TSV on standard input.
    label : str, optional
        The column that holds the classes; by default "label", "class", "target" or "y", or else the last one.
    columns : list of str, or dict of str to str, optional
        The columns that are compared; by default all others. "age:number" (or ``{"age": "number"}``) also says what it
        holds: "number", "date", "category" or "text".
    kind : str, optional
        "images", "series", "text", "sequences", "vectors", "records" or "precomputed" (similarities, a column for each
        exemplar).
    size : int or (height, width), optional
        Of images, in pixels; by default their own where all are alike and small, and else 32 x 32.
    labels : path, optional
        A file with a class on every line, for samples that come without; images that are skipped have their line, too,
        and an empty line is a class that is missing.
    skip_unreadable : bool, default=False
        Whether to leave out images that cannot be read, with a line about each, instead of refusing all.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that the samples, their classes and their names may take; by default 70 % of what
        is free.

    Returns
    -------
    Data
        With ``X``, ``y``, ``kind``, ``names``, ``columns``, and what was guessed in ``said``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from besvm.inputs import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("height,sex\\n1.8,m\\n1.6,f\\n1.7,f\\n")
    >>> data = read(path)
    >>> data.X.tolist(), data.y.tolist()
    ([[1.8], [1.6], [1.7]], ['m', 'f', 'f'])
    >>> data.said
    "people.csv: 3 rows of vectors, 1 number (height); classes in 'sex', the last column, as none is called label, ..."
    """
    return stream(
        path,
        label=label,
        columns=columns,
        kind=kind,
        size=size,
        labels=labels,
        skip_unreadable=skip_unreadable,
        rows=TOGETHER,
    ).read(memory_limit)


class Stream:
    """Samples block after block, in memory that does not grow with their number: what :func:`stream` returns.

    Attributes
    ----------
    name : str
        The name of the file or folder.
    layout : Layout
        What is known of all of them.
    total, done : int
        How much there is to read, in bytes or samples (0: nobody knows), and how much was read so far.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from besvm.inputs import stream
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = path.write_text("ann\\nbob\\ncy\\n")
    >>> [block.X for block in stream(path, rows=2)]
    [['ann', 'bob'], ['cy']]
    """

    def __init__(self, source: Source, layout: Layout, labels: Any, rows: int) -> None:
        self.name, self.layout = source.name, layout
        self._source, self._labels, self._rows = source, labels, rows

    @property
    def total(self) -> int:
        return self._source.meter.total

    @property
    def done(self) -> int:
        return self._source.meter.done

    def __iter__(self) -> Iterator[Data]:
        layout = self.layout
        for block in _with_classes(self._source.blocks(layout, self._rows), self._labels):
            if not block.names:  # all were left out
                continue
            yield Data(
                block.X,
                None if block.labels is None else np.array(block.labels, dtype=str),
                layout.kind,
                block.names,
                columns=layout.columns,
                label=layout.label,
                size=layout.size,
                source=self.name,
                said=layout.said,
            )

    def read(self, memory_limit: Limit = None) -> Data:
        """Return all samples at once, if they fit into memory; ``memory_limit`` as in :func:`read`."""
        limit = limit_bytes(memory_limit)
        check_fits(f"reading {self.name}", self.layout.nbytes, limit, "fewer samples")
        return _joined(self, limit)


def stream(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    columns: Any = None,
    kind: str | None = None,
    size: Any = None,
    labels: str | os.PathLike[str] | None = None,
    skip_unreadable: bool = False,
    rows: int = ROWS,
) -> Stream:
    """Read samples as :func:`read` does, block after block of at most ``rows``, in constant memory.

    Standard input is read as it comes where ``kind`` and the type of every column are given, as a trained model does
    (:func:`as_trained`); otherwise it is copied to a temporary file, to find out what the columns hold.

    Parameters
    ----------
    path : path
        A file or folder, as for :func:`read`.
    label : str, optional
        The column that holds the classes.
    columns : list of str, or dict of str to str, optional
        The columns that are compared, maybe with what they hold.
    kind : str, optional
        What the samples are, as for :func:`read`.
    size : int or (height, width), optional
        Of images, in pixels.
    labels : path, optional
        A file with a class on every line, for samples that come without.
    skip_unreadable : bool, default=False
        Whether to leave out images that cannot be read.
    rows : int, default=1000
        How many samples a block has at most.

    Returns
    -------
    Stream
        To go through once; every block is a :class:`Data`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from besvm.inputs import stream
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = path.write_text("ann\\nbob\\neve\\n")
    >>> [block.X for block in stream(path, rows=2)]
    [['ann', 'bob'], ['eve']]
    """
    check_count("rows", rows)
    check_kind(kind)
    asked = Asked(kind, label, as_columns(columns), _as_size(size), skip_unreadable)
    source = open_source(path, asked)
    with progress(f"looking at {source.name}", source.meter.total) as bar:
        source.watcher = lambda: bar.advance(source.meter.done - bar.done)
        layout = source.layout(asked)
    return Stream(source, layout, labels, _rows_each(layout, rows))


def as_trained(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to read samples for a model: what its ``facts_`` say of those that it was trained on.

    Parameters
    ----------
    facts : dict
        ``facts_`` of a model that was loaded.

    Returns
    -------
    dict
        What to pass to :func:`read` or :func:`stream`.

    Examples
    --------
    >>> from besvm.inputs import as_trained
    >>> as_trained({"kind": "images", "size": [32, 32], "rows": 500})
    {'kind': 'images', 'label': None, 'columns': None, 'size': (32, 32)}
    """
    known = {name: facts.get(name) for name in ("kind", "label", "columns", "size")}
    label, columns, size = known["label"], known["columns"], known["size"]
    check_kind(known["kind"])
    if not ((label is None or isinstance(label, str)) and (columns is None or isinstance(columns, dict))):
        raise ValueError(f"a model must name the columns it compares, got {shown(columns)}, {shown(label)}")
    return known | {"size": None if size is None else _as_size(size)}


def _as_size(size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    pair = (size, size) if is_whole(size) else size
    right = isinstance(pair, (list, tuple)) and len(pair) == 2
    if not (right and all(is_whole(side, 1) and side <= LARGEST_SIDE for side in pair)):
        raise ValueError(
            f"size must be a number of pixels up to {LARGEST_SIDE:,}, or (height, width), got {shown(size)}"
        )
    return int(pair[0]), int(pair[1])


def _rows_each(layout: Layout, wanted: int) -> int:
    """Return how many rows a block may have: of large samples, few."""
    each = layout.nbytes // layout.rows if layout.rows else 1
    return max(1, min(wanted, BLOCK_BYTES // max(1, each)))


def _with_classes(blocks: Generator[Block], path: Any) -> Iterator[Block]:
    """Yield the blocks with the classes that a file of their own holds, one on every line; a path of None: as is."""
    if path is None:
        yield from blocks
        return
    name = (file := Lines(Path(path).expanduser())).name
    n = skipped = 0
    with closing(iter(file)) as lines, closing(blocks):
        found = map(as_label, _without_end(lines))
        for block in blocks:
            kept = block.kept or [True] * len(block.names)
            labels = list(islice(found, len(kept)))
            n, skipped = n + len(labels), skipped + kept.count(False)
            if len(labels) < len(kept):
                raise ValueError(f"{name} must have a class for every sample, got only {n:,} classes")
            yield replace(block, labels=list(compress(labels, kept)))
        if next(found, None) is not None:
            also = f" ({skipped:,} of which skipped)" if skipped else ""
            raise ValueError(f"{name} must have one class for each of the {n:,} samples{also}, got more")


def _without_end(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines, but for empty ones at the end."""
    empty = 0
    for line in lines:
        if line.strip():
            yield from repeat("", empty)
            yield line
            empty = 0
        else:
            empty += 1


def _joined(blocks: Stream, limit: int) -> Data:
    """Read all blocks into one, up to a limit in bytes.

    Arrays go into one that is made at once, where the number of rows is known.
    """
    found: list[Data] = []
    whole: np.ndarray | None = None
    rows, n, nbytes = blocks.layout.rows, 0, 0
    with progress(f"reading {blocks.name}", blocks.total) as bar:
        for block in blocks:
            start, n = n, n + len(block)
            nbytes += _bytes_kept(block)
            check_fits(f"reading the first {n:,} samples of {blocks.name}", nbytes, limit, "fewer samples")
            if rows is not None and isinstance(block.X, np.ndarray):
                whole = np.empty((rows, *block.X.shape[1:]), block.X.dtype) if whole is None else whole
                whole[start:n] = block.X
                block.X = whole[start:n]
            found.append(block)
            bar.advance(blocks.done - bar.done)
    if not found:
        raise ValueError(f"{blocks.name} must have samples that can be read, got none")
    X = _together([block.X for block in found]) if whole is None else whole[:n]
    y = None if found[0].y is None else np.concatenate([block.y for block in found if block.y is not None])
    return replace(found[0], X=X, y=y, names=[name for block in found for name in block.names])


def _bytes_kept(data: Data) -> int:
    """Return the bytes that samples take, with the values of those that are records, their classes and names."""
    values = chain.from_iterable(one.values() for one in data.X) if data.kind == "records" else ()
    beside = sum(map(getsizeof, chain(values, data.names)))
    return bytes_of(data.X) + beside + (0 if data.y is None else data.y.nbytes)


def _together(parts: list[Any]) -> Any:
    """Return arrays of alike rows as one array, and all else as one list."""
    shapes = {part.shape[1:] if isinstance(part, np.ndarray) else None for part in parts}
    if len(shapes) == 1 and None not in shapes:
        return np.concatenate(parts)
    return [one for part in parts for one in part]
