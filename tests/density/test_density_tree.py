"""`density.DensityTree` and `DensityForest`: against a plain search, numerical integrals, and other densities."""

import numpy as np
import pytest
from scipy import stats

from learnt.density import DensityForest, DensityTree, Histogram
from learnt.density._leaves import gaussian_worth, leaf_gaussians, log_in_cell
from learnt.engine.threads import set_threads
from learnt.forestry import (
    Box,
    CellRules,
    best_leaves,
    cell_bounds,
    constant_worth,
    grow_density,
    log_volumes,
    prune_by_likelihood,
    weigh,
)
from learnt.forestry.density import _rounds

RNG = np.random.default_rng(0)


def groups(n, d=2, seed=0):
    """Three groups of different size and spread."""
    rng = np.random.default_rng(seed)
    z = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(n, d)) * np.array([0.3, 1.0, 0.1])[z, None] + np.array([0.0, 4.0, -3.0])[z, None]


X, HELD = groups(3000), groups(3000, seed=1)
SCORES = ["squared_error", "non_uniformity", "entropy", "gaussian_entropy", "diagonal_entropy"]


def entropy(score, rows, w, unit):
    """½ log det Σ in these units, of a covariance with a ridge of 1e-6, but for the constant that no gain has."""
    covariance = np.atleast_2d(np.cov(rows.T, aweights=w, ddof=0)) / np.outer(unit, unit) + 1e-6 * np.eye(len(unit))
    if score == "diagonal_entropy":
        covariance = np.diag(np.diag(covariance))
    return 0.5 * np.linalg.slogdet(covariance)[1]


def gaussian_gain(score, rows, w, left, widths):
    """H − s H_left − (1 − s) H_right of the rows of a node, some of which go left."""
    deviation = np.sqrt(np.average((rows - np.average(rows, axis=0, weights=w)) ** 2, axis=0, weights=w))
    unit, s = np.maximum(deviation, 1e-3 * widths), w[left].sum() / w.sum()
    whole, *sides = (entropy(score, rows[part], w[part], unit) for part in (slice(None), left, ~left))
    return whole - s * sides[0] - (1 - s) * sides[1]


def gain(score, s, a, part, volume):
    if score == "squared_error":
        return part**2 / volume * (s**2 / a + (1 - s) ** 2 / (1 - a) - 1)
    if score == "non_uniformity":
        return part * abs(s - a)
    return part * (s * np.log(s / a) + (1 - s) * np.log((1 - s) / (1 - a)))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.sweep
def test_every_split_is_the_best_one(score, weighted):
    """A plain search over all leaves, features and cuts, split by split."""
    rows = RNG.normal(size=(60, 2)) ** 3
    w = RNG.uniform(0.5, 2, 60) if weighted else np.ones(60)
    box = Box(rows.min(axis=0), rows.max(axis=0))
    tree = grow_density(rows, w if weighted else None, box, CellRules(score, max_leaves=6, min_leaf=3))
    whole, leaves = np.prod(box.upper - box.lower), [(np.arange(60), box.lower, box.upper)]
    found = []
    for _ in range(5):
        best = (-1.0,)
        for at, (index, lower, upper) in enumerate(leaves):
            for f in range(2):
                x = np.sort(rows[index, f])
                for p in range(3, len(x) - 2):
                    cut = x[p - 1] + 0.5 * (x[p] - x[p - 1])
                    left = index[rows[index, f] <= cut]
                    s, a = w[left].sum() / w[index].sum(), (cut - lower[f]) / (upper[f] - lower[f])
                    if score.endswith("_entropy"):
                        goes = rows[index, f] <= cut
                        value = gaussian_gain(score, rows[index], w[index], goes, upper - lower)
                        value *= w[index].sum() / w.sum()
                    else:
                        value = gain(score, s, a, w[index].sum() / w.sum(), np.prod(upper - lower) / whole)
                    if value > best[0] * (1 + 1e-12):
                        best = (value, at, f, cut)
        value, at, f, cut = best
        index, lower, upper = leaves.pop(at)
        found.append((f, cut, value))
        inner = np.where(np.arange(2) == f, cut, upper), np.where(np.arange(2) == f, cut, lower)
        goes = rows[index, f] <= cut
        leaves += [(index[goes], lower, inner[0]), (index[~goes], inner[1], upper)]
    inner = np.flatnonzero(~tree.is_leaf)
    order = inner[np.argsort(tree.children_left[inner])]  # the order in which they were made
    assert tree.feature[order].tolist() == [f for f, _, _ in found]
    np.testing.assert_allclose(tree.threshold[order], [cut for _, cut, _ in found], rtol=1e-14)
    np.testing.assert_allclose(tree.impurity[order], [value for _, _, value in found], rtol=1e-9)
    np.testing.assert_allclose(weigh(tree, tree.apply(rows), w), tree.weighted_n_node_samples, rtol=1e-12)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("leaf", ["constant", "gaussian"])
