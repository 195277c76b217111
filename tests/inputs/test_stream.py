"""Any number of samples in constant memory; standard input; what is no data at all."""

import io
import resource
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from besvm.inputs import Data, as_trained, read, stream
from besvm.inputs.lines import Lines


@pytest.fixture
def typed(monkeypatch):
    """What is typed into standard input."""

    def put(text):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))

    return put


def test_standard_input_is_csv_tsv_or_lines_of_text(typed):
    known = {"kind": "text", "columns": {"name": "text"}, "label": "sex"}
    typed("name,sex\nann,f\nbob,m\n")
    (block,) = stream("-", **known)
    assert (block.X, block.y.tolist(), block.source) == (["ann", "bob"], ["f", "m"], "standard input")
    typed("ann, the first\nbob\n\neve\n")
    (block,) = stream("-", **known)
    assert (block.X, block.y, block.names) == (["ann, the first", "bob", "eve"], None, ["1", "2", "4"])
    typed("a\tb\n1\t2\n")
    (block,) = stream("-", kind="vectors", columns={"a": "number", "b": "number"})
    assert block.X.tolist() == [[1.0, 2.0]]
    typed("a,b,y\n1,2,u\n3,4,v\n")
    data = read("-")
    assert (data.X.tolist(), data.y.tolist()) == ([[1, 2], [3, 4]], ["u", "v"])
    typed("")
    with pytest.raises(ValueError, match=r"standard input must hold samples, but is empty"):
        read("-")


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match=r"^standard input must hold samples, but is closed$"):
        read("-")


def test_standard_input_is_read_as_it_comes(monkeypatch):
    """The first block is there before the second line is asked for again."""
    asked = []

    class Slow(io.RawIOBase):
        def readline(self, limit=-1):
            asked.append(len(asked))
            return b"a\n" if len(asked) == 1 else b"%d\n" % len(asked) if len(asked) < 5000 else b""

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Slow()))
    blocks = iter(stream("-", kind="vectors", columns={"a": "number"}, rows=10))
    assert len(next(blocks)) == 10
    assert len(asked) < 100


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.csv", "does not exist"),
        ("data.xyz", "data.xyz must be a folder of images, an image, or a file that ends in .csv"),
        ("empty.csv", "empty.csv must hold samples, but is empty"),
        ("empty.ts", "empty.ts must hold samples, but is empty"),
        ("peple.csv", "did you mean '.*people.csv'"),
    ],
)
def test_no_data(tmp_path, name, sentence):
    for other in ("empty.csv", "empty.ts"):
        (tmp_path / other).touch()
    (tmp_path / "data.xyz").write_text("x")
    (tmp_path / "people.csv").write_text("x")
    with pytest.raises((ValueError, FileNotFoundError), match=sentence):
        read(tmp_path / name)


def test_bad_wishes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"kind must be one of images, series, .*, got 'pictures'"):
        read(path, kind="pictures")
    with pytest.raises(ValueError, match=r"t.csv must hold images, but is a table"):
        read(path, kind="images")
    with pytest.raises(ValueError, match=r"columns must name at least one column, got none"):
        read(path, columns=[])
    with pytest.raises(MemoryError, match=r"reading t.csv would need 8 bytes, but the memory limit is 1 bytes"):
        read(path, memory_limit=1)
    with pytest.raises(ValueError, match=r"rows must be a whole number"):
        stream(path, rows=0)


def test_facts_of_a_stranger_are_not_believed():
    for facts in ({"kind": 3}, {"columns": 3}, {"label": []}, {"size": [1e9, 1]}, {"size": "x"}, {"size": [10**9, 9]}):
        with pytest.raises(ValueError, match=r"must"):
            as_trained(facts)


def test_a_line_that_never_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("besvm.inputs.lines.LONGEST", 100)
    path = tmp_path / "t.txt"
    path.write_text("short\n" + "x" * 1000)
    with pytest.raises(ValueError, match=r"line 2 of t.txt must have at most 100 bytes, got more; is it text"):
        list(Lines(path))


def test_samples_can_be_taken():
    data = Data([10, 20, 30], None, "vectors", ["a", "b", "c"])
    assert (len(data), data.take([2, 0]).X, data.take([2, 0]).names) == (3, [30, 10], ["c", "a"])


STREAMED = """
    import resource, sys
    from besvm.inputs import stream

    class Endless:
        "Standard input of so many rows."
        def __init__(self, n):
            self.n, self.done = n, 0
        def readline(self, limit=-1):
            self.done += 1
            if self.done == 1:
                return b"name,number\\n"
            return b"a text of some length,%d\\n" % self.done if self.done <= self.n else b""
        @property
        def buffer(self):
            return self

    peaks = []
    for n in (2_000, 40_000):
        sys.stdin = Endless(n)
        known = {"kind": "records", "columns": {"name": "text", "number": "number"}}
        assert sum(len(block) for block in stream("-", **known)) == n - 1
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(peaks[1] - peaks[0])
"""


def test_memory_does_not_grow_with_the_rows():
    assert resource.RLIMIT_AS is not None
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(STREAMED)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 5_000  # kilobytes, for twenty times the rows
