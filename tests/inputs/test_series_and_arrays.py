"""Time series as .ts, .tsv and .arff; NumPy's arrays, of which no header is believed."""

import zipfile

import numpy as np
import pytest

from besvm.inputs import read, stream
from peaks import needs_proc, peak_of

TS = """# a comment
@problemName Toy
@timeStamps false
@missing false
@univariate true
@equalLength true
@classLabel true 1 2
@data
1.0,2.0,3.0:1
4.0,5.0,6.0:2
"""


@pytest.fixture
def write(tmp_path):
    def put(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


def test_ts(write):
    data = read(write("t.ts", TS))
    np.testing.assert_array_equal(data.X, [[1, 2, 3], [4, 5, 6]])
    assert (data.kind, data.y.tolist(), data.names) == ("series", ["1", "2"], ["1", "2"])
    several = read(write("t.ts", TS.replace("1.0,2.0,3.0:1", "1,2,3:4,5,6:1").replace("4.0,5.0,6.0:2", "7,8:9,0:2")))
    assert [one.shape for one in several.X] == [(2, 3), (2, 2)]
    plain = read(write("t.ts", "@classLabel false\n@data\n1,2\n3,4\n"))
    assert plain.y is None
    np.testing.assert_array_equal(plain.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("2.0", "?", "line 9 of t.ts must have no missing values, got '?' at time point 2; fill it in"),
        ("2.0", "NaN", "line 9 of t.ts must have no missing values, got 'NaN' at time point 2"),
        ("2.0", "two", "line 9 of t.ts must hold numbers, got 'two'"),
        (
            "1.0,2.0,3.0:1",
            "1.0,2.0:3.0:1",
            "line 9 of t.ts must have channels of the same length, got 2 and 1 time points",
        ),
        ("4.0,5.0,6.0:2", "4.0:5.0:2", "line 10 of t.ts must have 1 channel, as line 9 does, got 2"),
        ("1.0,2.0,3.0:1", "1.0,2.0,3.0", "line 9 of t.ts must have a class after the last colon, got no colon"),
        ("@timeStamps false", "@timeStamps true", "t.ts must have evenly spaced series, but has @timeStamps true"),
        ("@missing false", "@missing perhaps", "t.ts must have true or false after @missing, got 'perhaps'"),
        ("@data", "data", "line 8 of t.ts must begin with @, like all lines before @data, got 'data'"),
        ("@data\n1.0,2.0,3.0:1\n4.0,5.0,6.0:2\n", "", "t.ts must have a line @data before the series, but has none"),
        ("1.0,2.0,3.0:1\n4.0,5.0,6.0:2\n", "", "t.ts must have one series per line, but has none"),
    ],
)
def test_broken_ts(write, old, new, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011  (the whole sentence is compared below)
        read(write("t.ts", TS.replace(old, new)))
    assert str(error.value).startswith(sentence)


def test_ucr_tsv_has_the_class_first_and_shorter_series_end_in_nan(write):
    line = "\t".join(map(str, range(12)))
    data = read(write("u.tsv", f"1\t{line}\n-1\t{line}\n"))
    assert (data.kind, data.X.shape, data.y.tolist()) == ("series", (2, 12), ["1", "-1"])
    data = read(write("u.tsv", f"1\t{line}\n2\t{line[:10]}" + "\tNaN" * 7 + "\n"))
    assert [len(one) for one in data.X] == [12, 5]
    with pytest.raises(ValueError, match=r"line 1 of u.tsv must have no missing values, got 'NaN' at"):
        read(write("u.tsv", f"1\t0\tNaN\t{line}\n"))
    assert read(write("few.tsv", "1\t2\t3\n4\t5\t6\n")).kind == "vectors"


def test_arff_of_series(write):
    names = "".join(f"@attribute att{k} numeric\n" for k in range(24))
    row = ",".join(map(str, range(24)))
    data = read(write("u.arff", f"@relation x\n{names}@attribute target {{0,1}}\n@data\n{row},0\n{row},1\n"))
    assert (data.kind, data.X.shape, data.y.tolist()) == ("series", (2, 24), ["0", "1"])
    head = "@relation x\n@attribute r relational\n@attribute t0 numeric\n@attribute t1 numeric\n@end r\n"
    rows = "'1,2\\n3,4',a\n'5,6\\n7,8',b\n"
    data = read(write("m.arff", f"{head}@attribute class {{a,b}}\n@data\n{rows}"))
    np.testing.assert_array_equal(data.X, [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    assert data.y.tolist() == ["a", "b"]


def test_series_stream_as_they_are_read(write):
    path = write("t.ts", TS + "7,8:1\n")
    assert [one.tolist() for one in read(path).X] == [[1, 2, 3], [4, 5, 6], [7, 8]]
    first, second = stream(path, rows=2)
    np.testing.assert_array_equal(first.X, [[1, 2, 3], [4, 5, 6]])
    assert (second.X.tolist(), second.names) == ([[7, 8]], ["3"])


ARRAYS = {
    "vectors": np.arange(12.0).reshape(6, 2),
    "series": np.arange(36.0).reshape(6, 2, 3),
    "images": np.arange(6 * 16 * 16 * 3).astype(np.uint8).reshape(6, 16, 16, 3),
    "text": np.array(["a", "bc", "d", "e", "f", "ghi"]),
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_whole_and_in_blocks(tmp_path, kind, compressed):
    X, y = ARRAYS[kind], np.array([0, 1, 0, 1, 0, 1])
    (np.savez_compressed if compressed else np.savez)(tmp_path / "a.npz", X=X, y=y)
    np.save(tmp_path / "a.npy", X)
    data = read(tmp_path / "a.npz")
    assert (data.kind, data.y.tolist()) == (kind, list("010101"))
    np.testing.assert_array_equal(np.asarray(data.X), X)
    assert read(tmp_path / "a.npy").y is None
    for name in ("a.npz", "a.npy"):
        blocks = list(stream(tmp_path / name, rows=4))
        np.testing.assert_array_equal(np.concatenate([np.asarray(block.X) for block in blocks]), X)
        assert [name for block in blocks for name in block.names] == list("123456")


def test_layouts_of_memory_and_bytes(tmp_path):
    X = np.asfortranarray(np.arange(12.0).reshape(6, 2))
    for array in (X, X.astype(">f4"), X.astype("<i2")):
        np.save(tmp_path / "a.npy", array)
        found = np.concatenate([block.X for block in stream(tmp_path / "a.npy", rows=4)])
        np.testing.assert_array_equal(found, array)
        assert found.dtype == np.float64


def test_gray_images_become_rgb_and_large_ones_small(tmp_path):
    np.save(tmp_path / "a.npy", np.full((2, 20, 20), 7, dtype=np.uint8))
    data = read(tmp_path / "a.npy")
    assert (data.kind, data.X.shape, data.size) == ("images", (2, 20, 20, 3), (20, 20))
    np.save(tmp_path / "a.npy", np.full((2, 100, 80, 3), 7, dtype=np.uint8))
    assert read(tmp_path / "a.npy").X.shape == (2, 32, 32, 3)
    assert read(tmp_path / "a.npy", size=(8, 9)).X.shape == (2, 8, 9, 3)


def test_a_matrix_of_similarities(tmp_path):
    np.savez(tmp_path / "k.npz", X=np.eye(3), y=["a", "b", "a"])
    assert read(tmp_path / "k.npz", kind="precomputed").kind == "precomputed"
    with pytest.raises(ValueError, match=r"k.npz must hold images, but is an array of shape \(3, 3\) and type float64"):
        read(tmp_path / "k.npz", kind="images")


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_arrays_that_lie(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((4, 2)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(ValueError, match=r"a.npy must have 64 bytes according to its header, got 56; it is damaged"):
        read(path)
    path.write_bytes(whole.replace(b"(4, 2)", b"(4, 9)"))
    with pytest.raises(ValueError, match=r"a.npy must have 288 bytes according to its header, got 64"):
        read(path)
    path.write_bytes(whole.replace(b"(4, 2), }       ", b"(99999999999, 2)"))
    with pytest.raises(ValueError, match=r"a.npy must (hold|be)"):
        read(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"its header is damaged or unknown"):
        read(path)
    np.save(path, np.array([{}, {}], dtype=object))
    with pytest.raises(ValueError, match=r"a.npy must hold numbers or texts, got Python objects, which besvm never"):
        read(path)
    np.save(path, np.float64(3))
    with pytest.raises(ValueError, match=r"a.npy must hold an array with one row per sample, got shape \(\)"):
        read(path)
    np.save(path, np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"a.npy must hold samples, but is empty"):
        read(path)


@pytest.mark.parametrize("shape", [(4, 2), (4, 2, 3)])
@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_arrays_with_gaps(tmp_path, shape, odd):
    X = np.zeros(shape)
    X[2, 1] = odd
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(
        ValueError, match=rf"^row 3 of a.npy must hold finite numbers, got {odd}; fill it in, or remove"
    ):
        list(stream(tmp_path / "a.npy", rows=1))


def test_arrays_that_a_model_does_not_compare(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    known = {"kind": "vectors", "columns": dict.fromkeys("abc", "number")}
    with pytest.raises(ValueError, match=r"^a.npy must have 3 columns, as the training data did, got 2$"):
        stream(tmp_path / "a.npy", **known)


def test_archives_that_lie(tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(ValueError, match=r"a.npz must have a class for each of its 3 rows, got 2"):
        read(saved(path, X=np.eye(3), y=[1, 2]))
    with pytest.raises(ValueError, match=r"a.npz must have one class for every row in y, got shape \(3, 3\)"):
        read(saved(path, X=np.eye(3), y=np.eye(3)))
    with pytest.raises(
        ValueError, match=r"a.npz must have an array named X, and one named y with the classes, got \['A', 'B'\]"
    ):
        read(saved(path, A=np.eye(3), B=np.eye(3)))
    path.write_bytes(b"PK no zip")
    with pytest.raises(ValueError, match=r"a.npz must be an .npz file, but is damaged or of another type"):
        read(path)
    saved(path, X=np.eye(3), y=[1, 2, 3])
    with zipfile.ZipFile(path) as archive:
        member = archive.read("X.npy")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", member[:128].replace(b"(3, 3)", b"(9, 9)") + bytes(10_000_000))
    with pytest.raises(ValueError, match=r"a.npz must have 648 bytes according to its header, got 10,000,000"):
        read(path)


PEAK_OF_ARRAYS = """
    from besvm.inputs import stream
    before = peak()
    for number, block in enumerate(stream(sys.argv[1])):
        if number == 1000:
            break
    print(peak() - before)
"""


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("name", ["labels.npz", "fortran.npy"])
def test_the_blocks_of_arrays_take_little_memory(tmp_path, name):
    n = 2_000_000
    if name.endswith(".npz"):
        np.savez_compressed(tmp_path / name, X=np.zeros((n, 1), np.int8), y=np.zeros(n, np.int8))
    else:
        np.save(tmp_path / name, np.zeros((20, n), np.float32).T)
    assert peak_of(PEAK_OF_ARRAYS, str(tmp_path / name)) < 30_000_000


@pytest.mark.parametrize("shape", [(7, 3), (7, 2, 3), (7, 16, 16, 3)])
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_blocks_of_arrays_in_fortran_order(tmp_path, name, shape):
    X = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape) % 251).astype(np.uint8 if len(shape) == 4 else float)
    if name == "a.npy":
        np.save(tmp_path / name, X)
    else:
        np.savez_compressed(tmp_path / name, X=X, y=np.asfortranarray(np.arange(7)[:, None]))
    blocks = list(stream(tmp_path / name, rows=3))
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
    if name == "a.npz":
        assert [label for block in blocks for label in block.y] == list("0123456")


def test_a_packed_array_in_fortran_order_must_fit(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((20, 1000)).T)
    monkeypatch.setattr("besvm.blocks.plan.available_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"a.npz, whose array is in Fortran order, would need 160 kB"):
        next(iter(stream(tmp_path / "a.npz")))


def test_the_limit_is_on_the_images_that_are_made(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((20, 32, 32, 1), np.uint8))
    with pytest.raises(MemoryError, match=r"reading a.npy would need 983 kB, but the memory limit is 500 kB"):
        read(tmp_path / "a.npy", kind="images", size=128, memory_limit="500 kB")


def test_the_limit_is_on_classes_and_names_too(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.zeros((10_000, 1), np.int8), y=np.zeros(10_000, np.int8))
    with pytest.raises(MemoryError, match=r"reading the first 4,000 samples of a.npz would need"):
        read(tmp_path / "a.npz", memory_limit="200 kB")


def test_a_class_with_an_endless_name(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.eye(2), y=np.array(["a", "b"], dtype="U300000"))
    with pytest.raises(ValueError, match=r"names of classes of at most 1,048,576 bytes, got 1,200,000"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize(("X", "need"), [(np.zeros((1, 30_000)), "720 kB"), (np.zeros((2, 10_000), np.int8), "240 kB")])
def test_a_row_of_an_array_must_fit(tmp_path, monkeypatch, X, need):
    np.savez_compressed(tmp_path / "a.npz", X=X)
    monkeypatch.setattr("besvm.blocks.plan.available_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=rf"reading a row of a.npz, an array of shape .*, would need {need}"):
        next(iter(stream(tmp_path / "a.npz")))
