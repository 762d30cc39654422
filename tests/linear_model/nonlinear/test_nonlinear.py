"""NonlinearLeastSquares against curve_fit, least_squares, statsmodels and its own laws, and what it refuses."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import curve_fit, least_squares
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.engine import progress
from learnt.engine.threads import set_threads
from learnt.linear_model import LinearRegression, NonlinearLeastSquares
from learnt.linear_model.nonlinear._tangent import Tangent, damping, triangular


def decay(X, b):
    return b[0] * np.exp(-b[1] * X[:, 0]) + b[2]


def decay_jacobian(X, b):
    e = np.exp(-b[1] * X[:, 0])
    return np.column_stack([e, -b[0] * X[:, 0] * e, np.ones(len(X))])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 5, size=(60, 1)), axis=0)
    return X, decay(X, [3.0, 0.8, 0.5]) + 0.05 * rng.normal(size=60)


START = [1.0, 1.0, 0.0]


def one_sentence(error):
    message = str(error.value)
    assert "\n" not in message
    assert 20 < len(message) < 320
    return message


# The answer


def test_parameters_and_covariance_are_those_of_curve_fit(data):
    X, y = data
    fit = NonlinearLeastSquares(decay, START).fit(X, y)
    coef, covariance = curve_fit(lambda x, *b: decay(x[:, None], b), X[:, 0], y, p0=START, ftol=1e-14, xtol=1e-14)
    np.testing.assert_allclose(fit.coef_, coef, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance_, covariance, rtol=1e-5)
    np.testing.assert_allclose(fit.stderr_, np.sqrt(np.diag(covariance)), rtol=1e-5)
    assert fit.score(X, y) == pytest.approx(fit.r2_)
    assert fit.cost_ == pytest.approx(((y - fit.predict(X)) ** 2).sum())
    assert fit.converged_
    assert fit.optimality_ <= fit.tol


def test_weights_are_one_over_variance_as_in_curve_fit(data):
    X, y = data
    sigma = np.linspace(0.5, 2.0, len(y))
    fit = NonlinearLeastSquares(decay, START).fit(X, y, sample_weight=sigma**-2)
    coef, covariance = curve_fit(
        lambda x, *b: decay(x[:, None], b), X[:, 0], y, p0=START, sigma=sigma, ftol=1e-14, xtol=1e-14
    )
    np.testing.assert_allclose(fit.coef_, coef, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance_, covariance, rtol=1e-5)


def test_a_weight_is_a_number_of_rows_and_zero_is_no_row(data):
    X, y = data
    counts = np.random.default_rng(1).integers(0, 3, size=len(y))
    y = np.where(counts == 0, 1e9, y)
    weighted = NonlinearLeastSquares(decay, START).fit(X, y, sample_weight=counts)
    repeated = NonlinearLeastSquares(decay, START).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)
    assert weighted.dof_ == (counts > 0).sum() - 3


def test_the_linear_model_is_least_squares():
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3)) * [1.0, 1e4, 1e-4]
    y = X @ [1.0, 2e-4, 3e4] + 5.0 + rng.normal(size=50)
    fit, oracle = NonlinearLeastSquares().fit(X, y), sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(fit.coef_, np.roll(oracle.params, -1), rtol=1e-9)
    np.testing.assert_allclose(fit.stderr_, np.roll(oracle.bse, -1), rtol=1e-9)
    np.testing.assert_allclose(fit.summary().t, np.roll(oracle.tvalues, -1), rtol=1e-8)
    np.testing.assert_allclose(fit.summary().p, np.roll(oracle.pvalues, -1), rtol=1e-6)
    np.testing.assert_allclose(fit.summary(0.9).interval, np.roll(oracle.conf_int(0.1), -1, axis=0), rtol=1e-8)
    low, high = fit.predict_interval(X, coverage=0.9)
    frame = oracle.get_prediction(sm.add_constant(X)).summary_frame(alpha=0.1)
    np.testing.assert_allclose(low, frame["obs_ci_lower"], rtol=1e-6)
    np.testing.assert_allclose(high, frame["obs_ci_upper"], rtol=1e-6)
    np.testing.assert_allclose(fit.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-9)


def test_every_jacobian_leads_to_the_same_place(data):
    import jax.numpy as jnp
    import torch

    X, y = data
    models = {
        decay_jacobian: decay,
        "2-point": decay,
        "3-point": decay,
        "torch": lambda X, b: b[0] * torch.exp(-b[1] * X[:, 0]) + b[2],
        "jax": lambda X, b: b[0] * jnp.exp(-b[1] * X[:, 0]) + b[2],
    }
    expected = NonlinearLeastSquares(decay, START).fit(X, y)
    for jac, model in models.items():
        fit = NonlinearLeastSquares(model, START, jac=jac).fit(X, y)
        np.testing.assert_allclose(fit.coef_, expected.coef_, rtol=1e-6, err_msg=str(jac))
        np.testing.assert_allclose(fit.stderr_, expected.stderr_, rtol=1e-4, err_msg=str(jac))


def test_exact_data_give_exact_parameters(data):
    X, _ = data
    fit = NonlinearLeastSquares(decay, START).fit(X, decay(X, [3.0, 0.8, 0.5]))
    np.testing.assert_allclose(fit.coef_, [3.0, 0.8, 0.5], rtol=1e-12)
    assert fit.converged_


def test_a_circle_from_its_distances_even_where_the_start_is_the_answer():
    angle = np.linspace(0, 2, 30)
    points = np.array([3.0, -2.0]) + 5.0 * np.column_stack([np.cos(angle), np.sin(angle)])

    def distance(X, b):
        return np.hypot(X[:, 0] - b[0], X[:, 1] - b[1]) - b[2]

    for start in ([3.0, -2.0, 5.0], [3.0 + 1e-15, -2.0, 5.0 - 1e-15], [0.0, 0.0, 1.0]):
        fit = NonlinearLeastSquares(distance, start).fit(points, np.zeros(30))
        assert fit.converged_
        np.testing.assert_allclose(fit.coef_, [3.0, -2.0, 5.0], rtol=1e-12)


def test_a_parameter_that_starts_at_zero_may_be_tiny(data):
    X, _ = data
    y = 2.0 + 3e-9 * np.sin(X[:, 0]) * 1e9 + 1e-3 * np.cos(50 * X[:, 0])
    fit = NonlinearLeastSquares(lambda X, b: b[0] + b[1] * np.sin(X[:, 0]) * 1e9, [0.0, 0.0]).fit(X, y)
    design = np.column_stack([np.ones(len(X)), np.sin(X[:, 0])])
    np.testing.assert_allclose(fit.coef_ * [1, 1e9], np.linalg.lstsq(design, y, rcond=None)[0], rtol=1e-7)


def test_many_rows_are_factorised_in_blocks_and_threads_change_nothing():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(100_000, 4))
    R = triangular(table)
    np.testing.assert_allclose(R.T @ R, table.T @ table, rtol=1e-9, atol=1e-6)
    X = rng.uniform(0, 5, size=(100_000, 1))
    y = decay(X, [3.0, 0.8, 0.5]) + 0.1 * rng.normal(size=len(X))
    fits = []
    for threads in (1, 3):
        set_threads(threads)
        fits.append(NonlinearLeastSquares(decay, START).fit(X, y))
    set_threads(None)
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert np.abs((fits[0].coef_ - [3.0, 0.8, 0.5]) / fits[0].stderr_).max() < 4


def test_damping_gives_the_requested_length():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(20, 5))
    tangent = Tangent(table, triangular(table), np.ones(4), None)
    for radius in (1e-6, 1e-3, 0.05):
        tau, rotated = damping(tangent.s, tangent.g, radius)
        assert np.linalg.norm(rotated) == pytest.approx(radius, rel=0.11)
        J, r = table[:, :4], table[:, 4]
        step = np.linalg.solve(J.T @ J + tau * np.eye(4), J.T @ r)
        np.testing.assert_allclose(tangent.step(rotated), step, rtol=1e-8)
        assert tangent.gain(step) == pytest.approx(r @ r - ((r - J @ step) ** 2).sum())


# Bounds


@pytest.mark.parametrize("seed", range(8))
def test_bounds_reach_the_minimum_of_least_squares(data, seed):
    X, y = data
    rng = np.random.default_rng(seed)
    lower = np.where(rng.random(3) < 0.5, [3.1, 0.82, 0.55], -np.inf)
    upper = np.where(rng.random(3) < 0.5, np.maximum(lower, 0) + [3.3, 1.0, 0.7], np.inf)
    start = np.clip(START, lower + 1e-3, upper - 1e-3)
    fit = NonlinearLeastSquares(decay, start, bounds=(lower, upper)).fit(X, y)
    oracle = least_squares(
        lambda b: decay(X, b) - y, start, bounds=(lower, upper), ftol=1e-15, xtol=1e-15, gtol=1e-15, x_scale="jac"
    )
    assert fit.converged_
    assert fit.cost_ <= 2 * oracle.cost * (1 + 1e-9)
    assert np.all((fit.coef_ >= lower) & (fit.coef_ <= upper))


def test_a_parameter_on_a_bound_has_no_standard_error_and_nothing_breaks(data):
    X, y = data
    fit = NonlinearLeastSquares(decay, START, bounds=([-np.inf, -np.inf, 0.0], [np.inf, np.inf, 0.4])).fit(X, y)
    assert fit.coef_[2] == 0.4
    assert np.isnan(fit.stderr_).tolist() == [False, False, True]
    fixed = NonlinearLeastSquares(lambda X, b: decay(X, [*b, 0.4]), START[:2]).fit(X, y)
    np.testing.assert_allclose(fit.coef_[:2], fixed.coef_, rtol=1e-7)
    assert "nan" in str(fit.summary())
    low, high = fit.predict_interval(X)
    assert np.all(low < high)


def test_bounds_by_name(data):
    X, y = data
    start = {"height": 1.0, "rate": 1.0, "floor": 0.0}
    named = NonlinearLeastSquares(decay, start, bounds={"floor": (None, 0.4), "rate": (0, 5)}).fit(X, y)
    listed = NonlinearLeastSquares(decay, START, bounds=([-np.inf, 0, -np.inf], [np.inf, 5, 0.4])).fit(X, y)
    np.testing.assert_array_equal(named.coef_, listed.coef_)
    for bounds, part in (({"flor": (0, 1)}, "parameters are height, rate, floor"), ({"rate": 3}, "'rate' as")):
        with pytest.raises(ValueError, match=part) as error:
            NonlinearLeastSquares(decay, start, bounds=bounds).fit(X, y)
        one_sentence(error)


def test_the_model_is_never_called_outside_the_bounds(data):
    X, y = data
    seen = []

    def watched(X, b):
        seen.append(np.array(b))
        return decay(X, b)

    NonlinearLeastSquares(watched, [1.0, 0.0, 0.0], bounds=([0, 0, 0], [10, 10, 0.4])).fit(X, y)
    seen = np.array(seen)
    assert seen.min() >= 0.0
    assert seen[:, 2].max() <= 0.4


# What it says


def test_summary_is_a_table(data):
    X, y = data
    fit = NonlinearLeastSquares(decay, {"height": 1.0, "rate": 1.0, "floor": 0.0}).fit(X, y)
    text = str(fit.summary())
    assert fit.parameter_names_ == ["height", "rate", "floor"]
    lines = text.splitlines()
    assert lines[0].split() == ["parameter", "estimate", "std.", "error", "t", "p", "2.5", "%", "97.5", "%"]
    assert lines[3].split()[0] == "rate"
    assert float(lines[3].split()[1]) == pytest.approx(fit.coef_[1], rel=1e-5)
    assert "57 degrees of freedom" in lines[-1]
    assert "converged after" in lines[-1]


def test_intervals_cover():
    rng = np.random.default_rng(5)
    X = np.linspace(0, 5, 25)[:, None]
    truth = np.array([3.0, 0.8, 0.5])
    inside, new = [], []
    for _ in range(300):
        y = decay(X, truth) + 0.2 * rng.normal(size=25)
        fit = NonlinearLeastSquares(decay, truth).fit(X, y)
        interval = fit.summary(0.8).interval
        inside.append((interval[:, 0] < truth) & (truth < interval[:, 1]))
        low, high = fit.predict_interval([[2.0]], coverage=0.8)
        new.append(low[0] < decay(np.array([[2.0]]), truth)[0] + 0.2 * rng.normal() < high[0])
    assert np.abs(np.mean(inside, axis=0) - 0.8).max() < 0.08
    assert abs(np.mean(new) - 0.8) < 0.08


def test_not_enough_steps_report_the_distance(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"after 2 steps where about .* of the residual could still.*max_iter"):
        fit = NonlinearLeastSquares(decay, START, max_iter=2).fit(X, y)
    assert not fit.converged_
    assert "not converged" in fit.message_


def test_a_wrong_jacobian_is_suspected(data):
    X, y = data
    wrong = NonlinearLeastSquares(decay, START, jac=lambda X, b: -decay_jacobian(X, b))
    with pytest.warns(ConvergenceWarning, match="check jac"):
        assert not wrong.fit(X, y).converged_


def test_a_diverging_fit_reports_where_it_went():
    X = np.linspace(0.1, 10, 60)[:, None]
    y = 2 * np.sin(1.5 * X[:, 0] + 0.5) + 1
    model = NonlinearLeastSquares(lambda X, b: b[0] * np.sin(b[1] * X[:, 0] + b[2]) + b[3], [1.76, 0.53, 0.26, 0.2])
    with pytest.warns(ConvergenceWarning, match="hardly determine.*start nearer") as caught:
        fit = model.fit(X, y)
    assert "\n" not in str(caught[0].message)
    assert not fit.converged_
    assert fit.n_iter_ < 900


def test_a_parameter_without_effect_is_named(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="do not determine b3"):
        fit = NonlinearLeastSquares(decay, [*START, 7.0]).fit(X, y)
    assert np.isinf(fit.stderr_).tolist() == [False, False, False, True]
    assert fit.coef_[3] == 7.0
    np.testing.assert_allclose(fit.coef_[:3], NonlinearLeastSquares(decay, START).fit(X, y).coef_, rtol=1e-6)
    assert "inf" in str(fit.summary())


def test_as_many_rows_as_parameters_leaves_no_noise(data):
    X, y = data
    fit = NonlinearLeastSquares(decay, START).fit(X[::20], y[::20])
    np.testing.assert_allclose(fit.predict(X[::20]), y[::20], rtol=1e-8)
    assert np.isnan(fit.sigma_)
    assert np.isnan(fit.stderr_).all()
    assert "none left" in str(fit.summary())


@pytest.mark.skipif(not hasattr(progress.CallbackSupportMixin, "set_callbacks"), reason="scikit-learn before 1.9")
def test_a_callback_stops_the_fit(data):
    class Stop:
        seen = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            pass

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            self.seen += context.task_name == "iteration"
            return context.task_name == "iteration"

    stop = Stop()
    fit = NonlinearLeastSquares(decay, START).set_callbacks(stop).fit(*data)
    assert stop.seen == 1
    assert "stopped by a callback" in fit.message_
    assert not fit.converged_


# Refusals

BAD_FITS = {
    "jac of the wrong shape": (
        {"model": decay, "start": START, "jac": lambda X, b: decay_jacobian(X, b).T},
        "must be (60, 3)",
    ),
    "jac with NaN": (
        {"model": decay, "start": START, "jac": lambda X, b: decay_jacobian(X, b) * np.nan},
        "NaN or infinity",
    ),
    "model with NaN": (
        {"model": lambda X, b: np.where(X[:, 0] > X[4, 0], np.nan, 1.0) * b[0], "start": [1.0]},
        "row 5",
    ),
    "model of the wrong shape": ({"model": lambda X, b: b[0] * X[:3, 0], "start": [1.0]}, "one number a row"),
    "model that returns nothing": ({"model": lambda X, b: None, "start": [1.0]}, "no array of numbers"),
    "start too short": ({"model": decay, "start": [1.0, 1.0]}, "one number for each parameter that the model reads"),
    "start missing": ({"model": decay}, "needs start="),
    "start of words": ({"model": decay, "start": ["a", "b"]}, "list of finite numbers"),
    "start with NaN": ({"model": decay, "start": [1.0, np.nan, 1.0]}, "list of finite numbers"),
    "start of two dimensions": ({"model": decay, "start": [[1.0, 1.0]]}, "list of finite numbers"),
    "start for another linear model": ({"start": [1.0, 2.0, 3.0]}, "has 2 parameters"),
    "model no function": ({"model": 3, "start": START}, "function of X and the parameters"),
    "unknown method": ({"model": decay, "start": START, "method": "newton"}, "'lm', 'levenberg', 'gauss-newton'"),
    "unknown jac": ({"model": decay, "start": START, "jac": "4-point"}, "'2-point', '3-point'"),
    "bounds upside down": ({"model": decay, "start": START, "bounds": (1, 0)}, "lower < upper"),
    "bounds of the wrong length": (
        {"model": decay, "start": START, "bounds": ([0, 0], [1, 1])},
        "one for each of the 3",
    ),
    "start outside": ({"model": decay, "start": START, "bounds": (0.5, 2)}, "outside its bounds 0.5 to 2"),
    "tol negative": ({"model": decay, "start": START, "tol": -1.0}, "'tol'"),
    "max_iter 0": ({"model": decay, "start": START, "max_iter": 0}, "'max_iter'"),
}


@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_settings_get_one_sentence(data, case):
    params, part = BAD_FITS[case]
    with pytest.raises(ValueError) as error:
        NonlinearLeastSquares(**params).fit(*data)
    assert part in one_sentence(error)


def test_too_few_rows(data):
    X, y = data
    with pytest.raises(ValueError, match="at least as many rows as parameters") as error:
        NonlinearLeastSquares(decay, START).fit(X[:2], y[:2])
    one_sentence(error)
    with pytest.raises(ValueError, match="2 rows of positive weight"):
        NonlinearLeastSquares(decay, START).fit(X, y, sample_weight=np.arange(60) < 2)


@pytest.mark.parametrize("jac", ["torch", "jax"])
def test_a_model_that_cannot_be_differentiated(data, jac):
    X, y = data
    model = NonlinearLeastSquares(lambda X, b: np.asarray(X)[:, 0] * np.exp(np.asarray(b)[0]), [0.1], jac=jac)
    with pytest.raises(ValueError, match=f"write it with {jac}'s functions") as error:
        model.fit(X, y)
    one_sentence(error)


def test_a_library_that_is_not_there(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match="jac='jax' needs jax") as error:
        NonlinearLeastSquares(decay, START, jac="jax").fit(*data)
    one_sentence(error)


def test_bad_levels(data):
    fit = NonlinearLeastSquares(decay, START).fit(*data)
    for ask in (lambda: fit.summary(2), lambda: fit.predict_interval(data[0], coverage=0)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ask()


# As an estimator


def test_narrow_numbers_columns_and_clones(data):
    X, y = data
    fit = NonlinearLeastSquares(lambda X, b: decay(X, b)[:, None], START)  # a column is taken for its numbers
    wide, narrow = clone(fit).fit(X, y), clone(fit).fit(X.astype(np.float32), y.astype(np.float32))
    assert narrow.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-4)


def test_one_variable_may_have_one_dimension(data):
    X, y = data
    table = NonlinearLeastSquares(decay, START).fit(X, y)

    def curve(x, b):
        assert x.ndim == 1
        return b[0] * np.exp(-b[1] * x) + b[2]

    line = NonlinearLeastSquares(curve, START)
    for x in (X[:, 0], X[:, 0].tolist(), pd.Series(X[:, 0]), pl.Series(X[:, 0])):
        line.fit(x, y)
        np.testing.assert_array_equal(line.coef_, table.coef_)
        np.testing.assert_array_equal(line.predict(x), table.predict(X))
        np.testing.assert_array_equal(line.predict(X), table.predict(X))
        np.testing.assert_array_equal(line.predict_interval(x), table.predict_interval(X))
        assert line.score(x, y) == table.score(X, y)
    weighted = line.fit(X[:, 0], y, sample_weight=np.arange(60) % 3)
    np.testing.assert_array_equal(weighted.coef_, table.fit(X, y, sample_weight=np.arange(60) % 3).coef_)
    with pytest.raises(ValueError, match="1D array"):
        table.predict(X[:, 0])
    with pytest.raises(ValueError, match="1D array"):
        NonlinearLeastSquares().fit(X[:, 0], y)


def test_a_file_holds_no_code(data, tmp_path):
    fit = NonlinearLeastSquares(decay, START).fit(*data)
    with pytest.raises(Exception, match="a model file holds no code") as error:
        learnt.save(fit, tmp_path / "model.learnt")
    assert "\n" not in str(error.value)
