"""The plan keeps to the limit, and what was planned is not exceeded: peaks are those of processes of their own."""

import os
import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from besvm import FHOG, BESVMClassifier, Measure
from besvm._support.threads import workers
from besvm._support.units import parse_bytes
from besvm.baselines import KernelSVMClassifier
from besvm.blocks import npy
from besvm.blocks import plan as plans
from besvm.blocks.estimates import l1_budget, pairs_bytes
from besvm.blocks.plan import check_fits, plan_pairs, plan_training
from peaks import needs_proc, peak_of


def large(**options):
    return plan_training(10_000, 10_000, 4, 10, **options)


def test_the_plan_follows_the_limit(monkeypatch):
    with workers(2):
        assert plan_training(1000, 1000, 4, 10, memory_limit="1 GB").storage == "memory"
        assert large(memory_limit="500 MB").storage == "disk"
        with monkeypatch.context() as patch:
            patch.setattr(plans.shutil, "disk_usage", lambda folder: SimpleNamespace(free=400 * 10**6))
            assert large(memory_limit="500 MB").storage == "recompute"
        need = large(storage="memory", memory_limit="2 GB")
        assert large(memory_limit=need.features + need.work).storage == "memory"
        assert large(memory_limit=need.features + need.work - 1).storage == "disk"
        with pytest.raises(
            MemoryError, match=r"within 500 MB, but with storage='memory' it needs \d+ MB; use storage='auto'"
        ):
            large(storage="memory", memory_limit="500 MB")
        with pytest.raises(MemoryError, match=r"with storage='disk' it needs .* smaller basis"):
            large(memory_limit="100 MB")
        with pytest.raises(ValueError, match="storage must be 'auto', 'memory'"):
            large(storage="tape")


def test_numbers_of_eight_bytes_are_planned_as_such(capsys):
    """Times in seconds need float64 features; they were planned with four bytes."""
    four, eight = (plan_training(1000, 1000, itemsize, 10, memory_limit="9 GB") for itemsize in (4, 8))
    assert (four.features, eight.features) == (4 * 10**6, 8 * 10**6)
    assert eight.work > four.work
    times = 1.7e9 + np.random.default_rng(0).normal(size=(1500, 3))
    BESVMClassifier("rbf", basis=300, verbose=1, C=1.0, probability=False).fit(times, times[:, 0] > 1.7e9)
    assert "the features take 3.6 MB" in capsys.readouterr().err


def test_a_limit_makes_the_solver_save_and_no_limit_lets_it_go():
    saving, free = (large(storage="disk", memory_limit=limit) for limit in ("2 GB", None))
    assert saving.solver_options["max_rank"] < free.solver_options["max_rank"]
    assert saving.work < free.work
    saving, free = (large(storage="disk", memory_limit=limit, penalty="l1") for limit in ("4 GB", None))
    assert saving.solver_options["hessian_bytes"] < free.solver_options["hessian_bytes"]
    assert saving.work < free.work
    together, weights = l1_budget(10_000, 4, saving.solver_options["hessian_bytes"])
    assert 4 * together * weights**2 <= saving.solver_options["hessian_bytes"]


def test_more_threads_take_more_and_fewer_work_where_they_would_take_too_much():
    needs = []
    for n_jobs in (1, 4, 16, 64):
        with workers(n_jobs):
            plan = large(storage="disk", memory_limit="9 GB")
            assert plan.n_jobs is None
            needs.append(plan.work)
    assert all(more > 1.1 * less for less, more in pairwise(needs))
    with workers(64):
        plan = large(memory_limit=needs[1])
        assert plan.storage == "disk"
        assert plan.n_jobs == 4
        assert "by only 4 threads" in str(plan)
        assert large(memory_limit=needs[0]).n_jobs == 1
        with pytest.raises(MemoryError):
            large(memory_limit=needs[0] - 1)


@pytest.fixture
def temporary_memory(monkeypatch, tmp_path):
    """As if the temporary folder were a tmpfs; ``other`` are the other places to try."""

    def on(*other):
        monkeypatch.setattr(plans.tempfile, "gettempdir", lambda: str(tmp_path))
        monkeypatch.setattr(plans, "is_memory", lambda folder: folder == tmp_path)
        monkeypatch.setattr(plans, "OTHER_DISKS", other)
        return tmp_path

    return on


