"""KMeans of sparse rows: products in single precision, and labels that do not show it."""

import numpy as np
import pytest
from scipy import sparse

import learnt
from learnt.cluster import _sparse_kernels
from learnt.cluster._row_products import row_products, table_shape
from learnt.cluster._sparse_kernels import Cells
from learnt.cluster._sparse_lloyd import SparseLloyd
from learnt.engine.kernel import kernel


@pytest.fixture(autouse=True)
def _threads():
    yield
    learnt.set_threads(None)


@kernel
def all_products(cells, scale, table, out):
    for r in range(out.shape[0]):
        for p in range(table.shape[0]):
            row_products(cells, cells.indptr[r], cells.indptr[r + 1], scale, table, p, out, r)


@pytest.mark.parametrize("k", [1, 8, 9, 20, 25, 50])  # one, two and three vectors, one reading and more
@pytest.mark.parametrize(("dtype", "index"), [(np.float64, np.int32), (np.float32, np.int64)])
def test_products_of_rows_within_their_error_bound(k, dtype, index):
    rng = np.random.default_rng(k)
    kept = rng.random((40, 70)) < 0.3
    kept[3], kept[4, 1:] = False, False  # a row of no entry, and one of one or none
    X = sparse.csr_array(rng.normal(size=(40, 70)) * kept).astype(dtype)
    cells = Cells(X.data, X.indices.astype(index), X.indptr.astype(index))
    C = rng.normal(size=(k, 70))
    table = np.zeros(table_shape(k, 70), dtype=np.float32)
    norms, shifts = np.zeros(k), np.zeros(k)
    _sparse_kernels.arrange(C, C + 2.0, 0.25, table, 0, 70, shifts, norms)
    np.testing.assert_allclose(norms, (C**2).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(shifts, np.full(k, 4.0 * 70), rtol=1e-12)
    out = np.full((40, table.shape[0] * table.shape[2]), np.nan, dtype=np.float32)
    all_products(cells, 0.5, table, out)
    rows = X.toarray().astype(np.float64)
    bound = 2.0**-24 * (np.diff(X.indptr)[:, None] + 4) * (np.abs(rows) @ np.abs(C).T) / 8
    assert (np.abs(out[:, :k] - rows @ C.T / 8) <= bound).all()
    assert (out[:, k:] == 0).all()
    plain = np.empty_like(out)
    for r in range(40):
        for p in range(table.shape[0]):
            row_products.python(cells, X.indptr[r], X.indptr[r + 1], 0.5, table, p, plain, r)
    assert (np.abs(plain[:, :k] - out[:, :k]) <= 2 * bound).all()


def assigned(X, C):
    problem = SparseLloyd(X, None, len(C))
    problem.start()
    learnt.set_threads(1)  # what NumPy is not to say without compilation, it is told for this thread
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = problem.assign(C)
    return problem, found


@pytest.mark.parametrize("size", [1.0, 2.0**-400, 2.0**400])  # squares that float32 does not have
@pytest.mark.parametrize("apart", [1.0, 1e-5, 1e-9])  # of the centres: the last two are in doubt in float32
def test_labels_are_those_of_double_precision(size, apart):
    rng = np.random.default_rng(7)
    X = sparse.csr_array(sparse.random_array((900, 300), density=0.1, rng=rng, format="csr"))
    C = rng.random(300) + apart * rng.normal(size=(30, 300))
    rows = X.toarray().astype(np.longdouble)
    truth = (np.square(C.astype(np.longdouble)).sum(axis=1) - 2 * rows @ C.T.astype(np.longdouble)).astype(float)
    nearest = truth.argmin(axis=1)
    gap = np.partition(truth, 1, axis=1)
    # Where float64 can tell the two nearest apart, by the bound of the expansion.
    entries, squares = np.diff(X.indptr), np.square(rows).sum(axis=1).astype(float)
    clear = gap[:, 1] - gap[:, 0] > 6 * 2.0**-51 * (entries + 308) * (squares + np.square(C).sum(axis=1).max())
    assert clear.mean() > 0.9
    problem, found = assigned(X * size, C * size)
    np.testing.assert_array_equal(problem.labels[clear], nearest[clear])
    assert found.changed == 900
    # The bounds enclose the distances, so that rows they settle next time keep their centre.
    distances = np.sqrt(np.maximum(truth + squares[:, None], 0.0)) * size
    own = distances[np.arange(900), problem.labels]
    distances[np.arange(900), problem.labels] = np.inf
    if size == 1.0:
        assert (problem.upper >= own).all()
        assert (problem.lower <= distances.min(axis=1)).all()


def test_the_first_of_equal_centers_wins():
    rng = np.random.default_rng(3)
    X = sparse.csr_array(sparse.random_array((700, 200), density=0.1, rng=rng, format="csr"))
    C = rng.random((20, 200))
    alone, _ = assigned(X, C)
    twice, _ = assigned(X, np.vstack([C, C]))
    np.testing.assert_array_equal(alone.labels, twice.labels)


def test_centers_beyond_single_precision_take_no_row():
    rng = np.random.default_rng(4)
    X = sparse.csr_array(sparse.random_array((700, 200), density=0.1, rng=rng, format="csr"))
    C = rng.random((5, 200))
    C[2] *= 1e60
    far, _ = assigned(X, C)
    assert (far.labels != 2).all()
