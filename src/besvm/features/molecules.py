"""Molecules as fingerprints: which fragments of a structure are there, bit by bit."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from besvm._support.extras import optional
from besvm._support.parameters import check_count, check_flag, is_whole, shown
from besvm._support.rows import n_rows

MOST = {"radius": 1000, "bits": 1 << 24}  # beyond what any molecule has, or any memory


class Fingerprints(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Morgan fingerprints of molecules written as SMILES: which surroundings of atoms they have.

    ``Measure("tanimoto", features=Fingerprints())`` compares molecules as chemists do. It needs RDKit,
    which is in the extra ``chem``.

    Parameters
    ----------
    radius : int, default=2
        How many bonds away from its atom a fragment reaches; 2 gives what is known as ECFP4.
    bits : int, default=2048
        The length of a fingerprint. Fragments share bits by chance, the fewer there are the more often.
    packed : bool, default=False
        Whether eight bits are packed into a byte, for ``Tanimoto(packed=True)``: an eighth of the memory. Otherwise
        each is a 0 or 1 of its own.

    Examples
    --------
    >>> from besvm.features import Fingerprints
    >>> from besvm.similarities import Tanimoto
    >>> ethanol, propanol, benzene = Fingerprints().transform(["CCO", "CCCO", "c1ccccc1"])
    >>> Tanimoto()([ethanol], [propanol, benzene]).round(2)
    array([[0.56, 0.  ]], dtype=float32)
    """

    def __init__(self, radius: int = 2, bits: int = 2048, packed: bool = False) -> None:
        self.radius = radius
        self.bits = bits
        self.packed = packed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        self._check()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the fingerprints of molecules: uint8, (molecules, bits), or (molecules, bits / 8) if packed."""
        self._check()
        chem = optional("rdkit.Chem", "describing molecules")
        logs = optional("rdkit.rdBase", "describing molecules")
        make = optional("rdkit.Chem.rdFingerprintGenerator", "describing molecules").GetMorganGenerator
        generator = make(radius=int(self.radius), fpSize=int(self.bits))
        out = np.empty((n_rows(X), self.bits), np.uint8)
        with logs.BlockLogs():  # RDKit prints what is wrong with a molecule, which the error says
            for number, text in enumerate(X):
                out[number] = generator.GetFingerprintAsNumPy(_molecule(chem, number, text))
        return np.packbits(out, axis=1) if self.packed else out

    def _check(self) -> None:
        if not is_whole(self.radius, 0):
            raise ValueError(f"radius must be a whole number of at least 0, got {shown(self.radius)}")
        check_count("bits", self.bits)
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most:,}, got {shown(getattr(self, name))}")
        check_flag("packed", self.packed)


def _molecule(chem: Any, number: int, text: Any) -> Any:
    """Return the molecule that a SMILES stands for; one that RDKit has made already is taken as it is."""
    if isinstance(text, chem.Mol):
        return text
    if not isinstance(text, str):
        raise TypeError(f"molecules must be SMILES strings, but molecule {number} is {shown(text)}")
    molecule = chem.MolFromSmiles(text) if text.strip() else None
    if molecule is None:
        raise ValueError(
            f"molecules must be valid SMILES, but molecule {number} is {shown(text)}; correct or remove it"
        )
    return molecule
