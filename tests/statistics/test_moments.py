"""Weights, means and scatter against exact arithmetic, and the laws of shifts, weights and groups."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.statistics.exact import assert_moments, exact_moments, one_hot

from learnt.engine.rows import ArrayRows, as_rows
from learnt.engine.rows.blocks import Block
from learnt.statistics import Groups, classes_in_y, column_sums, given, labels_in_y, moments
from learnt.statistics._grouped import class_sums
from learnt.statistics._kernels import compiled_class_sums

N, D, K = 40, 3, 3
KINDS = ("none", "diagonal", "full")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1, 10, 0.1] + [0, 5, -1]
CODES = RNG.integers(0, K, N)
WEIGHTS = RNG.uniform(0.1, 3, N)
SHARES = RNG.dirichlet(np.ones(K), N)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("w", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("by", [None, CODES, SHARES], ids=["all", "classes", "shares"])
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_moments_are_those_of_exact_arithmetic(matrix, by, w, offset):
    table = X + offset
    ones = np.ones(N) if w is None else w
    R = ones[:, None] if by is None else one_hot(by, K, ones) if by.ndim == 1 else by * ones[:, None]
    want = exact_moments(table, R)
    for scatter in KINDS if by is None else (*KINDS, "pooled"):
        assert_moments(moments(as_rows(matrix(table), None, w), by, scatter=scatter), *want, N)


@pytest.mark.parametrize("scatter", KINDS)
@pytest.mark.parametrize("by", [None, CODES, SHARES], ids=["all", "classes", "shares"])
def test_first_rows_far_from_the_rest_cost_no_digits(by, scatter):
    table = X.copy()
    table[1:] += 1e9
    table = np.vstack([np.zeros((300, D)), table])  # the point comes from the first 256 rows
    ones = np.r_[np.full(300, 1e-20), np.ones(N)]
    if by is not None:
        by = np.concatenate([by[np.arange(300) % N], by])
    R = ones[:, None] if by is None else one_hot(by, K, ones) if by.ndim == 1 else by * ones[:, None]
    assert_moments(moments(as_rows(table, None, ones), by, scatter=scatter), *exact_moments(table, R), 300 + N)


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("by", [None, CODES, SHARES], ids=["all", "classes", "shares"])
def test_a_weight_is_a_number_of_repetitions_and_zero_is_absence(by, matrix):
    times = RNG.integers(0, 4, N)
    again = np.repeat(np.arange(N), times)
    once = moments(as_rows(matrix(X), None, times.astype(float)), by, scatter="full")
    many = moments(as_rows(matrix(X[again])), None if by is None else by[again], scatter="full")
    R = np.ones((N, 1)) if by is None else one_hot(by, K) if by.ndim == 1 else by
    want = exact_moments(X, R * times[:, None])
    for found in (once, many):
        assert_moments(found, *want, len(again))


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_an_empty_class_has_no_weight_and_no_scatter(matrix):
    codes = np.where(CODES == 1, 2, CODES)
    for scatter in (*KINDS, "pooled"):
        found = moments(as_rows(matrix(X), codes), classes_in_y(5), scatter=scatter)
        assert found.weight.tolist() == np.bincount(codes, minlength=5).tolist()
        assert np.isfinite(found.mean).all()
        assert_moments(found, *exact_moments(X, one_hot(codes, 5)), N)
    assert (moments(as_rows(matrix(X), codes), classes_in_y(5)).scatter[[1, 3, 4]] == 0).all()


def test_one_row_is_its_mean():
    for row in (X[:1], sparse.csr_array(X[:1])):
        found = moments(as_rows(row), scatter="full")
        np.testing.assert_array_equal(found.mean, X[0])
        assert found.weight == 1.0
        assert (found.scatter == 0).all()
        assert (found.covariance(ddof=1) == 0).all()


def test_labels_codes_functions_and_arrays_agree():
    names = np.array(["a", "b", "c"])
    ways = (
        moments(as_rows(X, CODES), classes_in_y(K)),
        moments(as_rows(X, names[CODES]), labels_in_y(names)),
        moments(as_rows(X), CODES),
        moments(as_rows(X), given(CODES, K)),
        moments(as_rows(X), Groups(K, class_of, (CODES,))),
    )
    for found in ways[1:]:
        for part, first in zip(found[:3], ways[0][:3], strict=True):
            np.testing.assert_array_equal(part, first)


def class_of(block, codes):
    return codes[block.start : block.start + block.X.shape[0]]


def responsibilities(block, centres):
    """A softmax of squared distances: computed for each block, never for all rows at once."""
    scores = -0.5 * ((block.X[:, None, :] - centres) ** 2).sum(axis=2)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("about", ["first rows", "last means"])
def test_responsibilities_are_computed_for_each_block(about):
    many = RNG.normal(size=(5000, 2)) + RNG.integers(0, 2, 5000)[:, None] * 8.0
    centres = np.array([[0.0, 0.0], [8.0, 8.0]])
    rows = ArrayRows(many)
    rows.block_size = 700
    R = responsibilities(Block(many), centres)
    weight = R.sum(axis=0)
    mean = R.T @ many / weight[:, None]
    for scatter in ("diagonal", "full"):
        point = about if about == "first rows" else centres
        found = moments(rows, Groups(2, responsibilities, (centres,)), scatter=scatter, about=point)
        Z = many[:, None, :] - mean
        S = np.einsum("nk,nki,nkj->kij", R, Z, Z)
        assert_moments(found, weight, mean, S, len(many))


def test_compiled_and_plain_sums_by_class_agree():
    point = RNG.normal(size=(K, D))
    for w in (None, WEIGHTS):
        block = Block(X, None, w)
        for plain, compiled in zip(
            class_sums(block, CODES, K, point, "diagonal"), compiled_class_sums(block, CODES, point), strict=True
        ):
            np.testing.assert_allclose(compiled, plain, rtol=1e-11, atol=1e-11)


def test_moments_without_classes_load_no_compiler():
    code = (
        "import sys, numpy as np; from learnt.engine.rows import as_rows; from learnt.statistics import moments;"
        "X = np.ones((1 << 16, 20)); moments(as_rows(X)); moments(as_rows(X), scatter='full');"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("n_rows", [2000, (1 << 18) // 7 + 1], ids=["plain", "compiled"])
def test_sums_of_counts_are_integers(n_rows):
    counts = RNG.poisson(0.5, (n_rows, 7)).astype(float)
    codes = RNG.integers(0, 3, n_rows)
    for matrix in (counts, counts.astype(np.float32), np.asfortranarray(counts), sparse.csr_array(counts)):
        weight, sums = column_sums(as_rows(matrix, None, np.full(n_rows, 2.0)), codes)
        np.testing.assert_array_equal(weight, 2 * np.bincount(codes))
        np.testing.assert_array_equal(sums, 2 * np.stack([counts[codes == k].sum(axis=0) for k in range(3)]))
        weight, sums = column_sums(as_rows(matrix), codes)
        np.testing.assert_array_equal(weight, np.bincount(codes))
        np.testing.assert_array_equal(sums, np.stack([counts[codes == k].sum(axis=0) for k in range(3)]))
        weight, sums = column_sums(as_rows(matrix))
        assert weight == n_rows
        np.testing.assert_array_equal(sums, counts.sum(axis=0))


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("w", [None, WEIGHTS], ids=["plain", "weighted"])
def test_missing_cells_are_left_out_column_by_column(matrix, w):
    gappy = np.where(RNG.random(X.shape) < 0.3, np.nan, X + 1e6)
    gappy[:, 2] = np.nan
    found = moments(as_rows(matrix(gappy), None, w), missing=True)
    ones = np.ones(N) if w is None else w
    assert found.weight[2] == 0
    for j in range(2):
        there = ~np.isnan(gappy[:, j])
        weight, mean, scatter = exact_moments(gappy[there][:, [j]], ones[there, None])
        column = type(found)(found.weight[j], found.mean[[j]], found.scatter[[j]], "diagonal")
        assert_moments(column, weight, mean, scatter, N)


def test_infinity_is_refused_where_cells_may_be_missing():
    for matrix in (np.array([[np.inf], [1.0]]), sparse.csr_array([[np.inf], [1.0]])):
        with pytest.raises(ValueError, match="infinity, which has no mean"):
            moments(as_rows(matrix), missing=True)


class CountingRows(ArrayRows):
    """Rows that count how often they are summed."""

    passes = 0

    def reduce(self, statistic, merge, *state):
        self.passes += 1
        return super().reduce(statistic, merge, *state)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_a_constant_column_costs_no_second_pass(value):
    table = np.column_stack([X[:, 0], np.full(N, value)])
    for scatter in ("diagonal", "full"):
        rows = CountingRows(np.tile(table, (50, 1)))
        found = moments(rows, scatter=scatter)
        assert rows.passes == 1
        variance = found.covariance() if scatter == "diagonal" else np.diagonal(found.covariance())
        assert variance[1] <= (4 * np.finfo(float).eps * value) ** 2


def test_a_cell_that_is_not_finite_shows():
    for bad in (np.nan, np.inf, 1e200):
        table = X.copy()
        table[7, 1] = bad
        for scatter in ("diagonal", "full"):
            assert not np.isfinite(moments(as_rows(table), scatter=scatter).scatter).all()


def test_threads_change_nothing():
    many = RNG.normal(size=(30_000, 40)) + 5
    codes = RNG.integers(0, 4, 30_000)
    for by in (None, codes):
        one, two = (moments(as_rows(many, n_jobs=jobs), by, scatter="full") for jobs in (1, 2))
        np.testing.assert_array_equal(one.scatter, two.scatter)


@pytest.mark.parametrize("bad", [-1, K])
def test_a_group_that_is_not_there_is_refused(bad):
    codes = CODES.copy()
    codes[5] = bad
    with pytest.raises(ValueError, match=f"in group {bad}, and the {K} groups are 0 to {K - 1}"):
        given(codes, K)
    with pytest.raises(ValueError, match=f"in group {bad}"):
        compiled_class_sums(Block(X), codes, np.zeros((K, D)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scatter": "half"}, "scatter must be"),
        ({"scatter": "pooled"}, "sum over groups"),
        ({"missing": True, "scatter": "full"}, "column by column"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        moments(as_rows(X), **options)
