"""Tables: CSV, TSV, ARFF and Parquet; what is guessed, what is read, and which line is wrong."""

import csv
import io
import math
import subprocess
import sys
import textwrap
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from besvm.inputs import read, stream
from besvm.inputs.columns import Distinct
from peaks import needs_proc, peak_of

PEOPLE = """id,age,city,name,joined,class
a1,31,Rome,Ann Smith,2024-01-02,x
a2,44,Oslo,Bob Jones,2024-02-01,y
a3,,Rome,Eve Brown,2023-05-06,x
a4,27,Oslo,Joe Black,2024-01-31,y
a5,52,Rome,Sue White,2022-11-30,x
a6,39,,Max Green,2024-03-01,y
"""


@pytest.fixture
def write(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


def test_columns_and_classes_are_found_and_said(write):
    data = read(write("people.csv", PEOPLE))
    assert (data.kind, data.label, data.source) == ("records", "class", "people.csv")
    assert data.columns == {"age": "number", "city": "category", "name": "text", "joined": "date"}
    assert data.y.tolist() == list("xyxyxy")
    assert data.names == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert data.X[2] == {"age": None, "city": "Rome", "name": "Eve Brown", "joined": 19483.0}
    assert data.X[5]["city"] is None
    assert data.said == (
        "people.csv: 6 rows of records, 1 number (age), 1 category (city), 1 text (name), 1 date (joined); "
        "classes in 'class'; left out: 'id' (names of rows)"
    )


def test_numbers_alone_are_vectors_and_the_last_column_is_the_class_if_nothing_else(write):
    data = read(write("iris.data.csv", "5.1,3.5,setosa\n7.0,3.2,other\n6.3,3.3,setosa\n"))
    assert data.kind == "vectors"
    np.testing.assert_array_equal(data.X, [[5.1, 3.5], [7.0, 3.2], [6.3, 3.3]])
    assert data.y.tolist() == ["setosa", "other", "setosa"]
    assert (data.columns, data.label) == ({"1": "number", "2": "number"}, "3")
    assert "classes in '3', the last column, as none is called label, class, target or y" in data.said


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b,y\n1,2,0\n", ["a", "b"]),
        ("1,2,0\n3,4,1\n", ["1", "2"]),
        ("name,2001,2002,y\nx,1,2,0\n", ["name", "2001", "2002"]),  # numbers stand below a name
        ("word,y\nfoo,bar\n", ["word"]),
    ],
)
def test_the_first_line_names_the_columns_or_not(write, text, columns):
    assert list(read(write("t.csv", text)).columns) == columns


def test_label_and_columns_can_be_named(write):
    path = write("people.csv", PEOPLE)
    data = read(path, label="city", columns=["age", "name"])
    assert (data.columns, data.label) == ({"age": "number", "name": "text"}, "city")
    data = read(path, columns=["joined:category", "age:number"])
    assert data.columns == {"joined": "category", "age": "number"}
    assert data.X[0] == {"joined": "2024-01-02", "age": 31.0}
    with pytest.raises(ValueError, match=r"^people.csv has no label column 'clas'; did you mean 'class'\?$"):
        read(path, label="clas")
    with pytest.raises(ValueError, match=r"^people.csv has no column 'zzz'; its columns are 'id', 'age', 'city', "):
        read(path, columns=["zzz"])
    with pytest.raises(
        ValueError, match=r"the type of column 'age' must be one of number, date, category, text, got 'colour'"
    ):
        read(path, columns={"age": "colour"})


def test_tsv_quotes_and_line_ends(write):
    data = read(write("t.tsv", '\ufeff"the\tword"\tlabel\r\n"two\nlines"\ta\r\n\r\nthree\tb\r\n'))
    assert data.X == ["two\nlines", "three"]
    assert (data.kind, data.columns, data.y.tolist()) == ("text", {"the\tword": "text"}, ["a", "b"])


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("head", ["a|b|class", None])
def test_decimal_commas_where_no_comma_parts_the_values(write, mark, head):
    lines = [head, "1,5|-2|x", "0,25|,5|y", "1,5e2|3|x"]
    data = read(write("t.csv", "\n".join(line for line in lines if line).replace("|", mark) + "\n"))
    assert data.kind == "vectors"
    np.testing.assert_array_equal(data.X, [[1.5, -2], [0.25, 0.5], [150, 3]])
    assert data.y.tolist() == ["x", "y", "x"]


