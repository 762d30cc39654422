"""Every metric of brute force against SciPy: k nearest and radius, weights, rational corner cases."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from learnt.distances import Search

rng = np.random.default_rng(0)
T, Q = rng.random((300, 4)), rng.random((40, 4))
W = np.array([1.0, 0.5, 0.0, 3.0])
SPREAD = np.cov(T, rowvar=False)
CASES = [
    ("euclidean", {}),
    ("euclidean", {"w": W}),
    ("sqeuclidean", {"w": W}),
    ("manhattan", {}),
    ("manhattan", {"w": W}),
    ("chebyshev", {}),
    ("minkowski", {"p": 3}),
    ("minkowski", {"p": 1.5}),
    ("minkowski", {"p": 2, "w": W}),
    ("minkowski", {"p": 1, "w": W}),
    ("minkowski", {"p": 7, "w": W}),
    ("cosine", {}),
    ("cosine", {"w": W}),
    ("seuclidean", {"V": T.var(axis=0, ddof=1)}),
    ("mahalanobis", {"VI": np.linalg.inv(SPREAD)}),
    ("canberra", {}),
    ("braycurtis", {"w": W}),
    ("hamming", {}),
]


@pytest.mark.parametrize(("metric", "params"), CASES, ids=lambda v: v if isinstance(v, str) else "-".join(v))
def test_equal_scipy(metric, params):
    D = cdist(Q, T, {"manhattan": "cityblock"}.get(metric, metric), **params)
    search = Search.build(T, metric, params)
    distances, index = search.nearest(Q, 6)
    # Sums of four terms, each right to a few units: 1e-12 is generous; cosines cancel against 1.
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :6], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.take_along_axis(D, index, axis=1), distances, rtol=1e-12, atol=1e-14)
    radius = float(np.quantile(D, 0.1)) + 1e-9
    found = search.within(Q, radius)
    np.testing.assert_array_equal(found.indices, np.nonzero(radius >= D)[1])
    np.testing.assert_allclose(found.distances, D[radius >= D], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_distance_found_is_within_itself(metric, dtype):
    """The radius that equals a distance includes its point: `within` and `nearest` compare the same bits."""
    A, B = T.astype(dtype) + dtype(3.3), Q.astype(dtype) + dtype(3.3)
    search = Search.build(A, metric)
    distances, index = search.nearest(B, 5)
    found = search.within(B, distances[:, 4], nearest_first=True)
    np.testing.assert_array_equal(found.counts, 5)
    np.testing.assert_array_equal(found.indices.reshape(-1, 5), index)
    np.testing.assert_array_equal(found.distances.reshape(-1, 5), distances)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
@pytest.mark.parametrize("n", [50, 5000])  # plainly, and compiled
def test_terms_are_added_in_order_of_the_features(metric, n):
    A, B = 10.0 ** rng.integers(-8, 8, (n, 9)), rng.random((20, 9))
    D = np.zeros((20, n))
    for j in range(9):
        gap = np.abs(B[:, j, None] - A[:, j])
        D = D + gap if metric == "manhattan" else np.maximum(D, gap)
    np.testing.assert_array_equal(Search.build(A, metric).nearest(B, 50)[0], np.sort(D, axis=1)[:, :50])


def test_rows_of_zeros_within_a_radius_by_cosine():
    A = np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, -2.0]])
    found = Search.build(A, "cosine").within(np.array([[3.0, 3.0], [0.0, 0.0]]), 1.0)
    assert [part.tolist() for part in found.lists()[1]] == [[0, 1], [0, 1, 2]]
    np.testing.assert_allclose(found.distances, [1, 0, 1, 1, 1], atol=1e-15)


def test_what_cannot_be_is_one_sentence():
    X = np.column_stack([T, np.ones(300)])
    with pytest.raises(ValueError, match="column 4 is constant; leave it out"):
        Search.build(X, "seuclidean")
    with pytest.raises(ValueError, match="weights w of the metric 'manhattan' need dense rows"):
        Search.build(sparse.csr_array(T), "manhattan", {"w": W})
