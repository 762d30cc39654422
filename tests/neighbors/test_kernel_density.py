"""KernelDensity against scikit-learn, its integral, and the distribution of its draws."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.neighbors import KernelDensity as Oracle

from learnt.distances import _search
from learnt.neighbors import KernelDensity
from learnt.neighbors._density_kernels import KERNELS, draw, log_volume, relative_shape


def table(n=200, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.05, 1.0, 30.0, "scott", "silverman"])
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_equal_scikit_learn(kernel, bandwidth, weighted):
    X, Q = table(), np.concatenate([table(60, seed=1), table(5) + 40.0])
    w = np.arange(1.0, 201.0) if weighted else None
    ours, theirs = (kind(kernel=kernel, bandwidth=bandwidth).fit(X, None, w) for kind in (KernelDensity, Oracle))
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_)
    # scikit-learn's sums lose the digits of small densities, so that it is compared with on their scale.
    found, expected = np.exp(ours.score_samples(Q)), np.exp(theirs.score_samples(Q))
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.exp(theirs.score_samples(X)).max())
    assert ours.score(X) == pytest.approx(theirs.score(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.05, 1.0, 30.0])
def test_logarithms_have_their_digits_however_far_the_rows_are(kernel, bandwidth):
    """Against the sum over all rows in logarithms."""
    X, Q = table(), np.concatenate([table(60, seed=1), table(5) + 40.0])
    u = cdist(Q, X) / bandwidth
    with np.errstate(divide="ignore"):
        logs = {
            "gaussian": -0.5 * u**2,
            "exponential": -u,
            "tophat": np.log((u < 1).astype(float)),
            "epanechnikov": np.log(np.maximum(1 - u**2, 0)),
            "linear": np.log(np.maximum(1 - u, 0)),
            "cosine": np.log(np.where(u < 1, np.cos(np.pi / 2 * np.minimum(u, 1)), 0)),
        }[kernel]
    expected = logsumexp(logs, axis=1) - np.log(200) - log_volume(kernel, bandwidth, 3)
    found = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(X).score_samples(Q)
    # Each exponent has an error of a few eps of itself.
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_other_metrics_equal_scikit_learn(metric):
    X, Q = table(), table(40, seed=1)
    ours, theirs = (kind(metric=metric, bandwidth=0.4).fit(X) for kind in (KernelDensity, Oracle))
    np.testing.assert_allclose(ours.score_samples(Q), theirs.score_samples(Q), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_the_volume_is_the_integral(kernel, d):
    from scipy.integrate import quad
    from scipy.special import gammaln

    def shell(r):
        shape = relative_shape(kernel, np.array([r]), 1.0, np.zeros(1))[0]
        return shape * np.exp((d - 1) * np.log(r) - scale) if r > 0 else float(d == 1) * shape

    scale = float(gammaln(d)) if kernel in ("gaussian", "exponential") else 0.0
    end = 1.0 if kernel not in ("gaussian", "exponential") else 40.0 + 4 * d
    radial = quad(shell, 0, end, limit=500)[0]
    sphere = np.log(2) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    assert log_volume(kernel, 1.0, d) == pytest.approx(np.log(radial) + scale + sphere, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_draws_have_the_kernels_distribution(kernel):
    """Radii of draws against the distribution that the shape gives them (Kolmogorov–Smirnov at 1e-6)."""
    d, h = 3, 2.0
    rng = np.random.RandomState(0)
    found = np.linalg.norm(draw(kernel, rng, np.zeros((4000, d)), h), axis=1)
    grid = np.linspace(0, h if found.max() <= h else found.max() * 1.2, 20001)
    mass = np.cumsum(grid ** (d - 1) * relative_shape(kernel, grid, h, np.zeros(1)))
    assert stats.kstest(found, lambda r: np.interp(r, grid, mass / mass[-1])).pvalue > 1e-6


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_draws_are_scikit_learns_for_the_same_seed(kernel):
    X, w = table(50), np.arange(1.0, 51.0)
    for weights in (None, w):
        ours, theirs = (
            kind(kernel=kernel, bandwidth=0.3).fit(X, sample_weight=weights).sample(20, random_state=3)
            for kind in (KernelDensity, Oracle)
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_weight_is_a_number_of_rows_and_0_none():
    X = table(30)
    w = np.arange(30) % 3
    Q = table(9, seed=2)
    for metric in ("euclidean", "manhattan"):
        repeated = KernelDensity(metric=metric).fit(np.repeat(X, w, axis=0)).score_samples(Q)
        weighted = KernelDensity(metric=metric).fit(X, sample_weight=w).score_samples(Q)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_the_loop_over_all_rows_is_the_search():
    X, Q, w = table(), table(40, seed=1), np.arange(1.0, 201.0)
    for kernel in ("gaussian", "exponential"):
        loop = KernelDensity(kernel=kernel, bandwidth=0.02).fit(X, sample_weight=w)
        search = KernelDensity(kernel=kernel, bandwidth=0.02, metric="minkowski").fit(X, sample_weight=w)
        np.testing.assert_allclose(loop.score_samples(Q), search.score_samples(Q), rtol=1e-12)


def test_blocks_of_queries_equal_all_queries(monkeypatch):
    X, Q = table(300), table(100, seed=1)
    model = KernelDensity(bandwidth=2.0, kernel="linear").fit(X)
    whole = model.score_samples(Q)
    monkeypatch.setattr(_search, "_PAIRS", 500)
    monkeypatch.setattr(_search, "_FEWEST", 3)
    np.testing.assert_array_equal(model.score_samples(Q), whole)


def test_far_away_densities_are_small_and_not_0():
    model = KernelDensity(bandwidth=0.01).fit([[0.0]])
    assert model.score_samples([[1e4]])[0] == pytest.approx(-0.5e12, rel=1e-9)
    assert KernelDensity(kernel="tophat").fit([[0.0]]).score_samples([[5.0]])[0] == -np.inf


def test_thousands_of_equal_rows_and_a_constant_column():
    X = np.zeros((4000, 2))
    found = KernelDensity(bandwidth=0.5).fit(X).score_samples(X[:3])
    np.testing.assert_allclose(found, -np.log(2 * np.pi * 0.25), rtol=1e-12)


def test_mistakes_get_one_sentence():
    X = table(30)
    for call, words in (
        (lambda: KernelDensity(bandwidth=0).fit(X), "'bandwidth' parameter"),
        (lambda: KernelDensity(bandwidth="wide").fit(X), "'bandwidth' parameter"),
        (lambda: KernelDensity(kernel="round").fit(X), "'kernel' parameter"),
        (lambda: KernelDensity(metric="precomputed").fit(X), "'metric' parameter"),
        (lambda: KernelDensity().fit(X[:0]), "0 sample"),
        (lambda: KernelDensity().fit(X).score_samples(X[:, :2]), "2 features"),
        (lambda: KernelDensity().fit(np.where(X[3, 1] == X, np.nan, X)), "NaN"),
        (lambda: KernelDensity().fit(X).sample(0), "n_samples must be"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("algorithm", "metric"), [("auto", "manhattan"), ("ball_tree", "euclidean"), ("auto", "canberra")]
)
def test_the_tree_is_of_the_rows(algorithm, metric):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelDensity(algorithm=algorithm, metric=metric).fit(X)
    np.testing.assert_array_equal(model.tree_.data, X)
    assert type(model.tree_).__name__ == type(Oracle(algorithm=algorithm, metric=metric).fit(X).tree_).__name__.rstrip(
        "64"
    )
    np.testing.assert_array_equal(model.tree_.query(X[:5])[1].ravel(), np.arange(5))
