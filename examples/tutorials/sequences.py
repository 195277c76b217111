"""
Protein and DNA sequences
=========================

Two proteins of the same family have a piece in common, a *domain*. But evolution has worked on it: residues were
replaced, often by similar ones, and others were lost or added. Biologists compare such sequences by *alignment*. This
tutorial trains a classifier on alignment scores. For comparison, we also use a kernel SVM, counts of short pieces
(k-mers) and the nearest neighbor.

You need: the extras ``bio`` and ``plots``. Run ``pip install ".[bio,plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# Make three families
# -------------------
# Each family has a domain of 40 residues. Every protein has its own version of it: more than half of the residues were
# replaced, often by one with similar chemistry, and some were lost or added. What comes before and after the domain is
# random. A fourth class has no domain at all.

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE, GREEN, GRAY = "#0b6e99", "#d9730d", "#4d8f3a", "#9b9a97"
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
PERCENT = [8.3, 1.4, 5.5, 6.7, 3.9, 7.1, 2.3, 5.9, 5.8, 9.7]  # how frequent they are
PERCENT += [2.4, 4.1, 4.7, 3.9, 5.5, 6.6, 5.3, 6.9, 1.1, 2.9]
GROUPS = ("ILVM", "FWY", "KRH", "DE", "ST", "NQ", "AG", "C", "P")  # of similar chemistry
SIMILAR = {one: group for group in GROUPS for one in group}


def random_sequence(n, rng):
    return "".join(rng.choice(list(RESIDUES), n, p=np.divide(PERCENT, sum(PERCENT))))


def evolve(domain, rng, replaced=0.6, gaps=0.08):
    new = []
    for residue, chance in zip(domain, rng.random(len(domain)), strict=True):
        if chance < gaps / 2:
            continue  # lost
        if chance < gaps:
            new.append(random_sequence(1, rng))  # added
        if rng.random() < replaced:
            alike = rng.random() < 0.6
            residue = rng.choice(list(SIMILAR[residue])) if alike else random_sequence(1, rng)
        new.append(str(residue))
    return "".join(new)


def make_proteins(each, rng):
    proteins, y, places = [], [], []
    for family in ("A", "B", "C", "none"):
        for _ in range(each):
            before, after = (random_sequence(rng.integers(10, 60), rng) for _ in range(2))
            middle = random_sequence(40, rng) if family == "none" else evolve(DOMAINS[family], rng)
            proteins.append(before + middle + after)
            y.append(family)
            places.append((len(before), len(middle)))
    return proteins, np.array(y), places


rng = np.random.default_rng(0)
DOMAINS = {family: random_sequence(40, rng) for family in "ABC"}
X, y, places = make_proteins(25, rng)
X_test, y_test, _ = make_proteins(50, rng)
print(f"the domain of family A    {DOMAINS['A']}")
for protein, (start, length) in zip(X[:3], places, strict=False):
    print(f"as some protein has it    {protein[start : start + length]}")

# %%
# In a picture: a line is a protein, and the domain is the part in color. Nobody tells the classifier where that is.

figure, axes = plt.subplots(1, 4, figsize=(7, 3), sharex=True, layout="constrained")
for ax, family, color in zip(axes, ("A", "B", "C", "none"), (BLUE, ORANGE, GREEN, GRAY), strict=True):
    for line, number in enumerate(np.flatnonzero(y == family)):
        ax.barh(line, len(X[number]), color=GRAY, height=0.25)
        if family != "none":
            ax.barh(line, places[number][1], left=places[number][0], color=color, height=0.8)
    ax.set(title=f"family {family}" if family != "none" else "no domain", yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
figure.supxlabel("place in the protein", fontsize=10)

# %%
# Why an alignment
# ----------------
# *Local alignment* (Smith-Waterman) finds the piece of one sequence and the piece of another that fit best, whatever is
# around them. A table of scores, BLOSUM62, says how likely it is that one residue takes the place of another, and gaps
# cost something. *K-mers* only count the pieces of k residues that both sequences have, letter by letter.
#
# The figure shows how similar the training proteins are to each other. Proteins of a family are next to each other, so
# a good measure shows three bright squares.

from besvm.similarities import KMers, LocalAlignment

figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
for ax, title, similarity in (
    (axes[0], "3-mers", KMers(3)),
    (axes[1], "local alignment", LocalAlignment()),
):
    matrix = similarity(X, X)
    np.fill_diagonal(matrix, 0)
    ax.imshow(matrix, cmap="magma", vmax=np.quantile(matrix, 0.995))
    ax.set(title=title, xticks=np.arange(12, 100, 25), yticks=np.arange(12, 100, 25))
    ax.set_xticklabels(["A", "B", "C", "none"])
    ax.set_yticklabels(["A", "B", "C", "none"])
    ax.tick_params(length=0)

# %%
# Train
# -----
# ``"align-local"`` is the name of that measure. A BE-SVM describes a protein by its alignment scores with the training
# proteins, the *exemplars*, and trains a linear classifier on these numbers. ``basis=1.0`` makes all of them exemplars;
# with thousands, a few hundred are enough.

from besvm import BESVMClassifier

scores = {}
for name, measure in {
    "BE-SVM, 2-mers": KMers(2),
    "BE-SVM, 3-mers": KMers(3),
    "BE-SVM, global alignment": "align-global",
    "BE-SVM, local alignment": "align-local",
}.items():
    scores[name] = BESVMClassifier(measure, basis=1.0).fit(X, y).score(X_test, y_test)
    print(f"{name:26} {scores[name]:.3f}")

# %%
# *Global* alignment compares the sequences from end to end. It does well here too, because a long gap costs little more
# than a short one.
#
# Choose parameters
# -----------------
# How long the rest of a protein is should not count. By default, a score is normalized by the scores of both sequences
# with themselves, which grow with their lengths. ``normalize="exemplar"`` divides by that of the exemplar alone, and
# ``False`` leaves the score unchanged. ``gap_open`` is what a gap costs. Search both on the training proteins:
# ``measures__`` stands before the parameters of the measure.

from sklearn.model_selection import GridSearchCV

search = GridSearchCV(
    BESVMClassifier("align-local", basis=1.0, C=10.0, probability=False),
    {"measures__normalize": [True, "exemplar", False], "measures__gap_open": [6, 11]},
    cv=3,
).fit(X, y)
found = search.cv_results_
for chosen, score in zip(found["params"], found["mean_test_score"], strict=True):
    gap_open, normalize = chosen["measures__gap_open"], chosen["measures__normalize"]
    print(f"{score:.3f}  gap_open = {gap_open:2}, normalize = {normalize}")
scores["BE-SVM, local alignment, tuned"] = search.score(X_test, y_test)
print(f"\nthe best of them on the test proteins: {scores['BE-SVM, local alignment, tuned']:.3f}")

# %%
# What about a kernel SVM?
# ------------------------
# A kernel SVM takes the matrix of all scores between training proteins. It is made for matrices that are *positive
# definite* (no eigenvalue is negative). Alignment scores are not guaranteed to be that. Here, those of local alignment
# happen to be, and those of global alignment are not. ``SVC`` trains on both. It gets the tuned measure, too.

from sklearn.svm import SVC

from besvm.similarities import GlobalAlignment

tuned = {name.removeprefix("measures__"): value for name, value in search.best_params_.items()}
for name, measure in {
    "global alignment": GlobalAlignment(),
    "local alignment": LocalAlignment(),
    "local alignment, tuned": LocalAlignment(**tuned),
}.items():
    matrix = measure(X, X)
    svc = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}, cv=3).fit(matrix, y)
    scores[f"kernel SVM, {name}"] = svc.score(measure(X_test, X), y_test)
    smallest = np.linalg.eigvalsh(matrix)[0]
    print(f"{name:23} {scores[f'kernel SVM, {name}']:.3f}, smallest eigenvalue {smallest:.2f}")

# %%
# That is a little less than the BE-SVMs have with the same measures. Over eight draws of the data (seeds 0 to 7), the
# means are .936 against .956 for global alignment, .916 against .938 for local alignment, and .954 against .971 if both
# choose ``gap_open`` and ``normalize`` by cross-validation (the SVM without "exemplar", which is not symmetric).
#
# Other tools
# -----------
# What people also use: the protein with the best alignment score (the nearest neighbor, as in a BLAST search), and
# k-mers with a linear SVM.

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

raw = LocalAlignment(normalize=False)(X_test, X)
nearest = y[raw.argmax(axis=1)]
scores["nearest neighbor, local alignment"] = np.mean(nearest == y_test)
pieces = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False)
linear = GridSearchCV(make_pipeline(pieces, LinearSVC()), {"linearsvc__C": [0.1, 1.0, 10.0]}, cv=3)
scores["1- to 3-mers, LinearSVC"] = linear.fit(X, y).score(X_test, y_test)

for family in ("A", "B", "C", "none"):
    both = [np.mean(found[y_test == family] == family) for found in (nearest, search.predict(X_test))]
    print(f"family {family:5} nearest neighbor {both[0]:.2f}, BE-SVM {both[1]:.2f}")

ranked = sorted(scores, key=scores.get)
figure, ax = plt.subplots(figsize=(7, 3.9), layout="constrained")
colors = [BLUE if "BE" in name else GRAY for name in ranked]
bars = ax.barh(ranked, [scores[name] for name in ranked], color=colors)
ax.bar_label(bars, fmt="%.3f", padding=4)
ax.set(xlim=(0, 1.15), xlabel="share of the 200 test proteins that are right")
ax.spines[["top", "right"]].set_visible(False)

# %%
# The nearest neighbor finds every domain. But it also finds one where there is none, because some protein is always the
# nearest. The BE-SVM has learned from the proteins without a domain how high a score must be to mean anything.
#
# Which proteins decided?
# -----------------------
# An explanation marks what two proteins have in common. Here is the protein of family B that the model is least sure of
# among those that it gets right.

import besvm

model = search.best_estimator_.set_params(probability=True).fit(X, y)
right = (y_test == "B") & (model.predict(X_test) == "B")
case = int(np.where(right, model.predict_proba(X_test).max(axis=1), 1).argmin())
why = besvm.explain(model, X_test[case])
print(why.top(6))

# %%
# Identical residues that were aligned with each other are marked. Residues that were replaced by others are aligned
# too, and count for the score, but they are not marked.

figure = why.plot(top=2, columns=1, figure=plt.figure())
plt.show()

# %%
# DNA, and other letters
# ----------------------
# For DNA, choose a table of scores for nucleotides, ``LocalAlignment("NUC.4.4", gap_open=10)``, or two numbers for a
# match and a mismatch, ``LocalAlignment((2, -3), gap_open=5, gap_extend=2)``. A dict of pairs gives scores for any
# letters at all. ``KMers`` takes any text. For a file with a column of protein sequences, ``besvm train
# proteins.csv`` uses alignments and k-mers, if the extra ``bio`` is installed.
#
# When another tool is the better one
# -----------------------------------
# - If you know the domain, a profile of it (HMMER) is more sensitive than comparing pairs, and finds where it is.
# - If you have many thousands of labeled sequences, or classes that depend on subtle signals, use a protein language
#   model: a linear classifier on its embeddings will be more accurate.
# - If the sequences are long genomes, alignment takes too long. Use k-mers with a linear model, or sketches of them.
# - If you want to know what a sequence *is*, search a database (BLAST, MMseqs2) instead of training anything.
