"""`besvm predict`: the class of every sample, block after block, in memory that does not grow with their number."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import numpy as np

from besvm._support.progress import progress
from besvm._support.threads import workers
from besvm.commands.models import load_model, samples_for
from besvm.commands.outputs import check_new, output
from besvm.inputs import Data, Stream

Write = Callable[[list[str], Any, Any], None]  # names, predictions, probabilities or None


def predict(
    model: str,
    data: str,
    out: str | None = None,
    *,
    probabilities: bool = False,
    as_json: bool = False,
    skip_unreadable: bool = False,
    jobs: int | None = None,
    force: bool = False,
) -> int:
    """Write the class of every sample as CSV, or as JSON on lines; return how many there were."""
    target = None if out in (None, "-") else check_new(str(out), force, device=True)
    loaded = load_model(model)
    if probabilities and not hasattr(loaded, "predict_proba"):
        raise ValueError(
            f"{model!r} was trained without probabilities; remove --probabilities, or train it again with them"
        )
    samples = samples_for(loaded, model, data, skip=skip_unreadable)
    n = 0
    with output(target, force) as stream, workers(jobs):
        write = (_lines if as_json else _rows)(stream, loaded.classes_, probabilities)
        for block in judged(samples):
            if probabilities:
                shares = loaded.predict_proba(block.X)
                write(block.names, loaded.classes_[shares.argmax(axis=1)], shares)
            else:
                write(block.names, loaded.predict(block.X), None)
            n += len(block)
        if n == 0:  # so that no file is written
            raise ValueError(f"{samples.name} must have at least one sample, but it is empty")
        stream.flush()
    return n


def judged(samples: Stream) -> Iterator[Data]:
    """Yield the samples block after block, and show how far it is."""
    with progress(f"predicting {samples.name}", samples.total) as shown:
        for block in samples:
            yield block
            shown.advance(samples.done - shown.done)


def _rows(stream: TextIO, classes: np.ndarray, probabilities: bool) -> Write:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["sample", "prediction", *(f"p({name})" for name in (classes if probabilities else ()))])

    def write(names: list[str], predictions: Any, shares: Any) -> None:
        if shares is None:
            writer.writerows(zip(names, predictions, strict=True))
        else:
            rounded = np.round(shares, 6).tolist()
            writer.writerows([name, one, *own] for name, one, own in zip(names, predictions, rounded, strict=True))

    return write


def _lines(stream: TextIO, classes: np.ndarray, probabilities: bool) -> Write:
    called = [str(name) for name in classes]

    def write(names: list[str], predictions: Any, shares: Any) -> None:
        for place, (name, one) in enumerate(zip(names, predictions, strict=True)):
            line: dict[str, Any] = {"sample": name, "prediction": str(one)}
            if shares is not None:
                line["probabilities"] = dict(zip(called, np.round(shares[place], 6).tolist(), strict=True))
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
