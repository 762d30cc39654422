"""AffinityPropagation: scikit-learn's labels to the last tie, the objective of its exemplars, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.exceptions import ConvergenceWarning

from learnt.cluster import AffinityPropagation, affinity_propagation
from learnt.engine.threads import set_threads

RNG = np.random.default_rng(0)
X = RNG.normal(size=(180, 2)) + 5.0 * RNG.integers(0, 3, size=(180, 1))


def similarities(X):
    return -np.square(X[:, None, :] - X[None, :, :]).sum(axis=2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"damping": 0.9, "preference": -50.0}, {"max_iter": 5}, {"convergence_iter": 3}]
)
@pytest.mark.parametrize("rows", [X, np.round(X), X[:40]])
def test_labels_are_scikit_learns_for_the_same_seed(rows, options):
    """From the same similarities; rounded rows have many ties, which the noise decides."""
    S = similarities(rows)
    for seed in (0, 1):
        settings = {"affinity": "precomputed", "random_state": seed, **options}
        ours, oracle = AffinityPropagation(**settings).fit(S), theirs.AffinityPropagation(**settings).fit(S)
        np.testing.assert_array_equal(ours.labels_, oracle.labels_)
        np.testing.assert_array_equal(ours.cluster_centers_indices_, oracle.cluster_centers_indices_)
        np.testing.assert_array_equal(ours.affinity_matrix_, oracle.affinity_matrix_)
        assert ours.n_iter_ == oracle.n_iter_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_dense_and_sparse(dtype):
    rows = np.round(4 * X).astype(dtype)  # products of small integers have no error, however they are added up
    ours, oracle = AffinityPropagation(random_state=0).fit(rows), theirs.AffinityPropagation(random_state=0).fit(rows)
    np.testing.assert_array_equal(ours.labels_, oracle.labels_)
    np.testing.assert_array_equal(ours.cluster_centers_, rows[ours.cluster_centers_indices_])
    np.testing.assert_array_equal(ours.predict(rows[:50] + 0.25), oracle.predict(rows[:50] + 0.25))
    thin = AffinityPropagation(random_state=0).fit(sparse.csr_array(rows))
    np.testing.assert_array_equal(thin.labels_, ours.labels_)
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(rows)), ours.predict(rows))


def test_exemplars_are_the_best_of_all_choices():
    """Ten rows: of all sets of exemplars none has a larger sum of similarities and preferences."""
    S = similarities(RNG.normal(size=(10, 2)))
    rows, labels = affinity_propagation(S, preference=-2.0, damping=0.8, max_iter=2000, random_state=0)

    def net(chosen):
        near = np.delete(S[:, chosen], chosen, axis=0).max(axis=1) if len(chosen) < 10 else np.zeros(0)
        return near.sum() - 2.0 * len(chosen)

    every = [np.flatnonzero([code >> i & 1 for i in range(10)]) for code in range(1, 1024)]
    assert net(rows) == pytest.approx(max(map(net, every)))
    np.testing.assert_array_equal(labels[rows], np.arange(len(rows)))


def test_threads_and_blocks_change_nothing():
    rows = RNG.normal(size=(700, 3))  # two blocks of rows
    set_threads(1)
    one = AffinityPropagation(random_state=0, damping=0.8).fit(rows)
    set_threads(3)
    try:
        other = AffinityPropagation(random_state=0, damping=0.8).fit(rows)
    finally:
        set_threads(None)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.affinity_matrix_, other.affinity_matrix_)


def test_copy_and_preferences():
    S = similarities(X)
    kept = S.copy()
    found = affinity_propagation(S, preference=np.full(180, -30.0), random_state=0, return_n_iter=True)
    np.testing.assert_array_equal(S, kept)
    again = affinity_propagation(S, preference=-30.0, copy=False, random_state=0)
    np.testing.assert_array_equal(found[1], again[1])
    assert found[2] > 0
    np.testing.assert_allclose(S.diagonal(), -30.0)
    frozen = kept.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(
        affinity_propagation(frozen, preference=-30.0, copy=False, random_state=0)[1], again[1]
    )
    liked = np.full(180, -30.0)
    liked[7] = 0.0
    assert 7 in affinity_propagation(kept, preference=liked, random_state=0)[0]


def test_little_to_learn_from(capsys):
    with pytest.warns(UserWarning, match="mutually equal"):
        assert AffinityPropagation().fit([[1.0]]).labels_.tolist() == [0]
    with pytest.warns(UserWarning, match="mutually equal"):
        assert affinity_propagation(np.ones((3, 3)), preference=2.0)[1].tolist() == [0, 1, 2]
    with pytest.warns(ConvergenceWarning, match="has no cluster centers"):
        model = AffinityPropagation(preference=-10, max_iter=1, random_state=0, verbose=True).fit(
            [[0.0, 0.0], [1.0, 1.0], [-2.0, -2.0]]
        )
    assert "Did not converge after 1 rounds" in capsys.readouterr().err
    assert model.labels_.tolist() == [-1, -1, -1]
    assert model.cluster_centers_.shape == (0, 2)
    with pytest.warns(ConvergenceWarning, match="does not have any cluster centers"):
        assert model.predict([[1.0, 2.0]]).tolist() == [-1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"damping": 1.0}, "'damping' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"convergence_iter": 0}, "'convergence_iter' parameter"),
        ({"affinity": "rbf"}, "'affinity' parameter"),
        ({"preference": [1.0, 2.0]}, "'preference' parameter of AffinityPropagation must be None"),
        ({"preference": "low"}, "'preference' parameter"),
        ({"affinity": "precomputed"}, "must be a square array"),
    ],
)
def test_parameters_are_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        AffinityPropagation(**change).fit(X)
    model = AffinityPropagation(affinity="precomputed", random_state=0).fit(similarities(X))
    with pytest.raises(ValueError, match="not supported when affinity='precomputed'"):
        model.predict(similarities(X))
