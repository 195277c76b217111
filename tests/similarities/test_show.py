"""How similarities show a match."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from besvm.features import FHOG, Crops, mirror
from besvm.similarities import (
    DTW,
    LCSS,
    MSM,
    RBF,
    SBD,
    Deformable,
    Edit,
    FromDistance,
    GlobalAlignment,
    Gower,
    Jaccard,
    Jitter,
    KMers,
    Latent,
    LocalAlignment,
    Match,
    PartialRatio,
    Parts,
    Rigid,
    SeriesEuclidean,
    SeriesParts,
    Tanimoto,
    TextParts,
    TokenRatio,
    registered,
    resolve,
)
from besvm.similarities.text_pieces import common_kmers


def test_by_default_there_is_nothing_to_see():
    assert RBF().show(np.zeros(2), np.ones(2)).to_dict() == {}
    assert resolve(lambda a, b: 1.0).show(1, 2).to_dict() == {}
    for cls in registered().values():
        assert callable(cls.show)


def test_a_grid_shows_where_cells_went(rng):
    x = rng.normal(size=(4, 5, 3))
    moved = np.zeros_like(x)
    moved[1:, :-2] = x[:-1, 2:]  # down by one, to the left by two
    found = Rigid(2).show(moved, x)
    assert found.rigid == (-1, 2)
    assert found.caption == "exemplar moved 1 cell down and 2 cells left"
    assert found.grid == (4, 5)
    assert found.cells.sum() == pytest.approx(Rigid(2)(moved[None], x[None])[0, 0], rel=1e-5)
    np.testing.assert_array_equal(found.moves, np.broadcast_to((-1, 2), (4, 5, 2)))
    bent = Deformable(rigid=1, local=1).show(moved, x)
    assert np.abs(bent.moves).max() <= 2
    assert bent.on == "sample"
    other = Deformable(rigid=1, local=0, moving="sample").show(x, x)
    assert other.on == "exemplar"
    assert other.caption == ""
    assert {"cells", "moves", "rigid", "grid", "on"} <= set(found.to_dict())


def test_parts_show_where_they_were_found(rng):
    image = rng.random((10, 12, 3)).astype(np.float32)
    parts = Parts(4, 2, whiten=None, mirror=True)
    piece = image[3:7, 6:10]
    found = parts.show(image, piece)
    assert found.places[found.scores.argmax()].tolist() == [3, 6]
    assert (found.size, found.grid) == ((4, 4), (10, 12))
    assert found.words == ""
    flipped = parts.show(image, piece[:, ::-1])
    assert flipped.words == flipped.to_dict()["caption"] == "in the mirror"
    assert flipped.region == flipped.scores.argmax()
    assert [flipped.of_column(k).region for k in range(5)] == [0, 1, 2, 3, 0]  # two ways to pool, region by region
    assert flipped.of_column(3).in_mirror == flipped.mirrored[3]
    series = np.cumsum(rng.normal(size=60))
    of_series = SeriesParts(6).fit([series])
    drawn = of_series.draw([series], 1, rng)
    found = of_series.show(series, drawn.items[0])
    assert found.places[0, 0] == drawn.places[0, 0]
    assert (found.size, found.step) == ((6,), drawn.items[0]["dilation"])
    found = TextParts(4).show("a rose is a rose", "is a")
    assert (found.places.tolist(), found.size) == ([[7]], (4,))


def test_series_show_what_was_paired():
    bump, later = np.zeros((2, 20))
    bump[5], later[9] = 1, 1
    for similarity in (DTW(), FromDistance("dtw"), FromDistance(DTW(window=0.5))):
        assert [5, 9] in similarity.show(bump, later).pairs.tolist()
    for similarity in (MSM(), LCSS(epsilon=0.1)):
        np.testing.assert_array_equal(similarity.show(bump, later).pairs, similarity.path(bump, later))
    found = SBD(standardize=False).show(bump, later)
    assert [5, 9] in found.pairs.tolist()
    assert found.caption == "exemplar moved 4 time points earlier"
    assert SBD(standardize=False).show(later, bump).caption == "exemplar moved 4 time points later"
    assert SBD().show(bump[:15], later).pairs.max() < 20
    np.testing.assert_array_equal(SeriesEuclidean().show(bump, later).pairs, np.column_stack([np.arange(20)] * 2))
    channels = np.stack([bump, later])
    assert MSM().show(channels, channels).caption == "every channel is warped by itself"
    assert SBD().show(channels, channels).caption == "every channel is shifted by itself"
    assert DTW().show(channels, channels).pairs.shape == (20, 2)
    assert SBD(channels="dependent").show(channels, channels).pairs.tolist() == [[k, k] for k in range(20)]


def pieces_of(similarity, x, b):
    found = similarity.show(x, b).pieces
    for p, q, r, s in found:
        assert q - p == s - r
        assert x[p:q] == b[r:s]
    return [x[p:q] for p, q, *_ in found]


def test_texts_show_the_pieces_that_match():
    assert pieces_of(Edit(), "mario", "maria") == ["mari"]
    assert pieces_of(Edit(transpositions=True), "mario", "maria") == ["mari"]
    assert pieces_of(resolve("lcs"), "house", "horse") == ["ho", "se"]
    assert pieces_of(resolve("jaro-winkler"), "martha", "marhta")[0] == "mar"
    assert pieces_of(TokenRatio(), "new york mets", "mets of new york") == ["new", "york", "mets"]
    assert pieces_of(PartialRatio(), "a rose is a rose", "rose") == ["rose"]
    assert pieces_of(PartialRatio(), "rose", "a rose is a rose") == ["rose"]
    assert pieces_of(PartialRatio(), "", "rose") == []
    assert pieces_of(Edit(), ["a", "big", "cat"], ["a", "cat"]) == [["a"], ["cat"]]
    assert pieces_of(KMers(k=3), "xbananax", "banana") == ["banana"]
    assert pieces_of(KMers(k=3), "ab", "ab") == []


def test_stretches_of_shared_pieces(rng):
    for _ in range(100):
        x, b = ("".join(rng.choice(list("abc"), rng.integers(1, 12))) for _ in range(2))
        found = common_kmers(x, b, 2)
        inside = set()
        for p, q, r, s in found:
            assert x[p:q] == b[r:s]
            inside |= set(range(p, q - 1))
        assert inside == {k for k in range(len(x) - 1) if x[k : k + 2] in b}


@pytest.mark.parametrize("similarity", [GlobalAlignment(), LocalAlignment(), LocalAlignment((1, -1), gap_open=2)])
def test_sequences_show_the_symbols_that_are_aligned(similarity, rng):
    assert pieces_of(similarity, "HEAGAWGHEE", "HEAGAWGHEE") == ["HEAGAWGHEE"]
    for _ in range(50):
        x, b = ("".join(rng.choice(list("ACDE"), rng.integers(1, 15))) for _ in range(2))
        found = similarity.show(x, b).pieces
        for (p, q, r, s), after in pairwise([*found, (len(x), 0, len(b), 0)]):
            assert x[p:q] == b[r:s]
            assert q <= after[0]
            assert s <= after[2]
    assert LocalAlignment((1, -5)).show("AAA", "CCC").pieces == []


def test_sets_say_what_they_share():
    assert Jaccard().show({"salt", "egg"}, {"egg", "rice"}).caption == "1 of 3 shared: egg"
    assert Jaccard().show({"salt"}, {"rice"}).caption == "0 of 2 shared"
    assert Tanimoto().show(set(range(20)), set(range(20))).caption.endswith(", ...")
    assert Tanimoto().show(np.array([1, 1, 0]), np.array([1, 0, 1])).caption == "1 of 3 shared"
    assert Tanimoto(packed=True).show(np.zeros(2, np.uint8), np.zeros(2, np.uint8)).caption == ""


def test_records_show_how_alike_each_column_is():
    X = pd.DataFrame(
        {"age": [20.0, 30, 40], "city": ["Rome", "Oslo", "Rome"], "of birth": pd.to_datetime(["2000", "2001", None])}
    )
    gower = Gower().fit(X)
    rows = list(X[["age", "city"]].itertuples(index=False))
    found = Gower().fit(X[["age", "city"]]).show(rows[0], rows[1]).values
    assert found == [("age", 20.0, 30.0, 0.5), ("city", "Rome", "Oslo", 0.0)]
    records = X.to_dict("records")
    found = gower.show(records[0], records[2]).values
    assert [one[3] for one in found] == [0.0, 1.0, 0.0]
    alike = Gower(how="complement").fit(X)
    shown = alike.show(records[0], records[1]).values
    assert np.mean([one[3] for one in shown]) == pytest.approx(alike(X[:1], X[1:2])[0, 0])
    named = list(X.itertuples(index=False))  # whose last field pandas calls _2
    assert [one[3] for one in gower.show(named[0], named[1]).values] == [one[3] for one in shown]


def test_variants_show_the_ones_that_were_compared(rng):
    image = rng.random((16, 16, 3))
    latent = Latent(Rigid(1), exemplar_variants=mirror, sample_variants=Crops(4)).behind(FHOG(cell=4))
    found = latent.show(image, image[:, ::-1])
    assert found.caption == "exemplar in the mirror"
    np.testing.assert_array_equal(found.exemplar, image)
    assert found.sample is None
    assert found.grid == (4, 4)
    crop = Crops(4)(image)[5]
    found = latent.show(image, crop)
    np.testing.assert_array_equal(found.sample, crop)
    assert found.caption == "sample: number 5 of crops"
    assert "exemplar" not in found.to_dict()
    jitter = Jitter("linear", exemplar_variants=lambda x: [x, x[::-1]])
    assert jitter.show(np.array([1.0, 0.0]), np.array([0.0, 1.0])).caption == "exemplar: number 1 of its variants"
    piped = Latent("rbf", exemplar_variants=mirror).behind(make_pipeline(FHOG(cell=8)))
    assert piped.fit(image[None]).show(image, image).to_dict() == {}


def test_a_match_as_plain_data():
    found = Match("so", places=np.array([[1, 2]]), size=(3, 4), values=[("a", 1, None, 0.5)], sample=object())
    assert found.to_dict() == {"caption": "so", "places": [[1, 2]], "size": [3, 4], "values": [["a", "1", "None", 0.5]]}
