"""Sparse principal components: scikit-learn's numbers, the conditions of an optimum, planted components; bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs

from learnt.decomposition import MiniBatchSparsePCA, SparsePCA, randomized_svd

RNG = np.random.default_rng(0)
PLANTED = np.kron(np.eye(3), np.full(6, 6**-0.5))
X = RNG.normal(size=(80, 3)) * [3.0, 2.0, 1.5] @ PLANTED + 0.05 * RNG.normal(size=(80, 18)) + 1.0
BOTH = [SparsePCA, MiniBatchSparsePCA]


@pytest.mark.parametrize(
    "settings", [{}, {"alpha": 0.3, "tol": 1e-4}, {"n_components": 5, "ridge_alpha": 1.0}], ids=str
)
def test_components_are_scikit_learns(settings):
    ours = SparsePCA(**{"n_components": 3, "random_state": 0, **settings}).fit(X)
    other = theirs.SparsePCA(**{"n_components": 3, "random_state": 0, **settings}).fit(X)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-8)
    np.testing.assert_allclose(ours.transform(X), other.transform(X), atol=1e-7)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), other.inverse_transform(other.transform(X)))
    np.testing.assert_allclose(ours.error_, other.error_)
    assert ours.n_iter_ == other.n_iter_


def test_given_starts_are_taken():
    start = {"U_init": RNG.normal(size=(80, 3)), "V_init": RNG.normal(size=(3, 18)), "max_iter": 3, "random_state": 0}
    ours, other = SparsePCA(3, **start).fit(X), theirs.SparsePCA(3, **start).fit(X)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-6)


def price(model, rows, alpha):
    """The least ½‖X − UC‖² + α Σ|c| with components of the model's directions and scores of norm 1, by their scale."""
    centred = rows - rows.mean(axis=0)
    scores = model.transform(rows)
    size = np.linalg.norm(scores, axis=0)
    rest = centred - scores @ model.components_
    return 0.5 * np.sum(rest**2) + alpha * np.sum(size * np.abs(model.components_).sum(axis=1))


def test_batches_are_as_good_as_scikit_learns():
    settings = {"alpha": 0.3, "max_no_improvement": None, "tol": 1e-5, "max_iter": 100, "random_state": 0}
    ours, other = MiniBatchSparsePCA(3, **settings).fit(X), theirs.MiniBatchSparsePCA(3, **settings).fit(X)
    whole = SparsePCA(3, alpha=0.3, random_state=0).fit(X)
    prices = [price(model, X, 0.3) for model in (ours, other, whole)]
    assert prices[0] < 1.01 * min(prices[1:])


@pytest.mark.parametrize("kind", BOTH)
def test_planted_components_are_found_and_the_rest_is_zero(kind):
    more = {"max_no_improvement": None} if kind is MiniBatchSparsePCA else {}
    model = kind(3, alpha=1.0, max_iter=100, random_state=0, **more).fit(X)
    alike = np.abs(model.components_ @ PLANTED.T)
    assert sorted(alike.argmax(axis=1)) == [0, 1, 2]
    assert alike.max(axis=1).min() > 0.99
    assert np.mean(model.components_ == 0) > 0.6
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_scores_minimise_a_penalised_square(kind, ridge):
    model = kind(3, alpha=0.3, ridge_alpha=ridge, random_state=0).fit(X)
    scores, C = model.transform(X), model.components_
    slope = (scores @ C - (X - X.mean(axis=0))) @ C.T + ridge * scores
    assert np.abs(slope).max() < 1e-10 * np.abs(X).sum()


@pytest.mark.parametrize("kind", BOTH)
def test_components_that_are_not_needed_are_zero_and_do_no_harm(kind):
    model = kind(2, alpha=1e4, ridge_alpha=0.0, random_state=0, max_iter=20).fit(X)
    np.testing.assert_array_equal(model.components_, 0.0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), np.tile(X.mean(axis=0), (80, 1)))


@pytest.mark.parametrize("kind", BOTH)
def test_single_precision_stays(kind):
    model = kind(2, random_state=0).fit(X.astype(np.float32))
    assert model.components_.dtype == model.mean_.dtype == model.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("settings", "sentence"), [({"alpha": -1}, "alpha"), ({"method": "omp"}, "method"), ({"ridge_alpha": -1}, "ridge")]
)
def test_wrong_parameters_are_named(kind, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(2, **settings).fit(X)


def test_wrong_starts_and_scores_are_said():
    with pytest.raises(ValueError, match="U_init must be a matrix of 80 × any numbers"):
        SparsePCA(2, U_init=np.ones((3, 2))).fit(X)
    with pytest.raises(ValueError, match="takes one for each of the 2 components"):
        SparsePCA(2, max_iter=2, random_state=0).fit(X).inverse_transform(np.ones((4, 3)))


def test_batches_are_told_to_the_callback():
    seen = []
    MiniBatchSparsePCA(2, max_iter=1, callback=seen.append, random_state=0).fit(X)
    assert "dictionary" in seen[0]


# Singular vectors as a function -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(90, 40), (40, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("settings", [{}, {"n_iter": 8}, {"transpose": True}, {"transpose": False}], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
def test_singular_vectors_are_those_of_the_whole_decomposition(shape, settings, make):
    M = np.random.default_rng(1).normal(size=shape) * 0.7 ** np.arange(shape[1])
    U, s, V = randomized_svd(make(M), 6, random_state=0, **settings)
    W, t, H = np.linalg.svd(M, full_matrices=False)
    signs = np.sign(np.sum(U * W[:, :6], axis=0))
    # the stop is a residual of 1e-8 of the largest value; gaps are 0.3 of a value
    np.testing.assert_allclose(s, t[:6], rtol=1e-10)
    np.testing.assert_allclose(U * signs, W[:, :6], atol=1e-6)
    np.testing.assert_allclose(V * signs[:, None], H[:6], atol=1e-6)
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=1e-12)
    assert np.all(U[np.abs(U).argmax(axis=0), np.arange(6)] > 0)


def test_small_singular_values_keep_their_digits():
    """Roots of eigenvalues of MᵀM would have lost all digits of 1e-9."""
    rng = np.random.default_rng(2)
    left, right = np.linalg.qr(rng.normal(size=(60, 5)))[0], np.linalg.qr(rng.normal(size=(30, 5)))[0]
    values = np.array([1.0, 1e-2, 1e-4, 1e-6, 1e-9])
    U, s, V = randomized_svd(left * values @ right.T, 5, random_state=0)
    np.testing.assert_allclose(s, values, rtol=1e-4)
    np.testing.assert_allclose(U * s @ V, left * values @ right.T, atol=1e-14)


def test_single_precision_rank_and_wrong_arguments():
    M = np.random.default_rng(3).normal(size=(20, 2)) @ np.ones((2, 7))
    U, s, V = randomized_svd(M.astype(np.float32), 99, random_state=0)
    assert (U.shape, s.shape, V.shape) == ((20, 7), (7,), (7, 7))
    assert U.dtype == s.dtype == V.dtype == np.float32
    assert s[1] < 1e-5 * s[0]
    np.testing.assert_allclose(U * s @ V, M, atol=1e-5)
    for wrong in ({"n_components": 0}, {"n_components": 2, "n_iter": "some"}, {"n_components": 2, "transpose": 3}):
        with pytest.raises(ValueError, match="of randomized_svd must be"):
            randomized_svd(M, **wrong)
