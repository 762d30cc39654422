"""Shapley values of functions: by definition, and from drawn orders."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from learnt.explanation import shapley_exact, shapley_sampled


def curved(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) + np.maximum(rows[:, 3], rows[:, 0])


def two(rows):
    return np.column_stack([curved(rows), rows[:, 1] ** 2])


def by_definition(function, x, background, groups):
    """The mean over orders, written out with subsets."""

    def worth(known):
        columns = [column for g in known for column in groups[g]]
        mixed = background.copy()
        mixed[:, columns] = x[columns]
        return function(mixed).mean(axis=0)

    d, out = len(groups), []
    for j in range(d):
        others = [k for k in range(d) if k != j]
        total = 0.0
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for chosen in combinations(others, size):
                total = total + weight * (worth([*chosen, j]) - worth(chosen))
        out.append(total)
    return np.array(out)


def tables(n=5, b=7, d=4):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(b, d))


@pytest.mark.parametrize("function", [curved, two])
@pytest.mark.parametrize("owner", [None, [0, 1, 0, 2]])
def test_exact_values_are_those_of_the_definition(function, owner):
    X, background = tables()
    groups = [[0], [1], [2], [3]] if owner is None else [[0, 2], [1], [3]]
    found = shapley_exact(function, X, background, owner=None if owner is None else np.array(owner))
    for x, values in zip(X, found.values, strict=True):
        np.testing.assert_allclose(values, by_definition(function, x, background, groups), atol=1e-12)
    np.testing.assert_allclose(found.baseline, function(background).mean(axis=0))
    np.testing.assert_allclose(found.values.sum(axis=1) + found.baseline, function(X), atol=1e-12)


def test_sampled_values_are_within_their_errors_and_add_up():
    X, background = tables(40, 30, 4)
    exact = shapley_exact(two, X, background)
    found = shapley_sampled(two, X, background, n_pairs=60, random_state=1)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.baseline, two(X), atol=1e-12)
    off = np.abs(found.values - exact.values)
    sure = found.standard_error < 1e-12
    assert off[sure].max(initial=0.0) < 1e-9
    # A few of 320 values may be further off than three errors; half of them that are not exact are not.
    assert (off[~sure] / found.standard_error[~sure] > 4).mean() < 0.02
    assert np.median(off[~sure] / found.standard_error[~sure]) < 1.5


def test_more_pairs_are_more_exact():
    X, background = tables(20, 30, 4)
    exact = shapley_exact(curved, X, background).values
    errors = [
        np.sqrt(np.mean((shapley_sampled(curved, X, background, n_pairs=n).values - exact) ** 2)) for n in (4, 256)
    ]
    assert errors[1] < errors[0] / 3  # a tenth of the error squared is 64 times the pairs; a third allows for luck


def test_the_values_of_an_additive_function_have_no_noise():
    X, background = tables(6, 9, 4)
    found = shapley_sampled(lambda rows: rows @ [1.0, -2, 0, 3], X, background, n_pairs=2)
    np.testing.assert_allclose(found.values, (X - background.mean(axis=0)) * [1, -2, 0, 3], atol=1e-12)
    assert found.standard_error.max() < 1e-12


def test_a_row_does_not_depend_on_the_others():
    X, background = tables(6, 9, 4)
    whole = shapley_sampled(curved, X, background, n_pairs=8).values
    np.testing.assert_allclose(shapley_sampled(curved, X[2:3], background, n_pairs=8).values, whole[2:3], atol=1e-12)


def test_few_columns_are_exact_without_being_asked():
    X, background = tables(3, 4, 2)
    assert shapley_sampled(lambda rows: rows[:, 0] * rows[:, 1], X, background).standard_error is None


def test_wrong_uses_are_refused():
    X, background = tables()
    with pytest.raises(ValueError, match="use shapley_sampled"):
        shapley_exact(lambda rows: rows[:, 0], np.zeros((1, 20)), np.zeros((1, 20)))
    with pytest.raises(ValueError, match="n_pairs must be at least 2"):
        shapley_sampled(curved, X, background, n_pairs=1)
    with pytest.raises(ValueError, match="owner has shape"):
        shapley_exact(curved, X, background, owner=np.zeros(3, int))
