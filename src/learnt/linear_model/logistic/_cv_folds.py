"""Paths of logistic regressions over penalties, one a fold, and their scores on what the fold left out.

A path goes from strong to weak penalties, each fit starting from the one before. Folds are tasks on the pool: inside,
everything runs on one thread.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.classification.linear_classifier import block_log_probabilities, block_probabilities, block_scores
from learnt.engine.rows.blocks import Block
from learnt.linear_model.logistic._l1 import solve_sparse
from learnt.linear_model.logistic._loss import mistakes
from learnt.linear_model.logistic._problem import total
from learnt.linear_model.logistic._regression import pose_classes
from learnt.linear_model.logistic._strategy import Task, solve

_ENOUGH = 0.75  # the power of the tolerance within which a fit that stopped early counts as converged all the same
_IMPOSSIBLE = 36.0  # below the mean intercept: the score of a class that a fold has no row of, a chance of 1e-16


class Path(NamedTuple):
    """Coefficients and intercepts (Cs × K × (d + 1)), steps, and how far above its minimum each fit may have ended.

    That is infinite where there is no minimum: without a penalty, between classes that can be told apart exactly.
    """

    theta: np.ndarray
    n_iter: np.ndarray
    left: np.ndarray


class Settings(NamedTuple):
    """What all fits of a search have in common."""

    n_classes: int
    fit_intercept: bool
    solver: str
    tol: float  # the distance from the minimum, relative to it
    max_iter: int
    n_jobs: int | None


def squared_path(X: Any, codes: np.ndarray, w: Any, Cs: Any, settings: Settings, start: np.ndarray | None) -> Path:
    """With the squared penalty, for every C in turn."""
    rows, present, target, counts, weight = pose_classes(X, codes, w, None, settings.n_jobs)
    theta = None if start is None else start[present] if start.shape[0] > 1 else start
    found, n_iter, left = [], [], []
    for C in Cs:
        task = Task(
            rows,
            target,
            alpha=1.0 / C,
            fit_intercept=settings.fit_intercept,
            counts=counts,
            weight=weight,
            tol=settings.tol,
            max_iter=settings.max_iter,
            solver=settings.solver,
            start=theta,
        )
        solution = solve(task._replace(watch=_separated(task)) if task.alpha == 0.0 else task)
        theta, outcome = solution.theta, solution.outcome
        found.append(_all_classes(theta, present, settings.n_classes))
        n_iter.append(outcome.n_iter)
        done = outcome.status == "converged" or outcome.value <= 0
        left.append(0.0 if done else np.inf if outcome.status == "stopped" else outcome.gap / outcome.value)
    return Path(np.array(found), np.array(n_iter), np.array(left))


def _separated(task: Task) -> Any:
    """Stops a fit without a penalty where the classes are apart: larger coefficients would be better for ever."""

    def watch(theta: Any, value: float, n_iter: int) -> bool:
        if value >= 0.5 * math.log(2) * task.weight:
            return False
        return total(task.rows, mistakes, theta(), task.target)[0] == 0

    return watch


def mixed_path(
    X: Any, codes: np.ndarray, w: Any, Cs: Any, ratio: float, settings: Settings, start: np.ndarray | None
) -> Path:
    """With a share of the absolute penalty, for every C in turn; without any where C is infinite."""
    if w is None:
        w = np.ones(len(codes))
    elif not (w > 0).all():
        X, codes, w = X[w > 0], codes[w > 0], w[w > 0]
    present, own = np.unique(codes, return_inverse=True)
    theta = None if start is None else start[present] if start.shape[0] > 1 else start
    enough = settings.tol**_ENOUGH
    found, n_iter, left = [], [], []
    for C in Cs:
        if np.isinf(C):
            of_all_classes = None if theta is None else _all_classes(theta, present, settings.n_classes)
            path = squared_path(X, codes, w, [C], settings, of_all_classes)
            found.append(path.theta[0])
            n_iter.append(int(path.n_iter[0]))
            left.append(float(path.left[0]))
            continue
        solution = solve_sparse(
            X,
            own,
            w,
            len(present),
            ratio / C,
            (1.0 - ratio) / C,
            fit_intercept=settings.fit_intercept,
            tol=settings.tol,
            max_iter=settings.max_iter,
            start=theta,
        )
        theta = solution.theta
        found.append(_all_classes(theta, present, settings.n_classes))
        n_iter.append(solution.n_iter)
        far = solution.gap / solution.value if solution.value > 0 else 0.0
        left.append(0.0 if solution.status == "converged" or far <= enough else far)
    return Path(np.array(found), np.array(n_iter), np.array(left))


def only_one(code: int, d: int, n: int, n_classes: int) -> Path:
    """The path of a fold with rows of one class: the others are next to impossible, whatever C."""
    theta = _all_classes(np.zeros((1, d + 1)), np.array([code]), n_classes)
    return Path(np.tile(theta, (n, 1, 1)), np.zeros(n, dtype=int), np.zeros(n))


def _all_classes(theta: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    """Coefficients of all classes, where some rows of a few were fitted: the others are next to impossible."""
    if len(present) == n_classes:
        return theta
    if theta.shape[0] == 1:
        theta = np.concatenate([np.zeros_like(theta), theta])
    full = np.zeros((n_classes, theta.shape[1]))
    full[:, -1] = theta[:, -1].mean() - _IMPOSSIBLE
    full[present] = theta[-len(present) :]
    return full if n_classes > 2 else full[1:] - full[:1]


def accuracies(X: Any, codes: np.ndarray, w: Any, theta: np.ndarray) -> np.ndarray:
    """The share of rows whose class has the highest score, for every C: one product serves all."""
    scores = _scores(X, theta)
    if theta.shape[1] == 1:
        right = (scores[..., 0] > 0) == codes[:, None]
    else:
        right = scores.argmax(axis=2) == codes[:, None]
    return np.average(right, axis=0, weights=w)


def squared_errors(X: Any, codes: np.ndarray, w: Any, theta: np.ndarray) -> np.ndarray:
    """Minus the Brier score, for every C: of two classes the error of one, of more the sum over all."""
    own = np.eye(max(theta.shape[1], 2))[codes]
    means = []
    for one in theta:
        errors = np.sum((block_probabilities(Block(X), one[:, :-1], one[:, -1]) - own) ** 2, axis=1)
        means.append(-np.average(errors, weights=w) * (0.5 if theta.shape[1] == 1 else 1.0))
    return np.array(means)


def log_likelihoods(X: Any, codes: np.ndarray, w: Any, theta: np.ndarray) -> np.ndarray:
    """The mean logarithm of the probability of the class that was seen, for every C."""
    means = []
    for one in theta:
        chances = block_log_probabilities(Block(X), one[:, :-1], one[:, -1])
        means.append(np.average(chances[np.arange(len(codes)), codes], weights=w))
    return np.array(means)


def _scores(X: Any, theta: np.ndarray) -> np.ndarray:
    """n × Cs × K."""
    flat = theta.reshape(-1, theta.shape[2])
    scores = np.asarray(block_scores(Block(X), flat[:, :-1], flat[:, -1]))
    return scores.reshape(-1, *theta.shape[:2])
