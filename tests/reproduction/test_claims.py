"""What a reproduction concludes from its tables, and the page that says so."""

import json
from itertools import product

import numpy as np
import pytest

from besvm.reproduction.cells import (
    OURS,
    PAPER,
    Claim,
    Experiment,
    Undefined,
    check,
    columns_of,
    distinct,
    tally,
    value,
    where,
)
from besvm.reproduction.config import FULL, M2, MEASURES, QUICK
from besvm.reproduction.experiments import MODULES, experiments
from besvm.reproduction.experiments.eigs import correlation
from besvm.reproduction.experiments.sparsity import lead, sparser, sparsest
from besvm.reproduction.page import Page, Section, html_page, show, write_table

TABLE = [{"a": 1, "b": 0.5}, {"a": 2, "b": 0.25}, {"a": 1, "b": 1.5}]


def test_tables():
    assert where(TABLE, a=2) == [TABLE[1]]
    assert value(TABLE, "b", a=1) == 1.0
    assert np.isnan(value(TABLE, "b", a=3))
    assert distinct(TABLE, "a") == [1, 2]
    assert columns_of([{"a": 1, "long": [1, 2]}, {"a": 2, "b": 3}]) == ["a", "b"]


def test_what_is_not_known_of_some_is_not_known_of_all():
    known, missing = (value(TABLE, "b", a=a) for a in (1, 3))
    for one in (known - missing, missing / known, np.max([missing, known]), np.min([known, missing])):
        assert check(*WORDS, lambda a: a > 1, [known, one]).verdict == "not measured"


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (0.61234, "0.612"),
        (2.2, "2.2"),
        (12.5, "12.5"),
        (0.0, "0"),
        (12345, "12,345"),
        (None, ""),
        (np.nan, ""),
        (True, "yes"),
    ],
)
def test_entries_are_shown_for_people(entry, text):
    assert show(entry) == text


WORDS = "x", "x > 1", "{:.1f}"


def test_claim_without_its_values_is_not_measured():
    assert check(*WORDS, lambda a: a > 1, [2.0]).verdict == "holds"
    assert check(*WORDS, lambda a: a > 1, [2.0]).measured == "2.0"
    assert check(*WORDS, lambda a: a > 1, [0.5]).verdict == "does not hold"
    assert check(*WORDS, lambda a: a > 1, [np.nan]).verdict == "not measured"
    undefined = check(*WORDS, lambda a: a > 1, [Undefined("nothing varies")])
    assert (undefined.verdict, undefined.measured) == ("undefined", "nothing varies")


