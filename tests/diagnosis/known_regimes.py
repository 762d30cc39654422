"""Problems whose truth is known: 20, and 20 of other forms, with the noise, bias and variance of a model on each."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Lasso as SparseLines
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR

from learnt.ensemble import RandomForestClassifier, RandomForestRegressor
from learnt.kernel_ridge import KernelRidge
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor


class Problem(NamedTuple):
    """`truth(X)` is the mean of y, or the probabilities of the classes (n, classes); `sigma` None means classes."""

    regime: str
    model: Any
    truth: Callable[[np.ndarray], np.ndarray]
    sigma: float | None
    n: int
    p: int
    normal: bool = False  # columns from the normal law, not the uniform one on [−1.5, 1.5]

    def draw(self, rng, n):
        X = rng.normal(size=(n, self.p)) if self.normal else rng.uniform(-1.5, 1.5, size=(n, self.p))
        mean = self.truth(X)
        if self.sigma is None:
            return X, (rng.uniform(size=n)[:, None] > np.cumsum(mean, axis=1)[:, :-1]).sum(axis=1), mean
        return X, mean + self.sigma * rng.normal(size=n), mean


def parts(problem, sets=25, seed=0):
    """Noise, bias and variance of the squared loss (half the Brier score) at 4/5 of n rows, and the constant's loss."""
    rng = np.random.default_rng(seed)
    X, _, mean = problem.draw(rng, 2000)
    found = []
    for _ in range(sets):
        X_s, y_s, _ = problem.draw(rng, round(0.8 * problem.n))
        model = clone(problem.model).fit(X_s, y_s)
        found.append(model.predict(X) if problem.sigma is not None else model.predict_proba(X))
    found = np.array(found)
    half = 1.0 if problem.sigma is not None else 0.5
    per_row = (lambda a: a) if problem.sigma is not None else (lambda a: a.sum(axis=-1))
    variance = half * per_row(found.var(axis=0, ddof=1)).mean()
    bias = half * per_row((found.mean(axis=0) - mean) ** 2).mean() - variance / sets
    noise = problem.sigma**2 if problem.sigma is not None else half * per_row(mean * (1 - mean)).mean()
    return noise, max(bias, 0.0), variance, noise + half * per_row(mean.var(axis=0))


def two(score):
    """Probabilities of two classes from a score."""
    one = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - one, one])


def several(*scores):
    """Probabilities of several classes from their scores."""
    raised = np.exp(np.column_stack(scores))
    return raised / raised.sum(axis=1, keepdims=True)


def bend(X):
    return np.sin(3 * X[:, 0]) + X[:, 1] ** 2


def line(X):
    return X[:, 0] + 2 * X[:, 1]


def steps(X):
    return np.sign(X[:, 0]) + (X[:, 1] > 0.3) * 1.5


def friedman(X):
    u = (X + 1.5) / 3
    return 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4]


BIAS, VARIANCE, CEILING, NOTHING = "high bias", "high variance", "near the ceiling", "no signal"

FIRST = {
    # too simple
    "a line through waves": Problem(BIAS, LinearRegression(), bend, 0.2, 1000, 2),
    "a line through a product": Problem(BIAS, LinearRegression(), lambda X: X[:, 0] * X[:, 1] + X[:, 0], 0.1, 1000, 2),
    "a line between crossed classes": Problem(
        BIAS, LogisticRegression(), lambda X: two(6 * X[:, 0] * X[:, 1] - X[:, 0]), None, 1000, 2
    ),
    "a stump on friedman": Problem(BIAS, DecisionTreeRegressor(max_depth=1), friedman, 1.0, 1000, 5),
    "far too many neighbours": Problem(BIAS, KNeighborsRegressor(400), bend, 0.2, 1000, 2),
    "ridge far too strong": Problem(BIAS, Ridge(alpha=20000.0), line, 0.5, 800, 3),
    "a line round a ring": Problem(
        BIAS, LogisticRegression(), lambda X: two(4 * (X[:, 0] ** 2 + X[:, 1] ** 2 - 1.4)), None, 1200, 2
    ),
    # changes too much with the rows
    "one neighbour, a line": Problem(VARIANCE, KNeighborsRegressor(1), line, 1.0, 1000, 2),
    "one neighbour, classes": Problem(VARIANCE, KNeighborsClassifier(1), lambda X: two(2 * X[:, 0]), None, 1000, 2),
    "a full tree": Problem(VARIANCE, DecisionTreeRegressor(), bend, 0.7, 800, 2),
    "a full tree, three classes": Problem(
        VARIANCE, DecisionTreeClassifier(), lambda X: several(2 * X[:, 0], 2 * X[:, 1], -X[:, 0]), None, 900, 2
    ),
    "as many columns as a third of the rows": Problem(
        VARIANCE, LinearRegression(), lambda X: X[:, :3].sum(axis=1), 0.7, 120, 32, normal=True
    ),
    "a polynomial of degree 12": Problem(
        VARIANCE, make_pipeline(PolynomialFeatures(12), LinearRegression()), bend, 0.7, 300, 2
    ),
    # as good as can be
    "a line through a line": Problem(CEILING, LinearRegression(), line, 1.0, 1000, 2),
    "logistic on its own law": Problem(CEILING, LogisticRegression(), lambda X: two(2 * X[:, 0]), None, 1000, 2),
    "thirty neighbours, much noise": Problem(CEILING, KNeighborsRegressor(30), line, 2.0, 1000, 2),
    "shallow tree on steps": Problem(CEILING, DecisionTreeRegressor(max_depth=3), steps, 0.8, 1500, 2),
    "gaussian classes, naive bayes": Problem(
        CEILING, GaussianNB(), lambda X: two(2 * X[:, 0] + X[:, 1]), None, 1500, 2, normal=True
    ),
    # nothing to learn
    "a line through nothing": Problem(NOTHING, LinearRegression(), lambda X: 0.0 * X[:, 0], 1.0, 1000, 2),
    "classes by a coin": Problem(NOTHING, LogisticRegression(), lambda X: two(0 * X[:, 0] - 1), None, 1000, 2),
}


