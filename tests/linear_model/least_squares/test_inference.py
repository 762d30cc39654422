"""Standard errors, intervals and summaries of least squares: against statsmodels, by coverage, and on bad data."""

import gc
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse
from sklearn.exceptions import NotFittedError

import learnt
from learnt.linear_model import LinearRegression
from learnt.linear_model.least_squares import _inference


def data(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1, 3.0][:d] + 5.0
    return X, X @ rng.normal(size=d) + 2.0 + rng.normal(size=n), rng.uniform(0.2, 3.0, size=n)


def assert_equal(ours, theirs):
    pairs = {
        "estimate": "params",
        "stderr": "bse",
        "t": "tvalues",
        "p": "pvalues",
        "r2": "rsquared",
        "adjusted_r2": "rsquared_adj",
        "noise_variance": "scale",
        "f": "fvalue",
        "f_p": "f_pvalue",
        "log_likelihood": "llf",
        "aic": "aic",
        "bic": "bic",
        "n": "nobs",
        "dof": "df_resid",
    }
    for mine, yours in pairs.items():
        np.testing.assert_allclose(getattr(ours, mine), getattr(theirs, yours), rtol=1e-8, atol=1e-300, err_msg=mine)
    np.testing.assert_allclose(ours.interval, theirs.conf_int(0.05), rtol=1e-8)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("solver", ["auto", "qr", "svd"])
def test_equals_statsmodels(fit_intercept, weighted, solver):
    X, y, w = data()
    w = w if weighted else None
    model = LinearRegression(fit_intercept=fit_intercept, solver=solver).fit(X, y, sample_weight=w)
    design = sm.add_constant(X) if fit_intercept else X
    theirs = sm.WLS(y, design, weights=w).fit() if weighted else sm.OLS(y, design).fit()
    assert_equal(model.summary(), theirs)
    new = X[:7] * 1.3
    frame = theirs.get_prediction(sm.add_constant(new, has_constant="add") if fit_intercept else new)
    frame = frame.summary_frame(alpha=0.1)
    mean, lower, upper = model.predict(new, interval="confidence", level=0.9)
    np.testing.assert_allclose(mean, model.predict(new))
    np.testing.assert_allclose(np.c_[lower, upper], frame[["mean_ci_lower", "mean_ci_upper"]], rtol=1e-8)
    found = model.predict(new, interval="prediction", level=0.9)
    np.testing.assert_allclose(np.c_[found.lower, found.upper], frame[["obs_ci_lower", "obs_ci_upper"]], rtol=1e-8)
    np.testing.assert_array_equal(model.predict(new, interval=0.9).upper, found.upper)
    np.testing.assert_array_equal(model.predict_interval(new, coverage=0.9)[0], found.lower)


def test_longley():
    table = sm.datasets.longley.load_pandas()
    model = LinearRegression().fit(table.exog, table.endog)
    theirs = sm.OLS(table.endog.to_numpy(), sm.add_constant(table.exog.to_numpy())).fit()
    summary = model.summary()
    np.testing.assert_allclose(summary.stderr, theirs.bse, rtol=1e-7)
    np.testing.assert_allclose(summary.r2, 0.995479004577296, rtol=1e-10)  # NIST's certified value
    certified = [890420.383607373, 84.9149257747669, 0.334910077722432e-01, 0.488399681651699, 0.214274163161675]
    np.testing.assert_allclose(summary.stderr[:5], certified, rtol=1e-6)
    assert summary.names[:2] == ["intercept", "GNPDEFL"]


def test_intervals_have_their_nominal_coverage():
    rng = np.random.default_rng(0)
    held_new, held_mean = [], []
    for _ in range(400):
        X = rng.normal(size=(20, 2))
        truth = X @ [1.0, -2.0] + 3.0
        model = LinearRegression().fit(X, truth + rng.normal(size=20))
        new = rng.normal(size=(5, 2))
        mean = new @ [1.0, -2.0] + 3.0
        y = mean + rng.normal(size=5)
        _, low, high = model.predict(new, interval=0.9)
        held_new.append((low <= y) & (y <= high))
        _, low, high = model.predict(new, interval="confidence", level=0.9)
        held_mean.append((low <= mean) & (mean <= high))
    assert 0.88 < np.mean(held_new) < 0.92
    assert 0.87 < np.mean(held_mean) < 0.93


def test_several_targets():
    X, y, _ = data()
    Y = np.c_[y, np.sin(y)]
    model = LinearRegression().fit(X, Y)
    summary = model.summary()
    for j in range(2):
        theirs = sm.OLS(Y[:, j], sm.add_constant(X)).fit()
        np.testing.assert_allclose(summary.stderr[j], theirs.bse, rtol=1e-8)
        np.testing.assert_allclose(summary.r2[j], theirs.rsquared, rtol=1e-8)
    mean, lower, _ = model.predict(X, interval=0.95)
    assert mean.shape == lower.shape == Y.shape
    assert "target 1" in str(summary)


