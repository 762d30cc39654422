"""Splitting data once: to train and to test, or to train, to choose and to test."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from learnt.engine.random import random_state_of
from learnt.model_selection._rows import by_time, shuffled, split_sizes, stratified, time_values
from learnt.model_selection._take import count_rows, take


def train_test_split(
    *arrays: Any,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
    time: Any = None,
) -> list[Any]:
    """Split arrays into rows to train on and rows to test on: the rows scikit-learn picks for the same seed.

    Parameters
    ----------
    *arrays : tables of equally many rows
        NumPy arrays, memory maps, pandas, Polars, pyarrow, SciPy matrices, PyTorch tensors, lists; None stays None.
    test_size, train_size : float in (0, 1), int or None, default=None
        Shares or numbers of rows; a quarter is for the test by default.
    random_state : int, RandomState, Generator or None, default=None
    shuffle : bool, default=True
        False takes the first rows to train on and the next to test on.
    stratify : array-like of shape (n,), default=None
        Classes whose shares are to be the same in both parts.
    time : array-like of shape (n,), or the name of a column, default=None
        The moment of each row. The latest rows are the test, whatever their place in the table, and every test row is
        later than every training row: rows of one moment stay together, so the sizes may differ a little from those
        asked. Both parts come in order of time, and nothing is drawn at random.

    Returns
    -------
    parts : list
        train and test of the first array, train and test of the second, and so on.

    Examples
    --------
    >>> X, y = np.arange(10).reshape(5, 2), [0, 1, 2, 3, 4]
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.33, random_state=42)
    >>> y_train, y_test
    ([2, 0, 3], [1, 4])
    >>> train_test_split(["new", "old", "older"], test_size=1, time=[2024, 2023, 2022])
    [['older', 'old'], ['new']]
    """
    n = _check_arrays(arrays, stratify, shuffle, time)
    n_train, n_test = split_sizes(n, test_size, train_size, 0.25)
    if time is not None:
        train, test = by_time(time_values(time, arrays, n), n_train, n_test)
    elif not shuffle:
        train, test = np.arange(n_train), np.arange(n_train, n_train + n_test)
    elif stratify is None:
        train, test = shuffled(n, n_train, n_test, random_state_of(random_state))
    else:
        train, test = stratified(stratify, n_train, n_test, random_state_of(random_state))
    return list(chain.from_iterable((take(array, train), take(array, test)) for array in arrays))


def train_validation_test_split(
    *arrays: Any,
    validation_size: float | int | None = None,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
    time: Any = None,
) -> list[Any]:
    """Split arrays in three: rows to train on, rows to choose a model by, rows to test the choice on once.

    Parameters
    ----------
    *arrays : tables of equally many rows
    validation_size, test_size : float in (0, 1), int or None, default=None
        Shares of all rows, or numbers of rows; a fifth each by default.
    train_size : float in (0, 1), int or None, default=None
        What is left over, by default.
    random_state, shuffle, stratify, time
        As in `train_test_split`; in time, training comes before validation and validation before the test.

    Returns
    -------
    parts : list
        X_train, X_val, X_test, y_train, y_val, y_test, …

    Examples
    --------
    >>> X_train, X_val, X_test, y_train, y_val, y_test = train_validation_test_split(
    ...     np.arange(20).reshape(10, 2), np.arange(10), random_state=0)
    >>> len(y_train), len(y_val), len(y_test)
    (6, 2, 2)
    """
    n = _check_arrays(arrays, stratify, shuffle, time)
    test_share = 0.2 if test_size is None else test_size
    validation_share = 0.2 if validation_size is None else validation_size
    _, n_test = split_sizes(n, test_share, None, 0.2)
    _, n_validation = split_sizes(n, validation_share, None, 0.2)
    if n_test + n_validation >= n:
        raise ValueError(
            f"The test takes {n_test} and the validation {n_validation} of {n} rows, and none is left to train on; "
            "reduce test_size and/or validation_size."
        )
    rng = random_state_of(random_state)
    rows = np.arange(n)
    moments = None if time is None else time_values(time, arrays, n)
    rest, test = train_test_split(
        rows, test_size=n_test, random_state=rng, shuffle=shuffle, stratify=stratify, time=moments
    )
    n_train = None if train_size is None else split_sizes(n, None, train_size, 0.2)[0]
    if n_train is not None and n_train + n_validation > rest.size:
        raise ValueError(
            f"train_size={train_size}, validation_size={validation_share} and test_size={test_share} add up to more "
            f"than the {n} rows there are; reduce one of them."
        )
    train, validation = train_test_split(
        rest,
        test_size=n_validation,
        train_size=n_train,
        random_state=rng,
        shuffle=shuffle,
        stratify=None if stratify is None else take(stratify, rest),
        time=None if moments is None else moments[rest],
    )
    parts = (train, validation, test)
    return [take(array, part) for array in arrays for part in parts]


def _check_arrays(arrays: tuple[Any, ...], stratify: Any, shuffle: bool, time: Any) -> int:
    """Equally many rows everywhere, and no two rules of splitting at once; returns the number of rows."""
    if not arrays:
        raise ValueError("At least one array required as input, none was given.")
    counts = [count_rows(array, f"argument {i + 1}") for i, array in enumerate(arrays) if array is not None]
    if not counts:
        raise ValueError("At least one array required as input, all are None.")
    if len(set(counts)) > 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {counts}; give equally many rows."
        )
    if stratify is not None:
        if not shuffle:
            raise ValueError("Stratified train/test split is not implemented for shuffle=False; drop one of the two.")
        if time is not None:
            raise ValueError("A split by time cannot be stratified: the latest rows have the classes they have.")
        if count_rows(stratify, "stratify") != counts[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {counts[0]} rows and "
                f"{count_rows(stratify, 'stratify')} entries in stratify; give one class a row."
            )
    return counts[0]
