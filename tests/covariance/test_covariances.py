"""Empirical and shrunk covariances: scikit-learn's numbers, the formulas, every kind of rows, and bad input."""

import warnings

import numpy as np
import pytest
from sklearn import covariance as theirs
from sklearn.exceptions import NotFittedError

from learnt import covariance as ours
from learnt.covariance import (
    OAS,
    EmpiricalCovariance,
    LedoitWolf,
    ShrunkCovariance,
    empirical_covariance,
    ledoit_wolf,
    ledoit_wolf_shrinkage,
    log_likelihood,
    oas,
    shrunk_covariance,
)
from learnt.engine.random import generator

NAMES = ("EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf", "OAS")
SHAPES = [(200, 5), (30, 30), (12, 40), (50, 1), (2, 3)]


def table(n, d, seed=0):
    """Correlated columns of unequal size, away from 0."""
    random = generator(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) * np.arange(1, d + 1) + 3.0


def bound(X, terms=10.0):
    """Rounding of sums of squares of the rows about 0, as both libraries may add them up."""
    return terms * len(X) * np.finfo(float).eps * float(np.square(X).sum(axis=1).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("centered", [False, True])
def test_scikit_learns_numbers(name, shape, centered):
    X, more = table(*shape), table(7, shape[1], seed=1)
    a = getattr(ours, name)(assume_centered=centered).fit(X)
    b = getattr(theirs, name)(assume_centered=centered).fit(X)
    assert {key for key in vars(b) if key.endswith("_")} <= set(vars(a))
    np.testing.assert_allclose(a.location_, b.location_, rtol=0, atol=bound(X) ** 0.5 * 1e-7 + 1e-12)
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=0, atol=bound(X))
    values = np.linalg.eigvalsh(a.covariance_)
    assert values[0] >= -bound(X)  # positive semi-definite
    if name in ("LedoitWolf", "OAS"):
        np.testing.assert_allclose(a.shrinkage_, b.shrinkage_, rtol=1e-9)
    if values[0] > 1e-6 * values[-1]:
        condition = values[-1] / values[0]
        far = {"rtol": 100 * shape[1] * condition * 1e-15 * max(len(X), 10)}
        np.testing.assert_allclose(a.mahalanobis(more), b.mahalanobis(more), **far)
        np.testing.assert_allclose(a.precision_ @ a.covariance_, np.eye(shape[1]), atol=1e-12 * condition)
        np.testing.assert_allclose(a.score(more), b.score(more), **far)
    for settings in ({}, {"norm": "spectral"}, {"scaling": False}, {"squared": False}):
        other = np.eye(shape[1])
        np.testing.assert_allclose(a.error_norm(other, **settings), b.error_norm(other, **settings), rtol=1e-9)


def test_functions_and_classes_agree():
    X = table(40, 6)
    for centered in (False, True):
        S = empirical_covariance(X, assume_centered=centered)
        np.testing.assert_allclose(S, theirs.empirical_covariance(X, assume_centered=centered), atol=bound(X))
        np.testing.assert_array_equal(S, EmpiricalCovariance(assume_centered=centered).fit(X).covariance_)
        for function, cls in ((ledoit_wolf, LedoitWolf), (oas, OAS)):
            C, share = function(X, assume_centered=centered)
            model = cls(assume_centered=centered).fit(X)
            np.testing.assert_array_equal(C, model.covariance_)
            assert share == model.shrinkage_
        assert ledoit_wolf_shrinkage(X, assume_centered=centered) == ledoit_wolf(X, assume_centered=centered)[1]
    C = EmpiricalCovariance().fit(X).covariance_
    np.testing.assert_array_equal(shrunk_covariance(C, 0.3), ShrunkCovariance(shrinkage=0.3).fit(X).covariance_)
    stack = np.stack([C, 2 * C])
    np.testing.assert_allclose(shrunk_covariance(stack, 0.3), theirs.shrunk_covariance(stack, 0.3), rtol=1e-13)
    np.testing.assert_allclose(log_likelihood(C, np.eye(6)), theirs.log_likelihood(C, np.eye(6)), rtol=1e-12)
    assert log_likelihood(C, np.zeros((6, 6))) == -np.inf


def test_the_shares_are_the_formulas():
    X = table(60, 4)
    n, d = X.shape
    Z = X - X.mean(axis=0)
    S = Z.T @ Z / n
    target = np.trace(S) / d * np.eye(d)
    delta = ((S - target) ** 2).sum()
    beta = sum(((np.outer(z, z) - S) ** 2).sum() for z in Z) / n**2
    np.testing.assert_allclose(LedoitWolf().fit(X).shrinkage_, min(beta, delta) / delta, rtol=1e-10)
    square, trace = (S**2).sum(), np.trace(S) ** 2
    np.testing.assert_allclose(OAS().fit(X).shrinkage_, (square + trace) / ((n + 1) * (square - trace / d)), rtol=1e-10)


def test_a_share_of_all():
    round_rows = np.vstack([np.eye(3), -np.eye(3)])  # S is a multiple of the identity: nothing is left to shrink to
    assert OAS().fit(round_rows).shrinkage_ == 1.0
    np.testing.assert_allclose(LedoitWolf().fit(round_rows).covariance_, np.eye(3) / 3, atol=1e-15)
    C = ShrunkCovariance(shrinkage=1.0).fit(table(9, 3)).covariance_
    np.testing.assert_array_equal(C, np.eye(3) * C[0, 0])


