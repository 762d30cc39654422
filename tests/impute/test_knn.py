"""KNNImputer against scikit-learn's, against a loop over rows, and where there is little to learn from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer as Oracle

from learnt.impute import KNNImputer, SimpleImputer

RNG = np.random.default_rng(0)


def with_holes(n, d, share=0.2, seed=0):
    """Rows with missing cells, which have a correlation."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X[rng.random((n, d)) < share] = np.nan
    return X


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda D: np.exp(-D)])
@pytest.mark.parametrize(("n", "d", "k"), [(40, 3, 2), (700, 8, 5), (60, 4, 200)])
def test_as_scikit_learns(weights, n, d, k):
    X, Z = with_holes(n, d), with_holes(30, d, 0.3, seed=1)
    ours, theirs = KNNImputer(n_neighbors=k, weights=weights).fit(X), Oracle(n_neighbors=k, weights=weights).fit(X)
    # Its squared distances have errors of some ε times squares of cells; with weights these change means as much.
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.transform(Z), theirs.transform(Z), rtol=1e-8, atol=1e-8)


def by_hand(X, k):
    """The definition, cell by cell, with one more question than the code asks: none."""
    out = X.copy()
    for i, c in np.argwhere(np.isnan(X)):
        both = ~np.isnan(X) & ~np.isnan(X[i])
        with np.errstate(invalid="ignore"):
            far = np.nanmean(np.where(both, (X - X[i]) ** 2, np.nan), axis=1)
        far[np.isnan(X[:, c])] = np.nan
        near = np.argsort(far, kind="stable")[: min(k, np.count_nonzero(~np.isnan(far)))]
        out[i, c] = X[near, c].mean() if near.size else np.nanmean(X[:, c])
    return out


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")
@pytest.mark.parametrize("k", [1, 3])
def test_by_the_definition_with_ties(k):
    """Small integers: many rows are equally far, of which the first are taken."""
    X = RNG.integers(0, 3, size=(1100, 4)).astype(float)
    X[RNG.random(X.shape) < 0.3] = np.nan
    np.testing.assert_allclose(KNNImputer(n_neighbors=k).fit_transform(X), by_hand(X, k), rtol=1e-14)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("indicator", [False, True])
def test_columns_without_cells_and_the_indicator(keep, indicator):
    X = with_holes(50, 4)
    X[:, 2] = np.nan
    options = {"keep_empty_features": keep, "add_indicator": indicator}
    ours, theirs = KNNImputer(**options).fit(X), Oracle(**options).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-9)
    full = np.ones((3, 4))
    np.testing.assert_array_equal(ours.transform(full), theirs.transform(full))
    # scikit-learn's names leave out the empty column even where it is kept.
    kept = ["x0", "x1", "x2", "x3"] if keep else ["x0", "x1", "x3"]
    more = [f"missingindicator_x{j}" for j in range(4)] if indicator else []
    assert list(ours.get_feature_names_out()) == kept + more
    assert ours.transform(X).shape[1] == len(kept + more)


def test_another_mark_and_frames():
    X = with_holes(80, 5)
    marked = np.where(np.isnan(X), -1.0, X)
    expected = Oracle(missing_values=-1.0).fit_transform(marked)
    before = marked.copy()
    np.testing.assert_allclose(KNNImputer(missing_values=-1.0).fit_transform(marked), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(marked, before)
    frame = pd.DataFrame(X, columns=list("abcde"))
    out = KNNImputer().set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == list("abcde")
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)
    nullable = frame.astype("Float64")
    np.testing.assert_array_equal(KNNImputer(missing_values=pd.NA).fit_transform(nullable), out)
    assert KNNImputer().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_only_transform_may_fill_what_was_given():
    X = with_holes(80, 5)
    kept = X.copy()
    model = KNNImputer(copy=False).fit(X)
    np.testing.assert_array_equal(X, kept)
    out = model.transform(X)
    assert np.shares_memory(out, X)
    np.testing.assert_array_equal(out, KNNImputer().fit_transform(kept))
    np.testing.assert_array_equal(model.transform(kept.copy()), out)
    kept.flags.writeable = False
    np.testing.assert_array_equal(model.transform(kept), out)


def test_a_metric_of_ones_own():
    def cityblock(x, z, *, missing_values):
        there = (
            ~np.isnan(x) & ~np.isnan(z) if np.isnan(missing_values) else (x != missing_values) & (z != missing_values)
        )
        return np.abs(x - z)[there].mean() if there.any() else np.nan

    X = with_holes(40, 4)
    expected = Oracle(metric=cityblock).fit_transform(X)
    np.testing.assert_allclose(KNNImputer(metric=cityblock).fit_transform(X), expected, rtol=1e-12)
    marked = np.where(np.isnan(X), -9.0, X)
    again = KNNImputer(metric=cityblock, missing_values=-9.0).fit_transform(marked)
    np.testing.assert_allclose(again, expected, rtol=1e-12)


def test_little_to_learn_from():
    nan = np.nan
    # No column in common with any row that has the cell: the mean of the column.
    np.testing.assert_array_equal(
        KNNImputer().fit_transform([[nan, 1.0], [3.0, nan], [5.0, nan]])[0],
        SimpleImputer().fit([[3.0], [5.0]]).statistics_.tolist() + [1.0],
    )
    # A row at distance 0 decides alone, however near the others are.
    model = KNNImputer(weights="distance").fit([[1.0, 2.0], [1.0 + 1e-9, 8.0], [1.0, 4.0]])
    assert model.transform([[1.0, nan]])[0, 1] == 3.0
    # Weights that are all 0 say nothing.
    model = KNNImputer(weights=np.zeros_like).fit([[1.0, 2.0], [2.0, 4.0]])
    assert model.transform([[1.0, nan]])[0, 1] == 3.0
    # Squares that overflow are far, not absent.
    model = KNNImputer(n_neighbors=1).fit([[1e200, 2.0], [-1e200, 4.0]])
    assert model.transform([[9e199, nan]])[0, 1] in (2.0, 4.0)
    assert KNNImputer().fit_transform([[1.0, nan]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of KNNImputer must be a whole number of at least 1"),
        ({"weights": "near"}, "'weights' parameter"),
        ({"metric": "cosine"}, "'metric' parameter"),
        ({"missing_values": "?"}, "expected to be both numerical"),
        ({"copy": "no"}, "'copy' parameter"),
    ],
)
def test_parameters_are_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        KNNImputer(**change).fit([[1.0], [2.0]])


def test_cells_are_refused():
    with pytest.raises(ValueError, match="contains infinity at row 1, column 0, and KNNImputer"):
        KNNImputer().fit([[np.nan], [np.inf]])
    with pytest.raises(ValueError, match=r"contains NaN at row 0, column 0, and KNNImputer looks for -1"):
        KNNImputer(missing_values=-1).fit([[np.nan], [1.0]])
    with pytest.raises(ValueError, match="returned an array of shape"):
        KNNImputer(weights=lambda D: D[0]).fit([[1.0, 2.0], [2.0, 3.0]]).transform([[1.0, np.nan]])
    with pytest.raises(ValueError, match="input_features"):
        KNNImputer().fit([[1.0, 2.0]]).get_feature_names_out(["a"])
