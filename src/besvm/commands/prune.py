"""`besvm prune`: a smaller model file, and what it costs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from besvm._support.wrapped import unwrap
from besvm.commands.models import as_known, classes_of, load_model, samples_for
from besvm.commands.outputs import check_new, made


def prune(
    model: str,
    data: str,
    *,
    n: str | None = None,
    max_loss: float | None = None,
    out: str | None = None,
    curve: bool = False,
    random: int = 0,
    label: str | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Prune the model in a file on the rows of ``data``, and save it; return what was done, as plain values.

    Without ``n`` and ``max_loss`` the curve is measured, and nothing is saved.
    """
    import besvm
    from besvm.pruning import pruning_curve

    size = None if n is None else _size(n)
    only_curve = size is None and max_loss is None
    if only_curve and not curve:
        raise ValueError(
            "give the number of exemplars to keep (-n), the accuracy that you can afford to lose (--max-loss), or "
            "--curve to see what each number costs"
        )
    if out is None and isinstance(size, int):
        out = _beside(model, size)
    if out is not None and not only_curve:
        check_new(out, force)  # before hours of work
    large = load_model(model)
    rows = samples_for(large, model, data, label=label).read()
    y = classes_of(rows, f"{data} must have a class for every row to refit on; name their column with --label")
    y = as_known(y, getattr(large, "classes_", ()))
    inner, X, around = _opened(large, rows.X)
    done: dict[str, Any] = {"model": model, "exemplars": getattr(inner, "n_basis_", None), "data": data}
    if only_curve:
        return done | {"curve": pruning_curve(inner, X, y, random=random).to_dict()}
    small = besvm.prune(inner, size, X, y, max_loss=max_loss, curve=curve, random=random)
    path = check_new(_beside(model, small.n_basis_) if out is None else out, force)
    facts = {"pruned from": inner.n_basis_, "rows": len(rows)}
    known = {name: fact for name, fact in getattr(large, "facts_", {}).items() if name != "accuracy"}  # the large one's
    with made(path, force):
        besvm.save(around(small), path, facts={**known, **facts})
    found = None if small.curve_ is None else small.curve_.to_dict()
    return done | {"kept": small.n_basis_, "saved": str(path), "curve": found}


def shown(done: dict[str, Any]) -> str:
    """Return what was done, for people."""
    from besvm.pruning import PruningCurve

    lines = [] if done["curve"] is None else [str(PruningCurve(**done["curve"]))]
    if "saved" in done:
        lines.append(f"kept {done['kept']:,} of {done['exemplars']:,} exemplars; saved {done['saved']}")
    return "\n".join(lines)


def _opened(model: Any, X: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return the classifier inside of a model, what it is given of X, and what puts another in its place."""
    model = unwrap(model)
    if not isinstance(model, Pipeline):
        return model, X, lambda small: small
    *first, (name, last) = model.steps
    inner, X, around = _opened(last, model[:-1].transform(X) if first else X)
    options = model.get_params(deep=False)
    return inner, X, lambda small: Pipeline(**{**options, "steps": [*first, (name, around(small))]})


def _size(text: str) -> int | float:
    """Return the number, or the share, that a text means."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise ValueError(
            f"-n must be a number of exemplars, such as 500, or a share, such as 0.5, got {text}"
        ) from None


def _beside(model: str, kept: int) -> str:
    """Return the name of the smaller model's file: that of the model, with the number of exemplars."""
    path = Path(model)
    return str(path.with_name(f"{path.stem}-{kept}{path.suffix}"))
