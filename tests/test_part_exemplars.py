"""Whatever works for whole exemplars works for parts of them."""

import pickle

import numpy as np
import pytest

from besvm import FHOG, BasisExpansion, BESVMClassifier, Measure, Nystrom
from besvm.analysis import model_size
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.basis import (
    Exemplars,
    FarthestBasis,
    GradientBasis,
    IndexBasis,
    KMeansBasis,
    KMedoidsBasis,
    PivotedBasis,
    RandomBasis,
)
from besvm.features import Pixels
from besvm.measures import as_measure, mirrored
from besvm.normalize import MeanNorm
from besvm.selection import GreedySelection
from besvm.similarities import Parts, SeriesParts


@pytest.fixture(scope="module")
def images():
    """Images of noise with six bright pixels, in half of them on a diagonal somewhere."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 120, (120, 16, 16, 3), dtype=np.uint8)
    y = np.arange(120) % 2
    for row in np.flatnonzero(y):
        top, left = rng.integers(0, 11, 2)
        X[row, top + np.arange(6), left + np.arange(6)] = 250
    for row in np.flatnonzero(y == 0):
        X[row, rng.integers(0, 16, 6), rng.integers(0, 16, 6)] = 250
    return X, y


def classifier(measures="P6(2)", **options):
    return BESVMClassifier(measures, **{"basis": 40, "C": 1.0, "random_state": 0} | options)


def test_a_part_is_found_wherever_it_lies(images):
    X, y = images
    parts = classifier().fit(X[:80], y[:80]).score(X[80:], y[80:])
    whole = classifier("rbf", normalize="mean-norm").fit(X[:80].reshape(80, -1) / 255.0, y[:80])
    assert parts > 0.85
    assert parts > whole.score(X[80:].reshape(40, -1) / 255.0, y[80:]) + 0.1


def test_the_pieces_their_rows_and_places_are_remembered(images):
    X, y = images
    model = classifier(["P6(2)", "H8R"]).fit(X, y)
    pieces, whole = model.basis_parts_
    assert whole is None
    assert len(pieces) == 40
    for item, row, (top, left) in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        np.testing.assert_allclose(item, X[row, top : top + 6, left : left + 6] / 255, rtol=1e-6)
    np.testing.assert_array_equal(model.basis_rows_[0], pieces.samples)
    row, (top, left) = pieces.samples[0], pieces.places[0]
    names = model.get_feature_names_out()
    assert list(names[:4]) == [f"P6(2)_{row}@{top},{left}_r{region}" for region in range(4)]
    assert len(set(names)) == len(names) == model.coef_.shape[1] == 40 * 4 + 40
    assert model.n_basis_ == 80


@pytest.mark.parametrize("storage", ["disk", "recompute"])
def test_every_store_gives_the_same_model(images, storage):
    X, y = images
    expected = classifier().fit(X, y)
    model = classifier(storage=storage).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "basis",
    [
        RandomBasis(per_class=5),
        IndexBasis(10),
        KMeansBasis(10),
        KMedoidsBasis(10, max_rows=500),
        PivotedBasis(10),
        FarthestBasis(10),
        GradientBasis(10, max_rows=100),
    ],
    ids=lambda basis: type(basis).__name__,
)
def test_every_selector_chooses_pieces(images, basis):
    X, y = images
    model = classifier(basis=basis).fit(X, y)
    assert len(model.basis_parts_[0]) == 10
    np.testing.assert_array_equal(np.isfinite(model.coef_), True)


@pytest.mark.parametrize("basis", [0.25, np.float64(0.25), RandomBasis(0.25), KMeansBasis(0.25)], ids=repr)
def test_a_share_means_as_many_pieces_as_it_would_mean_rows(images, basis):
    X, y = images
    assert len(classifier(basis=basis).fit(X, y).basis_parts_[0]) == 30


def test_a_user_s_own_selector_sees_the_vectors_of_the_pieces(images):
    X, y = images

    def alike(pieces, labels, similarity, rng):
        assert len(pieces) == len(labels)
        own = similarity(pieces[:1], pieces)[0]
        return np.argsort(-own)[:7]

    assert len(classifier(basis=alike).fit(X, y).basis_parts_[0]) == 7


def test_rows_by_number_give_a_piece_each(images):
    X, y = images
    np.testing.assert_array_equal(classifier(basis=[3, 50, 9]).fit(X, y).basis_parts_[0].samples, [3, 50, 9])


def test_parts_may_be_given_outright(images):
    X, y = images
    patches = Pixels().transform(X[:5])[:, 2:8, 3:9]
    model = classifier(basis=Exemplars(patches)).fit(X, y)
    assert model.basis_parts_ == [None]
    assert model.coef_.shape == (1, 20)
    assert list(model.get_feature_names_out()[:2]) == ["P6(2)_0_r0", "P6(2)_0_r1"]


@pytest.mark.slow
def test_gradient_selection_finds_pieces_that_tell_the_classes_apart(images):
    X, y = images
    scores = {
        basis: classifier(basis=basis).fit(X[:80], y[:80]).score(X[80:], y[80:])
        for basis in (RandomBasis(4), GradientBasis(4, oversample=40))
    }
    random, chosen = scores.values()
    assert chosen > random + 0.05


def test_fewer_different_pieces_than_asked_for_are_warned_of():
    X = np.zeros((20, 8, 8, 3), np.uint8)
    X[::2, :, 4:] = 200
    with pytest.warns(
        UserWarning, match=r"there are only \d+ rows to choose from, fewer than the 500 exemplars asked for"
    ):
        model = classifier("P6(2)", basis=RandomBasis(500, balanced=False)).fit(X, np.arange(20) % 2)
    assert model.score(X, np.arange(20) % 2) == 1


def test_a_limit_of_memory_leaves_fewer_pieces_to_choose_from(images):
    X, y = images
    seen = []

    def watching(pieces, labels, similarity, rng):
        seen.append(len(pieces))
        return np.arange(10)

    for limit in ("1 GB", "25 MB"):
        classifier(basis=watching, memory_limit=limit).fit(X, y)
    assert 10 < seen[1] < 0.9 * seen[0]


def test_rows_without_weight_give_no_pieces(images):
    X, y = images
    weights = np.r_[np.zeros(60), np.ones(60)]
    model = classifier().fit(X, y, sample_weight=weights)
    assert model.basis_parts_[0].samples.min() >= 60


def test_with_l1_whole_exemplars_are_dropped(images):
    X, y = images
    model = classifier(penalty="l1", C=0.3).fit(X, y)
    kept = len(model.basis_parts_[0])
    assert 0 < kept < 40
    assert model.coef_.shape[1] == 4 * kept == len(model.get_feature_names_out())
    np.testing.assert_allclose(
        model.transform(X) @ model.coef_[0] + model.intercept_, model.decision_function(X), rtol=1e-4, atol=1e-5
    )


def test_one_vs_one_knows_the_class_of_every_part(images):
    X, _ = images
    y = np.arange(120) % 3
    model = classifier(multi_class="ovo-pair-basis").fit(X, y)
    own = np.repeat(y[model.basis_parts_[0].samples], 4)
    for (a, b), coef in zip(model.pairs_, model.coef_, strict=True):
        assert not coef[~np.isin(own, [a, b])].any()


def test_a_model_with_parts_can_be_pickled_and_counted(images):
    X, y = images
    model = classifier([mirrored("P6(2)"), Measure(Parts(2, 2, mirror=True), features=FHOG(cell=4))]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert model_size(model).exemplars == 80
    assert model_size(model).parameters == 40 * 108 + 40 * 4 * 31 + 2 * 160


@pytest.mark.slow
def test_greedy_selection_chooses_among_parts_and_wholes(images, tmp_path):
    X, y = images
    options = {"n_measures": 2, "basis": 20, "random_state": 0, "folder": tmp_path}
    search = GreedySelection(["P6(2)", "H8R", "P4"], **options).fit(X, y)
    assert "P6(2)" in search.names_ or "P4" in search.names_
    assert search.best_estimator_.score(X, y) > 0.8
    again = GreedySelection(["P6(2)", "H8R", "P4"], **options).fit(X, y)
    assert again.names_ == search.names_


def test_the_dual_solver_takes_parts(images):
    X, y = images
    model = DualBESVMClassifier("P6(2)", basis=20, C=1.0, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


def test_classes_can_be_balanced(images):
    X, y = images
    assert classifier(normalize=MeanNorm(balanced=True), basis=RandomBasis(10)).fit(X, y).score(X, y) > 0.6


def test_what_needs_whole_exemplars_says_so(images):
    X, y = images
    with pytest.raises(ValueError, match="are parts, which cannot be compared with one another"):
        BasisExpansion("P6", normalize=Nystrom(), basis=10).fit(X, y)
    with pytest.raises(ValueError, match=r"a kernel SVM compares whole samples, but the exemplars of 'P6\(2\)'"):
        KernelSVMClassifier("P6(2)").fit(X, y)


def test_a_part_larger_than_an_image_is_refused(images):
    X, y = images
    with pytest.raises(ValueError, match="20 x 20 must be no larger than the samples, but sample 0 is 16 x 16"):
        classifier("P20").fit(X, y)


def test_gray_images_for_a_model_of_color_ones_are_refused(images):
    X, y = images
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match="all images gray or all color"):
        model.predict(X[..., :1])


@pytest.mark.parametrize(("name", "size", "regions"), [("P6", 6, 3), ("p10", 10, 3), ("P6(2)", 6, 2)])
def test_the_shorthand_of_parts(name, size, regions):
    similarity = as_measure(name).similarity
    assert (similarity.size, similarity.regions, similarity.mirror) == (size, regions, False)
    assert as_measure(mirrored(name)).similarity.mirror


@pytest.mark.parametrize("name", ["P0", "P6(0)", "P6(", "P6(3,3)"])
def test_a_wrong_shorthand_of_parts_is_refused(name):
    with pytest.raises(ValueError, match="such as P6 or P6"):
        as_measure(name)


def test_series_are_told_apart_by_a_piece_that_may_lie_anywhere():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 100)), np.arange(160) % 2
    for row in np.flatnonzero(y):
        at = rng.integers(0, 80)
        X[row, at : at + 20] += 3 * np.sin(np.linspace(0, 6, 20))
    model = BESVMClassifier(SeriesParts(), basis=300, random_state=0).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.85
    pieces = model.basis_parts_[0]
    assert pieces.items["values"].shape == (300, 1, 11)
    ragged = [row[: 90 + row_number % 10] for row_number, row in enumerate(X)]
    model = BESVMClassifier(SeriesParts(), basis=300, random_state=0).fit(ragged[:100], y[:100])
    assert model.score(ragged[100:], y[100:]) > 0.8


def test_measures_with_equal_bases_share_their_rows(images):
    X, y = images
    sizes = {"H8R": 30, "H8L": 30, "H4R": 20}
    measures = [as_measure(name).set_params(basis=RandomBasis(n)) for name, n in sizes.items()]
    model = classifier(measures).fit(X, y)
    first, second, third = model.basis_rows_
    np.testing.assert_array_equal(first, second)
    assert len(third) == 20
    assert model.n_basis_ == len(np.union1d(first, third))
