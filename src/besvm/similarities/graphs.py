"""Similarities of graphs: neighborhoods or shortest paths, hashed to sparse counts that are then compared."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm._support.validation import check_choice, check_flag, is_whole, shown
from besvm.similarities.contract import Similarity, register
from besvm.similarities.counts import count_matrix, shared_with
from besvm.similarities.graph_forms import Graphs, read_graphs

GRAPHS_EACH = 16  # whose paths a thread looks for at a time
PAIRS_AT_ONCE = 1 << 20  # of nodes, whose distances are held at a time
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
            raise ValueError(f"labels must be the name of an attribute, like 'label', got {shown(self.labels)}")

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

    def tally(self, graphs: Graphs) -> Tally:
        rounds = list(_rounds(graphs, self.iterations))
        owners = np.repeat(np.arange(len(graphs)), np.diff(graphs.starts))
        return _tally(np.concatenate(rounds), np.tile(owners, len(rounds)), len(graphs))


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
        first_arrow = np.searchsorted(graphs.sources, graphs.starts)

        def paths(some: slice) -> list[tuple[np.ndarray, np.ndarray]]:
            return [_paths(graphs, first_arrow, number) for number in range(some.start, some.stop)]

        found = [one for several in thread_map(paths, slices(len(graphs), GRAPHS_EACH)) for one in several]
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in found)])
        counts = np.concatenate([np.empty(0), *(counts for _, counts in found)])
        return Tally(keys, counts, np.cumsum([len(keys) for keys, _ in found], dtype=np.intp))


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


def _paths(graphs: Graphs, first_arrow: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the triples of labels and lengths of shortest paths in one graph, and how often each occurs."""
    from besvm.similarities.count_kernels import steps_between

    nodes = slice(graphs.starts[number], graphs.starts[number + 1])
    arrows = slice(first_arrow[number], first_arrow[number + 1])
    n = int(nodes.stop - nodes.start)
    targets = graphs.targets[arrows] - nodes.start
    starts = np.searchsorted(graphs.sources[arrows], np.arange(nodes.start, nodes.stop + 1))
    labels = graphs.labels[nodes]
    begin, end = mix(labels + FORWARD), mix(labels + BACKWARD)
    found = []
    for rows in slices(n, max(1, PAIRS_AT_ONCE // n)):
        steps = np.empty((rows.stop - rows.start, n), np.int32)
        steps_between(starts, targets, rows.start, steps)
        source, target = np.nonzero(steps > 0)
        lengths = steps[source, target].astype(np.uint64)
        keys = mix(begin[rows][source] * GOLDEN + end[target] + lengths * LENGTH)
        found.append(np.unique(keys, return_counts=True))
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in found]), return_inverse=True)
    return keys, np.bincount(inverse, np.concatenate([counts for _, counts in found]), len(keys))


def _tally(keys: np.ndarray, owners: np.ndarray, n: int) -> Tally:
    """Count how often each graph has each key."""
    order = np.lexsort((keys, owners))
    keys, owners = keys[order], owners[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    places = np.flatnonzero(new)
    counts = np.diff(np.append(places, len(keys))).astype(np.float64)
    return Tally(keys[places], counts, np.searchsorted(owners[places], np.arange(n), side="right"))


def _matrix(tally: Tally, things: np.ndarray) -> Any:
    """Return the counts of the given things as a CSR matrix."""
    columns = np.searchsorted(things, tally.keys)
    known = columns < len(things)
    known[known] = things[columns[known]] == tally.keys[known]
    return count_matrix(tally.counts, np.where(known, columns, -1), tally.ends, len(things))
