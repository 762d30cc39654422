"""Quantiles and intervals of regression forests: the definition, and how often they are right."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from learnt.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor


def uneven(n, seed):
    """Noise that grows with the first column."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    return X, 3 * X[:, 1] + (0.1 + 2 * X[:, 0]) * rng.normal(size=n)


def inside(interval, y):
    return ((y >= interval[:, 0]) & (y <= interval[:, 1])).mean()


@pytest.mark.parametrize("splitter", ["exact", "binned"])
def test_quantiles_are_those_of_the_targets_in_the_leaves(splitter):
    X, y = make_friedman1(300, random_state=0)
    model = RandomForestRegressor(15, random_state=0, min_samples_leaf=4, splitter=splitter).fit(X, y)
    levels = np.array([0.1, 0.5, 0.8])
    found = model.predict_quantiles(X[:20], levels)
    leaves = model.apply(X)
    weight = np.zeros((20, 300))
    for t, rows in enumerate(model.estimators_samples_):
        counts = np.bincount(rows, minlength=300)
        same = (leaves[:20, t][:, None] == leaves[:, t]) * counts
        # Kept are min(rows, 16) targets, evenly spaced by weight; leaves of 4 to 7 rows keep as many as they have.
        weight += same / same.sum(axis=1, keepdims=True) / 15
    order = np.argsort(y)
    total = np.cumsum(weight[:, order], axis=1)
    for c, q in enumerate(levels):
        low = y[order][(total >= q - 0.12).argmax(axis=1)]
        high = y[order][(total >= min(q + 0.12, 0.999)).argmax(axis=1)]
        assert ((low - 1e-5 <= found[:, c]) & (found[:, c] <= high + 1e-5)).all()
    assert (np.diff(found, axis=1) >= 0).all()


def test_quantiles_of_pure_leaves_are_those_of_the_trees():
    X, y = make_friedman1(200, random_state=0)
    model = ExtraTreesRegressor(25, random_state=0).fit(X, y)
    new = make_friedman1(30, random_state=1)[0]
    each = np.array([tree.predict(new) for tree in model.estimators_])
    np.testing.assert_allclose(model.predict_quantiles(new, 0.5), np.median(each, axis=0))
    np.testing.assert_allclose(
        model.predict_quantiles(new, [0.1, 0.9]), np.quantile(each, [0.1, 0.9], axis=0, method="hazen").T
    )
    np.testing.assert_allclose(model.spread(new), each.std(axis=0), atol=1e-9)
    mean, spread = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, each.mean(axis=0))
    np.testing.assert_array_equal(spread, model.spread(new))


def test_the_spread_of_classes_is_that_of_the_votes():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] > 0)
    each = np.array([tree.predict_proba(X) for tree in model.estimators_])
    np.testing.assert_allclose(model.spread(X), each.std(axis=0), atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 10}, {"max_depth": 4}, {"splitter": "exact"}], ids=str)
@pytest.mark.parametrize("make", ["friedman", "uneven"])
def test_intervals_have_their_nominal_coverage(make, limits):
    shares = {0.9: [], 0.6: []}
    for seed in range(4):
        X, y = make_friedman1(1200, noise=1.0, random_state=seed) if make == "friedman" else uneven(1200, seed)
        model = RandomForestRegressor(60, random_state=seed, **limits).fit(X[:500], y[:500])
        for coverage, found in shares.items():
            found.append(inside(model.predict_interval(X[500:], coverage), y[500:]))
    assert 0.87 < np.mean(shares[0.9]) < 0.945
    assert 0.55 < np.mean(shares[0.6]) < 0.67


def test_intervals_are_wide_where_the_noise_is():
    X, y = uneven(1500, 0)
    model = RandomForestRegressor(80, random_state=0, min_samples_leaf=3).fit(X, y)
    new, _ = uneven(300, 1)
    width = np.diff(model.predict_interval(new, 0.8), axis=1).ravel()
    quiet, loud = new[:, 0] < 0.2, new[:, 0] > 0.8
    assert width[loud].mean() > 2 * width[quiet].mean()


def test_without_rows_left_out_the_interval_is_one_of_quantiles():
    X, y = make_friedman1(200, random_state=0)
    model = ExtraTreesRegressor(25, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_interval(X, 0.8), model.predict_quantiles(X, [0.1, 0.9]))


def test_levels_that_cannot_be():
    X, y = make_friedman1(50, random_state=0)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantiles(X, 1.5)
    for coverage in (0, 1, -2):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(X, coverage)
