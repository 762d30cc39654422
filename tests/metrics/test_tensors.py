"""Metrics on PyTorch tensors and strict Array API arrays equal those on NumPy arrays, and are plain floats."""

import array_api_strict as xps
import numpy as np
import pytest
import torch

from learnt import metrics

rng = np.random.default_rng(0)
N = 400
Y, Z, W = rng.standard_normal(N), rng.standard_normal(N), rng.random(N)
CODES, PRED = rng.integers(0, 3, N), rng.integers(0, 3, N)
P = rng.dirichlet(np.ones(3), N)
LIBRARIES = {"torch": torch.asarray, "strict": xps.asarray}
REGRESSION = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "r2_score",
    "explained_variance_score",
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSION)
def test_regression(name, weighted, library):
    asarray, metric = LIBRARIES[library], getattr(metrics, name)
    expected = metric(Y, Z, sample_weight=W if weighted else None)
    w = asarray(W) if weighted else None
    got = metric(asarray(Y), asarray(Z), sample_weight=w)
    assert type(got) is float
    assert got == pytest.approx(expected, rel=1e-12)
    assert metric(Y, asarray(Z), sample_weight=W if weighted else None) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_labels_and_probabilities(library):
    asarray = LIBRARIES[library]
    two, p = CODES % 2, P[:, 0].copy()
    for weight in (None, W):
        w = None if weight is None else asarray(weight)
        for metric in (metrics.accuracy_score, metrics.zero_one_loss):
            got = metric(asarray(CODES), asarray(PRED), sample_weight=w)
            assert type(got) is float
            assert got == pytest.approx(metric(CODES, PRED, sample_weight=weight), rel=1e-12)
        expected = metrics.log_loss(CODES, P, sample_weight=weight)
        assert metrics.log_loss(asarray(CODES), asarray(P), sample_weight=w) == pytest.approx(expected, rel=1e-12)
        expected = metrics.log_loss(two, p, sample_weight=weight)
        assert metrics.log_loss(asarray(two), asarray(p), sample_weight=w) == pytest.approx(expected, rel=1e-12)
    assert metrics.log_loss(asarray(two), asarray(P), labels=[0, 1, 2]) == pytest.approx(
        metrics.log_loss(two, P, labels=[0, 1, 2]), rel=1e-12
    )
    assert metrics.roc_auc_score(asarray(two), asarray(np.round(p, 1))) == metrics.roc_auc_score(two, np.round(p, 1))


def test_tensors_on_the_cpu_go_through_numpy_where_nothing_else_is_there():
    np.testing.assert_array_equal(
        metrics.confusion_matrix(torch.asarray(CODES), torch.asarray(PRED)), metrics.confusion_matrix(CODES, PRED)
    )
    assert metrics.brier_score_loss(torch.asarray(CODES), torch.asarray(P)) == metrics.brier_score_loss(CODES, P)


def test_another_device_is_not_read_silently():
    elsewhere = torch.empty(4, device="meta")
    with pytest.raises(TypeError, match=r"lies on meta .* fetch it first"):
        metrics.roc_curve([0, 1, 0, 1], elsewhere)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bad_tensors_get_the_same_sentences(library):
    asarray = LIBRARIES[library]
    with pytest.raises(ValueError, match="y_pred contains NaN"):
        metrics.mean_squared_error(asarray(Y), asarray(np.where(np.arange(N) == 5, np.nan, Z)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.mean_squared_error(asarray(Y), asarray(Z[:-1]))
    with pytest.raises(ValueError, match="greater than 1"):
        metrics.log_loss(asarray(CODES % 2), asarray(P[:, 0] + 2))
    with pytest.raises(ValueError, match="different number of classes"):
        metrics.log_loss(asarray(CODES % 2), asarray(P))
    with pytest.raises(ValueError, match="y_score contains NaN"):
        metrics.roc_auc_score(asarray(CODES % 2), asarray(np.full(N, np.nan)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_mixed_precisions_and_integers(library):
    asarray = LIBRARIES[library]
    narrow = Y.astype(np.float32), Z.astype(np.float32)
    for name in REGRESSION:
        metric = getattr(metrics, name)
        got = metric(asarray(narrow[0]), asarray(narrow[1]), sample_weight=asarray(W))
        assert got == pytest.approx(metric(*narrow, sample_weight=W), rel=1e-4)
        got = metric(asarray(CODES), asarray(Z))
        assert got == pytest.approx(metric(CODES, Z), rel=1e-12)
    got = metrics.log_loss(asarray(CODES.astype(np.int32)), asarray(P), labels=[0, 1, 2])
    assert got == pytest.approx(metrics.log_loss(CODES, P), rel=1e-12)
