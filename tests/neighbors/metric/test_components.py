"""Neighbourhood components analysis against its formula, finite differences and scikit-learn's objective."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NeighborhoodComponentsAnalysis as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnt.engine import threads
from learnt.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from learnt.neighbors.metric._kernels import stochastic_neighbors
from learnt.neighbors.metric._pairs import PairsObjective
from learnt.neighbors.metric._starts import components, discriminants

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 5))
Y = rng.integers(3, size=70)


def by_formula(A, X, y):
    E = X @ A.T
    d = ((E[:, None] - E[None]) ** 2).sum(axis=2)
    np.fill_diagonal(d, np.inf)
    p = np.exp(d.min(axis=1, keepdims=True) - d)
    return float(((p * (y[:, None] == y)).sum(axis=1) / p.sum(axis=1)).sum())


@pytest.mark.parametrize("m", [1, 2, 5])  # fewer components than half the features, and more
def test_the_objective_is_the_formula_and_its_slope_the_derivative(m):
    A = rng.normal(size=(m, 5))
    value, slope = PairsObjective(X, Y, stochastic_neighbors).smooth(A)
    assert -value == pytest.approx(by_formula(A, X, Y), rel=1e-12)
    h = 1e-5  # central differences: an error of h² from the third derivative, and of rounding over h
    for i, j in np.ndindex(m, 5):
        step = np.zeros_like(A)
        step[i, j] = h
        expected = -(by_formula(A + step, X, Y) - by_formula(A - step, X, Y)) / (2 * h)
        assert slope[i, j] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("settings", [{}, {"n_components": 2, "init": "pca"}, {"n_components": 1}])
def test_no_worse_than_scikit_learn(load, settings):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours, theirs = NeighborhoodComponentsAnalysis(**settings).fit(X, y), Theirs(**settings).fit(X, y)
    here, there = by_formula(ours.components_, X, y), by_formula(theirs.components_, X, y)
    # Both stop where a step gains less than a share of 1e-5, so that hundreds of such steps may be left.
    assert here >= 0.99 * there
    assert here > by_formula(np.eye(*ours.components_.shape), X, y)


def test_it_finds_the_informative_columns():
    n = 400
    y = np.arange(n) % 2
    useful = np.c_[rng.normal(size=n), y + 0.3 * rng.normal(size=n)]
    table = np.c_[3 * rng.normal(size=(n, 6)), useful]
    train, test = slice(0, 300), slice(300, None)
    plain = KNeighborsClassifier(3).fit(table[train], y[train]).score(table[test], y[test])
    learnt = make_pipeline(NeighborhoodComponentsAnalysis(random_state=0), KNeighborsClassifier(3))
    assert learnt.fit(table[train], y[train]).score(table[test], y[test]) >= plain + 0.15


def test_the_matrix_is_the_metric():
    model = NeighborhoodComponentsAnalysis(max_iter=3).fit(X, Y)
    M, E = model.get_mahalanobis_matrix(), model.transform(X)
    gap = X[0] - X[1]
    assert gap @ M @ gap == pytest.approx(((E[0] - E[1]) ** 2).sum(), rel=1e-12)


def test_one_class_or_a_class_for_each_row_is_left_as_it_is():
    for y in (np.zeros(70, int), np.arange(70)):
        model = NeighborhoodComponentsAnalysis(init="identity").fit(X, y)
        np.testing.assert_array_equal(model.transform(X), X)


def test_far_rows_and_equal_rows():
    far = np.r_[X, X + 1e6, X]  # copies at distance 0 and rows beyond the range of exp
    model = NeighborhoodComponentsAnalysis(max_iter=5, init="identity").fit(far, np.r_[Y, Y, Y])
    assert np.isfinite(model.components_).all()


def test_threads_change_no_bit():
    with_one = []
    for n in (1, 3):
        threads.set_threads(n)
        with_one.append(NeighborhoodComponentsAnalysis(max_iter=4).fit(np.tile(X, (9, 1)), np.tile(Y, 9)).components_)
    threads.set_threads(None)
    np.testing.assert_array_equal(*with_one)


def test_warm_start_continues():
    model = NeighborhoodComponentsAnalysis(warm_start=True, max_iter=3).fit(X, Y)
    first = by_formula(model.components_, X, Y)
    assert by_formula(model.fit(X, Y).components_, X, Y) > first


def test_callback_and_warning():
    seen = []
    model = NeighborhoodComponentsAnalysis(max_iter=2, verbose=1, callback=lambda A, n: seen.append((A.shape, n)))
    with pytest.warns(ConvergenceWarning, match="2 iterations"):
        model.fit(X, Y)
    assert seen == [((25,), 1), ((25,), 2)]
    assert model.n_iter_ == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 6}, "`n_components` (6) cannot be greater than the given data dimensionality (5)"),
        ({"init": "zeros"}, "must be one of auto, pca, lda, identity, random or an array; it is 'zeros'"),
        ({"init": np.eye(4)}, "dimensionality (4) of the given linear transformation `init` must match"),
        ({"init": np.ones((6, 5))}, "output dimensionality (6) of the given linear transformation `init` cannot be"),
        ({"init": np.eye(5), "n_components": 2}, "`n_components` (2) does not match the output dimensionality"),
        ({"init": np.full((2, 5), np.nan)}, "a table of finite numbers"),
        ({"callback": 3}, "callback must be a function"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"tol": -1.0}, "'tol'"),
    ],
)
def test_wrong_parameters_are_a_sentence(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        NeighborhoodComponentsAnalysis(**settings).fit(X, Y)


def test_wrong_tables_are_a_sentence():
    with pytest.raises(ValueError, match="overflow float64; scale the columns"):
        NeighborhoodComponentsAnalysis().fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="NaN"):
        NeighborhoodComponentsAnalysis().fit(np.where(X > 2, np.nan, X), Y)
    with pytest.raises(ValueError, match=r"5|expecting"):
        NeighborhoodComponentsAnalysis(max_iter=1).fit(X, Y).transform(X[:, :3])
    model = NeighborhoodComponentsAnalysis(warm_start=True, max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"\(3\) does not match .* \(5\).*warm_start"):
        model.fit(X[:, :3], Y)
    assert model.transform(X).shape == (70, 5)
    model.n_components = 2
    with pytest.raises(ValueError, match="goes on from 5 components and n_components is 2"):
        model.fit(X, Y)


def test_the_starts_are_those_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    pca = PCA(3).fit(X).components_
    np.testing.assert_allclose(np.abs(components(X, 3)), np.abs(pca), atol=1e-8)
    lda = LinearDiscriminantAnalysis().fit(X, y).scalings_.T[:2]
    np.testing.assert_allclose(np.abs(discriminants(X, y, 2)), np.abs(lda), rtol=1e-6, atol=1e-8)
    for init, m in (("lda", 3), ("pca", 71)):
        with pytest.raises(ValueError, match="n_components"):
            NeighborhoodComponentsAnalysis(m, init=init).fit(rng.normal(size=(70, 99)), Y)


def test_few_rows_give_few_discriminants_and_components_beside_them():
    """Seven rows of five classes vary in two directions within them, and three are asked for."""
    X, y = np.random.default_rng(0).normal(size=(7, 4)), np.array([0, 1, 2, 3, 4, 0, 1])
    auto, lda = (NeighborhoodComponentsAnalysis(3, init=init, max_iter=3).fit(X, y) for init in ("auto", "lda"))
    np.testing.assert_array_equal(auto.components_, lda.components_)
    start = discriminants(X, y, 3)
    np.testing.assert_array_equal(start[:2], discriminants(X, y, 2))
    np.testing.assert_allclose(start[:2] @ start[2], 0.0, atol=1e-12 * np.abs(start).max())
    assert np.linalg.norm(start[2]) == pytest.approx(1.0, rel=1e-12)
    alike = np.repeat(np.eye(4), 2, axis=0)  # the rows of each class are alike: no discriminant at all
    assert discriminants(alike, np.repeat(np.arange(4), 2), 2).shape == (2, 4)
