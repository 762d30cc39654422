"""A `random_state` becomes independent streams, one per task, so that results do not depend on the thread count.

Every function takes what scikit-learn users pass: None, an integer, a `RandomState` or a `Generator`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_local = threading.local()  # .state: the RandomState that `borrowed` reseeds


def random_state_of(random_state: Any) -> np.random.RandomState:
    """A `RandomState` that makes scikit-learn's draws for the same seed.

    >>> random_state_of(0).randint(10)
    5
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(2**32)))
    return check_random_state(random_state)


def borrowed(seed: int) -> np.random.RandomState:
    """The calling thread's own `RandomState`, seeded anew: for draws at once, not to be kept.

    Making one takes much longer than seeding one. The thread's next call seeds it again.

    >>> borrowed(0).randint(10) == np.random.RandomState(0).randint(10)
    True
    """
    if (state := getattr(_local, "state", None)) is None:
        state = _local.state = np.random.RandomState()
    state.seed(seed)
    return state


def uniforms(index: np.ndarray, seed: int) -> np.ndarray:
    """A uniform number for each of these integers: the same whichever other integers it is drawn with (splitmix64).

    >>> bool(uniforms(np.arange(5), 1)[3] == uniforms(np.array([3]), 1)[0])
    True
    """
    z = (index.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z ^= np.uint64((seed * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * 2.0**-53


def first_seed(random_state: Any, below: int = 2**31 - 1) -> int:
    """The first integer that `random_state` draws, as scikit-learn's trees and boosting take their seed.

    >>> first_seed(0) == np.random.RandomState(0).randint(2**31 - 1)
    True
    """
    plain = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    random = borrowed(int(random_state)) if plain else random_state_of(random_state)
    return int(random.randint(0, below, dtype=np.int64))


def entropy(random_state: Any) -> int:
    """One integer that stands for `random_state`; drawing it advances a stateful one."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be at least 0; it is {random_state}.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def generator(random_state: Any) -> np.random.Generator:
    """One stream.

    >>> float(generator(0).random()) == float(generator(0).random())
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy(random_state))))


def stream(seed: int, *task: int) -> np.random.Generator:
    """The stream of one numbered task: the same whichever tasks came before it.

    >>> float(stream(0, 7).random()) == float(np.random.default_rng([0, 7]).random())
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *task])))


def task_seed(seed: int, *task: int) -> int:
    """The seed of one numbered task, for code that takes an integer below 2**63.

    >>> task_seed(0, 1) != task_seed(0, 2)
    True
    """
    return int(np.random.SeedSequence([seed, *task]).generate_state(1, np.uint64)[0] >> 1)


def streams(random_state: Any, n: int) -> list[np.random.Generator]:
    """`n` independent streams: one per tree, restart or block, never per thread.

    >>> a, b = streams(0, 2)
    >>> float(a.random()) != float(b.random())
    True
    """
    children = np.random.SeedSequence(entropy(random_state)).spawn(n)
    return [np.random.Generator(np.random.PCG64(child)) for child in children]