def test_commas_in_texts_stay(write):
    data = read(write("t.csv", "a;class\nred, green;x\nblue;y\nred, 5;x\n"), kind="text")
    assert data.X == ["red, green", "blue", "red, 5"]


def test_semicolons_and_tabs_will_do(write):
    for mark in ";\t":
        data = read(write("t.csv", f"a{mark}b{mark}y\n1{mark}2{mark}0\n3{mark}4{mark}1\n"))
        np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])


def test_texts_and_sequences_are_told_apart(write):
    texts = read(write("t.csv", "text,label\nhello there,a\ngood bye,b\nwell well,a\n"))
    assert (texts.kind, texts.X[1]) == ("text", "good bye")
    proteins = read(write("p.csv", "seq,label\nMKVLAAGIVGLCAK,a\nMSTNPKPQRKTK,b\n"))
    assert proteins.kind == "sequences"
    assert read(write("p.csv", "seq,label\nMKVLAAGIVGLCAK,a\n"), kind="text").kind == "text"


def test_gaps_make_records_of_numbers_but_no_vectors(write):
    path = write("gaps.csv", "a,b,y\n1,NA,0\n2,3,1\n?,4,0\n")
    data = read(path)
    assert data.kind == "records"
    assert data.X == [{"a": 1.0, "b": None}, {"a": 2.0, "b": 3.0}, {"a": None, "b": 4.0}]
    with pytest.raises(
        ValueError, match=r"^line 2 of gaps.csv must have a number in column 'b', but it is empty; fill it in"
    ):
        read(path, kind="vectors")