def test_integrates_to_one(score, splitter, leaf):
    """By the midpoint rule in every cell, exact where the density is constant, or around its Gaussian."""
    model = DensityTree(criterion=score, splitter=splitter, leaf=leaf, max_leaf_nodes=40, random_state=0).fit(X)
    lower, upper = (b[model.tree_.is_leaf] for b in cell_bounds(model.tree_, Box(model.lower_, model.upper_)))
    assert np.prod(upper - lower, axis=1).sum() == pytest.approx(np.prod(model.upper_ - model.lower_))
    m = 1
    if leaf == "gaussian":  # up to eight deviations in steps of at most 0.27: the rule is wrong by h²/12 φ′ < 2e-3
        center, scale = (part[model.tree_.is_leaf] for part in (model.leaf_center_, model.leaf_scale_))
        m, lower, upper = 60, np.maximum(lower, center - 8 * scale), np.minimum(upper, center + 8 * scale)
    u = np.stack([part.ravel() for part in np.meshgrid(*[(np.arange(m) + 0.5) / m] * 2)], axis=1)
    total = 0.0
    for low, high in zip(lower, upper, strict=True):
        total += np.exp(model.score_samples(low + u * (high - low))).mean() * np.prod(high - low)
    assert total == pytest.approx(1, abs=1e-9 if leaf == "constant" else 1e-2)


@pytest.mark.parametrize("leaf", ["constant", "gaussian"])
def test_a_gaussian_leaf_is_normalised_in_its_cell(leaf):
    rows = RNG.normal(size=(400, 1))
    model = DensityTree(leaf=leaf, max_leaf_nodes=3, validation_fraction=None).fit(rows)
    x, dx = np.linspace(model.lower_[0], model.upper_[0], 200001, retstep=True)
    assert np.exp(model.score_samples(x[:, None])).sum() * dx == pytest.approx(1, abs=1e-3)
    one = DensityTree(leaf=leaf, max_leaf_nodes=1, validation_fraction=None).fit(rows)
    low, high = one.lower_[0], one.upper_[0]
    even, m, s = stats.uniform(low, high - low), rows.mean(), rows.std()
    gaussian = stats.truncnorm((low - m) / s, (high - m) / s, m, s)
    share = 1 if leaf == "constant" else 1 / 401  # one row beside the 400
    expected = np.log((1 - share) * gaussian.pdf(rows[:, 0]) + share * even.pdf(rows[:, 0]))
    np.testing.assert_allclose(one.score_samples(rows), expected, rtol=1e-10)
    cdf = lambda x: (1 - share) * gaussian.cdf(x) + share * even.cdf(x)  # noqa: E731
    assert stats.kstest(one.sample(3000, random_state=0)[:, 0], cdf).pvalue > 1e-3


def test_rows_beside_a_value_that_repeats_are_possible():
    """The Gaussian of many equal rows is narrow; another row in their cell is as rare as one among them."""
    n = 2000
    rows = np.append(np.full(n, 0.25), [0.0, 1.0])[:, None]
    model = DensityTree(leaf="gaussian", max_leaf_nodes=1, validation_fraction=None).fit(rows)
    new = np.linspace(0.01, 0.99, 50)[:, None]
    assert model.score_samples(new).min() > -np.log(n + 3) - 1e-9
    x = np.linspace(0, 1, 2_000_001)
    assert np.trapezoid(np.exp(model.score_samples(x[:, None])), x) == pytest.approx(1, abs=1e-6)
    drawn = model.sample(200_000, random_state=0)[:, 0]
    far = np.abs(drawn - 0.25) > 0.1
    # of one row in 2,003 spread evenly, four fifths are far: five standard deviations of a binomial count
    expected = 200_000 * 0.8 / (n + 3)
    assert abs(far.sum() - expected) < 5 * expected**0.5


