"""choose_k: planted numbers of clusters, its scores by their definitions, its picture, bad input."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from learnt.cluster import KMeans, choose_k

RNG = np.random.default_rng(0)


def blobs(k, d=2, n=60, apart=12.0):
    """k normal clusters on the corners of a grid, `apart` standard deviations from each other."""
    corners = np.stack(np.meshgrid(*[np.arange(3.0)] * d), axis=-1).reshape(-1, d)[:k]
    return np.repeat(corners * apart, n, axis=0) + np.random.default_rng(k).normal(size=(k * n, d))


@pytest.mark.parametrize("method", ["elbow", "silhouette", "gap"])
@pytest.mark.parametrize("k", [2, 4, 6])
def test_planted_clusters_are_found(method, k):
    assert choose_k(blobs(k), range(1, 10), method=method, random_state=0).k == k


def test_one_cloud_is_one_cluster():
    assert choose_k(RNG.normal(size=(300, 3)), range(1, 6), method="gap", random_state=0).k == 1


def test_scores_match_their_definition():
    X = blobs(3)
    found = choose_k(X, [2, 3, 4], method="silhouette", random_state=0)
    best = KMeans(3, n_init=5, random_state=0).fit(X)
    assert found.inertia[1] == pytest.approx(best.inertia_, rel=1e-9)
    assert found.scores[1] == pytest.approx(silhouette_score(X, best.labels_), rel=1e-9)
    np.testing.assert_array_equal(found.candidates, [2, 3, 4])
    assert np.isnan(choose_k(X, [1, 2, 3], method="silhouette", random_state=0).scores[0])
    gap = choose_k(X, [3, 2, 1, 4], method="gap", random_state=0)
    assert gap.scores[2] == gap.scores.max()
    assert (gap.spread > 0).all()


@pytest.mark.parametrize("method", ["elbow", "silhouette", "gap"])
def test_the_picture_names_the_choice(method):
    found = choose_k(blobs(3), range(1, 6), method=method, random_state=0)
    chart = str(found.plot())
    ElementTree.fromstring(chart)
    assert "3 clusters are chosen" in chart
    assert found._repr_svg_() == chart
    assert "chosen: 3" in chart
    assert chart.count("<circle") == (4 if method == "silhouette" else 5) + 2  # candidates, and the legend


def test_equal_rows():
    assert choose_k(np.ones((20, 2)), range(1, 4), method="elbow", random_state=0).k == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "best"}, "'method' parameter"),
        ({"candidates": [2, 3], "method": "elbow"}, "compares at least 3 candidates"),
        ({"candidates": [0, 1, 2]}, "of 1 or more clusters"),
        ({"candidates": [1, 50]}, "X has 40 rows, too few for 50 clusters"),
        ({"candidates": [1], "method": "silhouette"}, "One cluster has no silhouette"),
        ({"n_references": 1}, "'n_references' parameter"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        choose_k(blobs(2, n=20), **options)
