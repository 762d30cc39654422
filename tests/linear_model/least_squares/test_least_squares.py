"""LinearRegression, Ridge and RidgeCV: against scikit-learn, against formulas, and the same at every scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression as SkLinear
from sklearn.linear_model import Ridge as SkRidge
from sklearn.linear_model import RidgeCV as SkRidgeCV

import learnt
from learnt.linear_model import LinearRegression, OrthogonalMatchingPursuit, Ridge, RidgeCV


def problem(n=200, d=6, k=1, seed=0, offset=10.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + offset * rng.normal(size=d)
    Y = X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) + 3.0
    return X, Y[:, 0] if k == 1 else Y


def with_condition(n, d, condition, seed=0):
    """A problem made from its answer: singular values from 1 down to 1/condition, y exactly in the range."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(n, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    X = U * np.logspace(0, -np.log10(condition), d) @ V.T
    w = rng.normal(size=d)
    return X, X @ w, w


SHAPES = [(200, 6, 1), (30, 50, 1), (300, 10, 3), (25, 25, 2), (20000, 12, 1)]


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ordinary_equals_sklearn(n, d, k, weighted, fit_intercept):
    X, y = problem(n, d, k)
    w = np.random.default_rng(1).uniform(0.1, 2, size=n) if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    theirs = SkLinear(fit_intercept=fit_intercept).fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-7)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.rank_ == theirs.rank_
    np.testing.assert_allclose(ours.singular_[: ours.rank_], theirs.singular_[: ours.rank_], rtol=1e-6)


@pytest.mark.parametrize("solver", ["cholesky", "svd", "qr", "augmented", "dual", "lsqr", "auto", "saga"])
@pytest.mark.parametrize(("n", "d", "k"), SHAPES[:4])
def test_ridge_solvers_agree_with_sklearn(solver, n, d, k):
    X, y = problem(n, d, k, offset=1.0)
    w = np.random.default_rng(1).uniform(0.1, 2, size=n)
    ours = Ridge(alpha=2.0, solver=solver, tol=1e-12).fit(X, y, w)
    theirs = SkRidge(alpha=2.0, solver="svd").fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)


def test_one_penalty_for_each_target():
    X, Y = problem(100, 5, 3)
    together = Ridge(alpha=[0.1, 1.0, 10.0]).fit(X, Y)
    alone = [Ridge(alpha=a).fit(X, Y[:, j]).coef_ for j, a in enumerate([0.1, 1.0, 10.0])]
    np.testing.assert_allclose(together.coef_, alone, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [Ridge(), RidgeCV(), LinearRegression()], ids=str)
def test_a_constant_column_in_a_sparse_table(model, weighted):
    X, y = problem(60, 5)
    X[:, 1] = 7.0
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=60) if weighted else None
    dense = model.fit(X, y, sample_weight=w).predict(X)
    packed = model.fit(sparse.csr_array(X), y, sample_weight=w)
    np.testing.assert_allclose(packed.predict(X), dense, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd", "augmented", "dual", "lsqr"])
def test_ridge_standardises_first_and_transforms_back(solver, kind, weighted):
    X, Y = problem(60, 5, 2)
    X[:, 1] = 7.0  # constant: left alone
    X[:, 2] *= 1e6
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=60) if weighted else None
    mean = np.average(X, axis=0, weights=w)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    spread[1] = 1.0
    inside = SkRidge(alpha=5.0).fit((X - mean) / spread, Y, sample_weight=w)
    if solver == "dual" and kind is sparse.csr_array:
        kind = np.asarray
    model = Ridge(alpha=5.0, standardize=True, solver=solver, tol=1e-12).fit(kind(X), Y, sample_weight=w)
    np.testing.assert_allclose(model.coef_ * spread, inside.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict(kind(X)), inside.predict((X - mean) / spread), rtol=1e-6)


