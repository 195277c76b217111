"""
First steps: handwritten digits
===============================

In this tutorial you train two classifiers on small images of handwritten digits. The first one compares images pixel
by pixel. The second one may move an image a little before it compares. You will see that the choice of the
*similarity*, the function that says how alike two samples are, determines how good the classifier is.

You need: the extra ``plots``. Run ``pip install ".[plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# The data
# --------
#
# scikit-learn comes with 1,797 images of digits, 8 x 8 pixels each. They are all nicely centered. Real images are
# not, so we put every digit into a larger frame, 12 x 12 pixels, and move it by up to one pixel in each direction. An
# image has the shape (12, 12, 1): rows, columns, and the numbers of each pixel. Here that is one number, for gray. A
# color image has three.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

digits, labels = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(digits))
images, y = np.zeros((len(digits), 12, 12, 1), dtype=np.float32), labels[order]
for k, digit in enumerate(digits[order]):
    down, right = rng.integers(1, 4, 2)
    images[k, down : down + 8, right : right + 8, 0] = digit.reshape(8, 8) / 16

train, test = slice(0, 500), slice(500, None)
print(f"{len(images[train])} images to train, {len(images[test])} to test, each of shape {images[0].shape}")

# %%
# The first classifier: pixel by pixel
# ------------------------------------
#
# A :class:`~besvm.BESVMClassifier` works like any classifier in scikit-learn: create it, ``fit`` it, ``score`` it. It
# picks some of the training samples as *exemplars*, here 100. Then it describes every sample by how similar it is to
# each exemplar, and trains a linear SVM on these 100 numbers.
#
# ``"rbf"`` is the Gaussian (RBF) kernel. It compares pixel by pixel, so we give it the images as
# rows of 144 numbers.

from besvm import BESVMClassifier

rows = images.reshape(len(images), -1)
by_pixel = BESVMClassifier("rbf", basis=100, random_state=0).fit(rows[train], y[train])
print(f"pixel by pixel: {by_pixel.score(rows[test], y[test]):.3f}")

# %%
# The second classifier: the best shift
# -------------------------------------
#
# A digit that lies one pixel to the right is still the same digit, but pixel by pixel it is a different image.
# :class:`~besvm.similarities.Rigid` tries all shifts of up to two pixels and takes the best match.
#
# A kernel SVM is not made for this similarity, because it is not *positive definite*: it is not a dot product in any
# space. For besvm that does not matter. You pass the similarity, and the rest of the program stays the same.

from besvm.similarities import Rigid

by_shift = BESVMClassifier(Rigid(2), basis=100, random_state=0).fit(images[train], y[train])
print(f"the best shift: {by_shift.score(images[test], y[test]):.3f}")

# %%
# What the classifier sees
# ------------------------
#
# Let us take one test image that only the second classifier gets right, and look at the exemplars that each of the two
# finds most similar. ``basis_rows_`` has the training rows that became exemplars.

right = (by_shift.predict(images[test]) == y[test]) & (by_pixel.predict(rows[test]) != y[test])
sample = np.flatnonzero(right)[0] + train.stop

fig, axes = plt.subplots(2, 6, figsize=(8, 3.2))
models = {"pixel by pixel": (by_pixel, rows), "best shift": (by_shift, images)}
for axs, (name, (model, data)) in zip(axes, models.items(), strict=True):
    features = model.transform(data[[sample]])[0]  # how similar the sample is to every exemplar
    axs[0].imshow(images[sample, :, :, 0], cmap="gray_r")
    axs[0].set_title(f"a {y[sample]}, taken for {model.predict(data[[sample]])[0]}", fontsize=9)
    axs[0].set_ylabel(name)
    nearest = np.argsort(-features)[:5]
    for ax, exemplar in zip(axs[1:], model.basis_rows_[0][nearest], strict=True):
        ax.imshow(images[exemplar, :, :, 0], cmap="gray_r")
        ax.set_title(f"exemplar: {y[exemplar]}", fontsize=9)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
fig.tight_layout()

# %%
# More exemplars, and probabilities
# ---------------------------------
#
# More exemplars make the classifier more accurate, and slower in proportion. ``predict_proba`` says how sure it is.

for n in (25, 100, 400):
    model = BESVMClassifier(Rigid(2), basis=n, random_state=0).fit(images[train], y[train])
    print(f"{n:4} exemplars: {model.score(images[test], y[test]):.3f}")

surest = model.predict_proba(images[test]).max(axis=1)
correct = model.predict(images[test]) == y[test]
print(f"where it is at least 99 % sure: {correct[surest >= 0.99].mean():.3f} of {np.sum(surest >= 0.99)} images")
print(f"where it is less than 80 % sure: {correct[surest < 0.80].mean():.3f} of {np.sum(surest < 0.80)} images")

# %%
# When another tool is the better one
# -----------------------------------
#
# If your samples are vectors and a Gaussian kernel suits them, use scikit-learn's ``SVC(kernel="rbf")`` as long as
# you have a few thousand samples. Here is how it compares with a BE-SVM that uses the same similarity, once with 100
# exemplars as above, and once with all 500 training images. SVC compares with nearly all of them, too.

from sklearn.svm import SVC

kernel_svm = SVC(C=10).fit(rows[train], y[train])
all_rows = BESVMClassifier("rbf", basis=500, random_state=0).fit(rows[train], y[train])
n_compared = len(kernel_svm.support_)
print(f"SVC, pixel by pixel:    {kernel_svm.score(rows[test], y[test]):.3f}, compares with {n_compared} images")
print(f"BE-SVM, pixel by pixel: {by_pixel.score(rows[test], y[test]):.3f}, compares with 100 images")
print(f"BE-SVM, pixel by pixel: {all_rows.score(rows[test], y[test]):.3f}, compares with 500 images")
plt.show()

# %%
# With this similarity, SVC is the better one. With the better similarity, the best shift, a BE-SVM is ahead of it with
# only 25 exemplars. If you have many labeled images, a neural network is the better choice.
