"""Altered model files: never a crash, a hang, or a model that was altered and loads as if it were not.

Files of models of every kind are altered at random: bytes changed, cut or moved, as a bad disk would; and, as only a
stranger with a grudge would, descriptions or numbers changed and the checksum made to fit again. The first must all be
refused by a sentence. Of the others, those that load must predict, or say by an exception what is wrong.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import struct
import tempfile
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import besvm
from besvm import BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm.baselines import KernelSVMClassifier
from besvm.files import ModelFileError
from besvm.files.container import HEAD, LINE
from torture.outcome import Outcome

FILES, BATCH = 100_000, 2_500
LONGEST = 20.0  # seconds that loading and predicting a few samples may take before it counts as a hang
WAYS = ("bytes changed", "cut", "moved", "description, sealed", "numbers, sealed", "sizes, sealed")
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1,
        7,
        300,
        20_000,
        1 << 31,
        1 << 63,
        1e308,
        -0.5,
        "",
        "rbf",
        "../../x",
        [],
        {},
        [1, 2],
        {"$": "array", "n": 0},
    ),
    *(
        {"$": "tuple", "items": [1]},
        {"$": "object", "class": "besvm.Measure", "state": {}},
        {"$": "slice", "items": []},
        {"$": "float", "value": "nan"},
    ),
)
# what classes have for all of their objects: a file that gives one of them its own must be refused
FIXED = ("rule", "columns_each", "rows_per_block", "one_length", "at_least", "parallel", "vectors", "missing", "sparse")


def torture(quick: bool = False) -> Outcome:
    """Alter files by the batch, each batch in a process of its own, so that a crash is seen and counted."""
    n_batches, size = (1, 200) if quick else (FILES // BATCH, BATCH)
    counts = {way: dict.fromkeys(("files", "refused", "predicted", "said what is wrong"), 0) for way in WAYS}
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        names = _write_models(Path(folder))
        for batch in range(n_batches):
            found, wrong = _in_a_process(folder, names, batch, size)
            failures += wrong
            for way, outcome in found:
                counts[way]["files"] += 1
                counts[way][outcome] += 1
    return Outcome([{"way": way, **count} for way, count in counts.items()], failures)


def models() -> dict[str, tuple[Any, Any]]:
    """Return trained models of several kinds, and a few samples for each."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    vectors = rng.normal(size=(40, 5)) + y[:, None]
    images = (rng.random((40, 16, 16, 3)) * 80 + 40 * y[:, None, None, None]).astype(np.uint8)
    series = [rng.normal(size=20 + i % 5) + y[i] for i in range(40)]
    sets = [{int(k) for k in rng.choice(30, 6)} | {100 + int(y[i])} for i in range(40)]
    graphs = [([(k, k + 1) for k in range(4 + i % 5)], {k: int(y[i]) for k in range(6 + i % 5)}) for i in range(40)]
    proteins = ["".join(rng.choice(list("ACDE" if label else "GHIK"), 15)) for label in y]
    records = [{"age": float(20 + i % 7 + 9 * y[i]), "town": "ABC"[int(y[i])], "tall": i % 2 == 0} for i in range(40)]
    kinds: dict[str, tuple[Any, Any]] = {
        "vectors": (["rbf", "laplacian"], vectors),
        "images": (["H4R", "H4(1,1)", "P6"], images),
        "series": (["dtw", "msm", "twe", "series-parts"], series),
        "sets": ("jaccard", sets),
        "graphs": (["weisfeiler-lehman", "shortest-path"], graphs),
        "proteins": ("kmers", proteins),
        "bits": ("tanimoto", (vectors > 0).astype(np.uint8)),
        "histograms": (["histogram-intersection", "manhattan"], np.abs(vectors)),
        "sparse": (["jaccard", "linear"], sparse.csr_matrix(vectors > 0.5, dtype=np.float64)),
        "records": ("gower", records),
    }
    found: dict[str, tuple[Any, Any]] = {"linear": (LinearSVMClassifier().fit(vectors, y), vectors[:3])}
    for kind, (measures, X) in kinds.items():
        found[kind] = BESVMClassifier(measures, basis=6, C=1.0, random_state=0).fit(X, y), X[:3]
    found["nystrom"] = BESVMClassifier("rbf", basis=6, C=1.0, normalize=Nystrom()).fit(vectors, y), vectors[:3]
    found["kernel"] = KernelSVMClassifier("rbf").fit(vectors, y), vectors[:3]
    return found


def _write_models(folder: Path) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = models()
    for name, (model, _) in trained.items():
        besvm.save(model, folder / name)
    return list(trained)


