"""Files whose sizes and places would lead compiled code outside of its arrays, or into work without end."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

import besvm
from altered_files import hostile, measure_of, parts, refuse, sealed, with_bytes
from besvm import BasisExpansion, BESVMClassifier, Measure
from besvm.baselines import KernelSVMClassifier
from besvm.features import Shifts
from besvm.files import savable
from besvm.selection import GreedySelection
from besvm.similarities import Jitter

Y = np.arange(20) % 2
VECTORS = np.random.default_rng(0).normal(size=(20, 6)) + Y[:, None]
SERIES = [np.sin(np.arange(30 + k % 3) * (1 + k % 2)) for k in range(20)]
IMAGES = (np.random.default_rng(0).random((20, 16, 16, 3)) * 255).astype(np.uint8)
RECORDS = [{"age": 20.0 + k, "town": "AB"[k % 2]} for k in range(20)]
GRAPHS = [[(k, k + 1) for k in range(3 + i % 4)] for i in range(20)]


@savable("test-vocabulary")
class Vocabulary(TransformerMixin, BaseEstimator):
    def __init__(self, folder=None):
        self.folder = folder

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.fixture
def saved(tmp_path):
    """Return what gives the bytes of a model of some measures and samples."""

    def save(measures, X, **options):
        model = BESVMClassifier(measures, basis=6, C=1.0, random_state=0, **options).fit(X, Y)
        besvm.save(model, tmp_path / "good")
        return (tmp_path / "good").read_bytes()

    return save


def similarity_of(description):
    return measure_of(description)["similarity"]["state"]


def loads_but_says(tmp_path, file, X, match):
    """Check that a file that is sound as far as anyone can see says at the first sample what is wrong with it."""
    (tmp_path / "altered").write_bytes(file)
    model = besvm.load(tmp_path / "altered")
    with pytest.raises(ValueError, match=match):
        model.predict(X)


FIXED = [
    *[("dtw", SERIES, "rule", 1), ("dtw", SERIES, "rule", 5), ("msm", SERIES, "first_moment", -9)],
    *[("wdtw", SERIES, "one_length", False), ("twe", SERIES, "at_least", {}), ("dtw", SERIES, "rows_per_block", -1)],
    *[("rbf", VECTORS, "columns_each", 3), ("rbf", VECTORS, "missing", True), ("linear", VECTORS, "sparse", True)],
    *[("H4R", IMAGES, "vectors", False), ("P6", IMAGES, "mean_factor", 1e30)],
]


@pytest.mark.parametrize(("measure", "X", "name", "value"), FIXED)
def test_what_a_class_has_for_all_of_its_objects(tmp_path, saved, measure, X, name, value):
    """Another rule of the dynamic programme would read lags that are not there."""
    file = hostile(saved(measure, X), lambda d: similarity_of(d).update({name: value}))
    refuse(tmp_path, file, f"has no attribute {name!r}")


@pytest.mark.parametrize("dilation", [-5, 0, 1 << 30])
def test_parts_of_series_with_gaps_that_lead_outside(tmp_path, dilation):
    """What a file said was read by compiled code, which crashed or went on for ever."""
    model = BESVMClassifier("series-parts", basis=6, random_state=0, C=1.0).fit(SERIES, Y)
    model._map.expander.measures[0].exemplars["dilation"][0] = dilation
    besvm.save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=f"the dilation of a part must be from 1 to 512, got {dilation}"):
        besvm.load(tmp_path / "model").predict(SERIES)


def test_parts_of_series_of_another_length(tmp_path, saved):
    file = hostile(saved("series-parts", SERIES), lambda d: similarity_of(d).update(length=7))
    loads_but_says(tmp_path, file, SERIES, r"parts must be an array \(parts, 7\)")


@pytest.mark.parametrize("regions", [1 << 20, 1 << 40, -1, 0])
def test_regions_without_number(tmp_path, regions):
    """A model without weights and scales, whose width follows from the regions alone."""
    besvm.save(BasisExpansion("series-parts", basis=6, normalize=None).fit(SERIES), tmp_path / "good")
    file = hostile((tmp_path / "good").read_bytes(), lambda d: similarity_of(d).update(regions=regions))
    refuse(tmp_path, file, "the columns of exemplars")


@pytest.mark.parametrize("shape", [[0], [2, 0], [3]])
def test_weights_of_columns_that_are_not_there(tmp_path, saved, shape):
    """An array without columns was packed as an array without rows, and compiled code read its first one."""

    def change(description):
        number = similarity_of(description)["weights_"]["n"]
        description["arrays"][number]["shape"] = shape

    file = hostile(saved("gower", RECORDS), change)
    loads_but_says(tmp_path, file, RECORDS, "a weight and a range for each of 2 columns")


@pytest.mark.parametrize(("key", "value"), [("indices", 1 << 30), ("indices", -1), ("indptr", 1 << 30), ("indptr", -1)])
def test_a_sparse_matrix_with_places_outside(tmp_path, saved, key, value):
    file = saved("linear", sparse.csr_matrix(VECTORS * (VECTORS > 0)))
    _, description, _ = parts(file)
    number = measure_of(description)["exemplars"][key]
    wrong = np.array([value], description["arrays"][number]["dtype"]).tobytes()
    refuse(tmp_path, with_bytes(file, number, wrong), "not a valid model")


def test_a_sparse_matrix_whose_rows_end_where_they_began(tmp_path, saved):
    """SciPy takes it for empty, and looks no further: compiled code then read a million places of the first row."""
    file = saved("linear", sparse.csr_matrix(VECTORS * (VECTORS > 0)))
    _, description, _ = parts(file)
    number = measure_of(description)["exemplars"]["indptr"]
    wrong = np.array([0, 1 << 20, 0, 0, 0, 0, 0], description["arrays"][number]["dtype"]).tobytes()
    refuse(tmp_path, with_bytes(file, number, wrong), "must begin one after the other")


@pytest.mark.parametrize("columns", [1 << 40, 1 << 47])
def test_a_sparse_matrix_with_columns_without_number(tmp_path, saved, columns):
    """Turned round, a few numbers in so many columns fill the memory."""
    file = saved("linear", sparse.csr_matrix(VECTORS * (VECTORS > 0)))
    change = hostile(file, lambda d: measure_of(d)["exemplars"].update(shape=[6, columns]))
    refuse(tmp_path, change, "the columns of a sparse matrix")


@pytest.mark.parametrize("shape", [[1 << 40, 0], [0, 1 << 30]])
def test_empty_arrays_that_are_long(tmp_path, saved, shape):
    """They take no bytes in the file; what is made of them does."""

    def change(description):
        description["arrays"][measure_of(description)["exemplars"]["n"]]["shape"] = shape

    refuse(tmp_path, hostile(saved("linear", VECTORS), change), "describes an array that it does not contain")


def test_an_array_of_fields_without_fields(tmp_path, saved):
    exemplars = {"$": "array", "shape": [1 << 40], "fields": {}}
    file = hostile(saved("series-parts", SERIES), lambda d: measure_of(d).update(exemplars=exemplars))
    refuse(tmp_path, file, "the fields of an array must have its shape")


def test_truth_values_that_are_neither(tmp_path, saved):
    """NumPy adds their bytes up to know how much to write where they are true: 128 + 128 are 0 in a byte."""
    file = saved("series-parts", SERIES)
    _, description, _ = parts(file)
    number = measure_of(description)["exemplars"]["fields"]["normalized"]["n"]
    refuse(tmp_path, with_bytes(file, number, b"\x80" * 6), "describes an array that it does not contain")


def test_characters_that_do_not_exist(tmp_path):
    besvm.save(BESVMClassifier("rbf", basis=6).fit(VECTORS, np.array(["a", "b"])[Y]), tmp_path / "good")
    file = (tmp_path / "good").read_bytes()
    _, description, _ = parts(file)
    number = description["model"]["state"]["classes_"]["n"]
    refuse(tmp_path, with_bytes(file, number, b"\x00\x00\x11\x00"), "describes an array that it does not contain")


def test_rounds_without_number(tmp_path, saved):
    file = hostile(saved("weisfeiler-lehman", GRAPHS), lambda d: similarity_of(d).update(iterations=1 << 40))
    loads_but_says(tmp_path, file, GRAPHS, "iterations must be at most 1,000")


def test_moves_without_number_cost_no_more_than_the_grid_has_room_for(tmp_path, saved):
    """Two radii of 10,000 cells, each helped by the other, were 400 million displacements."""
    file = saved("H4(1,1)", IMAGES)
    front, description, data = parts(file)
    similarity_of(description).update(rigid=10_000, local=10_000)
    (tmp_path / "altered").write_bytes(sealed(front, json.dumps(description).encode(), data))
    similarity_of(description).update(rigid=4, local=8)
    (tmp_path / "same").write_bytes(sealed(front, json.dumps(description).encode(), data))
    altered, same = (besvm.load(tmp_path / name).decision_function(IMAGES) for name in ("altered", "same"))
    assert np.allclose(altered, same)


def test_steps_without_number(tmp_path):
    """A file of 5 KB took 16 GB for a cloud of six points."""
    clouds = [row.reshape(3, 2) for row in VECTORS]
    model = BESVMClassifier("sliced-wasserstein", basis=6, C=1.0, random_state=0).fit(clouds, Y)
    besvm.save(model, tmp_path / "good")
    file = hostile((tmp_path / "good").read_bytes(), lambda d: similarity_of(d).update(quantiles=1_000_000))
    loads_but_says(tmp_path, file, clouds, "quantiles must be at most 5,242 for 50 projections, got 1000000")


def test_variants_without_number(tmp_path, saved):
    file = saved([Measure(Jitter("linear", sample_variants=Shifts(1)))], IMAGES[..., 0])

    def change(description):
        similarity_of(description)["sample_variants"]["state"]["pixels"] = 40_000

    loads_but_says(tmp_path, hostile(file, change), IMAGES[..., 0], "pixels must be at most 50, got 40000")


def test_features_without_number(tmp_path):
    """A degree in a file of 5 KB made thirty million columns of twenty."""
    model = BESVMClassifier(Measure("linear", features=PolynomialFeatures(2)), basis=6).fit(VECTORS, Y)
    with pytest.raises(TypeError, match="PolynomialFeatures, which a model file cannot hold"):
        besvm.save(model, tmp_path / "none")
    model = BESVMClassifier(Measure("linear", features=StandardScaler()), basis=6).fit(VECTORS, Y)
    besvm.save(model, tmp_path / "good")

    def change(description):
        description["model"]["state"]["measures"]["state"]["features"]["class"] = (
            "sklearn.preprocessing.PolynomialFeatures"
        )

    refuse(tmp_path, hostile((tmp_path / "good").read_bytes(), change), "which is not allowed in a model file")


@pytest.mark.parametrize(("dtype", "digits"), [("<U1", "ffffffff"), ("<U1", "0000ff00"), ("|b1", "07"), ("<f8", "00")])
def test_numbers_that_are_none(tmp_path, saved, dtype, digits):
    def change(description):
        description["model"]["state"]["class_weight"] = {"$": "number", "dtype": dtype, "hex": digits}

    refuse(tmp_path, hostile(saved("rbf", VECTORS), change), "is not a valid model")


def test_where_to_train_is_not_up_to_a_file(tmp_path):
    """A file could send the samples of whoever trains its model again to a stranger's scheduler."""
    model = BESVMClassifier("rbf", basis=6, checkpoint=str(tmp_path / "mine"))
    greedy = GreedySelection(["rbf"], n_measures=1, basis=6, folder=tmp_path / "mine too", random_state=0)
    plain = BESVMClassifier("rbf", basis=6)
    pipeline = make_pipeline(StandardScaler(), plain, memory=str(tmp_path / "mine as well"))
    for estimator, names in ((model, ("client", "checkpoint")), (greedy, ("folder",)), (pipeline, ("memory",))):
        besvm.save(estimator.fit(VECTORS, Y), tmp_path / "good")
        file = (tmp_path / "good").read_bytes()
        assert b"mine" not in file
        change = dict.fromkeys(names, "tcp://stranger:8786")
        altered = hostile(file, lambda d, change=change: d["model"]["state"].update(change))
        (tmp_path / "altered").write_bytes(altered)
        loaded = besvm.load(tmp_path / "altered")
        assert [getattr(loaded, name) for name in names] == [None] * len(names)


