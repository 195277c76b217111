"""Print the oldest version of every package that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for line in chain(project["dependencies"], *project["optional-dependencies"].values()):
    if not line.startswith(f"{project['name']}["):  # an extra made of other extras
        name, floor = re.fullmatch(r"([\w.-]+)>=(\d+\.\d+)", line).groups()
        print(f"{name}=={floor}.*")
