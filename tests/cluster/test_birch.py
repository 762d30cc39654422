"""Birch: scikit-learn's subclusters, what a tree of clusters must be, rows that come in parts, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.cluster import AgglomerativeClustering, Birch, KMeans
from learnt.cluster.birch._tree import is_whole

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3)) + 5.0 * RNG.integers(0, 4, size=(600, 1))


@pytest.mark.parametrize("branching", [2, 5, 50])
@pytest.mark.parametrize("threshold", [0.05, 0.7, 3.0])
def test_subclusters_are_scikit_learns(branching, threshold):
    """Distances of these rows have no ties; the order of the leaves may be another where a farthest pair is rounded."""
    options = {"threshold": threshold, "branching_factor": branching, "n_clusters": None}
    ours, oracle = Birch(**options).fit(X), theirs.Birch(**options).fit(X)
    a, b = (C[np.lexsort(C.T)] for C in (ours.subcluster_centers_, oracle.subcluster_centers_))
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        ours.subcluster_centers_[ours.labels_], oracle.subcluster_centers_[oracle.labels_], rtol=1e-10, atol=1e-10
    )
    nearest = np.linalg.norm(X[:, None] - ours.subcluster_centers_, axis=2)
    np.testing.assert_allclose(ours.transform(X), nearest, atol=1e-6)  # by products, with roots of their errors


@pytest.mark.parametrize("n_clusters", [4, "agglomerative", "kmeans"])
def test_global_clusters(n_clusters):
    member = {"agglomerative": AgglomerativeClustering(4), "kmeans": KMeans(4, random_state=0)}.get(
        n_clusters, n_clusters
    )
    ours = Birch(n_clusters=member).fit(X)
    oracle = theirs.Birch(n_clusters=4).fit(X)
    pairs = set(zip(ours.labels_.tolist(), oracle.labels_.tolist(), strict=True))
    assert len(pairs) == 4
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    assert list(ours.get_feature_names_out()[:2]) == ["birch0", "birch1"]


@pytest.mark.parametrize("threshold", [0.05, 1.0])
def test_entries_sum_up_the_rows_below_them(threshold):
    model = Birch(threshold=threshold, branching_factor=4, n_clusters=None).fit(X)
    tree = model._tree
    assert is_whole(tree, 3)
    root = slice(0, tree.filled[tree.root[0]])
    np.testing.assert_allclose(tree.total[tree.root[0], :, root].sum(axis=1), X.sum(axis=0))
    assert tree.size[tree.root[0], root].sum() == 600
    for leaf in tree.leaves():
        k = tree.filled[leaf]
        assert (tree.spread[leaf, :k] <= threshold**2 * tree.size[leaf, :k] * (1 + 1e-12)).all()
    for node in range(len(tree.filled)):
        for slot in range(tree.filled[node]):
            below = tree.child[node, slot]
            if below >= 0:
                k = tree.filled[below]
                assert tree.size[node, slot] == tree.size[below, :k].sum()
                np.testing.assert_allclose(tree.total[node, :, slot], tree.total[below, :, :k].sum(axis=1))


def test_radii_are_exact_far_from_zero():
    """Of rows about 1e8, Σ ‖x‖² / n − ‖mean‖² has no digit left."""
    near = Birch(threshold=0.7, n_clusters=None).fit(np.round(X * 64) / 64)
    far = Birch(threshold=0.7, n_clusters=None).fit(np.round(X * 64) / 64 + 2.0**27)
    pairs = set(zip(far.labels_.tolist(), near.labels_.tolist(), strict=True))
    assert len(pairs) == len(near.subcluster_centers_) == len(far.subcluster_centers_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_in_parts_sparse_and_saved(dtype, tmp_path):
    rows = np.where(X > 4.0, X, 0.0).astype(dtype)
    whole = Birch(n_clusters=3).fit(rows)
    assert whole.subcluster_centers_.dtype == whole.transform(rows).dtype == dtype
    thin = Birch(n_clusters=3).fit(sparse.csr_array(rows))
    np.testing.assert_array_equal(thin.subcluster_centers_, whole.subcluster_centers_)
    np.testing.assert_array_equal(thin.labels_, whole.labels_)
    part = Birch(n_clusters=None).partial_fit(rows[:200]).partial_fit(sparse.csr_array(rows[200:300]))
    learnt.save(part, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt").partial_fit(rows[300:])
    part.partial_fit(rows[300:])
    for model in (part, again):
        np.testing.assert_array_equal(model.subcluster_centers_, whole.subcluster_centers_)
        model.set_params(n_clusters=3).partial_fit()
        np.testing.assert_array_equal(model.subcluster_labels_, whole.subcluster_labels_)


def test_equal_rows_and_few():
    assert len(Birch(n_clusters=None, branching_factor=2).fit(np.ones((50, 2))).subcluster_centers_) == 1
    assert Birch(n_clusters=1).fit([[1.0], [1.0]]).labels_.tolist() == [0, 0]
    with pytest.warns(ConvergenceWarning, match=r"subclusters found \(1\) by BIRCH is less than \(3\)"):
        assert Birch().fit([[1.0]]).labels_.tolist() == [0]
    model = Birch(n_clusters=None, compute_labels=False).fit(X)
    assert not hasattr(model, "labels_")
    with pytest.raises(ValueError, match="X has 1 features, but Birch is expecting 3"):
        model.partial_fit(X[:, :1])


@pytest.mark.parametrize("change", [{"child": 0}, {"filled": 9}, {"after": 0}, {"root": 0}, {"size": np.nan}])
def test_a_tree_that_is_none_is_seen(change):
    tree = Birch(threshold=0.05, branching_factor=4, n_clusters=None).fit(X)._tree
    assert is_whole(tree, 3)
    assert not is_whole(tree, 4)
    [(name, value)] = change.items()
    getattr(tree, name)[:] = value
    assert not is_whole(tree, 3)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"threshold": 0.0}, "'threshold' parameter"),
        ({"branching_factor": 1}, "'branching_factor' parameter"),
        ({"n_clusters": 0}, "'n_clusters' parameter"),
        ({"n_clusters": "many"}, "'n_clusters' parameter of Birch must be None, a whole number"),
        ({"compute_labels": 1}, "'compute_labels' parameter"),
    ],
)
def test_parameters_are_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Birch(**change).fit(X)


def test_the_tree_can_be_walked_as_in_scikit_learn():
    X = np.random.default_rng(0).normal(size=(200, 2))
    ours, peer = (cls(threshold=0.2, branching_factor=5, n_clusters=None).fit(X) for cls in (Birch, theirs.Birch))

    def leaves(model):
        leaf = model.dummy_leaf_
        while (leaf := leaf.next_leaf_) is not None:
            assert leaf.prev_leaf_.next_leaf_ is leaf or leaf.prev_leaf_.subclusters_ == []
            yield leaf

    def depth(node):
        return 1 + max((depth(entry.child_) for entry in node.subclusters_ if entry.child_ is not None), default=0)

    def sums(node):
        for entry in node.subclusters_:
            if entry.child_ is not None:
                below = sums(entry.child_)
                assert entry.n_samples_ == below[0]
                # Σ of at most 200 numbers of about 1, in two orders
                np.testing.assert_allclose(entry.linear_sum_, below[1], atol=200 * 200 * np.finfo(float).eps)
        return sum(e.n_samples_ for e in node.subclusters_), sum(e.linear_sum_ for e in node.subclusters_)

    assert sums(ours.root_)[0] == 200
    assert depth(ours.root_) == depth(peer.root_)
    found = [entry for leaf in leaves(ours) for entry in leaf.subclusters_]
    np.testing.assert_array_equal([entry.centroid_ for entry in found], ours.subcluster_centers_)
    assert all(entry.radius <= ours.threshold for entry in found)
    expected = [entry.n_samples_ for leaf in leaves(peer) for entry in leaf.subclusters_]
    assert [entry.n_samples_ for entry in found] == expected
