"""Graphs in the forms that people have them in, read into arrays."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import shown
from besvm._support.rows import n_rows

HOW_GRAPHS_COME = (
    "a networkx graph, a list of edges (u, v) or (u, v, label), a square adjacency matrix, or a pair of either and the "
    "labels of the nodes"
)


@dataclass(frozen=True)
class Graphs:
    """Several graphs as one: nodes are numbered throughout, and an edge without direction is two arrows."""

    labels: np.ndarray  # of the nodes, as numbers of 64 bits
    starts: np.ndarray  # the first node of each graph, and the end
    sources: np.ndarray  # of the arrows, in order
    targets: np.ndarray
    arrow_labels: np.ndarray
    directed: bool  # whether some arrow has none that leads back
    labeled: tuple[bool | None, bool | None]  # whether nodes, and edges, have labels; None: there are none

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass
class _Graph:
    n_nodes: int
    labels: list[Any] | None
    edges: np.ndarray  # (edges, 2), numbers of nodes
    edge_labels: list[Any] | None
    directed: bool


def read_graphs(X: Any, label: str, like: Graphs | None = None) -> Graphs:
    """Return the graphs of X; what is wrong with one is said with its number.

    If other graphs are given that these are to be compared with, all must have labels, or none.
    """
    n_rows(X)  # that it has rows
    known: dict[Hashable, int] = {}
    node_labels, edges, edge_labels, starts, directed = [], [], [], [0], []
    labeled: list[bool | None] = list(like.labeled) if like is not None else [None, None]
    for number, item in enumerate(X):
        try:
            graph = _read(item, label)
            _check_alike(labeled, graph)
            node_labels.append(_hashed(graph.labels, graph.n_nodes, known))
            edge_labels.append(_hashed(graph.edge_labels, len(graph.edges), known))
        except ValueError as error:
            raise ValueError(f"graph {number} {error}") from None
        edges.append(graph.edges + starts[-1])
        directed.append(np.full(len(graph.edges), graph.directed))
        starts.append(starts[-1] + graph.n_nodes)
    pairs = np.concatenate([np.empty((0, 2), np.intp), *edges])
    names, one_way = _joined(edge_labels, np.uint64), _joined(directed, bool)
    back = ~one_way & (pairs[:, 0] != pairs[:, 1])
    sources = np.concatenate([pairs[:, 0], pairs[back, 1]])
    targets = np.concatenate([pairs[:, 1], pairs[back, 0]])
    names = np.concatenate([names, names[back]])
    order = np.lexsort((names, targets, sources))
    sources, targets, names = sources[order], targets[order], names[order]
    once = np.ones(len(sources), dtype=bool)  # edges that come twice count once
    once[1:] = (np.diff(sources) != 0) | (np.diff(targets) != 0) | (names[1:] != names[:-1])
    return Graphs(
        labels=_joined(node_labels, np.uint64),
        starts=np.array(starts, dtype=np.intp),
        sources=sources[once],
        targets=targets[once],
        arrow_labels=names[once],
        directed=bool(one_way.any()),
        labeled=(labeled[0], labeled[1]),
    )


def unread_labels(X: Any, label: str) -> str | None:
    """Return the attribute of the first graph's nodes that looks like their labels, if it is not the one looked for.

    That is one of strings or whole numbers that every node has, and of which some are equal.
    """
    first: Any = next(iter(X), None)
    if not _is_networkx(first):
        return None
    every = [dict(attributes) for _, attributes in copy(first).nodes(data=True)]
    if not every or any(label in one for one in every):
        return None
    for name in every[0]:
        values = [one.get(name) for one in every]
        if all(isinstance(value, (str, int)) for value in values) and len(set(values)) < len(values):
            return str(name)
    return None


def n_nodes(item: Any) -> int:
    """Return how many nodes a graph has, in any form that it may come in."""
    return _read(item, "label").n_nodes


def _joined(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts])


def _check_alike(labeled: list[bool | None], graph: _Graph) -> None:
    """Refuse a graph with labels among graphs without, or the other way round; remember which it is."""
    has: list[bool | None] = [graph.labels is not None, graph.edge_labels is not None if len(graph.edges) else None]
    for place, what in enumerate(("nodes", "edges")):
        if has[place] is None:
            continue
        if labeled[place] is None:
            labeled[place] = has[place]
        if labeled[place] != has[place]:
            have, others = ("labels", "others have none") if has[place] else ("no labels", "others have some")
            raise ValueError(f"has {have} for its {what}, but {others}; label the {what} of all graphs or of none")


def _read(item: Any, label: str) -> _Graph:
    if _is_networkx(item):
        graph = _read_networkx(item, label)
    elif isinstance(item, tuple) and len(item) == 2 and not _is_edge(item):
        graph = _read_plain(item[0], item[1])
    else:
        graph = _read_plain(item, None)
    if not graph.n_nodes:
        raise ValueError("has no nodes; remove it")
    return graph


def _is_networkx(item: Any) -> bool:
    return all(hasattr(type(item), name) for name in ("nodes", "edges", "is_directed"))


def _read_networkx(item: Any, label: str) -> _Graph:
    item = copy(item)  # a graph remembers what it was asked for, so that is left to a copy
    nodes = {node: number for number, node in enumerate(item)}
    labels = [value for _, value in item.nodes(data=label)]
    edges = list(item.edges(data=label))
    return _Graph(
        n_nodes=len(nodes),
        labels=_all_or_none(labels, "node", list(nodes)),
        edges=_pairs([(nodes[u], nodes[v]) for u, v, _ in edges]),
        edge_labels=_all_or_none([value for _, _, value in edges], "edge", [edge[:2] for edge in edges]),
        directed=bool(item.is_directed()),
    )


def _read_plain(edges: Any, labels: Any) -> _Graph:
    """Read an adjacency matrix or a list of edges."""
    if isinstance(labels, (str, bytes)):
        raise ValueError(f"must have a label for each node, got the string {shown(labels)}")
    if not (labels is None or isinstance(labels, Mapping) or hasattr(labels, "__len__")):
        raise ValueError(f"must have labels as a list or a dict, got {shown(labels)}")
    if isinstance(edges, np.ndarray) and edges.shape == (2, 2) and edges.dtype.kind in "iu":
        raise ValueError(
            "has a 2 x 2 array of integers, which could be a matrix or two edges; pass edges as a list, or the matrix "
            "as floats"
        )
    if issparse(edges) or (isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[0] == edges.shape[1]):
        return _read_adjacency(edges, labels)
    if isinstance(edges, np.ndarray) and edges.shape[1:] == (2,) and edges.dtype.kind in "iu":
        if not isinstance(labels, Mapping):
            return _read_numbers(edges, labels)
    elif isinstance(edges, (str, bytes, Mapping)) or not isinstance(edges, Iterable):
        raise ValueError(f"must be {HOW_GRAPHS_COME}, got {shown(edges)}")
    several = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    for edge in several:
        if not (isinstance(edge, (tuple, list)) and len(edge) in (2, 3)):
            raise ValueError(f"must have edges (u, v) or (u, v, label), got {shown(edge)}")
    ends = [tuple(edge[:2]) for edge in several]
    by_node = dict(labels) if isinstance(labels, Mapping) else None if labels is None else dict(enumerate(labels))
    try:
        met = dict.fromkeys(node for pair in ends for node in pair)
    except TypeError:
        raise ValueError("must have hashable nodes, such as numbers and strings") from None
    nodes = {node: number for number, node in enumerate(met if by_node is None else by_node)}
    missing = [node for node in met if node not in nodes]
    if missing:
        raise ValueError(f"must have a label for every node in its edges, but node {shown(missing[0])} has none")
    names = [edge[2] if len(edge) == 3 else None for edge in several]
    return _Graph(
        n_nodes=len(nodes),
        labels=None if by_node is None else _all_or_none(list(by_node.values()), "node", list(by_node)),
        edges=_pairs([(nodes[u], nodes[v]) for u, v in ends]),
        edge_labels=_all_or_none(names, "edge", ends),
        directed=False,
    )


def _read_numbers(edges: np.ndarray, labels: Any) -> _Graph:
    """Read an array of the numbers of nodes."""
    if labels is None:
        nodes, places = np.unique(edges, return_inverse=True)
        return _Graph(len(nodes), None, places.reshape(edges.shape), None, directed=False)
    wrong = edges[(edges < 0) | (edges >= len(labels))]
    if len(wrong):
        raise ValueError(f"must have a label for every node in its edges, but node {wrong[0]} has none")
    named = _all_or_none(list(labels), "node", range(len(labels)))
    return _Graph(len(labels), named, edges.astype(np.intp), None, directed=False)


def _read_adjacency(matrix: Any, labels: Any) -> _Graph:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"must have a square adjacency matrix, got {matrix.shape[0]} x {matrix.shape[1]}")
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"must have an adjacency matrix of numbers, got {matrix.dtype}")
    values = matrix.data if issparse(matrix) else matrix
    if matrix.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("must have an adjacency matrix without NaN; 0 means no edge")
    n = matrix.shape[0]
    if labels is not None:
        by_node = dict(labels) if isinstance(labels, Mapping) else dict(enumerate(labels))
        missing = [node for node in range(n) if node not in by_node]
        if missing or len(by_node) != n:
            raise ValueError(f"must have a label for each of its {n} nodes, got {len(by_node)}")
        labels = _all_or_none([by_node[node] for node in range(n)], "node", range(n))
    sources, targets = matrix.nonzero()
    here = np.sort(sources.astype(np.int64) * n + targets)
    directed = not np.array_equal(here, np.sort(targets.astype(np.int64) * n + sources))
    pairs = np.stack([sources, targets], axis=1).astype(np.intp)
    return _Graph(n, labels, pairs, None, directed)


def _is_edge(item: tuple[Any, ...]) -> bool:
    return not any(hasattr(end, "__len__") or issparse(end) for end in item)


def _pairs(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, dtype=np.intp).reshape(-1, 2)


def _all_or_none(labels: list[Any], what: str, names: Sequence[Any]) -> list[Any] | None:
    """Return the labels, None if there are none; refuse it where only some are there."""
    missing = [value is None for value in labels]
    if all(missing):
        return None
    if any(missing):
        raise ValueError(
            f"must have a label for every {what} or for none, but {what} {shown(names[missing.index(True)])} has none"
        )
    return labels


def _hashed(labels: list[Any] | None, n: int, known: dict[Hashable, int]) -> np.ndarray:
    """Return labels as numbers that are the same in every process and on every machine."""
    if labels is None:
        return np.zeros(n, np.uint64)
    try:
        return np.array([known[value] for value in labels], np.uint64)
    except (KeyError, TypeError):  # one is new, or a list
        pass
    out = np.empty(n, np.uint64)
    for place, value in enumerate(labels):
        value = tuple(value) if isinstance(value, list) else value
        try:
            number = known.get(value)
        except TypeError:
            number = None
        if number is None:
            text = repr(_plain(value)).encode()
            number = known[value] = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
        out[place] = number
    return out


def _plain(value: Any) -> Any:
    """Return a label such that equal ones have one text: 1, 1.0, True and NumPy's 1 are the same."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float) and np.isfinite(value):
        return int(value) if value.is_integer() else value
    if isinstance(value, (str, bytes)):
        return str(value) if isinstance(value, str) else bytes(value)
    if isinstance(value, (tuple, list)):
        return tuple(_plain(one) for one in value)
    raise ValueError(f"must have labels that are finite numbers, strings or tuples of these, got {shown(value)}")
