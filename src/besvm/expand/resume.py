"""What a checkpoint of a classifier is known by: the data, the parameters that matter, the basis, and the code."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm._support.files import as_folder
from besvm._support.parameters import make_rng, shown
from besvm.blocks.checkpoint import Checkpoint, Part, open_checkpoint
from besvm.blocks.state import Values
from besvm.expand.expander import Expander
from besvm.expand.fingerprint import UnknownSourceError, besvm_sources, fingerprint, hash_of_rows

INCIDENTAL = (
    "checkpoint",
    "client",
    "n_jobs",
    "verbose",
    "memory_limit",
    "storage",
)  # do not matter to what is learned
ROOMS = (
    *("_support", "blocks", "similarities", "features", "normalize", "solver", "basis", "expand"),
    *("measures.py", "linear.py", "classifier.py"),
)


class Resumable:
    """A fit that keeps what is finished in a folder.

    Parameters
    ----------
    estimator : BESVMClassifier
        Whose parameters count, but for those that do not matter to what is learned.
    X, classes, labels, weights
        The rows, the classes, the class number of every row, and what it weighs.
    """

    def __init__(self, estimator: Any, X: Any, classes: np.ndarray, labels: Values, weights: Values) -> None:
        as_folder("checkpoint", estimator.checkpoint)  # before the rows are read
        try:
            parts = _parts(estimator, X, classes, labels, weights)
        except UnknownSourceError as reason:
            raise _unknown(reason) from reason
        seed = int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
        manifest, self.folder = open_checkpoint(estimator.checkpoint, parts, seed)
        self.seed = int(manifest["seed"])
        drawn = self.seed if estimator.random_state is None else None
        self._key = fingerprint([part.key for part in parts.values()], drawn)

    def rng(self, random_state: Any) -> np.random.Generator:
        """Return the generator to choose the basis by; the seed that None stands for is kept in the folder."""
        return make_rng(self.seed if random_state is None else random_state)

    def of(self, expander: Expander) -> Checkpoint:
        """Return the checkpoint of what is computed with these exemplars."""
        try:
            key = fingerprint(self._key, expander.transformers, expander.measures, str(expander.dtype))
        except UnknownSourceError as reason:
            raise _unknown(reason) from reason
        return Checkpoint(self.folder, key)


def _parts(estimator: Any, X: Any, classes: np.ndarray, labels: Values, weights: Values) -> dict[str, Part]:
    """Return what the result depends on, by the names that messages have for it."""
    parts = {"the rows of X": Part(hash_of_rows(X), f"{len(labels):,} rows")}
    parts["the labels y"] = Part(fingerprint(classes, hash_of_rows(labels)), f"{len(classes):,} classes")
    parts["the weights of the rows"] = Part(hash_of_rows(weights), "")
    for name, value in estimator.get_params(deep=False).items():
        if name not in INCIDENTAL:
            parts[name] = Part(fingerprint(value), _lasting(value))
    parts["the version of besvm, or of a package that it uses"] = Part(fingerprint(besvm_sources(*ROOMS)), "")
    return parts


def _lasting(value: Any) -> str:
    """Return what a message shows of a value, unless that changes from run to run."""
    text = shown(value)
    return "" if " at 0x" in text else text


def _unknown(reason: Exception) -> ValueError:
    return ValueError(
        "checkpoint needs measures and samples that a later run can recognize, but of one of them "
        f"{reason}; put the code into a module, or fit without a checkpoint"
    )
