"""Problems drawn at random, with rough models: full trees, one neighbour, as many columns as rows, constants, lines.

The regime that each is drawn for is only a hope; which one it is in, `truth` computes from many training sets.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.diagnosis.known_regimes import BIAS, CEILING, NOTHING, VARIANCE, Problem, bend, line, parts, saw, steps, two

from learnt.dummy import DummyClassifier, DummyRegressor
from learnt.ensemble import RandomForestClassifier, RandomForestRegressor
from learnt.kernel_ridge import KernelRidge
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

STRAIGHT = [  # at least so many columns, and the mean or the score of two classes
    (1, lambda X: X[:, 0]),
    (2, line),
    (2, lambda X: np.sign(X[:, 0]) + np.sign(X[:, 1])),
    (2, steps),
    (3, lambda X: X[:, 0] - X[:, 1] + X[:, 2]),
]
CURVED = [
    (1, lambda X: np.sin(4 * X[:, 0])),
    (1, lambda X: X[:, 0] ** 2),
    (2, bend),
    (2, lambda X: X[:, 0] * X[:, 1]),
    (2, lambda X: (X[:, :2] ** 2).sum(axis=1)),
    (2, lambda X: np.exp(-4 * (X[:, :2] ** 2).sum(axis=1))),
    (3, saw),
]
ROUGH = {  # for numbers and for classes
    VARIANCE: (
        [
            DecisionTreeRegressor(),
            KNeighborsRegressor(1),
            RandomForestRegressor(2, random_state=0),
            make_pipeline(PolynomialFeatures(9), LinearRegression()),
            KernelRidge(kernel="rbf", gamma=10.0, alpha=1e-3),
            LinearRegression(),
        ],
        [DecisionTreeClassifier(), KNeighborsClassifier(1), LogisticRegression(C=1e6)],
    ),
    BIAS: (
        [
            LinearRegression(),
            DummyRegressor(),
            DecisionTreeRegressor(max_depth=1),
            KNeighborsRegressor(100),
            Ridge(alpha=1e4),
            RandomForestRegressor(10, max_depth=1, random_state=0),
        ],
        [LogisticRegression(), DummyClassifier(), GaussianNB(), DecisionTreeClassifier(max_depth=1)],
    ),
    CEILING: (
        [LinearRegression(), KNeighborsRegressor(40), DecisionTreeRegressor(max_depth=2), Ridge()],
        [LogisticRegression(), GaussianNB(), KNeighborsClassifier(60), DecisionTreeClassifier(max_depth=2)],
    ),
    NOTHING: (
        [
            DecisionTreeRegressor(),
            KNeighborsRegressor(1),
            KNeighborsRegressor(15),
            LinearRegression(),
            DummyRegressor(),
            RandomForestRegressor(10, random_state=0),
        ],
        [
            DecisionTreeClassifier(),
            KNeighborsClassifier(1),
            LogisticRegression(C=1e6),
            GaussianNB(),
            DummyClassifier(),
            RandomForestClassifier(10, random_state=0),
        ],
    ),
}
ROWS = {VARIANCE: (60, 100, 200, 400), BIAS: (150, 300, 600), CEILING: (300, 600, 1000), NOTHING: (60, 100, 200, 400)}
COLUMNS = {VARIANCE: (2, 3, 5, 20), BIAS: (1, 2, 3, 5, 10), CEILING: (1, 2, 3, 5, 8), NOTHING: (1, 2, 5, 10, 20)}


def drawn(regime: str, rng: np.random.Generator) -> Problem:
    """A problem that may be of the regime."""
    classify, normal = bool(rng.random() < 0.45), bool(rng.random() < 0.4)
    models = ROUGH[regime][classify]
    model = models[rng.integers(len(models))]
    n, p = int(rng.choice(ROWS[regime])), int(rng.choice(COLUMNS[regime]))
    curved = regime == BIAS or (regime == VARIANCE and n >= 200 and p <= 5 and rng.random() < 0.5)
    linear = isinstance(model, LinearRegression | LogisticRegression)
    if regime == VARIANCE and linear:  # nearly as many columns as rows
        p, curved = int(n * rng.choice([0.2, 0.4] if classify else [0.3, 0.5, 0.7])), False
    if regime == VARIANCE and hasattr(model, "steps"):
        p = int(rng.integers(1, 4))
    shapes = [f for least, f in (CURVED if curved else STRAIGHT) if least <= p]
    shape = shapes[rng.integers(len(shapes))]
    reference = Problem(regime, model, shape, 0.0, n, p, normal).draw(rng, 4000)[2]
    center, scale = reference.mean(), 0.0 if regime == NOTHING else 1 / reference.std()
    strength, sigma = float(rng.choice([2.0, 4.0])), float(rng.choice([0.3, 0.6, 1.0]))
    if regime == CEILING:
        strength, sigma = strength / 2, sigma + 0.3

    def mean(X):
        return (shape(X) - center) * scale

    return Problem(
        regime,
        model,
        (lambda X: two(strength * mean(X))) if classify else mean,
        None if classify else sigma,
        n,
        p,
        normal,
    )


def truth(problem: Problem, seed: int) -> str | None:
    """The regime by noise, bias and variance of many training sets; None where it is between two."""
    noise, bias, variance, constant = parts(problem, sets=8, seed=seed)
    loss = noise + bias + variance
    if noise >= 0.999 * constant:
        return NOTHING
    if variance >= max(0.2 * loss, 2 * bias):
        return VARIANCE
    if bias >= max(0.25 * loss, 2 * variance):
        return BIAS
    return CEILING if noise >= 0.95 * loss and noise <= 0.85 * constant else None


def problems(regime: str, count: int, seed: int) -> Iterator[tuple[Problem, np.random.Generator]]:
    """So many problems that are of the regime in truth, each with a generator for its rows."""
    found = 0
    while found < count:
        seed += 1
        rng = np.random.default_rng([seed, sorted(ROUGH).index(regime)])
        problem = drawn(regime, rng)
        if truth(problem, seed) == regime:
            found += 1
            yield problem, rng