def test_ridge_standardises_what_is_in_memory(tmp_path):
    import polars as pl

    pl.DataFrame({"x": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]}).write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="standardize=True needs X as an array"):
        Ridge(standardize=True).fit(table.drop("y"), table["y"])
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        Ridge(standardize=True).fit(np.array([[1.0], [np.nan], [2.0]]), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("solver", ["auto", "qr", "svd"])
def test_a_condition_number_of_1e8_is_survived(solver):
    X, y, w = with_condition(500, 8, 1e8)
    coef = LinearRegression(solver=solver, fit_intercept=False).fit(X, y).coef_
    assert np.abs(coef - w).max() < 1e-6


def test_the_normal_equations_do_not_survive_it():
    X, y, w = with_condition(500, 8, 1e8)
    coef = LinearRegression(solver="normal", fit_intercept=False).fit(X, y).coef_
    assert np.abs(coef - w).max() > 1e-4


def test_a_mean_of_a_million_leaves_the_digits():
    X, y = problem(1000, 4, offset=0.0)
    shifted = LinearRegression().fit(X + 1e6, y)
    np.testing.assert_allclose(shifted.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)


def test_rank_deficient_data_get_the_shortest_solution():
    X, y = problem(100, 4, offset=1.0)
    X = np.hstack([X, X[:, :2]])
    ours, theirs = LinearRegression().fit(X, y), SkLinear().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    assert ours.rank_ == 4


def test_a_constant_column_gets_no_weight():
    X, y = problem(100, 3)
    X = np.column_stack([X, np.full(100, 7.0)])
    model = LinearRegression().fit(X, y)
    assert model.coef_[3] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(model.coef_, SkLinear().fit(X, y).coef_, atol=1e-9)


@pytest.mark.parametrize("model", [LinearRegression, Ridge])
def test_positive_coefficients(model):
    X, y = problem(100, 5, offset=1.0)
    coef = model(positive=True).fit(X, y).coef_
    peer = SkLinear(positive=True) if model is LinearRegression else SkRidge(positive=True, tol=1e-12)
    assert coef.min() >= 0
    np.testing.assert_allclose(coef, peer.fit(X, y).coef_, rtol=1e-4, atol=1e-5)


# RidgeCV


@pytest.mark.parametrize(("n", "d", "k"), [(60, 5, 1), (30, 50, 1), (80, 6, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge_cv_equals_sklearn(n, d, k, weighted, fit_intercept):
    X, y = problem(n, d, k, offset=1.0)
    w = np.random.default_rng(1).uniform(0.1, 2, size=n) if weighted else None
    settings_ = {"alphas": np.logspace(-2, 3, 6), "fit_intercept": fit_intercept, "store_cv_results": True}
    ours, theirs = RidgeCV(**settings_).fit(X, y, w), SkRidgeCV(**settings_).fit(X, y, w)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    quick = RidgeCV(alphas=np.logspace(-2, 3, 6), fit_intercept=fit_intercept).fit(X, y, w)
    assert quick.best_score_ == pytest.approx(ours.best_score_, rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(12, 3), (12, 20)])
def test_closed_form_is_leaving_one_out(n, d):
    X, y = problem(n, d, offset=1.0)
    results = RidgeCV(alphas=[0.5, 5.0], store_cv_results=True).fit(X, y).cv_results_
    for a, alpha in enumerate([0.5, 5.0]):
        for i in range(n):
            rest = np.arange(n) != i
            error = y[i] - Ridge(alpha=alpha).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            assert results[i, a] == pytest.approx(error**2, rel=1e-6)


def test_ridge_cv_per_target_and_scoring():
    X, Y = problem(80, 6, 3, offset=1.0)
    for settings_ in ({"alpha_per_target": True}, {"scoring": "neg_mean_absolute_error"}, {"cv": 3}):
        ours, theirs = (c(alphas=[0.1, 1, 10, 100], **settings_).fit(X, Y) for c in (RidgeCV, SkRidgeCV))
        np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)


# Every scale


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=3.0), RidgeCV()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.sweep
def test_the_same_from_memory_map_table_cluster_and_tensor(model, weighted, tmp_path):
    import dask.array as da
    import polars as pl
    import torch
    from sklearn import clone

    X, y = problem(3000, 5)
    w = np.random.default_rng(1).uniform(0.1, 2, size=3000) if weighted else None
    expected = clone(model).fit(X, y, w)

    np.save(tmp_path / "X.npy", X)
    mapped = clone(model).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y, w)
    np.testing.assert_array_equal(mapped.coef_, expected.coef_)

    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(5)]).with_columns(y=pl.Series(y))
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    for name in ("t.parquet", "t.arrow"):
        table = learnt.scan(tmp_path / name)
        scanned = clone(model).fit(table.drop("y"), table["y"], w)
        np.testing.assert_allclose(scanned.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(scanned.predict(table.drop("y")), expected.predict(X), rtol=1e-9)

    for chunks in ((1000, 5), (700, 2)):
        dX, dy = da.from_array(X, chunks=chunks), da.from_array(y, chunks=500)
        dw = None if w is None else da.from_array(w, chunks=500)
        clustered = clone(model).fit(dX, dy, dw)
        np.testing.assert_allclose(clustered.coef_, expected.coef_, rtol=1e-9)
        predicted = clustered.predict(dX)
        assert isinstance(predicted, da.Array)
        np.testing.assert_allclose(predicted.compute(), expected.predict(X), rtol=1e-9)

    tensor = clone(model).fit(torch.tensor(X), torch.tensor(y), None if w is None else torch.tensor(w))
    assert isinstance(tensor.coef_, torch.Tensor)
    np.testing.assert_allclose(tensor.coef_.numpy(), expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(tensor.predict(torch.tensor(X)).numpy(), expected.predict(X), rtol=1e-9)


def test_unknown_chunks_and_empty_partitions():
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    X, y = problem(300, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, keep=[i >= 120 for i in range(300)])
    kept = dd.from_pandas(frame, npartitions=5)
    kept = kept[kept.keep]  # the first partitions are empty and no chunk size is known
    model = LinearRegression().fit(kept[["a", "b", "c"]], kept["y"])
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X[120:], y[120:]).coef_, rtol=1e-9)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert isinstance(model.predict(kept[["a", "b", "c"]]), da.Array)


