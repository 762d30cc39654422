"""algorithm="approximate" finds nearly all neighbours, says how many, and is kept in model files as its rows."""

import sys

import numpy as np
import pytest

import learnt
from learnt.neighbors import KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(0)
X = rng.normal(size=(2500, 24))
Q = rng.normal(size=(150, 24))


def recall(a, b):
    return np.mean([np.intersect1d(one, other).size / one.size for one, other in zip(a, b, strict=True)])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_recall_and_distances(metric):
    exact, near = (
        NearestNeighbors(n_neighbors=8, algorithm=name, metric=metric).fit(X) for name in ("brute", "approximate")
    )
    assert 0.95 <= near.recall_ <= 1.0
    assert not hasattr(exact, "recall_")
    truth, (distances, index) = exact.kneighbors(Q), near.kneighbors(Q)
    # 1,200 neighbours, of which .95 are expected: a share of .9 is seven standard errors below.
    assert recall(index, truth[1]) > 0.9
    for q in range(20):  # distances are those of the formula, ascending
        own = {
            int(i): d
            for i, d in zip(*exact.kneighbors(Q[[q]], 2500)[::-1], strict=True)
            for i, d in zip(i, d, strict=True)
        }
        np.testing.assert_array_equal(distances[q], [own[int(i)] for i in index[q]])
        assert (np.diff(distances[q]) >= 0).all()
    for a, b in zip(near.radius_neighbors(Q[:5], 0.5), exact.radius_neighbors(Q[:5], 0.5), strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one, other)


def test_threads_and_files_give_the_same_answers(tmp_path):
    y = rng.integers(0, 3, 2500)
    one, two = (KNeighborsClassifier(algorithm="approximate", n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(Q), two.predict_proba(Q))
    learnt.save(one, tmp_path / "m.learnt")
    assert (tmp_path / "m.learnt").stat().st_size < 1.2 * X.nbytes
    loaded = learnt.load(tmp_path / "m.learnt")
    np.testing.assert_array_equal(loaded.predict_proba(Q), one.predict_proba(Q))
    assert loaded.recall_ == one.recall_


def test_rows_of_zeros_few_rows_and_duplicates():
    near = NearestNeighbors(n_neighbors=2, algorithm="approximate", metric="cosine")
    T = X[:60].copy()
    T[7] = 0.0
    np.testing.assert_array_equal(near.fit(T).kneighbors(np.zeros((1, 24)))[0], 1.0)
    assert near.fit(T[:3]).kneighbors(T[:1])[1][0, 0] == 0
    same = NearestNeighbors(n_neighbors=3, algorithm="approximate").fit(np.ones((500, 2)))
    np.testing.assert_array_equal(same.kneighbors(np.ones((2, 2)))[0], 0.0)


def test_what_it_cannot_do_is_one_sentence(monkeypatch):
    with pytest.raises(ValueError, match="Approximate search is by euclidean, sqeuclidean, cosine"):
        NearestNeighbors(algorithm="approximate", metric="manhattan").fit(X)
    monkeypatch.setitem(sys.modules, "voyager", None)
    with pytest.raises(ImportError, match=r"pip install 'learnt\[ann\]'"):
        NearestNeighbors(algorithm="approximate").fit(X[:50])