def test_repeated_values_on_either_side_of_a_split_are_likely_rows():
    """Rounded measurements, where a leaf may hold one value many times: held-out rows keep a fair density."""
    rng = np.random.default_rng(3)
    table = np.round(np.concatenate([rng.normal(size=(3000, 2)), rng.exponential(3, size=(3000, 2))]), 1)
    order = rng.permutation(len(table))
    seen, held = table[order[:5000]], table[order[5000:]]
    even = DensityTree(random_state=0).fit(seen)
    held = held[np.isfinite(even.score_samples(held))]
    for criterion in SCORES:
        model = DensityTree(leaf="gaussian", criterion=criterion, random_state=0).fit(seen)
        assert model.score_samples(held).min() > -30
        assert model.score(held) > even.score(held) - 1.0


@pytest.mark.parametrize("leaf", ["constant", "gaussian"])
@pytest.mark.parametrize("cls", [DensityTree, DensityForest])
def test_a_sample_follows_the_density(cls, leaf):
    few = {"n_estimators": 5} if cls is DensityForest else {}
    model = cls(leaf=leaf, random_state=0, **few).fit(X[:, :1])
    x = np.linspace(X[:, 0].min(), X[:, 0].max(), 400001)
    cdf = np.cumsum(np.exp(model.score_samples(x[:, None])))
    assert (
        stats.kstest(model.sample(3000, random_state=1)[:, 0], lambda t: np.interp(t, x, cdf / cdf[-1])).pvalue > 1e-3
    )
    np.testing.assert_array_equal(model.sample(5, random_state=2), model.sample(5, random_state=2))


@pytest.mark.parametrize("score", ["squared_error", "entropy"])
def test_beats_a_grid_at_equal_leaves(score):
    model = DensityTree(criterion=score, max_leaf_nodes=64, validation_fraction=None, random_state=0).fit(X)
    grid = Histogram(bins=8, alpha=1).fit(X)
    inside = Box(model.lower_, model.upper_).holds(HELD)
    assert inside.mean() > 0.99
    assert model.get_n_leaves() == 64 == grid.counts_.size
    # four standard errors of the mean difference
    difference = model.score_samples(HELD[inside]) - grid.score_samples(HELD[inside])
    assert difference.mean() > 4 * difference.std() / len(difference) ** 0.5


def test_pruning_helps_rows_not_seen():
    noisy = DensityTree(min_samples_leaf=2, validation_fraction=None).fit(X)
    pruned = DensityTree(min_samples_leaf=2, random_state=0).fit(X)
    inside = Box(pruned.lower_, pruned.upper_).holds(HELD)
    assert pruned.get_n_leaves() < noisy.get_n_leaves() / 2
    assert pruned.score(HELD[inside]) > noisy.score(HELD[inside]) + 0.1


def test_pruning_keeps_the_best_subtree():
    """Leaves at a price against the recursion written out; the price is the one that held-out rows like best."""
    rows, held = X[:300], X[300:500]
    box = Box(X.min(axis=0), X.max(axis=0))
    tree = grow_density(rows, None, box, CellRules(max_leaves=30, min_leaf=2))
    p = np.log(tree.weighted_n_node_samples / 300) - log_volumes(tree, box)
    worth, of_held = (constant_worth(tree, box, weigh(tree, tree.apply(part), None)) for part in (rows, held))
    np.testing.assert_allclose(worth, tree.weighted_n_node_samples * p)

    def best(node, price):
        own = worth[node] - price
        if tree.is_leaf[node]:
            return own
        return max(own, best(tree.children_left[node], price) + best(tree.children_right[node], price))

    likelihoods = []
    for price in (0.0, 1.0, 3.0, 10.0, 1e4):
        keep, leaf = best_leaves(tree, worth, price)
        assert (worth[leaf] - price).sum() == pytest.approx(best(0, price))
        assert keep.sum() == 2 * leaf.sum() - 1
        likelihoods.append(of_held[leaf].sum())
    pruned = prune_by_likelihood(tree, worth, of_held)
    q = np.log(pruned.weighted_n_node_samples / 300) - log_volumes(pruned, box)
    # prices are tried in steps, between which a few splits may lie
    assert q[pruned.apply(held)].sum() >= max(likelihoods) - 3
    assert 1 < pruned.n_leaves < tree.n_leaves


