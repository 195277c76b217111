"""
Your own similarity
===================

You know when two of your samples are alike, but no library has that measure. Write it down as a Python function of
two samples, and besvm trains a classifier on it. Once that works, you can make it fast: compile the function, or
compare whole blocks of samples at once.

This tutorial takes one similarity through all three forms, checks that they agree, and measures what each is worth.
It also explains what *asymmetric* and *indefinite* similarities are. Kernel methods are not made for them; besvm is.

You need: the extra ``plots``. Run ``pip install ".[plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# The samples: leaves on a scanner
# --------------------------------
#
# Somebody scans leaves of four kinds of trees. Each outline becomes 48 numbers: walk once around the leaf and
# write down how far the edge lies from the middle, compared with a circle of the same size. Leaves drop onto
# the glass in any direction, so one leaf can begin anywhere in its list of 48 numbers.

import matplotlib.pyplot as plt
import numpy as np

N_ANGLES = 48
ANGLES = np.linspace(0, 2 * np.pi, N_ANGLES, endpoint=False)
SHAPES = {
    "oak": 0.25 * np.cos(2 * ANGLES) + 0.16 * np.cos(7 * ANGLES),
    "maple": 0.20 * np.cos(ANGLES) + 0.38 * np.cos(5 * ANGLES),
    "linden": 0.12 * np.cos(ANGLES) + 0.18 * np.cos(2 * ANGLES) + 0.10 * np.cos(3 * ANGLES),
    "ginkgo": 0.30 * np.cos(ANGLES) - 0.22 * np.cos(2 * ANGLES) + 0.16 * np.cos(3 * ANGLES),
}


def scan_leaves(n, seed):
    """Return n outlines, each grown a little differently and turned at random, and the trees they come from."""
    rng = np.random.default_rng(seed)
    trees = rng.choice(list(SHAPES), n)
    outlines = []
    for tree in trees:
        growth = sum(rng.normal(0, 0.25 / k) * np.cos(k * ANGLES + rng.uniform(0, 2 * np.pi)) for k in range(1, 9))
        radius = np.maximum(1 + SHAPES[tree] + growth, 0.2)
        outlines.append(np.roll(radius / radius.mean() - 1, rng.integers(N_ANGLES)))
    return np.array(outlines), trees


X, y = scan_leaves(300, seed=0)
X_test, y_test = scan_leaves(2_000, seed=1)

figure, axes = plt.subplots(2, 4, figsize=(7, 3.6), layout="constrained")
for tree, column in zip(SHAPES, axes.T, strict=True):
    for outline, ax in zip(X[y == tree], column, strict=False):
        radius = np.append(1 + outline, 1 + outline[0])
        around = np.append(ANGLES, 2 * np.pi)
        ax.fill(radius * np.cos(around), radius * np.sin(around), color="#4d8f3a", alpha=0.35)
        ax.plot(radius * np.cos(around), radius * np.sin(around), color="#4d8f3a")
        ax.set(aspect="equal", xlim=(-1.9, 1.9), ylim=(-1.9, 1.9))
        ax.axis("off")
    column[0].set_title(tree)

# %%
# A measure that compares the numbers place by place does not know that leaves turn:

from besvm import BESVMClassifier

plain = BESVMClassifier("rbf", basis=60, random_state=0).fit(X, y)
print(f"Gaussian kernel: {plain.score(X_test, y_test):.3f} of the test leaves are right")

# %%
# Step 1: a Python function
# -------------------------
#
# Two leaves are alike if one of them can be *turned* so that it matches the other. Try all 48 directions and
# keep the best match. That is all. The first argument is an *exemplar*, one of the few
# training samples that all others are compared with; the second is any sample.


def best_turn(exemplar, sample):
    return max(np.dot(exemplar, np.roll(sample, k)) for k in range(len(sample)))


few = slice(0, 60)
model = BESVMClassifier(best_turn, basis=15, random_state=0).fit(X[few], y[few])
print(f"best turn, Python: {model.score(X_test[few], y_test[few]):.3f} with 60 leaves and 15 exemplars")

# %%
# That works, but Python is slow here, so we used few leaves. Larger jobs are automatically spread over all
# processors. In a terminal, a bar shows how far they are; elsewhere, pass ``verbose=1``. How long does one
# comparison take? (All times below depend on the machine, and so do their ratios.)

from time import perf_counter

from besvm.similarities import PairFunction


def pairs_a_second(similarity, A, B):
    """Return how many pairs a similarity compares in a second: the best of three tries, once it is compiled."""
    similarity(A[:2], B[:2])
    seconds = []
    for _ in range(3):
        start = perf_counter()
        similarity(A, B)
        seconds.append(perf_counter() - start)
    return len(A) * len(B) / min(seconds)


speed = {"Python function": pairs_a_second(PairFunction(best_turn), X[:12], X[:12])}
print(f"{1e6 / speed['Python function']:,.0f} microseconds a pair")

# %%
# Step 2: the same function, compiled
# -----------------------------------
#
# numba turns a function of numbers into machine code. Write the loops out and put ``@njit`` on top. besvm
# notices that the function is compiled, and calls it from compiled code as well, on all threads.

from numba import njit

from besvm.similarities import CompiledFunction


@njit
def best_turn_compiled(exemplar, sample):
    n = len(sample)
    best = -np.inf
    for k in range(n):
        total = 0.0
        for i in range(n):
            total += exemplar[i] * sample[i - k]  # an index below 0 counts from the end, as np.roll does
        best = max(best, total)
    return best


model = BESVMClassifier(best_turn_compiled, basis=60, random_state=0).fit(X, y)
print(f"best turn, compiled: {model.score(X_test, y_test):.3f} with 300 leaves and 60 exemplars")
speed["compiled by numba"] = pairs_a_second(CompiledFunction(best_turn_compiled), X, X)

# %%
# Step 3: a class that compares blocks
# ------------------------------------
#
# NumPy multiplies whole matrices much faster than pair by pair. A subclass of ``Similarity`` gets many
# samples and many exemplars at once. It returns a matrix with a row for each sample and a column for each
# exemplar.
#
# A class also has a name, which ``register`` gives it, and parameters of its own. Ours is ``step``: try every
# direction, every second one, and so on. ``against`` is optional. It prepares the exemplars once, here in all
# their directions, for all blocks of samples to come.

from besvm.similarities import Similarity, register


@register("best-turn")
class BestTurn(Similarity):
    """The best match of two outlines over all directions."""

    symmetric = True  # s(a, b) = s(b, a)
    vectors = True  # samples are rows of a numeric array
    parallel = True  # threads may share it: NumPy does the work

    def __init__(self, step=1):
        self.step = step

    def __call__(self, A, B):
        return self.against(B)(A)

    def against(self, basis):
        turned = [np.roll(basis, k, axis=1).T.copy() for k in range(0, basis.shape[1], self.step)]

        def similarities(A):
            best = A @ turned[0]
            for one in turned[1:]:
                np.maximum(best, A @ one, out=best)
            return best

        return similarities


model = BESVMClassifier("best-turn", basis=60, random_state=0).fit(X, y)
print(f"best turn, blocks: {model.score(X_test, y_test):.3f} with 300 leaves and 60 exemplars")
speed["class for blocks"] = pairs_a_second(BestTurn(), X, X)

# %%
# The model is the same as with the compiled function. The speed is not:

for name, value in speed.items():
    print(f"{name:18} {value:12,.0f} pairs a second, {value / speed['Python function']:8,.0f} times the first")

figure, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
bars = ax.barh(list(speed), list(speed.values()), color=["#9b9a97", "#0b6e99", "#d9730d"])
ax.bar_label(bars, [f"{value:,.0f}" for value in speed.values()], padding=4)
ax.set(xscale="log", xlabel="pairs a second (logarithmic)")
ax.set_xlim(min(speed.values()) / 3, max(speed.values()) * 10)
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)

# %%
# Check it before you trust it
# ----------------------------
#
# besvm computes similarities in blocks, on threads, and again when you predict. That only works if the same
# two samples always give the same number. ``check_similarity`` tests this on a handful of samples. If all is
# well, it says nothing.

from besvm.testing import check_similarity

check_similarity("best-turn", X[:20])
check_similarity(best_turn_compiled, X[:20])
print("both keep the rules")

# %%
# This is the most common mistake: the numbers depend on which other samples happen to be in the block.


class Centered(Similarity):
    """A dot product, centered by the mean of the block: wrong."""

    def __call__(self, A, B):
        return (A - A.mean(axis=0)) @ B.T


try:
    check_similarity(Centered(), X[:20])
except AssertionError as error:
    print("not allowed:", str(error).strip().splitlines()[1])

# %%
# A mean over all training samples is fine. Compute it in ``fit(self, X)``, which is called once, and keep it
# in an attribute that ends in an underscore.
#
# What a name and parameters are good for
# ---------------------------------------
#
# Parameters of your class can be searched like any other. Here we ask whether fewer directions would do:

from sklearn.model_selection import GridSearchCV

search = GridSearchCV(BESVMClassifier(BestTurn(), basis=60, random_state=0), {"measures__step": [1, 4, 12]}, cv=3)
search.fit(X, y)
for step, score in zip([1, 4, 12], search.cv_results_["mean_test_score"], strict=True):
    print(f"{N_ANGLES // step:2} directions: {score:.3f}")

# %%
# A model with a named similarity can be saved to a file. A model with a plain function cannot, because model
# files hold no code. Whoever loads the file must first import the module that registers the name.

import tempfile
import textwrap
from pathlib import Path

import besvm

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "leaves.besvm"
    besvm.save(model, path)
    print("loaded:", besvm.load(path).measures)
    try:
        besvm.save(BESVMClassifier(best_turn_compiled, basis=15).fit(X, y), path)
    except TypeError as error:
        print(textwrap.fill(f"refused: {error}", 90))

# %%
# Indefinite: not a kernel, and that does no harm
# -----------------------------------------------
#
# A *kernel* is a similarity that behaves like a dot product of some hidden vectors. Then the matrix of all
# similarities has no negative eigenvalues. Ours takes the best of 48 dot products, and that is not a dot
# product any more: many eigenvalues are negative. Such a similarity is called *indefinite*.

from besvm.analysis import spectrum

S = BestTurn()(X, X)
eigenvalues = np.sort(spectrum(S).eigenvalues)[::-1]
print(f"{spectrum(S).negative_ratio:.0%} of the eigenvalues are negative")

figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
places = np.arange(1, len(eigenvalues) + 1)
ax.fill_between(places, eigenvalues, 0, where=eigenvalues > 0, step="mid", color="#0b6e99", label="positive")
ax.fill_between(places, eigenvalues, 0, where=eigenvalues < 0, step="mid", color="#d9730d", label="negative")
ax.set_yscale("symlog", linthresh=1)
ax.set(xlabel="eigenvalues of the 300 x 300 similarities, largest first", ylabel="eigenvalue")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# A kernel SVM assumes that no eigenvalue is negative. Given this matrix, it returns a result without a warning,
# but that need not be the best solution of its problem. besvm uses the similarities as *features* of
# a linear classifier. Training that classifier is a problem with one best solution, which besvm finds whatever the
# eigenvalues are.

from sklearn.svm import SVC

S_test = BestTurn()(X_test, X)
for C in (0.1, 1, 10, 100):
    kernel_svm = SVC(kernel="precomputed", C=C).fit(S, y)
    score, used = kernel_svm.score(S_test, y_test), len(kernel_svm.support_)
    print(f"SVC(kernel='precomputed', C={C:<3}) {score:.3f}, compares with {used} leaves")
print(f"BESVMClassifier                   {model.score(X_test, y_test):.3f}, compares with 60 leaves, picks C itself")

# %%
# The best of these SVCs and besvm are about equally accurate. Over eight draws of the training leaves (seeds 0 and 10
# to 16), the means are 0.909 for SVC with C=0.1 and 0.916 for besvm, which compares with a third as many leaves. SVC
# needs the right C for that: with C=1, its mean is 0.845.
#
# Asymmetric: who is the exemplar?
# --------------------------------
#
# Some similarities change when you swap the two samples. "Which share of the exemplar does the sample cover?"
# is one: a large leaf covers a small one, but not the other way around. That is allowed too. Write the
# exemplar as the first argument; in a matrix, row i and column j hold s(exemplar j, sample i).


@njit
def covered(exemplar, sample):
    n = len(sample)
    best = 0.0
    for k in range(n):
        common = 0.0
        for i in range(n):
            common += min(1 + exemplar[i], 1 + sample[i - k]) ** 2
        best = max(best, common)
    return best / np.sum((1 + exemplar) ** 2)


print(f"leaf 0 covers {covered(X[1], X[0]):.3f} of leaf 1, and leaf 1 covers {covered(X[0], X[1]):.3f} of leaf 0")
model = BESVMClassifier(covered, basis=60, random_state=0).fit(X, y)
print(f"covered area: {model.score(X_test, y_test):.3f}")
both = BESVMClassifier(["best-turn", covered], basis=60, random_state=0).fit(X, y)
print(f"best turn and covered area side by side: {both.score(X_test, y_test):.3f}")
plt.show()

# %%
# Several measures side by side are often better than one. Here they are not: the covered area adds noise to
# what the best turn knows. Always measure.
#
# When another tool is the better one
# -----------------------------------
#
# - If you can describe a sample by numbers that do not change when it is turned (here, for example, the strength of
#   each frequency of the outline), any classifier for tables will do, and gradient boosting is hard to beat.
# - If your similarity is a kernel, and you have a few thousand samples at most, a kernel SVM such as scikit-learn's
#   ``SVC`` is usually a little more accurate.
# - If you only want the most similar samples, not a class, use a nearest-neighbor search.
# - If the measure exists already, do not write it: ``besvm similarities`` lists those that have a name.
