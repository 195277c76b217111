"""Pictures, lines and words: what is drawn is what was given."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from besvm.report import pictures
from besvm.report.data import as_data, kind_of, texts_of
from besvm.report.lines import POINTS, draw_lines
from besvm.report.matches import compact, worth_showing
from besvm.report.pictures import draw_sheets
from besvm.similarities.match import Match


def cut(sheets, i):
    """Cut picture i out of its sheet."""
    sheet = np.asarray(Image.open(io.BytesIO(sheets.files[i // sheets.each])))
    k, (height, width) = i % sheets.each, sheets.sizes[i]
    top, left = k // sheets.columns * sheets.step, k % sheets.columns * sheets.step
    return sheet[top : top + height, left : left + width]


@pytest.mark.parametrize("shape", [(12, 8, 3), (9, 9)])
def test_every_picture_is_where_it_is_said_to_be(rng, shape, monkeypatch):
    monkeypatch.setattr(pictures, "SHEET_ITEMS", 7)
    images = rng.integers(0, 256, (30, *shape), dtype=np.uint8)
    sheets = draw_sheets(images)
    assert len(sheets.files) == 5
    for i in range(30):
        np.testing.assert_array_equal(cut(sheets, i), images[i])


def test_many_pictures_are_written_as_jpeg_and_stay_alike(rng, monkeypatch):
    monkeypatch.setattr(pictures, "LOSSLESS", 100)
    smooth = np.linspace(0, 255, 20).astype(np.uint8)
    images = np.stack([np.broadcast_to(np.roll(smooth, k)[:, None, None], (20, 20, 3)) for k in (0, 10)])
    sheets = draw_sheets(images)
    assert sheets.mime == "image/jpeg"
    assert sheets.step == 32
    for i in range(2):
        assert np.abs(cut(sheets, i).astype(int) - images[i]).mean() < 12


def test_large_and_uneven_images_are_made_smaller(rng):
    images = [rng.random((300, 200, 3)), rng.random((40, 50)), np.ones((5, 5, 1))]
    sheets = draw_sheets(images)
    assert sheets.sizes.tolist() == [[112, 75], [40, 50], [5, 5]]
    np.testing.assert_allclose(sheets.scale, [112 / 300, 1, 1], rtol=1e-6)
    assert cut(sheets, 2).min() == 255


def test_floats_beyond_one_are_scaled():
    sheets = draw_sheets(np.array([[[0.0, 16.0]], [[8.0, 16.0]]]))
    assert cut(sheets, 1).ravel().tolist()[:2] == [128, 255]


def test_lines_keep_their_values():
    series = [np.array([0.0, 1.0, 4.0]), np.sin(np.arange(1000.0)), np.zeros((2, 5))]
    lines = draw_lines(series)
    assert lines.values.shape == (3, 2, POINTS)
    assert lines.lengths.tolist() == [3, 1000, 5]
    assert (lines.low[0], lines.high[0]) == (0, 4)
    assert lines.values[0, 0, [0, -1]].tolist() == [0, 255]
    np.testing.assert_allclose(
        lines.values[0, 0] / 255 * 4, np.interp(np.linspace(0, 2, POINTS), range(3), series[0]), atol=0.02
    )
    assert (lines.values[2] == 128).all()


def test_missing_values_leave_a_line():
    assert np.isfinite(draw_lines([[np.nan, 1.0, 2.0]]).low).all()


@pytest.mark.parametrize(
    ("X", "likely", "kind"),
    [
        (["a", "b"], "", "text"),
        (["acgt"], "sequences", "sequences"),
        (np.zeros((2, 8, 8, 3)), "", "images"),
        (np.zeros((2, 8, 8), np.uint8), "images", "images"),
        ([np.zeros((4, 5, 3)), np.zeros((6, 5, 3))], "", "images"),
        (np.zeros((2, 3, 50)), "series", "series"),
        (np.zeros((2, 50)), "series", "series"),
        (np.zeros((2, 50)), "", "vectors"),
        ([np.zeros(4), np.zeros(5)], "", "series"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), "", "records"),
        ([{1, 2}, {3}], "sets", "sets"),
    ],
)
def test_kinds_are_guessed(X, likely, kind):
    assert kind_of(X, likely) == kind


def test_words_for_what_cannot_be_drawn():
    frame = pd.DataFrame({"age": [39.0], "job": ["clerk"]})
    assert texts_of(frame, "records") == ["age: 39  ·  job: clerk"]
    assert texts_of([{"age": 39.0, "job": None}], "records") == ["age: 39  ·  job: –"]
    assert texts_of([frozenset("ba")], "sets") == ["{a, b}"]
    assert texts_of(np.array([[1.5, 2.0]]), "vectors") == ["1.5, 2"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (3, "data must have X and y, or be a pair"),
        (([1, 2], None), "got y=None"),
        (([1, 2], [0]), r"a class for each of its 2 samples, got labels of shape \(1,\)"),
        (([1, 2], [0, None]), "y must hold a label for every row"),
        (([], []), "at least one sample"),
    ],
)
def test_data_that_cannot_be_shown_is_refused(data, says):
    with pytest.raises((TypeError, ValueError), match=says):
        as_data(data, "")


def test_the_strongest_exemplars_of_all_samples_are_matched_first():
    chosen = np.zeros((4, 2, 3), dtype=int)
    chosen[3] = -1
    wrong = np.array([False, True, False, False])
    assert worth_showing(chosen, wrong, 3)[:, 0, 0].tolist() == [True, True, True, False]
    assert worth_showing(chosen, wrong, 1).sum() == worth_showing(chosen, wrong, 1)[1, 0, 0] == 1
    assert worth_showing(chosen, wrong, 100).sum() == 18


def test_matches_become_few_plain_values():
    moves = np.zeros((2, 2, 2), int) + np.array([1, 0])
    mirror = np.arange(4).reshape(2, 2)
    assert compact(Match(moves=moves, exemplar=mirror[:, ::-1]), mirror) == {
        "grid": [2, 2], "moves": [1, 0], "on": "sample", "flip": True,
    }  # fmt: skip
    pairs = np.column_stack([np.arange(500)] * 2)
    assert len(compact(Match(pairs=pairs), None)["pairs"]) == 24
    parts = Match(places=np.array([[1], [9]]), scores=np.array([0, 1]), mirrored=np.array([False, True]), size=(4,))
    assert compact(parts, None) == {"place": [1], "size": [4], "step": 1}
    assert compact(parts.of_column(3), None) == {
        "place": [9], "size": [4], "step": 1, "flip": True, "caption": "in the mirror",
    }  # fmt: skip
    assert compact(Match(), None) == {}
    assert compact(Match("said", pieces=[(0, 1, 2, 3)]), None) == {"pieces": [[0, 1, 2, 3]], "caption": "said"}
