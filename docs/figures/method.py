"""Draw docs/figures/method.svg: three samples on their way through a BE-SVM, step by step, animated by CSS alone.

    python docs/figures/method.py

Every number in it comes from a model that is trained here, on handwritten digits that ship with scikit-learn.
"""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np

from besvm import BESVMClassifier
from besvm._support.png import png
from besvm.basis import IndexBasis
from besvm.demo import displaced_digits
from besvm.similarities import Rigid

OUT = Path(__file__).parent / "method.svg"
CLASSES = (3, 5, 8)
N_TRAIN = 300
WIDTH, HEIGHT = 480, 644
PITCH, THUMB, LEFT = 50, 42, 19  # of the row of exemplars
SECONDS, STEP = 8.0, 1.5  # for a sample, and from one step of it to the next
BLUE, ORANGE, GRAY, INK = "#0b6e99", "#c2620a", "#8a8a86", "#37352f"


def main() -> None:
    X, y = displaced_digits()
    wanted = np.isin(y, CLASSES)
    X, y = X[wanted], y[wanted]
    model = BESVMClassifier(Rigid(2), basis=IndexBasis(per_class=3), C=10.0, random_state=0)
    model.fit(X[:N_TRAIN], y[:N_TRAIN])
    order = np.argsort(model.basis_labels_[0], kind="stable")  # so that the exemplars of a class stand together
    rows = model.basis_rows_[0][order]
    shown = chosen(model, X[N_TRAIN:], y[N_TRAIN:]) + N_TRAIN
    raw = Rigid(2)(X[shown], X[rows])
    features = model.transform(X[shown])[:, order]
    scores = model.decision_function(X[shown])
    usual = Rigid(2)(X[:N_TRAIN], X[rows]).mean(axis=0)
    for sample, score in zip(shown, scores, strict=True):
        print(f"a {y[sample]}: " + ", ".join(f"{c} {s:+.2f}" for c, s in zip(CLASSES, score, strict=True)))
    parts = [frame(X[rows], y[rows])]
    for i, sample in enumerate(shown):
        limits = raw.max(), np.abs(features).max(), np.abs(scores).max()
        parts.append(journey(i, X[sample], raw[i], usual, features[i], scores[i], limits))
    OUT.write_text(svg("\n".join(parts)))
    print(f"wrote {OUT.name}, {OUT.stat().st_size / 1e3:.0f} kB")


