"""Scores of clusters: against scikit-learn, by their definitions, and their messages."""

import numpy as np
import pytest
import sklearn.metrics as oracle
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from learnt import metrics
from learnt.distances import METRIC_NAMES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)) + 4.0 * RNG.integers(3, size=(300, 1))
LABELS = RNG.integers(4, size=300)
OTHER = np.where(RNG.uniform(size=300) < 0.5, LABELS, RNG.integers(7, size=300))

TWO = [
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure", "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score",
    "pair_confusion_matrix", "rand_score", "v_measure_score",
]  # fmt: skip
ALONE = ["calinski_harabasz_score", "davies_bouldin_score", "silhouette_samples", "silhouette_score"]


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (LABELS, OTHER),
        (OTHER, LABELS),
        (LABELS, LABELS.astype(str)),
        (LABELS, np.zeros(300)),
        (np.arange(300), np.arange(300)),
        (np.zeros(300), np.zeros(300)),
        ([0], [1]),
    ],
    ids=["noisy", "swapped", "equal", "one cluster", "all alone", "all one", "one row"],
)
def test_two_labellings_as_in_scikit_learn(name, a, b):
    np.testing.assert_allclose(getattr(metrics, name)(a, b), getattr(oracle, name)(a, b), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mean", ["min", "max", "geometric", "arithmetic"])
def test_means_of_entropies(mean):
    for name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
        ours, theirs = (getattr(m, name)(LABELS, OTHER, average_method=mean) for m in (metrics, oracle))
        assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("name", ALONE)
def test_clusters_alone_as_in_scikit_learn(name):
    labels = np.append(LABELS[:-1], 9)  # the last row is alone in its cluster
    np.testing.assert_allclose(getattr(metrics, name)(X, labels), getattr(oracle, name)(X, labels), rtol=1e-9)


def test_silhouettes_of_other_distances():
    expected = oracle.silhouette_samples(X, LABELS)
    np.testing.assert_allclose(metrics.silhouette_samples(sparse.csr_array(X), LABELS), expected, atol=1e-7)
    D = squareform(pdist(X))
    np.testing.assert_allclose(metrics.silhouette_samples(D, LABELS, metric="precomputed"), expected, rtol=1e-9)
    for metric in ("manhattan", "cosine", lambda a, b: np.abs(a - b).max()):
        ours, theirs = (m.silhouette_score(X, LABELS, metric=metric) for m in (metrics, oracle))
        assert ours == pytest.approx(theirs, rel=1e-8)
    ours, theirs = (m.silhouette_score(X, LABELS, sample_size=50, random_state=1) for m in (metrics, oracle))
    assert ours == pytest.approx(theirs, rel=1e-9)


NAMES = [name for name in METRIC_NAMES if name not in ("precomputed", "infinity", "p", "haversine")]


@pytest.mark.filterwarnings("ignore:Data was converted")
@pytest.mark.parametrize("metric", NAMES)
def test_silhouettes_by_every_metric(metric):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, size=(1500, 6)).astype(float)  # more than one block, and equal rows
    rows[~rows.any(axis=1), 0] = 1.0
    rows[0] = 0.0  # without a direction, and nothing true
    if metric == "correlation":
        rows[:, 0] += np.linspace(3, 4, 1500)  # rows that are constant have none
    labels = rng.integers(0, 3, 1500)
    options = {"p": 3} if metric == "minkowski" else {}
    ours, theirs = (m.silhouette_samples(rows, labels, metric=metric, **options) for m in (metrics, oracle))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


def test_silhouettes_of_sparse_rows_by_metric():
    for metric in ("manhattan", "cosine"):
        ours, theirs = (m.silhouette_score(sparse.csr_array(X), LABELS, metric=metric) for m in (metrics, oracle))
        assert ours == pytest.approx(theirs, rel=1e-8)
    with pytest.raises(ValueError, match="not valid for sparse input"):
        metrics.silhouette_score(sparse.csr_array(X), LABELS, metric="jaccard")


def test_equal_rows_have_no_silhouette():
    np.testing.assert_array_equal(metrics.silhouette_samples(np.ones((4, 2)), [0, 0, 1, 1]), 0.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.silhouette_score(X, np.zeros(300)), "Number of labels is 1"),
        (lambda: metrics.silhouette_score(X, np.arange(300)), "Valid values are 2 to n_samples - 1"),
        (lambda: metrics.silhouette_score(X, LABELS[:5]), "inconsistent numbers of samples"),
        (lambda: metrics.silhouette_score(np.full((4, 2), np.nan), [0, 0, 1, 1]), "NaN or infinity"),
        (lambda: metrics.silhouette_samples(X, LABELS, metric="precomputed"), "is square"),
        (lambda: metrics.adjusted_rand_score([0, 1], [0]), "inconsistent numbers of samples"),
        (lambda: metrics.normalized_mutual_info_score([0, 1], [0, 1], average_method="mode"), "average_method"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_package_of_scores_of_clusters_has_scikit_learns_names():
    import sklearn.metrics.cluster as theirs

    import learnt.metrics.cluster as ours

    assert set(ours.__all__) == set(theirs.__all__)
    assert ours.rand_score is metrics.rand_score


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("bad", [[np.nan, 1.0], [0.0, np.inf], np.array(["a", np.nan], dtype=object)], ids=str)
def test_labels_without_a_value_are_refused(name, bad):
    for labels in ([0, 1], bad), (bad, [0, 1]):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            getattr(metrics, name)(*labels)


@pytest.mark.parametrize("name", ALONE)
def test_clusters_without_a_name_are_refused(name):
    with pytest.raises(ValueError, match="contains NaN"):
        getattr(metrics, name)(X[:3], [0.0, np.nan, 1.0])


@pytest.mark.parametrize(
    "name", sorted(set(TWO) - {"fowlkes_mallows_score", "mutual_info_score", "pair_confusion_matrix"})
)
def test_no_rows_are_a_perfect_match(name):
    assert np.ravel(getattr(metrics, name)([], [])).tolist() == np.ravel(getattr(oracle, name)([], [])).tolist()


def test_one_group_tells_nothing():
    assert metrics.adjusted_mutual_info_score(np.ones(10**3), np.arange(10**3)) == 0.0


def test_information_of_a_table_at_hand():
    table = oracle.cluster.contingency_matrix(LABELS, OTHER, sparse=True)
    expected = metrics.mutual_info_score(LABELS, OTHER)
    assert metrics.mutual_info_score(None, None, contingency=table) == expected


def test_silhouettes_of_sparse_rows_in_single_precision_are_summed_in_double():
    """Squared norms minus a product lose half the digits: 2 √eps of double precision, of numbers around 1."""
    rows = np.float32([[0.2, 0.1, 0.1, 0.2, 0.1, 1.6, 0.2, 0.1]]).T
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    found = metrics.silhouette_samples(sparse.csr_array(rows), labels)
    np.testing.assert_allclose(found, metrics.silhouette_samples(rows.astype(float), labels), atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_distances_to_oneself_are_zero(kind):
    D = np.array([[0, 3, 4], [3, 0, 2], [4, 2, 0]], dtype=kind)
    metrics.silhouette_samples(D, [0, 1, 1], metric="precomputed")
    if np.dtype(kind).kind == "f":
        metrics.silhouette_samples(D + np.finfo(kind).eps * np.eye(3, dtype=kind), [0, 1, 1], metric="precomputed")
    with pytest.raises(ValueError, match="non-zero elements on the diagonal"):
        metrics.silhouette_samples(D + np.eye(3, dtype=kind), [0, 1, 1], metric="precomputed")
