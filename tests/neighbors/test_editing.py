"""Fewer rows: decisions after editing are those before, condensed rows know all others, Gabriel by its definition."""

import numpy as np
import pytest

from learnt.neighbors import CondensedNearestNeighbor, KNeighborsClassifier, VoronoiEditing


def table(n=300, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1 % d] > 0.5)]


@pytest.mark.parametrize("d", [1, 2, 3])
def test_decisions_after_voronoi_editing_are_those_before(d):
    X, y = table(d=d)
    Q = np.random.default_rng(1).normal(size=(4000, d)) * 1.5
    edited = VoronoiEditing().fit(X, y)
    assert edited.graph_ == "voronoi"
    assert edited.n_samples_fit_ == edited.kept_indices_.size < 300
    np.testing.assert_array_equal(edited.predict(Q), KNeighborsClassifier(1).fit(X, y).predict(Q))
    for row in edited.kept_indices_[:3]:  # none of them can be missed
        others = np.setdiff1d(edited.kept_indices_, [row])
        left = KNeighborsClassifier(1).fit(X[others], y[others])
        assert d > 1 or (left.predict(Q) != edited.predict(Q)).any()


def test_points_on_a_grid_a_line_and_with_a_constant_column():
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    inside = ((grid - 4) ** 2).sum(axis=1) < 7
    Q = np.random.default_rng(0).uniform(-2, 10, size=(3000, 2))
    np.testing.assert_array_equal(
        VoronoiEditing().fit(grid, inside).predict(Q), KNeighborsClassifier(1).fit(grid, inside).predict(Q)
    )
    flat = np.column_stack([grid, np.full(81, 7.0), grid @ [1.0, 2.0]])  # two dimensions in four columns
    edited = VoronoiEditing().fit(flat, inside)
    assert edited.graph_ == "voronoi"
    np.testing.assert_array_equal(edited.predict(flat), inside)


def test_above_three_dimensions_neighbours_are_gabriels():
    X, y = table(60, d=5)
    edited = VoronoiEditing().fit(X, y)
    assert edited.graph_ == "gabriel"
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kept = [
        i
        for i in range(60)
        if any(y[i] != y[j] and all(k in (i, j) or D[i, k] + D[j, k] >= D[i, j] for k in range(60)) for j in range(60))
    ]
    np.testing.assert_array_equal(edited.kept_indices_, kept)


@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
@pytest.mark.parametrize("d", [2, 6])
def test_condensed_rows_classify_all_others(d, metric):
    X, y = table(d=d)
    model = CondensedNearestNeighbor(metric=metric).fit(X, y)
    assert model.kept_indices_.size < 150
    np.testing.assert_array_equal(model.predict(X), y)
    plain = KNeighborsClassifier(1, metric=metric).fit(X[model.kept_indices_], y[model.kept_indices_])
    np.testing.assert_array_equal(model.predict(X + 0.1), plain.predict(X + 0.1))


def test_condensing_is_harts_rule():
    X, y = table(80)
    store = sorted(np.unique(y, return_index=True)[1])
    while True:
        before = len(store)
        for i in range(80):
            nearest = min(sorted(store), key=lambda s, i=i: (((X[i] - X[s]) ** 2).sum(), s))
            if y[nearest] != y[i] and i not in store:
                store.append(i)
        if len(store) == before:
            break
    np.testing.assert_array_equal(CondensedNearestNeighbor().fit(X, y).kept_indices_, sorted(store))


@pytest.mark.parametrize("kind", [CondensedNearestNeighbor, VoronoiEditing])
def test_equal_rows_by_the_thousand_contradictions_and_one_class(kind):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 1000, axis=0)
    y = np.repeat([0, 1, 1], 1000)
    model = kind().fit(X, y)
    assert model.kept_indices_.size <= 3
    np.testing.assert_array_equal(model.predict(X), y)
    assert kind().fit(X, np.zeros(3000)).kept_indices_.size == 1
    disputed = kind().fit([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0]], [1, 0, 0])
    assert disputed.predict([[0.0, 0.0]])[0] == 1  # of equal distances the first row counts


def test_mistakes_get_one_sentence():
    X, y = table(30)
    for call, words in (
        (lambda: VoronoiEditing().fit(X, np.column_stack([y, y])), "one column of classes"),
        (lambda: CondensedNearestNeighbor(metric="precomputed").fit(X @ X.T * 0, y), "the rows themselves"),
        (lambda: CondensedNearestNeighbor().fit(X, y).predict(X[:, :1]), "1 features"),
        (lambda: VoronoiEditing().fit(np.where(X[3, 1] == X, np.nan, X), y), "NaN"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_unit_of_the_columns_changes_nothing(unit, d):
    X = np.random.default_rng(0).normal(size=(40, d))
    y = X[:, 0] > 0
    wanted = VoronoiEditing().fit(X, y).kept_indices_
    np.testing.assert_array_equal(VoronoiEditing().fit(X * unit, y).kept_indices_, wanted)
