"""Every penalty: prox by brute force, projections by their properties, conjugates by search."""

import inspect

import array_api_strict as xps
import numpy as np
import pytest
import torch

from learnt.erm import penalties
from learnt.erm.penalties import L0, L1, L2, Box, ElasticNet, NonNegative, NoPenalty

ALL = [L2(), L1(), ElasticNet(0.3), ElasticNet(0.0), ElasticNet(1.0), L0(), NonNegative(), Box(-0.5, 1.0), NoPenalty()]
each = pytest.mark.parametrize("penalty", ALL, ids=repr)
BALLS = pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.3), ElasticNet(0.0)], ids=repr)


def test_the_list_is_complete():
    classes = {
        thing for thing in vars(penalties).values() if inspect.isclass(thing) and issubclass(thing, penalties.Penalty)
    } - {penalties.Penalty}
    assert classes == {type(p) for p in ALL} == set(penalties.NAMES.values())


def price(penalty):
    """r of one coefficient, written again."""
    if isinstance(penalty, L0):
        return lambda v: (v != 0) * 1.0
    if isinstance(penalty, Box | NonNegative):
        low, high = (-0.5, 1.0) if isinstance(penalty, Box) else (0.0, np.inf)
        return lambda v: np.where((v >= low) & (v <= high), 0.0, np.inf)
    l1, l2 = penalty.parts
    return lambda v: l1 * np.abs(v) + l2 * v**2


@each
@pytest.mark.parametrize("step", [0.05, 0.7])
def test_prox_by_brute_force(penalty, step):
    grid = np.linspace(-3, 3, 60001)
    r = price(penalty)
    for w in np.random.default_rng(0).normal(size=25):
        assert float(penalty.value(np.array([w]))) == pytest.approx(float(r(np.array(w))))
        found = float(penalty.prox(np.array([w]), step)[0])
        lowest = (step * r(grid) + (grid - w) ** 2 / 2).min()
        assert step * float(r(np.array(found))) + (found - w) ** 2 / 2 <= lowest + 1e-8


@BALLS
def test_projection_is_inside_nearest_and_idempotent(penalty):
    rng = np.random.default_rng(1)
    for _ in range(30):
        w, bound = rng.normal(size=6), rng.uniform(0.1, 2.0)
        p = penalty.project(w, bound)
        assert float(penalty.value(p)) <= bound * (1 + 1e-9)
        np.testing.assert_allclose(penalty.project(p, bound), p, atol=1e-9)
        for v in rng.normal(size=(50, 6)):  # nearest in a convex set: the angle to every point of it is obtuse
            v = v * min(1.0, bound / max(float(penalty.value(v)), 1e-12))
            if float(penalty.value(v)) <= bound:
                assert (w - p) @ (v - p) <= 1e-7
        inside = w * 1e-3
        np.testing.assert_array_equal(penalty.project(inside, 10.0), inside)


def test_projection_to_few_entries_and_to_zero():
    w = np.array([[3.0, -1.0], [0.5, 2.0]])
    np.testing.assert_array_equal(L0().project(w, 2), [[3, 0], [0, 2]])
    np.testing.assert_array_equal(L0().project(w, 0), 0 * w)
    for penalty in (L1(), L2(), ElasticNet(0.5), ElasticNet(0.0)):
        np.testing.assert_allclose(penalty.project(w, 0.0), 0 * w, atol=1e-8)
    np.testing.assert_array_equal(NonNegative().project(w, 1.0), np.maximum(w, 0))


@BALLS
def test_gradient_is_the_derivative(penalty):
    w = np.random.default_rng(2).normal(size=5)
    h = 1e-6
    slope = [(penalty.value(w + h * e) - penalty.value(w - h * e)) / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(penalty.gradient(w), slope, atol=1e-6)


@pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.3), ElasticNet(1.0)], ids=repr)
def test_conjugate_bounds_from_above_and_is_reached(penalty):
    """Fenchel and Young: ⟨v, w⟩ ≤ alpha r(w) + conjugate(v), with equality at the best w."""
    rng = np.random.default_rng(3)
    alpha = 0.7
    w = rng.normal(size=4)
    v = alpha * penalty.gradient(w)
    for other in rng.normal(size=(100, 4)):
        assert v @ other <= alpha * penalty.value(other) + penalty.conjugate(v, alpha) + 1e-9
    assert np.isclose(v @ w, alpha * penalty.value(w) + penalty.conjugate(v, alpha))
    assert L1().conjugate(np.array([0.8]), alpha) == np.inf


@pytest.mark.parametrize("penalty", [L2(), L1()], ids=repr)
def test_support_is_the_largest_product_in_the_ball(penalty):
    rng = np.random.default_rng(4)
    v, bound = rng.normal(size=4), 1.3
    products = [v @ penalty.project(10 * x, bound) for x in rng.normal(size=(3000, 4))]
    assert max(products) <= penalty.support(v, bound) + 1e-9
    assert max(products) >= 0.9 * penalty.support(v, bound)


@each
def test_any_namespace(penalty):
    w = np.random.default_rng(5).normal(size=(3, 2))
    for wrap in (torch.tensor, xps.asarray):
        there = wrap(w)
        np.testing.assert_allclose(np.asarray(penalty.prox(there, 0.3)), penalty.prox(w, 0.3))
        np.testing.assert_allclose(np.asarray(penalty.project(there, 1.0)), penalty.project(w, 1.0))
        assert float(penalty.value(there)) == pytest.approx(float(penalty.value(w)))
    assert penalty.prox(w.astype(np.float32), 0.3).dtype == np.float32


def test_bad_settings_get_one_sentence():
    with pytest.raises(ValueError, match=r"l1_ratio in 0…1 and got 2; 0 is L2, 1 is L1\."):
        ElasticNet(2)
    with pytest.raises(ValueError, match="low ≤ high"):
        Box(1, 0)


@each
def test_compiled_equals_definition(penalty):
    w = np.random.default_rng(5).normal(size=200)
    w[:3] = 0.0
    out = np.empty_like(w)
    assert penalties.penalty_value(penalty.form, w) == pytest.approx(float(penalty.value(w)), rel=1e-13)
    for step in (0.0, 0.05, 0.7):
        penalties.penalty_prox(penalty.form, w, step, out)
        np.testing.assert_allclose(out, penalty.prox(w, step), rtol=1e-13, atol=1e-15)
    for bound in (0.0, 1e-8, 3.0, 40.0, 1e9):
        penalties.penalty_project(penalty.form, w, bound, out)
        np.testing.assert_allclose(out, penalty.project(w, bound), rtol=1e-9, atol=1e-12)
    if hasattr(penalty, "gradient"):
        penalties.penalty_gradient(penalty.form, w, out)
        np.testing.assert_allclose(out, penalty.gradient(w), rtol=1e-13)
    if hasattr(penalty, "curvature"):
        penalties.penalty_curvature(penalty.form, w, out)
        np.testing.assert_allclose(out, penalty.curvature(w), rtol=1e-13)


def test_a_custom_penalty_has_no_compiled_form():
    class Cubes(penalties.Penalty):
        def value(self, w):
            return (abs(w) ** 3).sum()

    assert Cubes().form is None
