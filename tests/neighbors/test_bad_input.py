"""What a user may get wrong with neighbours: one sentence each, and unusual tables that are right."""

import re
import warnings

import numpy as np
import pytest

from learnt.cluster import DBSCAN, HDBSCAN
from learnt.neighbors import (
    BallTree,
    CondensedNearestNeighbor,
    KDTree,
    KernelDensity,
    KNeighborsClassifier,
    LocalOutlierFactor,
    NearestNeighbors,
    NeighborhoodComponentsAnalysis,
    RadiusNeighborsClassifier,
    VoronoiEditing,
)

X = np.random.default_rng(0).normal(size=(50, 3))
Y = (X[:, 0] > 0).astype(int)
WITH_NAN = np.where(np.arange(150).reshape(50, 3) == 10, np.nan, X)
CONSTANT = np.column_stack([X[:, :2], np.full(50, 7.0)])
ALGORITHMS = ["brute", "kd_tree", "ball_tree", "auto"]

SENTENCES = {
    "a metric that gives a row": (
        lambda: NearestNeighbors(metric=lambda a, b: a - b).fit(X).kneighbors(X),
        "one nonnegative number for every pair of rows",
    ),
    "weights of another shape": (
        lambda: KNeighborsClassifier(weights=lambda d: d[:, :1]).fit(X, Y).predict(X),
        "one number for each distance",
    ),
    "weights of another shape, radius": (
        lambda: RadiusNeighborsClassifier(9.0, weights=lambda d: d[:2]).fit(X, Y).predict(X),
        "one number for each distance",
    ),
    "k > n": (lambda: NearestNeighbors(n_neighbors=60).fit(X).kneighbors(X), "fewer neighbors or fit more rows"),
    "k > n, KD-tree": (lambda: KDTree(X).query(X, k=60), "the number of training points, 50"),
    "k > n, ball tree": (lambda: BallTree(X).query(X, k=60), "the number of training points, 50"),
    "not a metric: NaN": (
        lambda: NearestNeighbors(metric=lambda a, b: np.nan).fit(X).kneighbors(X),
        "The function given as metric is not one",
    ),
    "not a metric: text": (
        lambda: NearestNeighbors(metric=lambda a, b: "near").fit(X).kneighbors(X),
        "The function given as metric is not one",
    ),
    "not a metric: negative": (
        lambda: NearestNeighbors(metric=lambda a, b: (a - b).sum(), algorithm="ball_tree").fit(X),
        "is not a metric (it gives distances that are negative",
    ),
    "not a metric: squares": (
        lambda: NearestNeighbors(metric=lambda a, b: ((a - b) ** 2).sum(), algorithm="ball_tree").fit(X),
        "nearer by way of a third row",
    ),
    "NaN": (lambda: NearestNeighbors().fit(WITH_NAN), "NaN at row 3, column 1"),
    "NaN in a query": (lambda: NearestNeighbors().fit(X).kneighbors(WITH_NAN), "NaN at row 3, column 1"),
    "NaN in a tree": (lambda: KDTree(WITH_NAN), "NaN at row 3, column 1"),
    "NaN in a tree's query": (lambda: BallTree(X).query(WITH_NAN), "NaN at row 3, column 1"),
    "constant column": (
        lambda: NearestNeighbors(metric="seuclidean").fit(CONSTANT).kneighbors(),
        "column 2 is constant",
    ),
    "empty radius": (lambda: RadiusNeighborsClassifier(0.1).fit(X, Y).predict(X + 9), "try using larger radius"),
    "negative radius": (
        lambda: NearestNeighbors().fit(X).radius_neighbors(X, -1.0),
        "radius must be a number of at least 0; NearestNeighbors got -1.0",
    ),
    "radius of NaN": (lambda: NearestNeighbors().fit(X).radius_neighbors(X, np.nan), "radius must be a number"),
    "radius of text": (lambda: NearestNeighbors().fit(X).radius_neighbors(X, "wide"), "radius must be a number"),
    "another width": (
        lambda: NearestNeighbors().fit(X).kneighbors(X[:, :2]),
        "X has 2 features, but NearestNeighbors is",
    ),
    "another width, tree": (lambda: KDTree(X).query(X[:, :2]), "X has 2 features, and this KDTree 3"),
    "0 rows, tree": (lambda: BallTree(X[:0]), "at least one point"),
    "0 queries": (lambda: NearestNeighbors().fit(X).kneighbors(X[:0]), "0 sample(s)"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_errors_are_one_sentence(case):
    call, sentence = SENTENCES[case]
    with pytest.raises(ValueError, match=re.escape(sentence)) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "model",
    [
        NearestNeighbors(),
        KNeighborsClassifier(),
        KernelDensity(),
        LocalOutlierFactor(),
        NeighborhoodComponentsAnalysis(),
        CondensedNearestNeighbor(),
        VoronoiEditing(),
        DBSCAN(),
        HDBSCAN(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_rows_are_refused(model):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.fit(X[:0], Y[:0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_thousands_of_equal_rows_come_in_order_of_their_index(algorithm):
    rows = np.repeat(X[:2], 3000, axis=0)
    distances, index = NearestNeighbors(n_neighbors=4, algorithm=algorithm).fit(rows).kneighbors(rows[[10, 4000]])
    np.testing.assert_array_equal(distances, 0.0)
    np.testing.assert_array_equal(index, [[0, 1, 2, 3], [3000, 3001, 3002, 3003]])


@pytest.mark.parametrize("d", [1, 10_000])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_feature_and_ten_thousand(d, algorithm):
    rows = np.random.default_rng(1).normal(size=(40, d))
    distances, index = NearestNeighbors(n_neighbors=3, algorithm=algorithm).fit(rows).kneighbors()
    every = np.sqrt(np.sum((rows[:, None] - rows) ** 2, axis=2))
    np.fill_diagonal(every, np.inf)
    np.testing.assert_array_equal(index, np.argsort(every, axis=1)[:, :3])
    np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :3], rtol=4e-16 * (d + 4))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_constant_column_changes_nothing(algorithm):
    with_it = NearestNeighbors(algorithm=algorithm).fit(CONSTANT).kneighbors()
    without = NearestNeighbors(algorithm=algorithm).fit(CONSTANT[:, :2]).kneighbors()
    for a, b in zip(with_it, without, strict=True):
        np.testing.assert_array_equal(a, b)


def test_negative_distances_are_reported_but_not_rounding_errors():
    with pytest.warns(UserWarning, match="it gives negative numbers. The nearest are those with the lowest"):
        index = (
            NearestNeighbors(n_neighbors=1, metric=lambda a, b: -(a @ b)).fit(X).kneighbors(X, return_distance=False)
        )
    np.testing.assert_array_equal(index[:, 0], (X @ X.T).argmax(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NearestNeighbors(n_neighbors=1, metric=lambda a, b: np.linalg.norm(a - b) - 1e-12).fit(X).kneighbors(X)
