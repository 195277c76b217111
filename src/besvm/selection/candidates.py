"""The features of every candidate: computed once, and found again by a later run that would compute the same."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from besvm._support.progress import Progress, progress, say
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices
from besvm.blocks.stores import JoinedBlocks, Part
from besvm.expand import Expander, learn_feature_map
from besvm.expand.fingerprint import UnknownSourceError, besvm_sources, fingerprint
from besvm.normalize import Normalization
from besvm.selection.split import Split
from besvm.selection.store import ScoreBook, file_name, stored
from besvm.similarities.lookup import resolve

ROOMS = ("_support", "blocks", "similarities", "features", "normalize", "basis", "expand", "measures.py")


class Keys(NamedTuple):
    """What the candidates' features are called, and whether a later run finds them by that."""

    names: list[str]
    lasting: list[bool]
    scores: ScoreBook


@dataclass(frozen=True)
class Candidates:
    """The candidates, fitted on the rows to train on."""

    split: Split
    names: list[str]
    expander: Expander
    normalization: Normalization
    verbose: int

    def keys(self, training: tuple[float, ...], folder: Path | None) -> Keys:
        """Name every candidate's features by all that they depend on, and open the scores that an earlier run left.

        ``training`` are the parameters that the scores depend on as well. Where it cannot be known whether something is
        what it was, nothing is found.
        """
        split, dtype = self.split, str(self.expander.dtype)
        nothing_lasts = Keys(self.names, [False] * len(self.names), ScoreBook(None))
        if folder is None:
            return nothing_lasts
        try:
            data = split.X, split.classes[split.labels], split.X_val
            rows = fingerprint(besvm_sources(*ROOMS), *data, self.normalization)
            problem = fingerprint(rows, besvm_sources("solver"), split.val_labels, training)
        except UnknownSourceError as reason:
            say(
                self.verbose,
                f"nothing can be reused from earlier runs, because X or normalize cannot be recognized: {reason}",
            )
            return nothing_lasts
        keys, lasting = [], []
        for name, measure, fitted in zip(self.names, split.measures, self.expander.measures, strict=True):
            exemplars = fitted.exemplars if fitted.rows is None or fitted.at is not None else fitted.rows
            try:
                recipe = fingerprint(rows, resolve(measure.similarity), measure.transformer, exemplars, dtype)
                lasting.append(True)
            except UnknownSourceError as reason:
                say(self.verbose, f"{name} cannot be reused from earlier runs: {reason}")
                recipe = uuid4().hex
                lasting.append(False)
            keys.append(file_name(name, recipe))
        return Keys(keys, lasting, ScoreBook(folder / f"{file_name('scores', problem)}.json"))

    def features(self, keys: Keys, folder: Path | None, scratch: Path | None) -> list[Part]:
        """Return every candidate's normalized similarities: those of the training rows, then of the rows held out.

        What a later run finds is kept in ``folder``, the rest takes space in ``scratch``; without that, in memory.
        """
        parts, n = [], self.split.n_all
        with progress("similarities", n * len(self.names), self.verbose) as shown:
            for place, (key, lasts) in enumerate(zip(keys.names, keys.lasting, strict=True)):
                measure = self.expander.measures[place]
                source = Expander(self.expander.transformers, [measure], self.expander.dtype, self.expander.row_bytes)
                shown.note(f"similarities of {measure.label}")
                path = folder / f"{key}.npy" if folder is not None and lasts else None
                fill = partial(self._fill, source, shown)
                parts.append(stored(path, scratch, (n, source.width), source.dtype, fill))
                shown.advance(n * (place + 1) - shown.done)  # what was found, counts as done
        return parts

    def _fill(self, source: Expander, shown: Progress, part: Part) -> None:
        split, first = self.split, 0
        for X in (split.X, split.X_val):
            for rows in slices(n_rows(X), source.rows_each(X)):
                part[slice(first + rows.start, first + rows.stop)] = source(span(X, rows), rows.start)
                shown.advance(rows.stop - rows.start)
            first += n_rows(X)
        train = JoinedBlocks([part], split.train)
        learned = learn_feature_map(source, train, self.normalization, split.X, split.labels)
        learned.normalizer.apply(JoinedBlocks([part], split.held_out))