def test_series_and_similarities_from_a_table(write):
    path = write("s.csv", "y,t0,t1,t2\na,1,2,3\nb,4,5,6\n")
    series = read(path, kind="series")
    np.testing.assert_array_equal(series.X, [[1, 2, 3], [4, 5, 6]])
    assert read(path, kind="precomputed").kind == "precomputed"
    with pytest.raises(ValueError, match=r"line 2 of w.csv must have a number in column 'b' to be read as series, got"):
        read(write("w.csv", "a,b,y\n1,x,0\n"), kind="series")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b,y\n1,2,0\n3,4\n",
            "line 3 of t.csv must have 3 values, as the first line does, got 2; correct or remove it",
        ),
        ("a,b,y\n1,2,0\n\n3,4,1,9\n", "line 4 of t.csv must have 3 values, as the first line does, got 4"),
        ('a,y\n"x\ny",0\n1,2,3\n', "line 4 of t.csv must have 2 values"),
        ('a,y\n1,0\n"2,0\n3,1\n', "line 3 of t.csv cannot be read: a quote that is not closed"),
        ('a,y\n"1"2,0\n', "line 2 of t.csv cannot be read: ',' expected after '\"'"),
        ("a,y\r1,0\r2,1\r", "line 1 of t.csv cannot be read: a carriage return in the middle of it; lines must end"),
        (
            "a,y\n" + "x" * (1 << 24) + "x,0\n",
            "line 2 of t.csv cannot be read: a quote that is not closed, or a value of",
        ),
        (b"a,y\n\xff\xfe,0\n", "line 2 of t.csv must be UTF-8, got the byte 0xff; convert the file"),
        (b"a,y\n\x00,0\n", "line 2 of t.csv must be text, got a zero byte"),
        ("a,a,y\n1,2,0\n", "t.csv must have columns with different names, got 'a' twice"),
        ("a,b,y\n", "t.csv must have one row per sample, but has none"),
        ("y\n1\n", "t.csv must have a column to compare besides 'y', but has no other"),
        ("a,y\n1,0\ninf,1\n", "line 3 of t.csv must have a finite number in column 'a', got inf"),
        ("a,y\n" + "1,0\n" * 20 + "x1,1\n", "line 22 of t.csv must have a number in column 'a', as 20 of 21 rows do"),
        ("", "t.csv must hold samples, but is empty"),
    ],
)
def test_what_is_broken_is_named_with_its_line(write, text, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011  (the whole sentence is compared below)
        read(write("t.csv", text))
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def test_a_model_reads_what_it_was_trained_on(write):
    known = {"kind": "records", "columns": {"age": "number", "city": "category"}, "label": "class"}
    whole = read(write("people.csv", PEOPLE), **known)
    assert (len(whole), whole.said) == (6, "people.csv: records, 1 number (age), 1 category (city)")
    blocks = list(stream(write("people.csv", PEOPLE), rows=4, **known))
    assert [record for block in blocks for record in block.X] == whole.X
    assert [len(block) for block in blocks] == [4, 2]
    assert blocks[1].X == [{"age": 52.0, "city": "Rome"}, {"age": 39.0, "city": None}]
    assert blocks[0].y.tolist() == list("xyxy")
    new = stream(write("new.csv", "city,age\nRome,3\n"), **known)
    assert [(block.X, block.y, block.names) for block in new] == [([{"age": 3.0, "city": "Rome"}], None, ["1"])]
    with pytest.raises(ValueError, match=r"^new.csv has no column 'age', which the model needs; its columns are"):
        stream(write("new.csv", "x,city\n1,Rome\n"), **known)
    bad = stream(write("bad.csv", "age,city\n1,Rome\nold,Oslo\n"), **known)
    with pytest.raises(
        ValueError, match=r"^line 3 of bad.csv must have a number in column 'age', got 'old'; correct it"
    ):
        list(bad)


def test_without_names_columns_come_in_the_order_of_the_model(write):
    known = {"kind": "vectors", "columns": {"a": "number", "b": "number"}}
    (block,) = stream(write("n.csv", "1,2\n3,4\n"), **known)
    np.testing.assert_array_equal(block.X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(read(write("n.csv", "1,2\n3,4\n"), **known).X, block.X)
    numbered = {"kind": "vectors", "columns": {"1": "number", "2": "number"}, "label": "3"}
    (block,) = stream(write("n.csv", "1,2\n3,4\n"), **numbered)
    assert block.y is None
    (block,) = stream(write("n.csv", "1,2,x\n3,4,y\n"), **numbered)
    assert block.y.tolist() == ["x", "y"]


def test_classes_are_called_alike_whatever_writes_them(write):
    assert read(write("f.csv", "a,y\n5,1.0\n6,-2.0\n7,1\n")).y.tolist() == ["1", "-2", "1"]


def test_nan_is_no_class(write, tmp_path):
    assert read(write("f.csv", "a,y\n5,NaN\n6,nan\n7,\n8,nana\n")).y.tolist() == ["", "", "", "nana"]
    np.savez(tmp_path / "f.npz", X=np.eye(3), y=[1.5, np.nan, 2.0])
    assert read(tmp_path / "f.npz").y.tolist() == ["1.5", "", "2"]


def test_classes_from_a_file_of_their_own(write):
    path, labels = write("t.csv", "a,b,c\n1,2,3\n4,5,6\n"), write("labels.txt", "x\ny\n")
    assert read(path, columns=["a", "b", "c"], labels=labels).y.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match=r"labels.txt must have a class for every sample, got only 1"):
        read(path, labels=write("labels.txt", "x\n"))
    with pytest.raises(ValueError, match=r"labels.txt must have one class for each of the 2 samples, got more"):
        read(path, labels=write("labels.txt", "x\ny\nz\n"))


values = st.one_of(
    st.none(), st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), st.text("abc ,\"'\n", min_size=1, max_size=6)
)


@settings(max_examples=60)
@given(st.lists(st.tuples(values, st.floats(0, 9), st.sampled_from("pq")), min_size=3, max_size=12))
def test_what_is_written_is_read(tmp_path_factory, rows):
    """Against the csv module, cell by cell; the blocks together are the whole."""
    path = tmp_path_factory.mktemp("t") / "t.csv"
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["any", "number", "label"])
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode())
    columns = {"any": "category", "number": "number"}
    data = read(path, columns=columns)
    for (thing, number, label), record, own in zip(rows, data.X, data.y, strict=True):
        expected = "" if thing is None else str(thing).strip()
        assert (record["any"] or "") == expected
        assert math.isclose(record["number"], number)
        assert own == label
    pieces = [record for block in stream(path, columns=columns, rows=2) for record in block.X]
    assert pieces == data.X


