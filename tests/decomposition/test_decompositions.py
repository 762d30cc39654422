"""TruncatedSVD, IncrementalPCA, FactorAnalysis and FastICA: formulas, scikit-learn, kinds of rows, bad input."""

import warnings

import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn import decomposition as theirs

import learnt
from learnt.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD, fastica

RNG = np.random.default_rng(0)
SIZES = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.5])
X = RNG.normal(size=(400, 6)) * SIZES @ np.linalg.qr(RNG.normal(size=(6, 6)))[0] + 2.0
LOADINGS = RNG.normal(size=(2, 6))
FACTORS = RNG.normal(size=(400, 2)) @ LOADINGS + RNG.normal(size=(400, 6)) * np.linspace(0.5, 1, 6) + 1.0
SOURCES = np.column_stack([RNG.uniform(-1, 1, 2000), RNG.laplace(size=2000), np.sign(np.sin(np.arange(2000) / 7.0))])
MIXED = SOURCES @ RNG.normal(size=(3, 4)) + 1.0


def angle(A, B):
    """The sine of the largest angle between two row spaces."""
    A, B = np.linalg.qr(A.T)[0], np.linalg.qr(B.T)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


# --- TruncatedSVD


@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
def test_rows_of_zeros_have_singular_values_of_zero(algorithm):
    model = TruncatedSVD(2, algorithm=algorithm).fit(np.zeros((6, 4)))
    np.testing.assert_array_equal(model.singular_values_, 0.0)
    np.testing.assert_array_equal(model.transform(np.zeros((6, 4))), 0.0)


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
def test_truncated_svd_gives_the_singular_vectors(algorithm, make):
    _, s, Vt = np.linalg.svd(X)
    model = TruncatedSVD(3, algorithm=algorithm, random_state=0)
    scores = model.fit_transform(make(X))
    # Six vectors span everything, so that both are exact: eigenvalues of XᵀX to d roundings of the largest.
    np.testing.assert_allclose(model.singular_values_, s[:3], rtol=1e-10)
    assert angle(model.components_, Vt[:3]) < 1e-8
    assert (model.components_[np.arange(3), np.abs(model.components_).argmax(axis=1)] > 0).all()
    np.testing.assert_allclose(scores, X @ model.components_.T, atol=1e-12 * s[0])
    np.testing.assert_allclose(model.explained_variance_, scores.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, scores.var(axis=0) / X.var(axis=0).sum(), rtol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(scores), scores @ model.components_, rtol=1e-12)


def test_truncated_svd_of_a_large_sparse_matrix_is_as_good_as_scikit_learns():
    A = sparse.random(3000, 800, 0.01, random_state=0, format="csr")
    ours = TruncatedSVD(5, random_state=0).fit(A)
    other = theirs.TruncatedSVD(5, random_state=0).fit(A)
    best = sparse.linalg.svds(A, 5, return_singular_vectors=False)[::-1]
    assert (ours.singular_values_ <= best * (1 + 1e-10)).all()
    assert np.square(ours.singular_values_).sum() >= np.square(other.singular_values_).sum() * (1 - 1e-6)


@pytest.mark.parametrize("make", [lambda X: da.from_array(X, chunks=(150, 6)), torch.from_numpy])
def test_the_same_model_from_every_kind_of_rows(make):
    for model in (TruncatedSVD(2, random_state=0), IncrementalPCA(2), FactorAnalysis(2, tol=1e-10)):
        here = model.fit(FACTORS)
        expected = [here.components_.copy(), here.transform(FACTORS)]
        there = model.fit(make(FACTORS))
        np.testing.assert_allclose(np.asarray(there.components_), expected[0], atol=1e-6)
        np.testing.assert_allclose(np.asarray(there.transform(FACTORS)), expected[1], atol=1e-5)


def test_fast_ica_from_other_kinds_of_rows():
    expected = FastICA(3, random_state=0, tol=1e-10, max_iter=1000).fit(MIXED).components_
    for rows in (da.from_array(MIXED, chunks=(600, 4)), torch.from_numpy(MIXED)):
        found = FastICA(3, random_state=0, tol=1e-10, max_iter=1000).fit(rows).components_
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_models_from_a_file(tmp_path):
    pl.DataFrame(X, schema=list("abcdef")).write_parquet(tmp_path / "x.parquet")
    table = learnt.scan(tmp_path / "x.parquet")
    for model in (TruncatedSVD(2, random_state=0), IncrementalPCA(2), FactorAnalysis(2), FastICA(2, random_state=0)):
        expected = model.fit(X).components_
        np.testing.assert_allclose(model.fit(table).components_, expected, atol=1e-8)
        assert model.transform(table).to_numpy().shape == (400, 2)