@pytest.mark.parametrize("weighted", [False, True])
def test_the_worth_of_a_node_with_a_gaussian(weighted):
    """Of every node, from its rows alone."""
    rows, held = X[:300], X[300:500]
    w, u = (RNG.uniform(1, 2, 300), RNG.uniform(1, 2, 200)) if weighted else (np.ones(300), np.ones(200))
    box = Box(X.min(axis=0), X.max(axis=0))
    tree = grow_density(rows, w, box, CellRules(max_leaves=12, min_leaf=2))
    found = gaussian_worth(tree, box, rows, w if weighted else None, held, u if weighted else None)
    paths, held_paths = (tree.decision_path(part).toarray().astype(bool) for part in (rows, held))
    lower, upper = cell_bounds(tree, box)
    for node in range(tree.node_count):
        here, there = paths[:, node], held_paths[:, node]
        at = np.zeros(here.sum(), dtype=int), np.zeros(there.sum(), dtype=int)
        cell = lower[node : node + 1], upper[node : node + 1]
        of = leaf_gaussians(rows[here], w[here], at[0], *cell)
        log_p = np.log(w[here].sum() / w.sum()) + log_in_cell(held[there], at[1], of, *cell)
        assert found[node] == pytest.approx((u[there] * log_p).sum(), rel=1e-9, abs=1e-9)


def cells_of(tree, box):
    """Bounds, rows and gain of every node, in an order that no numbering shows in."""
    table = np.column_stack([*cell_bounds(tree, box), tree.n_node_samples, tree.impurity])
    return table[np.lexsort(table.T)]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_grown_apart_are_those_of_one_tree(score, weighted, monkeypatch):
    rows = np.round(groups(2500), 2)  # with ties
    w = RNG.uniform(0.5, 2, 2500) if weighted else None
    box = Box(rows.min(axis=0), rows.max(axis=0))
    rules = CellRules(score, max_depth=12)
    whole = grow_density(rows, w, box, rules)
    monkeypatch.setattr(_rounds, "_LARGE", 0)
    apart = grow_density(rows, w, box, rules)
    assert (cells_of(apart, box) == cells_of(whole, box)).all()
    np.testing.assert_array_equal(weigh(apart, apart.apply(rows), None), apart.n_node_samples)
    assert (apart.children_left != whole.children_left).any()  # another numbering: it was grown apart


@pytest.mark.parametrize("score", ["squared_error", "non_uniformity", "entropy"])
def test_a_node_of_many_rows_is_cut_at_its_best_place(score):
    """Cuts that are passed over at once against every cut."""
    rows = np.column_stack([groups(2000, d=1, seed=4), RNG.normal(size=2000) ** 3, RNG.integers(0, 50, 2000)])
    box = Box(rows.min(axis=0), rows.max(axis=0))
    tree = grow_density(rows, None, box, CellRules(score, max_leaves=2, min_leaf=5))
    best = (0.0,)
    for f in range(3):
        x = np.sort(rows[:, f])
        for p in range(5, 1996):
            cut = x[p - 1] + 0.5 * (x[p] - x[p - 1])
            if x[p - 1] < x[p]:
                a = (cut - box.lower[f]) / (box.upper[f] - box.lower[f])
                best = max(best, (gain(score, p / 2000, a, 1.0, 1.0), f, cut))
    assert (tree.feature[0], tree.threshold[0]) == best[1:]
    assert tree.impurity[0] == pytest.approx(best[0], rel=1e-12)


