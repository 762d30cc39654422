"""`GaussianMixture` against scikit-learn's, the formulas, and itself on other kinds of rows."""

import warnings

import dask.array as da
import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import mixture as peers
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.mixture import BayesianGaussianMixture, GaussianMixture
from learnt.mixture._em import SCATTER, _expanded, expectation

KINDS = ["full", "tied", "diag", "spherical"]
RNG = np.random.default_rng(0)
Z = RNG.integers(0, 3, 600)
ROOTS = np.stack([[[1.0, 0.5], [0.0, 0.7]], [[0.6, -0.3], [0.2, 1.2]], [[0.4, 0.0], [0.0, 0.4]]])
X = np.einsum("nd,nde->ne", RNG.normal(size=(600, 2)), ROOTS[Z]) + np.array([[0.0, 0], [3, 2], [-2, 3]])[Z]
START = {"means_init": X[[0, 7, 20]], "weights_init": [0.2, 0.3, 0.5]}


@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_is_scikit_learns(kind):
    settings = {"covariance_type": kind, "tol": 1e-9, "max_iter": 500, "random_state": 0}
    ours, theirs = GaussianMixture(3, **settings).fit(X), peers.GaussianMixture(3, **settings).fit(X)
    assert ours.lower_bound_ >= theirs.lower_bound_ - 1e-6
    # the same parameters say the same of the same rows
    for name in ("weights_", "means_", "precisions_cholesky_", "covariances_"):
        setattr(theirs, name, getattr(ours, name))
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert ours.bic(X) == pytest.approx(theirs.bic(X))
    assert ours.aic(X) == pytest.approx(theirs.aic(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["kmeans", "k-means++", "random", "random_from_data"])
def test_no_iteration_lowers_the_likelihood(kind, start):
    settings = {"covariance_type": kind, "init_params": start, "reg_covar": 0, "tol": 0, "max_iter": 40}
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = GaussianMixture(3, random_state=1, **settings).fit(X)
    # sums of 600 logarithms round by less than 1e-12 of their size
    assert (np.diff(model.lower_bounds_) > -1e-11).all()
    assert model.lower_bounds_[-1] > model.lower_bounds_[0]
    assert model.n_iter_ == len(model.lower_bounds_) == 40


@pytest.mark.parametrize("kind", KINDS)
def test_products_and_differences_are_the_same_step(kind):
    """One pass by products of pairs, and the plain one, which takes a point for each component."""
    model = GaussianMixture(3, covariance_type=kind, random_state=0, max_iter=3, tol=1.0).fit(X)
    densities = model._densities(model._kept())
    w = RNG.uniform(0.5, 2, len(X))
    rows = learnt.engine.rows.as_rows(X, None, w)
    spread, mean = X.std(axis=0), X.mean(axis=0)
    assert _expanded(densities, spread, mean) is not None
    quick = expectation(rows, densities, spread, mean, True)
    plain = expectation(rows, densities, spread, model.means_, True)
    for a, b in zip((*quick[:3], *quick.found[:3]), (*plain[:3], *plain.found[:3]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    assert quick.found.kind == SCATTER[kind]
    shares = model.predict_proba(X)
    entropy = -(w[:, None] * shares * np.log(np.maximum(shares, 1e-300))).sum()
    assert quick.entropy == pytest.approx(entropy, rel=1e-9)
    # components too narrow for products of whole rows
    assert _expanded(densities._replace(factor=densities.factor * 1e5), spread, mean) is None


@pytest.mark.parametrize("kind", KINDS)
def test_narrow_components_far_from_zero(kind):
    """Two components 1e-4 wide at 1 and 2, the whole moved by 1e6: variances keep their digits."""
    noise = RNG.normal(size=(400, 2))
    rows = 1e6 + 1e-4 * noise + np.repeat([1.0, 2.0], 200)[:, None]
    model = GaussianMixture(2, covariance_type=kind, reg_covar=0, random_state=0).fit(rows)
    C = np.stack([np.cov((1e-4 * noise)[part].T, bias=True) for part in (slice(200), slice(200, 400))])
    order = np.argsort(model.means_[:, 0])
    expected = {"full": C, "tied": C.mean(axis=0), "diag": np.stack([np.diag(c) for c in C])}
    expected["spherical"] = expected["diag"].mean(axis=1)
    found = model.covariances_ if kind == "tied" else model.covariances_[order]
    # rows are rounded by 1e-10, a millionth of their spread
    np.testing.assert_allclose(found, expected[kind], rtol=1e-4, atol=1e-5 * C.max())


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_numbers_of_rows(kind):
    w = RNG.integers(0, 3, len(X))
    P = {"full": np.stack([np.eye(2)] * 3), "tied": np.eye(2), "diag": np.ones((3, 2)), "spherical": np.ones(3)}[kind]
    settings = {"covariance_type": kind, "precisions_init": P, **START}
    a = GaussianMixture(3, **settings).fit(X, sample_weight=w)
    b = GaussianMixture(3, **settings).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(a.covariances_, b.covariances_, rtol=1e-7)
    assert a.lower_bound_ == pytest.approx(b.lower_bound_, rel=1e-9)
    assert a.score(X, sample_weight=w) == pytest.approx(b.score(np.repeat(X, w, axis=0)))


@pytest.mark.parametrize("cls", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("start", ["kmeans", "random", "random_from_data"])
@pytest.mark.sweep
def test_elsewhere_it_is_the_same_model(cls, start, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "x.parquet", row_group_size=100)
    settings = {"n_components": 3, "init_params": start, "tol": 1e-6, "max_iter": 300, "random_state": 0}
    here = cls(**settings).fit(X)
    proba = here.predict_proba(X)
    for rows in (torch.tensor(X), da.from_array(X, chunks=(130, 2)), learnt.scan(tmp_path / "x.parquet")):
        there = cls(**settings).fit(rows)
        assert there.score(rows) == pytest.approx(here.score(X), abs=1e-4)
        if start != "kmeans":  # whose seeds are drawn from a sample where rows are read in blocks
            np.testing.assert_allclose(np.asarray(there.predict_proba(rows)), proba, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_follows_the_density(kind):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    rows, component = model.sample(20000, random_state=1)
    share = np.bincount(component) / 20000
    assert (np.abs(share - model.weights_) < 5 * np.sqrt(0.25 / 20000)).all()

    def first(x):
        variances = {"full": lambda C: C[:, 0, 0], "tied": lambda C: np.full(3, C[0, 0]), "diag": lambda C: C[:, 0]}
        sigma = np.sqrt(variances.get(kind, lambda C: C)(model.covariances_))
        return (model.weights_ * stats.norm(model.means_[:, 0], sigma).cdf(np.asarray(x)[:, None])).sum(axis=1)

    assert stats.kstest(rows[:, 0], first).pvalue > 1e-3
    # the mean log density of its own rows is minus the entropy, whichever rows were drawn
    again, _ = model.sample(20000, random_state=2)
    assert model.score(rows) == pytest.approx(model.score(again), abs=5 * model.score_samples(rows).std() / 100)


@pytest.mark.parametrize("kind", KINDS)
def test_integrates_to_one(kind):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    x, dx = np.linspace(-12, 14, 501, retstep=True)
    grid = np.stack([part.ravel() for part in np.meshgrid(x, x)], axis=1)
    assert np.exp(model.score_samples(grid)).sum() * dx * dx == pytest.approx(1, abs=1e-6)


def test_more_starts_and_warm_starts():
    hard = {"init_params": "random_from_data", "random_state": 3, "max_iter": 15}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, ten = GaussianMixture(5, **hard).fit(X), GaussianMixture(5, n_init=10, **hard).fit(X)
        assert ten.lower_bound_ >= one.lower_bound_
        whole = GaussianMixture(3, random_state=0, max_iter=6, tol=0).fit(X)
        parts = GaussianMixture(3, random_state=0, max_iter=3, tol=0, warm_start=True)
        parts.fit(X).fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("kind", KINDS)
def test_singular_covariances_are_reported(cls, kind):
    """Identical rows, and a constant feature: regularised, and said so."""
    same = np.ones((20, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls(n_components=2, covariance_type=kind, random_state=0).fit(same)
    assert np.isfinite(model.score_samples(same)).all()
    if cls is GaussianMixture:
        told = [str(w.message) for w in caught if "ingular" in str(w.message)]
        assert len(told) == 1
        assert "drop such features, or ask for fewer components" in told[0]
        with pytest.raises(ValueError, match="increase reg_covar"):
            cls(n_components=2, covariance_type=kind, reg_covar=0, random_state=0).fit(same)
    if kind != "spherical":
        flat = np.column_stack([X, np.full(len(X), 3.0)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = cls(n_components=2, covariance_type=kind, random_state=0).fit(flat)
        assert np.isfinite(model.score_samples(flat)).all()


@pytest.mark.parametrize("cls", [GaussianMixture, BayesianGaussianMixture])
def test_refuses_too_few_rows(cls):
    with pytest.raises(ValueError, match="n_components = 5, n_samples = 3; ask for fewer components"):
        cls(n_components=5).fit(X[:3])
    with pytest.raises(ValueError, match="minimum of 2"):
        cls().fit(X[:1])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"covariance_type": "round"}, "one of 'full', 'tied'"),
        ({"init_params": "best"}, "one of 'kmeans'"),
        ({"means_init": [[1.0, np.nan]]}, "NaN or infinity"),
        ({"precisions_init": [[[1.0, 2.0], [2.0, 1.0]]]}, "positive-definite"),
    ],
)
def test_refuses_parameters(settings, told):
    with pytest.raises(ValueError, match=told):
        GaussianMixture(**settings).fit(X)
