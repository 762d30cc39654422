"""The Bayes error: the one-dimensional example by integration and by simulation, and bounds on problems that have one.

The example has p(x|0) = 2 − 2x and p(x|1) = 2x on [0, 1] and equal priors, so that p(1|x) = x and p(x) = 1.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from learnt.diagnosis import bayes_error_bounds, cover_hart_lower
from learnt.neighbors import KNeighborsClassifier

# Gauss–Legendre with 8 nodes integrates polynomials up to degree 15 exactly; all of the example are below.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def integral(function, low, high):
    """∫ function from low to high, where these are numbers or arrays."""
    half = (np.asarray(high) - low) / 2
    return sum(w * half * function(low + half * (1 + t)) for t, w in zip(NODES, WEIGHTS, strict=True))


def error_a(t):
    """The rule that says 1 above t: wrong for class 1 below and for class 0 above."""
    return integral(lambda x: x, 0, t) + integral(lambda x: 1 - x, t, 1)


def error_b(t):
    """The rule that says 1 below t."""
    return integral(lambda x: 1 - x, 0, t) + integral(lambda x: x, t, 1)


def drawn(rng, n):
    """Rows of the example: labels, and x by the inverse of each class's distribution function."""
    y, u = rng.integers(0, 2, size=n), np.sqrt(rng.uniform(size=n))
    return np.where(y == 1, u, 1 - u), y


def test_the_threshold_rules_err_by_a_parabola_each():
    t = np.linspace(0, 1, 21)
    np.testing.assert_allclose(error_a(t), (t - 0.5) ** 2 + 0.25, atol=1e-14)
    np.testing.assert_allclose(error_b(t), 0.75 - (t - 0.5) ** 2, atol=1e-14)


def test_the_threshold_rules_err_so_in_a_simulation():
    x, y = drawn(np.random.default_rng(1), 100_000)
    for t in (0.0, 0.3, 0.5, 0.8):
        wrong = np.mean((x > t) != y)
        assert abs(wrong - ((t - 0.5) ** 2 + 0.25)) < 5 * 0.5 / math.sqrt(len(x))  # five standard errors at most
        assert wrong + np.mean((x <= t) != y) == pytest.approx(1)


def test_the_bayes_error_is_a_quarter():
    assert integral(lambda x: x, 0, 0.5) + integral(lambda x: 1 - x, 0.5, 1) == pytest.approx(0.25, abs=1e-15)
    assert error_a(np.linspace(0, 1, 1001)).min() == pytest.approx(0.25, abs=1e-12)


def test_one_point_a_class_errs_seven_twentieths_by_integration():
    # x₀ of class 0 and x₁ of class 1 make the rule with t in their middle: A where x₀ ≤ x₁, and B where x₀ > x₁.
    def of_pair(x0, error):
        return lambda x1: 2 * x1 * error((x0 + x1) / 2)

    rule_a = integral(lambda x0: (2 - 2 * x0) * integral(of_pair(x0, error_a), x0, 1), 0, 1)
    rule_b = integral(lambda x0: (2 - 2 * x0) * integral(of_pair(x0, error_b), 0, x0), 0, 1)
    assert rule_a == pytest.approx(float(Fraction(83, 360)), abs=1e-14)
    assert rule_b == pytest.approx(float(Fraction(43, 360)), abs=1e-14)
    assert rule_a + rule_b == pytest.approx(7 / 20, abs=1e-14)


def test_one_point_a_class_errs_seven_twentieths_in_a_simulation():
    rng = np.random.default_rng(0)
    n = 200_000
    zero, one = 1 - np.sqrt(rng.uniform(size=n)), np.sqrt(rng.uniform(size=n))
    x, y = drawn(rng, n)
    wrong = (np.abs(x - one) < np.abs(x - zero)) != y
    margin = 5 * 0.5 / math.sqrt(n)
    assert abs(np.mean(wrong) - 7 / 20) < margin
    assert abs(np.mean(wrong & (zero <= one)) - 83 / 360) < margin
    assert abs(np.mean(wrong & (zero > one)) - 43 / 360) < margin


