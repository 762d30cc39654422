"""Sums of zzᵀ in vector registers: against the product, within the bound on the rounding of any order of summation."""

import numpy as np
import pytest

from learnt.engine.rows import as_rows
from learnt.linalg import scatter as module
from learnt.linalg.scatter import scatter, worth_compiling
from learnt.statistics import joint_moments, moments

EPS = np.finfo(np.float64).eps


def assert_is_product(found, Z, weight):
    """Within (n + 4) roundings of Σ|w z zᵀ|: one for the root of w and each of two shifts, n for the sum."""
    first, S = found
    bound = (len(Z) + 4) * EPS
    assert S.shape == (Z.shape[1], Z.shape[1])
    assert np.array_equal(S, S.T)
    assert np.all(abs(S - (Z * weight[:, None]).T @ Z) <= 2 * bound * (abs(Z) * weight[:, None]).T @ abs(Z))
    assert np.all(abs(first - weight @ Z) <= 2 * bound * weight @ abs(Z))


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 16, 23, 24, 25, 40, 101])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 300])
def test_every_shape_of_tiles(n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    assert_is_product(scatter(X), X, np.ones(n))


@pytest.mark.parametrize("targets", [0, 1, 3])
def test_shifts_weights_and_targets(targets):
    rng = np.random.default_rng(targets)
    X, Y, w = rng.normal(size=(200, 11)) + 5, rng.normal(size=(200, targets)) - 2, rng.random(200)
    w[::3] = 0.0
    x0, y0 = X[0], Y[0]
    Z = np.column_stack([X - x0, Y - y0])
    assert_is_product(scatter(X, x0, w, Y, y0), Z, w)


def test_any_memory_layout():
    X = np.random.default_rng(0).normal(size=(90, 30))
    expected = scatter(X)
    fixed = X.copy()
    fixed.flags.writeable = False
    for same in (np.asfortranarray(X), fixed, np.repeat(X, 2, axis=0)[::2]):
        for ours, theirs in zip(scatter(same), expected):
            assert np.array_equal(ours, theirs)


def test_the_plain_code_of_a_tile_is_the_compiled_one():
    rng = np.random.default_rng(0)
    lanes = module.vector_lanes()
    table = module._aligned(64, 5 * lanes)
    table[:] = rng.normal(size=table.shape)
    for tile in (module._add_tile_of_one, module._add_tile_of_two, module._add_tile_of_three):
        out = np.zeros((5 * lanes, 5 * lanes))
        tile.python(table, 40, lanes, lanes, out)
        vectors = np.count_nonzero(out[lanes]) // lanes
        rows, columns = slice(lanes, 2 * lanes), slice(lanes, (1 + vectors) * lanes)
        assert np.allclose(out[rows, columns], table[:40, rows].T @ table[:40, columns])
        assert np.count_nonzero(out) == vectors * lanes * lanes


def test_what_is_not_finite_shows():
    X = np.random.default_rng(0).normal(size=(70, 10))
    X[3, 4] = np.nan
    first, S = scatter(X)
    assert np.isnan(first[4])
    assert np.isnan(S[4]).all()
    assert np.isfinite(np.delete(np.delete(S, 4, 0), 4, 1)).all()


@pytest.fixture
def many_rows(monkeypatch):
    """Rows from which moments are compiled, without there being very many."""
    monkeypatch.setattr(module, "_WORK", 1)
    rng = np.random.default_rng(1)
    return rng.normal(size=(3000, 12)) * np.linspace(1, 9, 12) + 1e4, rng.normal(size=3000), rng.random(3000)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_and_joint_moments_take_it(many_rows, weighted, monkeypatch):
    X, y, w = many_rows
    rows = as_rows(X, y, w if weighted else None)
    assert worth_compiling(*X.shape) == module.compilation_enabled()
    found, joint = moments(rows, scatter="full"), joint_moments(rows)
    monkeypatch.setattr(module, "_WORK", 1 << 60)
    expected, plain = moments(rows, scatter="full"), joint_moments(rows)
    spread = np.sqrt(np.outer(np.diag(expected.scatter), np.diag(expected.scatter)))
    # Both are sums about a point within a few deviations of the mean: thousands of roundings of it at most.
    assert np.all(abs(found.scatter - expected.scatter) <= 1e-11 * spread)
    assert np.allclose(found.mean, expected.mean, rtol=1e-13)
    assert np.all(abs(joint.gram - plain.gram) <= 1e-11 * spread)
    assert np.allclose(joint.cross, plain.cross, rtol=0, atol=1e-11 * np.linalg.norm(y) * np.sqrt(spread.max()))
    assert np.allclose(joint.x_mean, plain.x_mean, rtol=1e-13)
    assert joint.weight == pytest.approx(plain.weight, rel=1e-14)
