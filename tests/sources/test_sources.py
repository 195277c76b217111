"""Rows that are not in memory: every source gives the model that the array gives, and is checked as it is read."""

import os
import pickle

import numpy as np
import pytest
from PIL import Image
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Measure
from besvm._support import row_source
from besvm._support.any_source import as_source
from besvm._support.row_source import Vectors
from besvm._support.rows import evenly_spaced, take
from besvm.basis import GradientBasis, KMeansBasis, KMedoidsBasis, RandomBasis
from besvm.datasets import load_images
from besvm.measures import mirrored
from besvm.similarities import SeriesParts
from besvm.sources import ArraySource, BlockSource, ImageFolder, ParquetSource, RowSource
from variants import first_fast


class Duck:
    """An array as h5py and zarr have it: a shape, a dtype and slices, and nothing else."""

    def __init__(self, array):
        self.array, self.reads = array, []

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        self.reads.append((rows.start, rows.stop))
        return self.array[rows].copy()


def memmap(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def hdf5(X, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(64, X.shape[1]), compression="gzip")
    return h5py.File(folder / "X.h5", "r")["X"]


def zarr(X, folder):
    array = pytest.importorskip("zarr").create_array(folder / "X.zarr", shape=X.shape, dtype=X.dtype, chunks=(64, 3))
    array[:] = X
    return array


def parquet(X, folder):
    arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (folder / "rows").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        columns = {f"x{place}": column for place, column in enumerate(part.T)}
        files.write_table(arrow.table(columns), folder / "rows" / f"{number}.parquet", row_group_size=50)
    return ParquetSource(folder / "rows", [f"x{place}" for place in range(X.shape[1])])


def lists(X, folder):
    arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    column = arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel()), X.shape[1])
    files.write_table(arrow.table({"vector": column}), folder / "X.parquet", row_group_size=70)
    return ParquetSource(folder / "X.parquet", "vector")


def blocks(X, folder):
    cuts = np.cumsum(np.arange(1, 100))
    return BlockSource(lambda: iter(np.split(X, cuts[cuts < len(X)])), len(X))


KINDS = {
    "memmap": memmap,
    "duck": lambda X, folder: Duck(X),
    "hdf5": hdf5,
    "parquet": parquet,
    "blocks": blocks,
    "zarr": zarr,
    "lists": lists,
}


@pytest.fixture
def few_at_a_time(monkeypatch):
    """As if the rows were many."""
    for name in ("READ_BYTES", "NEAR_BYTES"):
        monkeypatch.setattr(row_source, name, 1 << 10)
    monkeypatch.setattr("besvm.similarities.gamma.BLOCK_ITEMS", 1 << 10)
    monkeypatch.setattr("besvm.blocks.stores.COMPUTE_BYTES", 1 << 14)
    monkeypatch.setattr("besvm.blocks.stores.CACHE_BYTES", 1 << 12)


def same(one, other, X, source):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(source))
    assert one.C_ == other.C_


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("dtype", first_fast([np.float32, np.float64]))
@pytest.mark.parametrize("kind", first_fast(KINDS, 5))
def test_every_source_gives_the_model_of_the_array(kind, dtype, digits, tmp_path):
    X, y = digits[0][:300, ::4].astype(dtype), digits[1][:300]
    source = KINDS[kind](X, tmp_path)
    for options in ({}, {"storage": "disk", "C": 1.0}, {"storage": "recompute", "C": 1.0}):
        options |= {"basis": 30, "random_state": 0}
        models = [BESVMClassifier(["rbf", "linear"], **options).fit(x, y) for x in (X, source)]
        same(*models, X, source)
    np.testing.assert_array_equal(models[0].transform(X), models[1].transform(source))
    linear = [LinearSVMClassifier(C=0.01).fit(x, y) for x in (X, source)]
    same(*linear, X, source)


@pytest.mark.parametrize("dtype", first_fast([np.int64, np.uint8, bool]))
def test_integers_are_converted_as_they_are_read(dtype, digits, tmp_path):
    X, y = digits[0][:300].astype(dtype), digits[1][:300]
    for kind in ("memmap", "duck", "blocks"):
        source = KINDS[kind](X, tmp_path)
        same(*(BESVMClassifier(basis=30, random_state=0).fit(x, y) for x in (X, source)), X, source)
        same(*(LinearSVMClassifier(C=0.01).fit(x, y) for x in (X, source)), X, source)


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize(
    "basis", ["auto", 0.1, RandomBasis(per_class=4), KMedoidsBasis(30), GradientBasis(30), KMeansBasis(30)], ids=repr
)
def test_every_basis_is_chosen_from_a_source(basis, digits):
    X, y = digits[0][:300], digits[1][:300]
    weights = np.where(np.arange(300) % 7, 1.0, 0.0)
    for options in ({}, {"sample_weight": weights}):
        models = [BESVMClassifier("rbf", basis=basis, C=1.0, random_state=0).fit(x, y, **options) for x in (X, Duck(X))]
        same(*models, X, Duck(X))