def test_folders_of_a_users_own_class_are_kept(tmp_path):
    model = make_pipeline(Vocabulary("words"), BESVMClassifier("rbf", basis=6)).fit(VECTORS, Y)
    besvm.save(model, tmp_path / "model")
    assert besvm.load(tmp_path / "model")[0].folder == "words"


def test_processes_are_not_started_by_a_file(tmp_path):
    features = FeatureUnion([("one", StandardScaler()), ("other", MinMaxScaler())])
    besvm.save(make_pipeline(features, BESVMClassifier("rbf", basis=6)).fit(VECTORS, Y), tmp_path / "good")

    def change(description):
        union = description["model"]["state"]["steps"][0]["items"][1]["state"]
        union["n_jobs"] = 5000

    (tmp_path / "altered").write_bytes(hostile((tmp_path / "good").read_bytes(), change))
    assert besvm.load(tmp_path / "altered")[0].n_jobs is None


STEPS = make_pipeline(StandardScaler(), MinMaxScaler())


@pytest.mark.parametrize("steps", [[], [[1]], [["a", 1], ["b", None]], {"$": "tuple", "items": []}, "ab"])
def test_steps_that_are_none(tmp_path, saved, steps):
    file = saved(Measure("rbf", features=STEPS), VECTORS)

    def change(description):
        expander = description["model"]["state"]["_map"]["state"]["expander"]["state"]
        expander["transformers"][0]["state"]["steps"] = steps

    refuse(tmp_path, hostile(file, change), "is not a valid model: (steps|the features) must be there")


