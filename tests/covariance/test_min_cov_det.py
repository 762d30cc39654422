"""Robust covariances: the determinant scikit-learn finds or a smaller one, invariance, outliers, singular rows."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn import covariance as theirs

from learnt.covariance import EllipticEnvelope, MinCovDet, empirical_covariance, fast_mcd
from learnt.covariance._half import best_half, shortest_stretch, support_size
from learnt.covariance._min_cov_det import consistency
from learnt.engine.random import generator
from learnt.engine.threads import set_threads


def spoilt(n, d, outliers, seed=0):
    """Normal rows, the first of them moved away."""
    random = generator(seed)
    X = random.normal(size=(n, d))
    X[:outliers] += 10.0 * (2 * random.integers(2, size=(outliers, d)) - 1)
    return X


def log_det(C):
    return np.linalg.slogdet(C)[1]


@pytest.mark.parametrize("shape", [(100, 5, 20), (300, 3, 100), (900, 4, 300), (2000, 6, 700)], ids=str)
def test_outliers_do_not_move_it(shape):
    X = spoilt(*shape)
    a, b = (module.fit(X) for module in (MinCovDet(random_state=0), theirs.MinCovDet(random_state=0)))
    assert {key for key in vars(b) if key.endswith("_")} == {key for key in vars(a) if key.endswith("_")}
    # Different starts may end in sets of rows that differ by a few; ours is never worse by more than such a few.
    assert log_det(a.raw_covariance_) <= log_det(b.raw_covariance_) + 5.0 / shape[0]
    assert a.raw_support_.sum() == b.raw_support_.sum() == support_size(*X.shape, None)
    assert not a.support_[: shape[2]].any()
    pure = X[shape[2] :]
    spread = np.sqrt(np.trace(np.cov(pure.T)) / len(pure))
    assert np.linalg.norm(a.location_ - pure.mean(axis=0)) < 3 * spread
    same = a.support_ == b.support_
    assert same.mean() > 0.9
    if same.all():
        np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(a.dist_, b.dist_, rtol=1e-9)


def test_the_best_of_all_sets_is_found():
    X = generator(5).normal(size=(12, 2))
    h = 8
    every = min(log_det(np.cov(X[list(rows)].T, bias=True)) for rows in combinations(range(12), h))
    np.testing.assert_allclose(log_det(np.cov(X[best_half(X, h, generator(0))].T, bias=True)), every, atol=1e-9)


def test_one_feature_is_exact():
    x = generator(2).normal(size=15)
    h = 8
    every = min(np.var(x[list(rows)]) for rows in combinations(range(15), h))
    np.testing.assert_allclose(np.var(x[shortest_stretch(x, h)]), every, rtol=1e-12)
    model = MinCovDet().fit(x[:, None])
    np.testing.assert_allclose(model.raw_covariance_, [[np.var(x[model.raw_support_])]], rtol=1e-12)


def test_the_second_estimate_is_the_formula():
    X = spoilt(200, 3, 30)
    model = MinCovDet(random_state=0).fit(X)
    share = model.raw_support_.mean()
    Z = X - model.raw_location_
    first = model.raw_covariance_ * share / chi2(5).cdf(chi2(3).ppf(share))
    inside = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(first), Z) < chi2(3).ppf(0.975)
    np.testing.assert_array_equal(inside, model.support_)
    np.testing.assert_allclose(model.location_, X[inside].mean(axis=0), atol=1e-12)
    scale = 0.975 / chi2(5).cdf(chi2(3).ppf(0.975))
    np.testing.assert_allclose(model.covariance_, empirical_covariance(X[inside]) * scale, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.dist_, model.mahalanobis(X), rtol=1e-12)
    np.testing.assert_allclose(consistency(share, 3), share / chi2(5).cdf(chi2(3).ppf(share)), rtol=1e-9)


@pytest.mark.parametrize("n", [120, 1100])
def test_an_affine_map_changes_nothing(n):
    X = spoilt(n, 3, n // 4)
    A = np.array([[2.0, 0.3, 0.0], [0.0, 1e3, 1.0], [0.5, 0.0, 1e-2]])
    a, b = MinCovDet(random_state=1).fit(X), MinCovDet(random_state=1).fit(X @ A.T + [5.0, -100.0, 1.0])
    np.testing.assert_array_equal(a.raw_support_, b.raw_support_)
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(b.dist_, a.dist_, rtol=1e-6)  # the condition of A Aᵀ is 1e10
    np.testing.assert_allclose(b.location_, A @ a.location_ + [5.0, -100.0, 1.0], rtol=1e-9, atol=1e-9)


def test_threads_change_nothing():
    X = spoilt(1600, 4, 400)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        found.append(MinCovDet(random_state=0).fit(X))
    set_threads(None)
    np.testing.assert_array_equal(found[0].covariance_, found[1].covariance_)


def test_all_rows_and_known_centres():
    X = generator(0).normal(size=(400, 3))
    for centered in (False, True):
        a = MinCovDet(support_fraction=1.0, assume_centered=centered).fit(X)
        b = theirs.MinCovDet(support_fraction=1.0, assume_centered=centered).fit(X)
        assert a.raw_support_.all()
        for name in ("raw_covariance_", "raw_location_", "covariance_", "location_", "dist_", "precision_"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert not a.location_.any()


def test_fast_mcd():
    X = spoilt(80, 2, 15)
    location, covariance, support, dist = fast_mcd(X, random_state=0)
    model = MinCovDet(random_state=0).fit(X)
    np.testing.assert_array_equal(support, model.raw_support_)
    np.testing.assert_allclose(location, model.raw_location_, rtol=1e-12)
    np.testing.assert_allclose(covariance, model.raw_covariance_, rtol=1e-12)
    Z = X - location
    np.testing.assert_allclose(dist, np.einsum("ij,jk,ik->i", Z, np.linalg.inv(covariance), Z), rtol=1e-9)
    np.testing.assert_allclose(fast_mcd(X, 0.8, lambda rows: np.eye(2), 0)[1], np.eye(2))
    for bad in (0.0, 1.1, "half", True):
        with pytest.raises(ValueError, match="'support_fraction' parameter of fast_mcd"):
            fast_mcd(X, bad)


def test_singular_rows_are_told():
    X = spoilt(100, 3, 20)
    flat = np.column_stack([X, np.full(100, 4.0), X[:, 0] + X[:, 1]])
    with pytest.warns(UserWarning, match="in 3 of 5 directions, since X has no full rank .*; drop"):
        model = MinCovDet(random_state=0).fit(flat)
    np.testing.assert_array_equal(model.raw_support_, best_half(X, model.raw_support_.sum(), generator(0)))
    assert not model.support_[:20].any()
    with pytest.warns(UserWarning, match="no full rank"):
        MinCovDet(random_state=0).fit(generator(0).normal(size=(8, 20)))
    twice = generator(1).normal(size=(60, 2))
    twice[:45, 1] = 0.0  # most rows in a line
    with pytest.warns(UserWarning, match="chose all lie in 1 of 2 directions.*larger support_fraction"):
        MinCovDet(random_state=0).fit(twice)
    with pytest.raises(ValueError, match="is equal to 0, try to increase support_fraction"):
        MinCovDet().fit(np.r_[np.zeros(8), 1.0, 2.0][:, None])


@pytest.mark.parametrize("cls", [MinCovDet, EllipticEnvelope])
def test_bad_input(cls):
    X = spoilt(30, 2, 5)
    for bad in (0.0, 1.5, -1, "half"):
        with pytest.raises(ValueError, match="'support_fraction' parameter of " + cls.__name__):
            cls(support_fraction=bad).fit(X)
    with pytest.raises(ValueError, match="a minimum of 2 is required by " + cls.__name__):
        cls().fit(X[:1])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        cls().fit(X)
    if cls is EllipticEnvelope:
        for bad in (0.0, 0.6, "auto"):
            with pytest.raises(ValueError, match="'contamination' parameter of EllipticEnvelope"):
                cls(contamination=bad).fit(X)


def test_planted_outliers_come_first():
    X = spoilt(500, 4, 40)
    model = EllipticEnvelope(contamination=0.08, random_state=0).fit(X)
    scores = model.score_samples(X)
    assert set(np.argsort(scores)[:40]) == set(range(40))
    np.testing.assert_array_equal(model.predict(X) == -1, np.arange(500) < 40)
    np.testing.assert_array_equal(scores, -model.mahalanobis(X))
    np.testing.assert_array_equal(model.decision_function(X), scores - model.offset_)
    np.testing.assert_allclose(model.offset_, np.percentile(-model.dist_, 8.0))
    right = np.where(np.arange(500) < 40, -1, 1)
    assert model.score(X, right) == 1.0
    assert model.score(X, -right, sample_weight=np.arange(500)) == 0.0
    other = theirs.EllipticEnvelope(contamination=0.08, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_array_equal(EllipticEnvelope(contamination=0.08, random_state=0).fit_predict(X), model.predict(X))
