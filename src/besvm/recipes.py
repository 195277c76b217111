"""Sets of measures that did best on images and on time series, in three sizes.

>>> from besvm import BESVMClassifier, recipes
>>> BESVMClassifier(recipes.series("small")).measures[0].label
'pieces'
"""

from typing import Any

from besvm._support.parameters import check_choice
from besvm.basis import RandomBasis
from besvm.features import FHOG, CellColor, CellPCA, Pixels
from besvm.measures import Measure, as_measure, mirrored
from besvm.normalize import MeanNormScaler
from besvm.similarities import RBF, Deformable, Parts, Rigid, SeriesParts

IMAGES = {  # parts of each side, in pixels, and whole exemplars
    "small": ({6: 300}, 500),
    "medium": ({5: 300, 6: 600}, 1000),
    "large": ({5: 600, 6: 1200, 8: 400}, 1500),
}
CHANNELS = 12  # principal components of HOG's 31: as accurate, and less than half the work
PENALTY = 0.01  # of a displacement by a cell: worth a point of accuracy
SERIES = {"small": 500, "medium": 2000, "large": 5000}  # parts


def images(size: str = "medium") -> list[Measure]:
    """Return measures of small images: patches wherever they fit best, and whole images by HOG and color.

    Of everything the mirror image counts as well. Made for images of about 32 x 32 pixels, all of one size; make larger
    ones smaller first (``load_images(folder, size=(32, 32))``). What each size takes and reaches on CIFAR-10 is in
    docs/parts.md.

    Parameters
    ----------
    size : {"small", "medium", "large"}, default="medium"
        300 parts and 500 whole exemplars, 900 and 1,000, or 2,200 and 1,500; all training images are exemplars where
        there are fewer.

    Returns
    -------
    list of Measure
        What to pass to a classifier as ``measures``.

    Examples
    --------
    >>> from besvm import BESVMClassifier, recipes
    >>> clf = BESVMClassifier(recipes.images("small"), C=1.0)
    >>> [measure.label for measure in clf.measures][:2]
    ['P6|mirror', 'H8R|mirror']
    """
    from sklearn.pipeline import make_pipeline  # brings rich along, which importing besvm must not

    check_choice("size", size, tuple(IMAGES))
    parts, n_whole = IMAGES[size]
    measures = [
        Measure(
            Parts(side, mirror=True, pool=("max", "mean")),
            features=Pixels(),
            basis=RandomBasis(n, warn=False),
            name=f"P{side}|mirror",
        )
        for side, n in parts.items()
    ]
    edges = make_pipeline(FHOG(cell=4), CellPCA(CHANNELS), MeanNormScaler())
    colors = make_pipeline(CellColor(cell=4), MeanNormScaler())
    whole: list[Any] = [
        as_measure("H8R"),
        as_measure("H8(1,0)"),
        Measure(Deformable(rigid=2, local=0, rigid_penalty=PENALTY), features=edges, name="H4(2,0)"),
        Measure(Deformable(rigid=0, local=1), features=edges, name="H4(0,1)"),
        Measure(RBF(gamma=1.0), features=colors, name="color R"),
        Measure(Rigid(2), features=colors, name="color (2,0)"),
    ]
    return measures + [mirrored(measure).set_params(basis=RandomBasis(n_whole, warn=False)) for measure in whole]


def series(size: str = "medium") -> list[Measure]:
    """Return the measure of time series: pieces of nine time points, near together or far apart.

    Parameters
    ----------
    size : {"small", "medium", "large"}, default="medium"
        500, 2,000 or 5,000 parts.

    Returns
    -------
    list of Measure
        What to pass to a classifier as ``measures``.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import BESVMClassifier, recipes
    >>> X, y = np.random.default_rng(0).normal(size=(60, 100)), np.arange(60) % 2
    >>> X[1::2, 40:60] += 3 * np.sin(np.arange(20))
    >>> clf = BESVMClassifier(recipes.series("small"), random_state=0).fit(X[:40], y[:40])
    >>> bool(clf.score(X[40:], y[40:]) > 0.8)
    True
    """
    check_choice("size", size, tuple(SERIES))
    return [Measure(SeriesParts(9, pool="max"), basis=RandomBasis(SERIES[size], warn=False), name="pieces")]
