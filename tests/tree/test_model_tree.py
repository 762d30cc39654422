"""Model trees: piecewise linear functions come back exactly, kinks and all; noise is not cut."""

import numpy as np
import pytest

from learnt.linear_model import LinearRegression, Ridge
from learnt.tree import ModelTreeRegressor, export_text


def test_a_continuous_piecewise_linear_function_comes_back_exactly():
    X = np.random.default_rng(0).random((500, 1))

    def f(x):
        return np.interp(x, [0, 0.2, 0.55, 0.8, 1], [0, 1, -0.5, 0.3, 2])

    model = ModelTreeRegressor().fit(X, f(X[:, 0]))
    unseen = np.linspace(0.01, 0.99, 997)
    np.testing.assert_allclose(model.predict(unseen[:, None]), f(unseen), atol=1e-12)
    assert model.tree_.n_leaves <= 7
    assert {0.2, 0.55, 0.8} <= {float(v) for v in model.tree_.threshold.round(9)}


@pytest.mark.parametrize("leaf", ["linear", LinearRegression()], ids=["linear", "estimator"])
def test_planes_with_a_jump_in_several_columns(leaf):
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = np.where(X[:, 1] <= 0.3, X @ [1.0, 2.0, 3.0], X @ [-1.0, 2.0, 0.0] + 5)
    model = ModelTreeRegressor(leaf).fit(X, y)
    assert model.tree_.n_leaves == 2
    np.testing.assert_allclose(model.predict(X), y, atol=1e-10)
    assert "feature_1 <= 0.3" in export_text(model)
    if leaf == "linear":
        np.testing.assert_allclose(model.coef_, [[1, 2, 3], [-1, 2, 0]], atol=1e-10)
    else:
        assert len(model.estimators_) == 2


def test_the_cut_is_the_best_of_all():
    """Against every cut of every column, each side by least squares."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = np.abs(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=60)
    model = ModelTreeRegressor(max_depth=1, min_gain=0.0).fit(X, y)

    def squares(rows):
        A = np.c_[np.ones(rows.sum()), X[rows]]
        return np.sum((y[rows] - A @ np.linalg.lstsq(A, y[rows], rcond=None)[0]) ** 2)

    best = min(
        squares(left) + squares(~left) for j in range(2) for s in X[:, j] if 3 <= (left := X[:, j] <= s).sum() <= 57
    )
    assert np.sum((y - model.predict(X)) ** 2) == pytest.approx(best, rel=1e-9)


def test_noise_around_a_plane_is_not_cut():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, -1.0, 2.0] + rng.normal(size=400)
    assert ModelTreeRegressor().fit(X, y).tree_.n_leaves == 1
    assert ModelTreeRegressor(min_gain=0.0, max_depth=3).fit(X, y).tree_.n_leaves > 4


def test_constant_leaves_and_other_splits():
    rng = np.random.default_rng(1)
    X = rng.random((300, 2))
    y = (X[:, 0] > 0.5) * 2.0 + (X[:, 1] > 0.5)
    model = ModelTreeRegressor("constant").fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert model.tree_.n_leaves == 4
    assert ModelTreeRegressor(Ridge(), split="constant", max_depth=2).fit(X, y).score(X, y) > 0.99


def test_weights_are_numbers_of_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] < 0, X[:, 1], 3 * X[:, 0]) + 0.1 * rng.normal(size=300)
    counts = rng.integers(0, 3, size=300)
    weighted = ModelTreeRegressor().fit(X, y, counts)
    repeated = ModelTreeRegressor().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-8)


def test_the_leaf_of_a_row_is_explained():
    X = np.linspace(-1, 1, 40).reshape(-1, 1)
    model = ModelTreeRegressor().fit(X, np.abs(X[:, 0] - 0.2))
    assert model.explain([0.9], feature_names=["x"]) == "0.7 (by a model of 16 rows): because x > 0.2 (it is 0.9)."


def test_awkward_tables():
    assert ModelTreeRegressor().fit([[1.0]], [4.0]).predict([[9.0]]).tolist() == [4.0]
    constant = ModelTreeRegressor().fit(np.ones((9, 2)), np.arange(9.0))
    assert constant.tree_.n_leaves == 1
    assert constant.predict(np.ones((1, 2))).tolist() == [4.0]
    twice = np.c_[np.arange(40.0), np.arange(40.0)]  # the same column twice
    y = np.abs(np.arange(40.0) - 20)
    np.testing.assert_allclose(ModelTreeRegressor().fit(twice, y).predict(twice), y, atol=1e-4)
    assert ModelTreeRegressor(max_depth=0).fit(twice, y).tree_.n_leaves == 1
    with pytest.raises(ValueError, match="'leaf' parameter"):
        ModelTreeRegressor("wavy").fit(twice, y)