ARFF = """% a comment
@relation 'weather'
@attribute 'the outlook' {sunny, 'over cast'}
@attribute temp NUMERIC
@attribute class {yes,no}

@data
sunny, 30.5, no
'over cast', ?, yes
% another
"sunny",12,yes
"""


def test_arff(write):
    data = read(write("w.arff", ARFF))
    assert data.columns == {"the outlook": "category", "temp": "number"}
    assert data.X[1] == {"the outlook": "over cast", "temp": None}
    assert data.y.tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("sunny, 30.5, no", "sunny, 30.5", "line 8 of w.arff must have 3 values, one for every attribute, got 2"),
        (
            "sunny, 30.5, no",
            "rainy, 30.5, no",
            "line 8 of w.arff must have one of the categories declared for 'the outlook'",
        ),
        ("sunny, 30.5, no", "{0 sunny}", "line 8 of w.arff must have a value for every attribute, got a sparse row"),
        ('"sunny",12', '"sunny,12', "line 11 of w.arff cannot be read, because a quote is not closed"),
        ('"sunny",12', '"sunny"x,12', "line 11 of w.arff cannot be read, because there is no comma after a quote"),
        ("NUMERIC", "complex", "line 4 of w.arff must declare numeric, {categories}, string, date or relational"),
        ("@attribute temp", "temp", "line 4 of w.arff must be @relation, @attribute or @data, got 'temp NUMERIC'"),
        ("@data", "", "line 8 of w.arff must be @relation, @attribute or @data, got 'sunny, 30.5, no'"),
        ("12,yes", "warm,yes", "line 11 of w.arff must have a number in column 'temp', got 'warm'"),
    ],
)
def test_broken_arff(write, old, new, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        read(write("w.arff", ARFF.replace(old, new)))
    assert str(error.value).startswith(sentence)


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"age": [1, None, 3], "old": [True, False, None], "word": ["a", "b", None], "list": [[1], [2], [3]]}
    pq.write_table(pa.table({**columns, "label": ["x", "y", "x"]}), path)
    data = read(path)
    assert data.X[0] == {"age": 1.0, "old": "True", "word": "a"}
    assert data.X[2]["old"] is None
    assert data.y.tolist() == ["x", "y", "x"]
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(ValueError, match=r"t.parquet must be a Parquet file, but cannot be read"):
        read(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match="reading Parquet files needs pyarrow; install besvm with the extra 'tables'"):
        read(tmp_path / "t.parquet")


ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
PEAK_OF_PARQUET = """
    from besvm.inputs import read, stream
    import pyarrow.parquet
    before = peak()
    try:
        read(sys.argv[1], memory_limit="20 MB")
    except MemoryError as error:
        assert "reading t.parquet would need" in str(error)
    else:
        raise AssertionError("it was not refused")
    assert next(iter(stream(sys.argv[1], kind="text", columns={"text": "text"}))).X[0] == sys.argv[2] * 3000
    print(peak() - before)
"""


@pytest.mark.slow
@needs_proc
def test_a_small_parquet_file_of_long_texts_takes_little_memory(tmp_path):
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array([ALPHABET * 3000]))
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet", compression="zstd", store_schema=False)
    assert (tmp_path / "t.parquet").stat().st_size < 10_000
    assert peak_of(PEAK_OF_PARQUET, str(tmp_path / "t.parquet"), ALPHABET) < 150_000_000


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", None])
@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "string_view"])
def test_every_way_that_parquet_stores_texts(tmp_path, encoding, kind):
    if kind == "string_view" and int(pa.__version__.partition(".")[0]) < 18:
        pytest.skip("this pyarrow cannot make texts of that type")
    path, words = tmp_path / "t.parquet", [None if k == 70 else f"{k % 80} words" for k in range(200)]
    how = {"use_dictionary": True} if encoding is None else {"use_dictionary": False, "column_encoding": encoding}
    pq.write_table(pa.table({"a.b": pa.array(words).cast(getattr(pa, kind)()), "y": list("ab") * 100}), path, **how)
    data = read(path, kind="records")
    assert [record["a.b"] or None for record in data.X] == words
    assert data.y.tolist() == list("ab") * 100


