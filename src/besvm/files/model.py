"""Save a trained model to one file, load it, and look at what a file holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from besvm import __version__
from besvm._support.parameters import shown
from besvm.files.classes import UnknownNameError
from besvm.files.container import ModelFileError, read, read_description, write
from besvm.files.kinds import Kind, UnsavableError, UnsoundError
from besvm.files.objects import FUNCTION, OBJECT
from besvm.files.others import OTHERS
from besvm.files.sound import check_sound
from besvm.files.values import VALUES

KINDS: tuple[Kind, ...] = (*VALUES, *OTHERS, FUNCTION, OBJECT)
BY_TAG = {kind.tag: kind for kind in KINDS}
MOST_SHARED = 256  # times its own size: what a file may have its arrays taken for
DEEPEST = 60  # lists in lists, objects in objects: no model comes near, and Python's own limit is not reached


def save(model: Any, path: str | os.PathLike[str], *, facts: dict[str, Any] | None = None) -> None:
    """Save a trained model to one file that holds no code: numbers, strings, and names of Python classes.

    The file is written whole or not at all. It holds the model's exemplars, which are training samples: give it only
    to people who may see them. docs/model-files.md describes the format.

    Parameters
    ----------
    model : estimator
        A fitted estimator of besvm, or a scikit-learn pipeline of one.
    path : str or path
        The file to write, usually ending in ``.besvm``. An existing file is replaced; its permissions stay as they are.
    facts : dict, optional
        Plain data (that JSON can hold) to keep with it, such as the accuracy or where the data came from. The version
        of besvm, the classes, the number of training rows and the seed are added, as far as they are known.

    Raises
    ------
    TypeError
        If the model holds what a file cannot: a plain Python function, a class that nobody has registered.

    Examples
    --------
    >>> import os, tempfile
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=30, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.besvm")
    ...     besvm.save(model, path, facts={"source": "iris"})
    ...     loaded = besvm.load(path)
    >>> bool((loaded.decision_function(X) == model.decision_function(X)).all())
    True
    >>> loaded.facts_["source"], loaded.facts_["rows"]
    ('iris', 150)
    """
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        raise TypeError(f"model must be a trained estimator, got {shown(model)}")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(f"model must be trained before it is saved, got {shown(model)}; call fit first") from None
    known = _facts(model) | _plain_facts(facts)
    arrays = _Arrays()
    node = _packed(model, "model", arrays, 0)
    description = {"writer": f"besvm {__version__}", "facts": known, "class": type(model).__name__, "model": node}
    write(Path(path), description, arrays.kept)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`save` has written; nothing in the file is executed.

    A file that is altered, cut short, or from a newer besvm is refused, and so is one that names a similarity, features
    or anything else that is not known here.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        As it was saved, with ``facts_``: what is known of its training.

    Raises
    ------
    besvm.files.ModelFileError
        A ValueError, with a sentence that says what is wrong with the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import besvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.besvm")
    ...     besvm.save(besvm.LinearSVMClassifier().fit([[0.0], [1.0]], ["a", "b"]), path)
    ...     besvm.load(path).predict([[0.9]])
    array(['b'], dtype='<U1')
    """
    path = Path(path)
    contents = read(path)
    node = contents.description.get("model")
    facts = contents.description.get("facts")

    given = 0

    def array(number: Any) -> np.ndarray:
        nonlocal given
        if type(number) is not int or not 0 <= number < len(contents.arrays):
            raise UnsoundError("an array must be one of those in the file")
        given += contents.arrays[number].nbytes
        if given > MOST_SHARED * path.stat().st_size:  # tables would copy it again and again
            raise UnsoundError("it uses its arrays too often")
        return contents.arrays[number]

    try:
        model = _unpacked(node, array, 0)
        if not isinstance(model, BaseEstimator) or not isinstance(facts, dict):
            raise UnsoundError("it must contain an estimator and facts about it")
        check_sound(model)
    except (UnknownNameError, ImportError) as error:
        raise ModelFileError(f"{path} cannot be used here: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RuntimeError, MemoryError) as error:
        raise _not_sound(path, error) from None
    model.facts_ = facts
    return model


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file says of itself: facts, the class of the model, the writer; none of the model is loaded.

    Parameters
    ----------
    path : str or path
        The model file.

    Returns
    -------
    dict
        With the facts, the name of the model's class under "class", and what wrote the file under "writer".

    Examples
    --------
    >>> import os, tempfile
    >>> import besvm
    >>> from besvm.files import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.besvm")
    ...     besvm.save(besvm.LinearSVMClassifier().fit([[0.0], [1.0]], ["a", "b"]), path)
    ...     describe(path)["class"]
    'LinearSVMClassifier'
    """
    path = Path(path)
    description = read_description(path)
    arrays = description.pop("arrays", [])
    description.pop("model", None)
    return {**description, "bytes": path.stat().st_size, "arrays": len(arrays) if isinstance(arrays, list) else 0}


class _Arrays:
    """The arrays of a file, each once."""

    def __init__(self) -> None:
        self.kept: list[np.ndarray] = []
        self._known: dict[int, int] = {}

    def keep(self, array: np.ndarray) -> int:
        if id(array) not in self._known:
            self._known[id(array)] = len(self.kept)
            self.kept.append(array)
        return self._known[id(array)]


def _packed(value: Any, where: str, arrays: _Arrays, depth: int) -> Any:
    """Return plain data for a value; ``where`` it is, for messages."""
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float and value - value == 0:  # finite
        return value
    if depth > DEEPEST:
        raise UnsavableError(f"{where} is nested too deeply for a model file")

    def pack(inner: Any, where: str) -> Any:
        return _packed(inner, where, arrays, depth + 1)

    if type(value) is list:
        return [pack(item, f"{where}[{place}]") for place, item in enumerate(value)]
    if type(value) is dict and "$" not in value and all(type(key) is str for key in value):
        return {key: pack(item, f"{where}[{key!r}]") for key, item in value.items()}
    kind = next(kind for kind in KINDS if kind.matches(value))
    return {"$": kind.tag, **kind.pack(value, where, pack, arrays.keep)}


def _unpacked(node: Any, array: Any, depth: int) -> Any:
    """Return the value that plain data stands for."""
    if depth > DEEPEST:
        raise UnsoundError("it is nested too deeply")

    def unpack(inner: Any) -> Any:
        return _unpacked(inner, array, depth + 1)

    if isinstance(node, list):
        return [unpack(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$" not in node:
        return {key: unpack(value) for key, value in node.items()}
    kind = BY_TAG.get(node["$"]) if isinstance(node["$"], str) else None
    if kind is None:
        raise UnsoundError("it contains a value of an unknown kind")
    return kind.unpack(node, unpack, array)


def _not_sound(path: Path, error: BaseException) -> ModelFileError:
    return ModelFileError(
        f"{path} is not a valid model: {str(error)[:200] or type(error).__name__}; get a new copy of the file"
    )


def _facts(model: Any) -> dict[str, Any]:
    """Return what a model knows of its own training, as plain data."""
    last = model[-1] if hasattr(model, "steps") else model
    seed = getattr(last, "random_state", None)
    found = {
        "besvm": __version__,
        "sklearn": sklearn.__version__,
        "rows": getattr(last, "n_rows_", None),
        "classes": [str(name) for name in getattr(last, "classes_", ())],
        "seed": seed if isinstance(seed, int) else None,
    }
    return {name: value for name, value in found.items() if value not in (None, [])} | dict(
        getattr(model, "facts_", {})
    )


def _plain_facts(facts: Any) -> dict[str, Any]:
    if facts is None:
        return {}
    try:
        if not isinstance(facts, dict):
            raise TypeError
        plain: dict[str, Any] = json.loads(json.dumps(facts, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"facts must be a dict of plain data that JSON can hold, got {shown(facts)}") from None
    return plain
