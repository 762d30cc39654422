"""Folds of shuffled rows, with scikit-learn's draws for the same seed, without importing its slow package."""

from __future__ import annotations

import numpy as np

from learnt.engine.random import random_state_of


def shuffled_folds(n: int, parts: int, seed: int) -> list[np.ndarray]:
    """The rows held out in each fold: the rows in random order, cut into pieces as equal as can be.

    >>> [fold.tolist() for fold in shuffled_folds(5, 2, 0)]
    [[0, 1, 2], [3, 4]]
    """
    order = np.arange(n)
    random_state_of(seed).shuffle(order)
    return [np.sort(piece) for piece in np.array_split(order, parts)]


def stratified_folds(y: np.ndarray, parts: int, seed: int) -> list[np.ndarray]:
    """The same with each class in proportion: no two folds differ by more than one row of a class, nor in all.

    Rows sorted by class are assigned to the folds in turn, which gives the number of rows of a class in each fold;
    which rows is random.

    >>> [fold.tolist() for fold in stratified_folds(np.array(["a", "b", "a", "b", "a"]), 2, 0)]
    [[1, 2, 4], [0, 3]]
    """
    _, firsts, codes = np.unique(y, return_index=True, return_inverse=True)
    place = np.empty(len(firsts), dtype=np.int64)
    place[np.argsort(firsts)] = np.arange(len(firsts))  # classes are numbered as they appear
    codes = place[codes]
    in_order = np.sort(codes)
    dealt = np.array([np.bincount(in_order[k::parts], minlength=len(firsts)) for k in range(parts)])
    rng, fold = random_state_of(seed), np.empty(len(y), dtype=np.int64)
    for k in range(len(firsts)):
        of_class = np.repeat(np.arange(parts), dealt[:, k])
        rng.shuffle(of_class)
        fold[codes == k] = of_class
    return [np.flatnonzero(fold == k) for k in range(parts)]
