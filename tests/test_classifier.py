import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.basis import IndexBasis
from besvm.similarities import RBF, Latent, Linear, NegativeDistance, Sigmoid


def split(data, n):
    X, y = data
    return X[:n], y[:n], X[n:], y[n:]


def test_linear_is_a_drop_in_for_linear_svc(problem_data):
    X, y = problem_data
    ours = LinearSVMClassifier(C=0.5, penalize_intercept=True, tol=1e-8).fit(X, y)
    theirs = LinearSVC(C=0.5, tol=1e-9, max_iter=100_000, dual=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_binary_is_one_column(problem_data):
    X, y = problem_data
    two = y < 2
    ours = LinearSVMClassifier(penalize_intercept=True, class_weight="balanced", tol=1e-8).fit(X[two], y[two])
    theirs = LinearSVC(tol=1e-9, max_iter=100_000, class_weight="balanced", dual=False).fit(X[two], y[two])
    assert ours.coef_.shape == (1, 30)
    assert ours.decision_function(X).shape == (len(X),)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_class_weight_is_the_weight_of_a_rows_own_class(problem_data):
    X, y = problem_data
    own = {0: 1.0, 1: 3.0, 2: 0.2}
    by_class = LinearSVMClassifier(class_weight=own).fit(X, y)
    by_row = LinearSVMClassifier().fit(X, y, sample_weight=np.array([own[label] for label in y]))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-8)
    balanced = compute_class_weight("balanced", classes=np.unique(y), y=y)
    np.testing.assert_allclose(
        LinearSVMClassifier(class_weight="balanced").fit(X, y).coef_,
        LinearSVMClassifier(class_weight=dict(enumerate(balanced))).fit(X, y).coef_,
    )


def test_sparse_text_like_input(rng):
    X = csr_matrix(rng.random((300, 2000)) * (rng.random((300, 2000)) < 0.01))
    y = np.asarray(X[:, :50].sum(axis=1)).ravel() > 0.25
    np.testing.assert_allclose(
        LinearSVMClassifier(tol=1e-11).fit(X, y).coef_,
        LinearSVMClassifier(tol=1e-11).fit(X.toarray(), y).coef_,
        atol=1e-5,
    )


def test_warm_start_along_a_path(problem_data):
    X, y = problem_data
    clf = LinearSVMClassifier(warm_start=True, probability=False)
    for C in (0.01, 0.1, 1.0):
        clf.set_params(C=C).fit(X, y)
    cold = LinearSVMClassifier(C=1.0, probability=False).fit(X, y)
    np.testing.assert_allclose(clf.objective_, cold.objective_, rtol=1e-3)
    assert clf.fit(X, y).n_iter_ == 1  # nothing is left to do


def test_a_stopped_solver_warns(problem_data):
    with pytest.warns(ConvergenceWarning, match="above tol=1e-09; raise max_iter or tol"):
        clf = LinearSVMClassifier(max_iter=1, tol=1e-9, probability=False).fit(*problem_data)
    assert not clf.converged_


def test_besvm_is_as_good_as_a_kernel_svm_on_digits(digits):
    X, y, X_test, y_test = split(digits, 1000)
    svc = SVC().fit(X, y).score(X_test, y_test)
    linear = LinearSVC(dual=False).fit(X, y).score(X_test, y_test)
    clf = BESVMClassifier("rbf", basis=500, C=10, random_state=0).fit(X, y)
    assert clf.score(X_test, y_test) >= max(svc - 0.01, linear + 0.02)
    assert clf.n_basis_ == 500
    assert clf.converged_


@pytest.mark.parametrize("measures", [Sigmoid(gamma=1e-3), "manhattan", [RBF(), NegativeDistance(), Linear()]])
def test_indefinite_and_several_measures(digits, measures):
    X, y, X_test, y_test = split(digits, 600)
    clf = BESVMClassifier(measures, basis=IndexBasis(per_class=20)).fit(X, y)
    assert clf.score(X_test, y_test) > 0.93
    n = len(measures) if isinstance(measures, list) else 1
    assert clf.coef_.shape == (10, 200 * n)
    assert clf.n_basis_ == 200