def test_every_storage_gives_the_same(tmp_path):
    import dask.array as da
    import polars as pl
    import torch

    X, y, _ = data(n=500)
    here = LinearRegression().fit(X, y).summary()
    pl.DataFrame(np.c_[X, y], schema=[*"abcd", "y"]).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    for there in [
        (sparse.csr_array(X), y),
        (table.drop("y"), table["y"]),
        (da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)),
        (torch.tensor(X), torch.tensor(y)),
    ]:
        np.testing.assert_allclose(LinearRegression().fit(*there).summary().stderr, here.stderr, rtol=1e-8)
    tensor = LinearRegression().fit(torch.tensor(X), torch.tensor(y)).predict(torch.tensor(X), interval=0.95)
    assert all(isinstance(part, torch.Tensor) for part in tensor)


def test_prints_as_text_and_as_html():
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=["a", "<b>", "c", "d"])
    summary = LinearRegression().fit(frame, y).summary(level=0.9)
    text = str(summary)
    assert text.count("\n") == 9
    assert "std error" in text
    assert "95%" in text
    assert len({len(line) for line in text.splitlines()[4:]}) == 1  # aligned
    html = summary._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_answers_are_kept_and_the_rows_are_not(tmp_path, monkeypatch):
    X, y, _ = data()
    model = LinearRegression().fit(X, y)
    expected = model.summary()
    for copy in (pickle.loads(pickle.dumps(model)), _saved(model, tmp_path)):
        np.testing.assert_array_equal(copy.summary().stderr, expected.stderr)
        np.testing.assert_array_equal(copy.predict(X, interval=0.9).upper, model.predict(X, interval=0.9).upper)
    fresh = _saved(LinearRegression().fit(X, y), tmp_path)
    with pytest.raises(ValueError, match=r"call summary\(X, y\) with the training data once"):
        fresh.summary()
    np.testing.assert_allclose(fresh.summary(X, y).stderr, expected.stderr)
    monkeypatch.setattr(_inference, "_LARGEST_KEPT", 10)
    large = LinearRegression().fit(X, y)
    np.testing.assert_allclose(large.summary().stderr, expected.stderr)
    gone = LinearRegression().fit(X.copy(), y)
    gc.collect()
    with pytest.raises(ValueError, match="are not there any more"):
        gone.predict(X, interval=0.9)


def _saved(model, folder):
    learnt.save(model, folder / "m.learnt")
    return learnt.load(folder / "m.learnt")


def test_a_second_fit_replaces_the_first():
    X, y, _ = data()
    model = LinearRegression().fit(X, y)
    model.summary()
    model.fit(X[:30], y[:30])
    np.testing.assert_allclose(model.summary().stderr, LinearRegression().fit(X[:30], y[:30]).summary().stderr)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:5], y[:5]), "5 coefficients from 5 rows"),
        (lambda X, y: (np.c_[X, X[:, 0]], y), "Column 4 of X is constant or a combination"),
        (lambda X, y: (np.c_[np.ones(len(X)), X], y), "Column 0 of X is constant"),
    ],
)
def test_data_without_standard_errors(change, message):
    model = LinearRegression().fit(*change(*data()[:2]))
    with pytest.raises(ValueError, match=message) as caught:
        model.summary()
    assert "\n" not in str(caught.value)


def test_rows_that_are_others_are_refused():
    X, y, _ = data()
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="not the rows that this LinearRegression was fitted on"):
        model.summary(X, y[::-1])
    y *= 2.0  # in place, after the fit
    with pytest.raises(ValueError, match="or they have changed since"):
        model.summary()


def test_bad_queries():
    X, y, _ = data()
    with pytest.raises(NotFittedError):
        LinearRegression().summary()
    model = LinearRegression().fit(X, y)
    for bad in (95, 0.0, "both", True):
        with pytest.raises(ValueError, match="interval must be"):
            model.predict(X, interval=bad)
    with pytest.raises(ValueError, match="level must be a probability"):
        model.summary(level=95)
    with pytest.raises(ValueError, match="X and y together"):
        model.summary(X)
    with pytest.raises(ValueError, match="positive=True"):
        LinearRegression(positive=True).fit(X, y).summary()


def test_zero_weights_and_exact_fits():
    X, y, w = data()
    w[:10] = 0.0
    weighted = LinearRegression().fit(X, y, sample_weight=w).summary()
    left = LinearRegression().fit(X[10:], y[10:], sample_weight=w[10:]).summary()
    np.testing.assert_allclose(weighted.stderr, left.stderr, rtol=1e-10)
    assert weighted.n == 50
    exact = LinearRegression().fit(X, X @ np.arange(4.0)).summary()
    assert exact.r2 == pytest.approx(1.0)
    assert np.all(exact.stderr < 1e-10)
    flat = LinearRegression().fit(X, np.zeros(len(X))).summary()
    assert np.all(flat.estimate == 0)
    assert "nan" in str(flat)
