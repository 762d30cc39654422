"""LogisticRegression by gradient descent, Adagrad, IRLS, SGD and the other ways of `learnt.erm.solvers`."""

import numpy as np
import pytest
import sklearn.linear_model as peer
import torch
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from learnt.linear_model import LogisticRegression
from learnt.linear_model.logistic._named_solvers import NAMED

EXACT = [name for name in NAMED if name != "sgd"]
ONE_SCORE = ("irls", "cd")
TIGHT = {"tol": 1e-10, "max_iter": 50_000}


def wine(n_classes=3):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.sweep
def test_all_come_to_scikit_learns_minimum(solver, n_classes):
    X, y = wine(n_classes)
    if n_classes == 3 and solver in ONE_SCORE:
        with pytest.raises(ValueError, match="one score a row"):
            LogisticRegression(solver=solver).fit(X, y)
        return
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    settings = {"C": 0.1, "class_weight": {0: 2.0, 1: 1.0, 2: 0.5}}
    ours = LogisticRegression(solver=solver, **settings, **TIGHT).fit(X, y, sample_weight=w)
    theirs = peer.LogisticRegression(**settings, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.converged_
    assert ours.optimality_ < 1e-7


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("solver", ["gd", "ista", "fista", "cd"])
@pytest.mark.sweep
def test_penalties_with_corners(solver, ratio):
    X, y = wine(2)
    settings = {"C": 0.5, "l1_ratio": ratio}
    ours = LogisticRegression(solver=solver, **settings, **TIGHT).fit(X, y)
    best = LogisticRegression(**settings, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.coef_, best.coef_, atol=2e-3)
    assert ((ours.coef_ == 0) == (best.coef_ == 0)).all()


def test_sgd_is_near_after_some_epochs_and_drawn_by_its_seed():
    X, y = wine(2)
    exact = LogisticRegression(C=0.1).fit(X, y)
    first, again, other = (LogisticRegression(C=0.1, solver="sgd", random_state=k).fit(X, y) for k in (1, 1, 2))
    assert (first.coef_ == again.coef_).all()
    assert (first.coef_ != other.coef_).any()
    assert first.n_iter_[0] == 100
    assert log_loss(y, first.predict_proba(X)) == pytest.approx(log_loss(y, exact.predict_proba(X)), rel=0.05)


def test_too_few_iterations_warn_how_far_and_what_to_raise():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(ConvergenceWarning, match=r"about \d.*above the minimum.*raise max_iter above 5"):
        model = LogisticRegression(solver="adam", max_iter=5).fit(X, y)
    assert not model.converged_
    on = LogisticRegression(solver="gd", warm_start=True, **TIGHT).fit(X, y)
    steps = on.n_iter_[0]
    assert on.fit(X, y).n_iter_[0] < steps


def test_separable_rows_without_a_penalty_end_with_a_direction():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="separated exactly"):
        model = LogisticRegression(C=np.inf, solver="gd", max_iter=10_000).fit(X, [0, 0, 1, 1])
    assert (model.predict(X) == [0, 0, 1, 1]).all()


def test_tensors_and_tables_that_are_not_in_memory():
    X, y = wine(2)
    near = LogisticRegression(solver="gd", tol=1e-8, max_iter=5000).fit(X, y)
    there = LogisticRegression(solver="gd", tol=1e-8, max_iter=5000).fit(torch.tensor(X), torch.tensor(y))
    assert isinstance(there.coef_, torch.Tensor)
    np.testing.assert_allclose(there.coef_.numpy(), near.coef_, atol=1e-6)


def test_blocks_are_refused(tmp_path):
    import polars as pl

    import learnt

    X, y = wine(2)
    pl.DataFrame(X).with_columns(pl.Series("y", y)).write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="'gd' needs X in memory"):
        LogisticRegression(solver="gd").fit(table.drop("y"), table["y"])