def test_measures_may_have_features_and_a_basis_of_their_own(digits):
    X, y, X_test, y_test = split(digits, 600)
    clf = BESVMClassifier(
        [
            Measure("rbf", name="raw"),
            Measure("rbf", features=PCA(10), basis=[1, 2, 3], name="pca"),
            Measure("linear", features=PCA(10)),
        ],
        basis=40,
        random_state=0,
    ).fit(X, y)
    assert [len(rows) for rows in clf.basis_rows_] == [40, 3, 40]
    np.testing.assert_array_equal(clf.basis_rows_[0], clf.basis_rows_[2])
    assert len(clf._map.expander.transformers) == 1, "equal features are computed once"
    assert clf.score(X_test, y_test) > 0.9


@pytest.mark.parametrize("storage", ["disk", "recompute"])
def test_the_same_classifier_from_every_store(digits, storage):
    X, y, X_test, _ = split(digits, 900)
    options = {"basis": 300, "random_state": 0, "tol": 1e-5}
    expected = BESVMClassifier("rbf", **options).fit(X, y)
    got = BESVMClassifier("rbf", storage=storage, **options).fit(X, y)
    assert expected.storage_ == "memory"
    assert got.storage_ == storage
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=2e-3 * np.abs(expected.coef_).max())
    np.testing.assert_allclose(got.decision_function(X_test), expected.decision_function(X_test), atol=1e-3)


def test_the_plan_is_said_at_verbosity_one(digits, capsys):
    X, y, *_ = split(digits, 300)
    BESVMClassifier("rbf", basis=50, verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "besvm: features in memory: the features take" in said
    assert "relative duality gap" in said
    BESVMClassifier("rbf", basis=50).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_classes", [2, 10])
def test_probabilities_are_calibrated_and_agree_with_predict(digits, n_classes):
    X, y, X_test, y_test = split(digits, 800)
    X, X_test = X + 6 * np.sin(np.arange(64)), X_test + 6 * np.sin(np.arange(64))
    rng = np.random.default_rng(0)
    y, y_test = (np.where(rng.random(len(t)) < 0.15, rng.integers(0, 10, len(t)), t) for t in (y, y_test))
    if n_classes == 2:
        y, y_test = y % 2, y_test % 2
    clf = BESVMClassifier("rbf", basis=200, random_state=0).fit(X, y)
    chance = clf.predict_proba(X_test)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[chance.argmax(axis=1)], clf.predict(X_test))
    features = LinearSVC(dual=False)
    platt = CalibratedClassifierCV(features, cv=5, ensemble=False).fit(clf_features(clf, X), y)
    theirs = log_loss(y_test, platt.predict_proba(clf_features(clf, X_test)))
    assert log_loss(y_test, chance) <= theirs * 1.1


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"measures": ["rbf", "linear"], "normalize": "z-score"},
        {"normalize": Nystrom()},
        {"penalty": "l1", "C": 0.3},
        {"fit_intercept": False, "storage": "disk"},
        {"measures": lambda b, x: float(b @ x), "n_jobs": 1},
    ],
    ids=["rbf", "two", "nystrom", "l1", "disk", "function"],
)
def test_transform_gives_the_features_that_the_weights_multiply(digits, params):
    X, y, X_test, _ = split(digits, 200)
    clf = BESVMClassifier(**{"measures": RBF(1e-3), "basis": 30, "random_state": 0} | params).fit(X, y)
    features = clf.transform(X_test[:50])
    assert features.shape == (50, clf.coef_.shape[1])
    assert len(clf.get_feature_names_out()) == clf.coef_.shape[1]
    margins = features @ clf.coef_.T + clf.intercept_
    np.testing.assert_allclose(margins, clf.decision_function(X_test[:50]), rtol=1e-5, atol=1e-5)


