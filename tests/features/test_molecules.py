"""Molecules as fingerprints."""

import numpy as np
import pandas as pd
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator
from sklearn.base import clone

from besvm import BESVMClassifier, Measure
from besvm.features import Fingerprints
from besvm.similarities import Tanimoto

SMILES = ["CCO", "CCCO", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C"]


@pytest.mark.parametrize(("radius", "bits"), [(2, 2048), (3, 1000), (0, 64)])
def test_tanimoto_is_that_of_rdkit(radius, bits):
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    theirs = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    expected = [DataStructs.BulkTanimotoSimilarity(one, theirs) for one in theirs]
    fingerprints = Fingerprints(radius, bits).fit_transform(SMILES)
    assert fingerprints.shape == (6, bits)
    np.testing.assert_allclose(Tanimoto()(fingerprints, fingerprints), expected, rtol=1e-6)
    packed = Fingerprints(radius, bits, packed=True).transform(SMILES)
    assert packed.shape == (6, -(-bits // 8))
    np.testing.assert_allclose(Tanimoto(packed=True)(packed, packed), expected, rtol=1e-6)


def test_molecules_in_other_containers():
    expected = Fingerprints().transform(SMILES)
    for X in (
        np.array(SMILES),
        np.array(SMILES, dtype=object),
        pd.Series(SMILES),
        list(map(Chem.MolFromSmiles, SMILES)),
    ):
        assert np.array_equal(Fingerprints().transform(X), expected)
    assert Fingerprints().transform([]).shape == (0, 2048)


@pytest.mark.parametrize(
    ("bad", "error", "sentence"),
    [
        ("CC(", ValueError, r"valid SMILES, but molecule 1 is 'CC\('"),
        ("C1CC", ValueError, "valid SMILES, but molecule 1 is 'C1CC'"),
        ("CO(C)(C)C", ValueError, "valid SMILES, but molecule 1 is "),
        ("", ValueError, "valid SMILES, but molecule 1 is ''"),
        (None, TypeError, "molecules must be SMILES strings, but molecule 1 is None"),
        (3.5, TypeError, "molecule 1 is 3.5"),
    ],
)
def test_what_cannot_be_read_is_named_and_rdkit_is_silent(bad, error, sentence, capfd):
    with pytest.raises(error, match=sentence):
        Fingerprints().transform(["CCO", bad])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"radius": -1}, "radius must be a whole number of at least 0, got -1"),
        ({"bits": 0}, "bits must be a whole number of at least 1, got 0"),
        ({"packed": "yes"}, "packed must be True or False, got 'yes'"),
    ],
)
def test_parameters_are_checked(params, sentence):
    for attempt in (Fingerprints(**params).fit, Fingerprints(**params).transform):
        with pytest.raises(ValueError, match=sentence):
            attempt(SMILES)


@pytest.mark.parametrize("packed", [True, False])
def test_a_classifier_of_molecules(packed):
    X = [f"{'C' * n}{end}" for n in range(1, 21) for end in ("O", "N")]
    y = ["alcohol", "amine"] * 20
    measure = Measure(Tanimoto(packed), features=clone(Fingerprints(packed=packed)))
    clf = BESVMClassifier(measure, basis=10, random_state=0).fit(X[:30], y[:30])
    assert clf.score(X[30:], y[30:]) == 1.0
    by_name = BESVMClassifier(Measure("tanimoto", features=Fingerprints()), basis=10, random_state=0).fit(
        X[:30], y[:30]
    )
    assert np.array_equal(by_name.predict(X), clf.predict(X))
