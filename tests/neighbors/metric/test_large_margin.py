"""Large-margin nearest neighbours against the formula, finite differences, and a closed form."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from learnt.engine import threads
from learnt.neighbors import LMNN, KNeighborsClassifier
from learnt.neighbors.metric._large_margin import MarginObjective, targets_of

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 5))
Y = rng.integers(3, size=70)


def targets_by_scikit_learn(X, y, k):
    """A list of targets for each row."""
    found = [None] * len(X)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        near = NearestNeighbors(n_neighbors=k).fit(X[rows]).kneighbors(return_distance=False)
        for i, others in zip(rows, near, strict=True):
            found[i] = rows[others]
    return found


def slacks(A, X, y, k=3, margin=1.0):
    """Squared distances to targets, and all margin + d_ij − d_il."""
    E = X @ A.T
    d = ((E[:, None] - E[None]) ** 2).sum(axis=2)
    targets = targets_by_scikit_learn(X, y, k)
    near = np.concatenate([d[i, js] for i, js in enumerate(targets)])
    short = [margin + d[i, js][:, None] - d[i, y != y[i]] for i, js in enumerate(targets)]
    return near, np.concatenate([s.ravel() for s in short])


def by_formula(A, X, y, k=3, margin=1.0, pull=0.5):
    near, short = slacks(A, X, y, k, margin)
    return float(pull * near.sum() + (1 - pull) * np.maximum(0, short).sum())


def objective(X, y, k, margin, pull):
    order = np.argsort(y, kind="stable")
    return MarginObjective(X, y, targets_of(X[order], np.bincount(y), k), margin, pull)


@pytest.mark.parametrize("m", [1, 2, 5])  # fewer components than half the features, and more
@pytest.mark.parametrize(("k", "margin", "pull"), [(3, 1.0, 0.5), (1, 2.5, 0.0), (5, 0.1, 0.9)])
def test_the_objective_is_the_formula_and_its_slope_the_derivative(m, k, margin, pull):
    A, h = np.random.default_rng(m).normal(size=(m, 5)), 1e-5
    value, slope = objective(X, Y, k, margin, pull).smooth(A)
    assert value == pytest.approx(by_formula(A, X, Y, k, margin, pull), rel=1e-12)
    for i, j in np.ndindex(m, 5):
        step = np.zeros_like(A)
        step[i, j] = h
        (near, after), (near_before, before) = slacks(A + step, X, Y, k, margin), slacks(A - step, X, Y, k, margin)
        grown = np.maximum(0, after) - np.maximum(0, before)
        expected = (pull * (near - near_before).sum() + (1 - pull) * grown.sum()) / (2 * h)
        # Between corners all is a square, of which central differences are exact: what is left is rounding, and the
        # terms that pass a corner between the two ends, each wrong by its difference at most.
        passing = np.abs(after - before)[(after > 0) != (before > 0)].sum() / (2 * h)
        rounding = 100 * np.finfo(float).eps * value / h
        assert slope[i, j] == pytest.approx(expected, abs=rounding + passing)
        assert rounding + passing < 0.01 * np.abs(slope).max()


def test_targets_are_the_nearest_of_the_class():
    y = np.sort(Y)
    found = targets_of(X, np.bincount(y), 4)
    np.testing.assert_array_equal(found, np.stack(targets_by_scikit_learn(X, y, 4)))


@pytest.mark.parametrize("start", [1e-3, 1.0, 7.0, -100.0])
def test_one_feature_has_a_closed_form(start):
    # Two classes of two rows, at 0, 1 and 3, 4, with one target each, and M = a². Pulling costs 4 r M. Rows 1 and 3
    # want 1 + M ≤ 4M, met from M = 1/3 on (and 1 + M ≤ 9M, met sooner, as what rows 0 and 4 want). Below 1/3 pushing
    # gains 2 · 3 (1 − r) > 4 r for each unit of M where r < 0.6: the least is at M = 1/3.
    table, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    # The value rises by 1.6 a unit of M above the corner and by 2 below it: bisection ends there, up to the last steps.
    model = LMNN(n_neighbors=1, regularization=0.4, tol=1e-12, init=[[start]]).fit(table, y)
    assert model.get_mahalanobis_matrix()[0, 0] == pytest.approx(1 / 3, abs=1e-6)
    wider = LMNN(n_neighbors=1, regularization=0.4, margin=5.0, tol=1e-12, init=[[start]]).fit(table, y)
    assert wider.get_mahalanobis_matrix()[0, 0] == pytest.approx(5 / 3, abs=1e-5)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_the_table_does_not_matter(unit):
    least = by_formula(LMNN(tol=1e-7).fit(X, Y).components_, X, Y)
    other = LMNN(tol=1e-7).fit(X * unit, Y).components_
    # Steps of other lengths; each stops where one gains less than a share of 1e-7.
    assert by_formula(other * unit, X, Y) == pytest.approx(least, rel=1e-2)


def test_the_objective_is_convex_in_the_matrix_so_that_starts_end_alike():
    table, y = load_iris(return_X_y=True)
    table = table - table.mean(axis=0)
    found = [
        by_formula(LMNN(init=init, tol=1e-7, max_iter=500, random_state=0).fit(table, y).components_, table, y)
        for init in ("identity", "pca", "random")
    ]
    # Each stops where a step gains less than a share of 1e-7, so that thousands of such steps may be left.
    assert max(found) <= 1.01 * min(found)
    assert max(found) < 0.8 * by_formula(np.eye(4), table, y)


def test_it_finds_the_informative_columns():
    n = 400
    y = np.arange(n) % 2
    useful = np.c_[rng.normal(size=n), y + 0.3 * rng.normal(size=n)]
    table = np.c_[3 * rng.normal(size=(n, 6)), useful]
    train, test = slice(0, 300), slice(300, None)
    plain = KNeighborsClassifier(3).fit(table[train], y[train]).score(table[test], y[test])
    model = make_pipeline(LMNN(), KNeighborsClassifier(3)).fit(table[train], y[train])
    assert model.score(table[test], y[test]) >= plain + 0.15
    assert model[0].get_mahalanobis_matrix().diagonal().argmax() == 7


def test_the_matrix_is_the_metric_of_the_neighbours_search():
    model = LMNN(2, max_iter=3).fit(X, Y)
    E, M = model.transform(X), LMNN(max_iter=3).fit(X, Y).get_mahalanobis_matrix()
    assert E.shape == (70, 2)
    gap = X[0] - X[1]
    assert gap @ model.get_mahalanobis_matrix() @ gap == pytest.approx(((E[0] - E[1]) ** 2).sum(), rel=1e-12)
    by_matrix = KNeighborsClassifier(metric="mahalanobis", metric_params={"VI": M}).fit(X, Y).predict(X)
    by_map = make_pipeline(LMNN(max_iter=3), KNeighborsClassifier()).fit(X, Y).predict(X)
    np.testing.assert_array_equal(by_matrix, by_map)


def test_names_of_classes_and_the_order_of_rows_do_not_matter():
    names = np.array(["b", "c", "a"])[Y]
    turned = rng.permutation(70)
    first = LMNN(max_iter=200, tol=1e-7).fit(X, Y).components_
    for again in (
        LMNN(max_iter=200, tol=1e-7).fit(X, names),
        LMNN(max_iter=200, tol=1e-7).fit(X[turned], Y[turned]),
    ):
        # Sums in another order take other steps; both end within some 1e-5 of the least value.
        assert by_formula(again.components_, X, Y) == pytest.approx(by_formula(first, X, Y), rel=1e-2)


def test_small_classes_have_fewer_targets():
    y = np.r_[np.zeros(66, int), 1, 1, 1, 2]  # two targets for each row of class 1, none for that of class 2
    found = targets_of(X, np.bincount(y), 3)
    np.testing.assert_array_equal(np.sort(found[66:]), [[-1, 67, 68], [-1, 66, 68], [-1, 66, 67], [-1, -1, -1]])
    value, _ = objective(X, y, 3, 1.0, 0.5).smooth(np.eye(5))
    d = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    expected = sum(
        0.5 * d[i, j] + 0.5 * np.maximum(0, 1 + d[i, j] - d[i, y != y[i]]).sum()
        for i in range(70)
        for j in found[i]
        if j >= 0
    )
    assert value == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(LMNN(max_iter=3, n_neighbors=3).fit(X, y).components_).all()


def test_far_rows_and_equal_rows():
    far = np.r_[X, X + 1e6, X]
    model = LMNN(max_iter=5, init="identity").fit(far, np.r_[Y, Y, Y])
    assert np.isfinite(model.components_).all()
    same = LMNN(max_iter=5).fit(np.ones((20, 2)), np.arange(20) % 2)  # no map parts them
    np.testing.assert_array_equal(same.components_, np.eye(2))


def test_threads_change_no_bit():
    found = []
    for n in (1, 3):
        threads.set_threads(n)
        found.append(LMNN(max_iter=4).fit(np.tile(X, (9, 1)), np.tile(Y, 9)).components_)
    threads.set_threads(None)
    np.testing.assert_array_equal(*found)


def test_warm_start_continues_and_a_callback_is_called():
    seen = []
    model = LMNN(warm_start=True, max_iter=2, verbose=1, callback=lambda A, n: seen.append((A.shape, n)))
    with pytest.warns(ConvergenceWarning, match=r"\[LMNN\] LMNN did not converge in 2 iterations"):
        first = by_formula(model.fit(X, Y).components_, X, Y)
    assert seen == [((25,), 1), ((25,), 2)]
    assert model.n_iter_ == 3
    model.verbose = 0
    assert by_formula(model.fit(X, Y).components_, X, Y) < first


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 6}, "`n_components` (6) cannot be greater than the given data dimensionality (5)"),
        ({"init": "zeros"}, "must be one of auto, pca, lda, identity, random or an array; it is 'zeros'"),
        ({"init": np.eye(4)}, "dimensionality (4) of the given linear transformation `init` must match"),
        ({"callback": 3}, "callback must be a function"),
        ({"n_neighbors": 0}, "'n_neighbors'"),
        ({"n_neighbors": 2.5}, "'n_neighbors'"),
        ({"margin": 0.0}, "'margin'"),
        ({"margin": np.inf}, "'margin'"),
        ({"regularization": 1.5}, "'regularization'"),
        ({"regularization": 1}, "pushes none"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"tol": -1.0}, "'tol'"),
    ],
)
def test_wrong_parameters_are_a_sentence(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LMNN(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("table", "y", "message"),
    [
        (X * 1e200, Y, "overflow float64; scale the columns before LMNN"),
        (np.where(X > 2, np.nan, X), Y, "NaN"),
        (X, np.zeros(70, int), "y has 1 class"),
        (X, np.arange(70), "no two rows have the same"),
        (X, Y[:60], "70"),
        (X[:0], Y[:0], "0"),
    ],
)
def test_wrong_tables_are_a_sentence(table, y, message):
    with pytest.raises(ValueError, match=message):
        LMNN().fit(table, y)


def test_a_query_of_another_width_is_a_sentence():
    with pytest.raises(ValueError, match=r"5"):
        LMNN(max_iter=1).fit(X, Y).transform(X[:, :3])
