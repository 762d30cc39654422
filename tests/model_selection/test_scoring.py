"""What is given as scoring: scorers, and metrics that are none."""

import numpy as np
import pytest
import sklearn.metrics
import sklearn.model_selection

from learnt import metrics, model_selection
from learnt.linear_model import Ridge

X = np.random.default_rng(0).normal(size=(30, 2))
Y = X[:, 0]


@pytest.mark.parametrize("scoring", [lambda of: of.r2_score, lambda of: {"a": "r2", "b": of.mean_squared_error}])
def test_a_metric_is_no_scorer(scoring):
    for of, select in ((sklearn.metrics, sklearn.model_selection), (metrics, model_selection)):
        if isinstance(scoring(of), dict) and of is sklearn.metrics:
            continue  # scikit-learn's says nothing of these: NaN
        with pytest.raises(
            ValueError, match=r"scoring value .* looks like it is a metric function rather than a scorer"
        ):
            select.cross_validate(Ridge(), X, Y, scoring=scoring(of))


def test_scorers_are_taken():
    one = metrics.make_scorer(metrics.r2_score)
    scores = [model_selection.cross_val_score(Ridge(), X, Y, scoring=scoring) for scoring in (one, "r2", None)]
    np.testing.assert_allclose(scores[0], scores[1])
    np.testing.assert_allclose(scores[0], scores[2])
    found = model_selection.cross_val_score(Ridge(), X, Y, scoring=lambda model, X, y: 1.0)
    np.testing.assert_array_equal(found, 1.0)
