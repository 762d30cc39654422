"""LogisticRegressionCV: scikit-learn as oracle, its attributes in both layouts, and folds that are hard."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as peer
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold

from learnt.linear_model import LogisticRegression, LogisticRegressionCV

CLOSE = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


def problem(classes=2, n=240):
    X, y = make_classification(n, 6, n_informative=4, n_classes=classes, class_sep=0.7, flip_y=0.1, random_state=1)
    return X * [1, 10, 0.1, 1, 1, 1] + 2.0, np.array(["ant", "bee", "cat"])[y]


def theirs(X, y, legacy=True, fit=None, **params):
    model = peer.LogisticRegressionCV(**{"l1_ratios": (0.0,), **CLOSE, **params, "use_legacy_attributes": legacy})
    return model.fit(X, y, **(fit or {}))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score", "balanced_accuracy"])
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.sweep
def test_scores_paths_and_choice_are_scikit_learns(classes, scoring, legacy):
    X, y = problem(classes)
    params = {"Cs": 6, "cv": 4, "scoring": scoring, "l1_ratios": (0.0,)}
    ours = LogisticRegressionCV(**params, use_legacy_attributes=legacy).fit(X, y)
    other = theirs(X, y, legacy, **params)
    np.testing.assert_allclose(ours.C_, other.C_)
    np.testing.assert_allclose(ours.l1_ratio_, other.l1_ratio_)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.Cs_, other.Cs_)
    assert np.shape(ours.n_iter_) == np.shape(other.n_iter_)
    if legacy:
        assert list(ours.scores_) == list(other.scores_)
        for label, scores in other.scores_.items():
            np.testing.assert_allclose(ours.scores_[label], scores, atol=1e-4)
            np.testing.assert_allclose(ours.coefs_paths_[label], other.coefs_paths_[label], atol=5e-3)
    else:
        np.testing.assert_allclose(ours.scores_, other.scores_, atol=1e-4)
        np.testing.assert_allclose(ours.coefs_paths_, other.coefs_paths_, atol=5e-3)


def test_without_ratios_their_dimension_is_not_there():
    X, y = problem()
    ours = LogisticRegressionCV(Cs=3, cv=3, l1_ratios=None, fit_intercept=False).fit(X, y)
    assert ours.scores_["bee"].shape == (3, 3)
    assert ours.coefs_paths_["bee"].shape == (3, 3, 6)
    assert ours.n_iter_.shape == (1, 3, 3)
    np.testing.assert_array_equal(ours.intercept_, 0.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_refit_the_folds_bests_are_averaged(classes):
    X, y = problem(classes)
    params = {"Cs": 5, "cv": 3, "refit": False, "scoring": "neg_log_loss"}
    ours, other = LogisticRegressionCV(**params).fit(X, y), theirs(X, y, **params)
    np.testing.assert_allclose(ours.C_, other.C_)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_shares_of_the_absolute_penalty(classes):
    X, y = problem(classes)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    params = {"Cs": [0.1, 0.3, 3.0], "cv": 3, "scoring": "neg_log_loss", "l1_ratios": (0.0, 0.5, 1.0)}
    ours = LogisticRegressionCV(**params, use_legacy_attributes=False).fit(X, y)
    other = theirs(X, y, False, **{**params, "solver": "saga", "tol": 1e-7, "max_iter": 20000})
    assert (ours.C_, ours.l1_ratio_) == (other.C_, other.l1_ratio_)
    assert ours.coefs_paths_.shape == other.coefs_paths_.shape == (3, 3, 3, 1 if classes == 2 else 3, 7)
    np.testing.assert_allclose(ours.scores_, other.scores_, atol=1e-4)
    np.testing.assert_allclose(ours.coefs_paths_, other.coefs_paths_, atol=5e-3)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3)
    assert np.count_nonzero(ours.coefs_paths_[:, 2, 0, :, :-1]) < ours.coefs_paths_[:, 2, 0, :, :-1].size
    legacy = LogisticRegressionCV(**params).fit(X, y)
    assert legacy.scores_["bee"].shape == (3, 3, 3)
    np.testing.assert_array_equal(legacy.scores_["bee"], ours.scores_.swapaxes(1, 2))


def test_the_last_fit_is_that_of_logistic_regression():
    X, y = problem(3)
    ours = LogisticRegressionCV(Cs=4, cv=3).fit(X, y)
    alone = LogisticRegression(C=ours.C_[0]).fit(X, y)
    np.testing.assert_allclose(ours.coef_, alone.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), alone.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), alone.predict(X))
    assert ours.score(X, y) == alone.score(X, y)


def test_score_is_by_the_scoring():
    X, y = problem(3)
    ours = LogisticRegressionCV(Cs=3, cv=3, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(ours.score(X, y), -log_loss(y, ours.predict_proba(X)))
    own = make_scorer(log_loss, response_method="predict_proba", greater_is_better=False)
    same = LogisticRegressionCV(Cs=3, cv=3, scoring=own).fit(X, y)
    np.testing.assert_allclose(same.scores_["ant"], ours.scores_["ant"], rtol=1e-6)


def test_weights_of_rows_and_classes():
    X, y = problem()
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    for params in ({}, {"class_weight": "balanced"}, {"class_weight": {"ant": 3.0, "bee": 1.0}}):
        params = {"Cs": 4, "cv": 3, "scoring": "neg_log_loss", **params}
        ours = LogisticRegressionCV(**params).fit(X, y, sample_weight=w)
        other = theirs(X, y, fit={"sample_weight": w}, **params)
        np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ours.scores_["bee"][:, :, None], other.scores_["bee"], atol=1e-4)


def test_sparse_and_single_precision():
    X, y = problem(3)
    X[np.abs(X) < 1] = 0
    dense = LogisticRegressionCV(Cs=4, cv=3).fit(X, y)
    thin = LogisticRegressionCV(Cs=4, cv=3).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-5)
    narrow = LogisticRegressionCV(Cs=4, cv=3).fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, dense.coef_, atol=1e-3)


def test_splitters_and_lists_of_folds():
    X, y = problem()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    first = LogisticRegressionCV(Cs=3, cv=cv).fit(X, y)
    again = LogisticRegressionCV(Cs=3, cv=list(cv.split(X, y))).fit(X, y)
    np.testing.assert_array_equal(first.scores_["bee"], again.scores_["bee"])
    shuffled = LogisticRegressionCV(Cs=list(first.Cs_[::-1]), cv=cv).fit(X, y)
    np.testing.assert_allclose(shuffled.scores_["bee"][:, ::-1], first.scores_["bee"], atol=1e-12)


def test_folds_that_lack_a_class():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegressionCV(Cs=3, cv=KFold(3), scoring="neg_log_loss").fit(X, y)  # rows are sorted by class
    assert model.coefs_paths_[0].shape == (3, 3, 5)
    assert np.isfinite(model.scores_[0]).all()
    assert model.coef_.shape == (3, 4)
    two = LogisticRegressionCV(cv=KFold(2), scoring="neg_brier_score").fit(X[:100], y[:100])
    np.testing.assert_allclose(two.scores_[1], -1.0)  # each fold knows only the other's class
    assert two.score(X[:100], y[:100]) < 0.0


def test_ordinary_data_never_warn():
    for load in (load_iris, load_breast_cancer):
        model = LogisticRegressionCV().fit(*load(return_X_y=True))
        assert model.score(*load(return_X_y=True)) > 0.95


def test_separable_without_penalty_ends():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="separated exactly .* leave np.inf out of Cs"):
        model = LogisticRegressionCV(Cs=[1.0, np.inf], cv=3).fit(X[:100], y[:100])
    assert model.score(X[:100], y[:100]) == 1.0


def test_refusals_are_one_sentence():
    X, y = problem()
    cases = [
        ({}, np.zeros(len(y)), "only one class"),
        ({"Cs": 0}, y, "'Cs' parameter"),
        ({"Cs": [1.0, -1.0]}, y, "'Cs' parameter"),
        ({"l1_ratios": [0.0, 2.0]}, y, "numbers between 0 and 1"),
        ({"penalty": "elasticnet"}, y, "numbers between 0 and 1"),
        ({"class_weight": {"dog": 1.0}}, y, "must have the class labels as keys"),
        ({"class_weight": "even"}, y, "'class_weight' parameter"),
        ({"refit": "yes"}, y, "'refit' parameter"),
    ]
    for params, target, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            LogisticRegressionCV(**params).fit(X, target)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        LogisticRegressionCV().fit(X, y, groups=y)


def test_an_unfinished_search_reports_its_progress():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match=r"stopped \d+ of its fits early, .* raise max_iter above 1"):
        LogisticRegressionCV(max_iter=1, Cs=3, cv=3).fit(X, y)
