"""The order in which the tutorials are shown, from the plainest data to the largest, and how their figures are."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = (
    *("first_steps", "images_in_folders", "time_series", "strings_and_names", "sequences", "graphs", "mixed_columns"),
    *("your_own_similarity", "precomputed", "save_explain_prune", "million_rows", "cluster"),
)


class Order:
    """The place of a script among the others; those that the list does not name come last, by their names."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def figures(block: object, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """What shows the open figures: in two sizes, with words for those who can't see them.

    Figures without pictures in them get the class `drawing`; the style sheet gives these other colors in the dark.
    """
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import figure_rst

    shown = ""
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figure, small = plt.figure(number), Path(path)
        large = small.with_name(f"{small.stem}_2x{small.suffix}")
        figure.savefig(small)
        figure.savefig(large, dpi=2 * figure.dpi)
        image = figure_rst([small], gallery_conf["src_dir"], words(figure), srcsetpaths=[{0: small, 2.0: large}])
        if not any(axes.images for axes in figure.axes):
            image = image.replace(":class: ", ":class: drawing ")
        shown += image
    plt.close("all")
    return shown


def words(figure: Figure) -> str:
    """What stands in a figure: its titles, the names of its axes, bars and curves, and its notes, as far as short."""
    found = [figure.get_suptitle(), figure.get_supxlabel(), figure.get_supylabel()]
    for axes in figure.axes:
        found += [axes.get_title(loc=where) for where in ("left", "center", "right")]
        found += [axes.get_xlabel(), axes.get_ylabel()]
        found += [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
        legend = axes.get_legend()
        found += [text.get_text() for text in (legend.get_texts() if legend else axes.texts)]
    found += [text.get_text() for text in figure.texts]
    said = dict.fromkeys(" ".join(text.split()) for text in found if re.search(r"^[^$]*[a-z]", text))
    return textwrap.shorten(", ".join(said), 400, placeholder=" ...")