def waves(X):
    return np.cos(4 * X[:, 0]) * (1 + X[:, 1])


def saw(X):
    return np.abs(X[:, 0]) + np.abs(X[:, 1] - 0.5) + 0.5 * X[:, 2]


OTHER = {
    "a line through waves of one column": Problem(BIAS, Ridge(), lambda X: np.sin(4 * X[:, 0]), 0.3, 500, 1),
    "a line through a saw": Problem(BIAS, LinearRegression(), saw, 0.15, 1500, 3, normal=True),
    "naive bayes on crossed columns": Problem(
        BIAS, GaussianNB(), lambda X: two(5 * X[:, 0] * X[:, 1]), None, 1500, 2, normal=True
    ),
    "a small forest of stumps": Problem(
        BIAS, RandomForestRegressor(20, max_depth=2, random_state=0), friedman, 1.0, 1000, 5
    ),
    "three classes in rings": Problem(
        BIAS,
        LogisticRegression(),
        lambda X: several(3 - 3 * (X**2).sum(axis=1), 0 * X[:, 0], (X**2).sum(axis=1)),
        None,
        1500,
        2,
    ),
    "kernel ridge, width too large": Problem(
        BIAS, KernelRidge(kernel="rbf", gamma=0.02, alpha=5.0), waves, 0.3, 500, 2
    ),
    "lasso far too strong": Problem(BIAS, SparseLines(alpha=1.2), line, 0.5, 600, 4),
    "many neighbours, classes": Problem(
        BIAS, KNeighborsClassifier(500), lambda X: two(5 * np.sin(3 * X[:, 0])), None, 1200, 1
    ),
    "one neighbour, waves": Problem(VARIANCE, KNeighborsRegressor(1), waves, 0.6, 1500, 2),
    "kernel ridge, far too narrow": Problem(
        VARIANCE, KernelRidge(kernel="rbf", gamma=30.0, alpha=1e-3), lambda X: X[:, 0] + X[:, 1], 0.8, 400, 2
    ),
    "a full tree on a line": Problem(VARIANCE, DecisionTreeRegressor(), line, 1.0, 600, 3, normal=True),
    "two neighbours, classes": Problem(
        VARIANCE, KNeighborsClassifier(2), lambda X: two(3 * X.sum(axis=1)), None, 800, 3
    ),
    "logistic with 40 columns": Problem(
        VARIANCE, LogisticRegression(C=1e6), lambda X: two(X[:, 0] - X[:, 1]), None, 250, 40, normal=True
    ),
    "a narrow support vector machine": Problem(VARIANCE, SVR(C=100.0, gamma=20.0), bend, 0.7, 400, 2),
    "a polynomial of degree 9": Problem(
        VARIANCE, make_pipeline(PolynomialFeatures(9), LinearRegression()), saw, 0.8, 400, 3
    ),
    "a line through a line, normal": Problem(
        CEILING, Ridge(), lambda X: X @ [1.0, -1.0, 0.5], 0.6, 1200, 3, normal=True
    ),
    "a forest of large leaves": Problem(
        CEILING, RandomForestRegressor(50, min_samples_leaf=40, random_state=0), lambda X: X[:, 0], 1.0, 1500, 2
    ),
    "fifty neighbours, classes": Problem(CEILING, KNeighborsClassifier(50), lambda X: two(X[:, 0]), None, 1500, 2),
    "three gaussians": Problem(
        CEILING, LogisticRegression(), lambda X: several(X[:, 0], X[:, 1], 0 * X[:, 0]), None, 1500, 2, normal=True
    ),
    "forest on nothing": Problem(
        NOTHING,
        RandomForestClassifier(60, min_samples_leaf=50, random_state=0),
        lambda X: two(0 * X[:, 0]),
        None,
        800,
        3,
    ),
}
