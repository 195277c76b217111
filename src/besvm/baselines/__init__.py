"""What the paper compares BE-SVM with, on any similarity: kernel SVM, mixed kernels, jittered training; its dual."""

from besvm.baselines.dual import DualBESVMClassifier
from besvm.baselines.jitter import JitteredClassifier
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.baselines.mkl import LineSearchMKL

__all__ = ["DualBESVMClassifier", "JitteredClassifier", "KernelSVMClassifier", "LineSearchMKL"]
