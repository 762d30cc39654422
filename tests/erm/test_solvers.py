"""Every solver: closed forms, torch's optimisers, one optimum for all, gaps, paths, early stopping, refusals."""

import numpy as np
import pytest
import torch
from scipy import sparse

from learnt.erm import Problem, duality_gap, minimize, solvers
from learnt.erm.losses import (
    Absolute,
    EpsilonInsensitive,
    Exponential,
    Hinge,
    Huber,
    Log,
    LogCosh,
    Poisson,
    Quantile,
    Softmax,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from learnt.erm.penalties import L0, L1, L2, ElasticNet, NonNegative
from learnt.erm.solvers import (
    ADMM,
    FISTA,
    IRLS,
    ISTA,
    LBFGS,
    SGD,
    Adagrad,
    Adam,
    CoordinateDescent,
    Decay,
    DiagonalNewton,
    GradientDescent,
    Hybrid,
    LinearProgram,
    Momentum,
    Nesterov,
    Newton,
)

RNG = np.random.default_rng(0)
N, D = 150, 5
X = RNG.normal(size=(N, D)) * np.array([1.0, 2.0, 0.5, 1.0, 3.0]) + 0.3
W = RNG.normal(size=D)
Y = X @ W + 1 + RNG.normal(size=N)
SIGN = np.sign(X @ W + RNG.normal(size=N))
COUNT = np.exp(np.clip(Y / 4, -3, 3)).round()


def target(loss):
    return SIGN if loss.target == "sign" else (COUNT if isinstance(loss, Poisson) else Y)


def theta_of(result):
    return np.r_[result.coef, result.intercept]


SMOOTH = [Squared(), Log(), Huber(1.0), LogCosh(), SquaredHinge(), Exponential(), Poisson()]
EXACT = ["gd", "adagrad", "newton-diagonal", "hybrid", "lbfgs", "fista", "ista", "cd", "irls"]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.sweep
def test_all_reach_one_optimum(loss):
    problem = Problem(X, target(loss), loss, L2(), 0.1)
    best = minimize(problem, Newton(line_search=True))
    assert best.converged
    assert best.gradient_norm <= 1e-10 * problem.scale
    for name in EXACT:
        found = minimize(problem, solvers.NAMES[name]())
        assert found.converged, name
        assert abs(found.objective - best.objective) <= 1e-7 * best.objective, name
        assert found.n_iter == len(found.history)
    for solver in (Newton(line_search=True), Hybrid(), IRLS(), DiagonalNewton(tol=1e-11), LBFGS(tol=1e-11)):
        np.testing.assert_allclose(theta_of(minimize(problem, solver)), theta_of(best), atol=1e-8)


@pytest.mark.parametrize("step", ["line-search", 0.01, Decay(0.2, power=0.5)], ids=str)
def test_gradient_descent_reaches_the_closed_form_and_decreases(step):
    Z = X / X.std(axis=0)
    problem = Problem(Z, Y, Squared(), L2(), 0.05, fit_intercept=False)
    exact = np.linalg.solve(Z.T @ Z / N + 0.05 * np.eye(D), Z.T @ Y / N)
    found = minimize(problem, GradientDescent(step=step, max_iter=4000), record=True)
    np.testing.assert_allclose(found.coef, exact, atol=1e-5)
    values = [problem.objective(w) for w, _ in found.path]
    assert (np.diff(values) <= 1e-12).all()


def test_t0_over_t_decreases_slowly():
    problem = Problem(X / X.std(axis=0), SIGN, Log(), L2(), 0.1)
    found = minimize(problem, GradientDescent(step=Decay(2.0), max_iter=2000), record=True)
    best = minimize(problem, Newton())
    assert best.objective < found.objective < best.objective * 1.01


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (GradientDescent(step=0.05), lambda p: torch.optim.SGD(p, lr=0.05)),
        (Momentum(step=0.05, momentum=0.8), lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8)),
        (Nesterov(step=0.05, momentum=0.8), lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True)),
        (Adagrad(step=0.3), lambda p: torch.optim.Adagrad(p, lr=0.3, eps=1e-10)),
        (Adam(step=0.1), lambda p: torch.optim.Adam(p, lr=0.1)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_trajectories_of_torchs_optimisers(ours, theirs):
    problem = Problem(X, SIGN, Log(), L2(), 0.1)
    theta = torch.zeros(D + 1, dtype=torch.float64, requires_grad=True)
    optimiser = theirs([theta])
    Xt, yt = torch.tensor(X), torch.tensor(SIGN)
    expected = []
    for _ in range(60):
        optimiser.zero_grad()
        margin = yt * (Xt @ theta[:D] + theta[D])
        (torch.nn.functional.softplus(-margin).mean() + 0.1 * (theta[:D] ** 2).sum()).backward()
        optimiser.step()
        expected.append(theta.detach().numpy().copy())
    steps = ours.iterates(problem, problem.zero())
    for there in expected:
        np.testing.assert_allclose(next(steps)[0], there, rtol=1e-9, atol=1e-11)


def test_plain_newton_diverges_from_afar_and_the_hybrid_recovers():
    problem = Problem(X, SIGN, Log(), L2(), 1e-4)
    best = minimize(problem, Hybrid())
    far = np.full(D + 1, 10.0)
    with np.errstate(all="ignore"):
        lost = minimize(problem, Newton(max_iter=30), far)
    assert lost.objective > 10 * best.objective
    assert not lost.converged
    found = minimize(problem, Hybrid(), far)
    assert found.converged
    np.testing.assert_allclose(theta_of(found), theta_of(best), atol=1e-8)


@pytest.mark.parametrize("loss", [Squared(), Log()], ids=repr)
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5)], ids=repr)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.sweep
def test_sparse_solvers_agree_and_report_a_gap(loss, penalty, form):
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(60, 90)) * (rng.random((60, 90)) < 0.4)
    score = wide[:, :5].sum(axis=1) + 0.1 * rng.normal(size=60)
    y = np.sign(score) if loss.target == "sign" else score
    A = wide if form == "dense" else sparse.csr_array(wide)
    weight = rng.integers(0, 3, size=60).astype(float)
    problem = Problem(A, y, loss, penalty, 0.05, weight=weight)
    exact = minimize(problem, CoordinateDescent(tol=1e-12))
    assert exact.converged
    assert 0 <= exact.gap <= 1e-12 * problem.height
    assert 3 <= np.count_nonzero(exact.coef) < 60
    for solver in (ISTA(tol=1e-9, max_iter=50_000), FISTA(tol=1e-10)):
        found = minimize(problem, solver)
        assert found.converged
        assert found.gap <= 1e-6 * problem.height
        assert abs(found.objective - exact.objective) <= found.gap + exact.gap + 1e-15
        np.testing.assert_allclose(found.coef, exact.coef, atol=2e-3)


