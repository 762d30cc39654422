"""Dyadic partitions: piecewise functions come back exactly, and the cells are those of the definition."""

import numpy as np
import pytest

from learnt.linear_model import LinearRegression
from learnt.tree import DyadicPartitionRegressor


def rows(n=1500, d=1, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    X[0], X[1] = 0.0, 1.0  # the box is the unit cube
    return X


def pieces(x):
    """Linear on four quarters, with jumps."""
    return np.select([x < 0.25, x < 0.5, x < 0.75], [2 * x, 1 - x, 3 + 0 * x], 5 * x - 2)


@pytest.mark.parametrize("settings", [{}, {"partition": "adaptive", "tau": 0.0}], ids=["uniform", "adaptive"])
@pytest.mark.parametrize("leaf", ["linear", LinearRegression()], ids=["linear", "estimator"])
def test_piecewise_linear_functions_come_back_exactly(settings, leaf):
    X = rows()
    if settings and not isinstance(leaf, str):
        settings = {**settings, "tau": 1e-20}
    model = DyadicPartitionRegressor(leaf=leaf, max_depth=6, **settings).fit(X, pieces(X[:, 0]))
    assert (model.depth_, model.n_cells_) == (2, 4)
    unseen = rows(seed=1)
    np.testing.assert_allclose(model.predict(unseen), pieces(unseen[:, 0]), atol=1e-12)


def test_the_uniform_partition_is_the_definition():
    """Means of cubes of side 1/2^q, written out."""
    X = rows(800, 2)
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    model = DyadicPartitionRegressor(depth=3).fit(X, y)
    cell = np.minimum(np.floor(X * 8), 7) @ [8, 1]
    expected = np.array([y[cell == c].mean() for c in cell])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)
    assert model.n_cells_ == len(np.unique(cell))
    low, high = model.cell_bounds()
    found = model.apply(X)
    assert ((low[found] - 1e-12 <= X) & (high[found] + 1e-12 >= X)).all()
    np.testing.assert_allclose((high - low)[np.unique(found)], 1 / 8)


def test_the_adaptive_partition_halves_only_where_the_error_is_above_tau():
    X = rows(2000)
    y = np.where(X[:, 0] < 0.5, 0.0, np.sin(30 * X[:, 0]))
    model = DyadicPartitionRegressor("adaptive", tau=0.01, max_depth=7).fit(X, y)
    cells = model.apply(X)
    left = np.unique(cells[X[:, 0] < 0.5])
    assert len(left) == 1
    assert model.cell_level_[left[0]] == 1
    for cell in np.unique(cells):
        inside = y[cells == cell]
        assert np.mean((inside - inside.mean()) ** 2) <= 0.01 or model.cell_level_[cell] == 7
    assert model.n_cells_ > 10


def test_an_empty_cube_is_answered_by_the_next_coarser_one():
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    model = DyadicPartitionRegressor(depth=2).fit(X, [1.0, 3.0, 5.0, 9.0])
    np.testing.assert_array_equal(model.predict([[0.05], [0.3], [0.6], [0.95], [7.0]]), [2.0, 2.0, 7.0, 7.0, 7.0])


def test_cross_validation_finds_the_scale():
    X = rows(3000)
    noise = np.random.default_rng(2).normal(size=3000)
    fine = DyadicPartitionRegressor(max_depth=9).fit(X, np.sin(40 * X[:, 0]) + 0.1 * noise)
    coarse = DyadicPartitionRegressor(max_depth=9).fit(X, (X[:, 0] > 0.5) + noise)
    assert coarse.depth_ <= 2 < 5 <= fine.depth_
    assert fine.cv_errors_.argmin() == fine.depth_
    adaptive = DyadicPartitionRegressor("adaptive", leaf="linear").fit(X, np.abs(X[:, 0] - 0.5) + 0.1 * noise)
    assert adaptive.score(X, np.abs(X[:, 0] - 0.5)) > 0.95


def test_weights_are_numbers_of_rows():
    X = rows(300, 2)
    y = X[:, 0] ** 2 + X[:, 1]
    counts = np.random.default_rng(1).integers(0, 3, size=300)
    for leaf in ("constant", "linear"):
        weighted = DyadicPartitionRegressor(depth=2, leaf=leaf).fit(X, y, counts)
        repeated = DyadicPartitionRegressor(depth=2, leaf=leaf).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_awkward_tables():
    constant = np.ones((6, 2))
    assert DyadicPartitionRegressor(depth=3).fit(constant, np.arange(6.0)).predict(constant).tolist() == [2.5] * 6
    one = DyadicPartitionRegressor(depth=3).fit([[1.0]], [4.0])
    assert one.predict([[9.0]]).tolist() == [4.0]
    assert DyadicPartitionRegressor(depth=0).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[1.0]]).tolist() == [0.5]
    for model, X, words in [
        (DyadicPartitionRegressor(), [[1.0]], "folds"),
        (DyadicPartitionRegressor(), np.zeros((5, 31)), "31 columns"),
        (DyadicPartitionRegressor(leaf="wavy"), [[1.0], [2.0]], "'leaf' parameter"),
        (DyadicPartitionRegressor("odd"), [[1.0], [2.0]], "'partition' parameter"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(X, np.arange(float(len(X))))
        assert "\n" not in str(caught.value)
