"""LabelPropagation and LabelSpreading: scikit-learn's labels, closed forms, far rows, bad input."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn import semi_supervised as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import learnt
from learnt.semi_supervised import LabelPropagation, LabelSpreading

CLASSES = [LabelPropagation, LabelSpreading]


def groups(n=120, d=3, unlabelled=0.7, seed=0):
    """Three groups that touch, and labels of some rows."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    X = rng.normal(size=(n, d)) + 2.0 * np.eye(3, d)[group]
    y = np.where(rng.random(n) < unlabelled, -1, group * 2)
    y[:3] = 0, 2, 4
    return X, y


X, Y = groups()


def kernel(A, B):
    return rbf_kernel(A, B, gamma=0.7)


def thin(A, B):
    K = kernel(A, B)
    return sparse.csr_array(np.where(K > 0.05, K, 0.0))


WAYS = [{}, {"gamma": 0.5}, {"kernel": "knn", "n_neighbors": 5}, {"kernel": kernel}, {"kernel": thin}]


@pytest.mark.parametrize("way", WAYS, ids=["rbf", "wide", "knn", "function", "sparse function"])
@pytest.mark.parametrize("cls", CLASSES)
def test_the_labels_of_scikit_learn(cls, way):
    for share in (0.7, 0.0, 0.97):
        rows, y = groups(unlabelled=share)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # narrow kernels join few rows, of both alike
            ours, other = cls(**way).fit(rows, y), getattr(theirs, cls.__name__)(**way).fit(rows, y)
        assert ours.n_iter_ == other.n_iter_
        # Each step rounds sums of 120 products of positive numbers.
        tolerance = 1e-14 * 120 * (ours.n_iter_ + 1)
        np.testing.assert_allclose(ours.label_distributions_, other.label_distributions_, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(ours.transduction_, other.transduction_)
        new = rows[:40] + 0.2
        with np.errstate(invalid="ignore"):
            expected = other.predict_proba(new)
        expected[np.isnan(expected)] = 1 / 3  # neighbours that no label has reached
        np.testing.assert_allclose(ours.predict_proba(new), expected, rtol=0, atol=10 * tolerance)


def test_propagation_ends_at_the_harmonic_labels():
    """F_u = (D_u − W_uu)⁻¹ W_ul Y_l."""
    model = LabelPropagation(gamma=0.5, tol=1e-12, max_iter=20_000).fit(X, Y)
    W, known = rbf_kernel(X, gamma=0.5), Y != -1
    labels = (Y[known][:, None] == model.classes_).astype(float)
    own = W[np.ix_(~known, ~known)]
    expected = np.linalg.solve(np.diag(W[~known].sum(axis=1)) - own, W[np.ix_(~known, known)] @ labels)
    np.testing.assert_allclose(model.label_distributions_[~known], expected, atol=1e-9)
    np.testing.assert_array_equal(model.label_distributions_[known], labels)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_spreading_ends_at_its_closed_form(alpha):
    """F ∝ (I − α S)⁻¹ Y."""
    model = LabelSpreading(gamma=0.5, alpha=alpha, tol=1e-13, max_iter=5000).fit(X, Y)
    W = rbf_kernel(X, gamma=0.5)
    np.fill_diagonal(W, 0.0)
    S = W / np.sqrt(np.outer(W.sum(axis=0), W.sum(axis=0)))
    labels = (Y[:, None] == model.classes_).astype(float)
    expected = np.linalg.solve(np.eye(len(X)) - alpha * S, labels)
    np.testing.assert_allclose(model.label_distributions_, expected / expected.sum(axis=1)[:, None], atol=1e-10)


@pytest.mark.parametrize("way", WAYS[1:3], ids=["rbf", "knn"])
@pytest.mark.parametrize("cls", CLASSES)
def test_sparse_rows_frames_and_narrow_rows(cls, way):
    table = np.where(X > 0.5, X, 0.0) + 0.01 * np.arange(len(X))[:, None]  # no two rows are equal
    model = cls(**way).fit(table, Y)
    for rows in (sparse.csr_array(table), sparse.csc_matrix(table), pl.DataFrame(table, schema=list("abc"))):
        other = cls(**way).fit(rows, Y)
        # The same sums in another order.
        np.testing.assert_allclose(other.label_distributions_, model.label_distributions_, atol=1e-9)
        np.testing.assert_allclose(other.predict_proba(rows), model.predict_proba(table), atol=1e-9)
    narrow = cls(**way).fit(table.astype(np.float32), Y)
    assert narrow.X_.dtype == np.float32
    np.testing.assert_allclose(narrow.label_distributions_, model.label_distributions_, atol=1e-4)


def test_rows_beyond_all_weights_go_to_the_nearest():
    """e^(−20 · 10⁶) is 0 as a number: scikit-learn's probabilities are NaN there."""
    model = LabelSpreading().fit([[0.0], [0.1], [5.0]], [3, -1, 7])
    np.testing.assert_array_equal(model.predict([[-1000.0], [1000.0]]), [3, 7])
    np.testing.assert_allclose(model.predict_proba([[1000.0]]), [[0.0, 1.0]], atol=1e-100)


def test_where_no_label_arrives_all_classes_are_alike():
    rows = [[0.0], [0.1], [100.0], [100.1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LabelPropagation(kernel="knn", n_neighbors=2).fit(rows, [0, 1, -1, -1])
    np.testing.assert_array_equal(model.label_distributions_[2:], 0.0)
    np.testing.assert_array_equal(model.predict_proba([[100.0]]), [[0.5, 0.5]])


def test_labels_of_every_kind():
    numbers = LabelPropagation(gamma=0.5).fit(X, Y).transduction_
    names = np.array([{-1: -1, 0: "a", 2: "b", 4: "c"}[label] for label in Y], dtype=object)
    found = LabelPropagation(gamma=0.5).fit(X, names)
    assert list(found.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(found.transduction_, np.array(["a", "b", "c"], dtype=object)[numbers // 2])
    strings = LabelPropagation(gamma=0.5).fit(X, np.array(["a", "b", "c"])[numbers // 2])
    np.testing.assert_array_equal(strings.transduction_, np.array(["a", "b", "c"])[numbers // 2])


@pytest.mark.parametrize("way", WAYS[1:3], ids=["rbf", "knn"])
def test_a_saved_model_says_the_same(way, tmp_path):
    model = LabelSpreading(**way).fit(X, Y)
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    np.testing.assert_array_equal(again.predict_proba(X + 0.1), model.predict_proba(X + 0.1))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)


def test_another_fit_searches_the_other_rows():
    model = LabelSpreading(kernel="knn", n_neighbors=3).fit(X, Y)
    expected = model.predict_proba(X)
    model.fit(-X[:50], Y[:50])
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), expected)


@pytest.mark.parametrize("cls", CLASSES)
def test_too_few_steps_are_told(cls):
    with pytest.warns(ConvergenceWarning, match=r"^max_iter=1 was reached without convergence\. .* raise max_iter or"):
        assert cls(max_iter=1).fit(X, Y).n_iter_ == 1


@pytest.mark.parametrize(
    ("settings", "data", "sentence"),
    [
        ({"kernel": "linear"}, (X, Y), "'kernel' parameter of LabelSpreading must be one of 'knn', 'rbf'"),
        ({"gamma": -1}, (X, Y), "'gamma' parameter of LabelSpreading must be a number of at least 0"),
        ({"n_neighbors": 0}, (X, Y), "'n_neighbors' parameter of LabelSpreading must be a whole number of at least 1"),
        ({"alpha": 1}, (X, Y), "'alpha' parameter of LabelSpreading must be a number greater than 0 and below 1"),
        ({"max_iter": 0}, (X, Y), "'max_iter' parameter of LabelSpreading must be a whole number"),
        ({"tol": "small"}, (X, Y), "'tol' parameter of LabelSpreading must be a number"),
        ({"kernel": "knn", "n_neighbors": 500}, (X, Y), "n_neighbors=500 of LabelSpreading is more than there are"),
        ({"kernel": lambda A, B: kernel(A, B)[:2]}, (X, Y), "The kernel returned weights of shape (2, 120)"),
        ({}, (X, np.full(120, -1)), "y has no label for LabelSpreading: all rows are -1"),
        ({}, (X, Y[:5]), "X has 120 rows but y has 5"),
        ({}, (X, Y[:5].astype(object)), "X has 120 rows but y has shape (5,)"),
        ({}, (X, np.where(Y < 0, -1, Y * 0.3)), "Unknown label type: continuous"),
        ({}, (X, Y.astype(str)), "y has dtype string, where '-1' would be a class"),
        ({}, (X, None), "LabelSpreading estimator requires y to be passed"),
    ],
)
def test_refusals(settings, data, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        LabelSpreading(**settings).fit(*data)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
