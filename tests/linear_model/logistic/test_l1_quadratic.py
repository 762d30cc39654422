"""The quadratic of a proximal Newton step over sparse columns."""

import numpy as np
import pytest
from scipy import sparse

from learnt.linalg import sparse_quadratic as quadratic
from learnt.linalg.weighted_columns import Entries, Table, compressed
from learnt.linear_model import LogisticRegression
from learnt.linear_model.logistic._l1 import sample
from learnt.linear_model.logistic._l1_design import SparseDesign


def pose(seed=0, n=300, p=80, density=0.1, copies=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=density, rng=rng, format="csc")
    X = sparse.csc_array(sparse.hstack([X, X[:, :copies]])) if copies else sparse.csc_array(X)
    w = rng.uniform(0.5, 2.0, n)
    h = w * rng.uniform(0.0, 0.25, n) ** 3
    return X, rng.normal(size=n) * w, h, w


def slopes(X, u, h, v, change):
    return X.T @ (u - h * (X @ v + change))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("copies", [0, 20])
def test_the_slopes_are_what_the_penalty_allows(intercept, l2, copies):
    X, u, h, w = pose(copies=copies)
    v, columns = np.zeros(X.shape[1]), np.arange(X.shape[1])
    design = SparseDesign(X, w, intercept)
    l1 = 0.1 * np.abs(X.T @ u).max()
    v, shift, along = quadratic.sparse_step(design._parts, columns, v, u, h, w, l1, l2, intercept, 1e-18)
    np.testing.assert_allclose(along, X @ v + shift, atol=1e-12 * np.abs(along).max())
    g = slopes(X, u, h, v, shift) - l2 * v
    assert 0 < np.count_nonzero(v) < len(v)
    np.testing.assert_allclose(g[v != 0], l1 * np.sign(v[v != 0]), atol=1e-5 * l1)
    assert np.abs(g).max() <= l1 * (1 + 1e-5)
    if intercept:
        assert abs(np.sum(u - h * (X @ v + shift))) < 1e-5 * np.abs(u).sum()
    else:
        assert shift == 0.0


def objective(A, b, v, shift, root, l1, l2):
    rest = b - A @ v - shift * root
    return 0.5 * rest @ rest + l1 * np.abs(v).sum() + 0.5 * l2 * v @ v


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [Table, Entries])
def test_an_extrapolation_never_ends_higher_and_keeps_its_residual(intercept, kind):
    X, u, h, _ = pose(1)
    root = np.sqrt(h + 1e-6)
    A, b, l1, l2 = X.toarray() * root[:, None], u / root, 2.0, 0.1
    rng = np.random.default_rng(0)
    v = rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.4)
    own, was = np.flatnonzero(v), v.copy()
    constant = root if intercept else np.empty(0)
    every, ones = np.arange(X.shape[1]), np.ones(X.shape[0])
    columns = kind(A.T.copy()) if kind is Table else kind(compressed(sparse.csc_array(A)), every, ones)
    search = quadratic._Search(columns, constant, l1, l2, v, b - A @ v)
    before = objective(A, b, was, 0.0, root, l1, l2)
    moved = 0
    for _ in range(20):
        steps = rng.normal(size=(5, len(own))) * 10.0 ** rng.uniform(-3, 0)
        shifts = rng.normal(size=5) * intercept
        kept = search.v.copy()
        search._extrapolate(own, steps, shifts)
        after = objective(A, b, search.v, search.constant[0], root, l1, l2)
        assert after <= before
        assert (search.v * kept >= 0).all()
        moved += after < before
        before = after
    assert moved
    search._solve_signs(own[search.v[own] != 0])
    assert objective(A, b, search.v, search.constant[0], root, l1, l2) < before
    np.testing.assert_allclose(search.r, b - A @ search.v - search.constant[0] * root, atol=1e-9 * np.abs(b).max())
    assert not search.v[was == 0].any()


def test_a_sample_represents_all_rows():
    rng = np.random.default_rng(0)
    y, w = (rng.random(20_000) < 0.02).astype(int), rng.uniform(0.5, 2.0, 20_000)
    rows, weights = sample(y, w, 1000)
    assert len(rows) < 1200
    assert (np.diff(rows) > 0).all()
    for k in range(2):
        assert weights[y[rows] == k].sum() == pytest.approx(w[y == k].sum())
        assert (y[rows] == k).sum() >= 100
    assert sample(y, w, 10_000) is None


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.sweep
def test_columns_that_are_nearly_the_same(kind, apart, C):
    """Sweeps alone would slide along the valley between two of them for ever."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    X[:, 10:] = X[:, :10] + apart * rng.normal(size=(600, 10))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression(C=C, l1_ratio=1.0).fit(kind(X), y)
    assert model.optimality_ <= 1e-8
    assert model.n_iter_[0] < 50  # half of what is allowed; rounding, which differs by processor, moves it by a few


def test_three_classes_with_columns_that_are_nearly_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10))
    X[:, 5:] = X[:, :5] + 1e-3 * rng.normal(size=(600, 5))
    y = (X[:, :3] + rng.normal(size=(600, 3))).argmax(axis=1)
    model = LogisticRegression(C=100.0, l1_ratio=1.0).fit(X, y)
    assert model.optimality_ <= 1e-8
    assert model.n_iter_[0] < 20
