"""Large weights and separable rows: small losses have all their digits, and a fit ends where no step can lower it."""

import warnings
from decimal import Decimal, localcontext

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.rows.blocks import Block
from learnt.erm.losses import Log, Softmax
from learnt.linear_model import GammaRegressor, HuberRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from learnt.linear_model.least_squares._centred import CentredTable
from learnt.linear_model.logistic._l1_loss import ManyClasses, TwoClasses
from learnt.linear_model.logistic._loss import Target, loss_gradient
from learnt.linear_model.logistic._row_multipliers import RowProblem
from learnt.svm import LinearSVC, LinearSVR

EPS = np.finfo(float).eps
MARGINS = np.concatenate([-(10.0 ** np.arange(-3.0, 2.9, 0.5)), [0.0], 10.0 ** np.arange(-3.0, 2.9, 0.5)])
MARGINS = MARGINS[np.abs(MARGINS) < 700]


def exact(scores, own):
    """Loss and derivatives of one row of scores, to 400 digits."""
    with localcontext() as context:
        context.prec = 400
        s = [Decimal(float(v)) for v in scores]
        e = [(v - s[own]).exp() for v in s]
        total = sum(e)
        slopes = [v / total for v in e]
        slopes[own] = -sum(v for k, v in enumerate(slopes) if k != own)
        return float(total.ln()), np.array([float(v) for v in slopes])


def by_statistic(scores, y, K, compiled):
    """Row by row, through an identity matrix for X."""
    losses, slopes = [], []
    for s, own in zip(scores, y, strict=True):
        s = s[:1] if K == 2 else s
        theta = np.concatenate([s[:, None], np.zeros((len(s), 1))], axis=1)
        block = Block(np.ones((1, 1)), np.array([float(own) if K == 2 else own]), None)
        loss, gradient = loss_gradient(block, theta, Target(K, np.ones(K), False, None, compiled))
        losses.append(float(loss))
        slopes.append(np.asarray(gradient)[:, -1])
    return np.array(losses), np.array(slopes)


def by_rows(scores, y):
    losses, slopes = [], []
    for s, own in zip(scores, y, strict=True):
        table = CentredTable(np.ones((1, 1)), np.zeros(1), 1)
        state = RowProblem(table, np.array([float(own)]), np.ones(1), 1.0, False).look(np.zeros(1), 0.0, s[:1], 0.0)
        losses.append(state.value)
        slopes.append(state.r)
    return np.array(losses), np.array(slopes)


def by_proximal(scores, y, K):
    losses, slopes = [], []
    for s, own in zip(scores, y, strict=True):
        code = np.array([own])
        loss = TwoClasses(code, np.ones(1)) if K == 2 else ManyClasses(code, np.ones(1), K)
        losses.append(loss.total(s[None, :1] if K == 2 else s[None, :]))
        slopes.append(-loss.residuals()[0])
    return np.array(losses), np.array(slopes)


def by_erm(scores, y, K):
    if K > 2:
        return Softmax().value(y, scores), Softmax().gradient(y, scores)
    side = 2.0 * y - 1.0
    return Log().value(side, scores[:, 0]), Log().gradient(side, scores[:, 0])[:, None]


WAYS = {
    "statistic": lambda s, y, K: by_statistic(s, y, K, False),
    "compiled": lambda s, y, K: by_statistic(s, y, K, True),
    "rows": lambda s, y, K: by_rows(s, y),
    "proximal": by_proximal,
    "erm": by_erm,
}


@pytest.mark.parametrize(("way", "K"), [(way, K) for way in WAYS for K in (2, 3) if (way, K) != ("rows", 3)])
@pytest.mark.sweep
def test_losses_and_slopes_have_all_their_digits(way, K):
    """Right to a few units of rounding of each, and of the score, whose rounding an exponential multiplies."""
    scores = np.zeros((2 * len(MARGINS), K))
    scores[: len(MARGINS), 0] = scores[len(MARGINS) :, 0] = MARGINS
    y = np.repeat([0, 1], len(MARGINS))
    losses, slopes = WAYS[way](scores, y, K)
    for i in range(len(y)):
        # of two classes the one score is that of the second
        row, own = (np.array([0.0, scores[i, 0]]), y[i]) if K == 2 else (scores[i], y[i])
        loss, slope = exact(row, own)
        slope = slope[1:] if K == 2 else slope
        bound = (8 + 4 * abs(scores[i, 0])) * EPS
        np.testing.assert_allclose(losses[i], loss, rtol=bound)
        np.testing.assert_allclose(slopes[i], slope, rtol=bound)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sweep
def test_weights_of_1e10_converge(seed, K):
    """30 rows of 40 columns are separable: the objective is 1e-9 of where it starts, and steps went on to max_iter."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 40)), np.arange(30) % K
    w = 1e10 * (1 + 0.1 * rng.random(30))
    for C in (1.0, 1e6):
        model = LogisticRegression(max_iter=1000, C=C).fit(X, y, sample_weight=w)  # and no warning
        assert model.converged_
        assert model.n_iter_[0] < 200
        again = LogisticRegression(max_iter=1000, C=C * 1e10).fit(X, y, sample_weight=w / 1e10)  # the same minimum
        nothing = 1e-15 * w.sum() * np.log(K)  # of what knowing nothing costs
        ours, theirs = objective(model, X, y, w, C), objective(again, X, y, w, C)
        assert ours <= theirs * (1 + 1e-8) + nothing


def objective(model, X, y, w, C):
    scores = model.decision_function(X)
    scores = np.c_[np.zeros(len(X)), scores] if scores.ndim == 1 else scores
    others = np.exp(scores - scores[np.arange(len(X)), y][:, None])
    others[np.arange(len(X)), y] = 0.0
    return w @ np.log1p(others.sum(axis=1)) + np.sum(model.coef_**2) / (2 * C)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_tolerance_of_0_ends_at_rounding(solver, K):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % K
    model = LogisticRegression(solver=solver, tol=0, max_iter=5000).fit(X, y)
    assert model.converged_
    assert model.n_iter_[0] < 200
    assert model.optimality_ < 1e-14


def test_more_steps_than_allowed_warn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("weight", [1.0, 1e10])
@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(tol=1e-300),
        GammaRegressor(tol=1e-300),
        TweedieRegressor(power=1.5, tol=1e-300),
        TweedieRegressor(power=3, tol=1e-300),
        HuberRegressor(tol=0.0),
        LinearSVC(tol=1e-300),
        LinearSVR(tol=1e-300),
        LogisticRegression(l1_ratio=1.0, tol=0.0),
    ],
    ids=repr,
)
def test_no_solver_continues_where_only_rounding_moves(model, weight):
    """With a tolerance that no arithmetic reaches, and steps without end to take."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = 0.5 + rng.poisson(np.exp(0.3 * X[:, 0])) if is_regressor(model) else X[:, 0] + rng.normal(size=60) > 0
    w = weight * rng.uniform(0.5, 1.5, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a tolerance like this one may be said either
        model = clone(model).set_params(max_iter=100_000).fit(X, y, sample_weight=w)
    assert np.max(model.n_iter_) < 1000
