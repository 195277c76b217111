"""What a greedy selection tells: its report, its plot, and what is wrong with its input."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from besvm import Measure
from searches import CANDIDATES, select


def root(X):
    with np.errstate(invalid="ignore"):
        return np.sqrt(X - 0.5)


def test_a_nan_behind_features_names_the_candidate(split):
    """That of an exemplar, and that of a sample alone."""
    X, y, X_val, y_val = split
    measures = ["linear", Measure("linear", features=FunctionTransformer(root)), Measure("rbf", name="good")]
    with pytest.raises(ValueError, match=r"exemplars of 'linear.1' must be finite, got NaN .* \(training row 0\)"):
        select(measures).fit(X, y, X_val, y_val)
    positive = X[:300] + 1.0
    positive[299] = -1.0
    with pytest.raises(
        ValueError, match=r"'linear.1' must be finite, got nan for the pair of exemplar 0 .* sample 299"
    ):
        select(measures).fit(positive, y, X_val + 1.0, y_val)


# --- what it shows -----------------------------------------------------------------------------------------------


def test_the_report_names_every_candidate_and_marks_the_chosen(split):
    greedy = select()
    assert str(greedy) == repr(greedy)
    greedy.fit(*split)
    text = str(greedy)
    assert text == greedy.report()
    lines = text.splitlines()
    assert lines[0] == "3 of 4 measures, chosen on 400 held-out rows (300 to train on)"
    assert [line.split()[0] for line in lines[2:6]] == CANDIDATES
    assert text.count("*") == 3
    for name in greedy.names_:
        assert next(line for line in lines if line.startswith(name)).endswith("*")


def test_the_plot_shows_every_trial_and_the_path(split):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    greedy = select().fit(*split)
    _, ax = plt.subplots()
    assert greedy.plot(ax) is ax
    *dots, path = ax.lines
    np.testing.assert_allclose(path.get_ydata(), [step.accuracy for step in greedy.trace_])
    assert [len(dot.get_ydata()) for dot in dots] == [3, 2, 1]
    assert [text.get_text().removeprefix("+ ") for text in ax.texts] == greedy.names_
    assert greedy.plot() is not ax
    plt.close("all")


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"validation": 1.0}, "validation must be a share between 0 and 1, got 1.0"),
        ({"validation": 0}, "validation must be a positive number, got 0"),
        ({"n_measures": 0}, "n_measures must be a whole number of at least 1, got 0"),
        ({"min_gain": np.nan}, "min_gain must be a finite number or None, got nan"),
        ({"min_gain": "some"}, "min_gain must be a finite number or None, got 'some'"),
        ({"candidates": []}, "must name at least one similarity"),
        ({"folder": "x", "random_state": None}, "random_state must be a whole number if you give a folder"),
        ({"C": -1}, "C must be a positive number, got -1"),
        ({"normalize": "max"}, "normalize must be"),
    ],
)
def test_bad_parameters_are_explained(split, params, sentence):
    with pytest.raises(ValueError, match=sentence):
        select().set_params(**params).fit(*split)


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_folder_that_is_a_file_is_explained(split, tmp_path, inside):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"folder must be a folder, new or existing, got '.*file"):
        select(folder=tmp_path / "file" / inside).fit(*split)


def test_bad_rows_are_explained(split):
    X, y, X_val, y_val = split
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        select().fit(X, y, X_val)
    with pytest.raises(ValueError, match="X_val and y_val must have the same length, got 400 and 399"):
        select().fit(X, y, X_val, y_val[1:])
    with pytest.raises(ValueError, match="expecting 64 features"):
        select().fit(X, y, X_val[:, 1:], y_val)
