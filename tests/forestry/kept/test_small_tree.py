"""Trees in few bytes: nothing is lost, and what is small takes little room."""

import numpy as np
import pytest

from learnt.forestry import bin_table, grow_binned_small
from learnt.forestry.kept._small_tree import SmallTree, narrow


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 255], np.uint8),
        ([-1, 127], np.int8),
        ([0, 65535], np.uint16),
        ([-1, 30000], np.int16),
        ([-1, 70000], np.int32),
        ([0.0, 1.0], np.uint8),
        ([0.0, 1e9], np.int32),
        ([0.0, 1e10], np.float32),
        ([0.25, -3.0], np.float32),
        ([0.1, 1.0], np.float64),
        ([1e300, 0.0], np.float64),
        ([np.inf, 1.0], np.float32),
        ([], np.float64),
    ],
)
def test_the_smallest_type_that_holds_the_numbers(numbers, kind):
    given = np.array(numbers)
    short = narrow(given)
    assert short.dtype == kind
    np.testing.assert_array_equal(short.astype(given.dtype), given)


def test_a_pure_tree_takes_few_bytes_a_leaf():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=4000) > 0) * 1.0
    small, _ = grow_binned_small(bin_table(X), y, criterion="gini", n_classes=[2], max_features=5)
    grove = small.grove()
    assert len(grove.count) > 300
    assert sum(part.nbytes for part in small.parts.values()) <= 10 * len(grove.count)
    assert np.isin(grove.threshold, bin_table(X).bins.edges).all()
    assert (grove.sum(X).argmax(axis=1) == y).all()


def test_thresholds_that_are_no_edges_are_kept_as_they_are():
    parts = {
        "feature": np.array([0, -1, -1], np.int8),
        "threshold": np.array([0.3]),
        "missing_left": np.array([1], np.uint8),
        "value": np.array([[0], [1]], np.uint8),
        "count": np.array([2, 3], np.uint8),
        "weight": np.array([2, 3], np.uint8),
        "impurity": np.zeros(2, np.uint8),
    }
    tree = SmallTree(1, np.array([1]), "squared_error", np.full((1, 256), np.inf), parts)
    np.testing.assert_array_equal(tree.grove().sum(np.array([[0.2], [0.4], [np.nan]])).ravel(), [0.0, 1.0, 0.0])
