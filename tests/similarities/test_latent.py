"""Latent and Jitter against the naive loops, and against what the formulas promise."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import reference_grid
import reference_latent as reference
from besvm import BESVMClassifier, Measure
from besvm._support import sizes
from besvm.basis import KMedoidsBasis
from besvm.features import FHOG, Shifts, mirror
from besvm.measures import mirrored
from besvm.similarities import RBF, Deformable, Jitter, Latent, Linear, PairFunction, Rigid, Similarity
from besvm.testing import check_similarity


def reversed_too(x):
    return [x, x[::-1]]


def scaled(x):
    return [x, -x, 0.5 * x]


def ragged(x):
    """One to three variants, by the sign of the first numbers."""
    return [x, np.roll(x, 1), np.roll(x, 2)][: 1 + int(np.ravel(x)[0] > 0) + int(np.ravel(x)[1] > 0)]


def as_rows(images):
    return np.asarray(images, dtype=float).reshape(len(images), -1)


def flat():
    return FunctionTransformer(as_rows)


def near(b, x):
    return float(np.exp(-0.3 * ((b - x) ** 2).sum()))


def rigid_one(b, x):
    return reference_grid.deformable_pair(b, x, rigid=1)


INNER = {
    "linear": (Linear(), lambda b, x: float(b @ x), (7,)),
    "rbf": (RBF(gamma=0.3), near, (7,)),
    "function": (PairFunction(near), near, (7,)),
    "rigid": (Rigid(1), rigid_one, (3, 4, 2)),
}
VARIANTS = [
    {},
    {"exemplar_variants": reversed_too},
    {"sample_variants": scaled},
    {"exemplar_variants": reversed_too, "sample_variants": scaled},
    {"exemplar_variants": ragged, "sample_variants": ragged},
]


def samples(shape, rng, n=9):
    return rng.normal(size=(n, *shape))


@pytest.mark.parametrize("variants", VARIANTS, ids=lambda v: "-".join(f"{k[0]}:{f.__name__}" for k, f in v.items()))
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("penalties", [False, True])
def test_latent_equals_the_naive_loops(inner, variants, penalties, rng):
    similarity, kernel, shape = INNER[inner]
    A, B = samples(shape, rng, 9), samples(shape, rng, 5)
    R = {}
    if penalties:
        # The later variants are the better rewarded, so that a padded one must not earn what it is not.
        R = {f"{side}_penalty": [-1.0, 0.5, 2.0][: _most(variants, side)] for side in ("exemplar", "sample")}
    wanted = reference.matrix(reference.latent_pair, kernel, A, B, **variants, **R)
    got = Latent(similarity, **variants, **R)(A, B)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert got.dtype == similarity(A, B).dtype


def _most(variants, side):
    make = variants.get(f"{side}_variants")
    return 1 if make is None else {reversed_too: 2}.get(make, 3)


@pytest.mark.parametrize("variants", VARIANTS, ids=range(len(VARIANTS)))
@pytest.mark.parametrize("inner", INNER)
def test_jitter_equals_the_naive_loops(inner, variants, rng):
    similarity, kernel, shape = INNER[inner]
    A, B = samples(shape, rng, 20), samples(shape, rng, 5)
    wanted = reference.matrix(reference.jitter_pair, kernel, A, B, **variants)
    np.testing.assert_allclose(Jitter(similarity, **variants)(A, B), wanted, rtol=1e-5, atol=1e-5)


def test_jitter_and_latent_agree_where_all_self_similarities_do(rng):
    A, B = samples((7,), rng), samples((7,), rng)
    variants = {"exemplar_variants": reversed_too, "sample_variants": ragged}
    np.testing.assert_allclose(Jitter(RBF(0.3), **variants)(A, B), Latent(RBF(0.3), **variants)(A, B))
    np.testing.assert_allclose(Jitter("linear", **variants)(A, B), Latent("linear", **variants)(A, B))
    variants = {"sample_variants": scaled}  # of other lengths
    assert not np.allclose(Jitter("linear", **variants)(A, B), Latent("linear", **variants)(A, B))


def test_shifts_of_an_exemplar_are_the_rigid_similarity(rng):
    A, B = np.zeros((2, 6, 7, 7, 3))
    A[:, 2:-2, 2:-2], B[:, 2:-2, 2:-2] = rng.normal(size=(2, 6, 3, 3, 3))
    shifts = Shifts(2)
    assert len(shifts.moves) == 25
    np.testing.assert_allclose(Latent(Rigid(0), exemplar_variants=shifts)(A, B), Rigid(2)(A, B), atol=1e-5)
    penalty = [-0.7 * (dy**2 + dx**2) for dy, dx in shifts.moves]
    penalized = Latent("linear", exemplar_variants=shifts, exemplar_penalty=penalty)
    np.testing.assert_allclose(penalized(A, B), Rigid(2, rigid_penalty=0.7)(A, B), atol=1e-5)


@pytest.mark.parametrize("inner", [Rigid(1), Deformable(1, 1), Rigid(1, cosine=True)])
def test_mirroring_one_side_is_enough(inner, rng):
    A, B = samples((4, 5, 2), rng), samples((4, 5, 2), rng)
    one = Latent(inner, exemplar_variants=mirror)(A, B)
    np.testing.assert_allclose(one, Latent(inner, exemplar_variants=mirror, sample_variants=mirror)(A, B), atol=1e-5)
    np.testing.assert_allclose(one, Latent(inner, sample_variants=mirror)(A, B), atol=1e-5)
    assert (one >= inner(A, B)).all()


class Bound(Similarity):
    """A similarity behind features that a clone must not lose."""

    def __init__(self, bound):
        self.bound = bound

    def __call__(self, A, B):
        return self.bound(A, B)

    def __sklearn_clone__(self):
        return Bound(clone(self.bound).behind(self.bound.features_))

    def fit(self, X):
        self.bound.fit(X)
        return self


class Counting(Similarity):
    """A linear similarity that counts what it is asked; the counts are shared with its clones."""

    packed, compared = 0, 0

    def __call__(self, A, B):
        return self.against(B)(A)

    def against(self, basis):
        Counting.packed += 1

        def compare(A):
            Counting.compared += 1
            return np.asarray(A) @ np.asarray(basis).T

        return compare


def test_nothing_is_computed_twice(rng, monkeypatch):
    monkeypatch.setattr(Counting, "packed", 0)
    monkeypatch.setattr(Counting, "compared", 0)
    made, described = [], []

    def three(x):
        made.append(x)
        return scaled(x)

    features = FunctionTransformer(lambda X: (described.append(len(X)), X)[1])
    A, B = samples((7,), rng, 8), samples((7,), rng, 5)
    both = Latent(Counting(), exemplar_variants=reversed_too, sample_variants=three).behind(features)
    compare = both.against(B)
    assert (Counting.packed, Counting.compared, described) == (2, 0, [5, 5])
    compare(A)
    assert (Counting.packed, Counting.compared, described) == (2, 6, [5, 5, 8, 8, 8])
    assert len(made) == 8
    compare(A)
    assert (Counting.packed, Counting.compared) == (2, 12)
    described.clear()
    Latent(Counting(), exemplar_variants=reversed_too).behind(features)(A, B)
    assert sorted(described) == [5, 5, 8]  # mirrored exemplars: the samples are described once


def test_measures_that_mirror_share_the_features_of_the_samples(rng):
    """Two mirrored measures and a plain one on equal features: a block of samples is described once for all."""
    described = []

    def note(images):
        described.append(len(images))
        return as_rows(images)

    images, y = rng.normal(size=(30, 3, 4)), np.arange(30) % 2
    features = FunctionTransformer(note)
    plain = Measure("rbf", features=features)
    several = [plain, mirrored(plain), mirrored(Measure("linear", features=features))]
    clf = BESVMClassifier(several, basis=[1, 2, 3], probability=False).fit(images, y)
    assert len(clf._map.expander.transformers) == 1
    clf.predict(images[:1])  # the exemplars are packed by now
    described.clear()
    clf.predict(images)
    assert described == [30]
    rows, turned = as_rows(images), as_rows(images[:, :, ::-1])
    raw = clf._map.expander(images)
    np.testing.assert_allclose(raw[:, 6:], np.maximum(rows @ rows[1:4].T, rows @ turned[1:4].T), atol=1e-6)


def test_groups_of_variants_equal_the_whole(rng, monkeypatch):
    A, B = samples((7,), rng, 30), samples((7,), rng, 5)
    for similarity in (
        Latent("linear", exemplar_variants=scaled, sample_variants=ragged, sample_penalty=[0, -1, 1]),
        Jitter("linear", exemplar_variants=scaled, sample_variants=ragged),
    ):
        whole = similarity(A, B)
        with monkeypatch.context() as patch:
            patch.setitem(Latent.against.__globals__, "GROUP_BYTES", 400)
            np.testing.assert_allclose(similarity(A, B), whole, rtol=1e-12)
        assert similarity(A[:0], B).shape == (0, 5)
        assert similarity(A, B[:0]).shape == (30, 0)


def test_no_more_than_two_matrices_at_a_time(rng):
    A, B = rng.normal(size=(3000, 4)), rng.normal(size=(500, 4))
    penalty = [0.0, -1.0, -2.0]
    compare = Latent("linear", exemplar_variants=scaled, exemplar_penalty=penalty, sample_variants=scaled).against(B)
    tracemalloc.start()
    compare(A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 8 * len(A) * len(B)


def test_the_inner_similarity_and_the_samples_are_left_alone(rng):
    A, B = samples((7,), rng), samples((7,), rng, 4)
    fixed = A @ B.T
    fixed.flags.writeable = False

    class Fixed(Similarity):
        def __call__(self, A, B):
            return fixed

    Latent(Fixed(), exemplar_variants=scaled, exemplar_penalty=[0, 1, 2])(A, B)
    Jitter(PairFunction(near), exemplar_variants=scaled)(A, B)
    assert (fixed == A @ B.T).all()


@pytest.mark.parametrize("kind", [Latent, Jitter])
@pytest.mark.parametrize("variants", VARIANTS, ids=range(len(VARIANTS)))
@pytest.mark.parametrize("inner", ["rbf", "linear", near])
def test_keeps_the_contract(kind, variants, inner, rng):
    X = samples((7,), rng, 12)
    check_similarity(kind(inner, **variants), X)
    check_similarity(Bound(kind(inner, **variants).behind(StandardScaler().fit(X))), X)


def test_the_flags_are_honest():
    assert Latent("rbf").psd
    assert Latent("rbf").symmetric
    assert Jitter("rbf").psd
    assert not Latent("rbf", sample_penalty=[-1.0]).psd
    one, both = Latent("rbf", exemplar_variants=scaled), Latent("rbf", exemplar_variants=scaled, sample_variants=scaled)
    assert (one.symmetric, one.psd, both.symmetric, both.psd) == (False, False, True, False)
    assert not clone(both).set_params(exemplar_penalty=[0, -1, -2]).symmetric
    assert clone(both).set_params(exemplar_penalty=[0, -1, -2], sample_penalty=np.array([0, -1, -2])).symmetric
    assert not Latent(Deformable(0, 1), exemplar_variants=mirror, sample_variants=mirror).symmetric
    assert not Jitter("linear", exemplar_variants=scaled, sample_variants=scaled).symmetric
    assert Latent("rbf", exemplar_variants=Shifts(1), sample_variants=Shifts(1)).symmetric
    assert not one.vectors


def test_labels_name_the_variants():
    assert Latent("rigid").label == "rigid"
    assert Latent("rigid", exemplar_variants=mirror).label == "rigid|mirror"
    assert Latent("rigid", sample_variants=Shifts(1)).label == "rigid||shifts"
    assert Latent("rigid", exemplar_variants=mirror, sample_variants=lambda x: [x]).label == "rigid|mirror|variants"
    assert Jitter("rbf", exemplar_variants=mirror).label == "jitter(rbf|mirror)"


def test_fitting_settles_the_inner_similarity_on_the_features_of_the_samples_themselves(rng, monkeypatch):
    X = rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5] + 7
    similarity, scaler = Latent(RBF(), exemplar_variants=reversed_too), StandardScaler().fit(X)
    fitted = similarity.behind(scaler).fit(X)
    np.testing.assert_allclose(fitted.similarity_.gamma_, RBF().fit(scaler.transform(X)).gamma_)
    assert similarity.features_ is None
    assert not hasattr(similarity, "similarity_")
    assert not hasattr(similarity.similarity, "gamma_")
    monkeypatch.setattr(sizes, "SETTLE_ROWS", 10)
    rows = np.linspace(0, 59, 10).astype(int)
    some = similarity.behind(scaler).fit(X)
    np.testing.assert_allclose(some.similarity_.gamma_, RBF().fit(scaler.transform(X[rows])).gamma_)
    assert clone(similarity).set_params(similarity__gamma=0.25).fit(X).similarity_.gamma_ == 0.25
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again(X, X[:4]), fitted(X, X[:4]))


@pytest.mark.parametrize("kind", [Latent, Jitter])
def test_the_alignment_explains_the_score(kind, rng):
    A, B = samples((4, 5, 2), rng), samples((4, 5, 2), rng, 3)
    R = {"exemplar_penalty": [0.0, -2.0], "sample_penalty": [0.0, *[-0.5] * 8]} if kind is Latent else {}
    similarity = kind(Rigid(1), exemplar_variants=mirror, sample_variants=Shifts(1), **R)
    whole = similarity(A, B)
    for i, x in enumerate(A):
        for j, b in enumerate(B):
            found = similarity.alignment(x, b)
            assert found.score == pytest.approx(float(whole[i, j]), abs=1e-4)
            of_b, of_x = mirror(b)[found.exemplar_variant], Shifts(1)(x)[found.sample_variant]
            worth = sum(R[f"{s}_penalty"][getattr(found, f"{s}_variant")] for s in ("exemplar", "sample")) if R else 0
            assert float(Rigid(1)(of_x[None], of_b[None])[0, 0]) + worth == pytest.approx(found.score, abs=1e-4)
            assert found.inner.score + worth == pytest.approx(found.score, abs=1e-4)


def test_alignments_nest_and_are_none_where_the_inner_similarity_has_none():
    x, y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0])
    inner = Latent("linear", exemplar_variants=reversed_too)
    found = Latent(inner, sample_variants=lambda x: [x, 3 * x]).alignment(x, y)
    assert (found.score, found.exemplar_variant, found.sample_variant) == (6.0, 0, 1)
    assert (found.inner.score, found.inner.exemplar_variant, found.inner.inner) == (6.0, 1, None)


def test_strings():
    def rotations(word):
        return [word[k:] + word[:k] for k in range(len(word))]

    def same(a, b):
        return float(sum(x == y for x, y in zip(a, b, strict=False)))

    words = ["abc", "bca", "ca", "xyzw"]
    got = Latent(same, exemplar_variants=rotations)(words, ["abc", "ac"])
    assert got.tolist() == [[3, 1], [3, 1], [2, 2], [0, 0]]
    check_similarity(Latent(same, exemplar_variants=rotations), words)


def leaning_strokes(n, rng, flip=False):
    """Two classes that lean to opposite sides, each with a bar at its own height: only that a mirror keeps."""
    y = np.arange(n) % 2
    images = rng.integers(0, 6, (n, 24, 24), dtype=np.uint8)
    for image, label in zip(images, y, strict=True):
        top, left = rng.integers(0, 4, 2)
        for k in range(16):
            image[top + k + 2, left + (17 - k if label else k + 2) : left + (19 - k if label else k + 4)] = 250
        bar = top + (3 if label else 16)
        image[bar : bar + 2, left + 7 : left + 14] = 250
    return (images[:, :, ::-1] if flip else images), y


def test_mirrored_images_are_classified_by_unmirrored_ones(rng):
    X, y = leaning_strokes(60, rng)
    X_test, y_test = leaning_strokes(40, rng, flip=True)
    plain = Measure(Deformable(rigid=1, local=0), features=FHOG(cell=4))
    without = BESVMClassifier([plain], basis=30, random_state=0).fit(X, y)
    latent = BESVMClassifier([mirrored(plain)], basis=30, random_state=0).fit(X, y)
    assert latent.score(X_test, y_test) >= 0.95
    assert latent.score(X_test, y_test) > without.score(X_test, y_test)
    again = pickle.loads(pickle.dumps(clone(latent).fit(X, y)))
    assert (again.predict(X_test) == latent.predict(X_test)).all()
    medoids = BESVMClassifier([mirrored(plain)], basis=KMedoidsBasis(10), random_state=0).fit(X, y)
    assert medoids.score(X_test, y_test) > 0.9


def test_mirrored_makes_a_measure_of_anything():
    assert mirrored("rigid").label == "rigid|mirror"
    assert mirrored(Rigid(2)).similarity.similarity.radius == 2
    named = mirrored(Measure("rbf", features=flat(), basis=7, name="near"))
    assert (named.label, named.basis) == ("near|mirror", 7)
    assert named.features is not None
    with pytest.raises(TypeError, match="a single measure"):
        mirrored(["rbf", "linear"])


BAD = {
    "exemplar_variants must return at least one variant": {"exemplar_variants": lambda x: []},
    "sample_variants must return a list of variants": {"sample_variants": lambda x: None},
    "exemplar_variants must return a list of variants": {"exemplar_variants": lambda x: "ab"},
    "exemplar_penalty must hold a number for each variant, got 2 for samples of up to 3": {
        "exemplar_variants": scaled,
        "exemplar_penalty": [0, 1],
    },
    "sample_penalty must hold a number for each variant, got 4 for samples of up to 3": {
        "sample_variants": ragged,
        "sample_penalty": [0, 1, 2, 3],
    },
    "exemplar_penalty must be a list of finite numbers": {"exemplar_penalty": -1.0},
    "sample_penalty must be a list of finite numbers": {"sample_penalty": [np.nan]},
    "sample_penalty must be a list of finite": {"sample_penalty": ["much"]},
}


@pytest.mark.parametrize("message", BAD)
def test_errors_say_what_to_do(message, rng):
    X = samples((7,), rng, 30)
    with pytest.raises((TypeError, ValueError), match=message):
        Latent("linear", **BAD[message]).fit(X)(X, X)


def test_penalties_are_checked_without_fitting_too(rng):
    X = samples((7,), rng)
    with pytest.raises(ValueError, match="exemplar_penalty must hold"):
        Latent("linear", exemplar_variants=scaled, exemplar_penalty=[0, 1])(X, X)
    with pytest.raises(ValueError, match="never sees a sample"):
        Latent("precomputed", exemplar_variants=scaled).fit(X)
    with pytest.raises(ValueError, match=r"shape \(9, 9\)"):
        Latent(_column(), exemplar_variants=scaled)(X, X)


def _column():
    class Column(Similarity):
        def __call__(self, A, B):
            return np.ones((len(A), 1))

    return Column()


def test_a_nan_of_the_inner_similarity_is_not_lost(rng):
    X = samples((3,), rng, 4)

    def broken(b, x):
        return np.nan if b[0] > 0 else 1.0

    for kind in (Latent, Jitter):
        got = kind(broken, exemplar_variants=lambda x: [x, -x])(X, X)
        assert np.isnan(got).all()
