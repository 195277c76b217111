"""The similarities of graphs against the naive loops, and the forms that graphs come in."""

import pickle
import subprocess
import sys
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

import reference_graphs
from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.similarities import ShortestPath, WeisfeilerLehman
from besvm.testing import check_similarity


def test_labels_under_another_name_are_pointed_out():
    rings = [nx.cycle_graph(6) for _ in range(4)]
    for ring in rings:
        nx.set_node_attributes(ring, {node: float(node) for node in ring}, "x")
    WeisfeilerLehman().fit(rings)  # places are no labels
    for ring in rings:
        nx.set_node_attributes(ring, {node: "CN"[node % 2] for node in ring}, "element")
    with pytest.warns(UserWarning, match="have no attribute 'label', but 'element', .* set labels='element'"):
        WeisfeilerLehman().fit(rings)
    WeisfeilerLehman(labels="element").fit(rings)
    with pytest.raises(TypeError, match="X must hold samples, got a single Graph; put it into a list"):
        BESVMClassifier("weisfeiler-lehman").fit(rings[0], [0, 1])


@st.composite
def graphs(draw, labeled=True, edge_labels=False, directed=False):
    n = draw(st.integers(1, 7))
    graph = nx.DiGraph() if directed else nx.Graph()
    for node in range(n):
        graph.add_node(node, **({"label": draw(st.sampled_from("CNO"))} if labeled else {}))
    for u, v in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)):
        graph.add_edge(u, v, **({"label": draw(st.integers(1, 2))} if edge_labels else {}))
    return graph


def random_graphs(rng, n, directed=False):
    out = []
    for _ in range(n):
        graph = nx.gnp_random_graph(int(rng.integers(3, 15)), 0.25, seed=int(rng.integers(1000)), directed=directed)
        nx.set_node_attributes(graph, {node: int(rng.integers(3)) for node in graph}, "label")
        out.append(graph)
    return out


@pytest.mark.parametrize("compare", ["dot", "intersection"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    ("similarity", "count"),
    [
        (WeisfeilerLehman(0), partial(reference_graphs.weisfeiler_lehman, iterations=0)),
        (WeisfeilerLehman(3), partial(reference_graphs.weisfeiler_lehman, iterations=3)),
        (ShortestPath(), reference_graphs.shortest_paths),
    ],
)
@pytest.mark.parametrize(
    "kind", [{}, {"labeled": False}, {"edge_labels": True}, {"directed": True}, {"directed": True, "edge_labels": True}]
)
@given(data=st.data())
@settings(max_examples=8)
def test_equals_the_naive_loop(similarity, count, compare, normalize, kind, data):
    several = data.draw(st.lists(graphs(**kind), min_size=1, max_size=6))
    exemplars = several[::2]
    got = similarity.set_params(compare=compare, normalize=normalize)(several, exemplars)
    expected = reference_graphs.matrix(map(count, several), list(map(count, exemplars)), compare, normalize)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["weisfeiler-lehman", "shortest-path"])
@pytest.mark.parametrize("compare", ["dot", "intersection"])
def test_keeps_the_contract(name, compare, rng):
    several = random_graphs(rng, 12)
    check_similarity(name, several)
    similarity = {"weisfeiler-lehman": WeisfeilerLehman, "shortest-path": ShortestPath}[name](compare=compare)
    check_similarity(similarity, several)
    check_similarity(similarity, random_graphs(rng, 8, directed=True))
    assert np.array_equal(pickle.loads(pickle.dumps(similarity))(several, several), similarity(several, several))


def as_pair(graph, make):
    return make(nx.to_numpy_array(graph)), [graph.nodes[node]["label"] for node in graph]


def as_edges(graph):
    names = {node: f"n{node}" for node in graph}
    return [(names[u], names[v]) for u, v in graph.edges], {names[n]: graph.nodes[n]["label"] for n in graph}


