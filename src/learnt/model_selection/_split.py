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

    A score on rows that the model was fitted to says nothing about overfitting: keep some apart before anything is
    learnt from them, scaling and selection of columns included.

    Parameters
    ----------
    *arrays : array-like
        Tables of equally many rows: NumPy arrays, memory maps, pandas, Polars, pyarrow, SciPy matrices, PyTorch
        tensors, lists; None stays None.
    test_size : float, int or None, default=None
        Share of the rows, between 0 and 1, or number of rows to test on. None for what is left of `train_size`, or a
        quarter.
    train_size : float, int or None, default=None
        Share or number of rows to train on; None for what is left.
    random_state : int, RandomState, Generator or None, default=None
        Where the shuffle comes from. Pass an integer to get the same rows every time.
    shuffle : bool, default=True
        Whether to draw rows at random. False cuts the table as it stands: the first rows to train on, the next to
        test on.
    stratify : array-like of shape (n_samples,), default=None
        Classes whose shares are to be the same in every part, as a rule y: take it for rare classes. Needs `shuffle`.
    time : array-like of shape (n_samples,) or str, default=None
        The moment of each row, or the name of the column that has it. Later parts hold later rows, whatever their place
        in the table, as a model in use predicts what comes after it was trained. Rows of one moment stay together, so
        the sizes may differ a little from those asked. All parts come in order of time, and nothing is drawn at random.

    Returns
    -------
    parts : list
        Train and test of the first array, train and test of the second, and so on; each in the kind of table that it
        came in, and a copy.

    See Also
    --------
    train_validation_test_split : A third part, to choose a model by.
    cross_val_score : Every row is tested on once.
    SealedTestSet : Keeps the test for the end.
    TimeSeriesSplit : Several cuts in time.

    Notes
    -----
    Shares are rounded up for the test and down for training.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.model_selection import train_test_split
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

    The best validation score of many models flatters the one that has it; the test, which chose nothing, does not.

    Parameters
    ----------
    *arrays : array-like
        Tables of equally many rows: NumPy arrays, memory maps, pandas, Polars, pyarrow, SciPy matrices, PyTorch
        tensors, lists; None stays None.
    validation_size : float, int or None, default=None
        Share of all rows, between 0 and 1, or number of rows to choose by; None for a fifth.
    test_size : float, int or None, default=None
        Share of all rows, or number of rows to test on; None for a fifth.
    train_size : float, int or None, default=None
        Share of all rows, or number of rows to train on; None for what is left.
    random_state : int, RandomState, Generator or None, default=None
        Where the shuffle comes from. Pass an integer to get the same rows every time.
    shuffle : bool, default=True
        Whether to draw rows at random. False cuts the table as it stands: the first rows to train on, the next to
        test on.
    stratify : array-like of shape (n_samples,), default=None
        Classes whose shares are to be the same in every part, as a rule y: take it for rare classes. Needs `shuffle`.
    time : array-like of shape (n_samples,) or str, default=None
        The moment of each row, or the name of the column that has it. Later parts hold later rows, whatever their place
        in the table, as a model in use predicts what comes after it was trained. Rows of one moment stay together, so
        the sizes may differ a little from those asked. All parts come in order of time, and nothing is drawn at random.

    Returns
    -------
    parts : list
        X_train, X_val, X_test, y_train, y_val, y_test, and so on: three for each array, in the kind of table that it
        came in.

    See Also
    --------
    train_test_split : Two parts.
    SealedTestSet : Keeps the test for the end.
    TelescopicSearchCV : Chooses by cross-validation, for which a validation set is not needed.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.model_selection import train_validation_test_split
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
