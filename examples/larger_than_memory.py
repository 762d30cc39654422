"""
Larger than memory
==================

The same estimator on an array, a memory map, a Parquet file read in blocks, and a Dask collection.

All four agree to rounding; the file is never read whole.
"""

import tempfile
from pathlib import Path

import dask.array as da
import numpy as np
import polars as pl

import learnt
from learnt.linear_model import Ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 10))
y = X @ rng.normal(size=10) + rng.normal(size=200_000)

with tempfile.TemporaryDirectory() as folder:
    np.save(Path(folder) / "X.npy", X)
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(10)]).with_columns(y=pl.Series(y))
    frame.write_parquet(Path(folder) / "table.parquet")

    table = learnt.scan(Path(folder) / "table.parquet")
    models = {
        "array": Ridge().fit(X, y),
        "memory map": Ridge().fit(np.load(Path(folder) / "X.npy", mmap_mode="r"), y),
        "Parquet": Ridge().fit(table.drop("y"), table["y"]),
        "Dask": Ridge().fit(da.from_array(X, chunks=(50_000, 10)), da.from_array(y, chunks=50_000)),
    }

for name, model in models.items():
    difference = np.abs(model.coef_ - models["array"].coef_).max()
    print(f"{name:12s} largest difference {difference:.1e}")
    assert difference < 1e-10