# --- IncrementalPCA


@pytest.mark.parametrize("sizes", [(400,), (100, 300), (7, 393), (50,) * 8])
def test_incremental_pca_is_the_pca_of_all_rows(sizes):
    model = IncrementalPCA(n_components=3, whiten=True)
    start = 0
    for size in sizes:
        model.partial_fit(X[start : start + size])
        start += size
    whole = PCA(n_components=3, whiten=True, svd_solver="full").fit(X)
    for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-9, atol=1e-9, err_msg=name)
    assert model.noise_variance_ == pytest.approx(whole.noise_variance_, rel=1e-9)
    assert model.n_samples_seen_ == 400
    np.testing.assert_allclose(model.var_, X.var(axis=0), rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)
    np.testing.assert_allclose(model.get_covariance(), whole.get_covariance(), rtol=1e-8, atol=1e-8)


def test_incremental_pca_continues_after_it_was_saved(tmp_path):
    learnt.save(IncrementalPCA(2).partial_fit(X[:100]), tmp_path / "half.learnt")
    model = learnt.load(tmp_path / "half.learnt").partial_fit(X[100:])
    np.testing.assert_allclose(model.components_, IncrementalPCA(2).fit(X).components_, atol=1e-9)


# --- FactorAnalysis


def test_factor_analysis_is_as_likely_as_scikit_learns():
    ours = FactorAnalysis(2, tol=1e-10, max_iter=5000).fit(FACTORS)
    other = theirs.FactorAnalysis(2, tol=1e-10, max_iter=5000, svd_method="lapack").fit(FACTORS)
    np.testing.assert_allclose(ours.loglike_[-1], other.loglike_[-1], rtol=1e-10)
    np.testing.assert_allclose(ours.get_covariance(), other.get_covariance(), rtol=1e-4, atol=1e-4)
    assert (np.diff(ours.loglike_) > -1e-8).all()
    # The likelihood it reports is that of its own density.
    assert ours.score(FACTORS) * len(X) == pytest.approx(ours.loglike_[-1], rel=1e-6)


def test_factor_analysis_of_a_known_model():
    W, psi = np.array([[2.0, -1.0, 0.5, 0.0], [0.0, 1.0, 1.0, -2.0]]), np.array([0.5, 1.0, 0.2, 0.3])
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(50_000, 2)) @ W + rng.normal(size=(50_000, 4)) * np.sqrt(psi)
    model = FactorAnalysis(2, tol=1e-6).fit(Z)
    # An entry of a covariance of n rows has a standard error of about √(2 / n) times the variances: 5 of them.
    truth = W.T @ W + np.diag(psi)
    np.testing.assert_allclose(model.get_covariance(), truth, atol=5 * np.sqrt(2 / 50_000) * truth.max())
    np.testing.assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(4), atol=1e-9)
    V = np.linalg.inv(model.get_covariance())
    np.testing.assert_allclose(model.transform(Z[:5]), (Z[:5] - model.mean_) @ V @ model.components_.T, atol=1e-8)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_rotation_makes_loadings_simple_and_keeps_the_model(method):
    plain = FactorAnalysis(2, tol=1e-8).fit(FACTORS)
    turned = FactorAnalysis(2, tol=1e-8, rotation=method).fit(FACTORS)
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-10)

    def simple(W):
        spread = (W**2).mean(axis=1) ** 2 if method == "varimax" else 0.0
        return float(((W**4).mean(axis=1) - spread).sum())

    assert simple(turned.components_) > simple(plain.components_)
    other = theirs.FactorAnalysis(2, tol=1e-8, rotation=method, svd_method="lapack").fit(FACTORS)
    assert simple(turned.components_) == pytest.approx(simple(other.components_), rel=1e-4)


