"""What the paper compares BE-SVM with, on any similarity: kernel SVM, mixed kernels, jittered training; its dual."""

from besvm._support.public import public, publish
from besvm.baselines.dual import DualBESVMClassifier
from besvm.baselines.gram import Gram, Items, Term
from besvm.baselines.jitter import JitteredClassifier
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.baselines.mkl import LineSearchMKL
from besvm.baselines.pairs import PairSolver, Votes

__all__ = ["DualBESVMClassifier", "JitteredClassifier", "KernelSVMClassifier", "LineSearchMKL"]

publish(__name__, __all__)
for _held in (Gram, Items, Term, PairSolver, Votes):  # what models hold is named by this room, too
    public(__name__)(_held)