def test_a_temporary_folder_in_memory_is_no_disk(temporary_memory, tmp_path_factory):
    disk = tmp_path_factory.mktemp("disk")
    memory = temporary_memory(str(disk))
    plan = large(memory_limit="500 MB")
    assert (plan.storage, plan.folder) == ("disk", disk)
    assert f"{memory} is memory, so files go to {disk}" in str(plan)
    temporary_memory("/nowhere")
    plan = large(memory_limit="500 MB")
    assert plan.storage == "recompute"
    assert f"{memory} is memory and no disk: set TMPDIR" in str(plan)
    with pytest.raises(MemoryError, match=r"with storage='disk' it needs .* is memory and no disk: set TMPDIR"):
        large(storage="disk", memory_limit="500 MB")  # it would be memory all the same
    assert large(storage="disk", memory_limit="2 GB").storage == "disk"
    chosen = large(folder=disk, memory_limit="500 MB")  # by the user
    assert (chosen.storage, chosen.folder, chosen.note) == ("disk", disk, "")


def test_the_features_go_where_the_plan_says(temporary_memory, tmp_path_factory, monkeypatch):
    disk = tmp_path_factory.mktemp("disk")
    memory = temporary_memory(str(disk))
    made, seen = npy.TemporaryFile, []
    monkeypatch.setattr(npy, "TemporaryFile", lambda **where: seen.append(where) or made(**where))
    X = np.random.default_rng(0).normal(size=(40, 3))
    BESVMClassifier("rbf", basis=5, storage="disk", n_jobs=1).fit(X, np.arange(40) % 2)
    assert seen == [{"dir": disk}]
    assert os.listdir(disk) == os.listdir(memory) == []


def test_kernel_svms_are_planned_by_their_largest_pair():
    with workers(4):
        assert plan_pairs([100, 300, 200], 4, None, True, 10**9).jobs == 3  # there are only three pairs
        sizes = [100, 300, 200, 300, 300, 300, 300]
        ample = plan_pairs(sizes, 4, None, True, 10**9)
        assert (ample.jobs, ample.keep, ample.rows) == (4, True, 600)
        fewer = plan_pairs(sizes, 4, None, True, ample.need - 1)
        assert (fewer.jobs, fewer.keep) == (3, True)
        least = pairs_bytes(sizes, 4, 12 * 600**2, 1, False)
        assert plan_pairs(sizes, 4, None, True, least).keep is False
        with pytest.raises(MemoryError, match="600 rows, needs"):
            plan_pairs(sizes, 4, None, True, least - 1)
        assert plan_pairs(sizes, 4, "clip", False, 10**9).need > ample.need
        check_fits("it", 10, 10)
        with pytest.raises(MemoryError, match="it would need 10 bytes, but the memory limit is 9 bytes"):
            check_fits("it", 10, 9)


