"""Clusters of rows and columns at once: scikit-learn's groups, planted ones, scalings; bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.datasets import make_biclusters, make_checkerboard
from sklearn.metrics import adjusted_rand_score, consensus_score

from learnt.cluster import SpectralBiclustering, SpectralCoclustering
from learnt.cluster.bicluster._scaling import bistochastic, log_interactions, roots, scaled
from learnt.engine.threads import set_threads

BLOCKS, ROWS, COLUMNS = make_biclusters((60, 40), 4, noise=1, random_state=0)
BOARD, _, _ = make_checkerboard((60, 40), (3, 2), noise=1, random_state=0)
THIN = np.where(np.quantile(BLOCKS, 0.7) < BLOCKS, BLOCKS, 0.0)
POSITIVE = np.random.default_rng(0).gamma(1.0, size=(7, 5))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
@pytest.mark.parametrize("settings", [{}, {"svd_method": "arpack"}, {"mini_batch": True}, {"init": "random"}], ids=str)
def test_blocks_are_those_planted_and_scikit_learns(make, settings):
    model = SpectralCoclustering(4, random_state=0, **settings).fit(make(THIN))
    other = theirs.SpectralCoclustering(4, random_state=0, **settings).fit(make(THIN))
    assert consensus_score(model.biclusters_, (ROWS, COLUMNS)) == 1.0
    assert consensus_score(other.biclusters_, (ROWS, COLUMNS)) == 1.0
    for labels, groups in ((model.row_labels_, model.rows_), (model.column_labels_, model.columns_)):
        np.testing.assert_array_equal(labels, groups.argmax(axis=0))
        np.testing.assert_array_equal(groups.sum(axis=0), 1)
    assert model.get_shape(0) == (model.rows_[0].sum(), model.columns_[0].sum())


@pytest.mark.parametrize("method", ["bistochastic", "scale", "log"])
@pytest.mark.parametrize("solver", ["randomized", "arpack"])
def test_a_checkerboard_is_that_planted_and_scikit_learns(method, solver):
    model = SpectralBiclustering((3, 2), method=method, svd_method=solver, random_state=0).fit(BOARD)
    other = theirs.SpectralBiclustering((3, 2), method=method, random_state=0).fit(BOARD)
    assert adjusted_rand_score(model.row_labels_, other.row_labels_) == 1.0
    assert adjusted_rand_score(model.column_labels_, other.column_labels_) == 1.0
    assert model.rows_.shape == (6, 60)
    assert model.columns_.shape == (6, 40)
    for square in range(6):
        assert model.rows_[square].any()
        spread = model.get_submatrix(square, BOARD).std()
        assert spread < 1.3  # of the noise, 1; over the board it is many times that
    assert BOARD.std() > 5


@pytest.mark.parametrize("method", ["bistochastic", "scale"])
def test_sparse_and_dense_checkerboards_are_alike(method):
    board = np.where(BOARD > 20, BOARD, 0.0)
    models = [
        SpectralBiclustering((3, 2), method=method, random_state=0).fit(make(board))
        for make in (np.asarray, sparse.csr_array)
    ]
    assert adjusted_rand_score(models[0].row_labels_, models[1].row_labels_) == 1.0
    assert adjusted_rand_score(models[0].column_labels_, models[1].column_labels_) == 1.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_scalings_are_what_they_are_called(make):
    by_row, by_column = roots(make(POSITIVE))
    once = scaled(make(POSITIVE), by_row, by_column)
    expected = POSITIVE / np.sqrt(POSITIVE.sum(axis=1))[:, None] / np.sqrt(POSITIVE.sum(axis=0))
    np.testing.assert_allclose(np.asarray(once @ np.eye(5)), expected)
    even = np.asarray(bistochastic(make(POSITIVE)) @ np.eye(5))
    np.testing.assert_allclose(even.sum(axis=1), even.sum(axis=1).mean(), rtol=3e-5)
    np.testing.assert_allclose(even.sum(axis=0), even.sum(axis=0).mean(), rtol=3e-5)
    # entries are those of X times factors of their row and column: cross ratios stay
    np.testing.assert_allclose(
        even[0, 0] * even[1, 1] / (even[0, 1] * even[1, 0]),
        POSITIVE[0, 0] * POSITIVE[1, 1] / (POSITIVE[0, 1] * POSITIVE[1, 0]),
    )


def test_log_interactions_have_no_means():
    left = log_interactions(POSITIVE)
    np.testing.assert_allclose(left.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(left.mean(axis=1), 0.0, atol=1e-14)


def test_units_of_rows_and_columns_do_not_matter_to_a_balanced_board():
    rng = np.random.default_rng(1)
    board = np.kron([[1.0, 8.0], [6.0, 2.0], [1.0, 1.0]], np.ones((8, 10)))
    rescaled = board * rng.uniform(1, 9, size=(24, 1)) * rng.uniform(1, 9, size=20)
    np.testing.assert_allclose(bistochastic(rescaled) / bistochastic(board), 1.0, rtol=1e-3)


def test_rows_and_columns_without_weights_are_no_error():
    gaps = THIN.copy()
    gaps[5], gaps[:, 7] = 0.0, 0.0
    model = SpectralCoclustering(4, random_state=0).fit(sparse.csr_array(gaps))
    kept, columns = np.arange(60) != 5, np.arange(40) != 7
    found = model.rows_[:, kept], model.columns_[:, columns]
    assert consensus_score(found, (ROWS[:, kept], COLUMNS[:, columns])) == 1.0
    SpectralBiclustering((2, 2), random_state=0).fit(gaps)


def test_one_cluster_has_everything():
    model = SpectralCoclustering(1, random_state=0).fit(THIN)
    assert model.rows_.all()
    assert model.columns_.all()


def test_any_number_of_threads_gives_the_same_labels():
    answers = []
    for n in (1, 3):
        set_threads(n)
        try:
            answers.append(SpectralCoclustering(4, random_state=0).fit(BLOCKS))
        finally:
            set_threads(None)
    np.testing.assert_array_equal(answers[0].row_labels_, answers[1].row_labels_)
    np.testing.assert_array_equal(answers[0].column_labels_, answers[1].column_labels_)


@pytest.mark.parametrize(
    ("model", "table", "sentence"),
    [
        (SpectralCoclustering(9), np.eye(4), "n_clusters should be <= n_samples=4"),
        (SpectralCoclustering(0), np.eye(4), "n_clusters"),
        (SpectralCoclustering(2), np.ones((4, 1)), "needs two rows and two columns"),
        (SpectralCoclustering(2), sparse.csr_array(-np.eye(4)), "weights of at least 0, .* shift or clip"),
        (SpectralCoclustering(4, svd_method="arpack"), np.eye(3)[[0, 1, 2, 2]], "use 'randomized' or fewer clusters"),
        (SpectralBiclustering((2, 0)), np.eye(4), "Incorrect parameter n_clusters"),
        (SpectralBiclustering("abc"), np.eye(4), "Incorrect parameter n_clusters"),
        (SpectralBiclustering(n_best=7), np.eye(4), "n_best=7 must be <= n_components=6"),
        (SpectralBiclustering(2, method="log"), sparse.csr_array(np.eye(4)), "Cannot compute log of a sparse matrix"),
        (SpectralBiclustering(2), np.ones((4, 1)), "needs two rows and two columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_clustered_is_said(model, table, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(table)
