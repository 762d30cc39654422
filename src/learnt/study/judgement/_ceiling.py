"""Step 3, the floor and the ceiling: the best constant, and how good any model could be on these columns."""

from __future__ import annotations

import math
import warnings

import numpy as np

from learnt.diagnosis import bootstrap_interval, row_losses, wilson_interval
from learnt.engine.random import stream
from learnt.preprocessing import TableEncoder
from learnt.study.facts import BayesError, Bracket, Ceiling, Constant, Noise
from learnt.study.table._problem import Problem

MOST_ROWS = 4000


def floor_and_ceiling(problem: Problem, development: np.ndarray, seed: int) -> Ceiling:
    """Loss of the best constant on the development rows, a bracket of the best possible error, and whether any
    regularised model finds a signal in the columns.

    Nearest neighbours are only as good as the distance they are found by, so several distances are tried, each a
    scaling of the same columns, and the one with the smallest bound is kept: every one of them bounds the same
    best possible error from above, and the smallest is the sharpest. `bracket` compares it with what models reach.
    """
    # Imported here, so that the race need not wait for it
    from learnt.diagnosis import noise_bounds, probe

    rows = development
    if len(rows) > MOST_ROWS:
        rows = np.sort(stream(seed, 3).permutation(rows)[:MOST_ROWS])
    y = problem.y[rows]
    targets = (y[:, None] == np.array(problem.classes)[None, :]).astype(float) if problem.classify else y[:, None]
    distances = _distances(problem, rows, targets)
    tried = [(noise_bounds(X, targets, max_rows=MOST_ROWS, random_state=seed), name, X) for name, X in distances]
    noise, name, X = min(tried, key=lambda t: t[0].upper)
    half = 0.5 if problem.classify else 1.0  # half the Brier score, as in `row_losses`
    return Ceiling(
        constant=floor(problem, development),
        noise=Noise(half * noise.lower, half * noise.upper, half * noise.low, half * noise.high),
        signal=probe(distances[0][1], targets, random_state=seed).signal,
        distance=name,
        rows=len(rows),
        bayes_error=_bayes_error(X, y, seed) if problem.classify else None,
    )


def _bayes_error(X: np.ndarray, y: np.ndarray, seed: int) -> BayesError:
    from learnt.diagnosis import bayes_error_bounds

    found = bayes_error_bounds(X, y, max_rows=MOST_ROWS, random_state=seed)
    return BayesError(found.lower, found.upper, found.low, found.high)


def unbracketed(problem: Problem, development: np.ndarray) -> Ceiling:
    """The same without nearest neighbours: the best possible loss is between 0 and the constant's."""
    constant = floor(problem, development)
    bayes = None if constant.error is None else BayesError(0.0, constant.error, 0.0, constant.error)
    return Ceiling(constant, Noise(0.0, constant.loss, 0.0, constant.loss), None, None, 0, bayes)


def bracket(ceiling: Ceiling, losses: np.ndarray, wrong: np.ndarray | None, level: float = 0.95) -> Bracket:
    """The best possible error in the units of the headline: from neighbours, and never above what a model has reached.

    Parameters
    ----------
    ceiling : what `floor_and_ceiling` found.
    losses : squared losses of the chosen model on development rows that it had not seen.
    wrong : where classes are predicted, whether it was wrong on each of them.

    The bound from below is that of neighbours less what their distance may have added, and 0 where a model proves it
    too high; that from above is the smaller of theirs and the model's own, each with its confidence. Returned as error
    rates of classes or as roots of squared errors; `known` says whether the neighbours add anything to the model's own
    error.
    """
    loss = bootstrap_interval(losses, level=level)
    noise = ceiling.noise
    low = noise.low if noise.low <= loss.estimate else 0.0
    high = min(noise.high, loss.high)
    if wrong is None:
        lower, upper = math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
        reached, constant = math.sqrt(loss.estimate), ceiling.constant.rmse
    else:
        assert ceiling.bayes_error is not None
        error = wilson_interval(float(np.sum(wrong)), len(wrong), level)
        lower = ceiling.bayes_error.low if low > 0 else 0.0
        lower = lower if lower <= error.estimate else 0.0
        upper = max(min(2 * high, error.high), lower)  # 1 − max p ≤ 1 − Σ p² = 2 · noise
        reached, constant = error.estimate, ceiling.constant.error
    assert constant is not None
    known = lower > 0.02 * constant or upper < min(reached, 0.98 * constant)
    return Bracket(lower, upper, reached, bool(known))


def floor(problem: Problem, development: np.ndarray) -> Constant:
    """The best constant and its loss."""
    y = problem.y[development]
    if problem.classes is None:
        return Constant(float(y.mean()), float(y.var()), rmse=float(y.std()))
    shares = np.array([np.mean(y == c) for c in problem.classes])
    loss = row_losses(y, np.tile(shares, (len(y), 1)), np.array(problem.classes)).mean()
    return Constant(problem.classes[int(shares.argmax())], float(loss), error=float(1 - shares.max()))


def _distances(problem: Problem, rows: np.ndarray, targets: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The columns as numbers, scaled in three ways.

    Equally, by their correlation with the target, by their coefficients in a ridge regression.
    """
    from learnt.preprocessing import StandardScaler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = TableEncoder(numeric="squash").fit_transform(problem.X[rows], problem.y[rows])
        X = np.asarray(StandardScaler().fit_transform(X), dtype=np.float64)
    centered = targets - targets.mean(axis=0)
    spread = np.where(centered.std(axis=0) > 0, centered.std(axis=0), 1.0)
    correlation = np.abs(X.T @ (centered / spread) / len(X)).max(axis=1)
    correlation[correlation < 2 / np.sqrt(len(X))] = 0.0  # not significant
    correlation = np.maximum(correlation, _explained(X, centered))
    weight = np.sqrt((_ridge(X, centered, 0.01 * len(X)) ** 2).sum(axis=1))
    distances = [("all columns alike", X)]
    for name, scale in (("columns by what they explain", correlation), ("columns by their weight", weight)):
        if scale.max() > 0:
            distances.append((name, X * (scale / scale.max())))
    return distances


def _ridge(X: np.ndarray, centered: np.ndarray, alpha: float) -> np.ndarray:
    """The coefficients (columns, targets) that minimise ‖centered − X w‖² + alpha ‖w‖²; X has columns of mean 0."""
    n, d = X.shape
    if d <= n:
        return np.linalg.solve(X.T @ X + alpha * np.eye(d), X.T @ centered)
    return X.T @ np.linalg.solve(X @ X.T + alpha * np.eye(n), centered)


def _explained(X: np.ndarray, centered: np.ndarray) -> np.ndarray:
    """Of each column, the root of the share of the target that it explains alone, whatever the shape of the curve.

    The target's differences between neighbours along the column, against its variance (von Neumann's ratio).
    """
    whole = float((centered**2).sum()) / len(X)
    shares = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        along = centered[np.argsort(X[:, j], kind="stable")]
        shares[j] = 1 - 0.5 * float(((along[1:] - along[:-1]) ** 2).sum()) / (len(X) - 1) / whole if whole > 0 else 0.0
    shares[shares < 3 / np.sqrt(len(X))] = 0.0  # not significant
    return np.sqrt(shares)