def test_the_gap_is_never_too_small():
    problem = Problem(X, Y, Squared(), L1(), 0.3)
    best = minimize(problem, CoordinateDescent(tol=1e-13)).objective
    for theta in np.random.default_rng(2).normal(size=(50, D + 1)):
        assert problem.objective(theta) - best <= duality_gap(problem, theta) + 1e-9


@pytest.mark.parametrize("penalty", [L1(), L2()], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Log()], ids=repr)
def test_each_penalty_has_its_constraint(penalty, loss):
    for alpha in (0.3,):
        priced = minimize(Problem(X, target(loss), loss, penalty, alpha), FISTA(tol=1e-13))
        bound = float(penalty.value(priced.coef))
        constrained = Problem(X, target(loss), loss, penalty, bound=bound)
        for solver in (FISTA(tol=1e-13), ISTA(tol=1e-13), GradientDescent(tol=1e-12)):
            found = minimize(constrained, solver)
            np.testing.assert_allclose(theta_of(found), theta_of(priced), atol=2e-5)
            assert float(penalty.value(found.coef)) <= bound * (1 + 1e-9)
        assert found.gap < 1e-6


def test_sets_and_counts():
    found = minimize(Problem(X, Y, Squared(), NonNegative(), 1.0), FISTA(tol=1e-12))
    assert (found.coef >= 0).all()
    from scipy.optimize import nnls

    Z, t = X - X.mean(axis=0), Y - Y.mean()
    np.testing.assert_allclose(found.coef, nnls(Z, t)[0], atol=1e-6)
    few = minimize(Problem(X, Y, Squared(), L0(), bound=2), ISTA())
    assert np.count_nonzero(few.coef) == 2


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.2), EpsilonInsensitive(0.3), Hinge()], ids=repr)
def test_losses_with_corners(loss):
    free = Problem(X, target(loss), loss, L1(), 0.05)
    exact = minimize(free, LinearProgram())
    near = minimize(free, ADMM(max_iter=1500))
    assert exact.objective <= near.objective <= exact.objective * (1 + 1e-3)
    with_l2 = Problem(X, target(loss), loss, L2(), 0.05)
    found = minimize(with_l2, ADMM())
    assert found.converged
    for theta in theta_of(found) + 0.01 * np.random.default_rng(3).normal(size=(200, D + 1)):
        assert with_l2.objective(theta) >= found.objective - 1e-9
    if hasattr(loss, "majoriser"):
        assert minimize(with_l2, IRLS()).objective == pytest.approx(found.objective, rel=1e-6)


