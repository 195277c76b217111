import subprocess
import sys

import besvm
import besvm.similarities


def test_the_public_names_are_exactly_these():
    assert sorted(besvm.__all__) == [
        "BESVMClassifier",
        "BasisExpansion",
        "CellColor",
        "FHOG",
        "LinearSVMClassifier",
        "MeanNormScaler",
        "Measure",
        "Nystrom",
        "explain",
        "load",
        "prune",
        "recipes",
        "save",
    ]
    for name in set(besvm.__all__) - {"recipes"}:
        assert getattr(besvm, name).__module__.split(".")[0] == "besvm"
    for name in besvm.similarities.__all__:
        assert hasattr(besvm.similarities, name)


def test_importing_is_quick_and_brings_nothing_heavy():
    code = (
        "import time; start = time.perf_counter(); import besvm; took = time.perf_counter() - start; import sys; "
        "besvm.BESVMClassifier; heavy = {'numba', 'matplotlib', 'dask', 'rich', 'typer'} & set(sys.modules); "
        "print(took, *heavy)"
    )
    for _ in range(3):  # the machine may be busy
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        took, *heavy = run.stdout.split()
        assert heavy == []
        if float(took) < 1.0:
            break
    else:
        raise AssertionError(f"importing besvm took {took} s")
