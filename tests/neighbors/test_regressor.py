"""KNeighborsRegressor against scikit-learn and the formula."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsRegressor as Oracle

from learnt.neighbors import KNeighborsRegressor

WEIGHTS = ["uniform", "distance", None, lambda d: np.exp(-d)]


def table(n=900, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.column_stack([X[:, 0] ** 2 + rng.normal(size=n), X.sum(axis=1), np.arange(n) % 5])


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "distance", "none", "callable"])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "cosine"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_predictions_equal_scikit_learn(metric, weights, outputs):
    X, Y = table()
    y = Y if outputs == 3 else Y[:, 0]
    T, Q = X[:600], np.concatenate([X[600:], X[:5]])  # five queries are training rows: at distance 0
    ours = KNeighborsRegressor(7, weights=weights, metric=metric).fit(T, y[:600])
    theirs = Oracle(7, weights=weights, metric=metric, algorithm="brute").fit(T, y[:600])
    found, expected = ours.predict(Q), theirs.predict(Q)
    if metric == "cosine" and weights == "distance":  # at a cosine distance of rounding, scikit-learn's weight is noise
        found, expected = found[:-5], expected[:-5]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
    assert found.shape == expected.shape
    np.testing.assert_allclose(ours.score(X[600:], y[600:]), theirs.score(X[600:], y[600:]), rtol=1e-7)


def test_the_formula():
    X, Y = table(200)
    model = KNeighborsRegressor(6, weights="distance").fit(X[::2], Y[::2])
    distances, index = model.kneighbors(X[1::2])
    for i, found in enumerate(model.predict(X[1::2])):
        v = 1 / distances[i]
        np.testing.assert_allclose(found, v @ Y[::2][index[i]] / v.sum(), rtol=1e-12)


def test_only_rows_at_distance_0_vote():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    model = KNeighborsRegressor(4, weights="distance").fit(X, [0.0, 10.0, 20.0, 99.0])
    np.testing.assert_array_equal(model.predict([[1.0], [0.0]]), [15.0, 0.0])


def test_the_shape_of_y_is_the_shape_of_the_answer():
    X, Y = table(40)
    assert KNeighborsRegressor().fit(X, Y[:, 0]).predict(X).shape == (40,)
    assert KNeighborsRegressor().fit(X, Y[:, :1]).predict(X).shape == (40, 1)
    assert KNeighborsRegressor().fit(X, Y).predict(None).shape == (40, 3)
    np.testing.assert_array_equal(
        KNeighborsRegressor().fit(X, sparse.csr_array(Y)).predict(X), KNeighborsRegressor().fit(X, Y).predict(X)
    )


def test_means_are_taken_in_double_precision():
    X, y = np.arange(6, dtype=np.float32)[:, None], np.array([1e8, 1e8 + 1, 1e8 + 2, 1e8 + 3, 1e8 + 4, 1e8 + 5])
    assert KNeighborsRegressor(6).fit(X, y).predict(X[:1])[0] == 1e8 + 2.5


def test_leaving_the_row_itself_out():
    X, Y = table(60)
    found = KNeighborsRegressor(3).fit(X, Y).predict(None)
    for i in (0, 17, 59):
        others = np.delete(np.arange(60), i)
        expected = KNeighborsRegressor(3).fit(X[others], Y[others]).predict(X[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_mistakes_get_one_sentence():
    X, Y = table(30)
    y = Y[:, 0]
    for call, words in (
        (lambda: KNeighborsRegressor(weights="far").fit(X, y), "'weights' parameter"),
        (lambda: KNeighborsRegressor(31).fit(X, y).predict(X), "Expected n_neighbors <= n_samples_fit"),
        (lambda: KNeighborsRegressor(30).fit(X, y).predict(None), "Expected n_neighbors < n_samples_fit"),
        (lambda: KNeighborsRegressor(weights=lambda d: 0 * d).fit(X, y).predict(X), "zero weights"),
        (lambda: KNeighborsRegressor().fit(X, y[:-1]), "rows but y has 29"),
        (lambda: KNeighborsRegressor().fit(X, np.where(y == y[3], np.nan, y)), "NaN"),
        (lambda: KNeighborsRegressor().fit(X, np.repeat("a", 30)), "not numbers"),
        (lambda: KNeighborsRegressor().fit(X, y).predict(X[:, :3]), "3 features"),
        (lambda: KNeighborsRegressor().fit(X[:0], y[:0]), "0 sample"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_thousands_of_equal_rows_and_a_constant_column():
    X = np.zeros((4000, 2))
    X[3990:, 0] = 1.0
    y = np.arange(4000.0)
    model = KNeighborsRegressor(5).fit(X, y)
    # Of equal distances the first rows count.
    np.testing.assert_array_equal(model.predict([[0.0, 0.0], [1.0, 0.0]]), [2.0, 3992.0])
    np.testing.assert_array_equal(
        KNeighborsRegressor(5, algorithm="kd_tree").fit(X, y).predict([[0.0, 0.0], [1.0, 0.0]]), [2.0, 3992.0]
    )
