"""The peak memory of code that runs in a process of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read from /proc")


def peak_of(code: str, *args: str) -> int:
    """Return by how many bytes the code raised the peak memory of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PEAK + code), *args], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


PEAK = """
    import re, sys
    import numpy as np
    from besvm import BESVMClassifier
    from besvm.baselines import KernelSVMClassifier
    from besvm.similarities import RBF
    def peak():  # getrusage would count what the parent process had when it forked
        return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    rng = np.random.default_rng(0)
"""
