"""The generator of scikit-learn's trees: Marsaglia's xorshift of 32 bits."""

from __future__ import annotations

from learnt.engine.kernel import kernel
from learnt.forestry._exact_data import SEED

_LOW = 0xFFFFFFFF


@kernel(allocates=False)
def draw(chosen):
    """The next of 0…2³¹ − 1; its state is in chosen[SEED]."""
    s = chosen[SEED]
    if s == 0:
        s = 1
    s ^= (s << 13) & _LOW
    s ^= s >> 17
    s ^= (s << 5) & _LOW
    chosen[SEED] = s
    return s & 0x7FFFFFFF