# --- FastICA


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
@pytest.mark.parametrize("solver", ["svd", "eigh"])
def test_fast_ica_makes_scikit_learns_iterations(algorithm, fun, solver):
    settings = {
        "n_components": 3, "algorithm": algorithm, "fun": fun, "whiten_solver": solver, "random_state": 0,
        "tol": 1e-8, "max_iter": 1000,
    }  # fmt: skip
    ours, other = FastICA(**settings), theirs.FastICA(**settings)
    S = ours.fit_transform(MIXED)
    with warnings.catch_warnings():  # theirs warns of columns that are combinations of others, where rounding shows it
        warnings.simplefilter("ignore", UserWarning)
        expected = other.fit_transform(MIXED)
    np.testing.assert_allclose(S, expected, atol=1e-4)
    np.testing.assert_allclose(S.std(axis=0), 1.0, rtol=1e-8)
    np.testing.assert_allclose(ours.inverse_transform(S), MIXED, atol=1e-8)
    correlation = np.abs(np.corrcoef(S.T, SOURCES.T)[:3, 3:])
    assert (correlation.max(axis=1) > 0.97).all()


def test_fast_ica_other_whitenings_and_contrasts():
    unit = FastICA(3, random_state=0).fit(MIXED)
    other = FastICA(3, whiten="arbitrary-variance", random_state=0).fit(MIXED)
    np.testing.assert_allclose(unit.components_, other.components_ * np.sqrt(len(MIXED)), rtol=1e-8)
    own = FastICA(3, fun=lambda x: (x**3, (3 * x**2).mean(axis=-1)), random_state=0).fit(MIXED)
    cube = FastICA(3, fun="cube", random_state=0).fit(MIXED)
    np.testing.assert_allclose(own.components_, cube.components_, rtol=1e-6)
    white = unit.transform(MIXED)
    again = FastICA(whiten=False, random_state=0).fit(white)
    assert not hasattr(again, "mean_")
    np.testing.assert_allclose(np.abs(again.components_).max(axis=1), 1.0, atol=0.05)
    K, W, S, mean, n_iter = fastica(MIXED, 3, random_state=0, return_X_mean=True, return_n_iter=True)
    np.testing.assert_allclose((MIXED - mean) @ (W @ K).T, S, atol=1e-9)
    assert n_iter == unit.n_iter_


# --- bad input


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (TruncatedSVD(7), X, "must be <= n_features"),
        (TruncatedSVD(6, algorithm="arpack"), X, "strictly less"),
        (TruncatedSVD(2, algorithm="lanczos"), X, "'algorithm' parameter"),
        (IncrementalPCA(7), X, "n_components=7 invalid for n_features=6"),
        (IncrementalPCA(5), X[:3], "batch number of samples 3"),
        (IncrementalPCA(2), X[:1], "minimum of 2 is required"),
        (FactorAnalysis(2, noise_variance_init=[1.0]), X, "noise_variance_init"),
        (FactorAnalysis(2, noise_variance_init=np.zeros(6)), X, "above 0"),
        (FastICA(2), X[:1], "minimum of 2 is required"),
        (FastICA(2), np.ones((5, 3)), "All rows of X are equal"),
        (FastICA(2, w_init=np.eye(3)), X, "w_init has invalid shape"),
        (FastICA(2, fun_args={"alpha": 3}), X, r"alpha must be in \[1,2\]"),
        (FastICA(2, fun="tanh"), X, "'fun' parameter"),
    ],
)
def test_refusals(model, rows, words):
    with pytest.raises(ValueError, match=words):
        model.fit(rows)


def test_features_without_variance_and_equal_rows():
    flat = np.column_stack([X, np.full(400, 3.0)])
    model = FactorAnalysis(2).fit(flat)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.score_samples(flat)).all()
    np.testing.assert_allclose(model.components_[:, 6], 0.0, atol=1e-6)
    assert np.isfinite(IncrementalPCA(2).fit(np.ones((5, 3))).transform(np.ones((5, 3)))).all()
    same = TruncatedSVD(2, random_state=0).fit(np.ones((5, 3)))
    np.testing.assert_allclose(same.singular_values_, [np.sqrt(15), 0.0], atol=1e-6)
    np.testing.assert_array_equal(same.explained_variance_ratio_, 0.0)
    with pytest.warns(UserWarning, match="varies in 6 directions"):
        assert FastICA(7, random_state=0, tol=1.0).fit(flat).components_.shape == (6, 7)