@pytest.mark.parametrize("features", [[1], 1, None, "passthrough", {"$": "type", "name": "float"}])
def test_features_that_describe_nothing(tmp_path, saved, features):
    """A list had no transform, as a traceback said at the first sample."""

    def change(description):
        description["model"]["state"]["_map"]["state"]["expander"]["state"]["transformers"] = [features]

    refuse(tmp_path, hostile(saved("rbf", VECTORS), change), "the features must be there")


def test_what_features_have_learned_is_no_number(tmp_path):
    besvm.save(make_pipeline(StandardScaler(), BESVMClassifier("rbf", basis=6)).fit(VECTORS, Y), tmp_path / "good")

    def change(description):
        description["model"]["state"]["steps"][0]["items"][1]["state"]["mean_"] = {"a": 1}

    refuse(tmp_path, hostile((tmp_path / "good").read_bytes(), change), "mean_ of the features")


@pytest.mark.parametrize("name", ["basis_labels_", "basis_rows_"])
@pytest.mark.parametrize("change", [lambda held: [], lambda held: held * 2, lambda held: [[1]], lambda held: {}])
def test_more_or_less_than_the_exemplars(tmp_path, saved, name, change):
    """They are looked up by the number of an exemplar, or of a measure."""
    file = hostile(
        saved("rbf", VECTORS), lambda d: d["model"]["state"].update({name: change(d["model"]["state"][name])})
    )
    refuse(tmp_path, file, name)


