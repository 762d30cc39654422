"""`density.Histogram`: bins as NumPy's, and a density."""

import numpy as np
import pytest
from scipy import stats

from learnt.density import Histogram
from learnt.statistics import edges_by_rule, sorted_column

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(size=700),
    "skewed": RNG.exponential(size=400) * 1e-3,
    "two": np.append(RNG.normal(size=300), RNG.normal(8, 0.1, size=300)),
    "few": np.array([1.0, 2.0, 2.5, 7.0, 7.1]),
}
X = np.column_stack([COLUMNS["normal"], COLUMNS["normal"] ** 2 + RNG.normal(size=700)])


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("rule", ["scott", "fd", "cv", "stone", "sturges", "rice", "sqrt", "auto", 7])
def test_bins_are_numpys(name, rule):
    x = COLUMNS[name]
    model = Histogram(bins=rule).fit(x[:, None])
    edges = np.histogram_bin_edges(x, bins="stone" if rule == "cv" else rule)
    density, _ = np.histogram(x, bins=edges, density=True)
    np.testing.assert_allclose(model.bin_edges_[0], edges, rtol=1e-12)
    np.testing.assert_allclose(model.density_, density, rtol=1e-12)
    np.testing.assert_array_equal(model.counts_, np.histogram(x, bins=edges)[0])


@pytest.mark.parametrize("bins", [[3, 5], (5, 5), [np.int64(2), 9]])
def test_a_number_of_bins_for_each_feature_is_numpys(bins):
    counts, edges = np.histogramdd(X, bins=list(bins))
    model = Histogram(bins=bins).fit(X)
    for ours, theirs in zip(model.bin_edges_, edges, strict=True):
        np.testing.assert_allclose(ours, theirs)
    np.testing.assert_array_equal(model.counts_, counts)


def test_shimazakis_rule_minimises_its_cost():
    x = COLUMNS["two"]
    found = len(Histogram(bins="shimazaki").fit(x[:, None]).counts_)

    def cost(n_bins):
        counts = np.histogram(x, bins=n_bins)[0]
        return (2 * counts.mean() - ((counts - counts.mean()) ** 2).mean()) / (np.ptp(x) / n_bins) ** 2

    assert cost(found) == min(cost(n) for n in range(1, 101))
    assert found > 15  # two narrow groups far apart


def test_leaving_one_out_is_what_cv_minimises():
    """The closed form against the definition: ∫p̂² − (2/n) Σᵢ p̂₋ᵢ(xᵢ)."""
    x = COLUMNS["skewed"][:60]

    def error(n_bins):
        counts, edges = np.histogram(x, bins=n_bins)
        width = edges[1] - edges[0]
        left = counts[np.clip(np.searchsorted(edges, x, side="right") - 1, 0, n_bins - 1)] - 1
        return ((counts / len(x)) ** 2).sum() / width - 2 * (left / (len(x) - 1) / width).mean()

    found = len(Histogram(bins="cv").fit(x[:, None]).counts_)
    assert error(found) == pytest.approx(min(error(n) for n in range(1, 101)), rel=1e-12)


@pytest.mark.parametrize("rule", ["scott", "fd", "shimazaki", "cv"])
def test_the_integrated_squared_error_falls_with_more_rows(rule):
    x = np.linspace(-6, 6, 4001)
    errors = []
    for n in (100, 1000, 10000):
        model = Histogram(bins=rule).fit(np.random.default_rng(1).normal(size=(n, 1)))
        errors.append(((np.exp(model.score_samples(x[:, None])) - stats.norm.pdf(x)) ** 2).mean() * 12)
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("bins", ["scott", 5, ["fd", 4], [np.linspace(-4, 4, 6), "sqrt"]])
def test_integrates_to_one(alpha, bins):
    model = Histogram(bins=bins, alpha=alpha).fit(X)
    volume = np.multiply.outer(np.diff(model.bin_edges_[0]), np.diff(model.bin_edges_[1]))
    assert (model.density_ * volume).sum() == pytest.approx(1, abs=1e-12)
    middles = [(e[1:] + e[:-1]) / 2 for e in model.bin_edges_]
    grid = np.stack([part.ravel() for part in np.meshgrid(*middles, indexing="ij")], axis=1)
    assert (np.exp(model.score_samples(grid)) * volume.ravel()).sum() == pytest.approx(1, abs=1e-12)
    counts, _ = np.histogramdd(X, bins=model.bin_edges_)
    np.testing.assert_array_equal(model.counts_, counts)


