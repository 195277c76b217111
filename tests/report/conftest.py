from types import SimpleNamespace

import numpy as np
import pytest

from besvm import BESVMClassifier, Measure
from besvm.report import write_page
from besvm.similarities import Rigid
from report_data import HOSTILE, TRIED


@pytest.fixture(scope="session")
def frames(digits):
    """300 digits to learn from and some to try, as gray images (12, 12, 1)."""
    X, y = digits
    images = np.zeros((len(X), 12, 12, 1), dtype=np.float32)
    images[:, 2:10, 2:10, 0] = X.reshape(-1, 8, 8) / 16
    return images[:300], y[:300], images[300 : 300 + TRIED], y[300 : 300 + TRIED]


@pytest.fixture(scope="session")
def digit_model(frames):
    X, y, _, _ = frames
    return BESVMClassifier([Rigid(1), Measure("rbf", name="plain")], basis=60, C=1.0, random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def digit_page(digit_model, frames, tmp_path_factory):
    """The page of the digits, which several tests look at."""
    X, _, X_test, y_test = frames
    path = tmp_path_factory.mktemp("digits") / "a page.html"
    return write_page(digit_model, (X_test, y_test), path, title="Digits", training=X)


@pytest.fixture(scope="session")
def names_page(names_model, tmp_path_factory):
    """The page of the hostile texts."""
    return write_page(*names_model, tmp_path_factory.mktemp("names") / "page.html", title=HOSTILE)


@pytest.fixture(scope="session")
def names_model():
    """Short texts of two hostile classes, and the model."""
    words = ["cat", "cart", "carts", "cats", "dog", "dogs", "dig", "digs"] * 8
    texts = [f"{word} {HOSTILE} {k}" for k, word in enumerate(words)]
    y = np.array([HOSTILE if word[0] == "c" else "d & <b>" for word in words])
    model = BESVMClassifier(Measure("edit", name=HOSTILE), basis=12, C=1.0, random_state=0).fit(texts, y)
    return model, SimpleNamespace(X=texts, y=y, kind="text", names=[f"{HOSTILE}{k}.txt" for k in range(len(texts))])
