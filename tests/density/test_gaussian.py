"""`density.Gaussian` against SciPy's normal distribution, and what every density has."""

import dask.array as da
import numpy as np
import pytest
import torch
from scipy import stats

import learnt
from learnt.density import Gaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 3)) @ np.array([[2.0, 0.3, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.2]]) + [1.0, -2.0, 30.0]


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_log_densities_are_scipys(kind, shift):
    model = Gaussian(covariance_type=kind).fit(X + shift)
    C = np.cov(X.T, bias=True)
    C = {"full": C, "diag": np.diag(np.diag(C)), "spherical": np.eye(3) * np.diag(C).mean()}[kind]
    expected = stats.multivariate_normal(X.mean(axis=0), C).logpdf(X)
    # x − μ is right to eps·shift, in units of the smallest spread (about 0.2), times distances up to about 10
    np.testing.assert_allclose(model.score_samples(X + shift), expected, rtol=1e-9, atol=1e-9 + 1e-14 * shift)
    assert model.score(X + shift) == pytest.approx(expected.mean(), abs=1e-9 + 1e-14 * shift)
    assert model.regularization_ == 0


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_integrates_to_one(kind):
    model = Gaussian(covariance_type=kind).fit(X[:, :2])
    x, dx = np.linspace(-25, 27, 401, retstep=True)
    y, dy = np.linspace(-20, 16, 401, retstep=True)
    grid = np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)
    assert np.exp(model.score_samples(grid)).sum() * dx * dy == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_a_sample_has_the_moments(kind):
    model = Gaussian(covariance_type=kind).fit(X)
    drawn = model.sample(20000, random_state=0)
    again = Gaussian(covariance_type=kind).fit(drawn)
    assert drawn.shape == (20000, 3)
    # five standard errors of a mean; of a variance, √(2/n) of it
    assert (np.abs(again.mean_ - model.mean_) < 5 * drawn.std(axis=0) / 20000**0.5).all()
    scale = np.max(model.covariance_)
    assert np.abs(again.covariance_ - model.covariance_).max() < 5 * (2 / 20000) ** 0.5 * scale
    first = drawn[:, 0]
    sigma = float(np.sqrt(np.ravel(model.covariance_)[0]))
    assert stats.kstest(first, stats.norm(model.mean_[0], sigma).cdf).pvalue > 1e-3
    np.testing.assert_array_equal(drawn, model.sample(20000, random_state=0))


def test_a_share_of_the_rows_is_called_novel():
    for share in (0.01, 0.1, 0.25):
        model = Gaussian(contamination=share).fit(X)
        assert (model.predict(X) == -1).sum() == round(share * len(X))
        np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))


def test_planted_outliers_rank_first():
    planted = np.vstack([X, X.mean(axis=0) + 12 * X.std(axis=0) * np.array([[1, -1, 1], [-1, 1, -1], [1, 1, -1]])])
    scores = Gaussian().fit(planted).score_samples(planted)
    assert set(np.argsort(scores)[:3]) == {500, 501, 502}


def test_a_weight_is_a_number_of_rows():
    w = RNG.integers(0, 4, len(X))
    weighted, repeated = Gaussian().fit(X, sample_weight=w), Gaussian().fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-10, atol=1e-12)
    assert weighted.offset_ == pytest.approx(repeated.offset_, rel=1e-9)
    scores = weighted.score_samples(X)
    assert weighted.score(X, sample_weight=w) == pytest.approx(np.average(scores, weights=w))


def test_elsewhere_it_is_the_same_model(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({name: X[:, j] for j, name in enumerate("abc")}), tmp_path / "x.parquet", row_group_size=100
    )
    here = Gaussian().fit(X)
    scores = here.score_samples(X)
    for rows in (torch.tensor(X), da.from_array(X, chunks=(120, 3)), learnt.scan(tmp_path / "x.parquet")):
        there = Gaussian().fit(rows)
        np.testing.assert_allclose(there.covariance_, here.covariance_, rtol=1e-10)
        np.testing.assert_allclose(np.asarray(there.score_samples(rows)), scores, rtol=1e-9)
        assert (np.asarray(there.predict(rows)) == here.predict(X)).all()
        assert there.score(rows) == pytest.approx(scores.mean())


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0, 2.0]] * 5, [[1e9, -1e9]] * 3], ids=["one", "same", "far"])
def test_no_spread_is_reported(kind, rows):
    with pytest.warns(UserWarning, match="covariance is singular.*was added to the variances; drop"):
        model = Gaussian(covariance_type=kind).fit(rows)
    assert model.regularization_ == 1e-6
    assert np.isfinite(model.score_samples(rows)).all()
    assert (model.predict(rows) == 1).all()
    assert model.predict(np.asarray(rows[:1]) + 1) == [-1]


def test_dependent_and_constant_features_are_reported():
    dependent = np.column_stack([X[:, 0], 3 * X[:, 0], np.full(500, 7.0)])
    with pytest.warns(UserWarning, match="drop such features"):
        model = Gaussian().fit(dependent)
    assert model.regularization_ == pytest.approx(1e-6 * dependent[:, 1].var())
    assert Gaussian(reg_covar=0.1).fit(dependent).regularization_ == 0.1  # and no warning
    with pytest.warns(UserWarning, match="singular"):  # fewer rows than features
        Gaussian().fit(X[:2])


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"covariance_type": "tied"}, "one of 'full'"), ({"contamination": 0.6}, "at most 0.5"), ({"reg_covar": -1}, "0")],
)
def test_refuses(settings, told):
    with pytest.raises(ValueError, match=told):
        Gaussian(**settings).fit(X)


def test_sample_refuses_no_rows():
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1"):
        Gaussian().fit(X).sample(0)


def test_pictures():
    line, plane = Gaussian().fit(X[:, :1]).plot(), Gaussian().fit(X[:, :2]).plot("two")
    assert "novelty below" in line.svg
    assert line.svg.count("<path") > 5
    assert plane.svg.count("<rect") > 64
    assert plane.title == "two"
    with pytest.raises(ValueError, match="one or two features and this one has 3"):
        Gaussian().fit(X).plot()
