"""Random projections: scikit-learn's matrices for the same seed, distances kept, and every bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import random_projection as theirs
from sklearn.exceptions import DataDimensionalityWarning, NotFittedError
from sklearn.metrics.pairwise import euclidean_distances

from learnt import random_projection as ours
from learnt.engine.random import generator
from learnt.random_projection import GaussianRandomProjection, SparseRandomProjection, johnson_lindenstrauss_min_dim

BOTH = ("GaussianRandomProjection", "SparseRandomProjection")
X = generator(0).normal(size=(40, 700))
CELLS = sparse.random_array((40, 700), density=0.05, rng=1, format="csr")


def pair(name, **settings):
    return getattr(ours, name)(**settings), getattr(theirs, name)(**settings)


def cells(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("table", [X, X.astype(np.float32), CELLS, sparse.csc_array(CELLS)], ids=str)
def test_the_same_matrix_and_rows_for_the_same_seed(name, table):
    a, b = (model.fit(table) for model in pair(name, n_components=50, random_state=3))
    np.testing.assert_array_equal(cells(a.components_), cells(b.components_))
    assert a.components_.dtype == table.dtype
    found, expected = a.transform(table), b.transform(table)
    assert sparse.issparse(found) == sparse.issparse(expected) == (sparse.issparse(table) and name == BOTH[1])
    # Sums of at most 700 products, each rounded once: in units of the longest row times the longest column.
    scale = np.sqrt(np.square(cells(table)).sum(axis=1).max() * np.square(cells(b.components_)).sum(axis=1).max())
    np.testing.assert_allclose(cells(found), cells(expected), rtol=0, atol=700 * np.finfo(table.dtype).eps * scale)
    assert found.dtype == table.dtype
    assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist()


@pytest.mark.parametrize("density", ["auto", 0.1, 1 / 3, 1.0])
def test_densities(density):
    a, b = (m.fit(X) for m in pair("SparseRandomProjection", n_components=60, density=density, random_state=0))
    assert a.density_ == b.density_
    assert sparse.issparse(a.components_)
    np.testing.assert_allclose(cells(a.components_), cells(b.components_), rtol=1e-15)
    share = a.components_.nnz / (60 * 700)
    # The number of cells is binomial: five standard deviations.
    assert abs(share - a.density_) <= 5 * np.sqrt(a.density_ * (1 - a.density_) / (60 * 700))
    dense = SparseRandomProjection(n_components=60, density=density, dense_output=True, random_state=0).fit_transform(
        CELLS
    )
    assert isinstance(dense, np.ndarray)


@pytest.mark.parametrize("name", BOTH)
def test_distances_are_kept_as_the_lemma_says(name):
    rows = generator(1).normal(size=(60, 4000))
    model = getattr(ours, name)(eps=0.3, random_state=0)
    Z = model.fit_transform(rows)
    assert model.n_components_ == johnson_lindenstrauss_min_dim(60, eps=0.3) == Z.shape[1] < 4000
    kept = np.triu_indices(60, 1)
    ratio = np.square(euclidean_distances(Z)[kept] / euclidean_distances(rows)[kept])
    assert ratio.min() > 0.7
    assert ratio.max() < 1.3


def test_the_number_of_features_is_the_formula():
    for n, eps in ((10, 0.5), (1000, 0.1), (10**6, 0.99)):
        assert johnson_lindenstrauss_min_dim(n, eps=eps) == int(4 * np.log(n) / (eps**2 / 2 - eps**3 / 3))
    grid = johnson_lindenstrauss_min_dim(np.array([[10, 100], [1000, 10]]), eps=0.2)
    np.testing.assert_array_equal(
        grid, theirs.johnson_lindenstrauss_min_dim(np.array([[10, 100], [1000, 10]]), eps=0.2)
    )


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("k", [30, 120])
def test_back_again(name, stored, k):
    rows = X[:, :90]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataDimensionalityWarning)
        models = pair(name, n_components=k, compute_inverse_components=stored, random_state=0)
        a, b = (model.fit(rows) for model in models)
    assert hasattr(a, "inverse_components_") == stored
    Z = a.transform(rows)
    back = a.inverse_transform(Z)
    np.testing.assert_allclose(a.transform(back), Z, atol=1e-9)  # the same projection
    np.testing.assert_allclose(back, b.inverse_transform(b.transform(rows)), atol=1e-9)
    if k > 90:  # nothing was lost
        np.testing.assert_allclose(back, rows, atol=1e-9)
    a.set_params(compute_inverse_components=False, n_components=5).fit(rows)
    assert a.inverse_transform(np.ones((2, 5))).shape == (2, 90)


@pytest.mark.parametrize("name", BOTH)
def test_bad_input_is_one_sentence(name):
    cls = getattr(ours, name)
    with pytest.raises(ValueError, match=r"target dimension of \d+ which is larger.*give .* a larger eps") as error:
        cls(eps=0.1).fit(X)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="target dimension of 0 which is invalid"):
        cls(eps=0.5).fit(X[:1])
    for settings in ({"n_components": 0}, {"n_components": 1.5}, {"eps": 0.0}, {"n_components": "all"}):
        with pytest.raises(ValueError, match="parameter of " + name):
            cls(**settings).fit(X)
    with pytest.warns(DataDimensionalityWarning, match="n_features < n_components"):
        cls(n_components=800).fit(X)
    with pytest.raises(NotFittedError):
        cls().inverse_transform(X)
    model = cls(n_components=4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="one column for each of the 4 components"):
        model.inverse_transform(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :9])


def test_bad_densities_and_bad_sizes():
    for density in (0.0, 1.1, -1, "none"):
        with pytest.raises(ValueError, match="'density' parameter of SparseRandomProjection"):
            SparseRandomProjection(n_components=3, density=density).fit(X)
    for n, eps in ((0, 0.5), (10, 0.0), (10, 1.0), ([10, -1], 0.5)):
        with pytest.raises(ValueError, match="The JL bound is defined for"):
            johnson_lindenstrauss_min_dim(n, eps=eps)


def test_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    for cls in (GaussianRandomProjection, SparseRandomProjection):
        model = cls(n_components=20, random_state=0).fit(X)
        found = model.transform(torch.from_numpy(X))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), model.transform(X), atol=1e-12)
        back = model.inverse_transform(found)
        assert isinstance(back, torch.Tensor)
        np.testing.assert_allclose(back.numpy(), model.inverse_transform(found.numpy()), atol=1e-10)
