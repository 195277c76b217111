"""What the estimators check of their parameters, before anything else is done."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from besvm._support.units import parse_bytes

LARGEST_C = 1e30
MOST_JOBS = 10_000

F = TypeVar("F", bound=Callable[..., Any])


def atomic_fit(fit: F) -> F:
    """Make a fit leave the estimator as it was if it fails or is interrupted.

    Parameters that mean the same to all estimators (:data:`COMMON`) are checked before anything else is done.
    """

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_common(self)
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted  # type: ignore[return-value]


def check_common(thing: Any) -> None:
    """Check the parameters of an estimator, or a part of one, whose names mean the same everywhere in besvm.

    What a user's own subclass takes by such a name is the user's business.
    """
    for name in _own_parameters(type(thing)) & COMMON.keys():
        COMMON[name](name, getattr(thing, name))


def _own_parameters(cls: type) -> frozenset[str]:
    ours = next((base for base in cls.__mro__ if base.__module__.partition(".")[0] == "besvm"), object)
    return frozenset(signature(ours).parameters)


def shown(value: Any) -> str:
    """Return what a message says of a value: one line, not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of an int with too many digits, say
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_positive(name: str, value: Any) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    if not is_positive(value):
        raise ValueError(f"{name} must be a positive number, got {shown(value)}")
    return float(value)


def check_loss_weight(C: Any) -> float:
    """Return C, the weight of the loss, or say what is wrong with it; beyond the limit its products overflow."""
    if check_positive("C", C) > LARGEST_C:
        raise ValueError(f"C must be a positive number of at most {LARGEST_C:g}, got {shown(C)}")
    return float(C)


def is_positive(value: Any) -> bool:
    """Say whether a value is a positive finite number."""
    return is_number(value) and value > 0


def is_number(value: Any) -> bool:
    """Say whether a value is a finite real number that a float can hold."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # 10**400
        return False


def is_whole(value: Any, least: float = -np.inf) -> bool:
    """Say whether a value is a whole number of at least ``least``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return bool(whole and value >= least)


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least 1, or say what is wrong with it."""
    if not (is_whole(value, 1) and is_number(value)):
        raise ValueError(f"{name} must be a whole number of at least 1, got {shown(value)}")
    return int(value)


def check_number(name: str, value: Any) -> None:
    """Refuse what is no finite number."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number, got {shown(value)}")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)) and not (is_whole(value) and value in (0, 1)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")


def alternatives(choices: tuple[Any, ...]) -> str:
    """Return the choices as people list them: 'a', 'b' or 'c'."""
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}" if others else last


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name} must be {alternatives(choices)}, got {shown(value)}")


def check_n_jobs(name: str, n_jobs: Any) -> None:
    """Refuse what is no number of workers as joblib takes it."""
    if not (n_jobs is None or (is_whole(n_jobs) and 0 != n_jobs <= MOST_JOBS)):
        raise ValueError(
            f"{name} must be a whole number from 1 to {MOST_JOBS:,}, -1 for all processors, or None, "
            f"got {shown(n_jobs)}"
        )


def check_verbose(name: str, verbose: Any) -> None:
    """Refuse what is no level of verbosity."""
    if not (isinstance(verbose, (bool, np.bool_)) or (is_whole(verbose, 0) and is_number(verbose))):
        raise ValueError(f"{name} must be a whole number of at least 0, got {shown(verbose)}")


def check_class_weight(name: str, class_weight: Any) -> None:
    """Refuse what is no way to weigh classes; whether the classes exist is seen later."""
    if isinstance(class_weight, Mapping):
        wrong = [key for key, value in class_weight.items() if not is_number(value)]
        if wrong:
            raise ValueError(f"{name} must hold a number for every class, got {shown(class_weight[wrong[0]])}")
    elif not (class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced")):
        raise ValueError(f"{name} must be a dict, 'balanced' or None, got {shown(class_weight)}")


def check_seed(name: str, random_state: Any) -> None:
    """Refuse what is no seed; nothing is drawn."""
    known = isinstance(random_state, (np.random.RandomState, np.random.Generator, np.random.SeedSequence))
    if not (random_state is None or known or is_whole(random_state, 0)):
        raise ValueError(
            f"{name} must be a whole number of at least 0, a RandomState, a Generator or None, "
            f"got {shown(random_state)}"
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a RandomState, a Generator or None; global state is never touched."""
    check_seed("random_state", random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def check_memory_limit(name: str, memory_limit: Any) -> None:
    """Refuse what is no number of bytes."""
    if memory_limit is not None:
        parse_bytes(memory_limit, name)


COMMON: dict[str, Callable[[str, Any], Any]] = {  # by the name of the parameter
    "n_jobs": check_n_jobs,
    "random_state": check_seed,
    "verbose": check_verbose,
    "class_weight": check_class_weight,
    "memory_limit": check_memory_limit,
    "tol": check_positive,
    "max_iter": check_count,
    "max_rows": check_count,
    "n_rounds": check_count,
    "n_measures": check_count,
    "degree": check_count,
    "coef0": check_number,
    "oversample": check_positive,
    **dict.fromkeys(("fit_intercept", "penalize_intercept", "probability", "warm_start", "refit"), check_flag),
    **dict.fromkeys(("balanced", "cosine"), check_flag),
}
