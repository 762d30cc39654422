"""Voting: scikit-learn's answers around the same members, and the sentences of its refusals."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
from scipy import sparse

from learnt.baseline import ConstantRegressor
from learnt.ensemble import VotingClassifier, VotingRegressor
from learnt.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier

CLASSIFIERS = [
    ("logistic", LogisticRegression()),
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(3)),
]
REGRESSORS = [("line", LinearRegression()), ("ridge", Ridge(alpha=50.0)), ("mean", ConstantRegressor())]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.array(["ant", "bee", "cat"])[np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=150), [0.3, 1.2])]
    return X, y, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=150)


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [2, 0.5, 1.1]], ids=["plain", "weights"])
@pytest.mark.parametrize("drop", [False, True])
def test_votes_are_scikit_learns(table, voting, weights, drop):
    X, y, _ = table
    ours = VotingClassifier(list(CLASSIFIERS), voting=voting, weights=weights)
    theirs = peer.VotingClassifier(list(CLASSIFIERS), voting=voting, weights=weights)
    for model in (ours, theirs):
        if drop:
            model.set_params(bayes="drop")
        model.fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert hasattr(ours, "predict_proba") == (voting == "soft")
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13)
        assert ours.set_params(flatten_transform=False).transform(X).shape == (3 - drop, 150, 3)
    assert list(ours.named_estimators_) == [name for name, _ in CLASSIFIERS]
    assert (ours.named_estimators_.bayes == "drop") is drop
    np.testing.assert_array_equal(ours.le_.inverse_transform(ours.le_.transform(y)), y)


def test_a_tie_goes_to_the_first_class():
    class Says(GaussianNB):
        def __init__(self, code=0):
            self.code = code
            super().__init__()

        def predict(self, X):
            return np.full(len(X), self.code)

    X, y = np.arange(6.0).reshape(-1, 1), np.array([5, 6, 7] * 2)
    model = VotingClassifier([("a", Says(2)), ("b", Says(1))]).fit(X, y)
    assert model.predict(X[:2]).tolist() == [6, 6]
    assert model.set_params(weights=[1, 0.9]).predict(X[:1]).tolist() == [7]


@pytest.mark.parametrize("weights", [None, [1, 2, 3]], ids=["plain", "weights"])
def test_the_mean_is_scikit_learns(table, weights):
    X, _, y = table
    ours = VotingRegressor(REGRESSORS, weights=weights, n_jobs=2).fit(X, y)
    theirs = peer.VotingRegressor(REGRESSORS, weights=weights).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-13)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    assert ours.n_features_in_ == 4


def test_weights_reach_the_members_and_are_refused_where_one_has_none(table):
    X, y, _ = table
    counts = np.random.default_rng(1).integers(0, 3, size=len(X))
    members = [("logistic", LogisticRegression(tol=1e-10)), ("bayes", GaussianNB())]
    weighted = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=counts)
    repeated = VotingClassifier(members, voting="soft").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        VotingClassifier(CLASSIFIERS).fit(X, y, sample_weight=counts)


def test_parameters_reach_into_members(table):
    X, y, _ = table
    model = VotingClassifier(list(CLASSIFIERS), voting="soft")
    assert model.get_params()["near__n_neighbors"] == 3
    model.set_params(near__n_neighbors=5, bayes=GaussianNB(var_smoothing=0.1), voting="hard").fit(X, y)
    assert model.named_estimators_.near.n_neighbors == 5
    assert model.named_estimators.bayes.var_smoothing == 0.1
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(nobody__alpha=1)


def test_frames_sparse_rows_and_named_columns(table):
    X, y, _ = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = VotingClassifier(CLASSIFIERS, voting="soft").set_output(transform="pandas").fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.transform(frame).columns)[:2] == ["votingclassifier_logistic0", "votingclassifier_logistic1"]
    thin = VotingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier(3))])
    np.testing.assert_array_equal(thin.fit(sparse.csr_array(X), y).predict(X), thin.fit(X, y).predict(X))


BAD = {
    "no list": ({"estimators": []}, "non-empty list"),
    "no names": ({"estimators": [GaussianNB()]}, "non-empty list"),
    "names twice": ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "not unique"),
    "name of a parameter": ({"estimators": [("weights", GaussianNB())]}, "conflict"),
    "name with __": ({"estimators": [("a__b", GaussianNB())]}, "must not contain __"),
    "all dropped": ({"estimators": [("a", "drop")]}, "All estimators are dropped"),
    "a regressor": ({"estimators": [("a", Ridge())]}, "should be a classifier"),
    "weights": ({"weights": [1]}, "weights must be equal"),
    "voting": ({"voting": "loud"}, "'voting' parameter"),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_are_one_sentence(table, case):
    settings, words = BAD[case]
    with pytest.raises(ValueError, match=words) as caught:
        VotingClassifier(**{"estimators": CLASSIFIERS, **settings}).fit(*table[:2])
    assert "\n" not in str(caught.value)


def test_what_a_vote_cannot_be(table):
    X, y, target = table
    with pytest.raises(NotImplementedError, match="Multilabel"):
        VotingClassifier(CLASSIFIERS).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="Unknown label type"):
        VotingClassifier(CLASSIFIERS).fit(X, target)
    with pytest.raises(ValueError, match="NaN"):
        VotingRegressor(REGRESSORS).fit(X, np.where(target > 2, np.nan, target))
    with pytest.raises(AttributeError, match="predict_proba"):
        VotingClassifier(CLASSIFIERS).fit(X, y).predict_proba(X)
    with pytest.raises(AttributeError, match="predict_proba"):
        VotingClassifier([("p", Perceptron())], voting="soft").fit(X, y).predict(X)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing"):
        VotingClassifier(CLASSIFIERS).fit(X, y, groups=y)
