"""Which columns a node draws: the generator of scikit-learn's trees, and the columns known to be constant on a path."""

from __future__ import annotations

from learnt.engine.kernel import kernel
from learnt.forestry.exact._data import SEED

_LOW = 0xFFFFFFFF


@kernel(allocates=False)
def draw(chosen):
    """The next of 0…2³¹ − 1 by Marsaglia's xorshift of 32 bits; its state is in chosen[SEED]."""
    s = chosen[SEED]
    if s == 0:
        s = 1
    s ^= (s << 13) & _LOW
    s ^= s >> 17
    s ^= (s << 5) & _LOW
    chosen[SEED] = s
    return s & 0x7FFFFFFF


@kernel(allocates=False)
def remember_constants(known, found, features):
    """Columns that are constant in a node are so below it: `known` before it, `found` in it, the first of features[0].

    features[1] keeps them in the order they were found in, since draws move those known before. Returns how many.
    """
    for k in range(known):
        features[0, k] = features[1, k]
    for k in range(known, known + found):
        features[1, k] = features[0, k]
    return known + found
