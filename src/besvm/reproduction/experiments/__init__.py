"""The experiments of the paper, one file for every table or figure."""

from importlib import import_module

from besvm.reproduction.cells import Experiment

MODULES = {  # in the order of the page; imported when asked for
    "baselines": "baselines",
    "full": "full_bases",
    "selection": "basis_selection",
    "eigs": "eigenvalues",
    "greedy": "greedy",
    "multiple": "multiple",
    "sparsity": "sparsity",
    "mkl": "mkl",
    "jittering": "jittering",
    "normalizations": "normalizations",
    "toy": "toy",
    "variants": "variants",
    "complexity": "complexity",
    "endtoend": "end_to_end",
}


def experiments(names: list[str] | None = None) -> list[Experiment]:
    """Return the experiments of these names (all, if none are given), in the order of the page."""
    unknown = [name for name in names or [] if name not in MODULES]
    if unknown:
        raise ValueError(f"no experiment is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    chosen = [name for name in MODULES if not names or name in names]
    return [import_module(f"{__name__}.{MODULES[name]}").EXPERIMENT for name in chosen]
