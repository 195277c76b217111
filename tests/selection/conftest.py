"""Digits, to train and to validate on."""

import pytest


@pytest.fixture(scope="module")
def split(digits):
    X, y = digits
    return X[:300], y[:300], X[300:700], y[300:700]
