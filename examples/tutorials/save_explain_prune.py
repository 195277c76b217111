"""
Save a model, ask it why, make it smaller
=========================================

Training is the first half of the work. Then somebody else has to use the model, wants to know why it said 7 and not 1,
and complains that it is too large. This tutorial goes through that second half: write a model to a file, load it, look
into it, explain one decision and many, keep the exemplars that matter, and write a page that you can share. Almost
every step is one line of Python, or one command in a terminal.

The script writes its files into the folder ``digits-tutorial``, in the folder where you run it. Delete that folder when
you are done.

You need: the extras ``plots`` and ``report``. Run ``pip install ".[plots,report]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# A model to work with
# --------------------
#
# Handwritten digits, scanned from paper forms. People do not write in the middle of a box, so each digit sits
# somewhere in a frame that is larger than itself.

import numpy as np
from sklearn.datasets import load_digits

digits, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(digits))
y = y[order].astype(str)  # classes are texts for the command line, too
X = np.zeros((len(digits), 12, 12, 3), dtype=np.uint8)  # red, green and blue, from 0 to 255
for frame, digit, (down, right) in zip(X, digits[order], rng.integers(1, 4, (len(X), 2)), strict=True):
    frame[down : down + 8, right : right + 8] = 255 / 16 * digit.reshape(8, 8, 1)

X_train, y_train, X_test, y_test = X[:600], y[:600], X[600:1200], y[600:1200]

# %%
# We use two measures together: a Gaussian kernel of the pixels, and the best match if one digit may be moved
# by up to two pixels. Both compare a digit with the same 150 *exemplars*, training digits drawn at
# random.

import besvm
from besvm import BESVMClassifier
from besvm.similarities import Rigid

model = BESVMClassifier(["rbf", Rigid(2, cosine=True)], basis=150, C=10.0, random_state=0).fit(X_train, y_train)
accuracy = model.score(X_test, y_test)
print(f"{accuracy:.3f} of {len(y_test):,} test digits are right")

# %%
# Save it
# -------
#
# A model file holds numbers and a description, and no code. Loading one executes nothing, unlike a pickle.
# You can add facts of your own. ``kind`` and ``size`` are two that the command line understands: they tell it
# how to read samples for this model.

from pathlib import Path

folder = Path("digits-tutorial")
folder.mkdir(exist_ok=True)
besvm.save(
    model,
    folder / "digits.besvm",
    facts={"accuracy": round(accuracy, 3), "source": "paper forms", "kind": "images", "size": [12, 12]},
)
loaded = besvm.load(folder / "digits.besvm")
same = np.array_equal(loaded.decision_function(X_test), model.decision_function(X_test))
print("the loaded model gives the same numbers, to the last bit:", same)

# %%
# ``describe`` says what is in a file without loading the model. Remember that a model consists of its
# exemplars. **The file holds training samples**, so give it only to people who may see them.

from besvm.files import describe

about = describe(folder / "digits.besvm")
print(f"{about['class']}, {about['bytes'] / 1000:.0f} kB, written by {about['writer']}")
for name, value in about["facts"].items():
    print(f"  {name}: {value}")

# %%
# The command line can read the model, too. We write our digits to files for it:

np.savez(folder / "train.npz", X=X_train, y=y_train)
np.savez(folder / "test.npz", X=X_test, y=y_test)
print(sorted(path.name for path in folder.iterdir()))

# %%
# Now type these commands in a terminal, in the folder where you ran the script:
#
# .. code-block:: console
#
#     $ cd digits-tutorial
#     $ besvm inspect digits.besvm
#     file        digits.besvm (643 kB, 13 arrays, by besvm 0.1.0)
#     model       BESVMClassifier, C = 10
#     kind        images
#     trained     on 600 rows of paper forms with seed 0
#     classes     10: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
#     images      12 x 12 pixels
#     exemplars   150, training samples or parts of them
#
#     measure  similarity                    exemplars  features
#     rbf      RBF()                               150       150
#     rigid    Rigid(cosine=True, radius=2)        150       150
#     $ besvm predict digits.besvm test.npz -o predictions.csv
#     $ head -n 4 predictions.csv
#     sample,prediction
#     1,2
#     2,4
#     3,0
#
# Ask it why
# ----------
#
# A BE-SVM decides by a sum. Each exemplar adds a number to each class: its weight times how much more, or
# less, the sample resembles it than samples usually do. So there is an exact answer to "why?": these training
# samples pulled the decision there, each by this much.
#
# We look at the worst mistake: the wrong answer that the model is most sure of.

predicted = model.predict(X_test)
sure = model.predict_proba(X_test).max(axis=1)
worst = int(np.where(predicted != y_test, sure, 0).argmax())
print(f"test digit {worst} is a {y_test[worst]}, and the model says {predicted[worst]}")

why = besvm.explain(model, X_test[worst], training=X_train)
print(why)

# %%
# The same as a figure. On the left is the sample, on the right the exemplar. The frame shows how far the
# exemplar was moved to fit, and the marked pixels are those that match. (In a notebook, ``why`` by itself
# shows all of this.)

import matplotlib.pyplot as plt

figure = why.plot(top=3, columns=1, figure=plt.figure())

# %%
# To be fair, this 8 does look like a 1. Mostly two kinds of exemplars pull toward a class: those of that class
# which the sample resembles *more* than usual, and others, like the 4 on top, which it resembles *less* than
# usual. Of all that pulls the test digits toward the predicted class, 45 % comes from the first kind and 37 % from
# the second. The rest comes from exemplars of other classes that the sample resembles more than usual.
#
# "Why this class and not the right one?" is a question of its own. ``between`` lists what made the
# difference. What has a plus speaks for the first of the two classes, the wrong one here, and what has a minus for
# the second:

for one, difference in why.between(predicted[worst], y_test[worst], top=4):
    compared = "more alike than usual" if one.similarity > one.usual else "less alike than usual"
    print(f"{difference:+.2f}  {one.name}, a {one.label}, by {one.measure}: {compared}")

# %%
# In a terminal (rows count from 1 there):
#
# .. code-block:: sh
#
#     besvm explain digits.besvm test.npz --row 591 -o why.png
#
# Many decisions at once
# ----------------------
#
# ``explain_many`` does the same for all test digits, as arrays. For each of them, we look up the exemplar
# that pulled most toward the class that was predicted. Was it of that class itself? (There are 300 exemplars now:
# ``inspect`` counts the 150 digits, but an explanation counts each of them once for each measure, because it has a
# weight of its own in each.)

from besvm.explanations import carriers, explain_many

many = explain_many(model, X_test)
chosen = np.searchsorted(many.classes, many.predictions)
pulls = many.contributions[np.arange(len(X_test)), :, chosen]  # (samples, exemplars)
strongest = np.array([many.exemplars[place].label for place in pulls.argmax(axis=1)])
right = predicted == y_test
print(f"{many}")
print(f"the strongest exemplar is of the predicted class in {np.mean(strongest == predicted):.0%} of all decisions,")
print(f"but only in {np.mean((strongest == predicted)[~right]):.0%} of the {np.sum(~right)} wrong ones")

# %%
# And which exemplars does the model as a whole rely on? ``carriers`` sorts them by how much their pull varies
# from sample to sample. It also finds those that add nothing new.

carried = carriers(model, X_train)
print(carried)

# %%
# How to read the columns:
#
# - *weight* is the size of the exemplar's weights for all classes together. *spread* is how much its similarity varies
#   from sample to sample (the standard deviation). What it *carries* is one times the other, as a share of the sum.
# - *most like* is the exemplar of the same measure whose similarities vary most alike, with the correlation.
# - *explained* looks only at exemplars that carry more, those *above* it in this list. It says how much of what this
#   exemplar tells can be computed from what they tell. So the first line has 0 %, however much another exemplar,
#   further down, is like it.
#
# An exemplar is redundant if *explained* is at least 99 %. The last line counts these.
#
# Make it smaller
# ---------------
#
# Every prediction compares the sample with all exemplars. Fewer exemplars mean a smaller file and faster
# predictions. ``prune`` drops those that the others can best replace and fits the rest again. First look at
# what it costs. The accuracy below is measured on training rows that are held out in turn, never on the
# test digits.

from besvm.pruning import pruning_curve

curve = pruning_curve(model, X_train, y_train, random=3)
print(curve)

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax = curve.plot(ax)

# %%
# Half of the exemplars would do here. (On 600 rows, differences below one percent are chance.)
#
# Then choose: a number (``besvm.prune(model, 50, ...)``), a share (``0.5``), or the loss of accuracy that you
# accept (``max_loss=0.005``).

from time import perf_counter

small = besvm.prune(model, 50, X_train, y_train, curve=False)
besvm.save(small, folder / "small.besvm")


def seconds(classifier):
    """Return how long it takes to classify all test digits: the best of three tries."""
    tries = []
    for _ in range(3):
        start = perf_counter()
        classifier.predict(X_test)
        tries.append(perf_counter() - start)
    return min(tries)


for name, one in (("digits.besvm", model), ("small.besvm", small)):
    size = (folder / name).stat().st_size / 1000
    took = 1e3 * seconds(one)
    print(f"{name:13} {one.n_basis_:3} exemplars, {size:4.0f} kB, {took:3.0f} ms, {one.score(X_test, y_test):.3f}")

# %%
# A third of the exemplars makes a file of a third of the size, at little cost in accuracy. The time does not fall as
# much. Part of it is spent once for each sample, however many exemplars there are. That part is large here, because
# ``cosine=True`` divides by the similarity of each digit to itself: a model with 5 exemplars would still take three
# quarters of the time. Pruning saves time where the comparisons with the exemplars take most of it. With
# ``Deformable(2, 1)`` as the only measure, where all pixels may move one by one, a model of 150 exemplars took 62 ms of
# processor time for these 600 digits, and one of 50 took 25 ms.
#
# In a terminal:
#
# .. code-block:: sh
#
#     besvm prune digits.besvm train.npz --curve                            # look first
#     besvm prune digits.besvm train.npz -n 50 -o fifty.besvm               # then choose
#     besvm prune digits.besvm train.npz --max-loss 0.005 -o less.besvm     # or let the loss choose
#
# A page to share
# ---------------
#
# ``write_page`` tests a model on samples and writes one HTML file: accuracy, confusions, probabilities, the
# exemplars, and every sample with the exemplars that decided. It needs no network and no server. Like the
# model, it holds your data.

from besvm.report import write_page

tried = X_test[:40], y_test[:40]
page = write_page(model, tried, folder / "report.html", training=X_train, title="Digits on forms")
print(f"wrote {page.name}, {page.stat().st_size / 1000:.0f} kB")
plt.show()

# %%
# In a terminal:
#
# .. code-block:: sh
#
#     besvm report digits.besvm test.npz --training train.npz -o page.html
#
# Then open ``digits-tutorial/page.html`` in a browser.
#
# When another tool is the better one
# -----------------------------------
#
# - If the model never leaves your own machine, ``joblib`` and ``pickle`` work too, and can hold what a model
#   file cannot: functions of yours, for example.
# - If a model must run where there is no Python, look at ONNX. besvm does not export to it.
# - If you want to know which *columns* of a table matter, not which training samples, use a linear model, or
#   SHAP with gradient boosting.
# - If you want a tiny model from the start, try a linear SVM first. It has no exemplars at all. If its accuracy
#   is enough, you are done.
