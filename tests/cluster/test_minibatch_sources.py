"""Mini-batch k-means on rows that are read in blocks: the model of the same rows in memory."""

import numpy as np
import polars as pl
import pytest

import learnt
from learnt.cluster import MiniBatchKMeans
from learnt.engine.rows import tables


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("init", "n_init"), [("k-means++", 1), ("random", 3)])
def test_files_and_clusters_give_the_same_model(tmp_path, monkeypatch, init, n_init, weighted):
    import dask.array as da

    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 3 * 400)  # several reads
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)) + 9.0 * np.eye(3)[rng.integers(3, size=1500)]
    w = rng.uniform(0.5, 2.0, 1500)
    make = lambda: MiniBatchKMeans(3, init=init, n_init=n_init, batch_size=100, tol=1e-4, random_state=0)  # noqa: E731
    here = make().fit(X, sample_weight=w if weighted else None)
    pl.DataFrame(X, schema=list("abc")).with_columns(w=pl.Series(w)).write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    lazy = da.from_array(X, chunks=(600, 3))
    for rows, weights in ((table[list("abc")], table["w"]), (lazy, da.from_array(w, chunks=600)), (lazy, w)):
        there = make().fit(rows, sample_weight=weights if weighted else None)
        np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)
        np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)
        assert there.n_steps_ == here.n_steps_
        assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-9)


def test_a_batch_has_to_be_in_memory():
    import dask.array as da

    with pytest.raises(TypeError, match="MiniBatchKMeans needs the whole table in memory"):
        MiniBatchKMeans(2).partial_fit(da.from_array(np.eye(4), chunks=(2, 4)))


def test_a_file_is_read_once_for_the_batches_of_an_epoch(tmp_path, monkeypatch):
    """Besides: once for the start, and once each for the labels and the inertia."""
    reads, read = [], tables.Table.read
    monkeypatch.setattr(tables, "_READ_BYTES", 8 * 3 * 1000)
    monkeypatch.setattr(tables.Table, "read", lambda table, lo, hi: reads.append(lo) or read(table, lo, hi))
    X = np.random.default_rng(0).normal(size=(8000, 3))
    pl.DataFrame(X, schema=list("abc")).write_parquet(tmp_path / "rows.parquet")
    table = learnt.scan(tmp_path / "rows.parquet")
    settings = {"batch_size": 100, "max_iter": 1, "max_no_improvement": None, "random_state": 0}
    model = MiniBatchKMeans(3, **settings).fit(table)
    assert model.n_steps_ == 80
    assert max(reads.count(lo) for lo in range(0, 8000, 1000)) <= 4
