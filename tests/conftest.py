"""For every test: `random_state=None` draws from NumPy's global state, which is the same at the start of each."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _same_draws_every_time():
    np.random.seed(0)
