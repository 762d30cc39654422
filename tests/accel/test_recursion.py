"""Partial dependence by recursion: what a tree says when only some columns are known."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.inspection import partial_dependence

from learnt.accel import install, uninstall
from learnt.accel._classes import BY_RECURSION

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)).astype(np.float32).astype(float)
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.normal(size=150)
CLASSES = np.digitize(Y, [-0.5, 0.5])
ROOMS = {"DecisionTreeRegressor": sklearn.tree}
SETTINGS = {"HistGradientBoosting": {"max_iter": 4}, "GradientBoosting": {"n_estimators": 4, "random_state": 0},
            "DecisionTree": {"max_depth": 4}, "RandomForest": {"n_estimators": 4, "random_state": 0}}  # fmt: skip


@pytest.fixture(autouse=True)
def _installed():
    install()
    yield
    uninstall()


def fitted(name, target=None):
    settings = next(value for key, value in SETTINGS.items() if name.startswith(key))
    target = (CLASSES if name.endswith("Classifier") else Y) if target is None else target
    return getattr(ROOMS.get(name, sklearn.ensemble), name)(**settings).fit(X, target)


@pytest.mark.parametrize("name", BY_RECURSION)
@pytest.mark.sweep
def test_where_all_columns_are_known_it_is_the_score_less_a_constant(name):
    for target in (None, CLASSES > 0) if name.endswith("Classifier") else (None,):
        model = fitted(name, target)
        score = model.decision_function(X) if name.endswith("Classifier") else model.predict(X)
        found = model._compute_partial_dependence_recursion(X, np.arange(4))
        rest = score.reshape(len(X), -1).T - found
        np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), atol=1e-12)
        assert np.ptp(found, axis=-1).min() > 0.1


def known(tree, point, columns, node=0):
    """The definition, one node at a time."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left < 0:
        return tree.value[node, 0, 0]
    if tree.feature[node] in columns:
        x = point[columns.index(tree.feature[node])]
        return known(tree, point, columns, left if x <= tree.threshold[node] else right)
    rows = tree.weighted_n_node_samples
    both = rows[left] * known(tree, point, columns, left) + rows[right] * known(tree, point, columns, right)
    return both / rows[node]


@pytest.mark.parametrize("columns", [[1], [2, 0]])
def test_one_tree_and_a_forest_by_the_definition_through_scikit_learns_function(columns):
    for name in ("DecisionTreeRegressor", "RandomForestRegressor"):
        model = fitted(name)
        found = partial_dependence(model, X, columns, grid_resolution=4, method="recursion")
        points = np.stack(np.meshgrid(*found["grid_values"], indexing="ij"), axis=-1).reshape(-1, len(columns))
        trees = [member.tree_ for member in getattr(model, "estimators_", [model])]
        expected = [np.mean([known(tree, point, columns) for tree in trees]) for point in points.astype(np.float32)]
        np.testing.assert_allclose(found["average"].ravel(), expected, rtol=1e-10)


def test_boosted_classifiers_answer_with_scores_as_scikit_learns_do():
    for name in ("GradientBoostingClassifier", "HistGradientBoostingClassifier"):
        model = fitted(name, CLASSES > 0)
        found = partial_dependence(model, X, [2], grid_resolution=4)
        expected = model._compute_partial_dependence_recursion(found["grid_values"][0][:, None], [2])
        np.testing.assert_array_equal(found["average"], expected)
        assert found["average"].min() < 0  # no probability


def test_trees_that_split_on_categories_are_refused():
    coded = np.column_stack([rng.integers(0, 5, 150), X[:, 0]])
    model = sklearn.ensemble.HistGradientBoostingRegressor(categorical_features=[0], max_iter=2)
    model.fit(coded, coded[:, 0] % 2 + coded[:, 1])
    with pytest.raises(NotImplementedError, match="method='brute'"):
        partial_dependence(model, coded, [1])
    assert partial_dependence(model, coded, [1], method="brute")["average"].shape == (1, 100)
