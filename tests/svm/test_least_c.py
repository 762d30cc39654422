"""The least C with an absolute penalty: below it models are empty, above it they are not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import l1_min_c as oracle

from learnt.linear_model import LogisticRegression
from learnt.svm import LinearSVC, l1_min_c


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learns(loss, classes, fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, classes, size=40)
    settings = {"loss": loss, "fit_intercept": fit_intercept, "intercept_scaling": 3.0}
    assert l1_min_c(X, y, **settings) == pytest.approx(oracle(X, y, **settings), rel=1e-12)
    assert l1_min_c(sparse.csr_matrix(X), y, **settings) == pytest.approx(oracle(X, y, **settings), rel=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_a_model_has_coefficients_above_it_only(loss):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, size=60)
    least = l1_min_c(X, y, loss=loss, fit_intercept=False)
    for factor, empty in ((0.99, True), (1.05, False)):
        if loss == "log":
            model = LogisticRegression(C=factor * least, l1_ratio=1.0, solver="saga", fit_intercept=False, tol=1e-10)
        else:
            model = LinearSVC(C=factor * least, penalty="l1", dual=False, fit_intercept=False, tol=1e-10)
        assert (not model.fit(X, y).coef_.any()) == empty


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="Ill-posed"):
        l1_min_c(np.zeros((4, 1)), [0, 0, 1, 1], fit_intercept=False)
    with pytest.raises(ValueError, match="squared_hinge"):
        l1_min_c(np.ones((4, 1)), [0, 0, 1, 1], loss="hinge")
