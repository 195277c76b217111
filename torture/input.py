"""Estimators x nasty parameters, X, y and weights: finite predictions, or one sentence that says what is wrong.

A case is drawn from a seed. It may fit and predict finite numbers, or raise a ValueError, TypeError or MemoryError that
says something of its own; another exception, a warning of NumPy's arithmetic, a message from the depths of a library or
more than half a minute is a failure.
"""

from __future__ import annotations

import datetime
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from decimal import Decimal
from fractions import Fraction
from multiprocessing import get_context
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Nystrom
from besvm._support.progress import progress
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.selection import GreedySelection
from torture.outcome import Outcome

Z = np.random.default_rng(0).normal(size=(40, 3))
T = (Z[:, 0] > 0).astype(int) + (Z[:, 1] > 0.5)
ESTIMATORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LinearSVMClassifier": (LinearSVMClassifier, {}),
    "BESVMClassifier": (BESVMClassifier, {"basis": 10, "random_state": 0}),
    "BasisExpansion": (BasisExpansion, {"basis": 10, "random_state": 0}),
    "MeanNormScaler": (MeanNormScaler, {}),
    "KernelSVMClassifier": (KernelSVMClassifier, {}),
    "DualBESVMClassifier": (DualBESVMClassifier, {}),
    "GreedySelection": (GreedySelection, {"candidates": ["linear", "rbf"], "basis": 10, "random_state": 0}),
}
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, -1, 1.0, 0.5, 1.5, 1e300, 1e-300, 10**400, -(10**400), 1j),
    *(float("nan"), float("inf"), -float("inf"), np.float32(2), np.int8(3), np.array(2.0), np.array([1, 2])),
    *(
        "",
        "a",
        "1",
        "auto",
        "l1",
        "rbf",
        "linear",
        "cosine",
        "1 GB",
        "1 kB",
        "balanced",
        "ovo",
        "disk",
        "\0",
        "é" * 300,
    ),
    *(
        b"1",
        [],
        [1],
        [0, 0],
        [None],
        ["rbf", "linear"],
        (),
        {},
        {0: 1.0},
        {0: -1},
        {"a": 2},
        {1},
        object(),
        object,
        len,
    ),
    *(Nystrom(), Decimal(1), Fraction(1, 2), pd.NA, np.datetime64("2020-01-01"), datetime.date(2020, 1, 1)),
]
LEAKS = (
    *("has no attribute", "unsupported operand", "not supported between", "object is not", "ufunc", "broadcast"),
    *("must not contain infs", "did not converge", "LAPACK", "illegal value", "numba", "index out of", "out of bounds"),
    *("positional argument", "ambiguous", "cannot be interpreted", "mismatch in its core"),
    *("must be real number", "must be str", "unhashable", "zero-size array", "invalid literal", "too large to convert"),
)
SECONDS = 30  # for a case


def with_value(value: Any) -> np.ndarray:
    """Return the samples, one number replaced."""
    bad = Z.copy()
    bad[5, 1] = value
    return bad


