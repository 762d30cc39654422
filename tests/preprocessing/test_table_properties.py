"""Whatever mixture of columns comes in, finite numbers go out, the same for any library and any order of rows."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learnt.preprocessing import TableEncoder, profile

quick = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)
WORDS = st.sampled_from(["red", "Wine", "näive", "old", "2020", "x-y", "don't"])
CELLS = {
    "float": st.floats(allow_nan=True, allow_infinity=True),
    "small": st.floats(-10, 10, width=32),
    "whole": st.integers(-(2**62), 2**62),
    "bool": st.booleans(),
    "level": st.sampled_from(["a", "b", " b", "c", "NA", "?", "other"]),
    "money": st.floats(-1e6, 1e6).map(lambda v: f"${v:,.2f}"),
    "comma": st.floats(0, 1e6).map(lambda v: f"{v:.2f}".replace(".", ",")),
    "any string": st.text(max_size=12),
    "date": st.dates(datetime.date(1800, 1, 1), datetime.date(2200, 1, 1)),
    "moment": st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
    "written date": st.dates(datetime.date(1970, 1, 1), datetime.date(2068, 1, 1)).map(
        lambda d: d.strftime("%d/%m/%Y")
    ),
    "text": st.lists(WORDS, min_size=3, max_size=9).map(" ".join),
    "yes": st.sampled_from(["yes", "no", "Y", ""]),
}


@st.composite
def tables(draw):
    n = draw(st.integers(2, 40))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    cells = {
        f"{kind} {k}": draw(st.lists(st.none() | CELLS[kind], min_size=n, max_size=n)) for k, kind in enumerate(kinds)
    }
    cells["x"] = list(range(n))[::-1]  # so that there is always something to learn from
    cells["x"][0] = 0.5
    return cells


def typed(table):
    """The same cells as Polars would hold them."""
    return pl.DataFrame({name: pl.Series(cells, strict=False) for name, cells in table.items()})


@quick
@given(tables())
def test_finite_numbers_come_out(table):
    encoder = TableEncoder(max_onehot=4)
    out = encoder.fit_transform(table)
    names = encoder.get_feature_names_out()
    assert out.shape == (len(table["x"]), len(names)) == (len(table["x"]), len(set(names)))
    assert out.dtype == np.float64
    assert out.flags.c_contiguous
    assert np.isfinite(out).all()
    assert np.isfinite(TableEncoder(numeric="squash", dtype="float32").fit_transform(table)).all()
    np.testing.assert_array_equal(encoder.transform(table), out)
    np.testing.assert_array_equal(TableEncoder(max_onehot=4).fit_transform(table), out)


@quick
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table, random):
    order = list(range(len(table["x"])))
    random.shuffle(order)
    shuffled = {name: [cells[k] for k in order] for name, cells in table.items()}
    encoder, other = TableEncoder(max_onehot=4).fit(table), TableEncoder(max_onehot=4).fit(shuffled)
    assert encoder.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    np.testing.assert_allclose(other.transform(table), encoder.transform(table), rtol=1e-12)
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(table)[order])


@quick
@given(tables())
def test_every_library_gives_the_same(table):
    frame = typed(table)
    encoder = TableEncoder(max_onehot=4).fit(frame)
    expected = encoder.transform(frame)
    for other in (frame.to_pandas(), frame.to_arrow(), frame.to_dict(as_series=False)):
        np.testing.assert_array_equal(encoder.transform(other), expected)
        np.testing.assert_array_equal(TableEncoder(max_onehot=4).fit(other).transform(other), expected)


@quick
@given(tables(), tables())
def test_other_rows_are_encoded_too(table, new):
    """Columns of the same names with any other cells: numbers, and at most one warning."""
    encoder = TableEncoder(max_onehot=4).fit(table)
    n = len(new["x"])
    cells = list(new.values())
    changed = {name: cells[k % len(cells)] for k, name in enumerate(table)}
    with at_most_one_warning():
        out = encoder.transform(changed)
    assert out.shape[0] == n
    assert np.isfinite(out).all()


@quick
@given(tables())
def test_rows_one_by_one(table):
    """A row alone is encoded as among others, when its types are told."""
    frame = typed(table)
    encoder = TableEncoder(max_onehot=4).fit(frame)
    whole = encoder.transform(frame)
    for k in (0, len(frame) - 1):
        np.testing.assert_array_equal(encoder.transform(frame[k : k + 1])[0], whole[k])


@quick
@given(tables())
def test_profile_takes_anything(table):
    found = profile(table, target="x")
    assert found["n_rows"] == len(table["x"])
    assert len(found["columns"]) == len(table) - 1


class at_most_one_warning:
    def __enter__(self):
        self.caught = warnings.catch_warnings(record=True)
        self.seen = self.caught.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *error):
        self.caught.__exit__(*error)
        assert len(self.seen) <= 1, [str(w.message) for w in self.seen]


def test_pandas_and_polars_missing_are_the_same():
    values = [1.0, None, 3.0]
    frames = [
        pl.DataFrame({"v": values}),
        pl.DataFrame({"v": [1.0, float("nan"), 3.0]}),
        pd.DataFrame({"v": values}),
        pd.DataFrame({"v": pd.array(values, dtype="Float64")}),
    ]
    outputs = [TableEncoder().fit_transform(frame).tolist() for frame in frames]
    assert outputs == [[[1, 0], [2, 1], [3, 0]]] * 4
