"""Compiled SIMD code is tried before it is used: where it fails on this machine, something plainer stands in."""

import os
import warnings
from collections.abc import Callable

PLAIN = "BESVM_PLAIN_KERNELS"


def plain_asked() -> bool:
    """Return whether BESVM_PLAIN_KERNELS=1 asks for code without SIMD, in case that a trial itself should crash."""
    return bool(os.environ.get(PLAIN))


def works(what: str, check: Callable[[], bool], instead: str) -> bool:
    """Return whether ``check()`` gives the right numbers by SIMD code; if not, warn, and say what stands in for it."""
    try:
        right = check()
        reason = "they give wrong numbers"
    except Exception as error:  # numba, llvmlite and LLVM each have their own ways to fail
        right, reason = False, f"{type(error).__name__}: {error}"
    if not right:
        warnings.warn(
            f"the SIMD kernels of {what} do not work on this machine ({reason}); {instead}. "
            f"Set {PLAIN}=1 to use it without this warning",
            RuntimeWarning,
            stacklevel=3,
        )
    return right
