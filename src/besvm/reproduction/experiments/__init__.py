"""The experiments of the paper, one module for every table or figure, each of the name that the command knows.

The docstring of a module is the title of its section, and what the paper says, in our words. Its functions ``cells``,
``figures``, ``claims`` and ``summary`` and its constants USES, NOTE and CAPTIONS are those of
:class:`~besvm.reproduction.cells.Experiment`, as far as it has them.
"""

from importlib import import_module

from besvm.reproduction.cells import Experiment

MODULES = (  # in the order of the page; imported when asked for
    *("baselines", "full", "selection", "eigs", "greedy", "multiple", "sparsity", "mkl"),
    *("jittering", "normalizations", "toy", "variants", "complexity", "endtoend"),
)


def experiments(names: list[str] | None = None) -> list[Experiment]:
    """Return the experiments of these names (all, if none are given), in the order of the page."""
    unknown = [name for name in names or [] if name not in MODULES]
    if unknown:
        raise ValueError(f"there is no experiment {unknown[0]!r}; choose from {', '.join(MODULES)}")
    return [_experiment(name) for name in MODULES if not names or name in names]


def _experiment(name: str) -> Experiment:
    module = import_module(f"{__name__}.{name}")
    title, _, paper = (module.__doc__ or "").partition(".\n\n")
    names = {part: part for part in ("cells", "figures", "claims", "summary")}
    names |= {part: part.upper() for part in ("uses", "note", "captions")}
    parts = {part: getattr(module, own) for part, own in names.items() if hasattr(module, own)}
    return Experiment(name, title, " ".join(paper.split()), **parts)
