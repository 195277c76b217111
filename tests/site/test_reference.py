"""The reference: every public name, command and option is in it, with all that a reader needs to know."""

import dataclasses
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
import site_commands
import site_names
from site_tutorials import ORDER, Order

NAMES = [(module, name) for module in site_names.MODULES for name in site_names.names_of(module)]
NAMES = [(module, name) for module, name in NAMES if f"{module}.{name}" not in site_names.MODULES]
FULL = [f"{module}.{name}" for module, name in NAMES]
RETURNED = {"besvm.inputs.Stream", "besvm.datasets.Cifar10"}  # by functions: nobody makes them by hand
NEEDED = {  # of numpydoc's checks
    "PR01": "a parameter is not documented",
    "PR02": "an unknown parameter is documented",
    "PR03": "the order of parameters differs",
    "PR04": "a parameter has no type",
    "PR07": "a parameter has no description",
    "RT01": "what is returned is not said",
    "RT03": "what is returned has no description",
    "EX01": "there is no example",
    "SS01": "there is no summary",
}


@pytest.mark.parametrize(("module", "name"), NAMES, ids=FULL)
def test_every_public_name_has_an_example(module, name):
    assert ">>>" in (getattr(import_module(module), name).__doc__ or "")


@pytest.mark.parametrize(("module", "name"), NAMES, ids=FULL)
def test_every_parameter_has_a_type_and_a_description(module, name):
    validate = pytest.importorskip("numpydoc.validate").validate
    thing = getattr(import_module(module), name)
    needed = dict(NEEDED)
    if f"{module}.{name}" in RETURNED:
        needed.pop("PR01")
    if dataclasses.is_dataclass(thing):  # which nobody makes by hand: their fields are attributes
        fields = {field.name for field in dataclasses.fields(thing) if field.repr and not field.name.startswith("_")}
        documented = set(re.findall(r"^ {4}(\w[\w, ]*) :", thing.__doc__, flags=re.M))
        assert fields <= {one.strip() for line in documented for one in line.split(",")}
        needed.pop("PR01")
    wrong = [message for code, message in validate(f"{module}.{name}")["errors"] if code in needed]
    assert wrong == []


def test_public_modules_declare_what_the_reference_shows():
    for module, names in site_names.MODULES.items():
        for name in names or []:
            assert hasattr(import_module(module), name)


def test_every_module_is_on_the_first_page_of_the_reference():
    page = (Path(__file__).parent.parent.parent / "docs" / "reference" / "index.md").read_text()
    assert set(re.findall(r"<modules/([\w.]+)>", page)) == set(site_names.MODULES)


def test_modules_that_declare_their_names_show_all_of_them():
    """What is shown on the page of besvm itself is not shown again; what is left out here is no part of the API."""
    besvm = import_module("besvm")
    left_out = {"prune", "Layout", "Affine", "Identity", "RawSimilarities", "Rotation", "Normalizer", "KINDS", "Data"}
    left_out |= {"as_normalization", "MeanNormScaler", "Nystrom"}
    for module in site_names.MODULES:
        declared = set(getattr(import_module(module), "__all__", ())) - (left_out | set(besvm.__all__))
        assert declared <= set(site_names.names_of(module)), module


def test_similarities_stand_below_their_kind():
    groups = site_names.by_kind("besvm.similarities")
    assert "DTW" in groups["series"]
    assert "Similarity" in groups[site_names.KINDS[-1]]
    assert sum(map(len, groups.values())) == len(site_names.names_of("besvm.similarities"))


def test_methods_shown_are_those_that_people_call():
    assert {"fit", "predict", "predict_proba", "score", "transform"} <= set(
        site_names.methods_of("besvm.BESVMClassifier")
    )
    assert "fit_transform" in site_names.inherited_of("besvm.BESVMClassifier")
    assert "__call__" in site_names.methods_of("besvm.similarities.Similarity")
    assert site_names.methods_of("besvm.similarities.RBF") == []


def test_every_command_and_option_is_on_the_page():
    from typer.main import get_command

    from besvm.cli import app

    sections = re.split(r"\n\nbesvm (\w+)\n-{3,}\n", site_commands.page())
    named = dict(zip(sections[1::2], sections[2::2], strict=True))
    program = get_command(app)
    assert len(program.commands) >= 11
    for name, command in program.commands.items():
        section = named[name]
        for parameter in command.params:
            shown = parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]
            assert all(re.search(rf"option:: .*{re.escape(one)}\b", section) for one in shown), (name, parameter.name)
        assert "\\b" not in section


def test_docstrings_lead_to_pages():
    assert site_names.linked("by equation 4 of the paper") == "by :doc:`equation 4 of the paper </ideas>`"
    assert site_names.linked("(equations 1 and 2)") == "(:doc:`equations 1 and 2 </ideas>`)"
    assert site_names.linked("docs/model-files.md describes it") == ":doc:`/model-files` describes it"


def test_help_texts_become_markup():
    assert site_commands.prose("`besvm train` and 'edit\\[name]' | *") == "``besvm train`` and 'edit[name]' \\| \\*"
    assert site_commands.prose("like tcp://host:8786, or") == "like ``tcp://host:8786``, or"


def test_tutorials_have_an_order_that_bears_missing_and_unknown_ones():
    order = Order("anywhere")
    assert sorted(["zebra.py", "cluster.py", "first_steps.py", "ants.py"], key=order) == [
        *("first_steps.py", "cluster.py", "ants.py", "zebra.py")
    ]
    assert len(set(ORDER)) == 12


def test_public_names_of_the_reference_are_plain_functions_and_classes():
    for module, name in NAMES:
        thing = getattr(import_module(module), name)
        assert inspect.isclass(thing) or inspect.isfunction(thing), name
