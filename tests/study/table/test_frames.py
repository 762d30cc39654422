"""Tables of every library in, answers in the same library out."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from learnt.study import StudyError
from learnt.study.table._frames import Library, as_polars

CELLS = {"a": [1, 2, 3], "b": [1.5, None, 2.5], "c": ["x", None, "z"], "d": [True, False, True]}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, lambda cells: pl.DataFrame(cells).lazy(), dict])
def test_every_library_gives_the_same_table(make):
    assert as_polars(make(CELLS)).to_dict(as_series=False) == CELLS


def test_pandas_columns_that_arrow_cannot_read():
    frame = pd.DataFrame(
        {
            "mixed": [1, "a", None, 2.5],
            "period": pd.period_range("2024-01", periods=4, freq="M"),
            "kind": pd.Categorical(["u", "v", None, "u"]),
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
            "when": pd.to_datetime(["2024-01-01", None, "2024-03-01", "2024-04-01"]),
            7: [1, 2, 3, 4],
        },
        index=[10, 20, 30, 40],
    )
    found = as_polars(frame)
    assert found["mixed"].to_list() == ["1", "a", None, "2.5"]
    assert found["period"].to_list() == ["2024-01", "2024-02", "2024-03", "2024-04"]
    assert found["kind"].cast(pl.String).to_list() == ["u", "v", None, "u"]
    assert found["whole"].to_list() == [1, None, 3, 4]
    assert found["when"].null_count() == 1
    assert found["7"].to_list() == [1, 2, 3, 4]


def test_what_is_no_table_is_refused_in_one_sentence():
    for wrong in (3, np.zeros(3), object()):
        with pytest.raises(StudyError, match="table"):
            as_polars(wrong)
    with pytest.raises(StudyError, match="two columns named “a”"):
        as_polars(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_an_array_takes_the_names_it_is_given():
    assert as_polars(np.eye(2), ["u", "v"]).columns == ["u", "v"]
    assert as_polars(np.eye(2), ["u"]).columns == ["column_1", "column_2"]
    objects = as_polars(np.array([[1, "x"], [2, None]], dtype=object))
    assert objects.rows() == [(1, "x"), (2, None)]


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (pl.DataFrame({"a": [1]}), pl.DataFrame),
        (pd.DataFrame({"a": [1]}), pd.DataFrame),
        (pa.table({"a": [1]}), pa.Table),
    ],
)
def test_what_comes_out_is_of_the_library_that_came_in(table, kind):
    made = Library.of(table).frame(
        pl.DataFrame({"n": [1.5], "s": ["x"], "b": [None]}, schema_overrides={"b": pl.Boolean})
    )
    assert isinstance(made, kind)
    assert as_polars(made)["s"].to_list() == ["x"]


def test_pandas_keeps_the_index_of_the_rows_that_came_in():
    rows = pd.DataFrame({"a": [1, 2]}, index=["p", "q"])
    assert Library.of(rows).series(pl.Series("late", [True, False])).to_dict() == {"p": True, "q": False}
    about_columns = Library.of(rows).without_rows().frame(pl.DataFrame({"a": [1, 2, 3]}))
    assert about_columns.index.tolist() == [0, 1, 2]
