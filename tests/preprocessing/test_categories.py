"""Levels and target means: against a loop, against arithmetic, and without leaking the target."""

import numpy as np
import pytest

from learnt.preprocessing import TableEncoder
from learnt.preprocessing._categories import cross_fitted, read_target, shrunk_means


def naive_shrunk_means(rows, target, n_levels):
    """The formula of the module, level by level."""
    groups = {c: target[rows == c] for c in range(n_levels) if (rows == c).any()}
    n, m = len(rows), target.mean()
    within = sum(((g - g.mean()) ** 2).sum() for g in groups.values()) / (n - len(groups))
    between = sum(len(g) * (g.mean() - m) ** 2 for g in groups.values()) / (len(groups) - 1)
    size = (n - sum(len(g) ** 2 for g in groups.values()) / n) / (len(groups) - 1)
    tau = max((between - within) / size, 0)
    return {c: m + (g.mean() - m) * len(g) * tau / (len(g) * tau + within) for c, g in groups.items()}


def test_shrunk_means_are_the_formula():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 7, size=200)
    target = rng.normal(size=200) + rows + 1e6
    table = shrunk_means(rows, target[:, None], 9)[:, 0]
    for level, value in naive_shrunk_means(rows, target, 9).items():
        assert table[level] == pytest.approx(value, rel=1e-13)
    assert table[7] == table[8] == table[9] == pytest.approx(target.mean())  # levels never seen, and no level


def test_levels_without_effect_are_shrunk_to_the_mean():
    rng = np.random.default_rng(1)
    rows, target = rng.integers(0, 500, size=2000), rng.normal(size=(2000, 1))
    raw = np.array([target[rows == c].mean() for c in np.unique(rows)])
    assert shrunk_means(rows, target, 500).std() < 0.2 * raw.std()


def test_levels_with_effect_are_hardly_shrunk():
    rng = np.random.default_rng(2)
    effect = rng.normal(size=50)
    rows = np.repeat(np.arange(50), 40)
    target = (effect[rows] + 0.1 * rng.normal(size=2000))[:, None]
    assert np.abs(shrunk_means(rows, target, 50)[:50, 0] - effect).max() < 0.1


def test_cross_fitted_values_use_other_rows_only():
    rng = np.random.default_rng(3)
    rows, target = rng.integers(0, 20, size=300), rng.normal(size=(300, 1))
    before = cross_fitted(rows, target, 21, 5, 0)
    for row in (0, 17, 299):
        changed = target.copy()
        changed[row] += 1000
        assert cross_fitted(rows, changed, 21, 5, 0)[row] == pytest.approx(before[row], abs=1e-9)


def test_noise_does_not_leak_into_fit_transform():
    rng = np.random.default_rng(4)
    town = [f"t{k}" for k in rng.integers(0, 400, size=1200)]
    y = rng.integers(0, 2, size=1200)
    encoder = TableEncoder()
    crossed = encoder.fit_transform({"town": town}, y)[:, 0]
    assert abs(np.corrcoef(crossed + 1e-12 * rng.normal(size=1200), y)[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (np.array(["no", "yes"] * 30), ["town: share of yes"]),
        (np.array([0, 1] * 30), ["town: share of 1"]),
        (np.arange(60) / 7, ["town: mean target"]),
        (np.arange(60), ["town: mean target"]),
        (np.array([0, 1, 2] * 20), ["town: share of 0", "town: share of 1", "town: share of 2"]),
        (np.ones(60), ["town: mean target"]),
        (np.array([True, False] * 30), ["town: share of True"]),
        (np.ones((60, 2)), ["town: mean target 0", "town: mean target 1"]),
    ],
)
def test_targets_of_all_kinds(y, names):
    town = [f"t{k % 25}" for k in range(60)]
    encoder = TableEncoder()
    out = encoder.fit_transform({"town": town}, y)
    assert encoder.get_feature_names_out().tolist() == names
    assert out.shape == (60, len(names))
    assert np.isfinite(out).all()


def test_a_missing_target_is_refused():
    with pytest.raises(ValueError, match="y has 1 missing values; drop those rows"):
        read_target(np.array([1.0, np.nan, 2.0]))


def test_levels_rare_levels_and_unseen_levels():
    job = ["a"] * 5 + ["b"] * 3 + ["c", "d"] + [None, "NA"]
    encoder = TableEncoder().fit({"job": job})
    assert encoder.get_feature_names_out().tolist() == ["job=a", "job=b", "job=other", "job missing"]
    out = encoder.transform({"job": ["a", " b ", "c", "zebra", None, "?"]})
    np.testing.assert_array_equal(out.argmax(axis=1), [0, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(out.sum(axis=1), 1)


def test_unseen_levels_without_rare_ones_are_zeros():
    encoder = TableEncoder().fit({"job": ["a", "b"] * 3})
    np.testing.assert_array_equal(encoder.transform({"job": ["z", None]}), [[0, 0], [0, 0]])


@pytest.mark.parametrize(("least", "expected"), [(1, 4), (2, 3), (0.4, 2), (0, 4)])
def test_min_frequency(least, expected):
    job = ["a"] * 5 + ["b"] * 3 + ["c", "d"]
    assert TableEncoder(min_frequency=least).fit_transform({"job": job}).shape[1] == expected


def test_many_levels_without_a_target_are_frequency_and_the_commonest():
    town = ["a"] * 50 + ["b"] * 30 + [f"t{k}" for k in range(40)] * 2
    encoder = TableEncoder(max_onehot=3).fit({"town": town})
    assert encoder.get_feature_names_out().tolist() == ["town: frequency", "town=a", "town=b", "town=other"]
    out = encoder.transform({"town": ["a", "t1", "new"]})
    np.testing.assert_allclose(out, [[50 / 160, 1, 0, 0], [2 / 160, 0, 0, 1], [0, 0, 0, 1]])


def test_many_levels_dropped():
    table = {"town": [f"t{k % 30}" for k in range(90)], "x": range(90)}
    encoder = TableEncoder(high_cardinality="drop").fit({"town": table["town"], "x": list(table["x"])})
    assert encoder.get_feature_names_out().tolist() == ["x"]
    assert "30 levels" in encoder.columns_[0]["reason"]


def test_unseen_and_missing_levels_of_a_target_mean():
    town = [f"t{k % 30}" for k in range(90)] + [None] * 10
    y = np.array([float(k % 30) for k in range(90)] + [100.0] * 10)
    encoder = TableEncoder().fit({"town": town}, y)
    seen, unseen, missing = encoder.transform({"town": ["t3", "zebra", None]})[:, 0]
    assert seen == pytest.approx(3, abs=1)
    assert unseen == pytest.approx(y.mean())
    assert missing == pytest.approx(100, abs=1)


def test_folds_come_from_random_state():
    rng = np.random.default_rng(0)
    table, y = {"town": [f"t{k}" for k in rng.integers(0, 40, 200)]}, rng.normal(size=200)
    runs = [TableEncoder(random_state=s).fit_transform(table, y + rng.integers(0, 1)) for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