def clf_features(clf, X):
    return clf._map(X)


def test_probabilities_can_be_left_out(digits):
    X, y, *_ = split(digits, 200)
    clf = BESVMClassifier(basis=20, probability=False).fit(X, y)
    assert not hasattr(clf, "predict_proba")


def test_strings_labels_pandas_and_pickle(digits):
    X, y, *_ = split(digits, 300)
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])[y]
    frame = pd.DataFrame(X).rename(columns=str)
    clf = BESVMClassifier("rbf", basis=60, random_state=0).fit(frame, names)
    assert set(clf.predict(frame)) <= set(names)
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.decision_function(frame), clf.decision_function(frame))


def test_grid_search_over_a_similaritys_own_parameters(digits):
    """With gamma 10 every image is similar to itself alone."""
    X, y, *_ = split(digits, 300)
    clf = BESVMClassifier(RBF(), basis=30, probability=False, random_state=0)
    search = GridSearchCV(clf, {"measures__gamma": [10.0, 1e-3], "C": [0.1, 1]}, cv=2)
    assert search.fit(X, y).best_params_["measures__gamma"] == 1e-3
    by_name = GridSearchCV(clone(clf).set_params(measures="rbf"), {"measures__gamma": [10.0, 1e-3]}, cv=2).fit(X, y)
    assert by_name.best_params_ == {"measures__gamma": 1e-3}
    assert by_name.estimator.measures == "rbf"


def test_grid_search_reaches_the_measures_that_have_a_name(digits):
    X, y, *_ = split(digits, 300)
    pairs = [("near", "rbf"), ("shape", Measure(RBF(), features=PCA(5))), "linear"]
    clf = BESVMClassifier(pairs, basis=30, probability=False, random_state=0)
    assert {"measures__near__similarity__gamma", "measures__shape__features__n_components"} <= set(clf.get_params())
    grid = {"measures__near__similarity__gamma": [10.0, 1e-3], "measures__shape__features__n_components": [3]}
    search = GridSearchCV(clf, grid, cv=2).fit(X, y)
    assert search.best_params_["measures__near__similarity__gamma"] == 1e-3
    best = search.best_estimator_._map.expander
    assert best.labels == ["near", "shape", "linear"]
    assert [m.similarity.get_params().get("gamma") for m in best.measures] == [1e-3, "scale", None]
    assert best.transformers[0].n_components == 3
    assert clf.measures is pairs
    assert pairs[0] == ("near", "rbf")
    with pytest.raises(
        ValueError, match="is not a parameter of these measures; those with a name are measures__linear, measures__near"
    ):
        clf.set_params(measures__far__similarity__gamma=1)
    with pytest.raises(ValueError, match="names of measures must differ"):
        BESVMClassifier([("a", "rbf"), ("a", "linear")]).fit(X, y)


@pytest.mark.parametrize("Estimator", [BESVMClassifier, BasisExpansion, KernelSVMClassifier, DualBESVMClassifier])
@pytest.mark.parametrize(
    ("measures", "name"),
    [
        ("rbf", "gamma"),
        (Measure("rbf"), "similarity__gamma"),
        (Latent("rbf"), "similarity__gamma"),
        (Measure(Latent("rbf")), "similarity__similarity__gamma"),
        (["linear", "rbf"], "rbf__similarity__gamma"),
        (("rbf", "linear"), "rbf__gamma"),
        ([("near", "rbf"), "linear"], "near__gamma"),
        ([("near", Latent("rbf"))], "near__similarity__similarity__gamma"),
        (["linear", Measure("rbf", name="near")], "near__gamma"),
    ],
)
def test_names_resolve_wherever_a_measure_is_given_by_one(Estimator, measures, name):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    estimator = Estimator(measures)
    before, text = estimator.get_params(deep=False), repr(estimator)
    copy = clone(estimator)
    assert copy.get_params().keys() == estimator.get_params().keys()
    copy.set_params(**{f"measures__{name}": 0.25}).fit(X, y)
    assert "gamma=0.25" in repr(copy.measures)
    assert clone(copy).get_params()["measures"] is not copy.measures
    assert repr(clone(copy)) == repr(copy)
    assert repr(estimator) == text
    assert estimator.get_params(deep=False) == before


