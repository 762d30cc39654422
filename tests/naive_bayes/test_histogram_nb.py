"""HistogramNB is a product of one-dimensional histograms, from any kind of rows."""

import array_api_strict as xp
import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch

import learnt
from learnt.engine.arrays import to_numpy
from learnt.naive_bayes import GaussianNB, HistogramNB


def make(n=900, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(y, 1.0), rng.gamma(1.0 + y, 1.0), rng.uniform(0, 1 + y)])
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("bins", [12, "scott", "sturges", "rice", "sqrt"])
def test_is_the_product_of_numpys_histograms(bins):
    X, y, w = make()
    model = HistogramNB(bins=bins, alpha=0).fit(X, y, w)
    joint = model.predict_joint_log_proba(X)
    for c in range(3):
        inside = y == c
        density = np.full(len(X), w[inside].sum() / w.sum())
        for j, edges in enumerate(model.bin_edges_):
            heights, _ = np.histogram(X[inside, j], bins=edges, weights=w[inside], density=True)
            density = density * heights[np.clip(np.searchsorted(edges, X[:, j], side="right") - 1, 0, len(heights) - 1)]
        there = density > 0
        np.testing.assert_allclose(np.exp(joint[there, c]), density[there], rtol=1e-10)
        assert (np.exp(joint[~there, c]) < 1e-290).all()


def test_densities_integrate_to_one_and_smoothing_is_added_to_the_counts():
    X, y, _ = make()
    model = HistogramNB(alpha=2.0).fit(X, y)
    for edges, counts, density in zip(model.bin_edges_, model.bin_count_, model.feature_log_density_, strict=True):
        np.testing.assert_allclose((np.exp(density) * np.diff(edges)).sum(axis=1), 1.0)
        smoothed = (counts + 2) / (counts + 2).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.exp(density) * np.diff(edges), smoothed)


def test_scotts_width():
    X, y, _ = make(n=3000)
    model = HistogramNB().fit(X, y)
    for j, edges in enumerate(model.bin_edges_):
        squares = sum(((X[y == c, j] - X[y == c, j].mean()) ** 2).sum() for c in range(3))
        width = (24 * np.sqrt(np.pi)) ** (1 / 3) * np.sqrt(squares / len(y)) * (len(y) / 3) ** (-1 / 3)
        assert edges[1] - edges[0] <= width
        assert len(edges) - 2 < np.ptp(X[:, j]) / width


def test_sees_what_no_normal_density_can():
    """A ring in one dimension: the middle is one class, both ends the other."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(2000, 1))
    y = (np.abs(X[:, 0]) > 1.5).astype(int)
    assert HistogramNB(bins=20).fit(X, y).score(X, y) == pytest.approx(1.0, abs=0.02)
    assert HistogramNB(bins=20).fit(X, y).score(X, y) > GaussianNB().fit(X, y).score(X, y)


def test_every_kind_of_rows_gives_the_same(tmp_path):
    X, y, w = make(n=2000)
    expected = HistogramNB().fit(X, y, w)
    pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y)).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    kinds = {
        "dask": tuple(da.from_array(part, chunks=(300, *part.shape[1:])) for part in (X, y, w)),
        "torch": (torch.tensor(X), torch.tensor(y), torch.tensor(w)),
        "device": tuple(xp.asarray(part, device=xp.Device("device1")) for part in (X, y, w)),
        "file": (table.drop("y"), table["y"], w),
    }
    for A, b, v in kinds.values():
        model = HistogramNB().fit(A, b, v)
        for j in range(3):
            np.testing.assert_allclose(model.bin_edges_[j], expected.bin_edges_[j], rtol=1e-12)
            np.testing.assert_allclose(model.bin_count_[j], expected.bin_count_[j])
        np.testing.assert_allclose(to_numpy(model.predict_proba(A)), expected.predict_proba(X), rtol=1e-9)


def test_pieces_keep_the_bins_of_the_first():
    X, y, w = make()
    whole = HistogramNB(bins=[np.linspace(-5, 10, 16)] * 3).fit(X, y, w)
    pieces = HistogramNB(bins=np.linspace(-5, 10, 16))
    for part in np.array_split(np.arange(len(y)), 5):
        pieces.partial_fit(X[part], y[part], [0, 1, 2], w[part])
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X))


def test_a_constant_feature_and_rows_beyond_the_bins():
    X = np.column_stack([np.full(6, 7e12), np.arange(6.0)])
    model = HistogramNB(bins=3).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(model.predict([[7e12, -100.0], [7e12, 100.0], [0.0, 5.0]]), [0, 1, 1])
    assert np.isfinite(model.predict_proba([[0.0, 1e9]])).all()


def test_linear_form_is_on_indicators_of_bins():
    X, y, _ = make()
    model = HistogramNB(bins=5).fit(X, y)
    w, b = model.linear_form()
    places = [np.clip(np.searchsorted(e, X[:, j], side="right") - 1, 0, 4) for j, e in enumerate(model.bin_edges_)]
    Z = np.concatenate([place[:, None] == np.arange(5) for place in places], axis=1)
    np.testing.assert_array_equal((Z @ w.T + b).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("fine", "bins must be one of 'scott'"),
        (0, "'bins' parameter of HistogramNB"),
        (2.5, "'bins' parameter of HistogramNB"),
        ([0.0, 1.0, 1.0], "edges of feature 0 in bins must be two or more rising numbers"),
        ([[0.0, 1.0]], "bins has edges for 1 features, and X has 2"),
    ],
)
def test_refusals_are_one_sentence(bins, message):
    with pytest.raises(ValueError, match=message) as caught:
        HistogramNB(bins=bins).fit(np.eye(2), [0, 1])
    assert "\n" not in str(caught.value)
