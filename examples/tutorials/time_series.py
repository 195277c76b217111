"""
Time series
===========

A machine, a meter or a body gives you curves. Curves of the same kind are alike, but never the same at every time step:
one is a little faster at the start, another begins a little later. This tutorial classifies such curves in two
ways. *Elastic measures* compare whole series and may stretch them. *Parts* look for short pieces wherever they
occur. They are compared with the two methods that most people would try: the nearest neighbor, and Rocket.

The data are heartbeats, made by a formula (so please do not diagnose anybody with this model).

You need: the extra ``plots``. Run ``pip install ".[plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# Make some heartbeats
# --------------------
# A beat in an electrocardiogram is a sequence of waves, called P, Q, R, S and T. Each is a bump at some time, of some
# width and height. There are four kinds of beats here: normal ones, ones without the P wave, ones where the line
# between S and T is raised, and premature ones, which are wide and have no P wave. Every beat has its own pace: time
# runs faster in some places and slower in others. That is what makes the problem hard.

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE, GREEN, PURPLE, GRAY = "#0b6e99", "#d9730d", "#4d8f3a", "#6940a5", "#9b9a97"
P, Q, R = (0.2, 0.025, 0.18), (0.355, 0.01, -0.15), (0.38, 0.012, 1.1)  # when, how wide, how high
S, T = (0.405, 0.01, -0.25), (0.62, 0.045, 0.32)
WAVES = {
    "normal": [P, Q, R, S, T],
    "no P wave": [Q, R, S, T],
    "raised ST": [P, Q, R, (0.405, 0.01, -0.15), (0.49, 0.05, 0.2), (0.62, 0.045, 0.38)],
    "premature": [(0.33, 0.03, -0.2), (0.39, 0.032, 1.1), (0.47, 0.03, -0.35), (0.66, 0.05, -0.25)],
}
N_STEPS = 100


def make_beat(waves, rng):
    even = np.linspace(0, 1, 6)
    pace = np.sort(even + np.r_[0, rng.normal(0, 0.075, 4), 0])  # when each fifth of the beat is over
    time = np.interp(np.linspace(0, 1, N_STEPS), even, pace.clip(0, 1)) + rng.normal(0, 0.05)
    beat = np.zeros(N_STEPS)
    for when, width, height in waves:
        height, width = height * rng.uniform(0.7, 1.3), width * rng.uniform(0.85, 1.15)
        beat += height * np.exp(-0.5 * ((time - when) / width) ** 2)
    return beat + rng.normal(0, 0.03) + rng.normal(0, 0.03, N_STEPS)


def make_beats(n, rng):
    y = rng.choice(list(WAVES), n)
    return np.array([make_beat(WAVES[kind], rng) for kind in y]), y


rng = np.random.default_rng(2)
X, y = make_beats(120, rng)
X_test, y_test = make_beats(200, rng)
print("to train on", X.shape, "to test on", X_test.shape)

# %%
# ``X`` has a row for every series and a column for every time step. besvm takes more than that: an array of shape
# (series, channels, time steps), or a list of arrays of different lengths.

figure, axes = plt.subplots(2, 2, figsize=(7, 4.4), sharex=True, sharey=True, layout="constrained")
for ax, kind, color in zip(axes.flat, WAVES, (BLUE, ORANGE, GREEN, PURPLE), strict=True):
    ax.plot(X[y == kind][:4].T, color=color, linewidth=1.2, alpha=0.75)
    ax.set_title(kind, fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
figure.supxlabel("time step", fontsize=10)
figure.supylabel("voltage", fontsize=10)
figure.suptitle("Four training beats of each kind")

# %%
# Why an elastic measure
# ----------------------
# The Euclidean distance compares value 50 with value 50, whatever happens there. *Dynamic time warping* (DTW) first
# looks for the best way to pair the values of one series with those of the other, in order, and compares these. The
# figure shows both for two normal beats.

from besvm.similarities import DTW

a, b = X[y == "normal"][:2]
figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
for ax, title, pairs in (
    (axes[0], "Euclidean: same time step", [(i, i) for i in range(N_STEPS)]),
    (axes[1], "DTW: best partner", DTW().path(a, b)),
):
    for i, j in pairs[::2]:
        ax.plot([i, j], [a[i] + 1.6, b[j]], color=GRAY, linewidth=0.5)
    ax.plot(a + 1.6, color=BLUE)
    ax.plot(b, color=ORANGE)
    ax.set(title=title, xlabel="time step", yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)

# %%
# Nearest neighbors
# -----------------
# The classic method gives a series the class of its nearest neighbor in the training data. A similarity object of
# besvm compares two lists of series and returns a matrix, so this takes one line: the neighbor is the training series
# that is most similar.

from besvm.similarities import SeriesEuclidean


def nearest(similarity):
    similarity.fit(X)
    return np.mean(y[similarity(X_test, X).argmax(axis=1)] == y_test)


scores = {"1-NN, Euclidean": nearest(SeriesEuclidean()), "1-NN, DTW": nearest(DTW())}
for name, score in scores.items():
    print(f"{name:18} {score:.3f}")

# %%
# BE-SVM with elastic measures
# ----------------------------
# DTW is not a valid kernel: it is not *positive definite*, as kernel SVMs require. A BE-SVM does not require that. It
# describes a series by its similarities to all training series, the *exemplars*, and trains a linear classifier on
# these numbers. So it can learn that being like one exemplar means much, and being like another one means little. For
# the classic method, the nearest neighbor means everything. ``basis=1.0`` makes all training series exemplars, which is
# right for a few hundred.

from besvm import BESVMClassifier

for name, measure in (("DTW", "dtw"), ("MSM", "msm")):
    model = BESVMClassifier(measure, basis=1.0).fit(X, y)
    scores[f"BE-SVM, {name}"] = model.score(X_test, y_test)
    print(f"BE-SVM, {name}  {scores[f'BE-SVM, {name}']:.3f}  (C = {model.C_:g})")

# %%
# ``besvm similarities`` lists all measures of series. MSM (move-split-merge) is among the best on many public data
# sets, but far behind here. Why?
#
# Choose parameters
# -----------------
# Because of its parameter ``c``, which is what it costs to stretch a series by one time step, in the units of the
# series.
# The default of 1 is about as high as the whole R wave. That is hardly elastic at all! Parameters of a measure are
# searched like any others in scikit-learn, on training series alone: ``measures__c`` is the ``c`` of the measure. DTW
# has a ``window``: how far apart two partners may be, as a share of the length. A narrow one is faster, and often
# better, but not here.

from sklearn.model_selection import GridSearchCV

for measure, parameter, values in (("msm", "c", [0.01, 0.1, 1.0]), ("dtw", "window", [0.1, None])):
    model = BESVMClassifier(measure, basis=1.0, C=10.0, probability=False)
    search = GridSearchCV(model, {f"measures__{parameter}": values}, cv=3).fit(X, y)
    for value, score in zip(values, search.cv_results_["mean_test_score"], strict=True):
        print(f"{measure}, {parameter} = {value!s:4}  {score:.3f} in cross-validation")
    if measure == "msm":
        scores["BE-SVM, MSM, tuned"] = search.score(X_test, y_test)
print(f"\nBE-SVM, MSM, tuned  {scores['BE-SVM, MSM, tuned']:.3f} on the test series")

# %%
# Parts of series
# ---------------
# Often a short piece says it all, such as the bump of a P wave. ``recipes.series`` cuts pieces of nine values, close
# together or far apart, out of training series, and looks for each at its best place in another series. That is fast,
# and it is the first thing to try on long series. Parts and elastic measures can also be used together.

from besvm import recipes

for name, measures in (
    ("parts", recipes.series("medium")),
    ("parts + DTW", [*recipes.series("medium"), "dtw"]),
):
    model = BESVMClassifier(measures, basis=1.0, random_state=0).fit(X, y)
    scores[f"BE-SVM, {name}"] = model.score(X_test, y_test)
    print(f"BE-SVM, {name:12} {scores[f'BE-SVM, {name}']:.3f}")

# %%
# And Rocket
# ----------
# Rocket, by Dempster and others, slides thousands of random patterns over each series and keeps two numbers for each:
# the best match, and how often the match is good. Here it is in a few lines, with 1,000 patterns instead of 10,000. For
# real work, use the one in the package ``aeon``.

from numpy.lib.stride_tricks import sliding_window_view
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def rocket(series, rng, patterns=1000):
    columns = []
    for _ in range(patterns):
        length, weights = 9, rng.normal(size=9)
        step = int(2 ** rng.uniform(0, np.log2((N_STEPS - 1) / (length - 1))))
        windows = sliding_window_view(series, (length - 1) * step + 1, axis=1)[..., ::step]
        match = windows @ (weights - weights.mean()) + rng.uniform(-1, 1)
        columns += [match.max(axis=1), (match > 0).mean(axis=1)]
    return np.array(columns).T


features, features_test = (rocket(series, np.random.default_rng(0)) for series in (X, X_test))
ridge = make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(-3, 3, 10))).fit(features, y)
scores["Rocket, 1,000 patterns"] = ridge.score(features_test, y_test)
print(f"Rocket, 1,000 patterns  {scores['Rocket, 1,000 patterns']:.3f}")

# %%
# All of them side by side:

ranked = sorted(scores, key=lambda name: (-scores[name], name))[::-1]
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
colors = [BLUE if "BE" in name else GRAY for name in ranked]
bars = ax.barh(ranked, [scores[name] for name in ranked], color=colors)
ax.bar_label(bars, fmt="%.3f", padding=4)
ax.set(xlim=(0, 1.08), xlabel="share of the 200 test beats that are right")
ax.spines[["top", "right"]].set_visible(False)

# %%
# 200 test beats are few: each of these numbers may be off by three percent and more. So we repeated all of this
# with eight draws of the beats (seeds 0 to 7). The means are 0.946 for DTW, 0.928 for Rocket, 0.922 for parts together
# with DTW, 0.904 for MSM with ``c=0.01`` and ``C=10``, 0.879 for parts, 0.790 for the nearest neighbor by DTW and 0.763
# for MSM with its default ``c``.
#
# Beats of the same kind differ mostly in how they are stretched here, so DTW does best, and parts add nothing to it.
# That is not true everywhere. On most of ten public data sets (see :doc:`Any data </any-data>`), parts are better than
# any single elastic measure, and about as good as Rocket.
#
# Which series decided?
# ---------------------
# An explanation lists the training series that influenced a decision, and draws how their values were paired. Here is
# the beat that the model with DTW is least sure of.

import besvm

model = BESVMClassifier("dtw", basis=1.0).fit(X, y)
unsure = int(model.predict_proba(X_test).max(axis=1).argmin())
why = besvm.explain(model, X_test[unsure])
print(f"the true class is {y_test[unsure]}")
print(why)

# %%
# All decision values may be negative, as here. Each says how clearly the beat is of one class and not of any other, and
# the largest wins.
#
# In the figure, gray lines join the values that were paired.

figure = why.plot(top=2, columns=1, figure=plt.figure())
plt.show()

# %%
# When another tool is the better one
# -----------------------------------
# - If accuracy on equally long series is all you want, try Rocket and its successors (MiniRocket, MultiRocket, in
#   ``aeon``) as well. They are fast and hard to beat. They do not tell you which training series decided.
# - If you have a few dozen series, the nearest neighbor by DTW needs no training and is often good enough.
# - If series are long recordings and not single events, cut them first, or describe them by features (``tsfresh``,
#   ``catch22``) and use gradient boosting.
# - If you want to forecast a series rather than classify it, besvm is not for you; see ``statsforecast`` or ``sktime``.