@pytest.mark.parametrize("similarity", [WeisfeilerLehman(), ShortestPath()])
@pytest.mark.parametrize(
    "form",
    [
        as_edges,
        lambda graph: (list(graph.edges), [graph.nodes[node]["label"] for node in graph]),
        lambda graph: (
            np.array([*graph.edges, *graph.edges, *graph.edges]).reshape(-1, 2),
            [graph.nodes[node]["label"] for node in graph],
        ),
        lambda graph: (list(graph.edges), np.array([graph.nodes[node]["label"] for node in graph])),
        *(partial(as_pair, make=make) for make in (np.asarray, csr_matrix, csr_array, lambda a: a.astype(bool))),
        lambda graph: (3.5 * nx.to_numpy_array(graph), nx.get_node_attributes(graph, "label")),
        lambda graph: nx.MultiGraph(graph),
        lambda graph: nx.relabel_nodes(graph, {node: (node, "x") for node in graph}),
    ],
)
def test_every_form_of_a_graph_is_the_same_graph(similarity, form, rng):
    several = random_graphs(rng, 6)
    expected = similarity(several, several)
    np.testing.assert_allclose(similarity([form(graph) for graph in several], several), expected)


def test_graphs_without_labels_in_every_form():
    path = nx.path_graph(3)
    edges = [(0, 1), (1, 2)]
    same = [path, edges, np.array([*edges, (1, 0)]), nx.to_numpy_array(path), csr_matrix(nx.to_numpy_array(path))]
    for similarity in (WeisfeilerLehman(), ShortestPath()):
        np.testing.assert_allclose(
            similarity([*same, (edges, None), (np.array([*edges, (1, 0)]), [None] * 3)], [path]), 1
        )


def test_edges_that_come_twice_count_once_and_loops_count():
    plain, twice, loop = [(0, 1), (1, 2)], [(0, 1), (1, 0), (1, 2), (1, 2)], [(0, 1), (1, 2), (1, 1)]
    got = WeisfeilerLehman(2)([twice, loop], [plain])
    assert got[0, 0] == 1 > got[1, 0]
    assert ShortestPath()([loop], [plain]) == 1


def test_arrows_have_a_direction():
    ahead, back = nx.DiGraph([(0, 1), (0, 2)]), nx.DiGraph([(1, 0), (2, 0)])
    undirected = nx.Graph([(0, 1), (0, 2)])
    for similarity in (WeisfeilerLehman(normalize=False), ShortestPath(normalize=False)):
        both_ways = similarity([undirected.to_directed()], [undirected])
        np.testing.assert_allclose(both_ways, similarity([undirected], [undirected]))
        np.testing.assert_allclose(similarity([nx.to_numpy_array(ahead)], [ahead]), similarity([ahead], [ahead]))
    assert WeisfeilerLehman()([ahead], [back]) < 1
    assert WeisfeilerLehman()([ahead], [undirected]) < 1


def test_labels_that_are_equal_are_one_label():
    def node(label):
        return [], [label]

    got = WeisfeilerLehman(1)([node(1), node(1.0), node(True), node(np.int64(1)), node("1"), node((1, 2))], [node(1)])
    np.testing.assert_array_equal(got[:, 0], [1, 1, 1, 1, 0, 0])


@pytest.mark.slow
def test_the_numbers_are_the_same_in_another_process():
    """Python's own hash of a text differs from process to process."""
    code = (
        "from besvm.similarities.graph_forms import read_graphs\n"
        "from besvm.similarities import WeisfeilerLehman\n"
        "print(*WeisfeilerLehman(2).tally(read_graphs([([(0, 1)], ['C', 'N'])], 'label')).keys)"
    )
    outputs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(outputs) == 1
    assert b"8" in outputs.pop()


def test_graphs_without_paths():
    nodes, path = ([], [0, 0]), ([(0, 1)], [0, 0])
    np.testing.assert_array_equal(ShortestPath()([nodes, path], [nodes, path]), np.eye(2))
    np.testing.assert_array_equal(ShortestPath(normalize=False)([nodes], [nodes, path]), [[0, 0]])


def test_nothing_to_compare():
    path = [(0, 1)]
    for similarity in (WeisfeilerLehman(), ShortestPath()):
        assert similarity([], [path]).shape == (0, 1)
        assert similarity([path], []).shape == (1, 0)


def test_a_large_graph_is_looked_at_some_nodes_at_a_time(monkeypatch, rng):
    several = random_graphs(rng, 5)
    expected = ShortestPath()(several, several)
    monkeypatch.setattr("besvm.similarities.graphs.PAIRS_AT_ONCE", 20)
    np.testing.assert_allclose(ShortestPath()(several, several), expected)


