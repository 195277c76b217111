"""BESVMClassifier: the parts put together, no mathematics."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import atomic_fit, check_choice, make_rng
from besvm._support.progress import say
from besvm._support.public import public
from besvm._support.row_source import is_dask
from besvm._support.rows import n_rows
from besvm._support.threads import one_blas_thread, workers
from besvm._support.validation import check_vectors
from besvm.blocks import RowBlocks
from besvm.blocks.checkpoint import Checkpoint
from besvm.blocks.client import client_for
from besvm.blocks.cluster import check_cluster, plan_on
from besvm.blocks.fill import by_blocks, filled
from besvm.blocks.fill_cluster import filled_on
from besvm.blocks.half import HALF
from besvm.blocks.plan import plan_training
from besvm.blocks.state import Values
from besvm.expand import Expander, FeatureMap, fit_expander, learn_feature_map, mark_input, targets_of
from besvm.expand.resume import Resumable
from besvm.linear import MarginClassifier, check_c
from besvm.measures import TunableMeasures, as_measures, compares_vectors
from besvm.normalize import Normalization, as_normalization
from besvm.solver.one_vs_one import largest_pair
from besvm.solver.one_vs_rest import n_columns
from besvm.solver.training import SOLVERS, LinearModel

MULTI_CLASS = ("ovr", "ovo", "ovo-pair-basis")
STORAGE_DTYPES = (None, "float16")


@public("besvm")
class BESVMClassifier(TunableMeasures, TransformerMixin, MarginClassifier):  # type: ignore[misc]
    """The Basis Expanding SVM: a large-margin classifier on similarities to a basis, whatever the similarity.

    Every sample is compared with the exemplars by one or several measures (equation 3 of the paper). The similarities
    of each measure are centered and divided by their mean norm (equation 4), and put side by side. A linear SVM with
    squared hinge loss is trained on them, one-vs-rest (equation 6). The similarity need not be positive definite, nor
    even symmetric, and X may be anything that it can compare.

    Parameters
    ----------
    measures : str, Similarity, callable, Measure, a list of these, or of (name, measure) pairs, default="rbf"
        Pairs can be tuned by name: ``measures__shape__similarity__gamma``.
    basis : default="auto"
        Which rows become exemplars, as in :class:`BasisExpansion`; shared by all measures that have none of their own.
    normalize : {"mean-norm", "z-score", None} or Normalization, default="mean-norm"
        As in :class:`BasisExpansion`: ``Nystrom(...)``, or ``MeanNorm(balanced=True)`` for an uneven basis.
    C : float or "auto", default="auto"
        Weight of the loss against the norm. "auto" picks it among powers of ten by the log loss on held-out rows, which
        takes about as long as a second fit; ``C_`` is what was picked, ``C_path_`` what was tried. The paper uses 1.
    penalty : {"l2", "l1"}, default="l2"
        With "l1" most weights are zero, and the exemplars that no class uses are dropped from the model (not with
        ``Nystrom``, whose features are mixtures of all exemplars).
    multi_class : {"ovr", "ovo", "ovo-pair-basis"}, default="ovr"
        One problem for every class against the rest, or one for every pair of classes, on the rows of the two: with all
        exemplars ("ovo"), or only those of the two classes ("ovo-pair-basis"). One-vs-rest is as a rule faster and
        better.
    fit_intercept : bool, default=True
        Whether to fit an intercept for every class.
    penalize_intercept : bool, default=False
        Whether the intercept counts in the norm, as in :class:`LinearSVMClassifier`.
    class_weight : dict, "balanced" or None, default=None
        The weight of each class, as in :class:`LinearSVMClassifier`.
    tol : float, default=1e-3
        How far the objective may be above its minimum, relative to the objective.
    max_iter : int, default=500
        The largest number of Newton steps.
    probability : bool, default=True
        Whether to calibrate probabilities on held-out rows while fitting.
    storage : {"auto", "memory", "disk", "recompute"}, default="auto"
        Where the n x B features are kept during training. "auto" takes memory if they fit ``memory_limit``, then
        disk, and otherwise computes them again on every pass.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free.
    storage_dtype : {None, "float16"}, default=None
        "float16" keeps the features in half precision, wherever they are: half the space and half of what a pass
        reads, for a loss of accuracy that docs/scale.md measures. None keeps them as they are computed.
    checkpoint : path, optional
        A folder that keeps what is finished, so that the same call can resume after it was killed: the blocks of
        similarities, and the state of the solver. They are found by a hash of the data, of the parameters that matter
        to the result, and of the source files of the measures; a folder of others is refused. Damaged files are
        computed again.
    client : distributed.Client or str, optional
        A Dask cluster, or its address: its workers compute and hold the features, and train. By default Dask arrays,
        DataFrames and bags are trained on by the current client, all else by this process. The model is the same.
    n_jobs : int, optional
        Threads (processes, for a Python function); by default all that BLAS may use. A Similarity of your own is called
        by several threads if its flag ``parallel`` is set, otherwise by one.
    random_state : int, RandomState or None, default=None
        Controls the random choice of exemplars. Pass an int for reproducible results.
    verbose : int, default=0
        0: a progress bar, in a terminal only. 1: messages as well, also outside a terminal.

    Attributes
    ----------
    basis_rows_ : list of ndarray or None
        For every measure, the training rows that are its exemplars (and that an "l1" penalty has left).
    basis_parts_ : list of Pieces or None
        For every measure whose exemplars are parts of training rows: the pieces, their rows (``samples``) and where in
        these they begin (``places``). None for whole exemplars.
    basis_labels_ : list of ndarray or None
        For every measure, the classes of its exemplars; None if they were given outright.
    n_basis_ : int
        The number of different exemplars.
    pairs_ : list of (int, int)
        Of a one-vs-one model with more than two classes: for every row of ``coef_``, the numbers (a, b) of its classes;
        its margin is positive for class b.
    coef_, intercept_, classes_, C_, C_path_, converged_, gap_, objective_, n_iter_, n_passes_
        As in :class:`LinearSVMClassifier`.
    storage_ : str
        Where the features were kept.
    n_rows_ : int
        How many rows it was trained on.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> words = ["cat", "cart", "carts", "dog", "dogs", "dig"]
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b))
    >>> clf = BESVMClassifier(shared_letters, basis=4, random_state=0)
    >>> clf.fit(words, ["c", "c", "c", "d", "d", "d"]).predict(["cats", "digs"])
    array(['c', 'd'], dtype='<U1')
    """

    def __init__(
        self,
        measures: Any = "rbf",
        *,
        basis: Any = "auto",
        normalize: Any = "mean-norm",
        C: float | str = "auto",
        penalty: str = "l2",
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        probability: bool = True,
        storage: str = "auto",
        memory_limit: int | float | str | None = None,
        storage_dtype: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        client: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measures = measures
        self.basis = basis
        self.normalize = normalize
        self.C = C
        self.penalty = penalty
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.probability = probability
        self.storage = storage
        self.memory_limit = memory_limit
        self.storage_dtype = storage_dtype
        self.checkpoint = checkpoint
        self.client = client
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the basis, compute the similarities and train.

        Parameters
        ----------
        X : anything with a length and slices that the measures can compare
            An array on disk (np.memmap, h5py, zarr) or a source (:mod:`besvm.sources`) is read a block at a time.
            A function of two items gets the rows of a DataFrame as named tuples (``row.age``, ``row[0]``), those of a
            DataFrame with one column of texts as these texts, and those of a sparse matrix as dense arrays.
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every row weighs in the loss and in the normalization.
        """
        check_choice("penalty", self.penalty, tuple(SOLVERS))
        check_multi_class(self.multi_class, as_normalization(self.normalize))
        check_c(self.C)  # before anything is computed
        check_choice("storage_dtype", self.storage_dtype, STORAGE_DTYPES)
        measures = as_measures(self.measures)
        vectors = compares_vectors(measures)
        with workers(self.n_jobs), client_for(self.client, X) as client:
            X = check_vectors(self, X, vectors, by_blocks=True)
            classes, labels, weights, y, has_rows = targets_of(X, y, self.class_weight, sample_weight, client)
            resumable = None if self.checkpoint is None else Resumable(self, X, classes, labels, weights)
            rng = make_rng(self.random_state) if resumable is None else resumable.rng(self.random_state)
            expander = fit_expander(X, y, measures, self.basis, rng, weights, self.memory_limit)
            del y  # of which the numbers are enough
            checkpoint = None if resumable is None else resumable.of(expander)
            more = {"client": client, "storage_dtype": self.storage_dtype, "checkpoint": checkpoint}
            expanded = self._expanded(expander, X, classes, labels, weights, **more)
            with expanded as (feature_map, blocks, options):
                model = self._train(blocks, classes, labels, weights, checkpoint=checkpoint, **options)
            self._remember(feature_map, model, classes, has_rows)
            known = self._map.expander.labels_of_rows(labels)
            self.basis_labels_ = [None if numbers is None else classes[numbers] for numbers in known]
        self._vectors = vectors
        return self

    @contextmanager
    def _expanded(
        self,
        expander: Expander,
        X: Any,
        classes: np.ndarray,
        labels: Values,
        weights: Values,
        fill: Callable[..., RowBlocks] = filled,
        held: int = 0,
        client: Any = None,
        storage_dtype: str | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Iterator[tuple[FeatureMap, RowBlocks, dict[str, Any]]]:
        """Give the feature map that X teaches, the features of X, and what training on them needs to be told.

        ``fill`` computes the similarities, or has them already; ``held`` bytes are taken meanwhile by somebody else.
        With a ``client`` its workers do it.
        """
        normalization, n = as_normalization(self.normalize), n_rows(X)
        width, itemsize = expander.width, expander.dtype.itemsize
        beside = held + normalization.takes(expander.widths, n, itemsize) + expander.exemplar_bytes
        options: dict[str, Any] = {}
        if client is not None:
            check_cluster(self.penalty, self.multi_class if len(classes) > 2 else "ovr")
        if self.multi_class != "ovr" and len(classes) > 2:
            beside += itemsize * width * largest_pair(np.asarray(labels))
            if self.multi_class == "ovo-pair-basis":
                options["basis_labels"] = _labels_of_columns(expander, labels, classes)
        columns = n_columns(n, len(classes), self.probability or self.C == "auto")
        stored = None if storage_dtype is None else HALF.itemsize
        if client is not None:
            chosen = plan_on(client, n, width, itemsize, columns, stored)
        else:
            chosen = plan_training(
                n,
                width,
                itemsize,
                columns,
                penalty=self.penalty,
                beside=beside,
                row=expander.row_bytes,
                storage=self.storage,
                memory_limit=self.memory_limit,
                stored=stored,
                row_files=self.multi_class == "ovr" or len(classes) == 2,
            )
        say(self.verbose, str(chosen))
        self.storage_, self.n_rows_ = chosen.storage, n
        possible: dict[str, Any] = {"storage_dtype": storage_dtype, "checkpoint": checkpoint}
        asked = {name: value for name, value in possible.items() if value is not None}
        if client is None:
            blocks = fill(expander, X, chosen.storage, self.verbose, chosen.folder, **asked)
            blocks.rows_folder = chosen.rows_folder
        else:
            blocks = filled_on(client, expander, X, self.verbose, **asked)
        with blocks, workers(chosen.n_jobs):
            feature_map = learn_feature_map(expander, blocks, normalization, X, labels, weights)
            yield feature_map, blocks, {"memory": chosen.solver_options, **options}

    def _remember(self, feature_map: FeatureMap, model: LinearModel, classes: np.ndarray, has_rows: np.ndarray) -> None:
        """Keep what was learned; ``has_rows`` says whether any row of a class weighs anything."""
        if self.penalty == "l1":
            feature_map, model = _without_unused(feature_map, model)
        self._take(classes, has_rows, model)
        self._map = feature_map
        self.basis_rows_ = [measure.rows for measure in feature_map.expander.measures]
        self.basis_parts_ = [measure.pieces for measure in feature_map.expander.measures]
        self.n_basis_ = feature_map.expander.n_exemplars

    def transform(self, X: Any) -> np.ndarray:
        """Return the features that ``coef_`` multiplies: the normalized similarities of X to the basis, (len(X), D).

        ``transform(X) @ coef_.T + intercept_`` are the margins that ``decision_function`` returns (one-vs-one, that it
        counts the votes of). With an "l1" penalty they are the features of the exemplars that are left.
        """
        check_is_fitted(self, "coef_")
        if is_dask(X):
            return self._lazily(X, self.transform, self._map.expander.dtype, self.coef_.shape[1])
        return self._by_blocks(X, self._map, self.coef_.shape[1], self._map.expander.dtype, "similarities to the basis")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features, as :class:`BasisExpansion` does."""
        check_is_fitted(self, "coef_")
        return self._map.names()

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        weights = self.coef_.T.astype(self._map.expander.dtype)

        def margins(samples: Any, first_row: int) -> np.ndarray:
            features = self._map(samples, first_row)
            with one_blas_thread():
                return features @ weights + self.intercept_

        return self._by_blocks(X, margins, len(self.intercept_), np.float64, "predicting")

    def _by_blocks(self, X: Any, compute: Any, width: int, dtype: Any, what: str) -> np.ndarray:
        X = check_vectors(self, X, self._vectors, reset=False, by_blocks=True)
        with workers(self.n_jobs):
            out = np.empty((n_rows(X), width), dtype=dtype)
            return by_blocks(X, compute, out, self._map.expander.rows_each(X), what, self.verbose)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: a client, which belongs to this process, is not; an address is."""
        state: dict[str, Any] = super().__getstate__()
        return state if isinstance(state["client"], str) else state | {"client": None}

    def __sklearn_clone__(self) -> Self:
        """Return an estimator with the same parameters; a client, which cannot be copied, is shared."""
        client, self.client = self.client, None
        try:
            copy: Self = super().__sklearn_clone__()
        finally:
            self.client = client
        copy.client = client
        return copy

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, self.measures, self.basis)
        tags.transformer_tags.preserves_dtype = []
        return tags


