"""Write the model report: how good it is, where it errs, and which exemplars decide, in one HTML file."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from besvm._support.extras import optional
from besvm._support.files import write_text
from besvm._support.parameters import check_count, shown
from besvm._support.rows import take
from besvm._support.style import page_style
from besvm.explanations.models import Reading, read_model
from besvm.report.basis import basis_of
from besvm.report.content import Content
from besvm.report.data import Labelled, as_data
from besvm.report.evidence import gather
from besvm.report.figures import joint_classes
from besvm.report.gallery import gallery_of
from besvm.report.listing import add_listing
from besvm.report.overview import overview
from besvm.report.payload import Payload
from besvm.report.scores import Scores, scored

LISTED = 10_000  # samples that a page lists by default
SCRIPTS = ("data.js", "items.js", "matches.js", "grid.js", "samples.js", "exemplars.js", "detail.js", "main.js")


def write_page(
    model: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    samples: int | None = None,
    title: str | None = None,
    training: Any = None,
    curve: Any = None,
) -> Path:
    """Write a page about a fitted model and samples that it is tried on; return the path.

    The page is one HTML file that needs no network: accuracy with its interval, confusions that open the samples, a
    table of classes, calibration, the spectrum of every measure, accuracy against the number of exemplars, the
    exemplars by what they carry, and for every sample its prediction with the exemplars that decided. Needs the extra
    ``report``.

    Parameters
    ----------
    model : estimator
        A fitted BESVMClassifier, or a pipeline or search around one. Of other classifiers, the page shows what can be
        said without exemplars.
    data : Data or (X, y)
        What has ``X``, ``y``, ``kind`` and ``names``, as :func:`besvm.inputs.read` returns, or a pair.
    path : str or path
        The HTML file to write.
    samples : int, optional
        How many samples the page lists, evenly spaced; the figures are of all. By default all, up to 10,000.
    title : str, optional
        What the page is called.
    training : samples, optional
        X that the model was fitted with, to show its exemplars as they were. Without it they are shown as the model
        keeps them: of images that are compared by their gradients, the gradients are drawn.
    curve : list of (int, float), or what has ``sizes`` and ``accuracy``, optional
        Accuracies of refitted models against their numbers of exemplars, to be drawn beside those without a refit; by
        default the model's own ``curve_``, which :func:`besvm.prune` has measured.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from besvm import BESVMClassifier
    >>> from besvm.report import write_page
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BESVMClassifier("rbf", basis=20, random_state=0).fit(X[::2], y[::2])
    >>> page = write_page(model, (X[1::2], y[1::2]), Path(tempfile.mkdtemp()) / "iris.html")
    >>> page.name
    'iris.html'
    """
    jinja2 = optional("jinja2", "writing the page")
    if not hasattr(model, "predict"):
        raise TypeError(f"model must be a fitted classifier, got {shown(model)}")
    listed = LISTED if samples is None else check_count("samples", samples)
    reading = _readable(model)
    given = as_data(data, _likely(reading))
    if given.kind == "images":
        optional("PIL.Image", "drawing pictures")  # before anything is computed
    payload = Payload()
    content = _content(model, reading, given, payload, listed, training, curve)
    shown_title = title or _title(given)
    page = _rendered(jinja2, payload, title=shown_title, **overview(content))
    write_text(Path(path), page)
    return Path(path)


def _readable(model: Any) -> Reading | None:
    """Return what explanations read of a model; None of one without exemplars."""
    try:
        return read_model(model)
    except TypeError:
        check_is_fitted(model)
        return None


def _likely(reading: Reading | None) -> str:
    """Return what a model compares, going by its first measure that says so."""
    similarities = [] if reading is None or reading.before else [m.similarity for m in reading.map.expander.measures]
    if any(similarity.precomputed for similarity in similarities):
        return "precomputed"
    return next((s.kind for s in similarities if s.kind not in ("anything", "vectors")), "")


def _curve(curve: Any) -> list[tuple[int, float]] | None:
    """Return accuracies against numbers of exemplars, the smallest first."""
    if curve is None:
        return None
    pairs = zip(curve.sizes, curve.accuracy, strict=True) if hasattr(curve, "sizes") else curve
    return sorted((int(size), float(share)) for size, share in pairs)


def _title(data: Labelled) -> str:
    return f"How well it does on {Path(data.source).name}" if data.source else "How well the model does"


def _content(
    model: Any, reading: Reading | None, data: Labelled, payload: Payload, listed: int, training: Any, curve: Any
) -> Content:
    """Try the model on the samples, and put what the page's program reads into the payload."""
    names, truth = joint_classes(np.asarray(model.classes_), data.y)
    evidence = basis = gallery = None
    if reading is None:
        scores = Scores.of_classifier(model, data.X)
    else:
        basis = basis_of(reading.map.expander, data.first_row, reading.files)
        evidence = gather(reading, basis, data.X, truth)
        scores = scored(reading.linear, evidence.scores)
        gallery = gallery_of(basis, data.kind, training)
    rows = np.unique(np.linspace(0, len(data) - 1, min(len(data), listed)).astype(int))
    some = (
        data
        if len(rows) == len(data)
        else Labelled(take(data.X, rows), data.y[rows], data.kind, [data.names[row] for row in rows], data.source)
    )
    known = _curve(getattr(model, "curve_", None) if curve is None else curve)
    content = Content(reading, data, names, truth, scores, rows, basis, evidence, gallery, known)
    add_listing(payload, content, some)
    return content


def _rendered(jinja2: Any, payload: Payload, **values: Any) -> str:
    """Return the page; whatever comes from data is escaped by the template, and no other script may run in it."""
    loader = jinja2.PackageLoader("besvm.report", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    scripts = files("besvm.report").joinpath("scripts")
    program = "\n" + "".join(scripts.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return str(
        environment.get_template("page.html").render(
            style=page_style("besvm.report", "page.css"),
            program=program,
            policy=policy,
            pieces=payload.pieces,
            **values,
        )
    )
