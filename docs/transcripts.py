"""Run what a page tells its readers to run, and put what they will see below it.

    python docs/transcripts.py start.md              # write the outputs into the page
    python docs/transcripts.py --check start.md      # or fail if they are others
    python docs/transcripts.py images_in_folders.py  # a tutorial: run it, then the commands in it

In such a page a block of ``python`` is a program, and a block of ``text`` right below it is what it prints; a block of
``console`` has commands behind ``$``, each with its output. A line of a block of ``sh`` is a command whose output is
not shown; of these, only those of tutorials are run. All of them run one after the other in an empty folder. The tests
run the pages too, and compare.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from difflib import unified_diff
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
TUTORIALS = DOCS.parent / "examples" / "tutorials"
PAGES = ("start.md", "command-line.md", "reference/contract.md")
COMMANDS = re.compile(r"^# \.\. code-block:: (console|sh)\n#\n((?:#(?:     .*)?\n)*#     .*\n)", re.M)  # in a tutorial
BLOCK = re.compile(r"```(python|console)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.S)
VARYING = re.compile(  # times, sizes on disk and in memory, and the last digits of probabilities
    r"\bin \d+ (s|ms)\b|\(\d+ kB|^(?:time|memory|seconds) .*|\b[01]\.\d{4,}\b|\de-\d\d\b", re.M
)


def transcript(page: str) -> str:
    """Return the text of a page with the outputs that its programs and commands have now."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def run(found: re.Match[str]) -> str:
        kind, body, shown = found.groups()
        if kind == "console":
            commands = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]
            return "```console\n" + "".join(f"$ {one}\n{output_of(one)}" for one in commands) + "```"
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(body, "<page>", "exec"), names)
        below = f"\n\n```text\n{printed.getvalue()}```" if printed.getvalue() or shown else ""
        return f"```python\n{body}```{below}"

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return BLOCK.sub(run, page)


def with_commands(tutorial: str) -> str:
    """Return the text of a tutorial with the outputs of its commands, run where the tutorial was run."""

    def run(found: re.Match[str]) -> str:
        kind, body = found.groups()
        lines = [line.removeprefix("#").removeprefix("     ") for line in body.splitlines()]
        shown = []
        for line in lines if kind == "sh" else (line.removeprefix("$ ") for line in lines if line.startswith("$ ")):
            if line.startswith("cd "):
                os.chdir(line.removeprefix("cd "))
            output = output_of(line)
            shown += [f"$ {line}", *output.splitlines()] if kind == "console" else [line]
        below = "".join(f"#     {line}".rstrip() + "\n" for line in shown)
        return f"# .. code-block:: {kind}\n#\n{below}"

    with chdir("."):  # and back
        return COMMANDS.sub(run, tutorial)


def run_tutorial(path: Path) -> str:
    """Run a tutorial and then the commands in it, in an empty folder, and return its text with their outputs."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        subprocess.run([sys.executable, path], env=os.environ | {"MPLBACKEND": "agg"}, stdout=-3, check=True)
        return with_commands(path.read_text())


def output_of(command: str) -> str:
    """Return what a command of the page writes, to either of its outputs."""
    if command.startswith(("pip ", "git ", "cd ")):
        return ""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "100"}
    done = subprocess.run(command, shell=True, env=environment, stdout=-1, stderr=-2, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n" if done.stdout else ""


def comparable(page: str) -> str:
    """Return a page without what differs from run to run."""
    return VARYING.sub("...", page)


def differences(page: str, now: str) -> str:
    """Return how the outputs on a page differ from those of now, as a diff."""
    before, after = comparable(page).splitlines(), comparable(now).splitlines()
    return "\n".join(unified_diff(before, after, "the page", "what runs now", lineterm=""))


def main(check: bool, names: list[str]) -> None:
    """Go through the pages, all of them by default."""
    for name in names or PAGES:
        path = (TUTORIALS if name.endswith(".py") else DOCS) / name
        page = path.read_text()
        now = run_tutorial(path) if name.endswith(".py") else transcript(page)
        if check and differences(page, now):
            sys.exit(differences(page, now))
        if not check:
            path.write_text(now)
            print(f"wrote the outputs of {name}")


if __name__ == "__main__":
    main("--check" in sys.argv, [name for name in sys.argv[1:] if name != "--check"])
