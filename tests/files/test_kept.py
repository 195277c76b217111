"""Files that earlier versions have written still load, and decide as they did."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import besvm

FOLDER = Path(__file__).parent / "kept"


def data():
    spec = spec_from_file_location("make_kept", Path(__file__).parent / "make_kept.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vectors, images, words, _ = module.data()
    return {"vectors": vectors, "images": images, "words": list(words)}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.besvm")), ids=lambda path: path.stem)
def test_files_of_earlier_versions(path):
    X = data()[path.stem.partition("-")[2]]
    model = besvm.load(path)
    assert np.allclose(model.decision_function(X), np.load(path.with_suffix(".npy")), rtol=1e-4, atol=1e-4)
    assert model.facts_["besvm"] == "0.1.0"


def test_there_are_files():
    assert len(list(FOLDER.glob("*.besvm"))) >= 3
