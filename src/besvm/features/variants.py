"""Variants of an image, for Latent to choose among: mirrored, shifted, rotated, cropped."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.parameters import is_whole, shown

MOST_PIXELS = 50  # which already make 10,201 images of one


def mirror(image: Any) -> list[np.ndarray]:
    """Return the image and its mirror image, left and right exchanged.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        One image.

    Returns
    -------
    list of two arrays
        The image itself, and its mirror image.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import mirror
    >>> mirror(np.array([[1, 2, 3]]))
    [array([[1, 2, 3]]), array([[3, 2, 1]])]
    """
    image = _as_image(image)
    return [image, image[:, ::-1]]


@dataclass(frozen=True)
class Shifts:
    """The image moved by up to ``pixels`` along either side, what moves in repeating the border.

    The unmoved image comes first, then the others row by row; ``moves`` says by how much each is moved, from
    which a penalty can be made.

    Parameters
    ----------
    pixels : int
        How far at most; up to 50.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import Shifts
    >>> Shifts(1).moves[:3]
    [(0, 0), (-1, -1), (-1, 0)]
    >>> variants = Shifts(1)(np.arange(9).reshape(3, 3))
    >>> len(variants), variants[1].tolist()  # up and to the left
    (9, [[4, 5, 5], [7, 8, 8], [7, 8, 8]])
    >>> penalty = [-0.1 * (dy**2 + dx**2) for dy, dx in Shifts(1).moves]
    """

    pixels: int

    def __post_init__(self) -> None:
        if not is_whole(self.pixels, 0):
            raise ValueError(f"pixels must be a whole number of pixels, 0 or more, got {shown(self.pixels)}")
        if self.pixels > MOST_PIXELS:
            raise ValueError(f"pixels must be at most {MOST_PIXELS}, got {shown(self.pixels)}")

    @property
    def moves(self) -> list[tuple[int, int]]:
        """(dy, dx) of every variant: how far its content is moved down and to the right."""
        self.__post_init__()  # which loading a model does not call
        along = range(-self.pixels, self.pixels + 1)
        return [(0, 0), *((dy, dx) for dy in along for dx in along if (dy, dx) != (0, 0))]

    def __call__(self, image: Any) -> list[np.ndarray]:
        """Return the (2·pixels + 1)² moved images, as views of one padded copy."""
        image = _as_image(image)
        moves, p, (h, w) = self.moves, self.pixels, image.shape[:2]
        padded = np.pad(image, [(p, p), (p, p), (0, 0)][: image.ndim], mode="edge")
        return [padded[p - dy : p - dy + h, p - dx : p - dx + w] for dy, dx in moves]


@dataclass(frozen=True)
class Rotations:
    """The image turned about its center, counter-clockwise, what turns in repeating the border.

    Pixels are interpolated linearly. The upright image comes first, whether or not 0 is among the ``degrees``.

    Parameters
    ----------
    degrees : tuple of float
        The angles.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import Rotations
    >>> upright, turned = Rotations((90,))(np.array([[1, 2], [3, 4]], dtype=np.uint8))
    >>> turned
    array([[2, 4],
           [1, 3]], dtype=uint8)
    """

    degrees: tuple[float, ...]

    def __post_init__(self) -> None:
        try:
            degrees = tuple(float(angle) for angle in self.degrees)
        except (TypeError, ValueError):
            degrees = (np.nan,)
        if not np.isfinite(degrees).all():
            raise ValueError(f"degrees must be a tuple of finite angles, such as (-10, 10), got {shown(self.degrees)}")
        object.__setattr__(self, "degrees", degrees)  # a list would leave the instance unhashable

    def __call__(self, image: Any) -> list[np.ndarray]:
        """Return the image, then one for each angle other than 0."""
        from scipy.ndimage import rotate

        image = _as_image(image)
        smooth = _as_float(image)
        turned = [
            rotate(smooth, angle, axes=(1, 0), reshape=False, order=1, mode="nearest")
            for angle in self.degrees
            if angle != 0
        ]
        return [image, *(_as_before(one, image) for one in turned)]


@dataclass(frozen=True)
class Crops:
    """The image seen from nearer: crops ``margin`` pixels smaller, enlarged to the size of the image.

    The whole image comes first, then the crops at the top left, top right, bottom left, bottom right and
    center. Pixels are interpolated linearly.

    Parameters
    ----------
    margin : int
        How many pixels smaller a crop is than the image.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import Crops
    >>> variants = Crops(2)(np.zeros((8, 6, 3), dtype=np.uint8))
    >>> len(variants), variants[-1].shape
    (6, (8, 6, 3))
    """

    margin: int

    def __post_init__(self) -> None:
        if not is_whole(self.margin, 1):
            raise ValueError(f"margin must be a whole number of pixels, 1 or more, got {shown(self.margin)}")

    def __call__(self, image: Any) -> list[np.ndarray]:
        """Return the image and its five crops."""
        from scipy.ndimage import zoom

        image = _as_image(image)
        m, (h, w) = self.margin, image.shape[:2]
        if m >= min(h, w):
            raise ValueError(f"margin must be smaller than the image, {h} x {w} pixels, got {shown(m)}")
        smooth = _as_float(image)
        factors = (h / (h - m), w / (w - m), 1)[: image.ndim]
        crops = [
            zoom(smooth[top : top + h - m, left : left + w - m], factors, order=1, mode="nearest", grid_mode=True)
            for top, left in [(0, 0), (0, m), (m, 0), (m, m), (m // 2, m // 2)]
        ]
        return [image, *(_as_before(one, image) for one in crops)]


def _as_image(image: Any) -> np.ndarray:
    image = np.asarray(image)
    if image.ndim not in (2, 3) or image.dtype.kind not in "biuf":
        raise ValueError(
            "an image must be an array of real numbers of shape (h, w) or (h, w, channels), got "
            f"{image.dtype} of shape {image.shape}"
        )
    return image


def _as_float(image: np.ndarray) -> np.ndarray:
    """Return the image in a type that SciPy interpolates and that holds all its values."""
    return image.astype(np.float32 if image.dtype.itemsize <= 2 or image.dtype == np.float32 else np.float64)


def _as_before(smooth: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return an interpolated image in the type of the original; linear interpolation never leaves its range."""
    return (smooth if image.dtype.kind == "f" else np.rint(smooth)).astype(image.dtype)
