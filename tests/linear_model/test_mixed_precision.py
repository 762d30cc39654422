"""Ridge factorised in single precision: the answer has eleven digits and more, or the caller is told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from learnt.engine.rows import as_rows
from learnt.linear_model import Ridge
from learnt.linear_model._mixed_precision import mixed_precision_ridge, pays

N, D = 1500, 520
rng = np.random.default_rng(0)
PLAIN = rng.normal(size=(N, D))
TARGETS = PLAIN @ rng.normal(size=(D, 2)) + rng.normal(size=(N, 2))


def exact(X, Y, alpha, w=None):
    """In long double where the machine has it: the normal equations after QR of the augmented system."""
    w = np.ones(len(X)) if w is None else w
    x_mean, y_mean = w @ X / w.sum(), w @ Y / w.sum()
    root = np.sqrt(w)[:, None]
    system = np.vstack([root * (X - x_mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    right = np.vstack([root * (Y - y_mean), np.zeros((X.shape[1], Y.shape[1]))])
    return np.linalg.lstsq(system, right)[0]


def mixed(X, Y, alpha, w=None):
    found = mixed_precision_ridge(as_rows(X, Y, w), True, alpha)
    return None if found is None else found.coef


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
def test_eleven_digits_of_the_largest_coefficient(alpha, weighted):
    w = rng.uniform(0.1, 3.0, size=N) if weighted else None
    found = mixed(PLAIN, TARGETS, alpha, w)
    assert_allclose(found, exact(PLAIN, TARGETS, alpha, w), rtol=1e-9, atol=1e-11 * np.abs(found).max())


def test_units_do_not_matter():
    scales = np.logspace(-6, 6, D)
    found = mixed(PLAIN * scales, TARGETS, 0.0)
    assert_allclose(found * scales[:, None], exact(PLAIN, TARGETS, 0.0), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X + 1e6,  # means far away
        lambda X: np.hstack([X[:, :-1], X[:, :1] + 1e-9 * X[:, -1:]]),  # two columns all but the same
        lambda X: X * 1e20,  # squares overflow single precision
        lambda X: np.hstack([X[:, :-1], np.zeros((N, 1))]),  # a column of zeros and no penalty
    ],
    ids=["far", "collinear", "huge", "zero"],
)
def test_gives_up_where_single_precision_has_no_digits_and_ridge_is_right_anyway(spoil):
    X = spoil(PLAIN)
    assert mixed(X, TARGETS, 0.0) is None
    scale = np.abs(X - X.mean(axis=0)).max()
    alpha = 1e-3 * scale**2
    model = Ridge(alpha=alpha).fit(X, TARGETS)
    assert_allclose(model.coef_.T * scale, exact(X, TARGETS, alpha) * scale, rtol=1e-6, atol=1e-8)


def test_ridge_takes_it_for_many_columns_only():
    assert pays(as_rows(PLAIN, TARGETS, None))
    assert not pays(as_rows(PLAIN[:, :100], TARGETS, None))
    assert not pays(as_rows(PLAIN[:500], TARGETS[:500], None))  # rows fewer than columns: the dual form
    assert not pays(as_rows(PLAIN.astype(np.float32), TARGETS, None))
    model = Ridge(alpha=2.0).fit(PLAIN, TARGETS)
    assert_allclose(model.coef_.T, exact(PLAIN, TARGETS, 2.0), rtol=1e-9, atol=1e-11)
