"""Consistency: with k growing and k/n falling to 0 the error falls to the Bayes error; with k = 1 it does not.

P(y = 1 | x) = 1/2 + 0.4 sin 2πx for x uniform in [0, 1]: the Bayes error is 1/2 − 0.4 · 2/π = 0.2454, and that of one
neighbour tends to 2 E p(1 − p) = 0.34 (Cover and Hart, 1967).
"""

from itertools import pairwise

import numpy as np

from learnt.neighbors import KNeighborsClassifier, KNeighborsRegressor

BAYES, ONE = 0.5 - 0.8 / np.pi, 0.34


def chance(x):
    return 0.5 + 0.4 * np.sin(2 * np.pi * x)


def error(n, k, draws):
    """The error of k neighbours of n rows: a mean over drawn tables, exact over labels and (a fine grid of) x."""
    grid = (np.arange(2000) + 0.5) / 2000
    found = []
    for seed in range(draws):
        rng = np.random.default_rng([n, k, seed])
        x = rng.random(n)
        model = KNeighborsClassifier(k).fit(x[:, None], rng.random(n) < chance(x))
        found.append(np.where(model.predict(grid[:, None]), 1 - chance(grid), chance(grid)).mean())
    return float(np.mean(found))


def test_the_error_falls_to_the_bayes_error_as_k_grows_more_slowly_than_n():
    excess = [error(n, round(n ** (2 / 3)) | 1, 10) - BAYES for n in (30, 300, 3000)]
    assert all(later < sooner / 2 for sooner, later in pairwise(excess)), excess
    assert excess[-1] < 0.002


def test_one_neighbour_and_all_rows_stay_above_it():
    # A mean over tables of 3,000 rows: cells of labels that agree have an error of about 0.4 / √3000 each.
    assert abs(error(3000, 1, 20) - ONE) < 4 * 0.4 / np.sqrt(3000 * 20)
    assert error(3000, 2999, 5) > BAYES + 0.05


def test_bias_grows_and_variance_falls_with_k():
    grid = (np.arange(200) + 0.5) / 200
    bias, variance = [], []
    for k in (1, 15, 101):
        tables = []
        for seed in range(60):
            rng = np.random.default_rng(seed)
            x = rng.random(300)
            y = chance(x) + 0.3 * rng.normal(size=300)
            tables.append(KNeighborsRegressor(k).fit(x[:, None], y).predict(grid[:, None]))
        bias.append(float(((np.mean(tables, axis=0) - chance(grid)) ** 2).mean()))
        variance.append(float(np.var(tables, axis=0).mean()))
    # The variance of a mean of k independent noises is σ²/k, to which the spread of x adds.
    assert variance[0] > 0.8 * 0.09
    assert variance[2] < variance[1] < 2 * 0.09 / 15
    assert bias[2] > 4 * bias[0]  # which is σ²/60 alone, the noise of a mean of 60 tables
