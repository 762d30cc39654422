"""A pytest plugin: tests in a random order, the same for the same SHAKE_SEED on every worker."""

import os
import random


def pytest_collection_modifyitems(items):
    random.Random(int(os.environ["SHAKE_SEED"])).shuffle(items)