@pytest.mark.parametrize(
    ("measures", "shape"),
    [
        (["H8R", mirrored("H8R")], (16, 16, 3)),
        (["P6"], (16, 16, 3)),
        (Measure("rbf", features=PCA(5, random_state=0)), (30,)),
        (Measure("rbf", features=make_pipeline(MeanNormScaler())), (30,)),
    ],
    ids=["hog", "parts", "pca", "scaled"],
)
def test_features_are_learned_from_a_source(measures, shape, rng):
    images = rng.integers(0, 256, (120, *shape), dtype=np.uint8)
    y = np.arange(120) % 3
    models = [BESVMClassifier(measures, basis=20, random_state=0).fit(x, y) for x in (images, Duck(images))]
    same(*models, images, Duck(images))


@pytest.mark.parametrize("measure", ["dtw", "sbd", SeriesParts(5), "histogram-intersection", "jaccard"], ids=str)
def test_other_similarities_settle_on_rows_of_a_source(measure, rng):
    series = rng.random((60, 20)) if measure != "jaccard" else rng.integers(0, 2, (60, 20)).astype(float)
    y = np.arange(60) % 2
    models = [BESVMClassifier(measure, basis=10, random_state=0).fit(x, y) for x in (series, Duck(series))]
    same(*models, series, Duck(series))


def test_texts_come_in_blocks_too():
    words = [f"{'cat' if place % 2 else 'dog'}{place}" for place in range(60)]
    source = BlockSource(lambda: (words[first : first + 7] for first in range(0, 60, 7)), 60)
    assert source.take([40, 3]) == [words[40], words[3]]
    assert list(source) == words
    y = [word[:3] for word in words]
    same(*(BESVMClassifier("edit", basis=10, random_state=0).fit(x, y) for x in (words, source)), words, source)


