"""
A million rows on one machine
=============================

Some data are too large for memory, and some training runs are too long to start again when they are interrupted. This
tutorial trains from a file that is never read into memory as a whole, stays within a memory limit, and continues after
a failure where it stopped.

To run in a few seconds, it uses 20,000 rows. **For a million, change one line**: the first one below. It then takes
about three minutes on two cores, and up to 6 GB of disk space. :doc:`Large data </scale>` has measurements with one
and with ten million rows.

You need: the extra ``plots``. Run ``pip install ".[plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

N_ROWS = 20_000  # change this line to 1_000_000

# %%
# Data on disk
# ------------
#
# Ten kinds of machines send 20 readings each. Each kind has a few ways to run, so that no straight line
# separates one from the others. We write the readings to a file block by block, like a program that collects
# them: they are never all in memory at the same time.

import tempfile
import textwrap
from pathlib import Path

import numpy as np

temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = Path(temporary.name)
N_CLASSES, N_READINGS = 10, 20


def readings(n, seed):
    """Return n rows of readings, and the kinds of machines that they come from."""
    modes = np.random.default_rng(0).normal(size=(N_CLASSES, 4, N_READINGS))
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, N_CLASSES, n)
    rows = modes[kinds, rng.integers(0, 4, n)] + rng.normal(size=(n, N_READINGS))
    return rows.astype(np.float32), kinds


on_disk = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(N_ROWS, N_READINGS))
y = np.empty(N_ROWS, dtype=np.int64)
for number, start in enumerate(range(0, N_ROWS, 10_000), start=1):
    rows = slice(start, min(start + 10_000, N_ROWS))
    on_disk[rows], y[rows] = readings(rows.stop - rows.start, seed=number)
on_disk.flush()

X_test, y_test = readings(5_000, seed=123_456)
print(f"X.npy: {N_ROWS:,} rows of {N_READINGS} readings, {on_disk.nbytes / 1e6:.1f} MB")

# %%
# Train from the file
# -------------------
#
# ``np.load`` with ``mmap_mode="r"`` opens a *memory map*: an array whose numbers stay in the file until they
# are needed. HDF5 and Zarr arrays work the same way, and ``besvm.sources`` reads Parquet files and folders of
# images.
#
# ``memory_limit`` says how much memory training may use. Without it, besvm uses up to 70 % of what is free. To
# save time, we set C, which the classifier would otherwise choose, and do without probabilities.

from time import perf_counter

from besvm import BESVMClassifier

X = np.load(folder / "X.npy", mmap_mode="r")
settings = {"measures": "rbf", "basis": 500, "C": 1.0, "probability": False, "random_state": 0}


def train(rows=N_ROWS, **options):
    """Return a model of the first rows and the seconds that it took to train."""
    start = perf_counter()
    model = BESVMClassifier(**settings, **options).fit(X[:rows], y[:rows])
    return model, perf_counter() - start


train(rows=1_000)  # the first training of all also loads compiled code, which should not count
model, first = train(memory_limit="2 GB")
print(f"trained in {first:.1f} s, storage: {model.storage_}, accuracy {model.score(X_test, y_test):.3f}")

# %%
# Why training time grows so slowly
# ---------------------------------
#
# A kernel SVM compares rows with rows: twice as many rows take four times as long, or more. A BE-SVM compares
# rows with 500 *exemplars*, training rows drawn at random, and trains a linear classifier on the results:
# twice as many rows take twice as long. On small data, the kernel SVM is faster.

import matplotlib.pyplot as plt
from sklearn.svm import SVC

ours = {rows: train(rows)[1] for rows in (500, 1_000, 2_000, 4_000, 8_000, 16_000)}
theirs = {}
for rows in (500, 1_000, 2_000, 4_000):
    start = perf_counter()
    SVC(C=1.0).fit(X[:rows], y[:rows])
    theirs[rows] = perf_counter() - start
for rows, seconds in ours.items():
    other = f"{theirs[rows]:5.2f} s" if rows in theirs else "not tried"
    print(f"{rows:6,} rows: BESVMClassifier {seconds:5.2f} s, SVC {other}")

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
left.plot(list(theirs), list(theirs.values()), "s--", color="#9b9a97", label="SVC")
left.plot(list(ours), list(ours.values()), "o-", color="#0b6e99", label="BESVMClassifier")
left.set(xscale="log", yscale="log", xlabel="training rows", ylabel="seconds to train")
left.yaxis.set_minor_formatter("")
sizes = np.logspace(3, 7)
right.plot(sizes, 4 * sizes**2 / 1e9, "--", color="#9b9a97", label="all rows with all rows")
right.plot(sizes, 4 * sizes * 500 / 1e9, color="#0b6e99", label="all rows with 500 exemplars")
right.axhline(16, color="#d9730d", linewidth=1)
right.text(1.2e3, 22, "memory of a laptop", color="#d9730d", fontsize=8)
right.set(xscale="log", yscale="log", xlabel="training rows", ylabel="GB of similarities")
for ax in (left, right):
    ax.legend(frameon=False, fontsize=8, loc="upper left" if ax is left else "lower right")
    ax.grid(color="#e6e6e6")
    ax.spines[["top", "right"]].set_visible(False)

# %%
# Where the similarities are kept
# -------------------------------
#
# The solver passes over the similarities a few dozen times. They stay in memory if they fit. If not, besvm
# puts them on disk, and if there is no room there either, it computes them again on every pass.
# ``storage="auto"``, the default, picks the first that is possible. ``storage_dtype="float16"`` keeps them in
# half precision: half the space, and next to no difference in the result.

predicted = model.predict(X_test)
print(f"as above: {model.storage_}, {N_ROWS * 500 * 4 / 1e6:,.0f} MB, {first:.1f} s")
for name, options in {
    "half precision": {"storage_dtype": "float16"},
    "on disk": {"storage": "disk"},
    "computed on every pass": {"storage": "recompute"},
}.items():
    other, seconds = train(**options)
    room = 0 if other.storage_ == "recompute" else N_ROWS * 500 * (2 if name == "half precision" else 4) / 1e6
    changed = np.sum(other.predict(X_test) != predicted)
    print(f"{name}: {other.storage_}, {room:,.0f} MB, {seconds:.1f} s, {changed} of {len(X_test):,} predictions differ")

# %%
# A limit is kept, or an error says what you can do instead. The first limit below has room for what the program itself
# and the solver need, but not for the similarities. The second one is too small for anything.

for limit in (f"{200 + N_ROWS // 1_000} MB", "50 MB"):
    try:
        model, _ = train(memory_limit=limit)
        print(f"{limit}: storage: {model.storage_}")
    except MemoryError as error:
        print(textwrap.fill(f"{limit}: {error}", 90))

# %%
# When something goes wrong
# -------------------------
#
# Long training runs get interrupted: Ctrl-C, a full disk, a machine that restarts. With
# ``checkpoint="folder"``, finished blocks of similarities and the state of the solver are kept in that folder.
# The same call continues from there.
#
# To show this, we read X from a simulated network drive that fails after two blocks. (A source of rows needs
# one method, ``read``. You can write one for any place where your data are stored.)

from besvm.sources import RowSource

kept = folder / "kept"


class NetworkDrive(RowSource):
    """Rows of a file that cannot be read any more once two blocks are finished, unless the drive is repaired."""

    repaired = False

    def read(self, first, stop):
        if not self.repaired and len(list(kept.glob("rows-*"))) >= 2:
            raise OSError("the network drive does not answer")
        return np.array(X[first:stop])


drive = NetworkDrive(X.shape, X.dtype)
model = BESVMClassifier(**settings, checkpoint=kept)
try:
    model.fit(drive, y)
except OSError as error:
    print("failed:", error)
finished = sorted(kept.glob("rows-*"))
print(f"finished blocks that were kept: {len(finished)}, {sum(path.stat().st_size for path in finished) / 1e6:.0f} MB")

# %%
# The drive is repaired, and we call ``fit`` once more. It finds the two blocks and computes the rest. The
# model is the same as one that was never interrupted:

drive.repaired = True
model.fit(drive, y)
whole = BESVMClassifier(**settings, checkpoint=folder / "kept too").fit(drive, y)
print(f"accuracy {model.score(X_test, y_test):.3f}")
print(f"largest difference from the model without interruption: {np.abs(model.coef_ - whole.coef_).max():.1g}")

# %%
# Other data or other parameters in the same folder are refused, so nothing gets mixed up:

try:
    BESVMClassifier(**settings | {"basis": 400}, checkpoint=kept).fit(drive, y)
except ValueError as error:
    print("refused:", str(error).split(", where ")[-1])

# %%
# Remove the folder once the model is saved.

temporary.cleanup()
plt.show()

# %%
# In a terminal, with rows of your own in ``X.npy`` and their classes in ``y.txt``, one per line:
#
# .. code-block:: sh
#
#     besvm train X.npy --labels y.txt -o machines.besvm --memory-limit '2 GB' --checkpoint kept
#
# Before you start a long run, ``--plan`` estimates how much time and memory it will take.
#
# When another tool is the better one
# -----------------------------------
#
# - If your rows are plain numbers in columns, gradient boosting (LightGBM, XGBoost or scikit-learn's
#   ``HistGradientBoostingClassifier``) handles millions of rows, and is often more accurate.
# - If a straight line separates the classes, ``SGDClassifier`` reads each row only a few times and needs hardly
#   any memory.
# - If you have millions of images or texts and a GPU, train or fine-tune a neural network.
# - If one machine is not enough, see :doc:`Train on a cluster </tutorials/cluster>`.
