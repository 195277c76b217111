"""How Sphinx makes the site of these pages: `make docs` writes it to site/, offline and with every warning an error."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
TUTORIALS = DOCS.parent / "build" / "tutorials"  # a copy, as some scripts write files beside themselves
sys.path[:0] = [str(DOCS / "_extensions"), str(DOCS.parent / "src")]

import besvm  # noqa: E402

project = "besvm"
author = "the besvm authors"
release = version = besvm.__version__

extensions = [
    *("myst_parser", "sphinx_design", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"),
    *("sphinx_gallery.gen_gallery", "site_math", "site_links", "site_names", "site_commands", "site_sidebar"),
]
exclude_patterns = [
    "README.md",
    "benchmarks/*.md",
    "_extensions",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
smartquotes = False  # what stands in quotes is often typed in
nitpicky = True  # a name in a docstring that leads nowhere is an error
nitpick_ignore_regex = [
    ("py:.*", r"(?!besvm)\w+\..*"),  # names of other packages: nothing is fetched to look them up
    ("py:obj", r"\w+"),  # properties in the section "Attributes", to which numpydoc makes links of its own
]

# pages in Markdown
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_update_mathjax = False

# formulas: MathML, written while building, so that no program has to be loaded to show them
html_math_renderer = "mathml"
math_number_all = False
math_eqref_format = "({number})"

# reference
autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# tutorials: scripts that are run here, shown with what they print and draw, and offered as notebooks
shutil.rmtree(TUTORIALS, ignore_errors=True)
shutil.copytree(DOCS.parent / "examples" / "tutorials", TUTORIALS, ignore=shutil.ignore_patterns("__pycache__"))
sphinx_gallery_conf = {
    "examples_dirs": [str(TUTORIALS)],
    "gallery_dirs": ["tutorials"],
    "backreferences_dir": "reference/uses",
    "doc_module": ("besvm",),
    "filename_pattern": r"tutorials[\\/]\w+\.py$",  # all of them are run
    "within_subsection_order": "site_tutorials.Order",
    "abort_on_example_error": True,
    "parallel": 2,
    "matplotlib_animations": False,
    "image_scrapers": ("site_tutorials.figures",),
    "capture_repr": (),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 0,
    "plot_gallery": True,
    "download_all_examples": True,
    "thumbnail_size": (480, 320),
}

# copy buttons: of a block with prompts, what was typed
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# the look
html_theme = "furo"
html_title = "besvm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7cb7ff", "color-brand-content": "#7cb7ff"},
    "navigation_with_keys": True,
}