def test_categories_in_a_parquet_file(tmp_path):
    words = pa.array(["x", None, "y", "x"]).dictionary_encode()
    pq.write_table(
        pa.table({"word": words, "number": pa.array([5, 6, 5, 7]).dictionary_encode()}), tmp_path / "t.parquet"
    )
    data = read(tmp_path / "t.parquet", columns=["word", "number"])
    assert [record["word"] for record in data.X] == ["x", None, "y", "x"]
    assert data.columns["word"] == "category"


def test_a_text_in_a_parquet_file_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("besvm.inputs.parquet"), "LONGEST_FIELD", 9)
    pq.write_table(pa.table({"t": ["short", "short", "much longer"], "y": list("aba")}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"row 3 of t.parquet must have texts of at most 9 bytes, got 11 in column"):
        read(tmp_path / "t.parquet")


def test_long_texts_come_in_smaller_blocks(write, monkeypatch):
    path = write("t.csv", "text,y\n" + "".join(f"{k} {'x' * 100},a\n" for k in range(100)))
    monkeypatch.setattr("besvm.inputs.table.TOGETHER", 1000)
    blocks = list(stream(path, kind="text"))
    assert max(map(len, blocks)) == 10
    assert [text.split()[0] for block in blocks for text in block.X] == [str(k) for k in range(100)]
    assert blocks[0].columns == {"text": "text"}  # whose values differ, though only in what is kept of them


@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_limit_holds_where_the_columns_are_known_and_the_rows_are_not(write, kind):
    path = write("t.csv", "a,b\n" + "1,2\n" * 10_000)
    columns = {"a": kind, "b": "number"}
    assert len(read(path, columns=columns, memory_limit="20 MB")) == 10_000
    with pytest.raises(MemoryError, match=r"reading the first [48],000 samples of t.csv would need .* fewer samples"):
        read(path, columns=columns, memory_limit="500 kB")


def test_two_tables_read_at_once_with_long_values(write):
    before, blocks = csv.field_size_limit(), []
    for name in "ab":
        path = write(f"{name}.csv", "t,y\n" + "abc,1\n" * 20 + "x" * 200_000 + ",2\n" + "abc,2\n" * 20)
        blocks.append(iter(stream(path, rows=10, kind="text")))
    first, second = blocks
    next(first), next(second)
    assert csv.field_size_limit() == before
    first.close()
    assert sum(map(len, second)) == 31
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("0,1,label\n5,6,cat\n7,8,dog\n", None),  # as pandas calls columns that have no names
        ("0,1,Target\n5,6,cat\n7,8,dog\n", None),
        ("0,1,animal\n5,6,cat\n7,8,dog\n", "animal"),
    ],
)
def test_a_header_of_numbers_but_for_the_classes(write, text, label):
    data = read(write("t.csv", text), label=label)
    assert (list(data.columns), data.y.tolist(), data.X.tolist()) == (["0", "1"], ["cat", "dog"], [[5, 6], [7, 8]])


def test_a_class_that_is_called_like_a_column_of_classes_is_no_header(write):
    data = read(write("t.csv", "1.5,2,y\n3,4,n\n5,6,y\n"))
    assert (data.X.tolist(), data.y.tolist()) == ([[1.5, 2], [3, 4], [5, 6]], list("yny"))
    assert len(read(write("t.csv", "1,2,3\n4,5,6\n"), label="3")) == 2


@pytest.mark.parametrize("mark", [";", "\t"])
def test_commas_that_may_part_thousands(write, mark):
    path = write("t.csv", f"a{mark}y\n950{mark}x\n12,500{mark}y\n870{mark}x\n1,000{mark}y\n")
    sentence = r"^line 3 of t.csv must have a number that can be read in one way only in column 'a', got '12,500'; "
    with pytest.raises(ValueError, match=sentence + r"write 12500 or 12.5$"):
        stream(path)
    with pytest.raises(ValueError, match=sentence):
        list(stream(path, columns={"a": "number"}, kind="vectors"))
    assert len(read(path, columns=["a:category"])) == 4


