"""AdaBoost for numbers draws its rows as scikit-learn does, and its trees grow on them without a copy."""

from __future__ import annotations

import numpy as np
import pytest

from learnt.ensemble.adaboost._draws import draw_rows
from learnt.ensemble.adaboost._regressor import fit_drawn
from learnt.tree import DecisionTreeRegressor

ARRAYS = ("feature", "threshold", "children_left", "children_right", "missing_go_to_left", "impurity")
ARRAYS += ("n_node_samples", "weighted_n_node_samples", "value")


def no_fit(*_, **__):
    raise AssertionError("a copy of the rows was made")


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "copied"),
    [
        ({"max_depth": 3}, False),
        ({"min_samples_leaf": 4}, False),
        ({"min_samples_split": 0.1, "ccp_alpha": 0.01}, False),
        ({"max_features": 2}, False),
        ({"max_leaf_nodes": 12}, False),
        ({"splitter": "random", "max_depth": 5}, False),
        ({"monotonic_cst": [1, 0, 0, -1]}, False),
        ({"criterion": "absolute_error", "max_depth": 4}, True),
    ],
)
@pytest.mark.parametrize("kind", ["plain", "ties", "missing", "far", "tiny"])
def test_a_tree_on_drawn_rows_is_the_tree_of_a_copy_of_them(settings, copied, kind):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(700, 4)).astype(np.float32), rng.normal(size=700)
    if kind == "ties":
        X, y = np.round(X), np.round(y)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    y = y + 1e7 if kind == "far" else y * 1e-12 if kind == "tiny" else y
    p = rng.random(700) ** 3
    ours, theirs = (DecisionTreeRegressor(**{"random_state": 0, **settings}) for _ in range(2))
    if not copied:
        ours.fit = no_fit
    fit_drawn(ours, X, y, np.random.RandomState(0), p / p.sum(), {"check_input": False})
    rows = np.random.RandomState(0).choice(700, size=700, replace=True, p=p / p.sum())
    theirs.fit(X[rows], y[rows])
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name)
    vars(ours).pop("fit", None)
    assert vars(ours).keys() == vars(theirs).keys()
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("power", [0, 1, 8, 40])
def test_rows_are_drawn_as_numpy_draws_them(power):
    for seed in range(40):
        random = np.random.RandomState(seed)
        n = int(random.randint(1, 2000))
        p = random.random_sample(n) ** power * (random.random_sample(n) < 0.7)
        p[random.randint(n)] += 1e-6
        p /= p.sum()
        expected = np.random.RandomState(seed).choice(n, size=n, replace=True, p=p)
        drawn = np.random.RandomState(seed)
        np.testing.assert_array_equal(draw_rows(drawn, p), expected)
        assert drawn.randint(1 << 30) == _after(seed, n)


def _after(seed: int, n: int) -> int:
    """What the generator gives next after n draws by weight."""
    random = np.random.RandomState(seed)
    random.random_sample(n)
    return random.randint(1 << 30)