def test_shrinking_pays_where_there_are_few_rows():
    X = generator(3).normal(size=(20, 50))
    error = {name: getattr(ours, name)().fit(X).error_norm(np.eye(50)) for name in NAMES}
    assert error["OAS"] < error["EmpiricalCovariance"] / 10
    assert error["LedoitWolf"] < error["EmpiricalCovariance"] / 10


@pytest.mark.parametrize("name", NAMES)
def test_any_rows_give_the_same_model(name, tmp_path):
    import dask.array as da
    import polars as pl
    import torch

    import learnt

    X = table(500, 4)
    model = getattr(ours, name)().fit(X)
    path = tmp_path / "rows.parquet"
    pl.DataFrame(X, schema=list("abcd")).write_parquet(path)
    for rows in (da.from_array(X, chunks=(90, 4)), torch.from_numpy(X), learnt.scan(path)):
        other = getattr(ours, name)().fit(rows)
        assert type(other.covariance_) is (torch.Tensor if isinstance(rows, torch.Tensor) else np.ndarray)
        np.testing.assert_allclose(other.covariance_, model.covariance_, rtol=0, atol=bound(X))
        np.testing.assert_allclose(other.score(rows), model.score(X), rtol=1e-9)
        np.testing.assert_allclose(np.asarray(other.mahalanobis(rows)), model.mahalanobis(X), rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_far_from_zero_no_digits_are_lost(name):
    X = table(300, 4)
    # The rows themselves are rounded to 1e-16 of 1e6; a difference of squares would keep nothing of the variances.
    near, far = getattr(ours, name)().fit(X).covariance_, getattr(ours, name)().fit(X + 1e6).covariance_
    size = np.sqrt(np.diag(near).max())
    np.testing.assert_allclose(far, near, rtol=0, atol=100 * 1e6 * np.finfo(float).eps * size)


@pytest.mark.parametrize("name", NAMES)
def test_the_inverse_is_kept_or_not(name):
    X = table(50, 3)
    with_it, without = getattr(ours, name)().fit(X), getattr(ours, name)(store_precision=False).fit(X)
    assert without.precision_ is None
    np.testing.assert_array_equal(without.get_precision(), with_it.precision_)
    np.testing.assert_array_equal(without.mahalanobis(X), with_it.mahalanobis(X))


@pytest.mark.parametrize("name", NAMES)
def test_bad_rows(name):
    cls = getattr(ours, name)
    with pytest.warns(UserWarning, match="Only one sample available"):
        model = cls().fit(np.arange(5.0)[None])
    assert not model.covariance_.any()
    assert not model.precision_.any()
    X = table(20, 3)
    constant = cls().fit(np.column_stack([X, np.full(20, 7.0)]))
    assert np.isfinite(constant.precision_).all()
    for bad in (np.nan, np.inf):
        rows = X.copy()
        rows[4, 1] = bad
        with pytest.raises(ValueError, match="X"):
            cls().fit(rows)
    with pytest.raises(ValueError, match="squares are infinite; scale the columns before " + name):
        cls().fit(X * 1e200)
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        cls().fit(X[:0])
    with pytest.raises(NotFittedError):
        cls().mahalanobis(X)
    with pytest.raises(NotFittedError):
        cls().error_norm(np.eye(3))
    model = cls().fit(X)
    with pytest.raises(ValueError, match="features"):
        model.mahalanobis(X[:, :2])
    with pytest.raises(NotImplementedError, match="norm must be 'spectral' or 'frobenius'"):
        model.error_norm(np.eye(3), norm="max")
    with pytest.raises(ValueError, match=r"comp_cov has the shape \(2, 2\)"):
        model.error_norm(np.eye(2))
    with pytest.raises(ValueError, match="'store_precision' parameter"):
        cls(store_precision="yes").fit(X)


def test_bad_settings():
    X = table(20, 3)
    for share in (-0.1, 1.5, "all"):
        with pytest.raises(ValueError, match="'shrinkage' parameter of ShrunkCovariance"):
            ShrunkCovariance(shrinkage=share).fit(X)
    with pytest.raises(ValueError, match="'shrinkage' parameter of shrunk_covariance"):
        shrunk_covariance(np.eye(2), 1.5)
    with pytest.raises(ValueError, match="shrunk_covariance takes square matrices"):
        shrunk_covariance(np.ones((2, 3)))
    with pytest.raises(ValueError, match="log_likelihood two square matrices"):
        log_likelihood(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="'block_size' parameter of LedoitWolf"):
        LedoitWolf(block_size=0).fit(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        ledoit_wolf(np.arange(3.0))
    with pytest.warns(UserWarning, match="Only one sample available"):
        assert not empirical_covariance([1.0, 2.0]).any()


def test_rows_without_a_warning_give_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NAMES:
            getattr(ours, name)().fit(np.ones((6, 2)))


@pytest.mark.parametrize("name", ["OAS", "LedoitWolf"])
@pytest.mark.parametrize("scale", [1e-60, 1e150])
def test_the_share_has_no_unit(name, scale):
    """Its fourth powers are taken in a unit in which they are finite; the power of two leaves every digit as it is."""
    X = generator(0).normal(size=(30, 4)) @ np.diag([1.0, 2.0, 0.5, 3.0])
    unit = 2.0 ** np.round(np.log2(scale))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        share = getattr(ours, name)().fit(X * unit).shrinkage_
    assert share == pytest.approx(getattr(theirs, name)().fit(X).shrinkage_, rel=1e-10)
