"""Stacking: scikit-learn's answers around the same members and the same final estimator."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold

from learnt.baseline import ConstantRegressor
from learnt.ensemble import StackingClassifier, StackingRegressor
from learnt.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge, RidgeCV
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier

CLASSIFIERS = [("logistic", LogisticRegression()), ("perceptron", Perceptron(random_state=0)), ("bayes", GaussianNB())]
REGRESSORS = [("line", LinearRegression()), ("ridge", Ridge(alpha=50.0)), ("mean", ConstantRegressor())]


@pytest.fixture(params=[2, 3], ids=["two classes", "three"])
def table(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    cuts = [0.7] if request.param == 2 else [0.3, 1.2]
    y = np.array(["ant", "bee", "cat"])[np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=120), cuts)]
    return X, y, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=120)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.sweep
def test_the_stack_is_scikit_learns(table, passthrough, method, drop):
    X, y, _ = table
    settings = {"passthrough": passthrough, "stack_method": method, "cv": StratifiedKFold(3)}
    ours = StackingClassifier(list(CLASSIFIERS), **settings)
    theirs = peer.StackingClassifier(list(CLASSIFIERS), LogisticRegression(), **settings)
    for model in (ours, theirs):
        if drop:
            model.set_params(bayes="drop")
        model.fit(X, y)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert ours.stack_method_ == theirs.stack_method_


def test_random_folds_are_the_same_for_every_member(table):
    X, _, target = table
    settings = {"cv": KFold(4, shuffle=True, random_state=3)}
    ours = StackingRegressor(REGRESSORS, n_jobs=2, **settings).fit(X, target)
    theirs = peer.StackingRegressor(REGRESSORS, RidgeCV(), **settings).fit(X, target)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    # Two copies of one member give the same column however the folds are drawn.
    twins = StackingRegressor([("a", Ridge()), ("b", Ridge())], LinearRegression(), cv=KFold(3, shuffle=True))
    coef = twins.fit(X, target).final_estimator_.coef_
    assert coef[0] == pytest.approx(coef[1], abs=1e-6)


def test_prefit_members_are_used_as_they_are(table):
    X, _, target = table
    fitted = [(name, member.fit(X[:60], target[:60])) for name, member in REGRESSORS]
    ours = StackingRegressor(fitted, cv="prefit").fit(X[60:], target[60:])
    theirs = peer.StackingRegressor(fitted, RidgeCV(), cv="prefit").fit(X[60:], target[60:])
    assert ours.estimators_[0] is fitted[0][1]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    with pytest.raises(NotFittedError):
        StackingRegressor([("a", Ridge())], cv="prefit").fit(X, target)


def test_labels_in_several_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, :2] > 0).astype(int)
    near = [("near", KNeighborsClassifier(5))]
    final = KNeighborsClassifier(7)
    ours, theirs = StackingClassifier(near, final).fit(X, y), peer.StackingClassifier(near, final).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert [classes.tolist() for classes in ours.classes_] == [[0, 1], [0, 1]]


def test_frames_sparse_and_named_columns(table):
    X, y, target = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = StackingRegressor(REGRESSORS, passthrough=True).set_output(transform="pandas").fit(frame, target)
    assert list(model.transform(frame).columns) == [
        *(f"stackingregressor_{name}" for name, _ in REGRESSORS),
        *"abcd",
    ]
    thin = StackingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier(3))], passthrough=True)
    dense = thin.fit(X, y).predict_proba(X)
    found = thin.fit(sparse.csr_array(X), y)
    assert sparse.issparse(found.transform(sparse.csr_array(X)))
    np.testing.assert_allclose(found.predict_proba(sparse.csr_array(X)), dense, atol=1e-6)


def test_stacking_is_better_than_its_members():
    """Two members that each see half of the target: the stack sees both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + X[:, 1] ** 2
    from learnt.preprocessing import PolynomialFeatures

    members = [("line", LinearRegression()), ("mean", ConstantRegressor())]
    from sklearn.pipeline import make_pipeline

    members.append(("curve", make_pipeline(PolynomialFeatures(2), Ridge(alpha=1.0))))
    stack = StackingRegressor(members).fit(X[:200], y[:200])
    best = max(member.score(X[200:], y[200:]) for member in stack.estimators_)
    assert stack.score(X[200:], y[200:]) >= best - 1e-3


def test_refusals_are_one_sentence(table):
    X, y, target = table
    for model, words in [
        (StackingClassifier([]), "non-empty list"),
        (StackingClassifier(CLASSIFIERS, Ridge()), "should be a classifier"),
        (StackingClassifier([("p", Perceptron())], stack_method="predict_proba"), "does not implement the method"),
        (StackingClassifier(CLASSIFIERS, stack_method="guess"), "'stack_method' parameter"),
        (StackingRegressor(REGRESSORS, GaussianNB()), "should be a regressor"),
        (StackingRegressor([("a", GaussianNB())]), "should be a regressor"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(X, y if isinstance(model, StackingClassifier) else target)
        assert "\n" not in str(caught.value)
    assert not hasattr(StackingClassifier(CLASSIFIERS, Perceptron()), "predict_proba")
