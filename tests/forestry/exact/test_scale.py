"""The unit in which targets are measured changes no tree."""

import numpy as np
import pytest
import sklearn.tree as peer

from learnt.tree import DecisionTreeRegressor, ExtraTreeRegressor

POWERS = [-1000, -500, -60, -30, -16, 210, 500, 1000]  # 2 to the power of these


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=200)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_power_of_two_changes_only_the_values(power, criterion):
    X, y = table()
    y = y - y.min() if criterion == "poisson" else y
    plain, scaled = (
        DecisionTreeRegressor(criterion=criterion, random_state=0, min_samples_leaf=3).fit(X, np.ldexp(y, p)).tree_
        for p in (0, power)
    )
    np.testing.assert_array_equal(scaled.feature, plain.feature)
    np.testing.assert_array_equal(scaled.threshold, plain.threshold)
    np.testing.assert_allclose(scaled.value, np.ldexp(plain.value, power), rtol=1e-12)
    assert np.isfinite(scaled.impurity).all()
    assert np.isfinite(scaled.compute_feature_importances()).all()


def test_impurities_and_pruning_follow_the_unit():
    X, y = table()
    path = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    small = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, np.ldexp(y, -40))
    np.testing.assert_allclose(np.ldexp(small.ccp_alphas, 80), path.ccp_alphas, rtol=1e-6, atol=1e-12)
    least = 0.01
    kept = [
        DecisionTreeRegressor(random_state=0, min_impurity_decrease=np.ldexp(least, 2 * p)).fit(X, np.ldexp(y, p))
        for p in (0, -40)
    ]
    assert kept[0].get_n_leaves() == kept[1].get_n_leaves() > 3


def test_several_outputs_keep_their_proportion():
    X, y = table()
    both = np.column_stack([y, 100 * X[:, 2]])
    plain, scaled = (
        DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, np.ldexp(both, p)).predict(X) for p in (0, -60)
    )
    np.testing.assert_allclose(np.ldexp(scaled, 60), plain, rtol=1e-12)


def test_random_thresholds_too():
    X, y = table()
    plain, scaled = (ExtraTreeRegressor(random_state=0).fit(X, np.ldexp(y, p)).predict(X) for p in (0, -60))
    np.testing.assert_allclose(np.ldexp(scaled, 60), plain, rtol=1e-12)


def test_targets_of_an_ordinary_size_are_scikit_learns():
    X, y = table()
    for unit in (1e-3, 1.0, 1e6):
        ours, theirs = (
            kind(random_state=0, min_samples_leaf=8).fit(X, y * unit).tree_
            for kind in (DecisionTreeRegressor, peer.DecisionTreeRegressor)
        )
        np.testing.assert_array_equal(ours.feature, theirs.feature)
        np.testing.assert_array_equal(ours.threshold, theirs.threshold)
