"""Locally linear embedding: scikit-learn's coordinates up to signs, flat sheets found again, new rows; bad input."""

import numpy as np
import pytest
from sklearn import manifold as theirs
from sklearn.datasets import make_s_curve

from learnt.engine.random import generator
from learnt.engine.threads import set_threads
from learnt.manifold import LocallyLinearEmbedding, locally_linear_embedding
from learnt.manifold._local import Local, hessian, modified, standard, tangent_space, weights_of
from learnt.manifold._locally_linear import alignment
from learnt.neighbors import NearestNeighbors

S = make_s_curve(150, random_state=0)[0]
METHODS = ("standard", "modified", "hessian", "ltsa")


@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
@pytest.mark.parametrize("k", [8, 14])
def test_the_coordinates_of_scikit_learn(method, k):
    settings = {"n_neighbors": k, "n_components": 2, "method": method, "eigen_solver": "dense"}
    model, other = LocallyLinearEmbedding(**settings).fit(S), theirs.LocallyLinearEmbedding(**settings).fit(S)
    A, B = model.embedding_, other.embedding_
    # Rounding of a matrix over the gaps around eigenvalues that are 1e-9 to 1e-5 of the largest: six digits are left.
    np.testing.assert_allclose(A * np.sign((A * B).sum(axis=0)), B, atol=2e-6)
    assert model.reconstruction_error_ == pytest.approx(other.reconstruction_error_, rel=1e-4, abs=1e-12)
    new = S[:30] + 0.01
    expected = other.transform(new) * np.sign((A * B).sum(axis=0))
    np.testing.assert_allclose(model.transform(new), expected, atol=2e-5)


@pytest.mark.parametrize("method", METHODS)
def test_iteration_finds_what_the_decomposition_finds(method):
    rows = make_s_curve(450, random_state=1)[0]
    settings = {"n_neighbors": 10, "method": method, "random_state": 0}
    whole = LocallyLinearEmbedding(eigen_solver="dense", **settings).fit(rows)
    found = LocallyLinearEmbedding(eigen_solver="arpack", tol=1e-10, **settings).fit(rows)
    assert found.reconstruction_error_ == pytest.approx(whole.reconstruction_error_, rel=1e-3, abs=1e-11)
    np.testing.assert_allclose(abs(found.embedding_), abs(whole.embedding_), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_forms_do_not_see_the_constant(method):
    Z = generator(0).normal(size=(7, 9, 4))
    how = Local(2)
    make = {"standard": standard, "hessian": hessian, "ltsa": tangent_space}
    forms = modified(Z, how, 0.5) if method == "modified" else make[method](Z, how)
    np.testing.assert_allclose(forms.sum(axis=2), 0.0, atol=1e-10 * abs(forms).max())
    np.testing.assert_allclose(forms, np.swapaxes(forms, 1, 2), atol=1e-12 * abs(forms).max())
    assert np.linalg.eigvalsh(forms).min() > -1e-10 * abs(forms).max()


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_a_flat_sheet_is_found_again(method):
    flat = generator(0).uniform(size=(200, 2))
    X = flat @ np.linalg.qr(generator(1).normal(size=(5, 2)))[0].T
    index = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    M = alignment(X, index, method, Local(2))
    assert abs(M @ flat).max() < 1e-8 * abs(M).max()  # linear functions cost nothing
    found = LocallyLinearEmbedding(n_neighbors=10, method=method, eigen_solver="dense").fit_transform(X)
    design = np.column_stack([np.ones(200), flat])
    rest = found - design @ np.linalg.lstsq(design, found, rcond=None)[0]
    assert abs(rest).max() < 1e-5


def test_weights_reconstruct_their_row():
    rng = generator(0)
    Z = rng.normal(size=(20, 6, 3))
    w = weights_of(Z, 1e-9)
    np.testing.assert_allclose(w.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("ij,ijd->id", w, Z), 0.0, atol=1e-6)


def test_the_function_and_kinds_of_rows():
    model = LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense").fit(S)
    for X in (S, NearestNeighbors(n_neighbors=8).fit(S)):
        found, error = locally_linear_embedding(X, n_neighbors=8, n_components=2, eigen_solver="dense")
        np.testing.assert_array_equal(found, model.embedding_)
        assert error == model.reconstruction_error_
    single = LocallyLinearEmbedding(n_neighbors=8).fit(S.astype(np.float32))
    assert single.embedding_.dtype == single.transform(S.astype(np.float32)).dtype == np.float32
    assert model.get_feature_names_out().tolist() == ["locallylinearembedding0", "locallylinearembedding1"]


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(method):
    rows = make_s_curve(600, random_state=1)[0]
    found = []
    for threads in (1, 3):
        set_threads(threads)
        model = LocallyLinearEmbedding(n_neighbors=8, method=method, random_state=0).fit(rows)
        found.append((model.embedding_.tobytes(), model.transform(rows + 0.01).tobytes()))
    set_threads(None)
    assert found[0] == found[1]


def test_equal_rows_and_bad_input():
    same = LocallyLinearEmbedding(n_components=1).fit(np.ones((20, 2)))
    assert np.isfinite(same.embedding_).all()
    twice = LocallyLinearEmbedding(n_neighbors=8).fit(np.repeat(S[:60], 2, axis=0))
    assert np.isfinite(twice.embedding_).all()
    for message, settings, X in (
        ("n_components is 4 and X has 3 columns", {"n_components": 4}, S),
        ("n_neighbors is 20 and X has n_samples=20 rows", {"n_neighbors": 20}, S[:20]),
        ("'hessian' fits 5 numbers", {"method": "hessian"}, S),
        ("'modified' needs 3", {"method": "modified", "n_neighbors": 2, "n_components": 3}, S),
        ("'ltsa' needs more than 2", {"method": "ltsa", "n_neighbors": 2}, S),
        ("'method' parameter of LocallyLinearEmbedding", {"method": "no"}, S),
        ("'reg' parameter of LocallyLinearEmbedding", {"reg": -1.0}, S),
        ("NaN", {}, np.full((20, 2), np.nan)),
    ):
        with pytest.raises(ValueError, match=message) as error:
            LocallyLinearEmbedding(**settings).fit(X)
        assert "\n" not in str(error.value)
