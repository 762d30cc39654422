"""PCA against scikit-learn, against its mathematics, and against what threads and units must not change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.decomposition import PCA as Oracle

import learnt
from learnt.decomposition import PCA

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
ATTRIBUTES = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
)


def make(n=200, d=6, seed=0, offset=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + offset


def assert_same(ours, theirs, rtol=1e-8, atol=1e-9, skip=()):
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    for name in set(ATTRIBUTES) - set(skip):
        a, b = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(200, 6), (1500, 40), (30, 80), (60, 60)])
def test_agrees_with_scikit_learn(solver, shape):
    X = make(*shape)
    ours = PCA(4, svd_solver=solver, random_state=0, iterated_power=30).fit(X)
    theirs = Oracle(4, svd_solver="full").fit(X)
    assert_same(ours, theirs)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("power", ["auto", 0, 2])
def test_as_many_vectors_as_columns_are_exact(power):
    X = np.random.default_rng(0).normal(size=(1000, 100))  # variances that lie close together
    found = PCA(3, svd_solver="randomized", n_oversamples=97, iterated_power=power, random_state=0).fit(X)
    assert_same(found, PCA(3, svd_solver="full").fit(X))


@pytest.mark.parametrize("shape", [(200, 6), (2000, 40), (30, 80), (60, 60)])
@pytest.mark.parametrize("solver", ["auto", "full"])
def test_all_components_agree_with_scikit_learn(shape, solver):
    X = make(*shape)
    ours, theirs = PCA(svd_solver=solver).fit(X), Oracle(svd_solver="full").fit(X)
    V, W = ours.components_, theirs.components_
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8, atol=1e-12)
    kept = -1 if shape[0] <= shape[1] else None  # centring leaves the last direction of a wide table undetermined
    np.testing.assert_allclose(V[:kept], W[:kept], atol=1e-7)
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-9)


@pytest.mark.parametrize("n_components", [0.5, 0.9, 0.999, "mle", None, 0, 1, 6])
def test_number_of_components_agrees_with_scikit_learn(n_components):
    X = make() * np.array([9, 4, 2, 1, 0.5, 0.1])
    assert_same(PCA(n_components).fit(X), Oracle(n_components, svd_solver="full").fit(X))


@pytest.mark.parametrize("seed", range(5))
def test_minka_finds_the_dimension(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 12)) * 3 + 0.3 * rng.normal(size=(500, 12))
    assert PCA("mle").fit(X).n_components_ == 3 == Oracle("mle").fit(X).n_components_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whiten", [False, True])
def test_components_are_orthonormal_and_scores_uncorrelated(solver, whiten):
    X = make(300, 8)
    pca = PCA(5, svd_solver=solver, whiten=whiten, random_state=0, iterated_power=20)
    scores = pca.fit_transform(X)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(5), atol=1e-12)
    expected = np.eye(5) if whiten else np.diag(pca.explained_variance_)
    np.testing.assert_allclose(np.cov(scores.T), expected, atol=1e-6 * pca.explained_variance_[0])
    np.testing.assert_allclose(scores, pca.transform(X), rtol=1e-12)


@pytest.mark.parametrize("whiten", [False, True])
def test_inverse_transform_is_the_inverse(whiten):
    X = make()
    pca = PCA(whiten=whiten).fit(X)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, rtol=1e-9)
    few = PCA(2, whiten=whiten).fit(X)
    back = few.inverse_transform(few.transform(X))
    lost = ((X - back) ** 2).sum() / (len(X) - 1)
    assert lost == pytest.approx(pca.explained_variance_[2:].sum(), rel=1e-9)


def test_no_components_is_the_mean():
    X = make()
    pca = PCA(0).fit(X)
    assert pca.transform(X).shape == (200, 0)
    np.testing.assert_allclose(pca.inverse_transform(np.zeros((3, 0))), np.tile(X.mean(axis=0), (3, 1)))


@pytest.mark.parametrize("k", [0, 2, 5, 6])
def test_density_is_that_of_its_covariance(k):
    X = make()
    pca = PCA(k).fit(X)
    normal = multivariate_normal(pca.mean_, pca.get_covariance())
    np.testing.assert_allclose(pca.score_samples(X), normal.logpdf(X), rtol=1e-8)
    np.testing.assert_allclose(pca.get_precision() @ pca.get_covariance(), np.eye(6), atol=1e-8)
    assert pca.score(X) == pytest.approx(Oracle(k, svd_solver="full").fit(X).score(X), rel=1e-9)


def test_density_is_the_same_when_whitened():
    X = make()
    assert PCA(3, whiten=True).fit(X).score(X) == pytest.approx(PCA(3).fit(X).score(X))


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_singular_covariance_has_a_density_in_its_span(solver):
    X = make(10, 30)
    pca = PCA(svd_solver=solver).fit(X)
    assert pca.noise_variance_ == 0
    scores = pca.transform(X)[:, :9]
    inside = multivariate_normal(np.zeros(9), np.diag(pca.explained_variance_[:9]))
    np.testing.assert_allclose(pca.score_samples(X), inside.logpdf(scores), rtol=1e-8)


def test_large_means_cost_no_digits():
    X = make(offset=0.0)
    there = PCA(svd_solver="covariance_eigh").fit(X + 1e8)
    here = PCA(svd_solver="covariance_eigh").fit(X)
    np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-6)


def test_a_first_block_unlike_the_rest_costs_no_digits():
    X = make(5000, 4, offset=0.0)
    X[300:] += 1e6
    np.testing.assert_allclose(
        PCA().fit(X).explained_variance_, Oracle(svd_solver="full").fit(X).explained_variance_, rtol=1e-9
    )


@pytest.mark.parametrize("shape", [(3000, 12), (40, 12), (9, 30)])
def test_small_singular_values_keep_their_digits(shape):
    """Squaring would leave nothing of singular values below 1e-8 of the largest."""
    rng = np.random.default_rng(0)
    n, d = shape
    rank = min(n - 1, d)
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, rank))]))[0][:, 1:]
    V = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    s = 10.0 ** -np.linspace(0, 10, rank)
    pca = PCA(rank).fit((U * s) @ V.T)
    np.testing.assert_allclose(pca.singular_values_, s, rtol=1e-2, atol=1e-12)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(rank), atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(pca.components_ * V.T, axis=1)), 1.0, atol=1e-2)


def test_one_column_twice_has_no_variance_of_its_own():
    X = make(2000, 6)
    X[:, 5] = X[:, 0]
    pca = PCA().fit(X)
    assert pca.explained_variance_[-1] < 1e-20
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(6), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(20_000, 30), (100, 700)])
def test_same_bits_on_any_number_of_threads(solver, shape):
    X = make(*shape)
    models = []
    try:
        for threads in (1, 3):
            learnt.set_threads(threads)
            models.append(PCA(5, svd_solver=solver, random_state=0).fit(X))
    finally:
        learnt.set_threads(None)
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(*(getattr(model, name) for model in models), err_msg=name)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_is_kept(solver):
    X = make(3000, 50)
    single = PCA(5, svd_solver=solver, random_state=0).fit(X.astype(np.float32))
    double = PCA(5, svd_solver=solver, random_state=0).fit(X)
    assert single.components_.dtype == single.mean_.dtype == single.explained_variance_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.explained_variance_, double.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(np.abs(single.components_ @ double.components_.T), np.eye(5), atol=1e-4)


@pytest.mark.parametrize("shape", [(60_000, 60), (200, 5000)])
def test_large_float32_agrees_with_float64(shape):
    X = make(shape[0], 10) @ np.random.default_rng(1).normal(size=(10, shape[1])) + 20
    X += np.random.default_rng(2).normal(size=shape)
    single, double = PCA(5).fit(X.astype(np.float32)), PCA(5).fit(X)
    np.testing.assert_allclose(single.explained_variance_, double.explained_variance_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("shape", [(300, 20), (40, 90)])
def test_sparse_agrees_with_dense(solver, kind, shape):
    X = sparse.random(*shape, density=0.2, random_state=0, format="csr")
    pca = PCA(5, svd_solver=solver, random_state=0).fit(kind(X))
    dense = PCA(5, svd_solver="full").fit(X.toarray())
    assert_same(pca, dense)
    np.testing.assert_allclose(pca.transform(kind(X)), dense.transform(X.toarray()), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 40), st.integers(1, 12), st.integers(0, 2**31), st.sampled_from(["auto", "full", "covariance_eigh"])
)
def test_variances_fall_and_add_up(n, d, seed, solver):
    X = make(n, d, seed)
    pca = PCA(svd_solver=solver).fit(X)
    assert (np.diff(pca.explained_variance_) <= 1e-12 * pca.explained_variance_[0]).all()
    assert pca.explained_variance_.sum() == pytest.approx(X.var(axis=0, ddof=1).sum(), rel=1e-9)
    assert pca.explained_variance_ratio_.sum() == pytest.approx(1.0)
    peaks = pca.components_[np.arange(pca.n_components_), np.abs(pca.components_).argmax(axis=1)]
    assert (peaks > 0).all()


def test_rotation_turns_the_components_with_it():
    X = make()
    Q = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))[0]
    a, b = PCA(3).fit(X), PCA(3).fit(X @ Q)
    np.testing.assert_allclose(np.abs(np.sum(a.components_ @ Q * b.components_, axis=1)), 1.0)


def test_constant_table():
    pca = PCA().fit(np.full((20, 3), 0.1))
    np.testing.assert_allclose(pca.explained_variance_, 0, atol=1e-30)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(pca.explained_variance_ratio_, 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7}, r"n_components=7 must be between 0 and min\(n_samples, n_features\)=6"),
        ({"n_components": -1}, "n_components must be a whole number of at least 0"),
        ({"n_components": 1.5}, "n_components must be a whole number of at least 0"),
        ({"n_components": "MLE"}, "'mle' or None"),
        ({"n_components": 6, "svd_solver": "arpack"}, "must be strictly less than"),
        ({"n_components": 0, "svd_solver": "randomized"}, "must be between 1 and"),
        ({"n_components": "mle", "svd_solver": "randomized"}, "cannot be a string"),
        ({"svd_solver": "svd"}, "svd_solver must be one of 'auto'"),
        ({"tol": -1.0}, "tol must be a number of at least 0"),
        ({"n_oversamples": 0}, "n_oversamples must be a whole number of at least 1"),
        ({"iterated_power": -1}, "iterated_power must be 'auto' or"),
        ({"power_iteration_normalizer": "qr"}, "power_iteration_normalizer must be one of"),
    ],
)
def test_refused_parameters(parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        PCA(**parameters).fit(make())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("cell", "message"), [(np.nan, "X contains NaN at row 5, column 2"), (1e300, "squares are infinite")]
)
def test_refused_cells(solver, cell, message):
    X = make()
    X[5, 2] = cell
    with pytest.raises(ValueError, match=message) as error:
        PCA(2, svd_solver=solver).fit(X)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PCA().fit(np.ones((1, 3))), "n_samples = 1"),
        (lambda: PCA("mle").fit(make(4, 9)), "n_components='mle' is only supported if"),
        (lambda: PCA(2, svd_solver="full").fit(sparse.csr_array(make())), "PCA only support sparse inputs"),
        (lambda: PCA(2).fit(make()).inverse_transform(make()), "one column for each of the 2 components"),
        (lambda: PCA().transform(make()), "not fitted"),
        (lambda: PCA().fit(make()).transform(make(5, 3)), "expecting 6 features"),
    ],
)
def test_refusals_are_one_sentence(call, message):
    with pytest.raises((ValueError, TypeError, AttributeError), match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_names_out_and_frames():
    pca = PCA(2).set_output(transform="pandas")
    scores = pca.fit_transform(make())
    assert list(scores.columns) == ["pca0", "pca1"] == list(pca.get_feature_names_out())


def test_seed_decides_and_clone_keeps():
    X = make(300, 40)
    settings = {"n_components": 3, "svd_solver": "randomized", "iterated_power": 0}
    a, b, c = (PCA(random_state=s, **settings).fit(X).components_ for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert clone(PCA(3, whiten=True)).get_params() == PCA(3, whiten=True).get_params()


def test_more_passes_are_never_worse():
    X = np.random.default_rng(0).normal(size=(400, 100))
    kept = [
        PCA(5, svd_solver="randomized", iterated_power=q, random_state=0).fit(X).explained_variance_.sum()
        for q in range(6)
    ]
    assert (np.diff(kept) > 0).all()
    assert kept[-1] <= PCA(5).fit(X).explained_variance_.sum()


@pytest.mark.parametrize("passes", [0, 1, 3])
def test_half_a_product_is_enough_for_the_last_directions(passes):
    """The same eigenvalues and directions as with whole products, about a mean far from 0 too."""
    from learnt.decomposition.spectrum._centre import centre
    from learnt.decomposition.spectrum._krylov import krylov
    from learnt.decomposition.spectrum._products import scatter_inside, scatter_product
    from learnt.engine.rows import as_rows

    X = make(500, 40) + 5.0
    rows, start = as_rows(X), np.random.default_rng(0).normal(size=(40, 6))
    middle, S = centre(rows), (len(X) - 1) * np.cov(X.T)
    for point in (None, X[0]):
        np.testing.assert_allclose(scatter_inside(rows, middle, point, start), start.T @ S @ start, rtol=1e-9)
        found = krylov(
            lambda Q, point=point: scatter_product(rows, middle, point, Q),
            start,
            4,
            passes,
            lambda Q, point=point: scatter_inside(rows, middle, point, Q),
        )
        whole = krylov(lambda Q: S @ Q, start, 4, passes)
        np.testing.assert_allclose(found.values, whole.values, rtol=1e-9)
        np.testing.assert_allclose(found.inside, whole.inside, atol=1e-9 * whole.values[0])
        np.testing.assert_allclose(np.abs((found.vectors * whole.vectors).sum(axis=0)), 1.0, rtol=1e-9)


@pytest.mark.parametrize("k", [3, 10, 20, 40])
@pytest.mark.parametrize("scales", [np.ones(300), np.arange(1, 301) ** -0.5, np.repeat([3.0, 1.0], [25, 275])])
def test_automatic_passes_reach_scikit_learns_quality(k, scales):
    X = np.random.default_rng(0).normal(size=(800, 300)) * scales
    ours, theirs = (make(k, svd_solver="randomized", random_state=0).fit(X) for make in (PCA, Oracle))
    kept, others = (np.trace(V @ np.cov(X.T) @ V.T) for V in (ours.components_, theirs.components_))
    assert kept >= others * (1 - 1e-7)  # both are almost the best there are in some of these tables
    np.testing.assert_allclose(ours.explained_variance_.sum(), kept, rtol=1e-9)


def test_fit_holds_no_copy_of_the_data():
    import tracemalloc

    X = make(100_000, 40)
    PCA().fit(X)
    tracemalloc.start()
    PCA().fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2
