"""Names, what they mean, and the checks of a similarity of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from besvm.similarities import RBF, PairFunction, Similarity, register, resolve
from besvm.testing import check_similarity


def test_resolve_takes_names_instances_and_functions():
    rbf = RBF(2.0)
    assert resolve(rbf) is rbf
    assert isinstance(resolve("rbf"), RBF)
    assert isinstance(resolve(lambda a, b: 0), PairFunction)


@pytest.mark.parametrize("name", ["negative-distance", "from_distance", "chi2_distance", "series_parts"])
def test_hyphens_and_underscores_are_alike(name):
    assert repr(resolve(name)) == repr(resolve(name.replace("-", "_") if "-" in name else name.replace("_", "-")))


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("rbff", "rbf"), ("tanimto", "tanimoto"), ("Linear", "linear"), ("jaro", "jaro-winkler"), ("levenshtein", "edit")],
)
def test_an_unknown_name_suggests_the_nearest(typo, meant):
    with pytest.raises(ValueError, match=f"got '{typo}'; did you mean '{meant}'"):
        resolve(typo)


def test_what_resolve_refuses():
    with pytest.raises(ValueError, match="`besvm similarities` lists all of them"):
        resolve("zzzzzzzz")
    with pytest.raises(TypeError, match="with parentheses"):
        resolve(RBF)
    with pytest.raises(TypeError, match="must be a name, a Similarity, or a function"):
        resolve(3)


def test_a_similarity_of_ones_own_in_ten_lines():
    @register("test-overlap")
    class Overlap(Similarity):
        symmetric = True

        def __init__(self, power=1):
            self.power = power

        def __call__(self, A, B):
            return np.array([[len(set(a) & set(b)) ** self.power for b in B] for a in A])

    check_similarity("test-overlap", ["abc", "bcd", "xyz", "a"])
    assert resolve("test-overlap").label == "test-overlap"


def test_what_register_refuses():
    assert register("rbf")(RBF) is RBF  # the same class again, as when a notebook's cell is run twice
    with pytest.raises(ValueError, match="the name 'rbf' already belongs to"):
        register("rbf")(Broken)
    with pytest.raises(TypeError, match="needs a subclass of Similarity"):
        register("nothing")(dict)


class Broken(Similarity):
    """Breaks one rule of the contract at a time."""

    symmetric = True
    psd = True

    def __init__(self, how):
        self.how = how

    def __call__(self, A, B):
        A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
        S = A @ B.T
        return {
            "shape": S[:, :1],
            "nan": np.where(S.max() == S, np.nan, S),
            "complex": S + 1j,
            "block": S / len(A),
            "symmetric": S + 10 * A.sum(axis=1, keepdims=True),
            "psd": -S,
        }[self.how]


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ("shape", "must have shape"),
        ("nan", "must be finite"),
        ("complex", "must be real"),
        ("block", "block of rows"),
        ("symmetric", "symmetric = True"),
        ("psd", "psd = True"),
    ],
)
def test_check_similarity_finds_what_is_broken(how, rule, rng):
    with pytest.raises(AssertionError, match=rule):
        check_similarity(Broken(how), rng.normal(size=(6, 3)))
