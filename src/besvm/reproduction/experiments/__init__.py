"""The experiments of the paper, one file for every table or figure, each of the name that the command knows."""

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
        raise ValueError(f"no experiment is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    chosen = [name for name in MODULES if not names or name in names]
    return [import_module(f"{__name__}.{name}").EXPERIMENT for name in chosen]
