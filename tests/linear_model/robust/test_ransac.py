"""RANSAC: scikit-learn's draws and inliers for the same seed, and outliers that are known."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn import linear_model as oracle
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import HuberRegressor, LinearRegression, RANSACRegressor, Ridge
from learnt.neighbors import KNeighborsRegressor


def polluted(n=150, d=3, share=0.3, seed=0, targets=0):
    """A plane with little noise, and rows far from it."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(n, d)), rng.normal(size=(d, max(targets, 1)))
    y = X @ coef + 2.0 + 0.05 * rng.normal(size=(n, max(targets, 1)))
    out = rng.permutation(n)[: int(share * n)]
    y[out] += rng.choice([-1, 1], size=(len(out), 1)) * rng.uniform(5, 20, size=(len(out), 1))
    flags = np.zeros(n, dtype=bool)
    flags[out] = True
    return X, (y if targets else y[:, 0]), (coef if targets else coef[:, 0]), flags


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("targets", [0, 2])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"residual_threshold": 1.0, "loss": "squared_error"},
        {"residual_threshold": 0.5, "min_samples": 0.2, "stop_probability": 1.0, "max_trials": 20},
        {"residual_threshold": 0.5, "stop_n_inliers": 60},
        {"residual_threshold": 0.5, "stop_score": 0.9},
        {"residual_threshold": 0.5, "is_data_valid": lambda X, y: X[0, 0] > 0},
        {"residual_threshold": 0.5, "is_model_valid": lambda model, X, y: model.coef_.ravel()[0] > -10},
    ],
)
def test_trials_and_inliers_are_scikit_learns(seed, targets, more):
    X, y, _, _ = polluted(seed=seed, targets=targets)
    ours = RANSACRegressor(random_state=seed, **more).fit(X, y)
    theirs = oracle.RANSACRegressor(random_state=seed, **more).fit(X, y)
    np.testing.assert_array_equal(ours.inlier_mask_, theirs.inlier_mask_)
    for name in ("n_trials_", "n_skips_no_inliers_", "n_skips_invalid_data_", "n_skips_invalid_model_"):
        assert getattr(ours, name) == getattr(theirs, name), name
    np.testing.assert_allclose(ours.estimator_.coef_, theirs.estimator_.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_finds_the_outliers_and_least_squares_of_the_others():
    X, y, coef, out = polluted(n=300, share=0.4, seed=2)
    model = RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.inlier_mask_, ~out)
    plain = LinearRegression().fit(X[~out], y[~out])
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_, rtol=1e-12)
    assert np.abs(plain.coef_ - coef).max() < 0.05 < np.abs(LinearRegression().fit(X, y).coef_ - coef).max()


@pytest.mark.parametrize(
    "base",
    [Ridge(0.1), HuberRegressor(), oracle.LinearRegression(), oracle.Ridge(0.1), KNeighborsRegressor(2)],
    ids=lambda base: f"{type(base).__module__.split('.')[0]}-{type(base).__name__}",
)
def test_any_regressor_may_be_the_base(base):
    X, y, _, _ = polluted(seed=3)
    settings = {"min_samples": 8, "residual_threshold": 0.5, "random_state": 0, "max_trials": 15}
    ours, theirs = RANSACRegressor(base, **settings).fit(X, y), oracle.RANSACRegressor(base, **settings).fit(X, y)
    np.testing.assert_array_equal(ours.inlier_mask_, theirs.inlier_mask_)
    assert ours.n_trials_ == theirs.n_trials_
    assert type(ours.estimator_) is type(base)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_sparse_rows_weights_and_no_intercept():
    X, y, _, _ = polluted(seed=4)
    X[np.abs(X) < 0.2] = 0.0
    settings = {"residual_threshold": 2.0, "random_state": 0}
    dense = RANSACRegressor(**settings).fit(X, y)
    thin = RANSACRegressor(**settings).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.inlier_mask_, thin.inlier_mask_)
    without = [RANSACRegressor(kind(fit_intercept=False), **settings) for kind in (LinearRegression, Ridge)]
    other = oracle.RANSACRegressor(oracle.LinearRegression(fit_intercept=False), **settings).fit(X, y)
    np.testing.assert_array_equal(without[0].fit(X, y).inlier_mask_, other.inlier_mask_)
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    ours = RANSACRegressor(**settings).fit(X, y, w)
    theirs = oracle.RANSACRegressor(**settings).fit(X, y, w)
    np.testing.assert_array_equal(ours.inlier_mask_, theirs.inlier_mask_)
    np.testing.assert_allclose(ours.estimator_.coef_, theirs.estimator_.coef_, rtol=1e-9)
    w[::3] = 0.0
    absent = RANSACRegressor(**settings).fit(X, y, w)
    kept = RANSACRegressor(**settings).fit(X[w > 0], y[w > 0], w[w > 0])
    np.testing.assert_array_equal(absent.estimator_.coef_, kept.estimator_.coef_)
    np.testing.assert_array_equal(absent.inlier_mask_[w > 0], kept.inlier_mask_)
    assert not absent.inlier_mask_[::3].any()


def test_what_is_wrong_is_said():
    X, y, _, _ = polluted()
    for settings, words in [
        ({"estimator": Ridge()}, "min_samples"),
        ({"min_samples": 1000}, "larger than number of samples"),
        ({"min_samples": 0}, "min_samples"),
        ({"estimator": 3}, "estimator"),
        ({"loss": "huber"}, "loss"),
        ({"stop_probability": 2.0}, "stop_probability"),
        ({"is_data_valid": lambda X, y: False}, "could not find a valid consensus set"),
        ({"is_data_valid": lambda X, y: False, "max_skips": 3}, "skipped more iterations than `max_skips`"),
        ({"max_trials": 0}, "could not find"),
    ]:
        with pytest.raises(ValueError, match=words):
            RANSACRegressor(random_state=0, **settings).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        RANSACRegressor(KNeighborsRegressor(1), min_samples=4).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        RANSACRegressor().fit(X, y, other=3)
    calls = iter(range(1000))
    with pytest.warns(ConvergenceWarning, match="max_skips"):
        RANSACRegressor(random_state=0, max_skips=3, is_data_valid=lambda X, y: next(calls) == 0).fit(X, y)


def test_metadata_is_routed():
    X, y, _, _ = polluted()
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        base = LinearRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        ours = RANSACRegressor(base, random_state=0).fit(X, y, sample_weight=w)
        assert np.isfinite(ours.score(X, y, sample_weight=w))
    np.testing.assert_allclose(
        ours.estimator_.coef_,
        LinearRegression().fit(X[ours.inlier_mask_], y[ours.inlier_mask_], w[ours.inlier_mask_]).coef_,
    )
