"""
Train on a cluster
==================

When one machine is too small or too slow, besvm trains on a cluster of machines with `Dask <https://docs.dask.org>`_.
You hand over a Dask array instead of a NumPy array, and the rest stays the same. The machines read the rows themselves,
and no single one needs room for all. What comes back is an ordinary model that predicts anywhere.

This tutorial starts a small cluster on your own machine: a scheduler and two workers, in separate processes. On a real
cluster they would run on separate machines. With so little data, one machine alone is much faster, as you will see.

You need: the extras ``cluster`` and ``plots``. Run ``pip install ".[cluster,plots]"`` in your copy of the repository
(see :doc:`Installing </installing>`).
"""

# %%
# Start a cluster
# ---------------
#
# A Dask cluster has one *scheduler*, which hands out the work, and *workers*, which do it. Here the scheduler
# runs in this program. A worker is started by one command, on any machine that has besvm and can reach the
# scheduler:
#
# .. code-block:: sh
#
#     dask worker tcp://address-of-the-scheduler:8786 --nthreads 1
#
# We run that command twice. One thread for each worker works best for besvm. ``--preload`` loads besvm at the
# start.
#
# (Your own script can also call ``Client(n_workers=2)``, which does all of this at once. If so, put the call
# below ``if __name__ == "__main__":``, because it starts your script again in each process.)

import subprocess
import sys

from distributed import Client, LocalCluster

scheduler = LocalCluster(n_workers=0, dashboard_address=None, silence_logs="ERROR")
command = [sys.executable, "-m", "dask", "worker", scheduler.scheduler_address, "--nthreads", "1"]
command += ["--no-nanny", "--no-dashboard", "--preload", "besvm.classifier"]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
workers = [subprocess.Popen(command, **quiet) for _ in range(2)]

# %%
# Rows in many files
# ------------------
#
# Large data usually come as many files in a folder that all machines can see. While the workers start, we
# write four such files of 5,000 rows each: readings of ten kinds of machines. Then we open them as a Dask
# array, which is only a list of what to do: "load this file, then that one". The workers will read them.

import tempfile
from pathlib import Path

import dask.array as da
import numpy as np

rng = np.random.default_rng(0)
modes = rng.normal(size=(10, 4, 20))  # each kind of machine has four ways to run
y = rng.integers(0, 10, 20_000)
rows = (modes[y, rng.integers(0, 4, len(y))] + rng.normal(size=(len(y), 20))).astype(np.float32)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name) / "readings"
da.to_npy_stack(folder, da.from_array(rows, chunks=(5_000, 20)))

X = da.from_npy_stack(folder)
print(sorted(path.name for path in folder.glob("*.npy")))
print(f"a Dask array of {X.shape[0]:,} rows with {X.shape[1]} readings, in {X.npartitions} pieces")

# %%
# Train
# -----
#
# ``fit`` uses the client that is open. (``BESVMClassifier(client=...)`` takes another one, or its address.) We
# also record what the workers do, to look at it afterwards.
#
# To save time, we set C to the value that besvm would choose here, and do without probabilities. The default settings
# try several values of C and train several more times for the probabilities. That took about 10 s on the cluster, and 2
# to 3 s alone, when we measured it, and the model was as accurate as the one below.

from time import perf_counter

from distributed import get_task_stream

from besvm import BESVMClassifier

client = Client(scheduler)
client.wait_for_workers(2, timeout=60)
settings = {"measures": "rbf", "basis": 300, "C": 10.0, "probability": False, "random_state": 0}

with get_task_stream(client) as work:
    start = perf_counter()
    model = BESVMClassifier(**settings).fit(X, y)
    seconds = perf_counter() - start
print(f"trained on {len(y):,} rows in {seconds:.1f} s, storage: {model.storage_}")

# %%
# The workers sent us a sample of the rows, from which besvm chose 300 exemplars. These went to both workers; all other
# rows stayed there. Each worker compared half of the rows with the exemplars and kept the similarities. Then the solver
# passed over them several times. In each pass it sends the weights to the workers, and small sums come back.

import matplotlib.pyplot as plt

