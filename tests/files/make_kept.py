"""Write the files that later versions must still load: `python tests/files/make_kept.py` when the format changes."""

from pathlib import Path

import numpy as np

import besvm
from besvm import FHOG, BESVMClassifier, Measure
from besvm.similarities import Rigid

FOLDER = Path(__file__).parent / "kept"


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors, images, texts and their classes, the same ever after: made without a random generator."""
    k = np.arange(60)
    vectors = np.stack([np.sin(k * a) + k % 3 for a in (1.0, 2.0, 3.0)], axis=1)
    images = ((np.add.outer(k, np.arange(8 * 8 * 3)) * 37) % 251).astype(np.uint8).reshape(60, 8, 8, 3)
    words = np.array([f"{'abc'[i % 3] * 3}{i}" for i in k])
    return vectors, images, words, k % 3


def main() -> None:
    """Train three small models and save them, with what they decide."""
    vectors, images, words, y = data()
    models = {
        "vectors": (BESVMClassifier(["rbf", "linear"], basis=6, C=1.0, random_state=0), vectors),
        "images": (BESVMClassifier(Measure(Rigid(1), features=FHOG(cell=4)), basis=6, C=1.0, random_state=0), images),
        "words": (BESVMClassifier("kmers", basis=6, C=1.0, random_state=0), list(words)),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, (model, X) in models.items():
        model.fit(X, y)
        besvm.save(model, FOLDER / f"format1-{name}.besvm")
        np.save(FOLDER / f"format1-{name}.npy", model.decision_function(X))


if __name__ == "__main__":
    main()