def test_symmetry_is_checked_without_matrices_of_its_size(rng):
    """The n x n differences were planned by nobody."""
    X = rng.normal(size=(2500, 10)).astype(np.float32)
    K = X @ X.T
    K[2400, 3] += 1
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"symmetric .* in row 3, column 2400 and .* in row 2400, column 3"):
        KernelSVMClassifier("precomputed").fit(K, np.arange(2500) % 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.8 * K.nbytes


# --- peaks -----------------------------------------------------------------------------------------------------------


FIT = """
    X = rng.normal(size=(12_000, 20)).astype(np.float32)
    y = rng.integers(0, 4, len(X)) + 4 * (X[:, 0] > 0)
    storage, limit, n_jobs, offset = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    if offset:
        X = offset + X.astype(np.float64)
    BESVMClassifier(RBF(0.05), basis=50, storage=storage).fit(X[:500], y[:500])  # load all that is loaded lazily
    before = peak()
    model = BESVMClassifier(RBF(0.05), basis=4000, storage=storage, memory_limit=limit, tol=1e-2, n_jobs=n_jobs)
    assert model.fit(X, y).converged_
    print(peak() - before)
"""
SLOW = pytest.mark.slow


@needs_proc
@pytest.mark.parametrize(
    ("storage", "limit", "n_jobs", "offset"),
    [
        pytest.param("memory", "500 MB", 2, 0, marks=SLOW),
        ("disk", "320 MB", 2, 0),
        pytest.param("disk", "320 MB", 64, 0, marks=SLOW),  # blocks of 64 threads would take 430 MB
        pytest.param("auto", "480 MB", 2, 1.7e9, marks=SLOW),  # in float64, 384 MB of them: to disk
    ],
)
def test_peak_memory_stays_under_the_limit(storage, limit, n_jobs, offset):
    assert peak_of(FIT, storage, limit, str(n_jobs), str(offset)) <= parse_bytes(limit)


MATRIX = """
    import scipy.sparse as sp
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from besvm import FHOG, Measure
    from besvm.basis import PivotedBasis
    from besvm.similarities import Similarity

    class Broadcast(Similarity):  # as a user writes it: (rows, exemplars, numbers) at once
        def __call__(self, A, B):
            return -np.abs(np.asarray(A)[:, None] - np.asarray(B)[None]).mean(axis=-1)

    def wide(n, d):
        X = np.empty((n, d), np.float32)
        for row in X:
            row[:] = rng.random(d, dtype=np.float32)
        return X

    def sparse(n, d, k):
        return sp.csr_matrix((rng.random(n * k), rng.integers(0, d, n * k), np.arange(0, n * k + 1, k)), shape=(n, d))

    def images(n, side):
        return rng.integers(0, 256, (n, side, side), dtype=np.uint8)

    def flat(X):
        return X.reshape(len(X), -1)

    def share(a, b):
        return float(a[:9] @ b[:9])

    mixed = make_pipeline(FHOG(4), FunctionTransformer(flat), PCA(5))
    measure, storage, limit = sys.argv[1:]
    measures, basis, X = {
        "wide": lambda: ("rbf", 200, wide(5000, 8000)),
        "wide, double": lambda: ("rbf", 200, rng.normal(size=(20_000, 2000))),
        "wide, laplacian": lambda: ("laplacian", 50, wide(3000, 4000)),
        "wide, selected": lambda: ("rbf", PivotedBasis(50, max_rows=1000), wide(5000, 8000)),
        "CSR": lambda: ("rbf", 200, sparse(20_000, 20_000, 50)),
        "CSR, cosine": lambda: ("cosine", "auto", sparse(5000, 50_000, 50)),
        "CSR, median": lambda: (RBF("median"), 200, sparse(3000, 50_000, 50)),
        "CSR, laplacian": lambda: ("laplacian", 50, sparse(2000, 20_000, 50)),
        "CSR, function": lambda: (share, 20, sparse(500, 50_000, 50)),
        "images": lambda: ("H4R", 100, images(2000, 128)),
        "images, rigid": lambda: ("H4(1,0)", 20, images(400, 128)),
        "images, selected": lambda: ("H4R", PivotedBasis(20), images(1500, 128)),
        "images, mixed": lambda: (Measure("rbf", features=mixed), 50, images(600, 96)),
        "own": lambda: (Broadcast(), 100, wide(3000, 1000)),
        "precomputed": lambda: ("precomputed", "auto", wide(20_000, 500)),
    }[measure]()
    y = rng.integers(0, 3, X.shape[0])
    y[:3] = range(3)
    few = basis if isinstance(basis, str) else 5
    if measure != "CSR, function":
        BESVMClassifier(measures, basis=few, storage=storage, max_iter=2, tol=9).fit(X[:20], y[:20]).predict(X[:20])
    before = peak()
    model = BESVMClassifier(measures, basis=basis, storage=storage, memory_limit=limit, n_jobs=2, max_iter=5, tol=1e-1)
    model.fit(X, y).predict(X)
    print(peak() - before)
"""


@needs_proc
@SLOW
@pytest.mark.parametrize("storage", ["memory", "disk", "recompute"])
@pytest.mark.parametrize(
    ("measure", "limit"),
    [
        ("own", "300 MB"),
        ("images", "300 MB"),
        ("CSR, cosine", "300 MB"),
        ("wide", "300 MB"),
        ("wide, double", "300 MB"),
        ("wide, laplacian", "250 MB"),
        ("wide, selected", "250 MB"),
        ("CSR", "300 MB"),
        ("CSR, median", "300 MB"),
        ("CSR, laplacian", "250 MB"),
        ("CSR, function", "250 MB"),
        ("images, rigid", "250 MB"),
        ("images, selected", "300 MB"),
        ("images, mixed", "300 MB"),
        ("precomputed", "300 MB"),
    ],
)
def test_wide_samples_stay_under_the_limit_too(measure, storage, limit):
    """Blocks were cut to the features alone: 2.6 GB under a limit of 500 MB."""
    assert peak_of(MATRIX, measure, storage, limit) <= parse_bytes(limit)


def flat(X):
    return X.reshape(len(X), -1)


def test_what_cannot_stay_under_the_limit_is_refused_before_the_work(rng):
    X, y = rng.normal(size=(300, 2000)), np.arange(300) % 2
    with pytest.raises(
        MemoryError, match=r"the 300 exemplars would need .*, but the memory limit is 5.0 MB; .* use a smaller basis"
    ):
        BESVMClassifier(basis=300, memory_limit="5 MB").fit(X, y)
    with pytest.raises(MemoryError, match="the 300 exemplars would need 24 MB, but the memory limit is 20 MB"):
        BESVMClassifier(basis=300, memory_limit="20 MB").fit(X.astype(np.float32), y)  # packed in float64 as well
    images = rng.integers(0, 256, (300, 64, 64), dtype=np.uint8)
    features = make_pipeline(FHOG(4), FunctionTransformer(flat), PCA(5))
    with pytest.raises(
        MemoryError, match=r"fitting the features PCA on 300 rows would need .*, but the memory limit is 5.0 MB"
    ):
        BESVMClassifier(Measure("rbf", features=features), basis=5, memory_limit="5 MB").fit(images, y)


KERNEL = """
    from besvm.blocks.plan import plan_pairs
    from besvm._support.threads import workers
    X, y = rng.normal(size=(10_000, 496)).astype(np.float32), rng.integers(0, 10, 10_000)
    X += 0.1 * rng.normal(size=(10, 496)).astype(np.float32)[y]
    for n in (100, 600):  # in float64, then in float32
        KernelSVMClassifier(RBF(0.002)).fit(X[:n], y[:n])
    with workers(2):
        planned = plan_pairs(np.bincount(y).tolist(), 4, None, True, 10**9, 3 * X.nbytes).need
    before = peak()
    KernelSVMClassifier(RBF(0.002), n_jobs=2, memory_limit=planned).fit(X, y)
    print(round(1000 * (peak() - before) / planned))
"""


@needs_proc
@SLOW
def test_a_kernel_svm_takes_what_was_planned():
    """The plan was 220 MB, and 350 MB were taken."""
    assert 700 < peak_of(KERNEL) <= 1000  # thousandths of what was planned


def test_plans_say_in_words_what_they_take():
    with workers(2):
        said = str(plan_training(10_000, 4_000, 4, 10, memory_limit="1 GB"))
        assert said == "features in memory: the features take 160 MB and training 278 MB more; the limit is 1.0 GB"
        said = str(plan_pairs([1000, 1000, 900], 4, None, True, 10**9))
        assert said.startswith("the largest pair's matrix takes 32 MB (2,000 rows), training 178 MB in all, 2 at")


MAPPED = """
    import tempfile
    folder = tempfile.mkdtemp(dir=sys.argv[1])
    n, width, batch = 160_000, 750, 10_000  # 480 MB
    X = np.lib.format.open_memmap(folder + "/X.npy", "w+", np.float32, (n, width))
    for first in range(0, n, batch):
        X[first : first + batch] = rng.normal(size=(batch, width))
    y = X[:, 0] > 0
    X.flush()
    del X
    X = np.load(folder + "/X.npy", mmap_mode="r")
    options = {"basis": 20, "C": 1.0, "probability": False, "tol": 0.1}
    BESVMClassifier(RBF(), storage="disk", **options).fit(X[:500], y[:500])  # load all that is loaded lazily
    with open("/proc/self/clear_refs", "w") as file:  # forget the peak of writing
        file.write("5")
    before = int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    model = BESVMClassifier(RBF(), memory_limit=sys.argv[2], **options).fit(X, y)
    model.predict(X)
    print(peak() - before)
"""


@needs_proc
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak is set back through /proc")
@SLOW
def test_a_mapped_array_larger_than_the_limit_is_never_in_memory(tmp_path):
    assert peak_of(MAPPED, str(tmp_path), "200 MB") <= parse_bytes("200 MB")
