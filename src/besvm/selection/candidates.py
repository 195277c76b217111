"""The features of every candidate: computed once, and found again by a later run that would compute the same."""

from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from besvm._support.progress import Progress, progress, say
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices
from besvm.blocks.stores import JoinedBlocks, Part
from besvm.expand import Expander, learn_feature_map
from besvm.normalize import Normalization
from besvm.selection.fingerprint import UnknownSourceError, besvm_sources, fingerprint
from besvm.selection.split import Split
from besvm.selection.store import FeatureStore, ScoreBook, file_name
from besvm.similarities.lookup import resolve

ROOMS = ("_support", "blocks", "similarities", "features", "normalize", "basis", "expand", "measures.py")


class Keys(NamedTuple):
    """What the candidates' features are called, and whether a later run finds them by that."""

    names: list[str]
    lasting: list[bool]
    scores: ScoreBook


def find_keys(
    split: Split,
    expander: Expander,
    names: list[str],
    normalization: Normalization,
    training: tuple[float, ...],
    folder: Path | None,
    verbose: int,
) -> Keys:
    """Name every candidate's features by all that they depend on, and open the scores that an earlier run left.

    ``training`` are the parameters that the scores depend on as well. Where it cannot be known whether something is
    what it was, nothing is found.
    """
    if folder is None:
        return Keys(names, [False] * len(names), ScoreBook(None))
    try:
        rows = fingerprint(besvm_sources(*ROOMS), split.X, split.classes[split.labels], split.X_val, normalization)
        problem = fingerprint(rows, besvm_sources("solver"), split.val_labels, training)
    except UnknownSourceError as reason:
        say(verbose, f"everything is computed anew in every run, since of X or normalize {reason}")
        return Keys(names, [False] * len(names), ScoreBook(None))
    keys, lasting = [], []
    for name, measure, fitted in zip(names, split.measures, expander.measures, strict=True):
        exemplars = fitted.exemplars if fitted.rows is None else fitted.rows
        try:
            recipe = fingerprint(rows, resolve(measure.similarity), measure.features, exemplars, str(expander.dtype))
            lasting.append(True)
        except UnknownSourceError as reason:
            say(verbose, f"{name} is computed anew in every run: {reason}")
            recipe = uuid4().hex
            lasting.append(False)
        keys.append(file_name(name, recipe))
    return Keys(keys, lasting, ScoreBook(folder / f"{file_name('scores', problem)}.json"))


def compute_features(
    split: Split,
    expander: Expander,
    keys: Keys,
    normalization: Normalization,
    lasting: FeatureStore,
    passing: FeatureStore,
    verbose: int,
) -> list[Part]:
    """Return every candidate's normalized similarities: those of the training rows, then of the rows held out."""
    parts = []
    with progress("similarities", split.n_all * len(keys.names), verbose) as shown:
        for place, (key, lasts, measure) in enumerate(zip(keys.names, keys.lasting, expander.measures, strict=True)):
            source = Expander(expander.transformers, [measure], expander.dtype)
            shown.note(f"similarities of {measure.label}")

            def fill(part: Part, source: Expander = source) -> None:
                _fill(part, split, source, normalization, shown)

            store = lasting if lasts else passing
            parts.append(store.get(key, (split.n_all, source.width), source.dtype, fill))
            shown.advance(split.n_all * (place + 1) - shown.done)  # what was found, counts as done
    return parts


def _fill(part: Part, split: Split, source: Expander, normalization: Normalization, shown: Progress) -> None:
    first = 0
    for X in (split.X, split.X_val):
        for rows in slices(n_rows(X), source.rows_per_block):
            part[slice(first + rows.start, first + rows.stop)] = source(span(X, rows), rows.start)
            shown.advance(rows.stop - rows.start)
        first += n_rows(X)
    learned = learn_feature_map(source, JoinedBlocks([part], split.train), normalization, split.X, split.labels)
    learned.normalizer.apply(JoinedBlocks([part], split.held_out))
