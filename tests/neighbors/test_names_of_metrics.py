"""Every metric that a table names can be searched with its algorithm, and no other."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors as oracle

from learnt.distances import METRIC_NAMES
from learnt.neighbors import VALID_METRICS, VALID_METRICS_SPARSE, NearestNeighbors

X = np.random.default_rng(0).random((30, 2))
SETTINGS = {"seuclidean": {"V": np.ones(2)}, "mahalanobis": {"VI": np.eye(2)}}


def search(algorithm, metric, store):
    rows = store(np.abs(X[:, :1] - X[:, 0]) if metric == "precomputed" else X)
    model = NearestNeighbors(algorithm=algorithm, metric=metric, metric_params=SETTINGS.get(metric))
    return model.fit(rows).kneighbors(rows, 1)[0]


@pytest.mark.parametrize("algorithm", ["ball_tree", "kd_tree", "brute"])
@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
def test_named_metrics_are_taken(algorithm):
    for metric in VALID_METRICS[algorithm]:
        assert np.isfinite(search(algorithm, metric, np.asarray)).all()
    for metric in set(METRIC_NAMES) - set(VALID_METRICS[algorithm]) - {"precomputed"}:
        with pytest.raises(ValueError, match="metric"):
            search(algorithm, metric, np.asarray)
    # What scikit-learn's table has more: a name for functions, and one that SciPy has given up.
    assert set(oracle.VALID_METRICS[algorithm]) - set(VALID_METRICS[algorithm]) <= {"pyfunc", "sokalmichener"}


def test_named_metrics_are_taken_of_sparse_rows():
    for metric in VALID_METRICS_SPARSE["brute"]:
        assert np.isfinite(search("brute", metric, sparse.csr_array)).all()
    assert VALID_METRICS_SPARSE.keys() == oracle.VALID_METRICS_SPARSE.keys()
    assert oracle.VALID_METRICS_SPARSE["brute"] <= VALID_METRICS_SPARSE["brute"]