X_VALUES: dict[str, Any] = {
    "nan": with_value(np.nan),
    "inf": with_value(np.inf),
    "1e300": with_value(1e300),
    "all times 1e300": Z * 1e300,
    "all times 1e-300": Z * 1e-300,
    "float32 times 1e37": (Z * 1e37).astype(np.float32),
    "float32 times 1e-42": (Z * 1e-42).astype(np.float32),
    "float16 times 1e4": (Z * 1e4).astype(np.float16),
    "longdouble": Z.astype(np.longdouble),
    "offset 1e12": Z + 1e12,
    "uneven": Z * [1e-9, 1, 1e9],
    "constant": np.ones_like(Z),
    "zeros": np.zeros_like(Z),
    "a zero row": np.vstack([Z[:39], np.zeros(3)]),
    "equal rows": np.repeat(Z[:4], 10, axis=0),
    "no rows": Z[:0],
    "no columns": Z[:, :0],
    "one row": Z[:1],
    "two rows": Z[:2],
    "1-D": Z[:, 0],
    "3-D": Z.reshape(40, 3, 1),
    "4-D": Z.reshape(40, 1, 3, 1),
    "0-D": np.array(1.0),
    "a number": 3,
    "None": None,
    "text": "some text",
    "texts": ["a"] * 40,
    "bytes": b"some bytes",
    "a set": {1, 2, 3},
    "a dict": {"a": 1},
    "a range": range(40),
    "lists": Z.tolist(),
    "ragged lists": [[1.0] * (1 + i % 3) for i in range(40)],
    "Nones": [[None, 1.0, 2.0]] * 40,
    "decimals": [[Decimal("1.5"), Decimal(i), Decimal(2)] for i in range(40)],
    "huge ints": [[10**400, i, 2] for i in range(40)],
    "objects": Z.astype(object),
    "mixed objects": np.array([[1, "a", None]] * 40, dtype=object),
    "complex": Z * 1j,
    "bool": Z > 0,
    "int8": (Z * 40).astype(np.int8),
    "int64 at its end": np.where(Z > 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min),
    "dates": np.full((40, 3), np.datetime64("2020-01-01")),
    "masked": np.ma.masked_array(Z, Z > 1),
    "structured": np.zeros(40, dtype=[("a", float), ("b", int)]),
    "reversed view": Z[::-1, ::-1],
    "read-only": np.lib.stride_tricks.as_strided(Z, writeable=False),
    "big-endian": Z.astype(">f8"),
    "CSR": sp.csr_matrix(Z * (Z > 0)),
    "CSC": sp.csc_matrix(Z),
    "COO": sp.coo_matrix(Z),
    "empty CSR": sp.csr_matrix((40, 3)),
    "CSR with nan": sp.csr_matrix(with_value(np.nan)),
    "CSR of ints": sp.csr_matrix((Z * 9).astype(int)),
    "DataFrame": pd.DataFrame(Z, columns=list("abc")),
    "mixed DataFrame": pd.DataFrame({"a": Z[:, 0], "b": ["x"] * 40}),
    "DataFrame with NA": pd.DataFrame({"a": pd.array([1, None] * 20, dtype="Int64"), "b": 1.0}),
    "categories": pd.DataFrame({"a": pd.Categorical(["x", "y"] * 20)}),
    "Series": pd.Series(Z[:, 0]),
}
Y_VALUES: dict[str, Any] = {
    "nan": np.where(np.arange(40) == 3, np.nan, T),
    "a None": [None, *T[1:]],
    "pd.NA": pd.array([None, *T[1:]], dtype="Int64"),
    "texts": np.array(["a", "b", "c"])[T],
    "a missing text": pd.Series(["a", None] * 20),
    "bytes": np.array([b"a", b"b", b"c"])[T],
    "mixed": ["a", 1] * 20,
    "bool": T > 0,
    "whole floats": T.astype(float),
    "continuous": Z[:, 0],
    "a column": T[:, None],
    "two columns": np.column_stack([T, T]),
    "complex": T * 1j,
    "one class": np.zeros(40),
    "short": T[:30],
    "long": np.append(T, 1),
    "None": None,
    "a number": 1,
    "text": "ab" * 20,
    "a set": set(range(40)),
    "a dict": dict.fromkeys(range(40), 1),
    "dates": np.array(["2020-01-01", "2021-01-01"] * 20, dtype="datetime64[D]"),
    "lists": [[1], [2]] * 20,
    "categories": pd.Categorical(["a", "b"] * 20),
    "int64 at its end": np.where(T > 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min),
    "uint8": T.astype(np.uint8),
    "inf": np.where(T > 0, np.inf, 0),
    "none": [],
    "every row a class": np.arange(40),
    "classes of one row": np.r_[7, 8, T[2:]],
    "sparse": sp.csr_matrix(T),
}
WEIGHTS: dict[str, Any] = {
    "nan": np.full(40, np.nan),
    "inf": np.full(40, np.inf),
    "an inf": np.r_[np.inf, np.ones(39)],
    "negative": -np.ones(40),
    "zeros": np.zeros(40),
    "one class weighs nothing": (T > 0).astype(float),
    "one row weighs": np.eye(40)[0],
    "1e300": np.full(40, 1e300),
    "1e-300": np.full(40, 1e-300),
    "uneven": np.geomspace(1e-12, 1e12, 40),
    "short": np.ones(30),
    "2-D": np.ones((40, 1)),
    "texts": ["a"] * 40,
    "a number": 2.0,
    "None inside": [None] * 40,
    "complex": np.full(40, 1j),
    "bool": np.ones(40, dtype=bool),
}


