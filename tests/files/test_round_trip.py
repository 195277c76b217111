"""What is loaded decides as what was saved did, to the last bit."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import besvm
from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Measure, Nystrom
from besvm.baselines import DualBESVMClassifier, JitteredClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.basis import IndexBasis, KMedoidsBasis
from besvm.expand import FittedMeasure
from besvm.features import FHOG, Shifts, mirror
from besvm.files import savable
from besvm.measures import mirrored
from besvm.selection import GreedySelection
from besvm.similarities import RBF, FromDistance, Jitter, Latent, Similarity, Sinkhorn, register, registered
from kinds_of_data import labels, of_kind
from variants import first_fast

DIGITS = load_digits()
IMAGES = np.repeat(np.repeat((DIGITS.images * 15).astype(np.uint8), 2, 1), 2, 2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.besvm"


def decisions(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.transform(X)


def assert_round_trip(model, X, path):
    besvm.save(model, path)
    loaded = besvm.load(path)
    assert type(loaded) is type(model)
    assert np.array_equal(decisions(model, X), decisions(loaded, X))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(model.predict_proba(X), loaded.predict_proba(X))
    clone(loaded)
    repr(loaded)
    return loaded


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_registered_similarity(name, path):
    if name == "precomputed":
        X = np.random.default_rng(0).random((24, 24))
    elif name == "from_distance":
        name, X = FromDistance("manhattan"), of_kind("vectors", "")
    else:
        X = of_kind(registered()[name].kind, name)
    if name == "sinkhorn":
        name = Sinkhorn(regularization=1.0)
    model = BESVMClassifier(name, basis=10, random_state=0, C=1.0).fit(X, labels())
    assert_round_trip(model, X, path)


@pytest.mark.parametrize("name", ["chi2", "manhattan", "poly"])
def test_names_of_scikit_learn(name, path):
    X = of_kind("distributions", "chi2-distance")
    assert_round_trip(BESVMClassifier(name, basis=8, random_state=0).fit(X, labels()), X, path)


VECTORS = {
    "l1": BESVMClassifier(penalty="l1", C=1.0),
    "ovo": BESVMClassifier(multi_class="ovo", C=1.0),
    "pair basis": BESVMClassifier(multi_class="ovo-pair-basis", basis=50, C=1.0),
    "z-score": BESVMClassifier(normalize="z-score", basis=IndexBasis(per_class=3), C=1.0),
    "as it is": BESVMClassifier(normalize=None, basis=KMedoidsBasis(20), C=1.0, probability=False),
    "nystrom": BESVMClassifier(normalize=Nystrom("flip"), basis=30, C=1.0),
    "weights": BESVMClassifier(class_weight={k: 1.0 + k for k in range(10)}, basis=np.arange(20), C=1.0),
    "several": BESVMClassifier([("near", "rbf"), ("flat", Measure("linear", features=MeanNormScaler()))], basis=30),
    "scaled": BESVMClassifier(Measure("rbf", features=make_pipeline(StandardScaler(), PCA(8, random_state=0)))),
    "linear": LinearSVMClassifier(),
    "expansion": BasisExpansion(["rbf", "cosine"], basis=30, random_state=0),
    "expansion nystrom": BasisExpansion("rbf", basis=30, normalize=Nystrom(), random_state=0),
    "scaler": MeanNormScaler(),
    "pipeline": make_pipeline(StandardScaler(), BasisExpansion("rbf", basis=40, random_state=0), LinearSVMClassifier()),
    "generator": BESVMClassifier(basis=30, random_state=np.random.RandomState(0)),
    "kernel": KernelSVMClassifier("rbf"),
    "dual": DualBESVMClassifier("rbf", basis=30, random_state=0),
    "greedy": GreedySelection(["rbf", "linear"], basis=20, random_state=0),
    "mkl": LineSearchMKL(["rbf", "linear"]),
}


@pytest.mark.parametrize("which", first_fast(VECTORS, list(VECTORS).index("mkl")))
def test_every_estimator(which, path):
    X, y = DIGITS.data[:150], DIGITS.target[:150]
    model = clone(VECTORS[which])
    if "random_state" in model.get_params() and model.random_state is None:
        model.set_params(random_state=0)
    assert_round_trip(model.fit(X, y), DIGITS.data[150:250], path)


def test_jittered_training(path):
    X, y = FHOG(cell=4).transform(IMAGES[:80]), DIGITS.target[:60]
    model = JitteredClassifier(BESVMClassifier("rbf", basis=20, random_state=0), rigid=1).fit(X[:60], y)
    besvm.save(model, path)
    assert np.array_equal(besvm.load(path).predict(X[60:]), model.predict(X[60:]))


IMAGE_MEASURES = {
    "hog": ["H4R", "H4(1,1)", "H8L"],
    "parts": ["P6", "P6(2)"],
    "mirrored": [mirrored("H4(1,0)"), mirrored("P6")],
    "latent": [Measure(Latent(RBF(gamma=1.0), exemplar_variants=Shifts(1)), features=FHOG(cell=4))],
    "jitter": [Measure(Jitter(RBF(gamma=1.0), exemplar_variants=mirror), features=FHOG(cell=4))],
}


@pytest.mark.parametrize("which", IMAGE_MEASURES)
def test_images(which, path):
    X, y = IMAGES[:80], DIGITS.target[:80]
    model = BESVMClassifier(IMAGE_MEASURES[which], basis=20, random_state=0, C=1.0).fit(X, y)
    assert_round_trip(model, IMAGES[80:120], path)


def test_images_are_kept_instead_of_their_larger_features(path):
    X, y = IMAGES[:80], DIGITS.target[:80]
    model = BESVMClassifier(["H4R", "H4(1,0)", "H8R"], basis=40, random_state=0, C=1.0, probability=False).fit(X, y)
    first, second, _ = model._map.expander.measures
    assert first.originals is second.originals, "one copy for all measures that share a basis"
    loaded = assert_round_trip(model, IMAGES[80:120], path)
    assert loaded._map.expander.measures[0].originals.dtype == np.uint8
    features = sum(measure.exemplars.nbytes for measure in model._map.expander.measures)
    assert path.stat().st_size < model.coef_.nbytes + features / 2


def test_sparse_rows(path):
    X = sparse.random(40, 30, 0.2, format="csr", random_state=0)
    y = np.arange(40) % 2
    assert_round_trip(BESVMClassifier("linear", basis=10, random_state=0).fit(X, y), X, path)
    assert_round_trip(LinearSVMClassifier().fit(X, y), X, path)


def test_columns_of_a_frame(path):
    frame = of_kind("records", "gower")
    measures = [Measure("rbf", column=["age", "count"]), Measure("gower", column=["color", "note"]), "gower"]
    assert_round_trip(BESVMClassifier(measures, basis=8, random_state=0).fit(frame, labels()), frame, path)
    encoded = Measure("linear", column=["color"], features=OneHotEncoder(sparse_output=False))
    assert_round_trip(BESVMClassifier(encoded, basis=8, random_state=0).fit(frame, labels()), frame, path)


def test_float32_and_the_order_in_memory(path):
    X = np.asfortranarray(DIGITS.data[:100].astype(np.float32))
    model = LinearSVMClassifier().fit(X, DIGITS.target[:100])
    model.coef_ = np.asfortranarray(model.coef_)
    loaded = assert_round_trip(model, X, path)
    assert loaded.coef_.flags.f_contiguous
    assert loaded.coef_.flags.writeable


REDUCTIONS = {
    "rows of a larger matrix": PCA(3, svd_solver="randomized", random_state=0),
    "a column of a larger matrix": PCA(1, svd_solver="randomized", random_state=0),
    "backwards": PCA(3, svd_solver="arpack", random_state=0),
    "of one row": TruncatedSVD(10, random_state=0),
    "batches": IncrementalPCA(10),
}


@pytest.mark.parametrize("which", REDUCTIONS)
def test_arrays_with_gaps_keep_them(which, path):
    """Without gaps BLAS rounds otherwise: up to every decision value was another in its last digits."""
    X, y = DIGITS.data[:300], DIGITS.target[:300]
    model = make_pipeline(clone(REDUCTIONS[which]), BESVMClassifier("rbf", basis=30, C=1.0, random_state=0)).fit(X, y)
    loaded = assert_round_trip(model, X, path)
    assert np.array_equal(decisions(model, X[:1]), decisions(loaded, X[:1]))


def test_a_small_part_of_a_large_array_is_kept_without_the_rest(path):
    model = LinearSVMClassifier().fit(DIGITS.data[:100], DIGITS.target[:100])
    model.few_ = np.arange(1000.0 * 40).reshape(40, 1000).T[:40]
    model.fewer_ = np.arange(1000.0 * 40).reshape(40, 1000)[:, :4]
    besvm.save(model, path)
    loaded = besvm.load(path)
    assert all(np.array_equal(getattr(loaded, name), getattr(model, name)) for name in ("few_", "fewer_"))
    assert loaded.few_.flags.f_contiguous
    assert loaded.fewer_.flags.c_contiguous


@pytest.mark.parametrize("features", [SimpleImputer(), make_pipeline(SimpleImputer(), StandardScaler())])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_gaps_that_features_fill_in(features, dtype, path):
    """The file has the rows as they came, and was never loaded again, since not all of their numbers are finite."""
    X = DIGITS.data[:100].astype(dtype)
    X[::7, ::5] = np.nan
    model = BESVMClassifier(Measure("rbf", features=features), basis=20, C=1.0, random_state=0)
    loaded = assert_round_trip(model.fit(X, DIGITS.target[:100]), X, path)
    assert np.isnan(loaded._map.expander.measures[0].originals).any()


@register("test-shared-letters")
class SharedLetters(Similarity):
    def __init__(self, least=0):
        self.least = least

    def __call__(self, A, B):
        return np.array([[max(self.least, len(set(a) & set(b))) for b in B] for a in A], dtype=float)


@savable("test-doubled")
class Doubled(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.seen_ = {"rows": len(X)}
        return self

    def transform(self, X):
        return [x * 2 for x in X]


def test_a_similarity_and_features_of_the_users(path):
    X = of_kind("text", "edit")
    model = BESVMClassifier(Measure(SharedLetters(least=2), features=Doubled()), basis=8, random_state=0)
    loaded = assert_round_trip(model.fit(X, labels()), X, path)
    assert loaded.measures.similarity.least == 2
    assert loaded.measures.features is not Doubled


def test_one_file_is_one_file_whoever_writes_it(tmp_path):
    X, y = DIGITS.data[:100], DIGITS.target[:100]
    for name in ("a", "b"):
        besvm.save(BESVMClassifier(basis=20, random_state=0).fit(X, y), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_facts(path):
    model = BESVMClassifier(basis=20, random_state=3).fit(DIGITS.data[:100], DIGITS.target[:100])
    besvm.save(model, path, facts={"accuracy": 0.9, "rows": 77})
    loaded = besvm.load(path)
    assert loaded.facts_["accuracy"] == 0.9
    assert loaded.facts_["rows"] == 77, "what is said counts more than what is known"
    assert loaded.facts_["seed"] == 3
    assert loaded.facts_["besvm"] == besvm.__version__
    besvm.save(loaded, path, facts={"note": "again"})
    assert besvm.load(path).facts_["accuracy"] == 0.9
    assert besvm.files.describe(path)["facts"]["note"] == "again"


def test_loaded_models_are_estimators_like_others(path):
    X, y = DIGITS.data[:100], DIGITS.target[:100]
    besvm.save(BESVMClassifier(basis=20, random_state=0).fit(X, y), path)
    loaded = besvm.load(path)
    assert np.array_equal(pickle.loads(pickle.dumps(loaded)).predict(X), loaded.predict(X))
    assert loaded.set_params(C=2.0).fit(X, y).C_ == 2.0


def test_a_large_file_may_be_replaced_while_its_model_is_in_use(path):
    """When large files were mapped, copying another model over one changed what the loaded one predicted."""
    model = LinearSVMClassifier().fit([[0.0], [1.0]], ["a", "b"])
    model.large_ = np.zeros(65 << 20, np.uint8)
    besvm.save(model, path)
    loaded = besvm.load(path)
    with open(path, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"x" * 100)
    assert not loaded.large_[-100:].any()


def test_several_threads_may_be_the_first_to_predict(path, monkeypatch):
    """Exemplars of which the file has the originals are described once, and every thread gets them."""
    X, y = IMAGES[:80], DIGITS.target[:80]
    model = BESVMClassifier("H4R", basis=20, random_state=0, C=1.0, probability=False).fit(X, y)
    besvm.save(model, path)
    loaded, described, together = besvm.load(path), FittedMeasure.described, Barrier(4)
    loaded = pickle.loads(pickle.dumps(loaded))
    calls = []

    def slowly(*args):
        calls.append(args)
        sleep(0.05)
        return described(*args)

    def decide(_):
        together.wait(timeout=30)
        return loaded.decision_function(X)

    monkeypatch.setattr(FittedMeasure, "described", slowly)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(decide, range(4)))
    assert len(calls) == 1
    assert all(np.array_equal(one, model.decision_function(X)) for one in found)
    assert np.array_equal(pickle.loads(pickle.dumps(loaded)).decision_function(X), found[0])


def test_a_process_that_knows_nothing_loads_it_and_imports_little(path):
    besvm.save(BESVMClassifier(basis=20, random_state=0).fit(DIGITS.data[:100], DIGITS.target[:100]), path)
    code = (
        "import sys, besvm; model = besvm.load(sys.argv[1]); "
        "print(model.n_basis_, [m for m in ('networkx', 'matplotlib', 'numba') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, os.fspath(path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert out.stdout == "20 []\n"


def test_pruned_models_keep_one_copy_of_the_images(path):
    X, y = IMAGES[:80], DIGITS.target[:80]
    model = BESVMClassifier(["H4R", "H4(1,0)"], basis=40, random_state=0, C=1.0).fit(X, y)
    small = besvm.prune(model, 10, X, y)
    first, second = small._map.expander.measures
    assert first.originals is second.originals
    assert len(first.originals) == 10
    assert_round_trip(small, IMAGES[80:120], path)
