"""What a fingerprint follows: the values and the code that similarities are computed from."""

import sys
import time
from types import ModuleType

import numpy as np
import pytest

from besvm.selection.fingerprint import fingerprint
from besvm.similarities import RBF, PairFunction


def test_a_fingerprint_follows_values_and_code():
    def make(power):
        return lambda a, b: float(a @ b) ** power

    assert fingerprint(make(2)) == fingerprint(make(2))
    assert fingerprint(make(2)) != fingerprint(make(3))
    assert fingerprint(RBF(gamma=1.0)) == fingerprint(RBF(gamma=1.0)) != fingerprint(RBF(gamma=2.0))
    assert fingerprint(PairFunction(make(2))) != fingerprint(PairFunction(make(3)))
    assert fingerprint(["ab", "c"]) == fingerprint(["".join("ab"), "c"]) != fingerprint(["a", "bc"])
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(3.0))
    assert fingerprint(open) == fingerprint(open)
    assert fingerprint(time.sleep) != fingerprint(time.time)
    assert fingerprint(x for x in "ab") != fingerprint(x for x in "ab"), "what cannot be hashed is equal to nothing"


PROGRAM = """
from functools import lru_cache
from math import exp
import helpers
SCALE = {scale}
TABLE = {{"a": np.arange(3) + {scale}}}
def inner(x):
    return {inner} * x if x < 9 else outer(x - 1)
@lru_cache
def cached(x):
    return {cached} * x
class Weigher:
    factors = ({factor},)
    def __call__(self, x):
        return exp(-SCALE * x)
    def plain(self, x):
        return {method} * x
weigher = Weigher()
def outer(x):
    return inner(exp(-x)) + cached(x)
def scaled(a, b):
    return SCALE * (a - b)
def tabled(a, b):
    return [TABLE["a"][0] for _ in range(2)]
def called(a, b):
    return outer(a)
def weighed(a, b):
    return weigher(a) + weigher.plain(b)
def helped(a, b):
    return helpers.power(a) * helpers.BASE
def alone(a, b):
    return exp(a - b)
"""
SAME = {"scale": 1.0, "inner": 1, "cached": 1, "factor": 1, "method": 1, "base": 1, "power": 1}


def program(monkeypatch, **changed):
    """Run a user's program beside a module of the user's, and return the fingerprints of its functions."""
    values = SAME | changed
    helpers = ModuleType("helpers")
    exec(f"BASE = {values['base']}\ndef power(x):\n    return x ** {values['power']}", vars(helpers))
    monkeypatch.setitem(sys.modules, "helpers", helpers)
    names = {"__name__": "of_the_user", "np": np}
    exec(PROGRAM.format(**values), names)
    functions = ("scaled", "tabled", "called", "weighed", "helped", "alone")
    return {name: fingerprint(PairFunction(names[name])) for name in functions}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, set()),
        ({"scale": 2.0}, {"scaled", "tabled", "weighed"}),
        ({"inner": 2}, {"called"}),
        ({"cached": 2}, {"called"}),
        ({"factor": 2}, {"weighed"}),
        ({"method": 2}, {"weighed"}),
        ({"base": 2}, {"helped"}),
        ({"power": 2}, {"helped"}),
    ],
)
def test_a_fingerprint_follows_the_globals_that_a_function_uses(monkeypatch, changed, told):
    before, after = program(monkeypatch), program(monkeypatch, **changed)
    assert {name for name in before if before[name] != after[name]} == told


def test_a_fingerprint_follows_the_code_of_a_class():
    def make(text):
        names = {"__name__": "of_the_user"}
        exec(text, names)
        return fingerprint(names["A"]())

    head = "from besvm.similarities import Similarity\nclass A(Similarity):\n"
    plain = head + "    power = 1\n    def __call__(self, X, Y):\n        return X @ Y.T"
    assert make(plain) == make(plain)
    assert make(plain) != make(plain + " + 1")
    assert make(plain) != make(plain.replace("power = 1", "power = 2"))
