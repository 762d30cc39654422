"""The compiled forms of the log loss against sums in many digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from learnt.linalg.log_loss import class_loss, log_both, log_chances, log_curvature, log_slope, log_value
from learnt.linear_model.logistic._margins import margin_losses

MARGINS = [0.0, 1e-300, 1e-9, -1e-9, 0.3, -0.3, 1.0, -1.0, 17.0, -17.0, 40.0, -40.0, 600.0, -600.0]
CLOSE = 1e-14  # a few roundings, and the polynomial's own error of 2e-15


def exact(m):
    """Loss, slope and curvature by 700 digits: nothing is lost where e⁻ᵐ is added to 1."""
    with localcontext(prec=700):
        e = (-Decimal(m)).exp()
        return float((1 + e).ln()), float(-e / (1 + e)), float(e / (1 + e) ** 2)


@pytest.mark.parametrize("m", MARGINS)
def test_all_forms_are_the_log_loss(m):
    e = math.exp(-abs(m))
    value, slope, curvature = exact(m)
    assert log_both(m, e) == pytest.approx((value, slope), rel=CLOSE, abs=0)
    large, small = log_chances(e)
    assert (small if m > 0 else large) == pytest.approx(-slope, rel=CLOSE, abs=0)
    assert large * small == pytest.approx(curvature, rel=CLOSE, abs=0)
    assert log_value(m, e) == pytest.approx(value, rel=CLOSE, abs=0)
    assert log_slope(m, e) == pytest.approx(slope, rel=CLOSE, abs=0)
    assert log_curvature(e) == pytest.approx(curvature, rel=CLOSE, abs=0)
    array = margin_losses(np.array([m]))
    np.testing.assert_allclose(np.concatenate(array), [value, -slope, curvature], rtol=CLOSE, atol=0)


def test_the_polynomial_is_the_logarithm():
    """At many places of e in 0…1, where the margin is positive and the loss is log(1 + e) alone."""
    m = np.linspace(1e-6, 30.0, 2001)
    found = [log_both(x, math.exp(-x))[0] for x in m]
    np.testing.assert_allclose(found, np.log1p(np.exp(-m)), rtol=CLOSE, atol=0)


@pytest.mark.parametrize("scores", [[0.0, 0.0], [3.0, 1.0, -2.0], [-50.0, 0.0, 1.0], [700.0, 1.0, 0.0]])
def test_of_several_classes(scores):
    """The first is the own class."""
    with localcontext(prec=700):
        powers = [Decimal(s).exp() for s in scores]
        expected = float((sum(powers) / powers[0]).ln())
    powers = [math.exp(s - max(scores)) for s in scores]
    found = class_loss(scores[0] - max(scores), sum(powers[1:]), sum(powers))
    assert found == pytest.approx(expected, rel=CLOSE, abs=0)
