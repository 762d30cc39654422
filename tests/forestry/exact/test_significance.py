"""Significance of splits: tails against SciPy, and growth that stops where splits could be chance."""

import numpy as np
import pytest
from scipy import stats

from learnt.forestry import Columns, grow_exact
from learnt.forestry.exact._significance import chi2_tail, f_tail, split_p_value


@pytest.mark.parametrize("df", [1, 2, 5, 40, 1000])
def test_tail_of_chi2(df):
    for x in df * np.array([1e-3, 0.5, 0.99, 1.0, 1.01, 1.5, 4.0]):
        np.testing.assert_allclose(chi2_tail(float(x), float(df)), stats.chi2.sf(x, df), rtol=1e-9)
    assert chi2_tail(0.0, float(df)) == 1


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 30), (3, 8), (20, 5000), (2, 1e6)])
def test_tail_of_f(a, b):
    for f in (1e-3, 0.3, 1.0, 2.5, 12.0, 60.0):
        np.testing.assert_allclose(f_tail(f, float(a), float(b)), stats.f.sf(f, a, b), rtol=1e-8, atol=1e-300)


def test_p_value_of_a_split():
    rng = np.random.default_rng(0)
    n, begins = 90, np.array([0, 30, 50, 90])
    parts = np.split(np.arange(n), begins[1:-1])
    rows = np.arange(n, dtype=np.int32)[None]
    y = rng.integers(3, size=(n, 1)).astype(float)
    table = np.array([np.bincount(y[p, 0].astype(int), minlength=3) for p in parts])
    none = np.empty(0)
    expected = stats.chi2_contingency(table, correction=False).pvalue
    np.testing.assert_allclose(split_p_value(begins, 3, 3, y, none, rows), expected)
    y = rng.normal(size=(n, 1))
    np.testing.assert_allclose(
        split_p_value(begins, 3, 0, y, none, rows), stats.f_oneway(*[y[p, 0] for p in parts]).pvalue
    )


@pytest.mark.long
@pytest.mark.parametrize("rules", [{}, {"max_features": 2}, {"max_leaf_nodes": 50}], ids=str)
def test_growth_stops_where_a_split_could_be_chance(rules):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    noise, step = rng.normal(size=300), 10.0 * (X[:, 0] > 0)
    for y, criterion, classes in ((noise, "squared_error", None), ((noise > 0).astype(int), "gini", [2])):
        tree = grow_exact(Columns(X), y, criterion=criterion, n_classes=classes, max_p_value=1e-9, **rules)
        assert tree.node_count == 1
    tree = grow_exact(Columns(X), noise + step, criterion="squared_error", max_p_value=1e-9)
    assert (tree.node_count, tree.feature[0]) == (3, 0)
    loose = grow_exact(Columns(X), noise, criterion="squared_error", max_p_value=0.05)
    full = grow_exact(Columns(X), noise, criterion="squared_error")
    assert 1 < loose.node_count < full.node_count