def test_a_sample_follows_the_density():
    model = Histogram(bins="fd").fit(COLUMNS["two"][:, None])
    edges, steps = model.bin_edges_[0], np.append(0, np.cumsum(model.density_ * np.diff(model.bin_edges_[0])))
    drawn = model.sample(5000, random_state=0)
    assert stats.kstest(drawn[:, 0], lambda x: np.interp(x, edges, steps)).pvalue > 1e-3
    plane = Histogram(bins=6).fit(X)
    again = Histogram(bins=plane.bin_edges_).fit(plane.sample(20000, random_state=0))
    share, found = plane.counts_ / 700, again.counts_ / 20000
    assert (np.abs(found - share) <= 5 * np.sqrt(share / 20000)).all()


def test_planted_outliers_are_novelties():
    planted = np.append(COLUMNS["normal"], [14.0, -13.0, 15.0])[:, None]
    model = Histogram(bins=40, contamination=0.005).fit(planted)
    assert set(np.flatnonzero(model.predict(planted) == -1)) == {700, 701, 702}
    assert (model.predict([[100.0]]) == -1).all()


def test_weights_are_numbers_of_rows():
    w = RNG.integers(0, 4, 700)
    for rule in ("scott", "fd", "shimazaki", "cv", "sturges"):
        a, b = Histogram(bins=rule).fit(X, sample_weight=w), Histogram(bins=rule).fit(np.repeat(X, w, axis=0))
        np.testing.assert_allclose(a.bin_edges_[1], b.bin_edges_[1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(a.density_, b.density_, rtol=1e-10)


def test_several_features_have_wider_bins():
    one = edges_by_rule(sorted_column(X[:, 0], None, 1), "scott")
    two = Histogram(bins="scott").fit(X).bin_edges_[0]
    sigma = X[:, 0].std()
    assert len(one) - 1 == np.ceil(np.ptp(X[:, 0]) / (3.4908 * sigma * 700 ** (-1 / 3)))
    assert len(two) - 1 == np.ceil(np.ptp(X[:, 0]) / (3.4908 * sigma * 700 ** (-1 / 4)))


def test_empty_bins_are_reported():
    model = Histogram(bins=[np.arange(4.0)]).fit([[0.5], [2.5]])
    np.testing.assert_array_equal(model.score_samples([[1.5], [0.1]]), [-np.inf, np.log(0.5)])
    with pytest.warns(UserWarning, match="1 of the 2 rows lie where the density is 0.*`alpha` above 0"):
        assert model.score([[1.5], [0.1]]) == -np.inf
    assert np.isfinite(Histogram(bins=[np.arange(4.0)], alpha=1).fit([[0.5], [2.5]]).score([[1.5], [0.1]]))


@pytest.mark.parametrize("rows", [[[3.0]], [[3.0]] * 5])
def test_one_point_and_identical_points(rows):
    with pytest.warns(UserWarning, match="Feature 0 is constant"):
        model = Histogram().fit(rows)
    np.testing.assert_array_equal(model.bin_edges_[0], [2.5, 3.5])
    assert model.score(rows) == 0.0


@pytest.mark.parametrize(
    ("bins", "told"),
    [
        ("best", "one of 'scott'"),
        (0, "at least 1"),
        ([1.0, 1.0], "each larger than the one before"),
        ([3, "fd", 2], "3 entries and X has 2 features"),
        ([50.0, 60.0], "give edges around the rows"),
        (10**4, "take a DensityTree"),
    ],
)
def test_refuses(bins, told):
    with pytest.raises(ValueError, match=told):
        Histogram(bins=bins).fit(X)


def test_pictures():
    assert "novelty below" in Histogram().fit(X[:, :1]).plot().svg
    assert Histogram().fit(X).plot().svg.count("<rect") > 20


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", ["scott", "fd", 7, [np.linspace(-2, 2, 5), "cv"]])
def test_files_and_clusters_give_the_same_model(tmp_path, bins, weighted):
    import dask.array as da
    import polars as pl

    import learnt

    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(700, 2)), rng.integers(1, 4, 700).astype(float) if weighted else None
    here = Histogram(bins=bins).fit(X, sample_weight=w)
    pl.DataFrame(X, schema=["a", "b"]).with_columns(w=pl.Series(w if weighted else X[:, 0])).write_parquet(
        tmp_path / "rows.parquet"
    )
    table = learnt.scan(tmp_path / "rows.parquet")
    lazy = da.from_array(X, chunks=(300, 2))
    for rows, weights in (
        (table[["a", "b"]], table["w"]),
        (lazy, None if w is None else da.from_array(w, chunks=300)),
    ):
        there = Histogram(bins=bins).fit(rows, sample_weight=weights if weighted else None)
        for ours, theirs in zip(there.bin_edges_, here.bin_edges_, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(there.counts_, here.counts_)
        assert (there.offset_, there.outside_) == (here.offset_, here.outside_)
        np.testing.assert_array_equal(np.asarray(there.score_samples(rows)), here.score_samples(X))
