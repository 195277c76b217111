"""From images to predictions, all training data: BE-SVM against the kernel SVM.

The paper gives no times. Measured one after the other: M2 with 10 x 250 bases against K8R.
"""

from functools import partial
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from besvm.baselines import KernelSVMClassifier
from besvm.basis import IndexBasis
from besvm.classifier import BESVMClassifier
from besvm.features import FHOG, CellColor
from besvm.measures import Measure, as_measures, mirrored
from besvm.normalize import MeanNormScaler
from besvm.reproduction.cells import OURS, Cell, Cells, Claims, Costs, check, value
from besvm.reproduction.config import M2, Config
from besvm.reproduction.lab import Lab, Row, Table
from besvm.reproduction.models import trained
from besvm.similarities import RBF, Rigid

M2_NAME, BEYOND = "BE-SVM, M2", "BE-SVM, M2 mirrored, with color"
SVC_NAME, KERNEL = "SVC (scikit-learn), K8R", "KernelSVMClassifier, K8R"
SVC_CACHE = 2000  # MB


def models(per_class: int, memory_limit: int | None = None) -> dict[str, Any]:
    """Return what is compared; each is given images."""
    options: Any = {"basis": IndexBasis(per_class=per_class), "C": 1.0, "probability": False}
    options["memory_limit"] = memory_limit
    color = [
        Measure(similarity, features=make_pipeline(CellColor(cell=4), MeanNormScaler()), name=f"color {name}")
        for name, similarity in (("R", RBF(gamma=1.0)), ("(2,0)", Rigid(2)))
    ]
    flat = FunctionTransformer(lambda features: features.reshape(len(features), -1))
    svc = SVC(C=2.0, gamma=1.0, cache_size=SVC_CACHE)
    beyond = [mirrored(measure) for measure in (*as_measures(list(M2)), *color)]
    return {
        M2_NAME: BESVMClassifier(list(M2), **options),
        BEYOND: BESVMClassifier(beyond, **options),
        KERNEL: KernelSVMClassifier("H8R", C=2.0, memory_limit=memory_limit),
        SVC_NAME: make_pipeline(FHOG(cell=8), MeanNormScaler(), flat, svc),
    }


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every model."""
    n = len(lab.train_rows(config.n_folds))
    per_class = config.sizes[-2]
    share = n / 50_000
    width = lab.n_classes * per_class
    seconds = {M2_NAME: 110 * share, BEYOND: 260 * share, KERNEL: 66 * share**2, SVC_NAME: 860 * share**2}
    memory = {
        M2_NAME: costs.fit_memory(len(M2), config.n_folds, width),
        BEYOND: costs.fit_memory(len(M2) + 2, config.n_folds, width),
        KERNEL: costs.kernel_memory(n),
        SVC_NAME: min(SVC_CACHE * 10**6, 4 * n**2) + 2 * 8 * n * lab.features_per_image(8),
    }
    for name in seconds:
        compute = partial(_run, lab, name, per_class, config.n_folds)
        yield Cell({"model": name, "images": n}, compute, seconds[name], memory[name])


def _run(lab: Lab, name: str, per_class: int, n_folds: int) -> Row:
    return trained(lab, models(per_class, lab.model_limit)[name], lab.images, lab.train_rows(n_folds))


def claims(config: Config, table: Table) -> Claims:
    """Check our own aim, against plain SVC and against our own kernel SVM."""
    for model in (SVC_NAME, KERNEL):
        yield check(
            f"From images, M2 trains at least 5 times faster than {model}, and is more accurate.",
            "the time is at most a fifth, and the accuracy higher",
            "{:.2f} s against {:.2f} s; {:.1%} against {:.1%}",
            lambda ours, theirs, a, b: 5 * ours <= theirs and a > b,
            [value(table, one, model=name) for one in ("train_seconds", "accuracy") for name in (M2_NAME, model)],
            origin=OURS,
        )
        yield check(
            f"From images, M2 predicts at least 5 times faster than {model}.",
            "the time for an image is at most a fifth",
            "{:.2f} ms an image against {:.2f} ms",
            lambda ours, theirs: 5 * ours <= theirs,
            [value(table, "predict_ms_per_image", model=one) for one in (M2_NAME, model)],
            origin=OURS,
        )


NOTE = f"Times include the features. {KERNEL} is our own, faster way to train the same kernel SVM as SVC."
