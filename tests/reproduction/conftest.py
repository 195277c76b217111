import numpy as np
import pytest

from besvm.datasets import make_digit_images
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.lab import Lab


@pytest.fixture(scope="session")
def make_lab():
    """Return what makes a lab of 900 images in six folds, with some of its parts replaced."""
    images, labels = make_digit_images(900, random_state=0)
    parts = {"images": images, "labels": labels, "fold": np.repeat(np.arange(6), 150)}
    return lambda folder, **changes: Lab(**(parts | {"cache": MatrixCache(folder, 10**8)} | changes))


@pytest.fixture(scope="module")
def lab(make_lab, tmp_path_factory):
    return make_lab(tmp_path_factory.mktemp("cache"))