def check_multi_class(multi_class: str, normalization: Normalization) -> None:
    """Refuse what is no way to handle several classes, and what a normalization makes impossible."""
    check_choice("multi_class", multi_class, MULTI_CLASS)
    if normalization.mixes and multi_class == "ovo-pair-basis":
        raise ValueError(
            "multi_class='ovo-pair-basis' needs one feature for each exemplar, but the normalization "
            f"{type(normalization).__name__} mixes exemplars; use multi_class='ovo' or 'ovr'"
        )


def _without_unused(feature_map: FeatureMap, model: LinearModel) -> tuple[FeatureMap, LinearModel]:
    """Return both without the features that no class uses: they need not be computed to predict."""
    used = feature_map.expander.whole((model.coef != 0).any(axis=0))
    if not used.any():
        warnings.warn(
            "C is so small that the L1 penalty makes all weights zero: every sample gets the same class; raise C",
            UserWarning,
            stacklevel=5,
        )
    kept = feature_map.keep(used)
    return (kept, model) if kept is feature_map else (kept, replace(model, coef=model.coef[:, used]))


def _labels_of_columns(expander: Expander, labels: Values, classes: np.ndarray) -> np.ndarray:
    """Return the class of every column; no two classes may be without one."""
    own = np.concatenate(expander.basis_labels(labels))
    without = np.setdiff1d(np.arange(len(classes)), own)
    if len(without) > 1:
        a, b = classes[without[:2]]
        raise ValueError(
            "multi_class='ovo-pair-basis' needs at least one exemplar for every pair of classes, but the basis has "
            f"none of {a!s} or {b!s}; use a basis with exemplars of all classes, or multi_class='ovo'"
        )
    return own