def test_correlation_is_pearsons():
    table = [{"NgRat": x, "accuracy": x**2} for x in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    x = np.array([row["NgRat"] for row in table])
    assert correlation(table, "NgRat", "accuracy") == pytest.approx(np.corrcoef(x, x**2)[0, 1])
    assert isinstance(correlation([{"NgRat": 0.0, "accuracy": 0.5}] * 6, "NgRat", "accuracy"), Undefined)
    assert np.isnan(correlation(table[:3], "NgRat", "accuracy"))


def test_sparser_reads_the_curve_between_two_sizes():
    ours = [{"accuracy": 0.6, "exemplars": 10}, {"accuracy": 0.8, "exemplars": 1000}]
    assert sparser({"accuracy": 0.7, "exemplars": 1000}, ours, "exemplars") == pytest.approx(10.0)  # 100 at .7
    assert sparser({"accuracy": 0.9, "exemplars": 1000}, ours, "exemplars") == 0.0  # never
    assert sparser({"accuracy": 0.5, "exemplars": 1000}, ours, "exemplars") == pytest.approx(100.0)


def test_lead_is_the_smallest_at_equal_size():
    ours = [{"accuracy": 0.6, "exemplars": 10}, {"accuracy": 0.8, "exemplars": 1000}]
    kernel = [{"accuracy": 0.65, "exemplars": 100}, {"accuracy": 0.78, "exemplars": 5000}]
    assert lead(kernel, ours, "exemplars") == pytest.approx(0.02)
    assert np.isnan(lead([{"accuracy": 0.1, "exemplars": 5}], ours, "exemplars"))  # smaller than anything of ours


def multiple_table(folds: tuple[int, ...], gain: float = 0.09) -> list[dict]:
    """Return the table of several measures in which M2 gains so much over H8R, whatever the basis."""
    sets = [("M2", 1), ("M1", 2), ("M1", 3), ("M2", 2), ("M2", 3), ("M2", 4)]
    scores = {("M2", 4): 0.6 + gain, ("M2", 1): 0.6}
    return [
        {
            "set": name,
            "measures": count,
            "per_class": size,
            "folds": n,
            "exemplars": 10 * size,
            "parameters": 2482 * size,
        }
        | {"accuracy": scores.get((name, count), 0.6 + 0.02 * count)}
        for (name, count), size, n in product(sets, FULL.sizes, folds)
    ]


def test_partial_table_gives_no_verdict():
    """One fold of three says nothing of "all the data"."""
    sentence = "With all the data, the two-resolution set gains 8 to 10 % over the best PSD kernel, H8R."
    (multiple,) = experiments(["multiple"])
    for folds, expected in (((1,), "not measured"), ((1, 3), "not measured"), ((1, 3, 5), "holds")):
        verdicts = {claim.sentence: claim.verdict for claim in multiple.claims(FULL, multiple_table(folds))}
        assert verdicts[sentence] == expected
    whole = multiple_table((1, 3, 5), gain=0.05)
    assert {claim.sentence: claim.verdict for claim in multiple.claims(FULL, whole)}[sentence] == "does not hold"


def test_accuracy_never_reached_is_a_refutation():
    (sparsity,) = experiments(["sparsity"])
    K8R = [
        {"model": "K8R", "folds": n, "accuracy": 0.9, "exemplars": 8000 * n, "parameters": 10**6} for n in range(1, 6)
    ]
    claims = sparsity.claims(FULL, [], K8R, multiple_table((1, 3, 5)))
    refuted = [claim for claim in claims if "M2 never reaches K8R's 90.0%" in claim.measured]
    assert [claim.verdict for claim in refuted] == ["does not hold"] * 2


def test_means_over_some_measures_are_no_verdict():
    """Interrupted after ten of eleven measures, the normalizations have no mean."""
    (normalizations,) = experiments(["normalizations"])
    table = [
        {"features": f, "kernel_map": k, "measures": measure, "accuracy": 0.5, "accuracy_cv": 0.5}
        for f, k, measure in product(("none", "z-score", "BE-SVM"), ("none", "z-score", "BE-SVM"), MEASURES[:-1])
    ]
    single = [claim for claim in normalizations.claims(FULL, table) if "single" in claim.sentence]
    assert single
    assert all(claim.verdict == "not measured" for claim in single)


@pytest.mark.parametrize(("chosen", "verdict"), [(0.505, "holds"), (0.53, "does not hold")])
def test_one_measure_that_wants_another_cost_is_enough(chosen, verdict):
    """H8R is a measure and the beginning of M2: what C does to it is not said of the sets that follow."""
    (normalizations,) = experiments(["normalizations"])
    table = [
        {
            "features": "BE-SVM",
            "kernel_map": "BE-SVM",
            "measures": label,
            "accuracy": 0.5,
            "accuracy_cv": chosen if label == "H8R" else 0.5,
        }
        for label in {*MEASURES, *(" + ".join(M2[:count]) for count in (2, 3, 4))}
    ]
    (claim,) = [claim for claim in normalizations.claims(FULL, table) if claim.sentence.startswith("C = 1 is enough")]
    assert claim.verdict == verdict
    assert "0.0% for the first two" in claim.measured
    assert f"{chosen - 0.5:.1%} for single" in claim.measured


@pytest.mark.parametrize("name", MODULES)
def test_nothing_measured_is_said_so(name):
    """Every claim of every experiment copes with empty tables, and says when it would hold."""
    (experiment,) = experiments([name])
    claims = list(experiment.claims(FULL, *[[] for _ in range(1 + len(experiment.uses))]))
    assert all(claim.verdict == "not measured" for claim in claims)
    assert all(claim.criterion and not claim.criterion.endswith(".") for claim in claims)
    assert not list(experiment.drawn(FULL, *[[] for _ in range(1 + len(experiment.uses))]))


def test_sizes_are_those_of_the_configuration():
    notes = [experiment.note.format(config=QUICK) for experiment in experiments()]
    assert not any("200 points" in note or "10 x 250" in note or "10 x 100" in note for note in notes)


def test_page_counts_our_claims_by_themselves(build):
    claims = [Claim("theirs", "a > b", "1 and 0", "holds"), Claim("own", "a > b", "0 and 1", "does not hold", OURS)]
    assert claims[0].origin == PAPER
    page = Page([Section(Experiment("x", "y", "z"), claims=claims, n_test=10_000)], "about", "a small version")
    in_html, in_markdown = html_page(page), build["markdown_page"](page, "figures")
    assert in_html.count("1 claim: 1 holds.") == 1
    assert in_html.count("1 claim: 1 does not hold.") == 1
    assert in_html.count("Holds if a &gt; b.") == 2
    assert "standard error of about 0.5%" in in_html
    assert '<p class="warning">a small version</p>' in in_html
    assert tally([claims[1], claims[1]]) == "2 claims: 2 do not hold."
    assert "**a small version**" in in_markdown
    assert "| theirs | 1 and 0 | a > b | holds |" in in_markdown


def test_page_escapes_what_it_shows(build):
    experiment = Experiment("x", "a < b", "the paper & more")
    page = Page([Section(experiment, table=[{"a": "<script>"}, {"a": "b|c"}])], "about")
    assert "<td>&lt;script&gt;</td>" in html_page(page)
    assert "<script>" not in html_page(page)
    assert ">a &lt; b</h2>" in html_page(page)
    assert "the paper &amp; more" in html_page(page)
    assert "| b\\|c |" in build["markdown_page"](page, "figures")


def test_tables_are_valid_json(tmp_path):
    write_table(tmp_path, "full", [{"a": 1.5}], {"title": "x"})
    assert json.loads((tmp_path / "tables" / "full.json").read_text()) == {"title": "x", "rows": [{"a": 1.5}]}


# --- verdicts, both ways ---------------------------------------------------------------------------------------------


def verdict(name: str, words: str, *tables: list[dict]) -> bool | None:
    """Return the verdict on the claim of an experiment whose sentence has these words."""
    (claim,) = [claim for claim in experiments([name])[0].claims(FULL, *tables) if words in claim.sentence]
    return {"holds": True, "does not hold": False, "not measured": None}[claim.verdict]


def kernel_svm(power: float = 2.0, **scores: float) -> list[dict]:
    """Return a table of baselines in which training takes folds to this power, and K8R scores .6 + .02 folds."""
    return [
        {
            "model": model,
            "folds": n,
            "train_seconds": 2.0 * n**power,
            "exemplars": 8000 * n,
            "parameters": 4 * 10**6 * n,
        }
        | {"accuracy": scores.get(f"{model}_{n}", 0.6 + 0.02 * n)}
        for model, n in product(("K8R", "K4R", "H8L", "H4L"), range(1, 6))
    ]


def test_verdicts_on_the_baselines():
    assert verdict("baselines", "kernel SVM K8R benefits", kernel_svm()[1:]) is None
    assert verdict("baselines", "kernel SVM K8R benefits", kernel_svm()) is True
    assert verdict("baselines", "kernel SVM K8R benefits", kernel_svm(K8R_4=0.6)) is False
    assert verdict("baselines", "saturates", kernel_svm(H8L_5=0.681)) is True
    assert verdict("baselines", "saturates", kernel_svm()) is False


@pytest.mark.parametrize(("power", "holds"), [(1.5, False), (2.1, True), (3.5, False)])
def test_verdict_on_the_time_of_the_kernel_svm(power, holds):
    assert verdict("complexity", "between quadratically and cubically", [], kernel_svm(power)) is holds
    assert verdict("complexity", "between quadratically and cubically", [], kernel_svm(power)[:4]) is None


@pytest.mark.parametrize(("power", "holds"), [(0.5, False), (1.0, True), (1.5, False)])
def test_verdicts_on_the_growth_of_besvm(power, holds):
    runs = [{"model": "BE-SVM", "n": n, "measures": 1, "exemplars": 1000} for n in (2500, 5000, 10000, 20000)]
    runs += [{"model": "BE-SVM", "n": 20000, "measures": m, "exemplars": 1000} for m in (2, 4)]
    runs += [{"model": "BE-SVM", "n": 20000, "measures": 1, "exemplars": b, "bases": b} for b in (2000, 4000)]
    for run in runs:
        run["train_seconds"] = (run["n"] * run["measures"] * run["exemplars"]) ** power
        run["train_MB"] = run["n"] ** power
    for what in ("the data", "the number of measures", "the size of the basis"):
        assert verdict("complexity", f"linearly with {what} for BE-SVM", runs, []) is holds
        assert verdict("complexity", f"linearly with {what} for BE-SVM", runs[:3], []) is None
    kernel = [{"model": "kernel SVM", "n": n, "measures": 1, "train_MB": n**2} for n in (2500, 5000, 10000, 20000)]
    assert verdict("complexity", "Memory grows quadratically", runs + kernel, []) is (power <= 1.2)


@pytest.mark.parametrize(("accuracy", "holds"), [(0.5, True), (0.595, False), (0.65, False)])
def test_verdicts_on_jittering(accuracy, holds):
    table = [
        {"model": model, "images": images, "jitter": jitter, "accuracy": 0.6 if jitter == 0 else accuracy}
        | {"train_seconds": 1.0 + 8 * jitter, "train_MB": 10.0 + (20.0 if holds else 5.0) * jitter}
        for model, images, jitters in (
            ("linear SVM, H8", 10_000, (0, 1)),
            ("linear SVM, H4", 10_000, (0, 1, 2)),
            ("kernel SVM, K8R", 2_000, (0, 1)),
        )
        for jitter in jitters
    ]
    for model in ("linear SVM, H8", "linear SVM, H4", "kernel SVM, K8R"):
        assert verdict("jittering", f"loses accuracy significantly: {model}", table) is holds
    assert verdict("jittering", "increases time", table) is True
    assert verdict("jittering", "increases memory", table) is holds
    assert verdict("jittering", "increases memory", table[:-1]) is None


@pytest.mark.parametrize(("alpha", "parameters", "holds"), [(0.3, 20e6, True), (0.3, 9e6, False), (0.0, 20e6, False)])
def test_verdict_on_the_parameters_of_a_mixture(alpha, parameters, holds):
    table = [{"first": "H4R", "second": "H8R", "alpha": alpha, "parameters": parameters, "accuracy": 0.6}]
    assert verdict("mkl", "parameters increase approximately 4 times", table, kernel_svm()) is holds
    assert verdict("mkl", "parameters increase approximately 4 times", table, []) is None


@pytest.mark.parametrize(
    ("seconds", "accuracy", "holds"), [(10.0, 0.75, True), (30.0, 0.75, False), (10.0, 0.7, False)]
)
def test_verdicts_on_the_aim(seconds, accuracy, holds):
    ours = {"model": "BE-SVM, M2", "train_seconds": seconds, "predict_ms_per_image": seconds, "accuracy": accuracy}
    theirs = {"train_seconds": 100.0, "predict_ms_per_image": 100.0, "accuracy": 0.72}
    table = [ours, theirs | {"model": "SVC (scikit-learn), K8R"}]
    assert verdict("endtoend", "trains at least 5 times faster than SVC", table) is holds
    assert verdict("endtoend", "predicts at least 5 times faster than SVC", table) is (seconds == 10.0)


def test_sparsest_set_is_named():
    """Curves that begin above the kernel SVM say nothing of how small they could have been."""
    kernel = [{"model": "K8R", "folds": n, "accuracy": 0.6 + 0.01 * n, "exemplars": 10**4} for n in (1, 5)]
    multiple = multiple_table((5,))
    assert sparsest(kernel, multiple, "exemplars", FULL) is None
    for row in multiple:
        row["accuracy"] = 0.5 + 0.1 * (row["per_class"] > 25) + 0.1 * (row["set"] == "M1" and row["per_class"] > 50)
    times, name, folds = sparsest(kernel, multiple, "exemplars", FULL)
    assert (name, folds) == ("M1, first 3", 1)
    assert 10 < times < 20  # between 500 and 1,000 exemplars
