"""What BE-SVM is compared with, and its own exact dual."""

from besvm.baselines.dual import DualBESVMClassifier

__all__ = ["DualBESVMClassifier"]