@pytest.mark.parametrize("score", ["gaussian_entropy", "diagonal_entropy"])
def test_a_large_node_is_cut_at_its_best_place(score):
    """Two looks at 600 rows against every cut of them, in features that are far from 0 and of other units."""
    rows = np.column_stack([RNG.normal(size=600), groups(600, d=1), RNG.normal(size=600)])
    rows = (rows @ [[1.0, 0.0, 0.5], [0.0, 1.0, 0.2], [0.0, 0.0, 1.0]]) * [1.0, 1e-3, 1e3] + [0.0, 1.0, 1e6]
    box = Box(rows.min(axis=0), rows.max(axis=0))
    tree = grow_density(rows, None, box, CellRules(score, max_leaves=2, min_leaf=5))
    best = (0.0,)
    for f in range(3):
        x = np.sort(rows[:, f])
        for cut in x[4:-5] + 0.5 * (x[5:-4] - x[4:-5]):
            value = gaussian_gain(score, rows, np.ones(600), rows[:, f] <= cut, box.upper - box.lower)
            best = max(best, (value, f, cut))
    assert (tree.feature[0], tree.threshold[0]) == (best[1], pytest.approx(best[2], rel=1e-12))
    assert tree.impurity[0] == pytest.approx(best[0], rel=1e-8)


def correlated(n, seed):
    """A mixture of four Gaussians with features that go together."""
    law, rng = np.random.default_rng(1), np.random.default_rng(seed)
    maps, centers = law.normal(size=(4, 4, 4)) * 0.4, law.normal(size=(4, 4)) * 2.5
    z = rng.integers(4, size=n)
    return np.einsum("nij,nj->ni", maps[z], rng.normal(size=(n, 4))) + centers[z]


def test_the_entropy_of_gaussians_suits_gaussian_leaves():
    """On a mixture of correlated Gaussians: likelier than constant cells, and than Gaussians in cells for constants."""
    rows, held = correlated(8000, 2), correlated(24000, 3)
    gaussian = DensityTree(criterion="diagonal_entropy", leaf="gaussian", random_state=0).fit(rows)
    inside = Box(gaussian.lower_, gaussian.upper_).holds(held)
    for leaf in ("constant", "gaussian"):
        other = DensityTree(leaf=leaf, random_state=0).fit(rows)
        difference = gaussian.score_samples(held[inside]) - other.score_samples(held[inside])
        assert difference.mean() > 4 * difference.std() / len(difference) ** 0.5  # standard errors


@pytest.mark.parametrize("score", ["gaussian_entropy", "diagonal_entropy"])
def test_the_entropy_of_rows_on_a_line(score):
    """Features that say the same, and one that is constant: finite gains, and whole numbers that come many times."""
    x = RNG.integers(0, 6, 500).astype(float)
    rows = np.column_stack([x, 2 * x, np.full(500, 3.0), RNG.integers(0, 3, 500)])
    box = Box(rows.min(axis=0) - 0.5, rows.max(axis=0) + 0.5)
    tree = grow_density(rows, None, box, CellRules(score, max_leaves=8, min_leaf=5))
    assert tree.n_leaves == 8
    assert np.isfinite(tree.impurity).all()
    assert set(tree.feature[~tree.is_leaf]) <= {0, 1, 3}


def test_gaussian_leaves_need_fewer_cells():
    constant, gaussian = (DensityTree(leaf=leaf, random_state=0).fit(X) for leaf in ("constant", "gaussian"))
    inside = Box(constant.lower_, constant.upper_).holds(HELD)
    assert gaussian.get_n_leaves() < constant.get_n_leaves() / 2
    assert gaussian.score(HELD[inside]) > constant.score(HELD[inside])


def test_a_forest_varies_less_than_a_tree():
    """Over data sets of the same law, at the same points: the variance of p, and the squared error."""
    at = groups(300, seed=9)

    def densities(make):
        return np.stack([np.exp(make(seed).fit(groups(600, seed=100 + seed)).score_samples(at)) for seed in range(6)])

    trees = densities(lambda seed: DensityTree(random_state=seed))
    forests = densities(lambda seed: DensityForest(n_estimators=15, random_state=seed))
    assert forests.var(axis=0).mean() < 0.5 * trees.var(axis=0).mean()


