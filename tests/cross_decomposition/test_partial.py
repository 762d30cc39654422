"""PLSRegression, PLSCanonical, CCA and PLSSVD: scikit-learn's numbers, what defines them, bad input."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import linalg
from sklearn import cross_decomposition as theirs
from sklearn.datasets import load_linnerud
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import learnt
from learnt.cross_decomposition import CCA, PLSSVD, PLSCanonical, PLSRegression
from learnt.linear_model import LinearRegression

# Name here: name there.
SHARED = {name: name for name in ("x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_")}
SHARED |= {name: name for name in ("y_rotations_", "coef_", "intercept_")}
SHARED |= {"x_scores_": "_x_scores", "y_scores_": "_y_scores", "x_mean_": "_x_mean", "x_std_": "_x_std"}
KINDS = [(PLSRegression, {}), (PLSCanonical, {}), (PLSCanonical, {"algorithm": "svd"}), (CCA, {}), (PLSSVD, {})]
IDS = ["regression", "canonical", "canonical by svd", "cca", "svd"]


def tables(n, d, q, shift=2.0, seed=0):
    """Two tables of a few things in common, and noise."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    X = Z @ rng.normal(size=(3, d)) + rng.normal(size=(n, d)) + shift
    return X * np.linspace(1, 5, d), Z @ rng.normal(size=(3, q)) + 0.5 * rng.normal(size=(n, q)) + 1.0


def same_as(ours, other, **tolerance):
    for here, there in SHARED.items():
        if hasattr(other, there) and hasattr(ours, here):
            np.testing.assert_allclose(getattr(ours, here), getattr(other, there), err_msg=here, **tolerance)
    assert getattr(ours, "n_iter_", None) == getattr(other, "n_iter_", None)


# (60, 6, 4) is reduced to a triangle where that is less work, (9, 6, 4) and (20, 40, 3) never are.
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(60, 6, 4), (9, 6, 4), (20, 40, 3), (60, 6, 1)], ids=str)
@pytest.mark.parametrize(("kind", "more"), KINDS, ids=IDS)
def test_the_numbers_of_scikit_learn(kind, more, shape, scale):
    n, d, q = shape
    X, Y = tables(*shape)
    most = min(n, d) if kind is PLSRegression else min(n, d, q)
    for k in range(1, min(most, 4) + 1):
        if kind is CCA and n <= d + q:
            continue  # every correlation is 1 there, and rounding decides
        ours = kind(k, scale=scale, **more).fit(X, Y)
        other = getattr(theirs, kind.__name__)(k, scale=scale, **more).fit(X, Y)
        # Steps of the power method are the same, so what differs is rounding, amplified by gaps of singular values.
        same_as(ours, other, rtol=1e-7, atol=1e-8)
        new = X[:5] + 0.1
        for mine, yours in zip(ours.transform(new, Y[:5]), other.transform(new, Y[:5]), strict=True):
            np.testing.assert_allclose(mine, yours, rtol=1e-7, atol=1e-8)
        if hasattr(other, "predict"):
            np.testing.assert_allclose(ours.predict(new), other.predict(new), rtol=1e-7, atol=1e-8)
            scores = other.transform(X, Y)
            for mine, yours in zip(ours.inverse_transform(*scores), other.inverse_transform(*scores), strict=True):
                np.testing.assert_allclose(mine, yours, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("kind", "more"), KINDS, ids=IDS)
def test_measurements_of_people(kind, more):
    X, Y = load_linnerud(return_X_y=True)
    same_as(kind(2, **more).fit(X, Y), getattr(theirs, kind.__name__)(2, **more).fit(X, Y), rtol=1e-7, atol=1e-9)
    # One column of y, as a column and as numbers.
    one, flat = kind(1, **more).fit(X, Y[:, :1]), kind(1, **more).fit(X, Y[:, 0])
    np.testing.assert_array_equal(one.x_weights_, flat.x_weights_)
    if hasattr(flat, "predict"):
        assert flat.predict(X).shape == (20,)
        np.testing.assert_array_equal(one.predict(X), flat.predict(X)[:, None])


