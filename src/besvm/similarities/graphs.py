"""Similarities of graphs: neighborhoods or shortest paths, hashed to sparse counts that are then compared."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from besvm._support.parameters import check_choice, check_flag, is_whole, shown
from besvm._support.threads import thread_map
from besvm.similarities.contract import Similarity, register
from besvm.similarities.counts import count_matrix, shared_with
from besvm.similarities.graph_forms import Graphs, read_graphs, unread_labels

PAIRS_AT_ONCE = 1 << 18  # of nodes, between which a thread looks for paths at a time
MOST_ROUNDS = 1000  # more than there are steps across most graphs; every one takes as long as the first
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # odd numbers with no pattern in their bits
FORWARD, BACKWARD, LENGTH = np.uint64(0xD1B54A32D192ED03), np.uint64(0xABC98388FB8FAC03), np.uint64(0x8CB92BA72F3D8DD7)


class Tally(NamedTuple):
    """How often each graph has each thing: the numbers of the things, the counts, and where each graph ends."""

    keys: np.ndarray
    counts: np.ndarray
    ends: np.ndarray


class GraphSimilarity(Similarity):
    """Abstract: a similarity of graphs by the counts of what they have; a subclass says in ``tally`` what is counted.

    The result is the dot product of the counts of two graphs, or the sum of the smaller ones; divided by the root of
    the product of both graphs' similarity to themselves, if ``normalize`` is set.
    """

    symmetric = psd = True
    kind = "graphs"
    compare: str
    normalize: bool
    labels: str

    @abstractmethod
    def tally(self, graphs: Graphs) -> Tally:
        """Count the things that graphs have."""

    def fit(self, X: Any) -> Self:
        """Check all graphs, so that a message has the right number."""
        self._check()
        read_graphs(X, self.labels)
        unread = unread_labels(X, self.labels)
        if unread:
            warnings.warn(
                f"the nodes of graph 0 have no attribute {self.labels!r}, but {unread!r}, which is not compared; set "
                f"labels={unread!r} to compare it",
                UserWarning,
                stacklevel=2,
            )
        return self

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        self._check()
        exemplars = read_graphs(basis, self.labels)
        packed = self.tally(exemplars)
        things = np.unique(packed.keys)
        shared = shared_with(_matrix(packed, things), self.compare)
        own = self._with_itself(packed)

        def similarities(A: Any) -> np.ndarray:
            samples = self.tally(read_graphs(A, self.labels, exemplars))
            out = shared(_matrix(samples, things))
            if self.normalize:
                theirs = self._with_itself(samples)
                both = np.sqrt(np.outer(theirs, own))
                both[both == 0] = 1
                out /= both
                out[np.ix_(theirs == 0, own == 0)] = 1  # nothing to tell them apart by
            return out

        return similarities

    def _check(self) -> None:
        check_choice("compare", self.compare, ("dot", "intersection"))
        check_flag("normalize", self.normalize)
        if not isinstance(self.labels, str):
            raise ValueError(f"labels must be the name of an attribute, such as 'label', got {shown(self.labels)}")

    def _with_itself(self, tally: Tally) -> np.ndarray:
        """Return the similarity of each graph to itself."""
        totals = np.cumsum(tally.counts**2 if self.compare == "dot" else tally.counts)
        return np.diff(np.concatenate([[0.0], totals])[np.concatenate([[0], tally.ends])])


@register("weisfeiler-lehman")
class WeisfeilerLehman(GraphSimilarity):
    """The Weisfeiler-Lehman subtree similarity: how many neighborhoods of nodes two graphs have in common.

    In every round, the label of a node becomes that of its old label and the labels around it, so that after round h it
    stands for all that can be seen from the node within h steps; the labels of all rounds are counted.

    A graph is a networkx graph, a list of edges (u, v) or (u, v, label), a square adjacency matrix (an array or sparse;
    what is not 0 is an edge, whatever its weight), or a pair of edges or an adjacency matrix and the labels of the
    nodes: a dict, or a list for the nodes 0, 1, 2 and so on. Labels are numbers, texts or tuples of these; nodes
    without any are all alike at first, and told apart by their number of neighbors after a round. A directed networkx
    graph, or an adjacency matrix that is not symmetric, has arrows, and neighbors ahead are told from those behind; an
    edge of any other graph is an arrow each way. An edge that comes twice counts once, and a loop makes a node its own
    neighbor.

    Parameters
    ----------
    iterations : int, default=5
        The number of rounds.
    compare : {"dot", "intersection"}, default="dot"
        The dot product of the counts, or the sum of the smaller count of each label, the optimal assignment of nodes.
    normalize : bool, default=True
        Divide by the root of both graphs' similarity to themselves, so that large graphs are not similar to all.
    labels : str, default="label"
        The attribute of the nodes, and of the edges, of a networkx graph that holds their labels.

    Examples
    --------
    >>> from besvm.similarities import WeisfeilerLehman
    >>> path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    >>> WeisfeilerLehman(iterations=1)([path, star], [path, star]).round(2)
    array([[1.  , 0.88],
           [0.88, 1.  ]])
    >>> ring = ([(0, 1), (1, 2), (2, 0)], ["C", "C", "N"])
    >>> WeisfeilerLehman()([ring], [([("a", "b"), ("b", "c"), ("c", "a")], {"a": "N", "b": "C", "c": "C"})])
    array([[1.]])
    """

    def __init__(
        self, iterations: int = 5, compare: str = "dot", normalize: bool = True, labels: str = "label"
    ) -> None:
        self.iterations = iterations
        self.compare = compare
        self.normalize = normalize
        self.labels = labels

    def _check(self) -> None:
        super()._check()
        if not is_whole(self.iterations, 0):
            raise ValueError(f"iterations must be a whole number of at least 0, got {shown(self.iterations)}")
        if self.iterations > MOST_ROUNDS:
            raise ValueError(f"iterations must be at most {MOST_ROUNDS:,}, got {shown(self.iterations)}")

    def tally(self, graphs: Graphs) -> Tally:
        rounds = list(_rounds(graphs, self.iterations))
        owners = np.repeat(np.arange(len(graphs)), np.diff(graphs.starts))
        keys = np.concatenate(rounds)
        return _tally(keys, np.tile(owners, len(rounds)), np.ones(len(keys)), len(graphs))


@register("shortest-path")
class ShortestPath(GraphSimilarity):
    """The shortest-path similarity: how many pairs of nodes with the same labels are as far from each other.

    What is counted are the triples of the labels of two different nodes and the number of edges on the shortest path
    from the one to the other; pairs that no path joins do not count, nor do weights and labels of edges. Two graphs
    without any path have the similarity 1. Graphs come as for :class:`WeisfeilerLehman`; paths follow the arrows of
    directed ones.

    Parameters
    ----------
    compare : {"dot", "intersection"}, default="dot"
        The dot product of the counts, or the sum of the smaller count of each triple.
    normalize : bool, default=True
        Divide by the root of both graphs' similarity to themselves, so that large graphs are not similar to all.
    labels : str, default="label"
        The attribute of the nodes of a networkx graph that holds their labels.

    Examples
    --------
    >>> from besvm.similarities import ShortestPath
    >>> path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    >>> ShortestPath()([path], [path, star]).round(2)
    array([[1.  , 0.94]])
    """

    def __init__(self, compare: str = "dot", normalize: bool = True, labels: str = "label") -> None:
        self.compare = compare
        self.normalize = normalize
        self.labels = labels

    def tally(self, graphs: Graphs) -> Tally:
        from besvm.similarities.count_kernels import path_keys

        sizes = np.diff(graphs.starts)
        owners = np.repeat(np.arange(len(graphs)), sizes)
        arrow_starts = np.searchsorted(graphs.sources, np.arange(len(owners) + 1))
        begins, ends = mix(graphs.labels + FORWARD) * GOLDEN, mix(graphs.labels + BACKWARD)
        reach = np.concatenate([[0], np.cumsum(sizes[owners])])  # nodes that a path from each node may lead to, summed

        def paths(nodes: slice) -> Tally:
            room = reach[nodes.stop] - reach[nodes.start]
            keys, key_owners = np.empty(room, np.uint64), np.empty(room, np.intp)
            found = path_keys(
                *(arrow_starts, graphs.targets, owners, begins, ends, nodes.start, nodes.stop, keys, key_owners)
            )
            return _tally(keys[:found], key_owners[:found], np.ones(found), len(graphs))

        return _joined(list(thread_map(paths, _cut(reach))), len(graphs))


def mix(x: np.ndarray) -> np.ndarray:
    """Return numbers of 64 bits that look random, and differ where the given ones do (the finish of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _rounds(graphs: Graphs, iterations: int) -> Iterator[np.ndarray]:
    """Yield the labels of all nodes, as numbers, before the first round and after each.

    The labels around a node are a multiset, whose hash is the sum of those of its members.
    """
    n = len(graphs.labels)
    ahead = _Sums(graphs.sources, graphs.targets, graphs.arrow_labels, n)
    order = np.argsort(graphs.targets, kind="stable")
    behind = _Sums(graphs.targets[order], graphs.sources[order], graphs.arrow_labels[order], n)
    labels = mix(graphs.labels + GOLDEN)
    yield labels
    for _ in range(iterations):
        forward = ahead(labels)
        backward = behind(labels) if graphs.directed else forward  # an edge is an arrow each way
        labels = mix(labels * GOLDEN + mix(forward + FORWARD) + mix(backward + BACKWARD) * LENGTH)
        yield labels


class _Sums:
    """Adds up, for every node, the hashes of the nodes that its arrows lead to, whose sources come in order."""

    def __init__(self, sources: np.ndarray, targets: np.ndarray, arrow_labels: np.ndarray, n: int) -> None:
        self.targets = targets
        self.along = arrow_labels * FORWARD
        self.starts = np.searchsorted(sources, np.arange(n + 1))

    def __call__(self, labels: np.ndarray) -> np.ndarray:
        totals = np.zeros(len(self.targets) + 1, np.uint64)
        np.cumsum(mix(labels[self.targets] + self.along), out=totals[1:])
        return totals[self.starts[1:]] - totals[self.starts[:-1]]


def _cut(reach: np.ndarray) -> list[slice]:
    """Cut the nodes such that at most so many pairs, or those of one node, are looked at together."""
    out, start, n = [], 0, len(reach) - 1
    while start < n:
        stop = max(start + 1, int(np.searchsorted(reach, reach[start] + PAIRS_AT_ONCE, side="right")) - 1)
        out.append(slice(start, stop))
        start = stop
    return out


def _tally(keys: np.ndarray, owners: np.ndarray, counts: np.ndarray, n: int) -> Tally:
    """Sum the counts of equal keys of the same graph."""
    order = np.lexsort((keys, owners))
    keys, owners, counts = keys[order], owners[order], counts[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    places = np.flatnonzero(new)
    totals = np.add.reduceat(counts, places) if len(places) else counts
    return Tally(keys[places], totals, np.searchsorted(owners[places], np.arange(n), side="right"))


def _joined(parts: list[Tally], n: int) -> Tally:
    """Return the sum of what was counted in parts."""
    if len(parts) == 1:
        return parts[0]
    owners = [np.repeat(np.arange(n), np.diff(np.concatenate([[0], part.ends]))) for part in parts]
    keys, counts = [np.empty(0, np.uint64)], [np.empty(0)]
    return _tally(
        np.concatenate(keys + [part.keys for part in parts]),
        np.concatenate([np.empty(0, np.intp), *owners]),
        np.concatenate(counts + [part.counts for part in parts]),
        n,
    )


def _matrix(tally: Tally, things: np.ndarray) -> Any:
    """Return the counts of the given things as a CSR matrix."""
    columns = np.searchsorted(things, tally.keys)
    known = columns < len(things)
    known[known] = things[columns[known]] == tally.keys[known]
    return count_matrix(tally.counts, np.where(known, columns, -1), tally.ends, len(things))