def test_a_forest_is_likelier_than_a_tree():
    tree, forest = DensityTree(random_state=0).fit(X), DensityForest(15, random_state=0).fit(X)
    inside = Box(tree.lower_, tree.upper_).holds(HELD)
    difference = forest.score_samples(HELD[inside]) - tree.score_samples(HELD[inside])
    assert difference.mean() > 3 * difference.std() / len(difference) ** 0.5  # standard errors
    parts = [np.exp(member.score_samples(HELD[inside])) for member in forest.estimators_]
    np.testing.assert_allclose(np.exp(forest.score_samples(HELD[inside])), np.mean(parts, axis=0), rtol=1e-9)


@pytest.mark.parametrize("cls", [DensityTree, DensityForest])
def test_planted_outliers_rank_first(cls):
    planted = np.vstack([X, [[9.0, -9.0], [-9.0, 9.0], [8.5, -8.0]]])
    model = cls(random_state=0, contamination=0.01).fit(planted)
    scores = model.score_samples(planted)
    assert (scores[-3:] < np.quantile(scores[:-3], 0.01)).all()
    assert (model.predict(planted)[-3:] == -1).all()
    assert (model.predict([[100.0, 0.0]]) == -1).all()


@pytest.mark.parametrize("cls", [DensityTree, DensityForest])
def test_threads_change_nothing(cls):
    found = []
    for n in (1, 2, 3):
        set_threads(n)
        found.append(cls(random_state=0).fit(X).score_samples(HELD))
    set_threads(None)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("cls", [DensityTree, DensityForest])
@pytest.mark.parametrize("leaf", ["constant", "gaussian"])
def test_one_point_identical_points_and_constant_features(cls, leaf):
    for rows in ([[3.0, 1.0]], [[3.0, 1.0]] * 6):
        with pytest.warns(UserWarning, match="Feature 0 is constant, so it has a width of 1 around its value; drop it"):
            model = cls(leaf=leaf, random_state=0).fit(rows)
        assert np.isfinite(model.score_samples(rows)).all()
        if leaf == "constant":
            assert model.score(rows) == pytest.approx(0.0)
    with pytest.warns(UserWarning, match="Feature 1 is constant"):
        model = cls(leaf=leaf, random_state=0).fit(np.column_stack([X[:, 0], np.full(len(X), 5.0)]))
    assert np.isfinite(model.score_samples(np.column_stack([X[:, 0], np.full(len(X), 5.0)]))).all()


def test_rows_outside_are_reported():
    with pytest.warns(UserWarning, match="1 of the 2 rows lie where the density is 0"):
        assert DensityTree(random_state=0).fit(X).score([[100.0, 0.0], X[0]]) == -np.inf


def test_weights_count_rows_in_leaves():
    w = RNG.integers(1, 4, len(X))
    settings = {"max_leaf_nodes": 8, "min_samples_leaf": 1, "validation_fraction": None, "criterion": "non_uniformity"}
    a, b = DensityTree(**settings).fit(X, sample_weight=w), DensityTree(**settings).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-9)


def test_limits():
    assert DensityTree(max_leaf_nodes=9, validation_fraction=None).fit(X).get_n_leaves() == 9
    deep = DensityTree(max_depth=3, validation_fraction=None).fit(X)
    assert deep.tree_.max_depth == 3
    wide = DensityTree(min_samples_leaf=50, validation_fraction=None).fit(X)
    assert wide.tree_.n_node_samples[wide.tree_.is_leaf].min() >= 50
    np.testing.assert_array_equal(wide.apply(X), wide.tree_.apply(X))
    drawn = DensityTree(max_features=1, validation_fraction=None, max_leaf_nodes=30, random_state=0).fit(X)
    assert {0, 1} <= set(drawn.tree_.feature)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"criterion": "gini"}, "one of 'squared_error'"),
        ({"leaf": "round"}, "'constant', 'gaussian'"),
        ({"max_features": 1.5}, "a share above 0"),
        ({"validation_fraction": 1.0}, "at most 0.9"),
    ],
)
def test_refuses(settings, told):
    with pytest.raises(ValueError, match=told):
        DensityTree(**settings).fit(X)


def test_pictures():
    assert "novelty below" in DensityTree(random_state=0).fit(X[:, :1]).plot().svg
    assert DensityForest(3, random_state=0).fit(X).plot().svg.count("<rect") > 50
