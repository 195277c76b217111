"""Read the files of the data sets: text, numbers and arrays alone, never code or pickled objects."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np

Graph = tuple[np.ndarray, list[int]]  # edges, (number of edges, 2), and the label of every node
MISSING = ("", "?", "NA")


def ts(text: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series, each (channels, moments), and the labels of a file of the UCR/UEA archive.

    After the line "@data" every line is a series: its channels and then its label, with colons between them.
    """
    series, labels = [], []
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip().lower() == "@data":
            break
    for number, line in enumerate(line for line in lines if line.strip()):
        *channels, label = line.split(":")
        rows = [np.array(channel.split(","), dtype=np.float64) for channel in channels]
        if not rows or len({len(row) for row in rows}) != 1:
            raise ValueError(f"the channels of a series must be equally long, those of series {number} are not")
        series.append(np.stack(rows))
        labels.append(label.strip())
    return series, np.array(labels)


def columns(text: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series, each (1, moments), and the labels of lines of numbers, the label first."""
    table = np.loadtxt(io.StringIO(text), ndmin=2)
    return list(table[:, None, 1:]), table[:, 0].astype(int).astype(str)


def npz(packed: bytes, part: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series, each (channels, moments), and the labels of one part, "train" or "test"."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return list(arrays[f"X_{part}"].transpose(0, 2, 1)), arrays[f"y_{part}"].astype(str)


def tab(text: str) -> list[dict[str, str]]:
    """Return the rows of a table of Orange: names, kinds and roles of the columns, then the rows."""
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[3:] if row]


def comma_separated(text: str) -> list[dict[str, str]]:
    """Return the rows of a table whose first line names the columns."""
    return list(csv.DictReader(io.StringIO(text)))


def peptides(text: str) -> tuple[list[str], np.ndarray]:
    """Return the sequences and the labels of a table of modlamp: a line about it, then sequence and label."""
    rows = [line.split(",") for line in text.splitlines()[1:] if line.strip()]
    return [sequence.strip() for sequence, _ in rows], np.array([int(label) for _, label in rows])


def graphs(edges: str, graph_of_node: str, graph_labels: str, node_labels: str) -> tuple[list[Graph], np.ndarray]:
    """Return the graphs, (edges, labels of the nodes), and their labels, from the four files of TU Dortmund."""
    pairs = np.loadtxt(io.StringIO(edges), delimiter=",", dtype=np.int64, ndmin=2) - 1
    owner = np.array(graph_of_node.split(), dtype=np.int64) - 1
    labels = np.array(node_labels.split(), dtype=np.int64)
    y = np.array(graph_labels.split(), dtype=np.int64)
    if (np.diff(owner) < 0).any() or (owner[pairs[:, 0]] != owner[pairs[:, 1]]).any():
        raise ValueError("the nodes of a graph must stand together, and edges must stay within one graph")
    first = np.searchsorted(owner, np.arange(len(y)))
    last = np.searchsorted(owner, np.arange(len(y)), side="right")
    of_graph = owner[pairs[:, 0]]
    return [(pairs[of_graph == g] - first[g], labels[first[g] : last[g]].tolist()) for g in range(len(y))], y


def records(rows: list[dict[str, Any]], target: str, drop: tuple[str, ...] = ()) -> tuple[Any, np.ndarray]:
    """Return rows as a DataFrame of numbers and categories with gaps, and their classes; rows without one are left out.

    A column is of numbers if everything in it is one.
    """
    import pandas as pd

    rows = [row for row in rows if row[target] is not None and row[target] not in MISSING]
    found: dict[str, Any] = {}
    for name in rows[0]:
        if name != target and name not in drop:
            values = [None if row[name] in MISSING else row[name] for row in rows]
            try:
                found[name] = np.array([np.nan if value is None else float(value) for value in values])
            except ValueError:
                found[name] = pd.Categorical(values)
    return pd.DataFrame(found), np.array([str(row[target]) for row in rows])


def json_rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a list of JSON objects."""
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
