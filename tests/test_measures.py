import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from besvm import FHOG, BESVMClassifier, MeanNormScaler, Measure
from besvm.measures import as_measure, as_measures, mirrored
from besvm.similarities import RBF, Deformable, Linear, Parts


@pytest.mark.parametrize(
    ("text", "cell", "similarity"),
    [
        ("H4L", 4, Linear()),
        ("H8R", 8, RBF(gamma=1.0)),
        ("H4(2,1)", 4, Deformable(rigid=2, local=1)),
        ("H8(0,1)", 8, Deformable(rigid=0, local=1)),
        ("H16( 1, 0 )", 16, Deformable(rigid=1, local=0)),
        (" h8r", 8, RBF(gamma=1.0)),
    ],
)
def test_the_papers_shorthand(text, cell, similarity):
    measure = as_measure(text)
    assert repr(measure.similarity) == repr(similarity)
    assert isinstance(measure.features, Pipeline)
    assert measure.features[0].cell == cell
    assert isinstance(measure.features[1], MeanNormScaler)
    assert measure.label == text.replace(" ", "").upper()


@pytest.mark.parametrize("text", ["H", "H4", "h4(2)", "H0R", "HR", "H4X", "H4(2,-1)", "H4(2,1", "H8RR"])
def test_bad_shorthand_is_explained(text):
    with pytest.raises(ValueError, match=r"shorthand must be H, the cell size in pixels, and L, R or \(rigid,local\)"):
        as_measure(text)


@pytest.mark.parametrize("name", ["H8R", "P6", "rigid"])
def test_names_may_ask_for_the_mirror(name):
    assert repr(as_measure(f"{name}|mirror")) == repr(mirrored(name))
    assert as_measure(f"{name}|mirror").label == f"{name}|mirror"


def test_parts_by_name_are_mirrored_as_parts_by_instance_are():
    assert repr(mirrored("parts").similarity) == repr(mirrored(Parts()).similarity) == "Parts(mirror=True)"


def test_messages_name_the_measure_whose_samples_are_wrong():
    """Where there are several, or one of a column: "text 2" alone does not say where to look."""
    X = pd.DataFrame({"note": ["a b", "b c", None, "d"] * 5, "curve": [np.arange(5.0)] * 20})
    y, several = [0, 1] * 10, [("notes", Measure("token-ratio", column="note")), Measure("dtw", column="curve")]
    with pytest.raises(TypeError, match=r"text \d is .* \(measure 'notes'\)$"):
        BESVMClassifier(several, basis=4).fit(X, y)
    with pytest.raises(TypeError, match=r"text \d is .* \(measure 'token-ratio\[note\]'\)$"):
        BESVMClassifier(Measure("token-ratio", column="note"), basis=4).fit(X, y)
    X["note"] = "a b"
    model = BESVMClassifier(several, basis=4).fit(X, y)
    X.at[3, "curve"] = None
    with pytest.raises(ValueError, match=r"series \d has None.* \(measure 'dtw\[curve\]'\)$"):
        BESVMClassifier(several, basis=4).fit(X, y)
    with pytest.raises(ValueError, match=r"series \d has None.* \(measure 'dtw\[curve\]'\)$"):
        model.predict(X)


def test_one_or_several_of_anything():
    measures = as_measures(["rbf", Linear(), lambda a, b: 0.0, Measure("cosine", name="angle"), "H8R"])
    assert [m.label for m in measures] == ["rbf", "linear", "function", "angle", "H8R"]
    assert len(as_measures("rbf")) == 1


def test_shorthand_measures_are_what_they_say(rng):
    """H8L on images: the dot product of centered and scaled HOG features."""
    images = rng.integers(0, 256, (40, 32, 32, 3), dtype=np.uint8)
    features = MeanNormScaler().fit_transform(FHOG(cell=8).fit_transform(images)).reshape(40, -1)
    clf = BESVMClassifier(["H8L", "H8R", "H8(0,0)"], basis=[3, 1, 4]).fit(images, np.arange(40) % 2)
    raw = clf._map.expander(images)
    products = features @ features[[3, 1, 4]].T
    np.testing.assert_allclose(raw[:, :3], products, atol=1e-4)
    np.testing.assert_allclose(raw[:, 6:], products, atol=1e-4)
    distances = ((features[:, None] - features[[3, 1, 4]]) ** 2).sum(axis=2)
    np.testing.assert_allclose(raw[:, 3:6], np.exp(-distances), atol=1e-4)
    assert len(clf._map.expander.transformers) == 1, "one pass of HOG for the three of them"
