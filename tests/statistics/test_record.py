"""What two sets of rows give together, groups as one, and moments of shifted rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.statistics.exact import assert_moments, exact_moments, one_hot

from learnt.engine.rows import as_rows
from learnt.statistics import Moments, classes_in_y, moments

N, D, K = 36, 3, 3
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, D)) * [1, 10, 0.1] + [0, 5, -1]
CODES = RNG.integers(0, K, N)
WEIGHTS = RNG.uniform(0.1, 3, N)


@settings(max_examples=15, deadline=None)
@given(st.sets(st.integers(1, N - 1), max_size=6), st.sampled_from([0.0, 1e8]))
def test_any_partition_merges_to_the_moments_of_all(cuts, offset):
    table = X + offset
    want = exact_moments(table, one_hot(CODES, K, WEIGHTS))
    edges = [0, *sorted(cuts), N]
    for scatter in ("none", "diagonal", "full", "pooled"):
        parts = [
            moments(as_rows(table[lo:hi], CODES[lo:hi], WEIGHTS[lo:hi]), classes_in_y(K), scatter=scatter)
            for lo, hi in pairwise(edges)
        ]
        left = parts[0]
        for part in parts[1:]:
            left = left.merge(part)
        right = parts[-1]
        for part in parts[-2::-1]:
            right = part.merge(right)
        for merged in (left, right):
            assert_moments(merged, *want, N, merges=len(parts))


def test_without_groups_rows_merge_too():
    want = exact_moments(X, WEIGHTS[:, None])
    for scatter in ("none", "diagonal", "full"):
        first, last = (
            moments(as_rows(X[part], None, WEIGHTS[part]), scatter=scatter) for part in (slice(9), slice(9, N))
        )
        assert_moments(first.merge(last), *want, N)


def test_merge_is_associative_and_starts_from_nothing():
    def draw():
        return Moments(RNG.integers(0, 5, 3) * 1.0, RNG.normal(size=(3, 2)), RNG.random((3, 2)), "diagonal")

    a, b, c = draw(), draw(), draw()
    for left, right in zip(a.merge(b).merge(c)[:3], a.merge(b.merge(c))[:3], strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    nothing = Moments(np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2)), "diagonal")
    seen = a.weight > 0
    for merged, alone in zip(nothing.merge(a)[:3], a[:3], strict=True):
        np.testing.assert_allclose(merged[seen], alone[seen])


@pytest.mark.parametrize("scatter", ["none", "diagonal", "full", "pooled"])
def test_all_groups_together_are_the_rows_without_groups(scatter):
    grouped = moments(as_rows(X, CODES, WEIGHTS), classes_in_y(K), scatter=scatter)
    assert_moments(grouped.total(), *exact_moments(X, WEIGHTS[:, None]), N)


def test_the_scatter_within_is_the_pooled_one():
    full, pooled = (moments(as_rows(X, CODES), classes_in_y(K), scatter=s) for s in ("full", "pooled"))
    np.testing.assert_allclose(full.within(), pooled.within(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pooled.covariance(ddof=K), full.within() / (N - K), rtol=1e-12, atol=1e-12)


def test_shifted_rows_have_shifted_means():
    by = np.array([1.0, -2.0, 1e3])
    for groups in (None, CODES):
        moved, shifted = moments(as_rows(X + by), groups), moments(as_rows(X), groups).shifted(by)
        # X + by is rounded: by half an ulp of a thousand at most.
        np.testing.assert_allclose(moved.mean, shifted.mean, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(moved.scatter, shifted.scatter, rtol=1e-10)


@pytest.mark.parametrize("ddof", [0, 1])
def test_covariances_are_numpys(ddof):
    full = moments(as_rows(X, CODES), classes_in_y(K), scatter="full").covariance(ddof)
    diagonal = moments(as_rows(X, CODES), classes_in_y(K)).covariance(ddof)
    for k in range(K):
        np.testing.assert_allclose(full[k], np.cov(X[k == CODES].T, ddof=ddof), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(diagonal[k], X[k == CODES].var(axis=0, ddof=ddof), rtol=1e-12)


def test_some_of_the_groups():
    for scatter in ("none", "diagonal", "full"):
        grouped = moments(as_rows(X, CODES), classes_in_y(K), scatter=scatter)
        some = grouped.take([2, 0])
        np.testing.assert_array_equal(some.weight, grouped.weight[[2, 0]])
        np.testing.assert_array_equal(some.mean, grouped.mean[[2, 0]])
        if scatter != "none":
            np.testing.assert_array_equal(some.scatter, grouped.scatter[[2, 0]])
