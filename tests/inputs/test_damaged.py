"""Files altered at random are read or refused in one sentence: never a crash, never another error."""

import contextlib
import io
import os
import random

import numpy as np
import pytest

from besvm.inputs import read, stream

TABLE = b"id,age,city,class\na1,31,Rome,x\na2,44,Oslo,y\na3,,Rome,x\n'a4',27,Oslo,\"y\"\n"
HEAD = b"@relation w\n@attribute 'the outlook' {sunny, 'over cast'}\n@attribute temp NUMERIC\n@attribute class {a,b}\n"
SERIES = b"@timeStamps false\n@classLabel true 1 2\n@data\n1.0,2.0:3.0,4.0:1\n4.0,5.0,6.0:7,8,9:2\n"
WORDS = [
    b",",
    b"\n",
    b'"',
    b"'",
    b"\t",
    b":",
    b"@",
    b"{",
    b"?",
    b"\\",
    b"\0",
    b"\xff",
    b"1e999",
    b"nan",
    b"9" * 20,
    b"@data",
]


def archive(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def array(X):
    file = io.BytesIO()
    np.save(file, X)
    return file.getvalue()


WHOLE = {
    "t.csv": TABLE,
    "t.tsv": TABLE.replace(b",", b"\t"),
    "u.tsv": b"1\t" + b"\t".join(b"%d" % k for k in range(12)) + b"\n",
    "t.arff": HEAD + b"@data\nsunny, 30.5, a\n'over cast', ?, b\n",
    "s.arff": b"@attribute r relational\n@attribute t0 numeric\n@end r\n@attribute c {a,b}\n@data\n'1,2\\n3,4',a\n",
    "t.ts": SERIES,
    "t.npz": archive(X=np.arange(12.0).reshape(6, 2), y=list("ababab")),
    "t.npy": array(np.zeros((3, 20, 20, 3), np.uint8)),
    "t.bin": bytes(2 * 3073),
    "t.txt": b"one\ntwo\n",
}


def altered(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        place = rng.randrange(len(out) + 1)
        way = rng.randrange(4)
        if way == 0 and out:
            out[place % len(out)] = rng.randrange(256)
        elif way == 1:
            out[place:place] = rng.choice(WORDS)
        elif way == 2:
            del out[place : place + rng.choice([1, 2, 10, 100])]
        else:
            out[place:place] = out[: rng.randrange(40)]
    return bytes(out)


@pytest.mark.parametrize("name", WHOLE)
def test_altered_files_are_read_or_refused(name, tmp_path):
    rng, path = random.Random(name), tmp_path / name
    path.write_bytes(WHOLE[name])
    assert len(read(path)) > 0
    for _ in range(60):
        path.write_bytes(altered(WHOLE[name], rng))
        kind = rng.choice([None, None, "vectors", "records", "text", "series", "images", "precomputed", "sequences"])
        said = ""
        try:
            data = read(path, kind=kind)
        except ValueError as error:
            said = str(error) or "nothing\n"
        assert "\n" not in said
        if said:
            continue
        assert len(data.names) == len(data) == sum(len(block) for block in stream(path, kind=kind, rows=2))
        assert data.y is None or len(data.y) == len(data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b"a,b,y\n1,2,0\n3,4\n" + b"5,6,1\n" * 9),
        ("t.arff", b"@attribute a numeric\n@data\n1\n2,3\n4\n"),
        ("t.ts", b"@data\n1,2\n1,2:3,4\n5,6\n"),
        ("u.tsv", b"1\t" + b"\t".join(b"%d" % k for k in range(12)) + b"\n1\tx\n1\t1\n"),
    ],
)
def test_a_file_that_is_refused_is_closed_at_once(tmp_path, name, data):
    """The traceback of an error is kept, and must not keep the file: freed in any order, it would warn of itself."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match="must") as error:
        read(path)
    assert error.tb is not None
    assert not held_open(path)


@pytest.mark.parametrize("classes", [b"a\n" * 5, b"a\n" * 5000])
def test_a_file_of_classes_that_does_not_fit_is_closed_at_once(tmp_path, classes):
    path, labels = tmp_path / "t.txt", tmp_path / "labels.txt"
    path.write_bytes(b"one\n" * 4500)
    labels.write_bytes(classes)
    with pytest.raises(ValueError, match="must have") as error:
        read(path, labels=labels)
    assert error.tb is not None
    assert not held_open(path)
    assert not held_open(labels)


def held_open(path):
    """Return whether this process has a file open."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return str(path) in links