def test_threads_equal_one(rng):
    several = random_graphs(rng, 60)
    for similarity in (WeisfeilerLehman(), ShortestPath()):
        with workers(1):
            one = similarity(several, several)
        with workers(3):
            assert np.array_equal(similarity(several, several), one)


def test_a_classifier_tells_rings_from_trees(rng):
    y = np.array([0, 1] * 20)
    sizes = rng.integers(4, 12, len(y)).tolist()
    several = [(nx.cycle_graph if ring else nx.path_graph)(n) for n, ring in zip(sizes, y, strict=True)]
    for name in ("weisfeiler-lehman", "shortest-path"):
        clf = BESVMClassifier(name, basis=10, random_state=0).fit(several[:30], y[:30])
        assert clf.score(several[30:], y[30:]) > 0.8


HALF = nx.path_graph(2)
HALF.nodes[0]["label"] = "C"
HALF_EDGES = nx.Graph([(0, 1, {"label": 1}), (1, 2)])
FINE = ([(0, 1)], ["C", "N"])


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (nx.Graph(), "graph 1 has no nodes; remove it"),
        ([], "graph 1 has no nodes"),
        (HALF, "graph 1 must have a label for every node or for none, but node 1 has none"),
        (HALF_EDGES, r"graph 1 must have a label for every edge or for none, but edge \(1, 2\) has none"),
        (([(0, 1)], ["C", None]), "graph 1 must have a label for every node or for none, but node 1 has none"),
        ([(0, 1)], "graph 1 has no labels for its nodes, but others have some; label the nodes of all"),
        (([(0, 1, "=")], ["C", "N"]), "graph 1 has labels for its edges, but others have none"),
        (np.array([[0, 1], [1, 0]]), "graph 1 has a 2 x 2 array of integers, which could be a matrix or two edges"),
        ((np.array([(0, 1), (1, 5), (0, 1)]), ["C", "N"]), "graph 1 must have .* node 5 has none"),
        (([(0, 5)], ["C", "N"]), "graph 1 must have a label for every node in its edges, but node 5 has none"),
        (([(0, 1)], ["C", np.nan]), "graph 1 must have labels that are finite numbers, strings or tuples"),
        (([(0, 1)], [{}, {}]), "graph 1 must have labels that are finite numbers"),
        ((np.eye(3), ["C"]), "graph 1 must have a label for each of its 3 nodes, got 1"),
        ((np.full((2, 2), np.nan), ["C", "N"]), "graph 1 must have an adjacency matrix without NaN"),
        ((csr_matrix((2, 3)), None), "graph 1 must have a square adjacency matrix, got 2 x 3"),
        (np.array([["a", "b"], ["c", "d"]]), "graph 1 must have an adjacency matrix of numbers"),
        ([(0, 1, 2, 3)], r"graph 1 must have edges \(u, v\) or \(u, v, label\), got \(0, 1, 2, 3\)"),
        ([0, 1], r"graph 1 must have edges \(u, v\)"),
        ([([], {})], "graph 1 must have hashable nodes"),
        (None, "graph 1 must be a networkx graph, .* got None"),
        ("graph", "graph 1 must be a networkx graph"),
        (([(0, 1)], "CN"), "graph 1 must have a label for each node, got the string 'CN'"),
        (([(0, 1)], 3), "graph 1 must have labels as a list or a dict, got 3"),
    ],
)
def test_what_is_wrong_with_a_graph_is_said_with_its_number(bad, sentence):
    for similarity in (WeisfeilerLehman(), ShortestPath()):
        with pytest.raises(ValueError, match=sentence):
            similarity.fit([FINE, bad])
        with pytest.raises(ValueError, match=sentence):
            similarity([FINE, bad], [FINE])


@pytest.mark.parametrize(
    ("similarity", "sentence"),
    [
        (WeisfeilerLehman(iterations=-1), "iterations must be a whole number of at least 0, got -1"),
        (WeisfeilerLehman(compare="min"), "compare must be 'dot' or 'intersection', got 'min'"),
        (ShortestPath(normalize=None), "normalize must be True or False, got None"),
        (ShortestPath(labels=3), "labels must be the name of an attribute, such as 'label', got 3"),
    ],
)
def test_parameters_are_checked(similarity, sentence):
    with pytest.raises(ValueError, match=sentence):
        similarity.fit([FINE])
