"""Splits: scikit-learn's rows in every container, the arrow of time, three parts, and messages."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.model_selection as oracle
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from learnt.engine.threads import set_threads
from learnt.model_selection import train_test_split, train_validation_test_split
from learnt.model_selection._take import take_array

rng = np.random.default_rng(0)
N = 97
X = rng.standard_normal((N, 4))
Y = rng.choice(["ant", "bee", "cow"], N, p=[0.6, 0.3, 0.1])


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"test_size": 0.33},
        {"test_size": 13},
        {"train_size": 0.5},
        {"train_size": 40, "test_size": 20},
        {"train_size": 0.3, "test_size": 0.2},
        {"train_size": np.int32(40), "test_size": np.float64(0.25)},
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 42, 2**31])
def test_the_same_rows_as_scikit_learn(sizes, seed):
    strata = [
        None,
        Y,
        (Y == "ant").astype(int),
        np.c_[Y == "ant", X[:, 0] > 0],
        pd.Series(Y),
        list(Y),
        Y.astype(object),
    ]
    for stratify in strata:
        ours = train_test_split(np.arange(N), X, random_state=seed, stratify=stratify, **sizes)
        theirs = oracle.train_test_split(np.arange(N), X, random_state=seed, stratify=stratify, **sizes)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    ours = train_test_split(X, shuffle=False, **sizes)
    for a, b in zip(ours, oracle.train_test_split(X, shuffle=False, **sizes), strict=True):
        np.testing.assert_array_equal(a, b)


def test_many_classes_and_ties_among_them():
    y = rng.integers(0, 300, 5_000)
    y[:600] = np.repeat(np.arange(300), 2)
    for seed in range(5):
        ours = train_test_split(np.arange(5_000), random_state=seed, stratify=y, test_size=0.3)
        theirs = oracle.train_test_split(np.arange(5_000), random_state=seed, stratify=y, test_size=0.3)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_random_states_that_carry_on():
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    for _ in range(3):
        a = train_test_split(np.arange(50), random_state=ours)
        b = oracle.train_test_split(np.arange(50), random_state=theirs)
        np.testing.assert_array_equal(a[1], b[1])
    np.random.seed(5)
    a = train_test_split(np.arange(50))
    np.random.seed(5)
    np.testing.assert_array_equal(a[1], oracle.train_test_split(np.arange(50))[1])


CONTAINERS = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "strided": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    "float32": lambda A: A.astype(np.float32),
    "strings": lambda A: A.round(1).astype(str),
    "objects": lambda A: A.astype(object),
    "three axes": lambda A: A.reshape(N, 2, 2),
    "list": lambda A: A.tolist(),
    "pandas": lambda A: pd.DataFrame(A, columns=list("abcd"), index=np.arange(N) + 1000),
    "pandas series": lambda A: pd.Series(A[:, 0], name="a"),
    "polars": lambda A: pl.DataFrame(A, schema=list("abcd")),
    "polars series": lambda A: pl.Series("a", A[:, 0]),
    "csr": csr_array,
    "csr matrix": csr_matrix,
    "csc": csc_array,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers_come_back_as_they_were(kind):
    table = CONTAINERS[kind](X)
    ours, theirs = train_test_split(table, random_state=0), oracle.train_test_split(table, random_state=0)
    for a, b in zip(ours, theirs, strict=True):
        assert type(a) is type(b)
        if hasattr(a, "toarray"):
            assert a.format == b.format
            np.testing.assert_array_equal(a.toarray(), b.toarray())
        elif kind.startswith("pandas"):
            assert a.equals(b)
            assert a.index.equals(b.index)
        else:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
            assert not isinstance(a, np.ndarray) or a.dtype == b.dtype


def test_containers_that_scikit_learn_does_not_take(tmp_path):
    expected = train_test_split(X, random_state=0)[1]
    np.save(tmp_path / "X.npy", X)
    others = {
        "torch": torch.tensor(X),
        "arrow": pa.table(dict(zip("abcd", X.T, strict=True))),
        "memory map": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "coo": coo_array(X),
    }
    for kind, table in others.items():
        train, test = train_test_split(table, random_state=0)
        if kind == "coo":
            test = test.toarray()
        values = np.column_stack(list(test.to_pydict().values())) if kind == "arrow" else np.asarray(test)
        np.testing.assert_array_equal(values, expected)
        assert train.shape[0] == 72
    assert type(train_test_split(others["memory map"])[0]) is np.ndarray
    tensors = train_test_split(torch.tensor(X), torch.tensor(np.arange(N) % 2), stratify=torch.tensor(np.arange(N) % 2))
    assert all(isinstance(part, torch.Tensor) for part in tensors)
    assert train_test_split(X, None)[2:] == [None, None]


def test_parts_are_copies_in_the_same_layout():
    for table in (X.copy(), np.asfortranarray(X)):
        train, _ = train_test_split(table, shuffle=False)
        assert train.flags.f_contiguous == table.flags.f_contiguous
        train[:] = 0
        np.testing.assert_array_equal(table, X)


def test_rows_are_taken_alike_on_any_number_of_threads():
    table = rng.standard_normal((60_000, 5))
    rows = rng.permutation(60_000)[:45_000]
    for array in (table, np.asfortranarray(table), table[:, 0], table[::-1, ::2], table.astype(object)):
        for threads in (1, 4):
            set_threads(threads)
            np.testing.assert_array_equal(take_array(array, rows), array[rows])
        set_threads(None)


moments = st.lists(st.integers(0, 12), min_size=4, max_size=40).filter(lambda t: len(set(t)) > 1)


@settings(max_examples=200, deadline=None)
@given(moments, st.floats(0.05, 0.95), st.sampled_from([int, float, "datetime64[D]", str, object]))
def test_no_row_of_the_past_in_the_future(time, share, kind):
    if kind is str:
        time = np.array([f"2024-01-{t + 1:02d}" for t in time])
    else:
        time = np.array(time).astype("datetime64[D]" if kind is object else kind).astype(kind)
    n = time.size
    try:
        train, test, when_train, when_test = train_test_split(np.arange(n), time, test_size=share, time=time)
    except ValueError as error:
        assert "train set will be empty" in str(error)
        return
    assert max(when_train.tolist()) < min(when_test.tolist())
    assert sorted([*train, *test]) == list(range(n))
    assert (np.sort(when_train, kind="stable") == when_train).all()
    assert (np.sort(when_test, kind="stable") == when_test).all()
    # No cut between moments is nearer to the size asked for.
    wanted = np.ceil(share * n)
    possible = [(time >= t).sum() for t in np.unique(time)[1:]]
    assert abs(len(test) - wanted) == min(abs(p - wanted) for p in possible)


def test_time_by_the_name_of_a_column_in_any_frame():
    days = rng.permutation(N)
    for frame in (pd.DataFrame({"day": days}), pl.DataFrame({"day": days}), pa.table({"day": days})):
        parts = train_test_split(frame, days, test_size=10, time="day")
        assert parts[3].tolist() == list(range(N - 10, N))
        assert parts[1]["day"].to_pylist() if isinstance(frame, pa.Table) else True
    dates = pd.to_datetime("2024-01-01") + pd.to_timedelta(days, unit="D")
    for when in (dates, pd.Series(dates), pl.Series(dates.to_numpy()), dates.to_numpy(), list(dates)):
        assert train_test_split(days, test_size=10, time=when)[1].tolist() == list(range(N - 10, N))


def test_training_only_on_the_recent_past():
    train, test = train_test_split(np.arange(100), train_size=30, test_size=20, time=np.arange(100))
    assert train.tolist() == list(range(50, 80))
    assert test.tolist() == list(range(80, 100))


@pytest.mark.parametrize("stratify", [None, Y])
def test_three_parts_are_two_splits(stratify):
    parts = train_validation_test_split(
        np.arange(N), X, validation_size=0.2, test_size=0.3, random_state=7, stratify=stratify
    )
    state = np.random.RandomState(7)
    rest, test = oracle.train_test_split(np.arange(N), test_size=30, random_state=state, stratify=stratify)
    train, validation = oracle.train_test_split(
        rest, test_size=20, random_state=state, stratify=None if stratify is None else stratify[rest]
    )
    for got, expected in zip(parts[:3], (train, validation, test), strict=True):
        np.testing.assert_array_equal(got, expected)
    for got, rows in zip(parts[3:], (train, validation, test), strict=True):
        np.testing.assert_array_equal(got, X[rows])


def test_three_parts_in_order_of_time_or_of_rows():
    time = rng.integers(0, 30, 200)
    train, validation, test = train_validation_test_split(time, time=time)
    assert train.max() < validation.min() <= validation.max() < test.min()
    assert train.size + validation.size + test.size == 200
    train, validation, test = train_validation_test_split(np.arange(10), shuffle=False)
    assert (train.tolist(), validation.tolist(), test.tolist()) == ([0, 1, 2, 3, 4, 5], [6, 7], [8, 9])
    parts = train_validation_test_split(np.arange(100), train_size=30, validation_size=10, test_size=20)
    assert [part.size for part in parts] == [30, 10, 20]
    frame = pd.DataFrame({"when": time, "x": time})
    parts = train_validation_test_split(frame, time, time="when")
    assert parts[0]["when"].max() < parts[1]["when"].min()


ERRORS = [
    (lambda: train_test_split(), "At least one array required"),
    (lambda: train_test_split(X, X[:-1]), r"inconsistent numbers of samples: \[97, 96\]"),
    (lambda: train_test_split(X, test_size=1.5), "test_size=1.5 should be either positive"),
    (lambda: train_test_split(X, test_size=97), "smaller than the number of samples 97"),
    (lambda: train_test_split(X, test_size="a"), "Invalid value for test_size"),
    (lambda: train_test_split(X, train_size=0.0), "train_size=0.0"),
    (lambda: train_test_split(X, test_size=0.6, train_size=0.6), "The sum of test_size and train_size = 1.2"),
    (lambda: train_test_split(X, test_size=60, train_size=60), "The sum of train_size and test_size = 120"),
    (lambda: train_test_split([1], test_size=0.5), "train set will be empty"),
    (lambda: train_test_split(X, shuffle=False, stratify=Y), "not implemented for shuffle=False"),
    (lambda: train_test_split(X, stratify=np.arange(N)), "only 1 member"),
    (lambda: train_test_split(X, stratify=Y, test_size=2), "should be greater or equal to the number of classes = 3"),
    (lambda: train_test_split(X, stratify=Y[:-1]), "entries in stratify"),
    (lambda: train_test_split(X, stratify=np.where(X[:, 0] > 0, 1, np.nan)), "stratify contains NaN"),
    (lambda: train_test_split(X, stratify=Y, time=np.arange(N)), "cannot be stratified"),
    (lambda: train_test_split(X, time=np.zeros(N)), "All rows have the same time"),
    (lambda: train_test_split(X, time=np.arange(5)), "give one moment a row, 97 in all"),
    (lambda: train_test_split(X, time=np.r_[np.nan, np.arange(N - 1)]), "time is missing in 1 rows .first at row 0"),
    (lambda: train_test_split(X, time="day"), "none of the arrays is a data frame"),
    (lambda: train_test_split(pd.DataFrame({"a": [1, 2]}), time="day"), "the columns are 'a'"),
    (lambda: train_validation_test_split(X, test_size=0.6, validation_size=0.4), "none is left to train on"),
    (lambda: train_validation_test_split(X, train_size=0.9), "add up to more"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_single_values_are_type_errors():
    for bad in (5, "text", np.float64(3)):
        with pytest.raises(TypeError, match="Expected arrays or tables"):
            train_test_split(bad)
