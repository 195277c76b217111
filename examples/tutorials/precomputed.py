"""
A matrix of similarities that you already have
==============================================

Sometimes you never see the samples. Another program, a laboratory or a panel of people compares them, and what you get
is a matrix of numbers: how similar is this one to that one? besvm trains on such a matrix. It need not be symmetric or
a kernel. And, as many people overlook, **it need not be square**: similarities to a few dozen exemplars are enough.
That can save most of the comparisons.

You need: the extra ``plots``. Run ``pip install ".[plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# The story: where are the storks heading?
# ----------------------------------------
#
# Storks carry GPS loggers on their way south. An institute compares any two tracks with its own program and
# sends us the results: *which share of track j has track i also come near?* We know where 400 birds spent the
# winter, and want to say where others are heading while they are still on their way.
#
# The following code makes up such birds. Loggers fail and birds set out late, so tracks can end anywhere.

import matplotlib.pyplot as plt
import numpy as np

ROUTES = {  # longitude and latitude of places on the way
    "Sahel, by the west": [(8, 50), (5, 45), (0, 42), (-5, 36), (-7, 30), (-8, 18)],
    "Sahel, by the east": [(12, 52), (20, 47), (28, 41), (36, 36), (33, 28), (32, 16)],
    "Spain": [(7, 50), (4, 45), (-1, 42), (-3, 40), (-6, 38), (-5, 36)],
    "Tunisia": [(9, 51), (9, 46), (11, 43), (14, 38), (10, 36), (8, 33)],
}


def follow_birds(n, seed):
    """Return n tracks, each a list of places of its own length, and where the birds spend the winter."""
    rng = np.random.default_rng(seed)
    goals = rng.choice(list(ROUTES), n)
    tracks = []
    for goal in goals:
        stops = np.array(ROUTES[goal]) + rng.normal(0, 1.8, (6, 2))
        way = np.linspace(0, 5 * rng.uniform(0.3, 1), 60)
        tracks.append(np.column_stack([np.interp(way, np.arange(6), axis) for axis in stops.T]))
    return tracks, goals


tracks, y = follow_birds(400, seed=0)
tracks_test, y_test = follow_birds(2_000, seed=1)

# %%
# And this is the institute's program. Each track becomes a set of cells of a map, 1.5 degrees wide. The
# similarity is the share of the exemplar's cells that lie in, or next to, the cells of the other bird.


def cells_of(tracks, reach):
    """Return a row for each track, with a 1 for each cell of the map within so many cells of it."""
    maps = np.zeros((len(tracks), 40, 40))
    for one, track in zip(maps, tracks, strict=True):
        column, row = ((track - (-16, 8)) / 1.5).astype(int).clip(reach, 39 - reach).T
        for down in range(-reach, reach + 1):
            for right in range(-reach, reach + 1):
                one[row + down, column + right] = 1
    return maps.reshape(len(tracks), -1)


def compare(samples, exemplars):
    """Return the similarities, with a row for each sample and a column for each exemplar."""
    visited = cells_of(exemplars, reach=0)
    return cells_of(samples, reach=1) @ visited.T / visited.sum(axis=1)


S = compare(tracks, tracks)
S_test = compare(tracks_test, tracks)
print(f"S is {S.shape[0]} x {S.shape[1]}, S_test is {S_test.shape[0]} x {S_test.shape[1]}")
print(f"bird 1 has covered {S[1, 0]:.2f} of the track of bird 0, and bird 0 {S[0, 1]:.2f} of that of bird 1")

# %%
# Columns are exemplars, rows are samples. The matrix is not symmetric: a long track covers a short one, but
# not the other way around.

colors = dict(zip(ROUTES, ["#0b6e99", "#d9730d", "#4d8f3a", "#ad1a72"], strict=True))
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.7), layout="constrained", width_ratios=(3, 4))
for track, goal in list(zip(tracks, y, strict=True))[:80]:
    left.plot(*track.T, color=colors[goal], linewidth=0.8, alpha=0.6)
for goal, color in colors.items():
    left.plot([], [], color=color, label=goal)
left.set(xlabel="longitude", ylabel="latitude", title="80 of the tracks")
left.legend(fontsize=7, loc="lower left", frameon=False)
order = np.argsort(y, kind="stable")
picture = right.imshow(S[np.ix_(order, order)], cmap="viridis", vmin=0, vmax=1)
right.set(xlabel="exemplars, sorted by class", ylabel="samples, sorted by class", title="the similarities")
names, counts = np.unique(y, return_counts=True)
middles = np.cumsum(counts) - counts / 2
names = [name.replace(", ", ",\n") for name in names]
right.set_xticks(middles, names, fontsize=6)
right.set_yticks(middles, names, fontsize=6, rotation=90, va="center")
right.tick_params(length=0)
figure.colorbar(picture, ax=right, shrink=0.8, label="share of the track that is covered")

# %%
# Train on the matrix
# -------------------
#
# The measure is called ``"precomputed"``. X is the matrix. To predict, pass the similarities of new samples to
# the same exemplars, in the same columns.

from besvm import BESVMClassifier

model = BESVMClassifier("precomputed").fit(S, y)
print(f"all 400 columns: {model.score(S_test, y_test):.3f} of the new birds are right")
chance = model.predict_proba(S_test[:1]).max()
print(f"the first bird: {model.predict(S_test[:1])[0]}, with probability {chance:.2f}")

# %%
# What many people overlook: a few columns are enough
# ---------------------------------------------------
#
# Every column is a feature: how much a sample is like that exemplar. You do not need all of them. Pick a few
# birds *before* anything is compared and ask the institute for those columns only. Our birds are in random
# order, so the first 40 will do; if yours are sorted, draw them at random.

narrow = compare(tracks, tracks[:40])
model = BESVMClassifier("precomputed").fit(narrow, y)
print(f"the matrix is {narrow.shape[0]} x {narrow.shape[1]}: {narrow.size:,} comparisons instead of {S.size:,}")
print(f"40 columns: {model.score(compare(tracks_test, tracks[:40]), y_test):.3f}")

# %%
# How many columns does it take? The cost of a model is the number of comparisons. A kernel method needs all pairs,
# and new samples have to be compared with many of the training samples.

columns = [5, 10, 20, 40, 80, 160, 400]
accuracy = [BESVMClassifier("precomputed").fit(S[:, :b], y).score(S_test[:, :b], y_test) for b in columns]
for b, score in zip(columns, accuracy, strict=True):
    print(f"{b:3} columns, {len(S) * b:7,} comparisons to train: {score:.3f}")

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot([len(S) * b for b in columns], accuracy, "o-", color="#0b6e99")
for b, score in zip(columns, accuracy, strict=True):
    ax.annotate(f"{b}", (len(S) * b, score), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=9)
ax.set(xscale="log", xlabel="comparisons to train (labels: exemplars)", ylabel="accuracy on 2,000 new birds")
ax.set_ylim(min(accuracy) - 0.02, max(accuracy) + 0.03)
ax.grid(color="#e6e6e6")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Beyond 40 columns, the accuracy hardly grows. On 2,000 birds, a difference of one percent may be chance.
#
# If you have the square matrix anyway, ``basis=40`` picks the columns for you, at random. The selectors in
# ``besvm.basis`` pick them in other ways. ``basis_rows_`` says which they are (a list for each measure).

from besvm.basis import KMedoidsBasis

for name, basis in (("40 at random", 40), ("40 medoids", KMedoidsBasis(per_class=10))):
    picked = BESVMClassifier("precomputed", basis=basis, random_state=0).fit(S, y)
    print(f"{name:12} {picked.score(S_test, y_test):.3f}, the first are birds {picked.basis_rows_[0][:5]}")

# %%
# Such a model expects all 400 columns when it predicts, although it reads only 40 of them. To save those comparisons as
# well, train once more, on the columns that were picked:

chosen = picked.basis_rows_[0]
fewer = BESVMClassifier("precomputed").fit(S[:, chosen], y)
only_these = compare(tracks_test, [tracks[bird] for bird in chosen])
print(f"only 40 medoids: {fewer.score(only_these, y_test):.3f}, from a test matrix of {only_these.shape}")

# %%
# Cross-validation
# ----------------
#
# The narrow matrix needs nothing special: cross-validation takes rows away, and all columns stay. Only the
# exemplars themselves are used, never their classes, so nothing about the held-out classes leaks in.
#
# With a square matrix and a ``basis``, the exemplars must come from the training rows. Then rows *and*
# columns are taken away, as for ``SVC(kernel="precomputed")``. besvm tells scikit-learn which of the two it
# needs.

from sklearn.model_selection import cross_val_score

narrow_scores = cross_val_score(BESVMClassifier("precomputed"), narrow, y, cv=5)
square_scores = cross_val_score(BESVMClassifier("precomputed", basis=40, random_state=0), S, y, cv=5)
print(f"400 x 40:             {narrow_scores.mean():.3f}, from {narrow_scores.min():.3f} to {narrow_scores.max():.3f}")
print(f"400 x 400, basis=40:  {square_scores.mean():.3f}, from {square_scores.min():.3f} to {square_scores.max():.3f}")

# %%
# That these figures are lower than those of the new birds is mostly chance: with 400 birds, cross-validation may be off
# by about three percent. Over eight draws of 400 birds (seeds 0 and 10 to 16), the first figure was between 0.855 and
# 0.902, with a mean of 0.874. The same 40 columns had a mean of 0.885 on new birds.

# %%
# A matrix that does not fit into memory
# --------------------------------------
#
# A million rows and 1,000 columns are 4 GB. Write such a matrix to disk in pieces, and open it as a *memory
# map*: an array whose numbers stay in the file until somebody asks for them. besvm reads it a block of rows
# at a time.

import tempfile
from pathlib import Path

temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
path = Path(temporary.name) / "similarities.npy"
on_disk = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=narrow.shape)
for start in range(0, len(tracks), 100):
    on_disk[start : start + 100] = compare(tracks[start : start + 100], tracks[:40])
on_disk.flush()

mapped = np.load(path, mmap_mode="r")
from_disk = BESVMClassifier("precomputed", memory_limit="1 GB").fit(mapped, y)
narrow_test = compare(tracks_test, tracks[:40])
print(f"from disk: {from_disk.score(narrow_test, y_test):.3f}")

temporary.cleanup()

# %%
# Compared with a kernel SVM
# --------------------------
#
# ``SVC(kernel="precomputed")`` wants a square, symmetric matrix without negative eigenvalues. Ours is neither
# symmetric nor free of them. The usual way out is to average it with its transpose and hope for the best.

from sklearn.svm import SVC

from besvm.analysis import spectrum

symmetric = (S + S.T) / 2
symmetric_test = (S_test + compare(tracks, tracks_test).T) / 2
print(f"{spectrum(symmetric).negative_ratio:.0%} of the eigenvalues are negative")
for C in (0.1, 1, 10, 100):
    kernel_svm = SVC(kernel="precomputed", C=C).fit(symmetric, y)
    score, used = kernel_svm.score(symmetric_test, y_test), len(kernel_svm.support_)
    print(f"SVC, C={C:<4} {score:.3f}, and a new bird is compared with {used} others")
print(f"besvm       {from_disk.score(narrow_test, y_test):.3f}, and a new bird is compared with 40")

# %%
# Distances, and several matrices
# -------------------------------
#
# Distances become similarities by ``np.exp(-D / np.median(D))``. Take the median of the training matrix for
# both.
#
# Several matrices of the same samples and exemplars are stacked along a third axis. Each gets a measure of its
# own, which is normalized separately, so their scales need not match. Here the second one looks from the other
# side: which share of the *sample* does the exemplar cover? It tells nothing new here, but it may for your data.

from_both_sides = np.dstack([narrow, compare(tracks[:40], tracks).T])
both = BESVMClassifier(["precomputed", "precomputed"]).fit(from_both_sides, y)
test = np.dstack([narrow_test, compare(tracks[:40], tracks_test).T])
print(f"two matrices of 40 columns: {both.score(test, y_test):.3f}")
plt.show()

# %%
# Without Python
# --------------
#
# The command line takes the same matrix, as a table with a column for each exemplar or as a NumPy file.
# ``np.savez("birds.npz", X=narrow, y=y)`` and ``np.savez("new-birds.npz", X=narrow_test)`` write such files. Then, in a
# terminal:
#
# .. code-block:: sh
#
#     besvm train birds.npz --kind precomputed -o birds.besvm
#     besvm predict birds.besvm new-birds.npz --probabilities
#
# When another tool is the better one
# -----------------------------------
#
# - If your matrix is square, symmetric and positive definite, and you have a few thousand samples,
#   ``SVC(kernel="precomputed")`` is made for it and usually a little more accurate.
# - If you have the samples and the measure, let besvm compare them (see :doc:`Your own similarity
#   </tutorials/your_own_similarity>`): nothing has to be kept on disk, the model can be saved with its exemplars, and
#   it predicts from samples.
# - If you want groups or a map of the samples and have no classes, look at hierarchical clustering, UMAP or
#   multidimensional scaling. They start from a square matrix too.
