"""Errors of predicted numbers: against scikit-learn, by formula, and their messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from learnt import metrics
from learnt.engine.threads import set_threads
from learnt.metrics import _regression

NAMES = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "mean_squared_log_error",
    "root_mean_squared_log_error",
    "r2_score",
    "explained_variance_score",
]


def _pairs(n, outputs, dtype=np.float64, seed=0):
    r = np.random.default_rng(seed)
    shape = (n,) if outputs is None else (n, outputs)
    true = 10 * r.random(shape)
    return true.astype(dtype), (np.abs(true + r.standard_normal(shape))).astype(dtype), r.random(n)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("n", [2, 101, 40_000])
@pytest.mark.sweep(40)
def test_equal_to_scikit_learn(name, outputs, n):
    true, pred, w = _pairs(n, outputs)
    ours, theirs = getattr(metrics, name), getattr(oracle, name)
    for weight in (None, w, np.where(np.arange(n) % 2, 0, 3)):
        for multioutput in ("raw_values", "uniform_average", *([[0.2, 0.5, 0.3]] if outputs == 3 else [])):
            options = {"sample_weight": weight, "multioutput": multioutput}
            if n == 2 and weight is not None and name in ("r2_score", "explained_variance_score"):
                continue
            got, expected = ours(true, pred, **options), theirs(true, pred, **options)
            assert np.shape(got) == np.shape(expected)
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-13)
    if name in ("r2_score", "explained_variance_score"):
        options = {"multioutput": "variance_weighted"}
        np.testing.assert_allclose(ours(true, pred, **options), theirs(true, pred, **options), rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_float32_integers_lists_and_frames(name):
    true, pred, w = _pairs(500, None, np.float32)
    ours, theirs = getattr(metrics, name), getattr(oracle, name)
    assert ours(true, pred, sample_weight=w) == pytest.approx(theirs(true, pred, sample_weight=w), rel=1e-5)
    whole = true.astype(int), pred.astype(int) + 1
    expected = theirs(*whole)
    for form in (list, pd.Series, pl.Series, lambda y: y[:, None]):
        assert ours(form(whole[0]), form(whole[1])) == pytest.approx(expected, rel=1e-10)
    assert ours(whole[0][:, None], whole[1]) == pytest.approx(expected, rel=1e-10)


def test_max_error_and_quantiles():
    true, pred, w = _pairs(300, None)
    assert metrics.max_error(true, pred) == oracle.max_error(true, pred)
    for alpha in (0.0, 0.1, 0.9, 1.0):
        options = {"alpha": alpha, "sample_weight": w}
        assert metrics.mean_pinball_loss(true, pred, **options) == pytest.approx(
            oracle.mean_pinball_loss(true, pred, **options), rel=1e-12
        )


def test_constant_targets():
    for name in ("r2_score", "explained_variance_score"):
        ours, theirs = getattr(metrics, name), getattr(oracle, name)
        for pred in ([1.0, 1.0, 1.0], [1.0, 2.0, 1.0]):
            assert ours([1.0, 1.0, 1.0], pred) == theirs([1.0, 1.0, 1.0], pred)
            got = ours([1.0, 1.0, 1.0], pred, force_finite=False)
            assert np.isnan(got) if pred[1] == 1.0 else got == -np.inf
    with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
        assert np.isnan(metrics.r2_score([1.0], [1.0]))


def test_spread_has_no_cancellation():
    r = np.random.default_rng(0)
    true = 1e8 + r.standard_normal(200_000)
    true[:32_768] = 0.0  # the first block says nothing of the rest
    mean = true.mean(dtype=np.longdouble)
    exact = float(((true - mean) ** 2).sum(dtype=np.longdouble))
    pairs = _regression.check_pairs(true, true, None)
    assert pairs.spread(lambda true, pred: true) == pytest.approx(exact, rel=1e-12)
    shifted = 1e8 + r.standard_normal(200_000)
    assert _regression.check_pairs(shifted, shifted, None).spread(lambda t, p: t) == pytest.approx(
        float(((shifted - shifted.mean(dtype=np.longdouble)) ** 2).sum(dtype=np.longdouble)), rel=1e-9
    )


def test_the_same_number_on_any_number_of_threads():
    true, pred, w = _pairs(150_000, None)
    two, three = _pairs(50_000, 4)[:2]
    answers = []
    for threads in (1, 4):
        set_threads(threads)
        answers.append([getattr(metrics, name)(true, pred, sample_weight=w) for name in NAMES])
        answers[-1] += [getattr(metrics, name)(two, three) for name in NAMES]
    set_threads(None)
    assert answers[0] == answers[1]


numbers = st.floats(-1e6, 1e6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 3)), min_size=3, max_size=30))
def test_weights_are_repetitions_and_rows_have_no_order(rows):
    true, pred, w = (np.array(column) for column in zip(*rows, strict=True))
    w[0] = 2
    for name in ("mean_squared_error", "mean_absolute_error", "median_absolute_error", "mean_pinball_loss"):
        metric = getattr(metrics, name)
        repeated = metric(np.repeat(true, w), np.repeat(pred, w))
        assert metric(true, pred, sample_weight=w) == pytest.approx(repeated, rel=1e-9, abs=1e-9)
        assert metric(true[::-1], pred[::-1], sample_weight=w[::-1]) == pytest.approx(repeated, rel=1e-9, abs=1e-9)


ERRORS = [
    (lambda: metrics.mean_squared_error([1, 2], [1, 2, 3]), r"inconsistent numbers of samples: \[2, 3\]"),
    (lambda: metrics.mean_squared_error([1, np.nan], [1, 2]), "y_true contains NaN .first at row 1"),
    (lambda: metrics.mean_absolute_error([1, 2], [1, np.inf]), "y_pred contains infinity"),
    (lambda: metrics.median_absolute_error([1, 2], [1, np.nan]), "y_pred contains NaN"),
    (lambda: metrics.max_error([1, 2], [1, np.nan]), "y_pred contains NaN"),
    (lambda: metrics.r2_score([1, np.inf], [1, 2]), "y_true contains infinity"),
    (lambda: metrics.explained_variance_score([1, 2], [np.nan, 2]), "y_pred contains NaN"),
    (lambda: metrics.mean_squared_error(["a", "b"], [1, 2]), "y_true holds strings"),
    (lambda: metrics.mean_squared_error([], []), "Found empty input array"),
    (lambda: metrics.mean_squared_error(np.ones((3, 2)), np.ones((3, 3))), "different number of output"),
    (lambda: metrics.mean_squared_error([1], [1], multioutput="mean"), "Allowed 'multioutput' string values"),
    (lambda: metrics.mean_squared_error([1], [1], multioutput=[1.0]), "Custom weights are useful only"),
    (lambda: metrics.mean_squared_error(np.ones((3, 2)), np.ones((3, 2)), multioutput=[1.0]), "equally many custom"),
    (lambda: metrics.mean_squared_error([1, 2], [1, 2], sample_weight=[[1, 2], [1, 2]]), "1D array or scalar"),
    (lambda: metrics.mean_squared_log_error([1, -2], [1, 2]), "less than or equal to -1"),
    (lambda: metrics.mean_pinball_loss([1, 2], [1, 2], alpha=2), "alpha must be between"),
    (lambda: metrics.max_error(np.ones((3, 2)), np.ones((3, 2))), "Multioutput not supported"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