def test_stochastic_descent_shuffles_and_comes_near():
    problem = Problem(X, SIGN, Log(), L2(), 0.1)
    best = minimize(problem, Newton()).objective
    for solver in (
        SGD(max_iter=60),
        SGD(max_iter=60, batch_size=1, step=Decay(0.3, power=0.6)),
        Adam(step=0.01, batch_size=16, max_iter=100),
        Momentum(step=0.01, batch_size=16, max_iter=60),
    ):
        assert best <= minimize(problem, solver).objective < best * 1.01
    rows = np.arange(10.0)[:, None]
    batches = solvers._descent.Batches(Problem(rows, rows[:, 0], Squared()), 4, 0)
    epochs = [[b.y.tolist() for b in batches.epoch()] for _ in range(2)]
    assert [len(b) for b in epochs[0]] == [4, 4, 2]
    assert epochs[0] != epochs[1]
    assert sorted(y for batch in epochs[0] for y in batch) == rows[:, 0].tolist()


def test_weights_are_numbers_of_rows():
    counts = np.random.default_rng(4).integers(0, 3, size=N)
    whole = Problem(np.repeat(X, counts, axis=0), np.repeat(SIGN, counts), Log(), L2(), 0.1)
    weighted = Problem(X, SIGN, Log(), L2(), 0.1, weight=counts.astype(float))
    np.testing.assert_allclose(theta_of(minimize(weighted, Newton())), theta_of(minimize(whole, Newton())), atol=1e-10)
    batch = minimize(weighted, SGD(max_iter=100)).objective
    assert batch == pytest.approx(minimize(whole, Newton()).objective, rel=1e-2)


def test_early_stopping_restores_the_best_and_traces_the_ridge_path():
    rng = np.random.default_rng(5)
    A = rng.normal(size=(60, 40))
    w = np.r_[np.ones(4), np.zeros(36)]
    y, A_val = A @ w + 2 * rng.normal(size=60), rng.normal(size=(60, 40))
    y_val = A_val @ w + 2 * rng.normal(size=60)
    problem, validation = Problem(A, y, Squared()), Problem(A_val, y_val, Squared())
    solver = GradientDescent(step=0.01)
    found = minimize(problem, solver, validation=validation, patience=20, record=True)
    assert found.status == "early"
    assert found.n_iter == found.best_iter + 20
    assert found.best_iter == int(np.argmin(found.validation)) + 1
    np.testing.assert_array_equal(found.coef, found.path[found.best_iter][0])
    assert validation.risk(theta_of(found)) == min(found.validation)
    # Few steps are a strong ridge: norms grow together, and each stopped point is near some ridge solution.
    long = minimize(problem, GradientDescent(step=0.01, max_iter=400), record=True)
    norms = [np.linalg.norm(w) for w, _ in long.path]
    assert (np.diff(norms) > 0).all()
    ridges = [minimize(Problem(A, y, Squared(), L2(), a), Newton()).coef for a in np.geomspace(1e-2, 1e2, 60)]
    for n in (5, 20, 80, 300):
        stopped = long.path[n][0]
        nearest = min(np.linalg.norm(stopped - r) for r in ridges)
        assert nearest < 0.3 * np.linalg.norm(stopped)