colors = {
    "read files, choose exemplars": "#9b9a97",
    "compare rows with exemplars": "#d9730d",
    "passes of the solver": "#0b6e99",
}
names = sorted({task["worker"] for task in work.data})
steps = [(task, step) for task in work.data for step in task["startstops"] if step["action"] == "compute"]
begin = min(step["start"] for _, step in steps)


def compares(task):
    return "similarities" in str(task["key"])


compared = {task["worker"]: step["start"] for task, step in steps if compares(task)}  # since when


def kind_of(task, step):
    if compares(task):
        return "compare rows with exemplars"
    earlier = step["start"] < compared.get(task["worker"], np.inf)
    return "read files, choose exemplars" if earlier else "passes of the solver"


figure, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
for kind, color in colors.items():
    some = [(task, step) for task, step in steps if kind_of(task, step) == kind]
    ax.barh(
        [names.index(task["worker"]) for task, _ in some],
        [max(step["stop"] - step["start"], 0.004) for _, step in some],
        left=[step["start"] - begin for _, step in some],
        color=color,
        label=kind,
    )
ax.set_yticks(range(len(names)), [f"worker {place + 1}" for place in range(len(names))])
ax.set(xlabel="seconds since the start of the training")
ax.legend(frameon=False, fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# Predict
# -------
#
# Given a Dask array, ``predict`` is lazy as well: it returns a Dask array at once. The predictions are computed
# when you ask for them, file by file, on the workers.

predicted = model.predict(X)
print(f"predictions: a Dask array in {predicted.npartitions} pieces, none of them computed yet")
print(f"{(predicted == y).mean().compute():.3f} of the training rows are right")

# %%
# The same model without a cluster
# --------------------------------
#
# Now read everything into the memory of this program, shut the cluster down, and train here. The first model
# still works: it is an ordinary one and needs no cluster to predict.

X_here = X.compute()
client.shutdown()  # stops the workers and the scheduler
for worker in workers:
    worker.wait()
scheduler.close()
temporary.cleanup()

start = perf_counter()
alone = BESVMClassifier(**settings).fit(X_here, y)
print(f"alone: {perf_counter() - start:.1f} s; on the cluster: {seconds:.1f} s")
difference = np.abs(model.coef_ - alone.coef_).max() / np.abs(alone.coef_).max()
print(f"largest difference of a weight: {difference:.0e} of the largest weight")
print(f"predictions that differ: {np.sum(model.predict(X_here) != alone.predict(X_here))} of {len(y):,}")
plt.show()

# %%
# The two models are nearly the same. 32-bit numbers were added up in a different order, and the solver stops when it is
# near enough to the best weights. (``tol`` says how near. With a smaller one, the two come closer.)
#
# Training alone is much faster here. Both ways use the same processors, the data are small, and each pass costs
# the scheduler some time. A cluster is for data that one machine cannot hold. :doc:`Large data
# </scale>` has measurements of what a cluster costs.

# %%
# On real clusters
# ----------------
#
# Dask itself starts clusters on machines that you can log in to (``dask-ssh``), on Kubernetes
# (``dask_kubernetes``) and with SLURM (``dask_jobqueue``). All you need is the address of the scheduler, in
# Python or in a terminal:
#
# .. code-block:: sh
#
#     besvm train readings.parquet -o machines.besvm --cluster tcp://address:8786
#     besvm train readings.parquet -o machines.besvm --cluster local:2
#
# The second one starts two workers on this machine, for two processor cores. In a terminal, a bar shows the progress.
#
# If a worker is lost during training, the others compute its part again. With ``checkpoint=``, training also
# survives the loss of the program that started it.
#
# When another tool is the better one
# -----------------------------------
#
# - If the data fit on one machine, train there (see :doc:`A million rows on one machine
#   </tutorials/million_rows>`). Even ten million rows can be trained on from disk.
# - If you want to try many settings on small data, distribute the *fits* instead: ``with
#   joblib.parallel_config("dask"): GridSearchCV(...).fit(X, y)``.
# - If your rows are plain numbers in columns, gradient boosting with Dask (LightGBM and XGBoost support it) is
#   fast and accurate.
