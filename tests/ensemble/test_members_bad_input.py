"""What ensembles of any estimators say of input that cannot be used: one sentence with what, where and what to do."""

import numpy as np
import pytest

from learnt.ensemble import (
    FunctionalGradientBoosting,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from learnt.linear_model import LogisticRegression, Ridge
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSES = [("tree", DecisionTreeClassifier()), ("line", LogisticRegression())]
NUMBERS = [("tree", DecisionTreeRegressor()), ("line", Ridge())]
X = np.arange(20.0).reshape(10, 2)


@pytest.mark.parametrize(
    "model",
    [VotingClassifier(CLASSES), StackingClassifier(CLASSES), VotingRegressor(NUMBERS), StackingRegressor(NUMBERS)],
    ids=lambda model: type(model).__name__,
)
def test_a_target_that_was_forgotten(model):
    with pytest.raises(ValueError, match=f"^This {type(model).__name__} estimator requires y to be passed"):
        model.fit(X, None)


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_rows_than_folds(n):
    words = rf"^StackingRegressor cuts the rows into 5 folds, and X has n_samples={n}; give more rows, a smaller cv, or"
    with pytest.raises(ValueError, match=words) as caught:
        StackingRegressor(NUMBERS).fit(X[:n], np.arange(n))
    assert str(caught.value).count(". ") == 0
    StackingRegressor(NUMBERS, cv=2).fit(X[:4], np.arange(4)).predict(X)


@pytest.mark.parametrize("label", [0, "yes", True])
def test_one_class(label):
    with pytest.raises(ValueError, match=rf"has only one class \({label}\); a constant needs no model"):
        FunctionalGradientBoosting(DecisionTreeRegressor(), loss="log").fit(X, [label] * 10)
