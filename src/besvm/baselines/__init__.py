"""What the paper compares BE-SVM with: the kernel SVM on any similarity, kernels learnt together, jittered training."""

from besvm.baselines.kernel import KernelSVMClassifier

__all__ = ["KernelSVMClassifier"]