def test_the_classifier_with_one_point_a_class_is_the_rule_with_t_in_their_middle():
    rng = np.random.default_rng(2)
    rows = rng.uniform(size=500)
    for zero, one in rng.uniform(size=(20, 2)):
        said = KNeighborsClassifier(1).fit([[zero], [one]], [0, 1]).predict(rows[:, None])
        t = (zero + one) / 2
        np.testing.assert_array_equal(said, (rows > t) if zero <= one else (rows <= t))


def test_its_bracket_holds_a_quarter():
    # R∞ = 2·E[x(1 − x)] = 1/3, and the bracket of p* is [(1 − √(1 − 2/3))/2, 1/3].
    x, y = drawn(np.random.default_rng(3), 5000)
    found = bayes_error_bounds(x[:, None], y)
    assert abs(found.nearest_neighbor_error - 1 / 3) < 5 * math.sqrt(2 / 9 / 5000) + 1e-3
    assert found.upper == found.nearest_neighbor_error
    assert found.lower == cover_hart_lower(found.upper, 2)
    assert found.low <= found.lower <= 0.25 <= found.upper <= found.high


def gaussians(distance, p):
    """Two normal classes of that distance in p dimensions: the Bayes error is Φ(−distance/2)."""

    def draw(rng, n):
        y = rng.integers(0, 2, size=n)
        X = rng.normal(size=(n, p))
        X[:, 0] += distance * y
        return X, y

    return draw, 0.5 * math.erfc(distance / 2 / math.sqrt(2))


def flipped(n_classes, share, p):
    """Cells of equal width in one of p columns, and that share of the labels replaced by any other: the share is p*."""

    def draw(rng, n):
        X = rng.uniform(size=(n, p))
        y = np.minimum((X[:, 0] * n_classes).astype(int), n_classes - 1)
        other = (y + rng.integers(1, n_classes, size=n)) % n_classes
        return X, np.where(rng.uniform(size=n) < share, other, y)

    return draw, share


def unlike(prior):
    """Labels of unequal frequency that the columns know nothing of: the Bayes error is the rarer one's."""
    return lambda rng, n: (rng.normal(size=(n, 2)), (rng.uniform(size=n) < prior).astype(int)), prior


KNOWN = {
    "gaussians far apart": gaussians(4.0, 2),
    "gaussians that overlap": gaussians(2.0, 2),
    "gaussians nearly the same": gaussians(0.5, 1),
    "gaussians in five dimensions": gaussians(2.0, 5),
    "gaussians in thirty dimensions": gaussians(2.0, 30),
    "no noise": flipped(3, 0.0, 2),
    "labels of three, one in ten wrong": flipped(3, 0.1, 2),
    "labels of five, one in three wrong": flipped(5, 1 / 3, 1),
    "labels of two, in ten dimensions": flipped(2, 0.2, 10),
    "nothing to know, one in five": unlike(0.2),
    "nothing to know, halves": unlike(0.5),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_bounds_hold_the_bayes_error(name):
    draw, bayes = KNOWN[name]
    for seed in range(5):
        X, y = draw(np.random.default_rng(seed), 2000)
        found = bayes_error_bounds(X, y, level=0.9999)  # 55 intervals: all of them must hold it
        assert found.low <= found.lower <= found.upper <= found.high
        assert found.low <= bayes <= found.high


@pytest.mark.parametrize(
    "name", ["gaussians that overlap", "labels of three, one in ten wrong", "nothing to know, halves"]
)
def test_the_inverted_bracket_is_narrow_in_few_dimensions(name):
    draw, bayes = KNOWN[name]
    found = bayes_error_bounds(*draw(np.random.default_rng(9), 5000))
    error = 5 * 0.5 / math.sqrt(5000)
    assert found.lower - error <= bayes <= found.upper + error
    c = len(np.unique(draw(np.random.default_rng(9), 100)[1]))
    assert found.upper - found.lower <= bayes * (1 - c / (c - 1) * bayes) + 2 * error  # what Cover and Hart allow


def test_one_interval_in_forty_is_above_the_bayes_error():
    # Labels that the columns know nothing of: R∞ = 2·p*(1 − p*), and the lower end is the lower end of a share of rows
    # that are each other's neighbours. Taken for independent, about 42 of 600 would.
    draw, bayes = KNOWN["nothing to know, one in five"]
    above = sum(bayes_error_bounds(*draw(np.random.default_rng(s), 400)).low > bayes for s in range(600))
    assert above <= 30  # more of 600 with probability 1/40 each happen once in 5000 times
