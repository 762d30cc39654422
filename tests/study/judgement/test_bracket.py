"""The bracket of the best possible error on generated problems where it is known; it never denies the model."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from learnt.diagnosis import row_losses
from learnt.linear_model import LogisticRegression, Ridge
from learnt.study.facts import Ceiling, Constant, Noise
from learnt.study.judgement._ceiling import bracket, floor_and_ceiling, unbracketed
from learnt.study.table._problem import pose
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

N = 700
AMOUNTS = [  # relevant columns, irrelevant columns, shape, standard deviation of the noise (of the signal: 1)
    (1, 0, "wave", 0.3), (2, 0, "line", 1.0), (2, 3, "step", 0.5), (3, 7, "line", 0.3), (5, 0, "product", 0.5),
    (5, 15, "line", 2.0), (10, 0, "square", 0.3), (10, 20, "line", 0.1), (2, 28, "wave", 1.0), (2, 0, "product", 0.1),
]  # fmt: skip
CLASSES = [  # relevant, irrelevant, shape, steepness of the probabilities, classes
    (1, 0, "line", 1.0, 2), (2, 0, "line", 4.0, 2), (2, 3, "product", 3.0, 2), (5, 5, "line", 2.0, 2),
    (5, 15, "square", 2.0, 2), (10, 0, "line", 8.0, 2), (10, 20, "line", 1.0, 2), (2, 0, "wave", 3.0, 3),
    (4, 6, "line", 3.0, 3), (3, 27, "step", 2.0, 2),
]  # fmt: skip


def signal(X, shape, used):
    Z = X[:, :used]
    found = {
        "line": Z @ np.linspace(1, 0.4, used),
        "wave": np.sin(3 * Z[:, 0]) + (0.5 * Z[:, 1] if used > 1 else 0),
        "step": (Z[:, 0] > 0) + 0.5 * (Z[:, -1] > 0.5),
        "product": Z[:, 0] * Z[:, -1] + Z[:, 0],
        "square": (Z**2).sum(axis=1),
    }[shape]
    return (found - found.mean()) / found.std()


def out_of_fold(model, X, y):
    """Predictions of rows that the model did not see, of three folds."""
    fold = np.arange(len(y)) % 3
    parts = [
        model.fit(X[fold != k], y[fold != k]) and getattr(model, "predict_proba", model.predict)(X[fold == k])
        for k in range(3)
    ]
    out = np.empty((len(y), *parts[0].shape[1:]))
    for k, part in enumerate(parts):
        out[fold == k] = part
    return out


def bracketed(X, y, classify):
    frame = pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})
    problem = pose(frame, "y", task="classify" if classify else "regress", time="none")
    ceiling = floor_and_ceiling(problem, np.arange(len(y)), 0)
    models = (
        [LogisticRegression(), DecisionTreeClassifier(min_samples_leaf=15)]
        if classify
        else [Ridge(), DecisionTreeRegressor(min_samples_leaf=8)]
    )
    names = np.array(problem.classes) if classify else None
    found = [out_of_fold(model, X, problem.y) for model in models]
    losses = [row_losses(problem.y, p, names) for p in found]
    best = int(np.argmin([part.mean() for part in losses]))
    wrong = names[found[best].argmax(axis=1)] != problem.y if classify else None
    return bracket(ceiling, losses[best], wrong)


@pytest.mark.long
def test_the_truth_is_inside_on_at_least_eighteen_of_twenty_problems():
    inside, told = [], 0
    for k, (used, idle, shape, sigma) in enumerate(AMOUNTS):
        rng = np.random.default_rng(100 + k)
        X = rng.normal(size=(N, used + idle))
        y = signal(X, shape, used) + sigma * rng.normal(size=N)
        found = bracketed(X, y, classify=False)
        inside.append(found.lower <= sigma <= found.upper)
        told += found.lower > 0
        assert 0 <= found.lower <= found.reached
        assert found.lower <= found.upper
    for k, (used, idle, shape, steep, classes) in enumerate(CLASSES):
        rng = np.random.default_rng(200 + k)
        X = rng.normal(size=(N, used + idle))
        score = steep * signal(X, shape, used)
        logits = np.column_stack([np.zeros(N), score, score**2 - 1][:classes])
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        y = (rng.uniform(size=N)[:, None] > p.cumsum(axis=1)).sum(axis=1)
        truth = float(np.mean(1 - p.max(axis=1)))
        found = bracketed(X, np.array(["a", "b", "c"])[y], classify=True)
        inside.append(found.lower <= truth <= found.upper)
        told += found.lower > 0
        assert 0 <= found.lower <= found.reached
        assert found.lower <= found.upper
    assert sum(inside) >= 18, inside
    assert told >= 5  # and it is not silent: in few dimensions there is a lower bound too


def test_a_bound_that_the_model_disproves_is_not_reported():
    ceiling = Ceiling(Constant(0.0, 9.0, rmse=3.0), Noise(0.67, 1.1, 0.67, 1.2), None, None, 500)
    rng = np.random.default_rng(0)
    found = bracket(ceiling, (0.3 * rng.normal(size=500)) ** 2, None)
    assert found.lower == 0.0
    assert 0.3 < found.upper < 0.35
    assert not found.known
    better = bracket(replace(ceiling, noise=Noise(0.0, 0.01, 0.0, 0.01)), (0.3 * rng.normal(size=500)) ** 2, None)
    assert better.known  # neighbours prove that there is room
    assert better.upper == pytest.approx(0.1)


def test_where_neighbours_were_not_looked_at_nothing_is_known():
    """The loss of a constant on all rows is a little below its cross-validated one, which is no agreement of rows."""
    y = np.random.default_rng(0).normal(size=300)
    problem = pose(pl.DataFrame({"x": np.arange(300.0) % 17, "y": y}), "y", task="regress", time="none")
    ceiling = unbracketed(problem, np.arange(300))
    assert not bracket(ceiling, 1.01 * (y - y.mean()) ** 2, None).known