def _in_a_process(folder: str, names: list[str], batch: int, size: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Run a batch; what a process that died was doing is read from what it told before."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_batch, args=(folder, names, batch, size, theirs))
    process.start()
    theirs.close()
    found: list[tuple[str, str]] = []
    doing = "nothing"
    while True:
        if not ours.poll(LONGEST if found else 10 * LONGEST):  # at first, it imports and trains
            process.kill()
            return found, [f"hung: {doing}"]
        try:
            told = ours.recv()
        except EOFError:
            break
        if isinstance(told, str):
            doing = told
        else:
            found.append(told)
    process.join()
    wrong = [f"process died ({process.exitcode}): {doing}"] if process.exitcode else []
    return [pair for pair in found if pair[1] != "loaded"], wrong + [
        f"loaded as if nothing had happened: {way}" for way, outcome in found if outcome == "loaded"
    ]


def _batch(folder: str, names: list[str], batch: int, size: int, pipe: Any) -> None:
    warnings.simplefilter("ignore")
    samples = {name: X for name, (_, X) in models().items()}
    path = Path(folder) / f"altered-{batch}"
    for number in range(size):
        rng = np.random.default_rng([batch, number])
        name = names[rng.integers(len(names))]
        way = WAYS[rng.integers(len(WAYS))]
        pipe.send(f"{way} of {name}, batch {batch}, number {number}")
        original = (Path(folder) / name).read_bytes()
        altered = _altered(original, way, rng)
        path.write_bytes(altered)
        pipe.send((way, _tried(path, samples[name], way, same=altered == original)))
    path.unlink()
    pipe.close()


def _tried(path: Path, X: Any, way: str, same: bool) -> str:
    try:
        model = besvm.load(path)
    except ModelFileError:
        return "refused"
    if not way.endswith("sealed") and not same:
        return "loaded"
    try:
        model.predict(X)
    except Exception:  # whatever it says, the process lives
        return "said what is wrong"
    return "predicted"


def _altered(file: bytes, way: str, rng: np.random.Generator) -> bytes:
    if way == "bytes changed":
        out = bytearray(file)
        for at in rng.integers(0, len(file), rng.integers(1, 9)):
            out[at] ^= 1 << rng.integers(8)
        return bytes(out)
    if way == "cut":
        return file[: rng.integers(0, len(file))]
    if way == "moved":
        a, b = sorted(rng.integers(0, len(file), 2))
        return file[:a] + file[b:] + file[a:b]
    front, text, data = _parts(file)
    if way == "numbers, sealed":
        out = bytearray(data)
        for at in rng.integers(0, max(1, len(data)), rng.integers(1, 9)):
            out[at : at + 8] = rng.bytes(8)[: len(out[at : at + 8])]
        return _sealed(front, text, bytes(out))
    description = json.loads(text)
    if way == "sizes, sealed":
        entry = description["arrays"][rng.integers(len(description["arrays"]))]
        key = ("shape", "at", "dtype", "order")[rng.integers(4)]
        wrong: dict[str, list[Any]] = {
            "shape": [[], [0], [1, 1], [1 << 40], [2, 3, 4], [-1], entry["shape"][::-1], entry["shape"][:1]],
            "at": [0, 64, 1, 1 << 50, -64],
            "dtype": ["<f8", "<f4", "|u1", "<i8", "<U4", "|O", "<f2", "<i4", "|b1"],
            "order": ["F", "C", "K"],
        }
        entry[key] = wrong[key][rng.integers(len(wrong[key]))]
    else:
        for _ in range(rng.integers(1, 4)):
            _change(description, rng)
    return _sealed(front, json.dumps(description).encode(), data)


def _change(node: Any, rng: np.random.Generator) -> None:
    """Change something somewhere in plain data: every place is as likely as any other, however deep it lies."""
    places = list(_places(node))
    holder, key = places[rng.integers(len(places))]
    odd = deepcopy(ODD[rng.integers(len(ODD))])
    if isinstance(holder, dict) and rng.random() < 0.1:
        del holder[key]
    elif key == "state" and isinstance(holder[key], dict):
        holder[key][FIXED[rng.integers(len(FIXED))]] = odd
    else:
        holder[key] = odd


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or dict of plain data with each of its places or keys."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])


def _parts(file: bytes) -> tuple[bytes, bytes, bytes]:
    (length,) = struct.unpack_from("<Q", file, 16)
    return file[: HEAD.size], file[HEAD.size : HEAD.size + length], file[HEAD.size + length :]


def _sealed(front: bytes, text: bytes, data: bytes) -> bytes:
    text = text.ljust(-(-len(text) // LINE) * LINE)
    magic, version, zero, *_ = HEAD.unpack(front)
    front = HEAD.pack(magic, version, zero, len(text), HEAD.size + len(text) + len(data), bytes(32))[:32]
    return front + hashlib.blake2b(front + text + data, digest_size=32).digest() + text + data
