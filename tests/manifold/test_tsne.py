"""t-SNE: its gradient, the perplexity, maps as good as scikit-learn's, the same on any number of threads; bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold as theirs
from sklearn.datasets import make_blobs

from learnt.engine.random import generator
from learnt.engine.threads import set_threads
from learnt.manifold import TSNE, trustworthiness
from learnt.manifold._barnes_hut import grow
from learnt.manifold._divergence import BarnesHut, Exact
from learnt.manifold._perplexity import conditional, joint

ROWS = make_blobs(120, 6, centers=4, cluster_std=2.0, random_state=0)[0]


def probabilities(n=80, k=20):
    index = np.argsort(squareform(pdist(generator(1).normal(size=(n, 4)))), axis=1)[:, 1 : k + 1]
    return joint(index, np.full((n, k), 1.0 / k))


@pytest.mark.parametrize("wanted", [2.0, 5.0, 29.5])
def test_rows_have_the_perplexity_that_was_asked_for(wanted):
    squares = np.sort(generator(0).exponential(size=(50, 30)), axis=1) * 10.0 ** generator(1).integers(-9, 9, (50, 1))
    P = conditional(squares, wanted)
    entropies = -(P * np.log(np.where(P > 0, P, 1.0))).sum(axis=1)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    # The bisection stops when the logarithm is off by 1e-6; beyond that it is rounding of sums of 30 numbers.
    np.testing.assert_allclose(entropies, np.log(wanted), atol=2e-6)


def test_equal_neighbours_share_equally():
    np.testing.assert_allclose(conditional(np.zeros((2, 10)), 3.0), 0.1, rtol=1e-12)
    near = conditional(np.r_[np.zeros(5), np.full(5, 1.0)][None], 2.0)  # five at one place: at least a perplexity of 5
    np.testing.assert_allclose(near[0], np.r_[np.full(5, 0.2), np.zeros(5)], atol=1e-12)


def test_joint_probabilities_are_symmetric_and_add_up_to_one():
    P = probabilities()
    assert abs(P - P.T).max() == 0
    assert P.sum() == pytest.approx(1.0, abs=1e-14)


def formula(P, Y, freedom):
    """KL of pairs, from its definition."""
    u = (1.0 + squareform(pdist(Y)) ** 2 / freedom) ** (-(freedom + 1.0) / 2.0)
    np.fill_diagonal(u, 0.0)
    p, q = P.toarray(), u / u.sum()
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_exact_gradient_is_that_of_the_formula(d):
    P, Y = probabilities(), generator(2).normal(size=(80, d))
    objective = Exact(P, d)
    value, gradient = objective(Y)
    assert value == pytest.approx(formula(P, Y, max(d - 1, 1)), rel=1e-12)
    along, h = generator(3).normal(size=Y.shape), 1e-5
    slope = (formula(P, Y + h * along, max(d - 1, 1)) - formula(P, Y - h * along, max(d - 1, 1))) / (2 * h)
    # Central differences are off by h² times a third derivative (sums of P are 1) and rounding over h.
    assert (gradient * along).sum() == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_tree_goes_to_the_exact_gradient_with_its_angle(d):
    P, Y = probabilities(), generator(2).normal(size=(80, d)) * 3.0
    value, gradient = Exact(P, d)(Y)
    errors = []
    for angle in (0.8, 0.4, 0.1, 0.0):
        found, close = BarnesHut(P, d, angle)(Y)
        errors.append(abs(close - gradient).max() / abs(gradient).max())
        # A cell counts as one point at its mean: what is left is of second order in the angle.
        assert errors[-1] <= angle**2 + 1e-12
        assert abs(found - value) <= angle**2 + 1e-12
    assert errors[-1] <= errors[0]


@pytest.mark.parametrize("d", [2, 3])
def test_the_tree_holds_every_point_once(d):
    Y = np.round(generator(0).normal(size=(500, d)), 1)  # many points at one place
    Y[:100] = 0.0
    tree = grow(Y)
    assert sorted(tree.order.tolist()) == list(range(500))
    cells, leaves = tree.cells, tree.leaves
    np.testing.assert_array_equal(cells.first[leaves][1:], cells.last[leaves][:-1])
    assert (cells.first[leaves[0]], cells.last[leaves[-1]]) == (0, 500)
    for i in range(len(cells.first)):
        inside = Y[tree.order[cells.first[i] : cells.last[i]]]
        np.testing.assert_array_equal(cells.low[i], inside.min(axis=0))
        np.testing.assert_array_equal(cells.high[i], inside.max(axis=0))
        np.testing.assert_allclose(cells.center[i], inside.mean(axis=0), atol=1e-12)


def test_maps_are_as_good_as_those_of_scikit_learn():
    ours, others, kept = [], [], []
    for seed in range(3):
        settings = {"init": "random", "random_state": seed, "perplexity": 15, "max_iter": 500}
        model, other = TSNE(**settings).fit(ROWS), theirs.TSNE(**settings).fit(ROWS)
        ours.append(model.kl_divergence_)
        others.append(other.kl_divergence_)
        kept.append(trustworthiness(ROWS, model.embedding_) - trustworthiness(ROWS, other.embedding_))
    # Minima of random starts differ: no worse than the spread over starts, or a fiftieth.
    assert np.mean(ours) <= np.mean(others) + max(3 * np.std(others), 0.02 * np.mean(others))
    assert np.mean(kept) > -0.01


@pytest.mark.parametrize("method", ["barnes_hut", "exact"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_groups_are_apart_in_every_dimension(method, d):
    X, labels = make_blobs(60, 5, centers=3, random_state=1)
    model = TSNE(d, method=method, perplexity=8, max_iter=400, random_state=0).fit(X)
    assert model.embedding_.shape == (60, d)
    assert model.embedding_.dtype == np.float32
    D = squareform(pdist(model.embedding_))
    np.fill_diagonal(D, np.inf)
    assert (labels[D.argmin(axis=1)] == labels).mean() > 0.95
    assert model.n_iter_ <= 399


@pytest.mark.parametrize("d", [2, 3])
def test_threads_change_nothing(d):
    X = generator(0).normal(size=(2500, 3))
    index = np.argsort(generator(1).random((2500, 30)), axis=1)
    P, Y = joint(index, np.full((2500, 30), 1 / 30)), generator(2).normal(size=(2500, d))
    assert len(grow(Y).leaves) > 128  # several tasks
    found = []
    for threads in (1, 3):
        set_threads(threads)
        value, gradient = BarnesHut(P, d, 0.5)(Y)
        found.append((value, gradient.tobytes(), conditional(np.sort(X**2, axis=1), 2.0).tobytes()))
    set_threads(None)
    assert found[0] == found[1]


def test_distances_rows_and_graphs_give_one_map():
    X = ROWS[:60]
    D = squareform(pdist(X))
    settings = {"init": "random", "random_state": 0, "perplexity": 6, "max_iter": 250}
    by_distance = TSNE(metric="precomputed", **settings)
    expected = by_distance.fit_transform(D)
    near = np.argsort(D, axis=1)[:, :25]
    graph = sparse.csr_array(
        (np.take_along_axis(D, near, axis=1).ravel(), near.ravel(), np.arange(0, 60 * 25 + 1, 25)), shape=(60, 60)
    )
    np.testing.assert_array_equal(by_distance.fit_transform(graph), expected)
    # Distances from rows differ in the last digit, which grows from step to step: it is the same minimum, roughly.
    assert TSNE(**settings).fit(X).kl_divergence_ == pytest.approx(by_distance.kl_divergence_, rel=0.1)
    np.testing.assert_array_equal(
        TSNE(**settings).fit_transform(sparse.csr_array(X)).shape, TSNE(**settings).fit_transform(X).shape
    )


def test_starts_and_stops():
    start = generator(0).normal(size=(120, 2))
    model = TSNE(init=start, max_iter=300, random_state=0).fit(ROWS)
    assert model.n_iter_ == 299
    assert model.learning_rate_ == 50.0
    early = TSNE(init=start, max_iter=2000, min_grad_norm=0.1).fit(ROWS)
    assert early.n_iter_ < 400
    assert TSNE(learning_rate=7, max_iter=250).fit(ROWS).learning_rate_ == 7.0
    tired = TSNE(init=start, max_iter=2000, n_iter_without_progress=-1, learning_rate=500)
    tired._N_ITER_CHECK = 1
    tired.fit(ROWS)
    assert tired.n_iter_ < 1999
    flat = TSNE(max_iter=250).fit(np.ones((40, 3)))
    assert np.isfinite(flat.embedding_).all()
    assert model.get_feature_names_out().tolist() == ["tsne0", "tsne1"]


def test_duplicates_are_no_trouble():
    X = np.repeat(ROWS[:20], 6, axis=0)
    for method in ("barnes_hut", "exact"):
        model = TSNE(perplexity=3, max_iter=250, method=method, random_state=0).fit(X)
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.kl_divergence_)


def test_bad_input_is_one_sentence():
    for message, settings, X in (
        (r"perplexity \(20\) must be less than n_samples \(20\)", {"perplexity": 20}, ROWS[:20]),
        ("should be inferior to 4", {"n_components": 4}, ROWS),
        ('init="pca" cannot be used with metric="precomputed"', {"metric": "precomputed"}, np.zeros((40, 40))),
        ("should be a square distance matrix", {"metric": "precomputed", "init": "random"}, ROWS),
        ("should contain positive distances", {"metric": "precomputed", "init": "random"}, -np.ones((40, 40))),
        ("distances should be positive", {"metric": lambda a, b: -1.0, "perplexity": 2, "init": "random"}, ROWS[:9]),
        ("init has shape", {"init": np.zeros((3, 2))}, ROWS),
        ("NaN", {}, np.full((40, 2), np.nan)),
        ("scale the columns", {"init": "random"}, ROWS * 1e200),
        ("'max_iter' parameter of TSNE", {"max_iter": 100}, ROWS),
        ("'perplexity' parameter of TSNE", {"perplexity": 0}, ROWS),
        ("'learning_rate' parameter of TSNE", {"learning_rate": "fast"}, ROWS),
        ("'init' parameter of TSNE", {"init": "none"}, ROWS),
    ):
        with pytest.raises(ValueError, match=message) as error, np.errstate(all="ignore"):
            TSNE(**settings).fit(X)
        assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="sparse"):
        TSNE(metric="precomputed", method="exact", init="random", perplexity=1).fit(sparse.csr_array(np.eye(5)))
    with pytest.raises(ValueError, match="neighbors per samples are required"):
        TSNE(metric="precomputed", init="random", perplexity=3).fit(sparse.csr_array(np.eye(30)))


def test_verbose_says_how_it_goes(capsys):
    TSNE(max_iter=250, verbose=1).fit(ROWS[:40])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Iteration 50: error" in captured.err


def test_trustworthiness_is_that_of_scikit_learn():
    rows = generator(0).normal(size=(70, 5))
    image = rows[:, :2] + 0.3 * generator(1).normal(size=(70, 2))
    for k in (1, 5, 30):
        for metric in ("euclidean", "cosine", "manhattan"):
            found = trustworthiness(rows, image, n_neighbors=k, metric=metric)
            expected = theirs.trustworthiness(rows, image, n_neighbors=k, metric=metric)
            assert found == pytest.approx(expected, rel=1e-12)  # a sum of integers, one division
    D = squareform(pdist(rows))
    assert trustworthiness(D, image, metric="precomputed") == trustworthiness(rows, image)
    assert trustworthiness(sparse.csr_array(rows), image) == trustworthiness(rows, image)
    assert trustworthiness(image, 5 - image * 2) == 1.0


def test_trustworthiness_refuses_in_one_sentence():
    for message, call in (
        ("less than half of the 10 rows", lambda: trustworthiness(ROWS[:10], ROWS[:10])),
        ("one row of each", lambda: trustworthiness(ROWS[:20], ROWS[:19])),
        ("square", lambda: trustworthiness(ROWS, ROWS, metric="precomputed")),
        ("NaN", lambda: trustworthiness(ROWS, np.full((120, 2), np.nan))),
    ):
        with pytest.raises(ValueError, match=message):
            call()
