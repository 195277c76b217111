"""From distance to similarity."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from besvm import BESVMClassifier
from besvm.similarities import FromDistance, NegativeDistance
from besvm.similarities.distance import HOW
from besvm.testing import check_similarity

FORMS = {
    "negative": lambda u: -u,
    "exponential": lambda u: np.exp(-u),
    "gaussian": lambda u: np.exp(-(u**2)),
    "inverse": lambda u: 1 / (1 + u),
    "log": lambda u: -np.log(1 + u),
}


def apart(a, b):
    return float(np.abs(a - b).sum())


def signed(a, b):
    return float((a - b).sum())


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("distance", ["manhattan", NegativeDistance("cityblock"), apart])
def test_every_form_of_every_kind_of_distance(how, distance, rng):
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    similarity = FromDistance(distance, how=how, scale=0.7)
    np.testing.assert_allclose(similarity(A, B), FORMS[how](cdist(A, B, "cityblock") / 0.7), rtol=1e-6)
    check_similarity(similarity, A)


@pytest.mark.parametrize("how", HOW)
def test_the_scale_is_a_share_of_the_median_distance_of_different_rows(how, rng):
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    d = cdist(X, X, "cityblock")
    share = HOW[how][1]
    assert FromDistance("manhattan", how).fit(X).scale_ == pytest.approx(share * np.median(d[d > 0]))
    assert FromDistance("manhattan", how).fit(np.ones((4, 2))).scale_ == share


def test_rows_of_weight_zero_do_not_change_the_scale(rng):
    X = rng.normal(size=(40, 2))
    far = np.concatenate([X, X + 100])
    weights = np.repeat([1.0, 0.0], 40)
    assert FromDistance("euclidean").fit(far, weights).scale_ == FromDistance("euclidean").fit(X).scale_


def test_it_is_of_vectors_if_its_distance_is(toy):
    X, y = toy
    assert FromDistance("euclidean").vectors
    assert not FromDistance(apart).vectors
    clf = BESVMClassifier(FromDistance("euclidean", "gaussian"), basis=40, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"how": "square"}, "how must be"),
        ({"scale": 0}, "scale must be a positive number or 'auto', got 0"),
        ({"scale": "median"}, "scale must be a positive number or 'auto', got 'median'"),
        ({"distance": "rbf"}, "distance must be the name of a distance"),
        ({"distance": 3}, "distance must be the name of a distance"),
        ({"distance": signed, "scale": 1}, "a distance must be at least 0"),
    ],
)
def test_what_is_no_distance_form_or_scale_is_refused(params, sentence, rng):
    X = rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match=sentence):
        FromDistance(**params).fit(X)(X, X)


def test_a_scale_from_the_data_needs_fit():
    with pytest.raises(ValueError, match=r"FromDistance\(scale='auto'\) needs the training rows to choose its scale"):
        FromDistance()([[1.0]], [[2.0]])