@pytest.mark.parametrize(
    "values", [["950", "12,500", "9,5"], ["950", "12,500", "0,125"], ["99.5", "12,500"], ["2", "8,125", "125,250"]]
)
def test_commas_that_are_decimal_points_are_said(write, values):
    data = read(write("t.csv", "a;b;y\n" + "".join(f"{value};1;x\n" for value in values)))
    assert data.X[:, 0].tolist() == [float(value.replace(",", ".")) for value in values]
    assert data.said.endswith("; classes in 'y'; commas read as decimal points in 'a'")


@pytest.mark.parametrize("type_", [pa.timestamp("s"), pa.timestamp("ms", tz="UTC"), pa.date32()])
def test_dates_in_parquet_that_no_calendar_of_python_has(tmp_path, type_):
    days = pa.array([0, None, 10**7], pa.int32()).cast(pa.date32()).cast(type_)
    pq.write_table(pa.table({"day": days, "y": list("aba")}), tmp_path / "far.parquet")
    sentence = (
        r"^row 3 of far.parquet must have a date from the year 1 to 9999 in column 'day', got \d+ of type .*; corr"
    )
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path / "far.parquet")


@pytest.mark.parametrize("share", [False, True])
def test_nanoseconds_in_parquet(tmp_path, share):
    moments = pa.array([0, None, 86_400_000_000_001], pa.timestamp("ns", tz="UTC"))
    moments = moments.dictionary_encode() if share else moments
    times = pa.array([1, 3_600_000_000_001, None], pa.time64("ns"))
    pq.write_table(pa.table({"day": moments, "time": times, "y": list("aba")}), tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet", columns=["day:date", "time:category"])
    assert [record["day"] for record in data.X] == [0, None, 1]
    assert [record["time"] for record in data.X] == ["00:00:00", "01:00:00", None]


WITHOUT_PANDAS = """
    import sys

    class NoPandas:
        def find_spec(self, name, *_):
            if name.split(".")[0] == "pandas":
                raise ModuleNotFoundError(name)

    sys.meta_path.insert(0, NoPandas())
    from besvm.inputs import read
    print([record["day"] for record in read(sys.argv[1], columns=["day:date", "time:category"]).X])
"""


@pytest.mark.slow
def test_nanoseconds_in_parquet_without_pandas(tmp_path):
    columns = {"day": pa.array([0, 86_400_000_000_001], pa.timestamp("ns")), "time": pa.array([1, 2], pa.time64("ns"))}
    pq.write_table(pa.table({**columns, "y": list("ab")}), tmp_path / "t.parquet")
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT_PANDAS), str(tmp_path / "t.parquet")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[0.0, 1.0]\n"


def test_different_values_are_told_apart_in_little_memory(monkeypatch):
    distinct = Distinct()
    for start in range(0, 6000, 1000):
        distinct.add([str(value % 2500) for value in range(start, start + 1000)] + [-1, -2, "", "NA", None])
    assert (distinct.n, distinct.n_there, distinct.many) == (2505, 2503, False)
    assert sum(array.nbytes for array in (distinct._known, *distinct._new)) <= 8 * 2505
    monkeypatch.setattr("besvm.inputs.columns.COUNTED", 3000)
    for _ in range(2):
        distinct.add([f"x{value}" for value in range(2000)])
    assert distinct.many
    assert len(distinct._known) == 0


PEAK_OF_TABLE = """
    from besvm.inputs import stream
    before = peak()
    assert len(stream(sys.argv[1]).layout.columns) == 50
    print(peak() - before)
"""


@pytest.mark.slow
@needs_proc
def test_looking_at_a_table_of_numbers_takes_little_memory(tmp_path):
    row = ",".join(["%.17f"] * 50)
    values = np.random.default_rng(0).random((40_000, 50))
    with open(tmp_path / "t.csv", "w") as file:
        file.writelines(f"{row % tuple(own)},{k % 2}\n" for k, own in enumerate(values.tolist()))
    assert peak_of(PEAK_OF_TABLE, str(tmp_path / "t.csv")) < 100_000_000
