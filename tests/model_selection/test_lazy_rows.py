"""Rows that are read in blocks, where rows are to be taken by their numbers: one sentence, or the result of memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

import learnt
from learnt.linear_model import Ridge, RidgeCV
from learnt.model_selection import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
    train_validation_test_split,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=90)

USES = {
    "train_test_split": train_test_split,
    "train_validation_test_split": train_validation_test_split,
    "cross_val_score": lambda X, y: cross_val_score(Ridge(), X, y),
    "cross_validate": lambda X, y: cross_validate(Ridge(), X, y),
    "cross_val_predict": lambda X, y: cross_val_predict(Ridge(), X, y),
    "learning_curve": lambda X, y: learning_curve(Ridge(), X, y),
    "RidgeCV with cv": lambda X, y: RidgeCV(cv=3).fit(X, y),
}


def in_a_file(folder):
    pl.DataFrame(X, schema=["a", "b"]).with_columns(y=pl.Series(Y)).write_parquet(folder / "rows.parquet")
    table = learnt.scan(folder / "rows.parquet")
    return table[["a", "b"]], table["y"]


def in_dask_frames(folder):
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]).assign(y=Y), npartitions=3)
    return frame[["a", "b"]], frame["y"]


def in_dask_arrays_of_unknown_chunks(folder):
    return [part.to_dask_array() for part in in_dask_frames(folder)]


PLACES = [in_a_file, in_dask_frames, in_dask_arrays_of_unknown_chunks]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("use", USES)
def test_rows_without_numbers_get_one_sentence(use, place, tmp_path):
    with pytest.raises(TypeError, match="takes rows by their numbers and was given a ") as caught:
        USES[use](*place(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_target_that_is_elsewhere_is_read(place, tmp_path):
    found = cross_val_score(Ridge(), X, place(tmp_path)[1])
    np.testing.assert_allclose(found, cross_val_score(Ridge(), X, Y), rtol=1e-12)


def test_rows_of_dask_arrays_of_known_chunks_have_numbers():
    lazy = da.from_array(X, chunks=(40, 2)), da.from_array(Y, chunks=40)
    np.testing.assert_allclose(cross_val_score(Ridge(), *lazy), cross_val_score(Ridge(), X, Y), rtol=1e-9)
    assert RidgeCV(cv=3).fit(*lazy).alpha_ == RidgeCV(cv=3).fit(X, Y).alpha_
    for there, here in zip(
        train_test_split(*lazy, random_state=0), train_test_split(X, Y, random_state=0), strict=True
    ):
        np.testing.assert_array_equal(there.compute(), here)