@pytest.mark.parametrize("model", [LinearRegression, Ridge, RidgeCV])
def test_sparse_equals_dense(model):
    X, y = problem(300, 8, offset=0.0)
    X[np.abs(X) < 0.8] = 0
    w = np.random.default_rng(1).uniform(0.1, 2, size=300)
    dense = model().fit(X, y, w)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        np.testing.assert_allclose(model().fit(kind(X), y, w).coef_, dense.coef_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(dense.predict(sparse.csr_array(X)), dense.predict(X), rtol=1e-12)


def test_wide_sparse_data_use_products_only():
    X = sparse.random_array((300, 5000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = X @ np.random.default_rng(1).normal(size=5000)
    model = Ridge(alpha=0.5, tol=1e-10).fit(X, y)
    assert model.solver_ == "lsqr"
    np.testing.assert_allclose(model.coef_, SkRidge(alpha=0.5).fit(X.toarray(), y).coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", [LinearRegression, Ridge, RidgeCV])
def test_float32_is_kept_and_close(model):
    X, y = problem(5000, 6)
    narrow = model().fit(X.astype(np.float32), y.astype(np.float32))
    assert narrow.coef_.dtype == np.float32
    assert narrow.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, model().fit(X, y).coef_, rtol=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 6), st.floats(0.01, 100))
def test_ridge_gradient_is_zero(seed, n, d, alpha):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    model = Ridge(alpha=alpha).fit(X, y)
    residual = y - model.predict(X)
    np.testing.assert_allclose(X.T @ residual, alpha * model.coef_, atol=1e-8)
    assert residual.sum() == pytest.approx(0, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_weight_is_a_number_of_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = problem(30, 3, seed=seed, offset=1.0)
    counts = rng.integers(0, 4, size=30)
    for model in (LinearRegression, Ridge):
        weighted = model().fit(X, y, counts).coef_
        repeated = model().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).coef_
        np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: Ridge(alpha=-1).fit(X, y), "alpha"),
        (lambda X, y: Ridge(solver="magic").fit(X, y), "solver"),
        (lambda X, y: LinearRegression(fit_intercept="yes").fit(X, y), "fit_intercept"),
        (lambda X, y: RidgeCV(alphas=[1.0, -2.0]).fit(X, y), r"alphas\[1\]"),
        (lambda X, y: Ridge(alpha=[1.0, 2.0]).fit(X, y), "penalties"),
        (lambda X, y: LinearRegression().fit(X, y, np.zeros(len(y))), "zero"),
        (lambda X, y: LinearRegression().fit(X, y, -np.ones(len(y))), "Negative"),
        (lambda X, y: LinearRegression().fit(X, y[:-1]), "rows"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    X, y = problem(20, 3)
    with pytest.raises(ValueError, match=words) as caught:
        make(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(200, 3), (20, 50)])
def test_values_whose_squares_overflow(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = X @ rng.normal(size=shape[1]) + 1.0
    for model in (LinearRegression(), Ridge(alpha=1e-3)):
        model.fit(X * 1e200, y)
        np.testing.assert_allclose(model.predict(X * 1e200), y, rtol=1e-6)
    with pytest.raises(ValueError, match="too large to be squared"):
        RidgeCV().fit(X * 1e200, y)


# --- cells that are not finite, where sums over all cells are all that looks at them


@pytest.mark.parametrize("shape", [(60, 5), (600, 520), (20, 50), (300, 300)], ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [Ridge, RidgeCV, LinearRegression, OrthogonalMatchingPursuit])
def test_a_cell_that_is_not_finite_is_named(kind, fit_intercept, value, shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    y[-1] = 0.0
    X[-1, 3] = value
    what = f"{'NaN' if np.isnan(value) else 'infinity'} at row {shape[0] - 1}, column 3"
    with pytest.raises(ValueError, match=rf"^Input X contains {what}, and {kind.__name__} "):
        kind(fit_intercept=fit_intercept).fit(X, y)


@pytest.mark.parametrize("kind", [Ridge, LinearRegression])
def test_cells_that_are_not_finite_are_named_by_the_caller_s_row_and_do_not_matter_without_weight(kind):
    rng = np.random.default_rng(0)
    for shape in [(60, 5), (600, 520), (20, 50)]:
        X, y, w = rng.normal(size=shape), rng.normal(size=shape[0]), np.ones(shape[0])
        w[4], X[4, 2] = 0.0, np.nan
        there = w > 0
        np.testing.assert_array_equal(kind().fit(X, y, w).coef_, kind().fit(X[there], y[there], w[there]).coef_)
        X[9, 2] = np.nan
        with pytest.raises(ValueError, match=r"^Input X contains NaN at row 9, column 2"):
            kind().fit(X, y, w)


@pytest.mark.parametrize("shape", [(60, 5), (600, 520), (20, 50)], ids=str)
def test_cells_whose_squares_overflow_are_finite_all_the_same(shape):
    rng = np.random.default_rng(0)
    X, y = 1e160 * rng.uniform(1, 2, size=shape), rng.normal(size=shape[0])
    assert np.isfinite(Ridge(alpha=1.0).fit(X, y).coef_).all()