@pytest.mark.parametrize("make", [BESVMClassifier, KernelSVMClassifier])
@pytest.mark.parametrize("pairs", [None, [], [[0, 1]], [[0, 7]] * 3, "abc"])
def test_pairs_of_other_classes(tmp_path, make, pairs):
    options = {"basis": 6, "multi_class": "ovo"} if make is BESVMClassifier else {}
    besvm.save(make("rbf", C=1.0, **options).fit(VECTORS, np.arange(20) % 3), tmp_path / "good")
    file = hostile((tmp_path / "good").read_bytes(), lambda d: d["model"]["state"].update(pairs_=pairs))
    refuse(tmp_path, file, "pairs_")


@pytest.mark.parametrize(
    "change", [lambda state: state.__delitem__("verbose"), lambda state: state.update(verbose="a")]
)
def test_parameters_that_are_missing_or_no_number(tmp_path, saved, change):
    refuse(tmp_path, hostile(saved("rbf", VECTORS), lambda d: change(d["model"]["state"])), "verbose")


def test_a_model_without_pairs(tmp_path):
    model = BESVMClassifier("rbf", basis=6, C=1.0, multi_class="ovo").fit(VECTORS, np.arange(20) % 3)
    besvm.save(model, tmp_path / "good")
    file = hostile((tmp_path / "good").read_bytes(), lambda d: d["model"]["state"].pop("pairs_") and None)
    refuse(tmp_path, file, "pairs_")


@pytest.mark.parametrize(
    "strides", [[], [8], [8, 8, 8], [8, 1 << 40], [-(1 << 40), 8], [8, 12], [8.0, 8.0], ["8", 8], [10**400, 8], 8, None]
)
def test_gaps_that_lead_outside(tmp_path, saved, strides):
    file = saved("rbf", VECTORS)

    def change(description):
        description["arrays"][measure_of(description)["exemplars"]["n"]]["strides"] = strides

    refuse(tmp_path, hostile(file, change), "an array with gaps that do not fit it")


def test_arrays_whose_gaps_would_fill_the_memory_together(tmp_path, saved):
    file = saved("rbf", VECTORS)

    def change(description):
        number = measure_of(description)["exemplars"]["n"]
        description["arrays"][number]["strides"] = [8 * 12 * 6, 8 * 12]
        description["arrays"] += [description["arrays"][number]] * 100

    refuse(tmp_path, hostile(file, change), "an array with gaps that do not fit it")


def test_weights_of_pairs_that_are_not_finite(tmp_path):
    besvm.save(KernelSVMClassifier("rbf").fit(VECTORS, Y), tmp_path / "good")
    file = (tmp_path / "good").read_bytes()
    _, description, _ = parts(file)
    number = description["model"]["state"]["_votes"]["state"]["intercept"]["n"]
    refuse(tmp_path, with_bytes(file, number, np.array([np.nan]).tobytes()), "the weights of pairs")