def test_a_folder_of_images_is_read_image_by_image(rng, tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for number in range(12):
            image = rng.integers(0, 128 if name == "cat" else 256, (20, 18, 3), dtype=np.uint8)
            Image.fromarray(image).save(tmp_path / name / f"{number:02d}.png")
    images, labels = load_images(tmp_path, size=(16, 16))
    source = ImageFolder(tmp_path, size=(16, 16))
    np.testing.assert_array_equal(source.labels, labels)
    np.testing.assert_array_equal(source.take([20, 3]), images[[20, 3]])
    same(*(BESVMClassifier("H8R", basis=8, random_state=0).fit(x, labels) for x in (images, source)), images, source)
    assert [image.shape for image in ImageFolder(tmp_path)[:2]] == [(20, 18, 3)] * 2
    (tmp_path / "dog" / "11.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"must be an image, got .*11.png: .* remove it"):
        source[20:]


def test_a_column_of_classes_comes_with_a_parquet_source(tmp_path):
    arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {"km": [1.0, None, 3.0], "n": [1, 2, 3], "who": ["ann", "bob", "ann"], "ok": [True, None, False]}
    files.write_table(arrow.table(table), tmp_path / "a.parquet")
    source = ParquetSource(tmp_path / "a.parquet", ["km", "n", "ok"])
    np.testing.assert_array_equal(source[:], [[1, 1, 1], [np.nan, 2, np.nan], [3, 3, 0]])
    assert source.column("who").tolist() == ["ann", "bob", "ann"]
    assert ParquetSource(tmp_path / "a.parquet", "who")[1:] == ["bob", "ann"]
    with pytest.raises(ValueError, match=r"columns must all be numbers, or one column of texts .* got string in 'who'"):
        ParquetSource(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"columns must be among .*, got \['miles'\]"):
        ParquetSource(tmp_path / "a.parquet", ["miles"])
    with pytest.raises(ValueError, match="X must be finite, got nan in row 1; remove or replace such rows"):
        BESVMClassifier(basis=2).fit(source, [0, 1, 1])
    files.write_table(arrow.table({"n": ["x"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"must have the same columns, but b\.parquet has others"):
        ParquetSource(tmp_path, "n")
    (tmp_path / "b.parquet").write_bytes(b"cut")
    with pytest.raises(ValueError, match=r"b\.parquet must be a Parquet file, but cannot be read"):
        ParquetSource(tmp_path, "n")
    with pytest.raises(FileNotFoundError, match="path must be a Parquet file, or a folder"):
        ParquetSource(tmp_path / "none")


# --- the contract ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_in_any_order(kind, rng, tmp_path):
    X = rng.normal(size=(500, 6))
    source = as_source(KINDS[kind](X, tmp_path))
    wanted = rng.integers(0, 500, 80)
    np.testing.assert_array_equal(take(source, wanted), X[wanted])
    np.testing.assert_array_equal(source[17], X[17])
    np.testing.assert_array_equal(source[-1], X[-1])
    np.testing.assert_array_equal(source[490:2000], X[490:])
    np.testing.assert_array_equal(source[9:9], X[9:9])
    np.testing.assert_array_equal(source[::100][:], X[::100])
    np.testing.assert_array_equal(source[wanted][3:50], X[wanted][3:50])
    np.testing.assert_array_equal(source[X[:, 0] > 0, ...][:], X[X[:, 0] > 0])
    np.testing.assert_array_equal(np.asarray(source), X)
    np.testing.assert_array_equal(list(source), X)
    np.testing.assert_array_equal(evenly_spaced(source, 40), evenly_spaced(X, 40))
    with pytest.raises(IndexError, match="there are 500 rows, got 500"):
        source[500]
    with pytest.raises(IndexError, match="rows must lie between 0 and 499, got 3 to 500"):
        source[[3, 500]]


def test_random_rows_are_read_in_ascending_order_and_near_ones_together(rng):
    array = Duck(rng.normal(size=(100_000, 10)))
    ArraySource(array).take([70_000, 5, 7, 70_100, 30_000])
    assert array.reads == [(5, 8), (30_000, 30_001), (70_000, 70_101)]


def test_a_model_is_searched_for_without_reading_all_rows_at_once(digits):
    X, y = digits[0][:300], digits[1][:300]
    array = Duck(X)
    model = BESVMClassifier(basis=20, C=1.0, random_state=0)
    np.testing.assert_array_equal(cross_val_score(model, ArraySource(array), y), cross_val_score(model, X, y))


def test_a_source_goes_to_another_process(rng, tmp_path):
    X = rng.normal(size=(200, 3))
    for kind in ("parquet", "lists"):
        (tmp_path / kind).mkdir()
        source = KINDS[kind](X, tmp_path / kind)
        source[20:30]
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(source))[40:60], X[40:60])


def test_an_expansion_reads_a_source(digits):
    X = digits[0][:200]
    expected = BasisExpansion(basis=20, random_state=0).fit(X)
    got = BasisExpansion(basis=20, random_state=0).fit(Duck(X))
    np.testing.assert_array_equal(got.transform(Duck(X)), expected.transform(X))


# --- what is wrong with a source -------------------------------------------------------------------------------------


def test_the_row_that_is_not_finite_is_named(digits):
    X, y = digits[0][:300].copy(), digits[1][:300]
    X[123, 4] = np.inf
    for model in (BESVMClassifier(basis=20), LinearSVMClassifier()):
        with pytest.raises(ValueError, match="X must be finite, got inf in row 123; remove or replace such rows"):
            model.fit(Duck(X), y)
        assert not hasattr(model, "coef_")
    X[123, 4] = 1e308
    X[124:, 4] = 1e308  # whose sum is infinite, though none of them is
    np.testing.assert_array_equal(Vectors(ArraySource(X), X.dtype)[:], X)


def test_a_source_must_keep_its_length_and_width(rng):
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    array = Duck(X)
    source = ArraySource(array)
    array.array = X[:90]
    with pytest.raises(ValueError, match=r"must keep its shape, \(100, 3\), got \(90, 3\); open it again"):
        BESVMClassifier(basis=10).fit(source, y)
    for n, wrong in ((90, "got at least 100"), (110, "got only 100")):
        source = BlockSource(lambda: np.array_split(X, 7), n)
        with pytest.raises(
            ValueError, match=f"a source must keep its length, {n} rows, {wrong}; pass the right number"
        ):
            BESVMClassifier(basis=10).fit(source, np.arange(n) % 2)
    for width, wrong in ((2, r"got blocks with rows of shape \(2,\) and \(3,\)"), (3, "must keep its type, float64")):
        other = rng.normal(size=(50, width)).astype(complex if width == 3 else float)
        source = BlockSource(lambda other=other: [X[:50], other], 100)
        with pytest.raises(ValueError, match=wrong):
            BESVMClassifier(basis=10).fit(source, y)
    source = BlockSource(lambda: [X[:50], X[50:, :2]], 100)
    with pytest.raises(ValueError, match=r"rows 60 to 69 must have shape \(10, 3\), got \(10, 2\)"):
        source[60:70]

    class Short(RowSource):
        def read(self, first, stop):
            return ["a"] * (stop - first - 1)

    with pytest.raises(ValueError, match="a source must keep its length: rows 0 to 2 were asked for, got 2 rows"):
        Short((3,), object)[:]


def test_what_is_no_source_is_refused(rng):
    with pytest.raises(TypeError, match="array must have a shape with rows, a dtype and slices, got a list"):
        ArraySource([1, 2])
    with pytest.raises(TypeError, match="make_blocks must be a function that returns a new iterator"):
        BlockSource(iter([np.ones((3, 2))]), 3)
    with pytest.raises(ValueError, match="n must be the number of rows"):
        BlockSource(lambda: [np.ones((3, 2))], 0)
    with pytest.raises(ValueError, match="make_blocks must yield 5 rows, got none"):
        BlockSource(list, 5)
    with pytest.raises(ValueError, match=r"at least one row|0 sample"):
        BESVMClassifier().fit(Duck(np.ones((0, 3))), [])
    model = BESVMClassifier(basis=5).fit(rng.normal(size=(30, 3)), np.arange(30) % 2)
    with pytest.raises(ValueError, match="X has 2 features, but BESVMClassifier is expecting 3"):
        model.predict(Duck(np.ones((5, 2))))


@pytest.mark.parametrize("source", [ArraySource(np.arange(20.0).reshape(10, 2)), BlockSource(lambda: [["a"] * 10], 10)])
def test_rows_that_are_none(source):
    for rows, sentence in [
        (np.ones(4, bool), "a mask must have as many entries as there are rows, 10, got 4"),
        ([0.5, 1.7], "rows must be whole numbers or a mask, in one dimension, got float64"),
        ([10], "rows must lie between 0 and 9, got 10 to 10"),
        ([[1, 2]], "rows must be whole numbers or a mask, in one dimension"),
    ]:
        for look in (source.take, source.__getitem__):
            with pytest.raises(IndexError, match=sentence):
                look(rows)
    with pytest.raises(IndexError, match="a source is indexed by rows alone, got 2 indices"):
        source[:, 0]
    assert len(source[np.arange(10) < 3]) == 3
    assert np.array_equal(source.take([-1]), source[9:])


def test_a_file_that_is_cut_short_is_refused_before_it_is_read(tmp_path):
    """The system ends a process that reads what is no longer there."""
    np.save(tmp_path / "X.npy", np.ones((100_000, 4)))
    source = ArraySource(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert source[99_999:].sum() == 4
    os.truncate(tmp_path / "X.npy", 50_000)
    with pytest.raises(ValueError, match=r"must keep its length, but .*X.npy' was cut from 3,200,128 to 50,000 bytes"):
        source[:10]
    (tmp_path / "X.npy").unlink()  # which takes nothing away from who has it mapped


@pytest.mark.parametrize("block", [None, 3, csr_array(np.eye(3))])
def test_blocks_that_are_none(block):
    with pytest.raises(TypeError, match="blocks must be arrays, or lists of samples, got a"):
        BlockSource(lambda: [block], 10)


def test_samples_without_a_shape_are_no_vectors():
    source = BlockSource(lambda: [[[1.0, 2.0]] * 10], 10)
    with pytest.raises(ValueError, match="X must hold rows of numbers of one shape to be compared as vectors"):
        BESVMClassifier("rbf").fit(source, np.arange(10) % 2)


def test_columns_of_parquet_that_are_none(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="columns must have different names, got 'b' twice"):
        ParquetSource(tmp_path / "t.parquet", ["b", "b"])
    with pytest.raises(ValueError, match=r"columns must be among \['a', 'b'\], got \[\]"):
        ParquetSource(tmp_path / "t.parquet", [])
    with pytest.raises(ValueError, match=r"name must be that of a column, one of \['a', 'b'\], got 'zz'"):
        ParquetSource(tmp_path / "t.parquet").column("zz")