def test_scores_are_orthogonal_and_rotations_give_them():
    """With and without a triangle in place of the rows, and with columns far from 0."""
    for n, k, shift in [(400, 2, 0.0), (400, 8, 0.0), (30, 8, 0.0), (400, 3, 1e4)]:
        X, Y = tables(n, 12, 3, shift)
        model = PLSRegression(k).fit(X, Y)
        T = model.x_scores_
        sizes = np.linalg.norm(T, axis=0)
        np.testing.assert_allclose(T.T @ T / np.outer(sizes, sizes), np.eye(k), atol=1e-11 * max(shift, 1.0))
        np.testing.assert_allclose(model.transform(X), T, atol=1e-10 * max(shift, 1.0) * sizes.max())
        Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        np.testing.assert_allclose(Z.T @ T / sizes**2, model.x_loadings_, atol=1e-11 * max(shift, 1.0))


@pytest.mark.parametrize("q", [1, 3])
def test_all_components_are_least_squares(q):
    X, Y = tables(200, 7, q)
    model, plain = PLSRegression(7).fit(X, Y), LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-9, atol=1e-9)


def test_the_first_weights_have_the_largest_covariance_or_correlation():
    X, Y = tables(300, 6, 4)
    Zx, Zy = ((A - A.mean(axis=0)) / A.std(axis=0, ddof=1) for A in (X, Y))
    largest = linalg.svdvals(Zx.T @ Zy) / 299
    t, u = PLSSVD(3).fit_transform(X, Y)
    np.testing.assert_allclose(np.diag(np.cov(t.T, u.T)[:3, 3:]), largest[:3], rtol=1e-9)
    t, u = PLSCanonical(1, algorithm="svd").fit_transform(X, Y)
    assert np.cov(t.T, u.T)[0, 1] == pytest.approx(largest[0], rel=1e-9)
    angles = linalg.svdvals(linalg.orth(Zx).T @ linalg.orth(Zy))
    t, u = CCA(2, tol=1e-20, max_iter=10_000).fit_transform(X, Y)
    np.testing.assert_allclose([np.corrcoef(t[:, i], u[:, i])[0, 1] for i in range(2)], angles[:2], rtol=1e-8)


def test_columns_far_from_zero_keep_their_digits():
    X, y = tables(300, 5, 1, shift=0.0)
    far = X + 1e7
    exact = PLSRegression(3).fit(far - 1e7, y)  # the cells as rounding left them
    # A mean of 1e7 deviations is known to 1e-16 · 1e7.
    np.testing.assert_allclose(PLSRegression(3).fit(far, y).coef_, exact.coef_, rtol=1e-6, atol=1e-8)


def test_constant_columns_do_not_count():
    X, Y = tables(50, 4, 2)
    for kind in (PLSRegression, PLSCanonical, PLSSVD):
        plain = kind(2).fit(X, Y)
        more = kind(2).fit(np.column_stack([X, np.full(50, 0.1)]), np.column_stack([Y, np.full(50, 1e9 / 3)]))
        np.testing.assert_array_equal(more.x_weights_[4], 0.0)
        np.testing.assert_array_equal(more.y_weights_[2], 0.0)
        np.testing.assert_allclose(more.x_weights_[:4], plain.x_weights_, rtol=1e-9, atol=1e-12)


def test_components_that_do_not_exist_are_told_and_are_zero():
    X, _ = tables(30, 4, 1)
    with pytest.warns(UserWarning, match=r"^y residual is constant at iteration 0: PLSRegression has 0 components"):
        model = PLSRegression(2).fit(X, np.full(30, 0.1))
    np.testing.assert_array_equal(model.transform(X), 0.0)
    np.testing.assert_allclose(model.predict(X), 0.1, rtol=1e-15)
    double = np.column_stack([X[:, :2], X[:, :2]])
    y = np.random.default_rng(1).normal(size=30)
    with pytest.warns(UserWarning, match=r"^X and y have nothing left in common at iteration 2: .* instead of 4; ask"):
        model = PLSRegression(4).fit(double, y)
    np.testing.assert_array_equal(model.x_weights_[:, 2:], 0.0)
    np.testing.assert_allclose(model.predict(double), LinearRegression().fit(X[:, :2], y).predict(X[:, :2]), rtol=1e-8)