def test_callbacks_see_and_stop():
    seen = []
    found = minimize(
        Problem(X, SIGN, Log(), L2(), 0.1), GradientDescent(step=0.01), callback=lambda n, t: seen.append(n) or n == 7
    )
    assert found.status == "stopped"
    assert seen == list(range(1, 8))


@pytest.mark.parametrize("name", [n for n in solvers.NAMES if n not in ("cd", "lp", "admm", "alm")])
@pytest.mark.sweep
def test_tensors_take_the_same_code_path(name):
    solver = solvers.NAMES[name]()
    here = minimize(Problem(X, SIGN, Log(), L2(), 0.1), solver)
    there = minimize(Problem(torch.tensor(X), torch.tensor(SIGN), Log(), L2(), 0.1), solver)
    assert isinstance(there.coef, torch.Tensor)
    np.testing.assert_allclose(there.coef.numpy(), here.coef, atol=1e-6)


def test_many_classes():
    y = RNG.integers(0, 3, size=N)
    problem = Problem(X, y, Softmax(), L2(), 0.1, n_outputs=3)
    best = minimize(problem, Newton(line_search=True))
    assert best.converged
    for solver in (LBFGS(), Hybrid(), DiagonalNewton(), GradientDescent(), FISTA()):
        found = minimize(problem, solver)
        assert found.converged
        np.testing.assert_allclose(found.coef, best.coef, atol=1e-5)


def test_a_step_too_long_is_reported():
    found = minimize(Problem(X, Y, Squared()), GradientDescent(step=10.0))
    assert found.status == "diverged"
    assert np.isfinite(found.coef).all()


@pytest.mark.parametrize(
    ("loss", "penalty", "solver", "words"),
    [
        (ZeroOne(), L2(), GradientDescent(), "ZeroOne has no gradient"),
        (Absolute(), L2(), Newton(), "Newton needs a smooth loss and Absolute has corners; use 'admm'"),
        (Squared(), L1(), Newton(), "Newton cannot take the penalty L1, which has corners; use 'fista'"),
        (Squared(), L0(), CoordinateDescent(), r"CoordinateDescent takes L1, L2 and elastic net .* got L0\(\)"),
        (Squared(), L2(), ADMM(), "ADMM needs the prox of Squared"),
        (Squared(), L2(), LinearProgram(), "straight pieces"),
    ],
)
def test_refusals_are_one_sentence(loss, penalty, solver, words):
    with pytest.raises(ValueError, match=words) as caught:
        minimize(Problem(X, target(loss), loss, penalty, 0.1), solver)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
def test_few_columns_far_from_zero_and_nearly_dependent_take_few_rounds_of_coordinate_descent(form, intercept):
    rng = np.random.default_rng(5)
    base = rng.normal(size=(400, 3))
    table = np.c_[base, base + 0.01 * rng.normal(size=(400, 3))] * [1, 10, 100, 1, 1, 1] + [0, 300, 5000, 0, 0, 0]
    for loss, y in ((Squared(), 2 * base[:, 0] - base[:, 1]), (Log(), np.sign(base[:, 0] + rng.normal(size=400)))):
        problem = Problem(form(table), y, loss, L1(), 0.01, fit_intercept=intercept)
        found = minimize(problem, CoordinateDescent())
        assert found.converged
        assert found.n_iter <= 20
        assert found.gap <= 1e-6
