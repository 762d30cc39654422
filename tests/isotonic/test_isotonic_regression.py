"""Isotonic regression: against scikit-learn, by its optimality conditions, ties, bounds, files and messages."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.isotonic
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError

import learnt
from learnt.isotonic import IsotonicRegression, check_increasing, isotonic_regression
from learnt.statistics import monotonic_corners

rng = np.random.default_rng(0)
EPS = np.finfo(np.float64).eps
N = 400
X = {
    "different": rng.normal(size=N),
    "ties": rng.integers(0, 40, N).astype(float),
    "close": 1 + rng.integers(0, 12, N) * 2**-52,  # chains of values less than 1e-15 apart
    "close and far": np.where(rng.random(N) < 0.5, 3 + rng.integers(0, 9, N) * 2**-51, rng.normal(size=N)),
    "one": np.full(N, 2.0),
    "float32": rng.random(N).astype(np.float32) / np.float32(1e3),
}
Y = 3 * rng.normal(size=N) + np.sort(rng.normal(size=N))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"increasing": False}, {"y_min": -0.5, "y_max": 0.25}])
@pytest.mark.parametrize("out_of_bounds", ["nan", "clip"])
@pytest.mark.parametrize("kind", X)
def test_equals_scikit_learn(kind, out_of_bounds, settings, weighted):
    x, w = X[kind], rng.uniform(0.1, 2, N) if weighted else None
    y = Y.astype(x.dtype)
    ours = IsotonicRegression(out_of_bounds=out_of_bounds, **settings).fit(x, y, w)
    theirs = sklearn.isotonic.IsotonicRegression(out_of_bounds=out_of_bounds, **settings).fit(x, y, w)
    # Sums of at most N terms, in another order.
    far = N * np.finfo(x.dtype).eps * np.abs(y).max()
    near = np.r_[x, rng.uniform(x.min() - 1, x.max() + 1, 50)].astype(x.dtype)
    np.testing.assert_allclose(ours.predict(near), theirs.predict(near), rtol=0, atol=4 * far)
    assert ours.predict(near).dtype == x.dtype
    assert (ours.X_min_, ours.X_max_) == (theirs.X_min_, theirs.X_max_)
    assert ours.increasing_ == theirs.increasing_
    at = theirs.X_thresholds_
    np.testing.assert_allclose(ours.f_(at), theirs.f_(at), rtol=0, atol=4 * far)
    if kind == "different" and not weighted:
        np.testing.assert_array_equal(ours.X_thresholds_, at)
        np.testing.assert_allclose(ours.y_thresholds_, theirs.y_thresholds_, rtol=0, atol=far)


@pytest.mark.parametrize("increasing", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_monotonic_sequence_is_nearer(increasing, weighted):
    """z is nearest iff it is monotonic, Σ w (y − z) = 0 over each stretch, and no step into the cone leads nearer."""
    y, w = rng.normal(size=200), rng.uniform(0.1, 2, 200) if weighted else np.ones(200)
    z = isotonic_regression(y, sample_weight=w if weighted else None, increasing=increasing)
    sign = 1 if increasing else -1
    assert (sign * np.diff(z) >= 0).all()
    rest, slack = w * (y - z), 200 * 16 * EPS * np.abs(w * y).sum()
    assert abs(rest.sum()) <= slack
    tails = sign * np.cumsum(rest[::-1])[::-1]  # the derivative as all from here on move on
    assert (tails <= slack).all()
    moves = np.flatnonzero(np.diff(z)) + 1
    assert (np.abs(tails[moves]) <= slack).all()


def test_integer_weights_repeat_rows_and_zero_leaves_out():
    x, y, w = X["ties"], Y, rng.integers(0, 4, N)
    a = IsotonicRegression().fit(x, y, w)
    b = IsotonicRegression().fit(np.repeat(x, w), np.repeat(y, w))
    np.testing.assert_array_equal(a.X_thresholds_, b.X_thresholds_)
    np.testing.assert_allclose(a.y_thresholds_, b.y_thresholds_, rtol=0, atol=8 * N * EPS * np.abs(y).max())


def test_the_order_of_rows_changes_no_bit():
    order = rng.permutation(N)
    a = IsotonicRegression().fit(X["ties"], Y)
    b = IsotonicRegression().fit(X["ties"][order], Y[order])
    np.testing.assert_array_equal(a.y_thresholds_, b.y_thresholds_)


def test_infinite_scores_are_equal():
    x, y = monotonic_corners(np.array([-np.inf, -np.inf, 0.0, 1.0]), np.array([0.0, 1, 1, 2]))
    assert x.tolist() == [-np.inf, 0, 1]
    assert y.tolist() == [0.5, 1, 2]


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pl.Series, lambda x: pd.DataFrame({"a": x})])
def test_tables_of_one_column(kind):
    x = X["different"]
    expected = IsotonicRegression().fit(x, Y).predict(x)
    model = IsotonicRegression().fit(kind(x), Y)
    np.testing.assert_array_equal(model.predict(kind(x)), expected)
    np.testing.assert_array_equal(model.predict(x[:, None]), expected)
    np.testing.assert_array_equal(model.transform(x), expected)
    assert model.get_feature_names_out().tolist() == ["isotonicregression0"]
    assert model.n_features_in_ == 1
    framed = model.set_output(transform="pandas").transform(x)
    assert framed.columns.tolist() == ["isotonicregression0"]


def test_out_of_bounds():
    model = IsotonicRegression(out_of_bounds="raise").fit([0, 1, 2], [0, 1, 3])
    assert model.predict([0.5, 2]).tolist() == [0.5, 3]
    with pytest.raises(ValueError, match="below the interpolation range: -1 with a minimum of 0"):
        model.predict([-1.0, 1])
    with pytest.raises(ValueError, match="above the interpolation range: 4 with a maximum of 2"):
        model.predict([1.0, 4])
    model.set_params(out_of_bounds="nan")
    np.testing.assert_array_equal(model.predict([-1, 1, 4]), [np.nan, 1, np.nan])
    model.set_params(out_of_bounds="clip")
    np.testing.assert_array_equal(model.predict([-1, 1, 4]), [0, 1, 3])
    one = IsotonicRegression().fit([5], [2.0])
    assert (
        one.predict([4, 6]).tolist() == sklearn.isotonic.IsotonicRegression().fit([5], [2.0]).predict([4, 6]).tolist()
    )


def test_saved_and_pickled(tmp_path):
    model = IsotonicRegression(increasing="auto").fit(X["different"], -X["different"] + Y)
    assert not model.increasing_
    learnt.save(model, tmp_path / "m.learnt")
    for again in (learnt.load(tmp_path / "m.learnt"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X["different"]), model.predict(X["different"]))
        assert again.f_(0.0) == model.f_(0.0)


@pytest.mark.parametrize("y_min", [None, 0.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_function_equals_scikit_learns(dtype, y_min):
    y, w = (10 * Y).astype(dtype), rng.uniform(0.1, 2, N)
    for options in ({}, {"sample_weight": w}, {"increasing": False, "y_max": 2}):
        ours = isotonic_regression(y, y_min=y_min, **options)
        theirs = sklearn.isotonic.isotonic_regression(y, y_min=y_min, **options)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("slope", [1.0, 0.05, 0.0, -0.05, -1.0])
def test_direction_equals_scikit_learns(slope):
    for n in (3, 4, 30):
        x, noise = rng.integers(0, 9, n), rng.normal(size=n)
        y = np.round(slope * x + noise, 1)
        said = []
        for check in (check_increasing, sklearn.isotonic.check_increasing):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                said.append((bool(check(x, y)), ["interval" in str(w.message) for w in told]))
        assert said[0] == said[1]


def test_direction_of_no_correlation_is_exact():
    x, y = [1, 2, 3, 4], [2, 4, 1, 3]
    assert spearmanr(x, y).statistic == pytest.approx(0)
    with pytest.warns(UserWarning, match="spans zero"):
        assert check_increasing(x, y)
    with pytest.warns(UserWarning, match="spans zero"):
        assert not check_increasing(x, [1, 1, 1, 1])


ERRORS = [
    (lambda: IsotonicRegression(y_min="a").fit([1], [1]), "'y_min' parameter"),
    (lambda: IsotonicRegression(y_min=2, y_max=1).fit([1], [1]), "y_min of at most y_max"),
    (lambda: IsotonicRegression(increasing="up").fit([1], [1]), "'increasing' parameter"),
    (lambda: IsotonicRegression(out_of_bounds="zero").fit([1], [1]), "'out_of_bounds' parameter"),
    (lambda: IsotonicRegression().fit([[1, 2]], [1]), r"2d array with 1 feature; it has shape \(1, 2\)"),
    (lambda: IsotonicRegression().fit([[1, 2], [3]], [1, 2]), "unequal length"),
    (lambda: IsotonicRegression().fit([1, np.nan], [1, 2]), "NaN"),
    (lambda: IsotonicRegression().fit([1, 2], [1, np.inf]), "y contains infinity at row 1"),
    (lambda: IsotonicRegression().fit([1, 2], [1]), "inconsistent numbers of samples"),
    (lambda: IsotonicRegression().fit(["a", "b"], [1, 2]), "could not convert"),
    (lambda: IsotonicRegression().fit([1, 2], [1, 2]).predict([np.nan]), "NaN"),
    (lambda: IsotonicRegression().predict([1]), "not fitted"),
    (lambda: IsotonicRegression().get_feature_names_out(), "not fitted"),
    (lambda: isotonic_regression([[1, 2]]), "1d array"),
    (lambda: isotonic_regression([]), "at least 1 number"),
    (lambda: isotonic_regression(["a"]), "not numbers"),
    (lambda: isotonic_regression([1, 2], sample_weight=[0, 1]), "weight of 0"),
    (lambda: isotonic_regression([1, 2], sample_weight=[1]), "one weight for every row"),
    (lambda: isotonic_regression([1, 2], increasing="auto"), "'increasing' parameter"),
    (lambda: check_increasing([1, 2], [1]), "inconsistent numbers of samples"),
    (lambda: check_increasing([1, np.nan], [1, 2]), "NaN"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises((ValueError, NotFittedError), match=message) as error:
        call()
    assert "\n" not in str(error.value)
    assert not hasattr(IsotonicRegression(), "f_")


def test_scikit_learns_checks_for_one_column():
    """`check_estimator` leaves out estimators of one column: what it asks of all, without tables of several."""
    from sklearn.base import clone, is_regressor

    model = clone(IsotonicRegression(increasing=False, y_max=3.0))
    assert is_regressor(model)
    assert model.get_params() == {"increasing": False, "out_of_bounds": "nan", "y_max": 3.0, "y_min": None}
    x = X["different"]
    before, expected = x.copy(), clone(model).fit(x, Y).predict(x)
    assert vars(model).keys() == {"increasing", "out_of_bounds", "y_max", "y_min"}
    np.testing.assert_array_equal(model.fit(x, Y).fit(x, Y).predict(x), expected)
    np.testing.assert_array_equal(x, before)
    assert model.score(x, Y) == sklearn.isotonic.IsotonicRegression(increasing=False, y_max=3.0).fit(x, Y).score(x, Y)