def test_too_few_steps_are_told():
    X, Y = tables(60, 6, 4)
    with pytest.warns(ConvergenceWarning, match=r"^Maximum number of iterations reached: CCA did not converge in max"):
        CCA(2, max_iter=1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PLSRegression(2, max_iter=1).fit(X, Y[:, 0])  # one step is exact


def test_rows_are_left_as_they_are_unless_they_may_be_overwritten():
    X, Y = tables(60, 6, 4, shift=1e4)
    for kind, more in KINDS:
        before, overwritten = X.copy(), X.copy()
        model = kind(2, **more).fit(X, Y)
        np.testing.assert_array_equal(X, before)
        other = kind(2, copy=False, **more).fit(overwritten, Y)
        np.testing.assert_allclose(other.x_weights_, model.x_weights_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(overwritten, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), atol=1e-9)
        read_only = X.copy()
        read_only.flags.writeable = False
        kind(2, copy=False, **more).fit(read_only, Y)
        np.testing.assert_array_equal(read_only, X)


def test_frames_names_and_pipelines():
    X, Y = tables(60, 4, 2)
    frame = pl.DataFrame(X, schema=list("abcd"))
    for kind, more in KINDS:
        model = kind(2, **more).set_output(transform="polars").fit(frame, pl.DataFrame(Y, schema=["u", "v"]))
        name = kind.__name__.lower()
        assert list(model.get_feature_names_out()) == [f"{name}0", f"{name}1"]
        first, second = model.transform(frame, Y)
        assert first.columns == [f"{name}0", f"{name}1"]
        np.testing.assert_allclose(first.to_numpy(), kind(2, **more).fit(X, Y).transform(X), rtol=1e-10, atol=1e-12)
        assert isinstance(second, np.ndarray)
    scores = cross_val_score(make_pipeline(StandardScaler(), PLSRegression(2)), X, Y)
    np.testing.assert_allclose(
        scores, cross_val_score(make_pipeline(StandardScaler(), theirs.PLSRegression(2)), X, Y), rtol=1e-8
    )


def test_a_saved_model_predicts_the_same(tmp_path):
    X, Y = tables(60, 4, 2)
    model = PLSRegression(2).fit(X, Y)
    learnt.save(model, tmp_path / "model.learnt")
    np.testing.assert_array_equal(learnt.load(tmp_path / "model.learnt").predict(X), model.predict(X))


X, Y = tables(20, 4, 2)


@pytest.mark.parametrize(
    ("settings", "data", "sentence"),
    [
        ({"n_components": 0}, (X, Y), "'n_components' parameter of PLSCanonical must be a whole number of at least 1"),
        ({"n_components": 2.0}, (X, Y), "'n_components' parameter of PLSCanonical must be a whole number"),
        ({"n_components": 3}, (X, Y), "`n_components` upper bound is 2. Got 3 instead. Reduce"),
        ({"scale": "yes"}, (X, Y), "'scale' parameter of PLSCanonical must be True or False"),
        ({"algorithm": "qr"}, (X, Y), "'algorithm' parameter of PLSCanonical must be one of 'nipals', 'svd'"),
        ({"max_iter": 0}, (X, Y), "'max_iter' parameter of PLSCanonical must be a whole number of at least 1"),
        ({"tol": -1}, (X, Y), "'tol' parameter of PLSCanonical must be a number of at least 0"),
        ({}, (X, None), "PLSCanonical estimator requires y to be passed"),
        ({}, (X, Y[:5]), "X has 20 rows but y has 5"),
        ({}, (X, np.where(Y > 0, np.nan, Y)), "y contains NaN"),
        ({}, (X * 1e200, Y), "X has values so large that their squares are infinite"),
        ({}, (X[:1], Y[:1]), "a minimum of 2 is required by PLSCanonical"),
    ],
)
def test_refusals(settings, data, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        PLSCanonical(**settings).fit(*data)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refusals_of_new_rows():
    model = PLSCanonical(2).fit(X, Y)
    with pytest.raises(ValueError, match=r"^y has 1 columns, but PLSCanonical was fitted to 2; give as many\.$"):
        model.transform(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"^X has 3 columns, and inverse_transform takes one for each of the 2 comp"):
        model.inverse_transform(X[:, :3])
    with pytest.raises(ValueError, match="X has 3 features, but PLSCanonical is expecting 4 features"):
        model.predict(X[:, :3])
