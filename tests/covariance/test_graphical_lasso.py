"""Sparse inverse covariances: certified by the gap, at least as good as scikit-learn's, and every bad input."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn import covariance as theirs
from sklearn.datasets import make_sparse_spd_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from learnt.covariance import GraphicalLasso, GraphicalLassoCV, empirical_covariance, graphical_lasso
from learnt.covariance._glasso import Goal, dual_value, graphical_lasso_of, largest_penalty, objective
from learnt.engine.random import generator


def rows(n, d, seed=0):
    precision = make_sparse_spd_matrix(d, alpha=0.9, random_state=seed)
    X = generator(seed).multivariate_normal(np.zeros(d), np.linalg.inv(precision), size=n)
    return X / X.std(axis=0) + 1.0


@pytest.mark.parametrize("shape", [(200, 8), (20, 30), (100, 1), (3, 4)], ids=str)
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_the_gap_is_a_certificate(shape, alpha):
    X = rows(*shape)
    model = GraphicalLasso(alpha, tol=1e-8, max_iter=500).fit(X)
    S, P, W = empirical_covariance(X), model.precision_, model.covariance_
    value, gap = model.costs_[-1]
    assert 0 <= gap <= 1e-8
    np.testing.assert_allclose(value, objective(S, P, alpha), rtol=1e-9)
    np.testing.assert_array_equal(P, P.T)
    assert np.linalg.eigvalsh(P)[0] > 0
    # W is within its bounds, so that its value bounds every precision's objective from below.
    rounding = 1e-12
    np.testing.assert_allclose(np.diag(W), np.diag(S), rtol=rounding)
    assert np.abs(W - S).max() <= alpha + rounding
    assert dual_value(W) <= value + 1e-9
    for seed in range(5):
        move = generator(seed).normal(size=P.shape)
        other = P + 1e-3 * (move + move.T) * np.sqrt(np.outer(np.diag(P), np.diag(P)))
        assert objective(S, other, alpha) >= value - gap - 1e-9
    # Optimality: entries of P⁻¹ are at their bounds where P is not 0, on the side of its sign.
    edge = (np.abs(P) > 1e-3) & ~np.eye(len(P), dtype=bool)
    np.testing.assert_allclose((W - S)[edge], alpha * np.sign(P)[edge], atol=1e-4)
    values = [value for value, _ in model.costs_]
    assert (np.diff(values) <= 0).all()
    assert model.n_iter_ == len(model.costs_)


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.8])
def test_at_least_as_good_as_scikit_learns(alpha):
    X = rows(150, 10)
    S = empirical_covariance(X)
    a = GraphicalLasso(alpha).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        b = theirs.GraphicalLasso(alpha).fit(X)
    ours, others = objective(S, a.precision_, alpha), objective(S, b.precision_, alpha)
    assert ours <= others + a.costs_[-1][1]
    assert a.costs_[-1][1] <= 1e-4
    exact = theirs.GraphicalLasso(alpha, tol=1e-9, enet_tol=1e-10, max_iter=1000).fit(X)
    near = GraphicalLasso(alpha, tol=1e-10, max_iter=1000).fit(X)
    np.testing.assert_allclose(near.location_, exact.location_, atol=1e-12)
    # The objective is strongly convex where precisions are bounded: a gap g leaves errors of about √g.
    np.testing.assert_allclose(near.covariance_, exact.covariance_, atol=1e-4)
    np.testing.assert_allclose(near.precision_, exact.precision_, atol=1e-4)
    np.testing.assert_allclose(near.score(X), exact.score(X), atol=1e-4)
    constant = 2 * X.shape[1] * np.log(2 * np.pi)
    np.testing.assert_allclose(near.costs_[-1][0] + constant, exact.costs_[-1][0], atol=1e-6)


def test_two_features_have_a_formula():
    S, alpha = np.array([[2.0, 0.9], [0.9, 1.0]]), 0.25
    W = S - alpha * np.array([[0.0, 1.0], [1.0, 0.0]])
    covariance, precision, costs, n_iter = graphical_lasso(S, alpha, tol=1e-12, return_costs=True, return_n_iter=True)
    np.testing.assert_allclose(covariance, W, atol=1e-9)
    np.testing.assert_allclose(precision, np.linalg.inv(W), atol=1e-9)
    assert len(costs) == n_iter
    covariance, precision = graphical_lasso(S, 0.9)
    np.testing.assert_array_equal(covariance, np.diag([2.0, 1.0]))
    np.testing.assert_array_equal(precision, np.diag([0.5, 1.0]))
    assert largest_penalty(S) == 0.9


def test_no_penalty_is_the_inverse():
    X = rows(60, 5)
    S = empirical_covariance(X)
    model = GraphicalLasso(0, covariance="precomputed").fit(S)
    np.testing.assert_allclose(model.precision_, np.linalg.inv(S), rtol=1e-9)
    assert not model.location_.any()
    with pytest.raises(ValueError, match=r"singular.*alpha greater than 0"):
        GraphicalLasso(0).fit(rows(4, 8))


def test_edges_are_found():
    x = generator(0).normal(size=(3000, 5)).cumsum(axis=1)  # a chain: each depends on its neighbours alone
    found = GraphicalLasso(0.1).fit(x / x.std(axis=0)).precision_ != 0
    chain = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
    assert found[chain].all()


def test_other_rows_and_centres():
    import dask.array as da
    import torch

    X = rows(200, 4)
    model = GraphicalLasso(0.1, tol=1e-9).fit(X)
    for other in (da.from_array(X, chunks=(70, 4)), torch.from_numpy(X)):
        np.testing.assert_allclose(GraphicalLasso(0.1, tol=1e-9).fit(other).precision_, model.precision_, atol=1e-6)
    Z = X - X.mean(axis=0)
    centred = GraphicalLasso(0.1, tol=1e-9, assume_centered=True).fit(Z)
    np.testing.assert_allclose(centred.precision_, model.precision_, atol=1e-6)
    lars = GraphicalLasso(0.1, tol=1e-9, mode="lars").fit(X)
    np.testing.assert_array_equal(lars.precision_, model.precision_)


def test_a_warm_start_ends_at_the_same_solution():
    S = empirical_covariance(rows(15, 20))
    goal = Goal(1e-9, 1e-9, 500)
    first = graphical_lasso_of(S, 0.4, goal)
    cold, warm = graphical_lasso_of(S, 0.1, goal), graphical_lasso_of(S, 0.1, goal, (first.covariance, first.B, 0.4))
    assert warm.gap <= 1e-9
    assert abs(warm.costs[-1][0] - cold.costs[-1][0]) <= warm.gap + cold.gap + 1e-12


def test_bad_input():
    X = rows(30, 4)
    for settings in ({"alpha": -1}, {"alpha": np.inf}, {"mode": "fast"}, {"tol": 0}, {"enet_tol": 0}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(settings))!r} parameter of GraphicalLasso"):
            GraphicalLasso(**settings).fit(X)
    with pytest.raises(ValueError, match="a minimum of 2 is required by GraphicalLasso"), np.errstate(all="ignore"):
        GraphicalLasso().fit(X[:1])
    with pytest.raises(ValueError, match="Feature 4 is constant"):
        GraphicalLasso().fit(np.column_stack([X, np.ones(30)]))
    given = GraphicalLasso(covariance="precomputed")
    for bad, said in (
        (np.ones((3, 2)), "square"),
        (np.array([[1.0, 0.2], [0.3, 1.0]]), "not symmetric"),
        (np.array([[1.0, 0.0], [0.0, 0.0]]), "Entry 1 of the diagonal"),
        (np.array([[1.0, 3.0], [3.0, 1.0]]), "not a covariance"),
    ):
        with pytest.raises(ValueError, match=said):
            given.fit(bad)
    with pytest.warns(ConvergenceWarning, match="did not converge after 1 iterations: the duality gap is .* max_iter"):
        GraphicalLasso(0.001, tol=1e-12, max_iter=1).fit(X)


def test_a_list_of_penalties_is_scored_as_scikit_learn_does():
    X = rows(120, 5)
    alphas = [0.02, 0.2, 0.07]
    a = GraphicalLassoCV(alphas=alphas, tol=1e-8, max_iter=500).fit(X)
    b = theirs.GraphicalLassoCV(alphas=alphas, tol=1e-8, enet_tol=1e-9, max_iter=500).fit(X)
    assert a.alpha_ == b.alpha_
    assert a.cv_results_.keys() == b.cv_results_.keys()
    np.testing.assert_array_equal(a.cv_results_["alphas"], [0.2, 0.07, 0.02, 0.0])
    for key, values in a.cv_results_.items():  # without the penalty 0, where scikit-learn takes another centre
        np.testing.assert_allclose(values[:-1], b.cv_results_[key][:-1], atol=1e-4, err_msg=key)
    np.testing.assert_allclose(a.precision_, b.precision_, atol=1e-4)
    np.testing.assert_allclose(a.location_, b.location_, atol=1e-12)


def test_grids_are_refined():
    X = rows(100, 4, seed=2)
    model = GraphicalLassoCV(alphas=3, n_refinements=3, cv=4).fit(X)
    results = model.cv_results_
    assert len(results["alphas"]) == 3 * 3 + 1
    assert (np.diff(results["alphas"]) <= 0).all()
    best = results["mean_test_score"][:-1].max()
    assert results["mean_test_score"][list(results["alphas"]).index(model.alpha_)] == best
    coarse = GraphicalLassoCV(alphas=3, n_refinements=1, cv=4).fit(X)
    assert best >= coarse.cv_results_["mean_test_score"][:-1].max()
    two = GraphicalLassoCV(alphas=3, n_refinements=3, cv=4, n_jobs=1).fit(X)
    np.testing.assert_array_equal(two.precision_, model.precision_)


def test_bad_penalties_and_folds():
    X = rows(30, 3)
    for bad, kind, said in (
        ([0.0, 0.1], ValueError, "must be > 0"),
        (["few"], TypeError, "must be an instance of float"),
        ([], ValueError, "holds no penalty"),
        (0, ValueError, "'alphas' parameter"),
    ):
        with pytest.raises(kind, match=said):
            GraphicalLassoCV(alphas=bad).fit(X)
    with pytest.raises(ValueError, match="'n_refinements' parameter"):
        GraphicalLassoCV(n_refinements=0).fit(X)
    with pytest.raises(ValueError, match="Feature 2 is constant"):
        GraphicalLassoCV().fit(np.column_stack([X[:, :2], np.ones(30)]))
    with pytest.warns(ConvergenceWarning, match="fits on folds of GraphicalLassoCV did not converge in 1 iterations"):
        GraphicalLassoCV(alphas=[0.3, 0.001], tol=1e-12, max_iter=1).fit(X)
    with pytest.raises(ValueError, match=r"\[groups\] are passed to fit of GraphicalLassoCV.*enable_metadata_routing"):
        GraphicalLassoCV().fit(X, groups=np.arange(30))


def test_groups_go_to_the_folds():
    X, groups = rows(60, 3), np.arange(60) % 4
    with config_context(enable_metadata_routing=True):
        folds = GroupKFold(4).set_split_request(groups=True)
        model = GraphicalLassoCV(cv=folds, alphas=[0.1]).fit(X, groups=groups)
    listed = [(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(4)]
    plain = GraphicalLassoCV(cv=listed, alphas=[0.1]).fit(X)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)


def badly_conditioned(seed):
    """Few rows, columns of a common part, mixtures of a few, units far apart."""
    draw = generator(seed)
    d = int(draw.integers(2, 13))
    X = draw.normal(size=(int(draw.choice([max(3, d // 2), 2 * d, 60])), d))
    kind = seed % 5
    if kind == 1:
        X = X[:, :1] + 0.05 * X
    elif kind == 2:
        X = X @ draw.normal(size=(d, max(1, d // 2))) @ draw.normal(size=(max(1, d // 2), d)) + 1e-3 * X
    elif kind == 3:
        X = X * 10.0 ** draw.uniform(-2, 2, size=d)
    elif kind == 4:
        X = X @ draw.normal(size=(d, d))
    return X


@pytest.mark.parametrize("seed", range(40))
def test_never_above_scikit_learns_objective_by_more_than_tol(seed):
    """Two covariances may be far apart where the problem is badly conditioned; what is bounded is the objective."""
    X = badly_conditioned(seed)
    S = empirical_covariance(X)
    alpha = (0.9, 0.5, 0.1, 0.02)[seed // 5 % 4] * largest_penalty(S)
    tol = (1e-4, 1e-6, 1e-8)[seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            other = theirs.GraphicalLasso(alpha, tol=tol, max_iter=500).fit(X).precision_
        except FloatingPointError:
            other = np.diag(1.0 / np.diag(S))  # it refuses; a point that is no solution
    model = GraphicalLasso(alpha, tol=tol, max_iter=3000).fit(X)
    rounding = 1e-10 * (1.0 + np.abs(S * model.precision_).sum())
    assert model.costs_[-1][1] <= tol
    assert objective(S, model.precision_, alpha) <= objective(S, (other + other.T) / 2, alpha) + tol + rounding
    assert objective(S, model.precision_, alpha) - dual_value(model.covariance_) <= tol + rounding
