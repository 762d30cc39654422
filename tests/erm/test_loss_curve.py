"""`loss_curve_`: the objective after each iteration, for every solver."""

import numpy as np
import pytest

import learnt
from learnt.engine.rows import as_rows
from learnt.erm import ERMClassifier, ERMRegressor, Problem, minimize
from learnt.erm._rows_problem import RowsProblem
from learnt.erm.losses import Log, Squared
from learnt.erm.penalties import L2
from learnt.erm.solvers import NAMES, SGD, Newton

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * RNG.normal(size=80) + 1.0
SIDES = np.where(Y > 1.0, 1.0, -1.0)
DESCENT = {"gd", "newton", "newton-diagonal", "newton-sparing", "hybrid", "irls", "lbfgs", "ista", "cd"}
CORNERS = {"admm", "alm", "lp"}  # solvers of losses with corners


def fitted(solver, **more):
    loss, penalty = ("absolute", None if solver == "lp" else "l2") if solver in CORNERS else ("squared", "l2")
    model = ERMRegressor(loss, penalty=penalty, alpha=0.0 if solver == "lp" else 0.01, solver=solver, **more)
    return model.fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", NAMES)
def test_one_value_an_iteration(solver):
    model = fitted(solver, max_iter=None if solver == "lp" else 30, record_path=True)
    assert model.loss_curve_.shape == (model.n_iter_,)
    assert model.loss_curve_[-1] == pytest.approx(model.objective_, rel=1e-12)
    residuals = [np.abs(Y - X @ w - b) for w, b in model.path_[1:]]
    losses = [r.mean() if solver in CORNERS else (r**2).mean() for r in residuals]
    expected = [loss + model.alpha * w @ w for loss, (w, _) in zip(losses, model.path_[1:], strict=True)]
    np.testing.assert_allclose(model.loss_curve_, expected, rtol=1e-9)
    if solver in DESCENT:
        falls = np.diff(model.loss_curve_)
        assert falls.max(initial=0.0) <= 1e-12 * model.loss_curve_[0]


def test_a_solver_without_progress_warns():
    """The program is not solved in one iteration, and there is no iterate."""
    with pytest.warns(UserWarning, match="LinearProgram stopped after 0 iterations"):
        model = fitted("lp", max_iter=1)
    assert model.loss_curve_.shape == (model.n_iter_,) == (0,)


def test_names_are_known():
    assert set(NAMES) >= DESCENT | CORNERS


def test_epochs_of_mini_batches_fall_in_the_long_run():
    model = ERMRegressor(solver=SGD(random_state=0), max_iter=40).fit(X, Y)
    assert len(model.loss_curve_) == model.n_iter_ == 40
    assert model.loss_curve_[-10:].mean() < model.loss_curve_[:10].mean()


def test_classes_against_the_rest_are_added_up():
    y = np.arange(80) % 3
    model = ERMClassifier("squared_hinge", alpha=0.01).fit(X, y)
    assert len(model.loss_curve_) == model.n_iter_
    assert model.loss_curve_[-1] == pytest.approx(model.objective_, rel=1e-9)


def test_with_rows_held_out():
    model = ERMRegressor(solver="gd", early_stopping=True, random_state=0, n_iter_no_change=3).fit(X, Y)
    assert len(model.loss_curve_) == model.n_iter_ == len(model.validation_losses_)


def test_it_is_saved_and_older_files_still_load(tmp_path):
    model = ERMRegressor(alpha=0.01).fit(X, Y)
    learnt.save(model, tmp_path / "new.learnt")
    np.testing.assert_array_equal(learnt.load(tmp_path / "new.learnt").loss_curve_, model.loss_curve_)
    del model.loss_curve_  # as models were before there was one
    learnt.save(model, tmp_path / "old.learnt")
    older = learnt.load(tmp_path / "old.learnt")
    assert not hasattr(older, "loss_curve_")
    np.testing.assert_array_equal(older.predict(X), model.predict(X))


class Counted(Problem):
    """How often the rows are read for a value and gradient."""

    reads = 0

    def mean_loss(self, theta):
        Counted.reads += 1
        return super().mean_loss(theta)


def test_the_curve_costs_no_reading_of_the_rows():
    problem = Counted(X, SIDES, Log(), L2(), 0.01)
    result = minimize(problem, Newton())
    assert result.converged
    assert Counted.reads <= 1 + result.n_iter + 1  # at the start, after each full step, and for the report
    assert len(result.curve) == result.n_iter


def test_points_are_compared_by_value():
    """A solver may change θ in place."""
    problem = Problem(X, Y, Squared())
    theta = np.zeros(5)
    before, _ = problem.smooth(theta)
    theta[0] = 1.0
    assert problem.smooth(theta)[0] == pytest.approx(problem.objective(theta)) != before


def test_rows_in_blocks_have_one_too():
    problem = RowsProblem(as_rows(X, Y), None, Squared())
    result = minimize(problem, Newton())
    assert result.curve[-1] == pytest.approx(result.objective)
