"""Splits of rows: sizes, shuffles, strata and cuts in time. The draws are scikit-learn's for the same seed."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from learnt.engine.arrays import to_numpy
from learnt.engine.classification.labels import encode_labels


def _size(size: Any, name: str, n: int) -> float | int | None:
    """A share in (0, 1) or a number of rows, checked."""
    if size is None:
        return None
    is_count = isinstance(size, Integral) and not isinstance(size, bool)
    if not is_count and not isinstance(size, float | np.floating):
        raise ValueError(f"Invalid value for {name}: {size!r} is neither a share nor a number of rows.")
    if (is_count and not 0 < size < n) or (not is_count and not 0 < size < 1):
        raise ValueError(
            f"{name}={size} should be either positive and smaller than the number of samples {n} "
            "or a float in the (0, 1) range."
        )
    return int(size) if is_count else float(size)


def split_sizes(n: int, test_size: Any, train_size: Any, default_test: float) -> tuple[int, int]:
    """How many rows to train and to test on: shares are rounded up for the test, down for training.

    >>> split_sizes(10, None, None, 0.25)
    (7, 3)
    """
    if test_size is None and train_size is None:
        test_size = default_test
    test, train = _size(test_size, "test_size", n), _size(train_size, "train_size", n)
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        raise ValueError(
            f"The sum of test_size and train_size = {test + train}, should be in the (0, 1) range; "
            "reduce test_size and/or train_size."
        )
    n_test = math.ceil(test * n) if isinstance(test, float) else test
    n_train = math.floor(train * n) if isinstance(train, float) else train
    if n_train is None:
        assert n_test is not None
        n_train = n - n_test
    if n_test is None:
        n_test = n - n_train
    if n_train + n_test > n:
        raise ValueError(
            f"The sum of train_size and test_size = {n_train + n_test}, should be smaller than the number of samples "
            f"{n}; reduce test_size and/or train_size."
        )
    if n_train <= 0:
        raise ValueError(
            f"With n_samples={n}, test_size={test_size} and train_size={train_size}, the resulting train set will be "
            "empty; adjust any of the aforementioned parameters."
        )
    return n_train, n_test


def shuffled(n: int, n_train: int, n_test: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Rows drawn without replacement."""
    order = rng.permutation(n)
    return order[n_test : n_test + n_train], order[:n_test]


def _shares(counts: np.ndarray, draws: int, rng: np.random.RandomState) -> np.ndarray:
    """The likeliest numbers of each class among `draws` rows; ties for the last places are drawn."""
    exact = counts / counts.sum() * draws
    rounded_down = np.floor(exact)
    missing = int(draws - rounded_down.sum())
    rest = exact - rounded_down
    for value in np.unique(rest)[::-1]:
        if missing <= 0:
            break
        (candidates,) = np.nonzero(rest == value)
        chosen = rng.choice(candidates, size=min(len(candidates), missing), replace=False)
        rounded_down[chosen] += 1
        missing -= len(chosen)
    return rounded_down.astype(int)


def stratified(y: Any, n_train: int, n_test: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Rows drawn class by class, so that both parts have the shares of the whole."""
    classes, codes = _strata(y)
    counts = np.bincount(codes, minlength=classes.size)
    if counts.min() < 2:
        lonely = classes[counts < 2].tolist()
        raise ValueError(
            "The least populated classes in y have only 1 member, which is too few: the minimum number of groups for "
            f"any class cannot be less than 2, classes with too few members are: {lonely}."
        )
    for size, name in ((n_train, "train_size"), (n_test, "test_size")):
        if size < classes.size:
            raise ValueError(
                f"The {name} = {size} should be greater or equal to the number of classes = {classes.size}."
            )
    narrow = np.uint8 if classes.size <= 256 else np.uint16 if classes.size <= 65_536 else np.int64
    members = np.split(np.argsort(codes.astype(narrow), kind="stable"), np.cumsum(counts)[:-1])
    to_train = _shares(counts, n_train, rng)
    to_test = _shares(counts - to_train, n_test, rng)
    train, test = [], []
    for rows, a, b in zip(members, to_train, to_test, strict=True):
        order = rows[rng.permutation(rows.size)]
        train.append(order[:a])
        test.append(order[a : a + b])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def _strata(y: Any) -> tuple[np.ndarray, np.ndarray]:
    y = to_numpy(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2:  # several columns: every combination of their values is a class
        y = np.array([" ".join(row.astype("str")) for row in y], dtype=object)
    if y.ndim != 1:
        raise ValueError(f"stratify has {y.ndim} dimensions; give one class a row.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"Input stratify contains NaN or infinity (first at row {np.argmin(np.isfinite(y))}).")
    if y.dtype.kind in "UT":  # hashing beats sorting strings
        y = y.astype(object)
    try:
        return encode_labels(y)
    except TypeError:
        raise ValueError("stratify holds values that cannot be ordered; give all strings or all numbers.") from None


def time_values(time: Any, arrays: tuple[Any, ...], n: int) -> np.ndarray:
    """The moment of every row: an array, or a column of the first table that has it."""
    if isinstance(time, str):
        time = _column(time, arrays)
    moments = to_numpy(time)
    if moments.ndim == 2 and moments.shape[1] == 1:
        moments = moments[:, 0]
    if moments.shape != (n,):
        raise ValueError(f"time has shape {moments.shape}; give one moment a row, {n} in all.")
    if moments.dtype.kind == "O":
        missing = np.array([m is None or m != m for m in moments])
    elif moments.dtype.kind in "mM":
        missing = np.isnat(moments)
    else:
        missing = np.isnan(moments) if moments.dtype.kind == "f" else np.zeros(n, dtype=bool)
    if missing.any():
        raise ValueError(
            f"time is missing in {int(missing.sum())} rows (first at row {int(np.argmax(missing))}); "
            "fill it in or drop those rows first."
        )
    return moments


def _column(name: str, arrays: tuple[Any, ...]) -> Any:
    import narwhals as nw

    seen: list[str] = []
    for table in arrays:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            if name in frame.columns:
                return frame[name].to_numpy()
            seen += frame.columns
    known = f"the columns are {', '.join(map(repr, seen[:20]))}" if seen else "none of the arrays is a data frame"
    raise ValueError(
        f"There is no column {name!r} to split by time: {known}; give its name, or the moments as an array."
    )


def by_time(moments: np.ndarray, n_train: int, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    """The last rows by time to test on, those before them to train on, both from the past to the future.

    Rows of one moment are never torn apart: the cut moves to the nearest change of moment, and the test may be
    larger or smaller than asked.
    """
    order = np.argsort(moments, kind="stable")
    ordered = moments[order]
    n = order.size
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1  # every place where a cut is possible
    if changes.size == 0:
        raise ValueError("All rows have the same time, so that no row is before another; split without time.")
    wanted = n - n_test
    after = int(np.searchsorted(changes, wanted))
    near = [int(changes[i]) for i in (after - 1, after) if 0 <= i < changes.size]
    cut = min(near, key=lambda place: abs(place - wanted))  # of two as near the earlier: the larger test
    return order[max(0, cut - n_train) if n_train + n_test < n else 0 : cut], order[cut:]
