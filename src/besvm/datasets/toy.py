"""Small problems made here: a toy in the plane, and digits moved in a larger frame."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from besvm._support.parameters import shown


def make_toy(
    n_samples: int = 200, noise: float = 0.0, random_state: Any = None, imbalance: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Make a two-class problem in the plane that no straight line solves: two spirals, one inside the other.

    It stands in for the toy problem of the paper's 2-D demonstration, whose points the paper does not list:
    it needs a curved boundary, suits the paper's levels of noise, and can be made imbalanced. The same
    ``random_state`` gives the same points at every level of noise, moved by more or less in the same
    directions, so that levels can be compared.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points in both classes together.
    noise : float, default=0.0
        The standard deviation of the Gaussian noise added to both coordinates (the paper: 0.01 to 0.2).
    random_state : int, RandomState or None, default=None
        Where the random numbers come from.
    imbalance : float, default=1.0
        How many points class 0 has for each one of class 1.

    Returns
    -------
    X : array of shape (n_samples, 2), float64
        The points, in random order; without noise inside [-1, 1] x [-1, 1].
    y : array of shape (n_samples,), int64
        Their classes, 0 and 1.

    Examples
    --------
    >>> from besvm.datasets import make_toy
    >>> X, y = make_toy(100, noise=0.02, imbalance=3, random_state=0)
    >>> X.shape, (y == 0).sum(), (y == 1).sum()
    ((100, 2), np.int64(75), np.int64(25))
    """
    if noise < 0:
        raise ValueError(f"noise must be at least 0, got {shown(noise)}")
    if imbalance <= 0:
        raise ValueError(f"imbalance must be above 0, got {shown(imbalance)}")
    n_ones = round(n_samples / (1 + imbalance))
    if not 0 < n_ones < n_samples:
        raise ValueError(
            f"both classes must have at least one point, but one is empty with n_samples={n_samples} and "
            f"imbalance={imbalance}; use more samples or less imbalance"
        )
    random = check_random_state(random_state)
    y = random.permutation((np.arange(n_samples) < n_ones).astype(np.int64))
    along = np.sqrt(random.uniform(size=n_samples))  # the root spreads points evenly along a spiral
    angle = 2.5 * np.pi * along + np.pi * y
    radius = 0.2 + 0.8 * along  # leaves 0.32 between the spirals; the noise of the paper goes up to 0.2
    spirals = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return spirals + noise * random.standard_normal((n_samples, 2)), y


def make_digit_images(n_samples: int = 1800, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Draw small color images of ten classes, offline: scikit-learn's handwritten digits, displaced on noise.

    They have the shape of CIFAR-10's images, for trying out what is meant for those.

    Parameters
    ----------
    n_samples : int, default=1800
        A digit may be drawn more than once if there are more samples than the 1,797 digits.
    random_state : int, RandomState or None, default=None
        Controls the drawing. Pass an int for reproducible images.

    Returns
    -------
    images : array of shape (n_samples, 32, 32, 3), uint8
        The images, in RGB.
    labels : array of shape (n_samples,), int64
        Their digits.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.datasets import make_digit_images
    >>> images, labels = make_digit_images(20, random_state=0)
    >>> images.shape, np.bincount(labels, minlength=10)
    ((20, 32, 32, 3), array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2]))
    """
    from sklearn.datasets import load_digits

    digits, classes = load_digits(return_X_y=True)
    random = check_random_state(random_state)
    labels = random.permutation(np.arange(n_samples) % 10)
    images = np.empty((n_samples, 32, 32, 3), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        digit = digits[random.choice(np.flatnonzero(classes == label))].reshape(8, 8) / 16
        top, left = random.randint(0, 9, size=2)
        strength = np.zeros((32, 32))
        strength[top : top + 24, left : left + 24] = np.kron(digit, np.ones((3, 3)))
        ink, ground = random.uniform(120, 255, size=3), random.uniform(0, 90, size=3)
        drawn = ground + strength[..., None] * (ink - ground) + random.normal(scale=12, size=(32, 32, 3))
        image[:] = np.clip(drawn, 0, 255)
    return images, labels