class Case(NamedTuple):
    """What is fitted on what; ``said`` describes it."""

    said: str
    estimator: Any
    X: Any
    y: Any
    options: dict[str, Any]
    bad_at_predict: Any  # X to predict, if not the X to fit


def draw(seed: int) -> Case:
    """Draw a case: one nasty thing as a rule, now and then two."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(ESTIMATORS)))
    cls, params = ESTIMATORS[name]
    params, said, X, y, options, at_predict = dict(params), [], Z, T, {}, None
    for what in rng.choice(["parameter", "parameter", "X", "predict", "y", "weights"], rng.choice([1, 1, 2]), False):
        if what == "parameter":
            names = sorted(cls(**params).get_params(deep=False))
            params |= {str(key): VALUES[rng.integers(len(VALUES))] for key in rng.permutation(names)[:1]}
        elif what in ("X", "predict"):
            key = str(rng.choice(list(X_VALUES)))
            said.append(f"{'X' if what == 'X' else 'X to predict'}: {key}")
            X, at_predict = (X_VALUES[key], at_predict) if what == "X" else (X, X_VALUES[key])
        elif what == "y":
            key = str(rng.choice(list(Y_VALUES)))
            said.append(f"y: {key}")
            y = Y_VALUES[key]
        elif name not in ("MeanNormScaler", "GreedySelection"):
            key = str(rng.choice(list(WEIGHTS)))
            said.append(f"sample_weight: {key}")
            options = {"sample_weight": WEIGHTS[key]}
    shown = ", ".join(f"{key}={str(value)[:40]!r} ({type(value).__name__})" for key, value in params.items())
    return Case("; ".join([f"{name}({shown})", *said]), cls(**params), X, y, options, at_predict)


def outcome_of(case: Case) -> tuple[str, str]:
    """Return how a case ended ("fitted", "refused" or "failed"), and what was said."""
    try:
        with quiet():
            fitted = case.estimator.fit(case.X, case.y, **case.options)
            X = case.X if case.bad_at_predict is None else case.bad_at_predict
            for method in ("predict", "decision_function", "predict_proba", "transform"):
                if hasattr(fitted, method) and not _finite(getattr(fitted, method)(X)):
                    return "failed", f"{method} is not finite"
        return "fitted", ""
    except (ValueError, TypeError, MemoryError) as error:
        said = " ".join(str(error).split())
        leak = next((words for words in LEAKS if words in said), None)
        return ("failed" if leak or len(said) < 10 else "refused"), f"{type(error).__name__}: {said}"
    except Exception as error:
        how = "refused" if "similarity function failed on" in str(error) else "failed"  # a user's own mistake is named
        return how, f"{type(error).__name__}: {' '.join(str(error).split())}"


def _finite(values: Any) -> bool:
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


@contextmanager
def quiet() -> Iterator[None]:
    """No output; warnings of NumPy's arithmetic are errors, all others are as they should be."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        yield


class Worker:
    """Tries cases in a process of its own, which is replaced where a case hangs or crashes it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()  # everything is imported

    def __call__(self, seed: int) -> tuple[str, str]:
        """Return how the case of that seed ended, and what was said."""
        self.pipe.send(seed)
        try:
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
            said = f"it took more than {SECONDS} s"
        except EOFError:
            said = "the process crashed"
        self.close()
        self._start()
        return "failed", said

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def serve(pipe: Connection) -> None:
    """Try the cases whose seeds come in, until nobody sends any more."""
    pipe.send("ready")
    with suppress(EOFError):
        while True:
            pipe.send(outcome_of(draw(pipe.recv())))


def torture(quick: bool = False) -> Outcome:
    """Try 4,000 cases, 80 if quick; the first failure of a kind is told."""
    n, counts, failures = 80 if quick else 4000, Counter[tuple[str, str]](), {}
    with TemporaryDirectory() as folder, chdir(folder), closing(Worker()) as worker, progress("input", n, 1) as shown:
        for seed in range(n):
            told = draw(seed).said
            name, (how, said) = told.split("(")[0], worker(seed)
            counts[name, how] += 1
            if how == "failed":
                failures.setdefault((name, said[:40]), f"torture.input.draw({seed}), {told}: {said[:300]}")
            shown.advance(1)
    hows = ("fitted", "refused", "failed")
    rows = [{"estimator": name, **{how: counts[name, how] for how in hows}} for name in ESTIMATORS]
    return Outcome(rows, list(failures.values()))
