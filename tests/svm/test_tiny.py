"""Small tables: a Newton of few calls finds what the one for all tables finds, or leaves it to that one."""

import numpy as np
import pytest

from learnt.svm import LinearSVC, _strategy
from learnt.svm._design import Design
from learnt.svm._losses import hinge, insensitive
from learnt.svm._newton import minimize
from learnt.svm._strategy import width_of
from learnt.svm._tiny import is_small, newton

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)) * [1.0, 10.0, 0.1, 1.0] + 1.0
SIGN = np.where(X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=150) > 1.0, 1.0, -1.0)
AMOUNT = X @ [1.0, 0.1, 5.0, -1.0] + rng.standard_t(3, size=150)
WEIGHT = rng.uniform(0.1, 3.0, size=150)
LOSSES = {
    "hinge": hinge(SIGN, WEIGHT, False),
    "squared hinge": hinge(SIGN, WEIGHT, True),
    "squared hinge, large C": hinge(SIGN, 1e4 * WEIGHT, True),
    "insensitive": insensitive(AMOUNT, WEIGHT, 0.2, False),
    "absolute": insensitive(AMOUNT, WEIGHT, 0.0, False),
    "squared insensitive": insensitive(AMOUNT, WEIGHT, 0.2, True),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_same_minimum_and_a_gap_that_holds(name):
    loss, design = LOSSES[name], Design(X, 1.0)
    quick = newton(design.whole(), loss, 1e-10, 1000, width_of(loss), None)
    slow = minimize(design, loss, np.zeros(5), tol=1e-12, max_iter=1000, width=width_of(loss))
    assert quick.converged
    assert quick.value == pytest.approx(slow.value, rel=2e-10)
    assert quick.value - quick.gap <= slow.value * (1 + 1e-12)
    np.testing.assert_allclose(quick.w, slow.w, atol=1e-4 * np.abs(slow.w).max())


def test_too_few_steps_and_a_watch_that_stops():
    A, loss = Design(X, 1.0).whole(), LOSSES["hinge"]
    assert not newton(A, loss, 1e-10, 2, width_of(loss), None).converged
    assert newton(A, loss, 1e-10, 100, width_of(loss), lambda value, n: n == 3).n_iter == 3


def test_what_it_cannot_do_is_done_all_the_same(monkeypatch):
    wanted = LinearSVC().fit(X, SIGN)
    monkeypatch.setattr(_strategy, "newton", lambda *settings: None)
    np.testing.assert_allclose(LinearSVC().fit(X, SIGN).coef_, wanted.coef_, rtol=1e-3)


def test_which_tables_are_small():
    assert is_small(150, 5)
    assert not is_small(5, 5)
    assert not is_small(100_000, 5)
