"""What the paper compares BE-SVM with: the kernel SVM on any similarity, kernels learnt together, jittered training."""

from besvm.baselines.jitter import JitteredClassifier
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.baselines.mkl import LineSearchMKL

__all__ = ["JitteredClassifier", "KernelSVMClassifier", "LineSearchMKL"]
