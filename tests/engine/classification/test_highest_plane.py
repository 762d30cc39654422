"""The highest of some planes at each row, compiled: the same as the largest entry of the matrix of scores."""

from types import SimpleNamespace

import numpy as np
import pytest

from learnt.engine.classification import highest_plane
from learnt.engine.classification.highest_plane import fill_highest, highest_planes
from learnt.engine.classification.plane_scores import ROWS, plane_scores, plane_table
from learnt.engine.kernel import kernel
from learnt.engine.threads import set_threads
from learnt.linear_model import LogisticRegression
from learnt.naive_bayes import ComplementNB, MultinomialNB


def fill(X, W, b, codes):
    table, offsets = plane_table(W, b)
    return fill_highest(X, table, offsets, np.full((ROWS, offsets.size), np.nan), codes)


@kernel
def compiled_scores(X, i, table, g, out):
    plane_scores(X, i, table, g, out)


@pytest.mark.parametrize("d", [1, 2, 7, 50])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 10, 11, 13, 25])
def test_scores_are_the_products(d, k):
    rng = np.random.default_rng(k)
    X, W, b = rng.normal(size=(6, d)), rng.normal(size=(k, d)), rng.normal(size=k)
    table, offsets = plane_table(W, b)
    np.testing.assert_array_equal(offsets[:k], b)
    assert (offsets[k:] == -np.inf).all()
    for i in (0, 1, 4):
        rows = X[[min(i + r, 5) for r in range(ROWS)]]
        bound = (d + 1) * np.finfo(float).eps * (np.abs(rows) @ np.abs(W).T)
        for scores in (compiled_scores, plane_scores.python):
            out = np.full((ROWS, offsets.size), np.nan)
            for g in range(table.shape[0]):
                scores(X, i, table, g, out)
            assert (np.abs(out[:, :k] - rows @ W.T) <= bound).all()
            assert not out[:, k:].any()


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("d", [1, 3, 8, 50])
@pytest.mark.parametrize("k", [1, 2, 4, 5, 11])
def test_the_highest_plane_is_the_largest_score(n, d, k):
    rng = np.random.default_rng(d)
    X, W, b = rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.normal(size=k)
    codes = np.empty(n, dtype=np.int64)
    assert fill(X, W, b, codes)
    np.testing.assert_array_equal(codes, (X @ W.T + b).argmax(axis=1))


def test_of_equal_scores_the_first_wins_whatever_the_place_of_the_row():
    X = np.tile(np.arange(1.0, 8.0), (5, 1))
    W, b = np.tile(np.linspace(-1.0, 1.0, 7), (6, 1)), np.array([-1.0, 0.0, -2.0, 0.0, 0.0, 0.0])
    codes = np.empty(5, dtype=np.int64)
    assert fill(X, W, b, codes)
    assert codes.tolist() == [1] * 5


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("signs", [[-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])
@pytest.mark.parametrize("row", [0, 3, 4])
def test_a_cell_that_is_not_finite_shows(cell, signs, row):
    X = np.ones((5, 3))
    X[row, 1] = cell
    W = np.ones((2, 3)) * np.array(signs)[:, None]
    assert not fill(X, W, np.zeros(2), np.empty(5, dtype=np.int64))


def test_a_class_that_cannot_be_is_none():
    codes = np.empty(2, dtype=np.int64)
    assert fill(np.ones((2, 2)), np.ones((2, 2)), np.array([-np.inf, -5.0]), codes)
    assert codes.tolist() == [1, 1]


@pytest.fixture
def many(monkeypatch):
    """A few rows count as many."""
    monkeypatch.setattr(highest_plane, "COMPILED_CELLS", 1)


def test_rows_that_take_the_general_code_path(many):
    model = SimpleNamespace(n_features_in_=2)
    planes = lambda: (np.eye(2), np.zeros(2))  # noqa: E731
    X = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
    assert highest_planes(model, X, planes).tolist() == [1, 0, 0]
    assert highest_planes(model, np.asfortranarray(X.astype(np.float32)), planes).tolist() == [1, 0, 0]
    for other in (X.tolist(), X.astype(int), X[:, :1], X[0], np.array([[np.nan, 1.0]])):
        assert highest_planes(model, other, planes) is None
    assert highest_planes(SimpleNamespace(n_features_in_=2, feature_names_in_=["a", "b"]), X, planes) is None
    assert highest_planes(SimpleNamespace(), X, planes) is None


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", [LogisticRegression(), MultinomialNB(), ComplementNB()])
def test_classifiers_agree_and_refuse_alike(many, model, classes):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(classes, size=601)]
    X = rng.poisson(1.0 + (y == "b")[:, None] * np.arange(4.0)).astype(float)
    model.fit(X, y)
    scores = model.predict_log_proba(X)
    found = []
    try:
        for threads in (1, 2):
            set_threads(threads)
            found.append(model.predict(X))
    finally:
        set_threads(None)
    np.testing.assert_array_equal(*found)
    chosen = scores[np.arange(601), np.searchsorted(model.classes_, found[0])]
    assert (scores.max(axis=1) - chosen <= 1e-12).all()
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 7, column 2"):
        model.predict(X)
