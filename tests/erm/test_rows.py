"""A user's loss on rows that are read in blocks: the same model as in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import learnt
from learnt.engine.rows import as_rows
from learnt.erm import ERMClassifier, ERMRegressor, Problem, RowsProblem, minimize, penalties, solvers
from learnt.erm.losses import Log, Poisson, Softmax, Squared
from learnt.erm.solvers import SparingNewton

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -1.0]
SIGNAL = X @ [1.0, 0.1, -5.0, 0.0]
Y = SIGNAL + rng.standard_t(3, size=900)
COUNTS = rng.poisson(np.exp(0.3 * SIGNAL))
LABELS = np.where(SIGNAL + rng.logistic(size=900) > 0, "yes", "no")
COLOURS = np.array(["red", "green", "blue"])[np.digitize(SIGNAL + rng.normal(size=900), [-1.0, 1.0])]
WEIGHTS = rng.integers(0, 3, size=900).astype(float)


class Pinball:
    """Smoothed at 0: a loss of nobody's but the user's."""

    def value(self, y, score):
        r = y - score
        return 0.4 * r + np.logaddexp(0.0, -2.0 * r) / 2.0

    def gradient(self, y, score):
        return -0.4 + 1.0 / (1.0 + np.exp(2.0 * (y - score)))

    def curvature(self, y, score):
        p = 1.0 / (1.0 + np.exp(2.0 * (y - score)))
        return 2.0 * p * (1.0 - p)


def in_a_file(X, y, w, folder):
    import polars as pl

    names = [f"x{j}" for j in range(X.shape[1])]
    pl.DataFrame(dict(zip(names, X.T, strict=True))).write_parquet(folder / "rows.parquet")
    return learnt.scan(folder / "rows.parquet")[names], y, w


def in_dask(X, y, w, folder):
    import dask.array as da

    parts = [da.from_array(part, chunks=300) for part in (y, w)]
    return da.from_array(X, chunks=(300, -1)), *parts


places = pytest.mark.parametrize("place", [in_a_file, in_dask])


def plain(values):
    return np.asarray(values.compute() if hasattr(values, "compute") else values)


@places
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "y"),
    [("squared", Y), ("huber", Y), ("poisson", COUNTS), (Pinball(), Y)],
    ids=["squared", "huber", "poisson", "own"],
)
@pytest.mark.sweep
def test_regression_is_the_same_as_in_memory(loss, y, weighted, place, tmp_path):
    data, target, weights = place(X, y, WEIGHTS, tmp_path)
    expected = ERMRegressor(loss, alpha=0.01).fit(X, y, WEIGHTS if weighted else None)
    model = ERMRegressor(loss, alpha=0.01).fit(data, target, weights if weighted else None)
    assert model.converged_
    assert model.solver_ == "SparingNewton"
    assert_allclose(model.coef_, expected.coef_, rtol=1e-4, atol=1e-6)
    assert_allclose(model.objective_, expected.objective_, rtol=1e-10)
    assert_allclose(plain(model.predict(data)), expected.predict(X), rtol=1e-3, atol=1e-4)


@places
@pytest.mark.parametrize("y", [LABELS, COLOURS], ids=["two", "three"])
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.sweep
def test_classification_is_the_same_as_in_memory(y, solver, place, tmp_path):
    data, labels, weights = place(X, y, WEIGHTS, tmp_path)
    expected = ERMClassifier("log", alpha=0.01, class_weight="balanced").fit(X, y, WEIGHTS)
    model = ERMClassifier("log", alpha=0.01, class_weight="balanced", solver=solver).fit(data, labels, weights)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert_allclose(model.coef_, expected.coef_, rtol=1e-3, atol=1e-5)
    assert (plain(model.predict(data)) == expected.predict(X)).mean() > 0.995
    assert_allclose(plain(model.predict_proba(data)), expected.predict_proba(X), atol=1e-4)
    assert plain(model.decision_function(data)).shape == expected.decision_function(X).shape


@places
def test_a_penalty_with_corners(place, tmp_path):
    data, y, _ = place(X, Y, WEIGHTS, tmp_path)
    expected = ERMRegressor("squared", penalty="l1", alpha=0.5).fit(X, Y)
    model = ERMRegressor("squared", penalty="l1", alpha=0.5, tol=1e-8, max_iter=20_000).fit(data, y)
    assert_allclose(model.coef_, expected.coef_, atol=1e-4)
    assert model.gap_ is None  # a bound would need the rows


@places
def test_what_needs_the_rows_is_refused(place, tmp_path):
    data, y, _ = place(X, Y, WEIGHTS, tmp_path)
    for solver in ("cd", "irls", "sgd"):
        with pytest.raises(ValueError, match="needs all rows in memory"):
            ERMRegressor("squared", solver=solver).fit(data, y)
    with pytest.raises(ValueError, match="has corners"):
        ERMRegressor("absolute").fit(data, y)
    with pytest.raises(ValueError, match="early_stopping=False"):
        ERMRegressor("squared", early_stopping=True).fit(data, y)
    with pytest.raises(ValueError, match="is not defined"):
        ERMRegressor("poisson").fit(data, y)


def test_classes_that_can_be_separated_are_seen_in_blocks_too(tmp_path):
    from sklearn.exceptions import ConvergenceWarning

    data, *_ = in_a_file(X, None, None, tmp_path)
    with pytest.warns(ConvergenceWarning, match="separated exactly"):
        ERMClassifier("log", alpha=0).fit(data, np.where(SIGNAL > 0, "yes", "no"))


@pytest.mark.parametrize(
    ("loss", "y", "outputs"),
    [(Squared(), Y, 1), (Poisson(), COUNTS, 1), (Log(), np.sign(Y), 1), (Softmax(), np.digitize(Y, [-1.0, 1.0]), 3)],
    ids=["squared", "poisson", "log", "softmax"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_rows_are_those_of_the_problem(loss, y, outputs, weighted):
    w = WEIGHTS if weighted else None
    y = y if outputs > 1 else y.astype(float)
    whole = Problem(X, y, loss, penalties.L2(), 0.1, None, w, True, outputs)
    rows = as_rows(X, y, w)
    rows.block_size = 130
    parts = RowsProblem(rows, None, loss, penalties.L2(), 0.1, None, None, True, outputs)
    theta = 0.1 * rng.normal(size=whole.zero().shape)
    assert_allclose(parts.objective(theta), whole.objective(theta), rtol=1e-12)
    assert_allclose(parts.gradient(theta), whole.gradient(theta), rtol=1e-9, atol=1e-12)
    assert_allclose(parts.hessian(theta), whole.hessian(theta), rtol=1e-9, atol=1e-12)
    assert_allclose(parts.hessian_diagonal(theta), whole.hessian_diagonal(theta), rtol=1e-9, atol=1e-12)
    assert_allclose(parts.scale, whole.scale, rtol=1e-12)


def test_sparing_newton_computes_second_derivatives_seldom():
    asked = []

    class Counting(Poisson):
        def curvature(self, y, score):
            asked.append(1)
            return super().curvature(y, score)

    problem = Problem(X, COUNTS.astype(float), Counting(), penalties.L2(), 0.01)
    result = minimize(problem, SparingNewton())
    assert result.converged
    n_sparing, n_steps = len(asked), result.n_iter
    asked.clear()
    other = minimize(problem, solvers.Hybrid())
    assert_allclose(result.objective, other.objective, rtol=1e-12)
    assert n_sparing < len(asked)
    assert n_sparing < n_steps
