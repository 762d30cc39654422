"""The cosine of the engine against NumPy's."""

import numpy as np
import pytest

from learnt.linalg.cosine import cosines_in_place


@pytest.mark.parametrize("size", [1.0, 100.0, 1e9])
def test_cosine(size):
    """x + offset is rounded (u|x|) and so is its multiple of π (2u|x|); 1e-15 for the polynomial."""
    rng = np.random.default_rng(0)
    P, offset = rng.normal(size=(30, 70)) * size, rng.uniform(0, 2 * np.pi, 70)
    P[0, :3] = 0.0
    offset[:3] = 0.0, np.pi / 2, np.pi
    x = P + offset
    cosines_in_place(P, offset, 0.5)
    assert (np.abs(P - 0.5 * np.cos(x)) <= 0.5 * (1e-15 + 4 * 2.0**-53 * np.abs(x))).all()
    assert P[0, 0] == 0.5
    assert P[0, 2] == -0.5


def test_beyond_all_digits_it_is_still_a_cosine():
    P = np.array([[1e17, -1e300, np.inf]])
    cosines_in_place(P, np.zeros(3), 1.0)
    assert (np.abs(P) <= 1.0).all()
