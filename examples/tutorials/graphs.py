"""
Graphs
======

Molecules, circuits, programs and family trees are graphs: things made of parts and of connections between them. You
cannot put a graph into a table without losing what is connected to what. But you can compare two graphs. This tutorial
classifies molecules that consist of the same atoms and differ only in how these are put together.

The graphs come from ``networkx`` here. Lists of edges and adjacency matrices work as well.

You need: the extra ``plots``, and networkx. Run ``pip install ".[plots]" networkx`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# Make some molecules
# -------------------
# Every molecule has one or two rings of carbon, one or two chains, a *nitro group* (a nitrogen with two oxygens), and a
# few other atoms. If the nitro group sits on a ring, the molecule is active. If it sits on a chain, it is not. (Real
# chemistry is not that simple. But nitro groups on rings are indeed one reason why some molecules damage DNA.) Half of
# the molecules also have an *isopropyl group* somewhere (a carbon with two carbons). It has the same shape as a nitro
# group, so the shape alone is not enough. A node of the graph is an atom with its element as ``label``, and an edge is
# a bond.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

BLUE, ORANGE, GRAY = "#0b6e99", "#d9730d", "#9b9a97"


def make_molecule(active, rng):
    graph = nx.Graph()

    def add(element, to=None):
        node = len(graph)
        graph.add_node(node, label=element)
        if to is not None:
            graph.add_edge(node, int(to))
        return node

    def chain(length, to=None):
        nodes = [add("C", to)]
        while len(nodes) < length:
            nodes.append(add("C", nodes[-1]))
        return nodes

    def ring(size, to=None):
        nodes = chain(size, to)
        graph.add_edge(nodes[0], nodes[-1])
        return nodes

    def free(nodes):  # a carbon has room for one more bond
        return rng.choice([node for node in nodes if graph.degree(node) < 3])

    rings = ring(6)
    if rng.random() < 0.5:
        rings += ring(rng.integers(5, 7), to=chain(rng.integers(1, 3), to=free(rings))[-1])
    chains = chain(rng.integers(2, 5), to=free(rings))
    if rng.random() < 0.5:
        chains += chain(rng.integers(2, 5), to=free(rings))
    nitrogen = add("N", free(rings if active else chains))
    add("O", nitrogen)
    add("O", nitrogen)
    if rng.random() < 0.5:
        carbon = add("C", free(rings + chains))
        add("C", carbon)
        add("C", carbon)
    for element in rng.choice(["C", "N", "O", "Cl"], rng.integers(1, 4)):
        add(str(element), free(rings + chains))
    return graph


rng = np.random.default_rng(0)
y, y_test = (rng.choice(["active", "inactive"], n) for n in (200, 300))
X, X_test = ([make_molecule(label == "active", rng) for label in labels] for labels in (y, y_test))
print(X[0])
print(X[0].nodes(data="label"))

# %%
# What they look like:

ATOMS = {"C": "#55534e", "N": BLUE, "O": "#c8322b", "Cl": "#4d8f3a"}


def draw(graph, ax):
    elements = [element for _, element in graph.nodes(data="label")]
    layout = nx.kamada_kawai_layout(graph)
    nx.draw_networkx_edges(graph, layout, ax=ax, edge_color=GRAY, width=1.5)
    colors = [ATOMS[one] for one in elements]
    nx.draw_networkx_nodes(graph, layout, ax=ax, node_size=75, node_color=colors)
    ax.axis("off")
    ax.margins(0.1)
    ax.set_aspect("equal")


figure, axes = plt.subplots(2, 4, figsize=(7, 3.9), layout="constrained")
for row, label in zip(axes, ("active", "inactive"), strict=True):
    for ax, number in zip(row, np.flatnonzero(y == label), strict=False):
        draw(X[number], ax)
        ax.set_title(label, fontsize=10)
handles = [plt.Line2D([], [], marker="o", ls="", color=color, label=one) for one, color in ATOMS.items()]
figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)

# %%
# Counting atoms is not enough
# ----------------------------
# The simplest way is to count the atoms of each element, and the bonds, and to train any classifier on this table. Both
# kinds of molecules are made of the same atoms, so this is no better than tossing a coin.

from sklearn.ensemble import RandomForestClassifier


def count(graphs):
    rows = []
    for graph in graphs:
        elements = [element for _, element in graph.nodes(data="label")]
        rows.append([*map(elements.count, ATOMS), len(graph.edges)])
    return np.array(rows)


forest = RandomForestClassifier(50, random_state=0).fit(count(X), y)
counted = forest.score(count(X_test), y_test)
print(f"random forest, counts of atoms  {counted:.3f}")

# %%
# Measures of graphs
# ------------------
# - ``"weisfeiler-lehman"`` counts *neighborhoods*. In every round, each node looks at its neighbors and takes a new
#   label that stands for its own and theirs. After one round, a nitrogen knows that it has two oxygens and a carbon.
#   After two, it knows what that carbon is bound to, and so on. Two graphs are similar if many of their nodes have the
#   same label.
# - ``"shortest-path"`` counts pairs of nodes: an oxygen and a chlorine that are five bonds apart, and so on.
#
# A BE-SVM describes a molecule by its similarities to the training molecules, the *exemplars*, and trains a linear
# classifier on these numbers. ``basis=1.0`` makes all of them exemplars.

from besvm import BESVMClassifier

scores = {"random forest, counts of atoms": counted}
for name in ("shortest-path", "weisfeiler-lehman"):
    scores[f"BE-SVM, {name}"] = BESVMClassifier(name, basis=1.0).fit(X, y).score(X_test, y_test)
    print(f"BE-SVM, {name:18} {scores[f'BE-SVM, {name}']:.3f}")

# %%
# The measures take the elements from the attribute ``label`` of the nodes. If yours has another name, say so:
# ``WeisfeilerLehman(labels="element")``. Bonds may have labels too, in an attribute of the same name. Without any
# labels, as in a plain list of edges, all atoms look alike at first, and the model is less accurate:

plain, plain_test = ([list(graph.edges) for graph in graphs] for graphs in (X, X_test))
model = BESVMClassifier("weisfeiler-lehman", basis=1.0).fit(plain, y)
print(f"weisfeiler-lehman without elements  {model.score(plain_test, y_test):.3f}")

# %%
# Choose parameters
# -----------------
# How many rounds? With none, Weisfeiler-Lehman counts atoms like the forest above. With more, it sees farther, but
# fewer neighborhoods are the same in two molecules. ``measures__iterations`` is the parameter ``iterations`` of the
# measure, and ``measures__compare`` says whether the counts of two graphs are multiplied or the smaller one is taken.
# ``GridSearchCV`` tries all of them on the training molecules.

from sklearn.model_selection import GridSearchCV

rounds = [0, 1, 2, 3, 5]
search = GridSearchCV(
    BESVMClassifier("weisfeiler-lehman", basis=1.0, C=10.0, probability=False),
    {"measures__compare": ["dot", "intersection"], "measures__iterations": rounds},
    cv=3,
).fit(X, y)
found = search.cv_results_["mean_test_score"].reshape(2, len(rounds))
scores["BE-SVM, Weisfeiler-Lehman, tuned"] = search.score(X_test, y_test)
print(search.best_params_)
print(f"on the test molecules: {scores['BE-SVM, Weisfeiler-Lehman, tuned']:.3f}")

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(rounds, found[0], "o-", color=BLUE, label="counts multiplied")
ax.plot(rounds, found[1], "o-", color=ORANGE, label="smaller count")
ax.axhline(0.5, color=GRAY, linestyle=":")
ax.text(5, 0.48, "tossing a coin", ha="right", va="top", color="#6b6a66", fontsize=9)
ax.set(xlabel="rounds of Weisfeiler-Lehman", ylabel="right, in cross-validation", ylim=(0.4, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")

# %%
# What about a kernel SVM?
# ------------------------
# These two measures happen to be valid kernels ("positive definite"), so a kernel SVM can use them too, as long as the
# matrix of all pairs of training graphs fits into memory. It does better here, and over eight draws of the molecules
# (seeds 0 to 7), with means of .897 against .867:

from sklearn.svm import SVC

from besvm.similarities import WeisfeilerLehman

best = {name.removeprefix("measures__"): value for name, value in search.best_params_.items()}
kernel = WeisfeilerLehman(**best)
svc = SVC(C=10.0, kernel="precomputed").fit(kernel(X, X), y)
print(f"SVC, the same measure  {svc.score(kernel(X_test, X), y_test):.3f}")

# %%
# Which molecules decided?
# ------------------------
# ``besvm.explain`` lists what every training molecule adds to a class or takes away. Being *less* similar than usual to
# an inactive molecule speaks against "inactive", so both kinds of molecules are in the table. Among those that the test
# molecule is *more* similar to than usual, we draw the five that contributed most. (The test molecule is one without a
# near copy in the training data.)

import besvm

model = BESVMClassifier(kernel, basis=1.0).fit(X, y)
twin = kernel(X_test, X).max(axis=1) > 0.7
case = int(np.where(twin, 0, model.predict_proba(X_test).max(axis=1)).argmax())
why = besvm.explain(model, X_test[case])
print(why.top(6))

# %%

pulled = [one for one in why.contributions if one.similarity > one.usual][:5]
figure, axes = plt.subplots(2, 3, figsize=(7, 4.6), layout="constrained")
draw(X_test[case], axes[0, 0])
axes[0, 0].set_title(f"test molecule, predicted:\n{why.prediction}", fontsize=10, fontweight="bold")
for ax, one in zip(axes.flat[1:], pulled, strict=True):
    draw(X[one.row], ax)
    value = one.contribution[why.prediction]
    ax.set_title(f"{one.label}, similarity {one.similarity:.2f}\nadds {value:+.2f}", fontsize=10)
    ax.title.set_color(BLUE if value > 0 else ORANGE)
plt.show()

# %%
# When another tool is the better one
# -----------------------------------
# - If your measure is a kernel and you have a few thousand graphs at most, a kernel SVM is as good or better.
#   ``GraKeL`` has many more kernels for graphs. besvm pays off with more graphs than that, and with measures that are
#   not kernels, such as a similarity of your own.
# - If the graphs are molecules, also try what chemists use: fingerprints and gradient boosting.
#   (``besvm.features.Fingerprints`` computes them with RDKit, for the measure ``"tanimoto"``.)
# - If you have many thousands of labeled graphs, or nodes with many numbers on them, a graph neural network will be
#   more accurate (PyTorch Geometric, DGL).
# - If you have *one* large graph and want to classify its nodes, use another tool: besvm compares whole graphs.
