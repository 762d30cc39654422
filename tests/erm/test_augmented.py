"""Losses with corners and a squared penalty: libsvm's exact answers, tables in any units, a gap that is never short."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.svm import SVC, SVR

from learnt.erm import ERMClassifier, ERMRegressor, Problem, minimize
from learnt.erm.losses import Absolute, EpsilonInsensitive, Hinge, Huber, Log, LogCosh, Quantile
from learnt.erm.penalties import L2
from learnt.erm.solvers import AugmentedLagrangian

RNG = np.random.default_rng(0)
N = 200
X = RNG.normal(size=(N, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + RNG.normal(size=N)
SIGN = np.where(Y > 3.0, 1.0, -1.0)
CORNERS = [Absolute(), Quantile(0.2), EpsilonInsensitive(0.3), Hinge(), Huber(0.5), LogCosh()]


def target(loss):
    return SIGN if loss.target == "sign" else Y


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_support_vector_regression_is_libsvms(C, epsilon):
    theirs = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, Y)
    loss = EpsilonInsensitive(epsilon) if epsilon else Absolute()
    ours = ERMRegressor(loss, alpha=1 / (2 * C * N)).fit(X, Y)
    assert ours.solver_ == "AugmentedLagrangian"
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_[0], abs=2e-3)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_support_vector_machines_are_libsvms(C):
    theirs = SVC(kernel="linear", C=C, tol=1e-9).fit(X, SIGN)
    ours = ERMClassifier("hinge", alpha=1 / (2 * C * N)).fit(X, SIGN)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_no_point_nearby_is_better_and_the_residual_bounds_the_distance(loss):
    problem = Problem(X, target(loss), loss, L2(), 0.01)
    found = minimize(problem, AugmentedLagrangian(tol=1e-10))
    assert found.converged
    theta = np.r_[found.coef, found.intercept]
    for size in (1e-1, 1e-3, 1e-5):
        for near in theta + size * np.random.default_rng(1).normal(size=(100, 5)):
            assert problem.objective(near) >= found.objective * (1 - 1e-9)
    rough = minimize(problem, AugmentedLagrangian(tol=1e-2))
    assert rough.objective - found.objective <= rough.history[-1] * rough.objective


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_units_and_offsets_of_the_table_do_not_matter(loss):
    """House prices in dollars, years, and metres above the sea in one table."""
    far = X * [1e4, 1.0, 1e-3, 1e2] + [1e5, 2e3, 0.0, -1e4]
    y = target(loss) if loss.target == "sign" else 1e5 * Y
    model = (ERMClassifier if loss.target == "sign" else ERMRegressor)(loss, alpha=1e-8).fit(far, y)
    assert model.converged_
    near = Problem(far, y, loss, L2(), 1e-8)
    theta = np.r_[np.ravel(model.coef_), np.ravel(model.intercept_)]
    spread = np.r_[1 / far.std(axis=0), 1.0] * (1.0 if loss.target == "sign" else 1e5)
    for direction in np.random.default_rng(2).normal(size=(200, 5)):
        move = 1e-4 * direction * spread
        move[4] -= far.mean(axis=0) @ move[:4]
        assert near.objective(theta + move) >= model.objective_ * (1 - 1e-7)


def test_sparse_tables_weights_starts_and_tensors():
    w = RNG.integers(0, 3, size=N).astype(float)
    plain = ERMRegressor("absolute", alpha=0.01).fit(np.repeat(X, w.astype(int), axis=0), np.repeat(Y, w.astype(int)))
    weighted = ERMRegressor("absolute", alpha=0.01).fit(sparse.csr_array(X), Y, sample_weight=w)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-4)
    again = ERMRegressor("absolute", alpha=0.01).fit(X, Y, w, plain.coef_, plain.intercept_)
    np.testing.assert_allclose(again.coef_, plain.coef_, atol=1e-4)
    there = ERMRegressor("absolute", alpha=0.01).fit(torch.tensor(X), torch.tensor(Y), torch.tensor(w))
    assert isinstance(there.coef_, torch.Tensor)
    np.testing.assert_allclose(there.coef_.numpy(), plain.coef_, atol=1e-4)


def test_columns_far_from_zero_keep_their_start_and_their_path():
    far = X + 1e3
    model = ERMRegressor("huber", alpha=0.01, record_path=True).fit(far, Y)
    coef, intercept = model.path_[-1]
    np.testing.assert_allclose(coef, model.coef_)
    assert intercept == pytest.approx(model.intercept_)
    np.testing.assert_allclose(model.predict(far), ERMRegressor("huber", alpha=0.01).fit(X, Y).predict(X), atol=1e-5)
    on = ERMRegressor("huber", alpha=0.01).fit(far, Y, coef_init=model.coef_, intercept_init=model.intercept_)
    assert on.n_iter_ <= model.n_iter_
    np.testing.assert_allclose(on.coef_, model.coef_, atol=1e-6)


def test_a_loss_without_a_prox_is_refused():
    with pytest.raises(ValueError, match="needs the prox of Log"):
        ERMClassifier(Log(), solver="alm").fit(X, SIGN)


@pytest.mark.parametrize("loss", [Huber(0.5), LogCosh()], ids=repr)
def test_without_a_penalty(loss):
    free = ERMRegressor(loss, alpha=0).fit(X, Y)
    assert free.solver_ == "AugmentedLagrangian"
    np.testing.assert_allclose(free.coef_, ERMRegressor(loss, alpha=0, solver="irls").fit(X, Y).coef_, atol=1e-5)