REGISTERED_IN_MAIN = """
    import numpy as np
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from besvm import BESVMClassifier, Measure
    from besvm.baselines import KernelSVMClassifier
    from besvm.selection import GreedySelection
    from besvm.similarities import Latent, Similarity, register

    @register("mine")
    class Mine(Similarity):
        symmetric = psd = True

        def __init__(self, gamma=1.0):
            self.gamma = gamma

        def __call__(self, A, B):
            return np.exp(-self.gamma * ((A[:, None] - B) ** 2).sum(axis=2))

    if __name__ == "__main__":
        X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
        for measures in ("mine", ["mine", "linear"], [("a", "mine")], Measure("mine"), Latent("mine")):
            clf = BESVMClassifier(measures, basis=5, probability=False)
            found = GridSearchCV(clf, {"C": [0.1, 1.0]}, cv=2, n_jobs=2, error_score="raise").fit(X, y)
            assert repr(found.best_estimator_.measures) == repr(measures), found.best_estimator_
        for clf in (KernelSVMClassifier("mine"), GreedySelection(["mine", "linear"], basis=5)):
            cross_val_score(clf, X, y, cv=2, n_jobs=2, error_score="raise")
        tuned = GridSearchCV(BESVMClassifier("mine"), {"measures__gamma": [0.1, 1.0]}, cv=2, n_jobs=2)
        print("known", tuned.fit(X, y).best_estimator_.measures.gamma in (0.1, 1.0))
"""


@pytest.mark.slow
def test_a_similarity_registered_in_main_is_known_in_worker_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(REGISTERED_IN_MAIN))
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert run.stdout == "known True\n", run.stderr


def test_cross_validation_cuts_a_square_precomputed_matrix_both_ways(digits):
    X, y, *_ = split(digits, 200)
    K = RBF(1e-3)(X, X)
    assert cross_val_score(BESVMClassifier("precomputed", basis=50, random_state=0), K, y, cv=3).min() > 0.7


def test_cross_validation_scores_the_kind_of_model_that_fit_makes_of_a_square_matrix(digits, monkeypatch):
    """By default every column is an exemplar, whether or not cross-validation has cut the rows."""
    monkeypatch.setattr("besvm.basis.choose.AUTO_SIZE", 50)
    X, y, *_ = split(digits, 200)
    K = RBF(1e-3)(X, X)
    whole = BESVMClassifier("precomputed").fit(K, y)
    assert whole.n_basis_ == 200
    found = cross_validate(BESVMClassifier("precomputed"), K, y, cv=3, return_estimator=True)
    assert [one.n_basis_ for one in found["estimator"]] == [200, 200, 200]


def test_deterministic_for_a_seed(digits):
    X, y, X_test, _ = split(digits, 500)
    one, two = (BESVMClassifier(basis=80, random_state=5, n_jobs=2).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(X_test), two.decision_function(X_test))


def test_fit_takes_no_part_of_x_away(digits):
    X, y, *_ = split(digits, 300)
    before = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(BESVMClassifier(["rbf", "linear"], basis=50)).fit(X, y).predict(X)
    np.testing.assert_array_equal(X, before)


def test_the_default_tolerance_has_settled_the_accuracy(digits):
    """Twenty times tighter changes next to no prediction."""
    X, y, X_test, _ = split(digits, 1000)
    usual = BESVMClassifier("rbf", basis=500, random_state=0).fit(X, y).predict(X_test)
    tight = BESVMClassifier("rbf", basis=500, random_state=0, tol=5e-5).fit(X, y).predict(X_test)
    assert (usual != tight).mean() < 0.003
