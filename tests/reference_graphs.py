"""Graphs compared by dictionaries and sorted tuples: the naive loops that the fast ways are checked against.

A graph is a networkx graph whose nodes, and maybe edges, have the attribute "label".
"""

from collections import Counter, deque

import numpy as np


def around(graph, node, labels):
    """Return what a node sees ahead and behind, sorted."""
    if graph.is_directed():
        ahead, behind = graph.successors(node), graph.predecessors(node)
    else:
        ahead, behind = graph.neighbors(node), graph.neighbors(node)
    return (
        tuple(sorted((labels[other], str(graph.edges[node, other].get("label"))) for other in ahead)),
        tuple(sorted((labels[other], str(graph.edges[other, node].get("label"))) for other in behind)),
    )


def weisfeiler_lehman(graph, iterations):
    """Count the labels of all rounds; a label is a text that spells out all that the node sees."""
    labels = {node: str(graph.nodes[node].get("label")) for node in graph}
    counts = Counter(labels.values())
    for _ in range(iterations):
        labels = {node: f"({labels[node]} {around(graph, node, labels)})" for node in graph}
        counts.update(labels.values())
    return counts


def shortest_paths(graph):
    """Count the triples of two labels and the length of the shortest path between, looked for from every node."""
    counts = Counter()
    for start in graph:
        steps, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            for other in graph.adj[node]:
                if other not in steps:
                    steps[other] = steps[node] + 1
                    queue.append(other)
        for end, length in steps.items():
            if end != start:
                counts[str(graph.nodes[start].get("label")), str(graph.nodes[end].get("label")), length] += 1
    return counts


def compared(a, b, compare, normalize):
    """Return the similarity of two counters."""

    def shared(one, other):
        if compare == "dot":
            return sum(count * other[key] for key, count in one.items())
        return sum(min(count, other[key]) for key, count in one.items())

    if not normalize:
        return shared(a, b)
    if not a and not b:
        return 1.0
    return shared(a, b) / np.sqrt(shared(a, a) * shared(b, b)) if a and b else 0.0


def matrix(counters, exemplars, compare="dot", normalize=True):
    return np.array([[compared(b, a, compare, normalize) for b in exemplars] for a in counters])
