"""Data to try things on: CIFAR-10, folders of images, and small problems made here."""

from besvm._support.public import publish
from besvm.datasets.cifar10 import Cifar10, fetch_cifar10, load_cifar10
from besvm.datasets.images import load_images
from besvm.datasets.toy import make_digit_images, make_toy

__all__ = ["Cifar10", "fetch_cifar10", "load_cifar10", "load_images", "make_digit_images", "make_toy"]

publish(__name__, __all__)
