"""Write the page of the command line from the program itself: every command with its options and help texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that tests need no Sphinx
    from sphinx.application import Sphinx
    from sphinx.config import Config

PAGE = "reference/commands.rst"
KINDS = {"int": "INTEGER", "float": "NUMBER", "str": "TEXT"}
OTHERS = "Other options"


def page() -> str:
    """Return the page, as reStructuredText."""
    from typer.main import get_command

    from besvm.cli import app

    program = get_command(app)
    parts = [
        heading("The commands", "="),
        "Every command with all of its options, as ``besvm COMMAND --help`` shows them. :doc:`/command-line` explains "
        "what they are for, with examples.",
        ".. list-table::\n   :widths: auto\n\n"
        + "\n".join(f"   * - `besvm {name}`_\n     - {prose(first_of(one))}" for name, one in program.commands.items()),
        ".. program:: besvm\n\n" + "\n\n".join(option(one) for one in program.params),
        *(section(name, one) for name, one in program.commands.items()),
    ]
    return "\n\n".join(parts) + "\n"


def section(name: str, command: Any) -> str:
    """Return the section about one command."""
    text, _, examples = command.help.partition("\b\n")
    given = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join(["besvm", name, *(placeholder(one) for one in given), "[OPTIONS]"])
    parts = [heading(f"besvm {name}", "-"), prose(text), f".. code-block:: text\n\n   {usage}"]
    if examples:
        parts += ["For example:", ".. code-block:: console\n\n" + indented(examples)]
    parts.append(f".. program:: besvm {name}")
    panels: dict[str, list[str]] = {}
    for one in command.params:
        panel = "" if one.param_type_name == "argument" else getattr(one, "rich_help_panel", None) or OTHERS
        panels.setdefault(panel, []).append(option(one))
    for panel in sorted(panels, key=lambda panel: (panel == OTHERS, list(panels).index(panel))):
        if panel:
            parts.append(f".. rubric:: {panel if len(panels) > 2 or panel != OTHERS else 'Options'}")
        parts += panels[panel]
    return "\n\n".join(parts)


def option(parameter: Any) -> str:
    """Return what is said of one option or argument."""
    if parameter.param_type_name == "argument":
        shown = parameter.name.upper()
    else:
        value = "" if parameter.is_flag or parameter.name == "version" else f" {kind_of(parameter)}"
        shown = ", ".join(
            f"{name}{value}" for name in sorted(parameter.opts, key=lambda name: not name.startswith("--"))
        )
    more = []
    if parameter.required:
        more.append("Required.")
    elif parameter.default not in (None, False, [], ()) and not callable(parameter.default):
        more.append(f"Default: ``{parameter.default}``.")
    if getattr(parameter, "multiple", False):
        more.append("May be given several times.")
    return f".. option:: {shown}\n\n   {' '.join([prose(parameter.help or ''), *more])}"


def kind_of(parameter: Any) -> str:
    """Return what an option takes, as a word in capitals."""
    given = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)  # of typer with a click of its own
    click = getattr(getattr(parameter, "type", None), "name", "").removesuffix(" range")
    name = getattr(given, "__name__", "") if given else {"integer": "int"}.get(click, click)
    return KINDS.get(name, "TEXT")


def placeholder(argument: Any) -> str:
    """Return an argument as it stands in the line that shows how a command is called."""
    return argument.name.upper() if argument.required else f"[{argument.name.upper()}]"


def prose(text: str) -> str:
    """Return a help text as reStructuredText, in one paragraph for each of its own."""
    text = text.strip().replace("\\[", "[")
    text = re.sub(r"([*\\|])", r"\\\1", text)
    text = re.sub(r"`([^`]+)`", r"``\1``", text)
    return re.sub(r"(\w+://[\w:.]*\w)", r"``\1``", text)


def first_of(command: Any) -> str:
    """Return the first sentence of a command's help."""
    return str(command.help).strip().split("\n\n")[0]


def heading(title: str, line: str) -> str:
    """Return a title, underlined."""
    return f"{title}\n{line * len(title)}"


def indented(text: str) -> str:
    """Return lines that a user types, as they stand in a block."""
    return "\n".join(f"   $ {line}" for line in text.strip().splitlines())


def write(app: Sphinx, config: Config) -> None:
    """Write the page where Sphinx will find it; one that is up to date is left alone."""
    from site_names import write_if_new

    write_if_new(Path(app.srcdir) / PAGE, page())


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page before the sources are listed."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
