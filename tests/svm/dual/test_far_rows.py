"""Rows far from 0 and near one another, and targets that single precision cannot hold."""

import numpy as np
import pytest

from learnt.svm import SVC, SVR, NuSVC, NuSVR

FAR = 2.0**27  # time stamps in seconds are about 2^31, and days of them differ by 2^17
TOL = 1e-8


def table(n, classes, seed=0):
    """Rows whose digits are the same wherever they are moved to, classes, and amounts."""
    r = np.random.default_rng(seed)
    X = np.round(r.normal(size=(n, 3)) * 2**20) / 2**20
    score = X @ [1.0, -2.0, 0.5] + 0.5 * r.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)), score


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [40, 1100])  # all pairs from one matrix, and each pair alone
@pytest.mark.parametrize("model", [SVC(kernel="linear", C=0.1), NuSVC(kernel="linear", nu=0.6)], ids=["SVC", "NuSVC"])
def test_planes_between_classes_move_with_the_rows(model, n, classes):
    """The sum of the coefficients is 0, so that where the rows are leaves nothing but the intercept to change."""
    X, y, _ = table(n, classes)
    model.set_params(tol=TOL)
    near = model.fit(X, y).decision_function(X), model.coef_
    far = model.fit(X + FAR, y).decision_function(X + FAR), model.coef_
    np.testing.assert_allclose(far[1], near[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(far[0], near[0], rtol=1e-5, atol=1e-5)  # an intercept is known to FAR · |w| · 2⁻⁵³


@pytest.mark.parametrize("weight", [None, 2e5], ids=["no weights", "a heavy row"])
@pytest.mark.parametrize("model", [SVR(kernel="linear"), NuSVR(kernel="linear")], ids=["SVR", "NuSVR"])
def test_lines_move_with_the_rows(model, weight):
    X, _, y = table(60, 2)
    w = np.ones(60)
    w[7] = weight or 1.0
    model.set_params(tol=TOL)
    near = model.fit(X, y, w).predict(X), model.coef_
    far = model.fit(X + FAR, y, w).predict(X + FAR), model.coef_
    np.testing.assert_allclose(far[1], near[1], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(far[0], near[0], atol=1e-4)


@pytest.mark.parametrize("model", [SVR(kernel="linear", C=100.0), NuSVR(kernel="linear", C=100.0, nu=0.1)])
def test_intercepts_of_far_rows_are_no_differences_of_large_sums(model):
    """Coefficients up to 2·10⁷ times products of 10⁸ leave units in the last place of each sum: both have the same."""
    X, _, y = table(100, 2)
    w = np.ones(100)
    w[::2] = 2e5
    near = model.set_params(tol=1e-5).fit(X, y, w).predict(X)
    np.testing.assert_allclose(model.fit(X + FAR, y, w).predict(X + FAR), near, atol=1e-3)


def test_probabilities_come_from_planes_that_moved_too():
    X, y, _ = table(60, 3)
    model = SVC(kernel="linear", probability=True, random_state=0, tol=TOL)
    near = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.fit(X + FAR, y).predict_proba(X + FAR), near, atol=1e-4)


@pytest.mark.parametrize("model", [SVR(C=10.0), NuSVR(C=10.0)])
def test_targets_of_single_precision_rows_keep_their_digits(model):
    """y around 10⁷ is a multiple of 1 in single precision; the rows are the same in both."""
    X, _, y = table(50, 2)
    y = y + 1e7
    wanted = model.fit(X, y).predict(X)
    found = model.fit(X.astype(np.float32), y).predict(X.astype(np.float32))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, atol=1e-2)
