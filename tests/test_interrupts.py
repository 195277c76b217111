"""Ctrl-C in the middle of a fit."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from variants import first_fast

INTERRUPTED = """
    import os, sys, tempfile
    import numpy as np
    from sklearn.utils.validation import check_is_fitted
    from sklearn.exceptions import NotFittedError
    from besvm import BESVMClassifier
    from besvm.blocks import npy

    def slow(b, x):
        import time
        time.sleep(0.001)
        return float(b @ x)

    tempfile.tempdir = sys.argv[1]
    X = np.random.default_rng(0).normal(size=(5000, 3))
    clf = BESVMClassifier(slow if sys.argv[2] == "similarity" else "rbf", basis=200, storage="disk", n_jobs=1,
                          tol=1e-3 if sys.argv[2] == "similarity" else 1e-300, max_iter=10**9)
    if sys.argv[2] == "solver":  # never converges, and never stops by itself
        # all is compiled beforehand: numba answers an interrupt of its compiler with errors of its own
        BESVMClassifier("rbf", basis=200, C=1.0, storage="disk", n_jobs=1).fit(X, np.arange(5000) % 2)
        from besvm.solver.newton import _Newton
        _Newton.step = (lambda step: lambda self: step(self) | True)(_Newton.step)
    print("fitting", os.listdir(sys.argv[1]), flush=True)
    make = npy.TemporaryFile
    def made(**options):
        files.append(make(**options))
        print("on disk", flush=True)
        return files[-1]
    files, npy.TemporaryFile = [], made
    try:
        clf.fit(X, np.arange(5000) % 2)
    except KeyboardInterrupt:
        assert vars(clf).keys() == clf.get_params(deep=False).keys(), "a half-fitted estimator"
        print("interrupted", os.listdir(sys.argv[1]), [file.closed for file in files])
"""


@pytest.mark.parametrize("where", first_fast(["solver", "similarity"]))
def test_ctrl_c_leaves_no_files_and_no_half_fitted_estimator(where, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(tmp_path), where],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background shell ignores it
    )
    assert process.stdout.readline() == "fitting []\n"
    assert process.stdout.readline() == "on disk\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted [] [True]\n"