def chosen(model: BESVMClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return one sample of each class that is classified correctly, neither the clearest nor the closest call."""
    margins = np.sort(model.decision_function(X), axis=1)
    lead = np.where(model.predict(X) == y, margins[:, -1] - margins[:, -2], np.nan)
    found = []
    for one in CLASSES:
        of_class = np.flatnonzero((y == one) & ~np.isnan(lead))
        found.append(of_class[np.argsort(lead[of_class])[len(of_class) // 2]])
    return np.array(found)


def svg(inside: str) -> str:
    """Return the whole file; who asked for less motion, or whose viewer has none, sees the first sample."""
    total = SECONDS * len(CLASSES)
    rules = []
    for step in range(4):
        on, full, off = (100 * t / total for t in (step * STEP, step * STEP + 0.4, SECONDS - 0.3))
        rules.append(
            f"@keyframes step{step}{{0%,{on:.2f}%{{opacity:0}}{full:.2f}%,{off:.2f}%{{opacity:1}}"
            f"{100 * SECONDS / total:.2f}%,100%{{opacity:0}}}}"
            f".step{step}{{animation:step{step} {total:g}s infinite}}"
        )
    for sample in range(len(CLASSES)):
        hidden = "opacity:0;" if sample else ""
        rules.append(f".sample{sample} g{{{hidden}animation-delay:{sample * SECONDS:g}s}}")
    rules.append("@media (prefers-reduced-motion:reduce){g{animation:none!important}}")
    style = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}" + "".join(rules)
    about = (
        "A handwritten digit is compared with nine exemplars; the nine similarities are centered and scaled; "
        "a linear classifier turns them into one score for each class."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{about}">\n<title>{about}</title>\n<style>{style}</style>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>\n{inside}\n</svg>\n'
    )


def frame(exemplars: np.ndarray, labels: np.ndarray) -> str:
    """Return what stays: the headings, the exemplars and the axes."""
    parts = [
        heading(28, "1", "A new sample x"),
        text(132, 62, "The model keeps nine training samples,", 14),
        text(132, 82, "its exemplars b, three of each class:", 14),
        heading(212, "2", "How similar is x to each exemplar?"),
        text(465, 212, "s(b, x)", 15, GRAY, "end", italic=True),
        heading(352, "3", "More similar than usual, or less?"),
        text(465, 352, "φ(x)", 15, GRAY, "end", italic=True),
        heading(508, "4", "A linear SVM weighs them up"),
        text(465, 508, "w · φ(x) + c", 15, GRAY, "end", italic=True),
    ]
    for j, (image, label) in enumerate(zip(exemplars, labels, strict=True)):
        x = LEFT + j * PITCH
        parts += [picture(image, x, 118, THUMB), text(x + THUMB / 2, 173, f"a {label}", 12, GRAY, "middle")]
    parts += [line(LEFT - 6, 308, 461), line(LEFT - 6, 422, 461)]
    return "\n".join(parts)


def journey(
    sample: int,
    image: np.ndarray,
    raw: np.ndarray,
    usual: np.ndarray,
    features: np.ndarray,
    scores: np.ndarray,
    limits: tuple[float, float, float],
) -> str:
    """Return what is seen of one sample: itself, its similarities, its features and its scores."""
    steps = [[picture(image, 40, 40, 66)], [], [], []]
    for j in range(len(raw)):
        x = LEFT + j * PITCH
        height = 64 * raw[j] / limits[0]
        steps[1] += [bar(x + 8, 308 - height, THUMB - 16, height, GRAY)]
        steps[1] += [text(x + THUMB / 2, 325, f"{raw[j]:.0f}", 13, INK, "middle")]
        mark = 308 - 64 * usual[j] / limits[0]
        steps[2] += [f'<path d="M{x + 3:.1f} {mark:.1f}h{THUMB - 6}" stroke="{INK}" stroke-width="2"/>']
        height = 40 * abs(features[j]) / limits[1]
        up = features[j] > 0
        color = BLUE if up else ORANGE
        steps[2] += [bar(x + 8, 422 - height if up else 422, THUMB - 16, height, color)]
        steps[2] += [text(x + THUMB / 2, 480, f"{features[j]:+.2f}".replace("-", "−"), 12, color, "middle")]
    steps[2] += [text(465, 238, "— usual", 12, INK, "end")]
    best = int(scores.argmax())
    for k, score in enumerate(scores):
        y, length = 524 + 36 * k, 130 * abs(score) / limits[2]
        color = BLUE if score > 0 else ORANGE
        steps[3] += [text(LEFT, y + 20, f"a {CLASSES[k]}?", 15, INK, weight=600 if k == best else 400)]
        steps[3] += [bar(200 if score > 0 else 200 - length, y + 4, length, 20, color)]
        steps[3] += [text(348, y + 20, f"{score:+.2f}".replace("-", "−"), 14, color, weight=600 if k == best else 400)]
    steps[3] += [text(405, 544 + 36 * best, f"← a {CLASSES[best]}", 16, INK, weight=600)]
    inside = "\n".join(f'<g class="step{i}">{"".join(step)}</g>' for i, step in enumerate(steps))
    return f'<g class="sample{sample}">\n{inside}\n</g>'


def heading(y: float, number: str, words: str) -> str:
    """Return the number and the words of a step."""
    circle = f'<circle cx="{LEFT + 6}" cy="{y - 5}" r="11" fill="{INK}"/>'
    return circle + text(LEFT + 6, y, number, 14, "#ffffff", "middle", 600) + text(LEFT + 26, y, words, 16, weight=600)


def text(
    x: float,
    y: float,
    words: str,
    size: float,
    color: str = INK,
    anchor: str = "start",
    weight: int = 400,
    italic: bool = False,
) -> str:
    """Return one line of text."""
    style = ' font-style="italic"' if italic else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{style}>{words}</text>'
    )


def bar(x: float, y: float, width: float, height: float, color: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'


def line(x: float, y: float, to: float) -> str:
    return f'<path d="M{x} {y}H{to}" stroke="{GRAY}" stroke-width="1"/>'


def picture(image: np.ndarray, x: float, y: float, size: float) -> str:
    """Return a digit, dark on light, as an image inside the file."""
    gray = (255 - 235 * image[..., 0] / image.max()).astype(np.uint8)
    data = base64.b64encode(png(gray)).decode()
    return (
        f'<image x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/>'
        f'<rect x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" fill="none" stroke="{GRAY}"/>'
    )


if __name__ == "__main__":
    main()
