"""Radius classifier and regressor against scikit-learn; blocks of queries against all at once."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import RadiusNeighborsClassifier as OracleClassifier
from sklearn.neighbors import RadiusNeighborsRegressor as OracleRegressor

from learnt.distances import _search
from learnt.distances._neighborhoods import Neighborhoods
from learnt.neighbors import NearestNeighbors, RadiusNeighborsClassifier, RadiusNeighborsRegressor

WEIGHTS = ["uniform", "distance", None, lambda d: 1.0 / (1.0 + d)]
NAMES = ["uniform", "distance", "none", "callable"]


def table(n=700, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.column_stack([X[:, 0] > 0, rng.integers(3, size=n), (X[:, 1] * 2).astype(int)])
    return X, Y


@pytest.mark.parametrize("weights", WEIGHTS, ids=NAMES)
@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
@pytest.mark.parametrize("outlier", ["most_frequent", 2])
def test_classes_equal_scikit_learn(metric, weights, outlier):
    X, Y = table()
    for y in (Y[:, 1], np.array(["d", "a", "c"])[Y[:, 1]]):
        if y.dtype.kind == "U" and outlier == 2:
            continue
        ours = RadiusNeighborsClassifier(0.6, weights=weights, metric=metric, outlier_label=outlier).fit(
            X[:400], y[:400]
        )
        theirs = OracleClassifier(0.6, weights=weights, metric=metric, outlier_label=outlier).fit(X[:400], y[:400])
        assert ours.outlier_label_ == theirs.outlier_label_
        np.testing.assert_allclose(ours.predict_proba(X[400:]), theirs.predict_proba(X[400:]), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(ours.predict(X[400:]), theirs.predict(X[400:]))


@pytest.mark.parametrize("weights", WEIGHTS, ids=NAMES)
def test_several_outputs_equal_scikit_learn(weights):
    X, Y = table()
    settings = {"radius": 0.5, "weights": weights, "outlier_label": [0, 1, -1]}
    ours, theirs = (kind(**settings).fit(X[:400], Y[:400]) for kind in (RadiusNeighborsClassifier, OracleClassifier))
    np.testing.assert_array_equal(ours.predict(X[400:]), theirs.predict(X[400:]))
    for a, b in zip(ours.predict_proba(X[400:]), theirs.predict_proba(X[400:]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    numbers = Y + X
    ours, theirs = (
        kind(1.5, weights=weights).fit(X[:400], numbers[:400]) for kind in (RadiusNeighborsRegressor, OracleRegressor)
    )
    near = np.abs(X[400:]).max(axis=1) < 1
    np.testing.assert_allclose(ours.predict(X[400:][near]), theirs.predict(X[400:][near]), rtol=1e-9, atol=1e-12)


def test_rows_without_neighbours():
    X, Y = table(100)
    far = np.full((1, 3), 50.0)
    refuses = RadiusNeighborsClassifier().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"No neighbors found for test samples array\(\[1\]\) \(1 in all\)") as caught:
        refuses.predict(np.concatenate([X[:1], far]))
    assert "\n" not in str(caught.value)
    labelled = RadiusNeighborsClassifier(outlier_label=7).fit(X, Y[:, 0].astype(int))
    with pytest.warns(UserWarning, match="not in training classes"):
        assert labelled.predict(far)[0] == 7
    with pytest.warns(UserWarning, match="not in training classes"):
        np.testing.assert_array_equal(labelled.predict_proba(far), [[0.0, 0.0]])
    model = RadiusNeighborsRegressor().fit(X, Y[:, 0].astype(float))
    with pytest.warns(UserWarning, match="no neighbors within specified radius"):
        assert np.isnan(model.predict(far)).all()


def test_an_empty_radius_finds_equal_rows_alone():
    X = np.array([[0.0], [0.0], [1.0]])
    model = RadiusNeighborsRegressor(0.0, weights="distance").fit(X, [1.0, 3.0, 9.0])
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [2.0, 9.0])
    with pytest.warns(UserWarning, match="predicting NaN"):
        assert np.isnan(model.predict(None)[2])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_blocks_of_queries_equal_all_queries(kind, monkeypatch):
    X, Y = table(300)
    X[np.abs(X) < 0.3] = 0
    X = kind(X)
    answers = []
    for pairs, fewest in ((1 << 22, 256), (500, 7)):
        monkeypatch.setattr(_search, "_PAIRS", pairs)
        monkeypatch.setattr(_search, "_FEWEST", fewest)
        model = RadiusNeighborsClassifier(1.0, weights="distance", outlier_label=0).fit(X, Y[:, 1])
        answers.append((model.predict_proba(X), model.predict_proba(None)))
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


def test_a_row_is_not_its_own_neighbour_where_x_is_none():
    X, Y = table(80)
    y = Y[:, 1]
    found = RadiusNeighborsClassifier(0.8, outlier_label=0).fit(X, y).predict_proba(None)
    for i in range(80):
        others = np.delete(np.arange(80), i)
        model = RadiusNeighborsClassifier(0.8, outlier_label=0).fit(X[others], y[others])
        np.testing.assert_allclose(found[i], model.predict_proba(X[i : i + 1])[0], rtol=1e-12)


def test_precomputed_distances():
    X, Y = table(60)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    given = RadiusNeighborsClassifier(1.0, metric="precomputed", outlier_label=0).fit(D[:40, :40], Y[:40, 1])
    plain = RadiusNeighborsClassifier(1.0, outlier_label=0).fit(X[:40], Y[:40, 1])
    np.testing.assert_array_equal(given.predict(D[40:, :40]), plain.predict(X[40:]))


def test_mistakes_get_one_sentence():
    X, Y = table(30)
    y = Y[:, 1]
    make = RadiusNeighborsClassifier
    for call, error, words in (
        (lambda: make(-1.0).fit(X, y), ValueError, "'radius' parameter"),
        (lambda: make(weights="far").fit(X, y), ValueError, "'weights' parameter"),
        (lambda: make(outlier_label=[0, 1]).fit(X, y), ValueError, "inconsistent with the output length"),
        (lambda: make(outlier_label=[[0], [1], [2]]).fit(X, Y), TypeError, "supposed to be a scalar"),
        (lambda: make(outlier_label="a").fit(X, y), TypeError, "inconsistent with classes"),
        (lambda: make(9.0, weights=lambda d: 0 * d).fit(X, y).predict(X), ValueError, "zero weights"),
        (lambda: make().fit(X, y).predict(X[:, :2]), ValueError, "2 features"),
        (lambda: make().fit(X, y).predict(X[:0]), ValueError, "0 sample"),
        (lambda: make(None).fit(X, y).predict(X), ValueError, "needs a radius"),
        (lambda: RadiusNeighborsRegressor().fit(X, y[:-1]), ValueError, "rows but y has 29"),
        (lambda: RadiusNeighborsRegressor().fit(np.where(X[3, 1] == X, np.nan, X), y), ValueError, "NaN"),
    ):
        with pytest.raises(error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
def test_ten_thousand_features_equal_scikit_learn(algorithm):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 10_000))
    X[30:] = X[:30] + 0.3 * rng.normal(size=(30, 10_000))  # pairs some 30 apart, and all else some 141
    y, Q = np.arange(60) % 30, X[:8] + 0.1
    ours, theirs = (kind(50.0, algorithm=algorithm).fit(X, y) for kind in (RadiusNeighborsClassifier, OracleClassifier))
    np.testing.assert_array_equal(ours.predict(Q), np.arange(8))
    np.testing.assert_array_equal(ours.predict_proba(Q), theirs.predict_proba(Q))
    means = RadiusNeighborsRegressor(50.0, algorithm=algorithm).fit(X, np.arange(60.0)).predict(Q)
    np.testing.assert_array_equal(means, np.arange(8) + 15.0)
    found = NearestNeighbors(radius=50.0, algorithm=algorithm).fit(X).radius_neighbors(Q, return_distance=False)
    assert [sorted(rows) for rows in found] == [[i, i + 30] for i in range(8)]


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
def test_a_radius_of_zero_among_rows_that_all_differ(algorithm):
    X, Y = table(50)
    nearest = NearestNeighbors(radius=0.0, algorithm=algorithm).fit(X)
    distances, index = nearest.radius_neighbors(X, sort_results=True)
    assert [rows.tolist() for rows in index] == [[i] for i in range(50)]
    np.testing.assert_array_equal(np.concatenate(distances), np.zeros(50))
    for rows in (None, X + 1e-9):  # a row is not its own neighbour
        distances, index = nearest.radius_neighbors(rows, sort_results=True)
        assert all(d.size == 0 for d in distances)
        assert all(i.size == 0 and i.dtype == np.int64 for i in index)
        assert nearest.radius_neighbors_graph(rows, mode="distance", sort_results=True).shape == (50, 50)
    y = Y[:, 1]
    with pytest.raises(ValueError, match="No neighbors found for test samples"):
        RadiusNeighborsClassifier(0.0, algorithm=algorithm).fit(X, y).predict(X + 1e-9)
    most = RadiusNeighborsClassifier(0.0, algorithm=algorithm, outlier_label="most_frequent").fit(X, y)
    frequent = np.unique(y)[np.argmax(np.unique(y, return_counts=True)[1])]
    np.testing.assert_array_equal(most.predict(X + 1e-9), np.full(50, frequent))
    np.testing.assert_array_equal(most.predict(X), y)


def test_thousands_of_equal_rows():
    X = np.zeros((3000, 2))
    y = np.arange(3000) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = RadiusNeighborsClassifier(0.1).fit(X, y).predict_proba(X[:500])
    np.testing.assert_array_equal(proba, np.full((500, 3), 1000 / 3000))
    assert NearestNeighbors(radius=0.0).fit(X).radius_neighbors_graph(X[:2]).nnz == 6000


@pytest.mark.parametrize("points", [8, 40, 4000], ids=["most", "some", "few"])
def test_neighbours_in_order_of_their_index(points):
    """Many of the points are looked through, few are sorted: the order is the same, and distances go along."""
    rng = np.random.default_rng(0)
    counts = np.array([0, 5, 1, 0, 7, 3, 0])
    indices = np.concatenate([rng.choice(points, size=c, replace=False) for c in counts])
    found = Neighborhoods(counts, indices, 0.5 * indices).by_index()
    expected = np.concatenate([np.sort(part) for part in np.split(indices, np.cumsum(counts)[:-1])])
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_array_equal(found.distances, 0.5 * expected)
    assert found.indices.dtype == np.int64


def test_crowded_indices_are_put_in_order_without_distances():
    """Most indices share a bucket, one is far away; equal counts of others are spread over all points."""
    rng = np.random.default_rng(1)
    crowded = np.append(rng.permutation(900), 10**6)
    spread = rng.choice(10**6, size=901, replace=False)
    found = Neighborhoods(np.array([901, 0, 901]), np.concatenate([crowded, spread]), np.zeros(0)).by_index()
    np.testing.assert_array_equal(found.indices, np.concatenate([np.sort(crowded), np.sort(spread)]))
    assert found.distances.size == 0


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("leaf_size", [1, 7, 30])
def test_sums_of_whole_nodes_are_those_of_the_points(algorithm, metric, leaf_size):
    # Integers: many points lie at the radius itself, others are equal, and every sum is exact in any order.
    rng = np.random.default_rng(3)
    X, Q = rng.integers(-4, 5, size=(501, 3)).astype(float), rng.integers(-5, 6, size=(60, 3)).astype(float)
    y, labels = rng.integers(-50, 50, size=(501, 2)).astype(float), rng.integers(5, size=501)
    settings = {"metric": metric, "leaf_size": leaf_size}
    for radius in (0.0, 1.0, 3.0, 5.0, 40.0):
        model, brute = (
            RadiusNeighborsRegressor(radius, algorithm=name, **settings).fit(X, y) for name in (algorithm, "brute")
        )
        assert None not in model._sums
        assert None in brute._sums
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a query without neighbours
            np.testing.assert_array_equal(model.predict(Q), brute.predict(Q))
            np.testing.assert_array_equal(model.predict(None), brute.predict(None))
        model, brute = (
            RadiusNeighborsClassifier(radius, algorithm=name, outlier_label=4, **settings).fit(X, labels)
            for name in (algorithm, "brute")
        )
        assert None not in model._sums
        assert None in brute._sums
        np.testing.assert_array_equal(model.predict_proba(Q), brute.predict_proba(Q))


def test_sums_follow_the_last_fit_and_the_weights():
    X, Y = table(300)
    model = RadiusNeighborsRegressor(1.0, algorithm="kd_tree").fit(X, Y[:, 1])
    model.fit(X[:200], X[:200, 0])
    fresh = RadiusNeighborsRegressor(1.0, algorithm="kd_tree").fit(X[:200], X[:200, 0])
    near = X[np.abs(X).max(axis=1) < 1]
    np.testing.assert_array_equal(model.predict(near), fresh.predict(near))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(near), fresh.predict(near))
    by_distance = RadiusNeighborsRegressor(1.0, algorithm="kd_tree", weights="distance").fit(X[:200], X[:200, 0])
    np.testing.assert_array_equal(by_distance.set_params(weights="uniform").predict(near), fresh.predict(near))
    fresh.set_params(weights="distance")
    expected = OracleRegressor(1.0, weights="distance").fit(X[:200], X[:200, 0]).predict(near)
    np.testing.assert_allclose(fresh.predict(near), expected, rtol=1e-9)


def test_many_classes_are_counted_without_sums_of_nodes():
    X, _ = table(300)
    labels = np.arange(300) // 2
    ours, theirs = (
        kind(1.0, algorithm="kd_tree", outlier_label=0).fit(X, labels)
        for kind in (RadiusNeighborsClassifier, OracleClassifier)
    )
    assert ours._sums == [None]
    np.testing.assert_allclose(ours.predict_proba(X + 0.1), theirs.predict_proba(X + 0.1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
def test_a_radius_for_each_query(algorithm):
    X, _ = table(200)
    model = NearestNeighbors(algorithm=algorithm).fit(X)
    radii = np.linspace(0.0, 2.0, 40)
    distances, index = model.radius_neighbors(X[:40], radius=radii, sort_results=True)
    for i, radius in enumerate(radii):
        alone = model.radius_neighbors(X[i : i + 1], radius=radius, sort_results=True)
        np.testing.assert_array_equal(distances[i], alone[0][0])
        np.testing.assert_array_equal(index[i], alone[1][0])
    graph = model.radius_neighbors_graph(radius=np.full(200, 0.7))
    assert (graph != model.radius_neighbors_graph(radius=0.7)).nnz == 0
    for wrong in (radii[:5], -radii, np.full(40, np.nan), np.full((40, 1), 1.0), ["1"] * 40):
        with pytest.raises(ValueError, match="one for each of the 40 rows"):
            model.radius_neighbors(X[:40], radius=wrong)
