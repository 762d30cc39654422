"""Ten tables as people bring them: two to twelve classes, a rare class, costs, a metric, amounts, dates, words."""

import datetime

import numpy as np
import polars as pl


def _signal(rng, n, d=4):
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.7 * X[:, 1] * X[:, 2 % d] + np.abs(X[:, 3 % d])


def _frame(X, **more):
    return pl.DataFrame({f"c{k}": X[:, k] for k in range(X.shape[1])} | more)


def two_classes(rng, noise=0.5, n=260):
    X, s = _signal(rng, n)
    return _frame(X, y=np.where(s + noise * rng.normal(size=n) > 0.5, "yes", "no"))


def rare(rng, n=900):
    X, s = _signal(rng, n)
    return _frame(X, y=np.where(s + 0.3 * rng.normal(size=n) > np.quantile(s, 0.94), "fraud", "fine"))


def several(rng, k, n=400):
    X, s = _signal(rng, n)
    s = s + 0.3 * rng.normal(size=n)
    return _frame(X, y=[f"kind {c}" for c in np.digitize(s, np.quantile(s, np.arange(1, k) / k))])


def noise(rng, n=200):
    return _frame(rng.normal(size=(n, 5)), y=rng.choice(["heads", "tails"], n))


def amounts(rng, n=260, scale=10.0):
    X, s = _signal(rng, n)
    return _frame(X, y=scale * (s + 0.4 * rng.normal(size=n)))


def mixed(rng, n=300):
    town, day = rng.choice(["Oslo", "Rome", "Bern"], n), rng.integers(0, 700, n)
    X, s = _signal(rng, n, 2)
    words = rng.choice(["a good thing", "late again", "as ordered", "broken box"], n)
    y = s + (town == "Rome") + 0.002 * day + (words == "broken box")
    days = [(datetime.date(2022, 1, 1) + datetime.timedelta(int(d))).isoformat() for d in day]
    return _frame(X, town=town, day=days, remark=words, y=np.where(y > np.median(y), 1, 0))


TEN = {
    "two classes": (two_classes, {}),
    "costs": (two_classes, {"cost": (1.0, 5.0)}),
    "a metric": (two_classes, {"metric": "f1"}),
    "rare": (rare, {}),
    "three classes": (lambda rng: several(rng, 3), {}),
    "twelve classes": (lambda rng: several(rng, 12, 500), {}),
    "noise": (noise, {}),
    "amounts": (amounts, {}),
    "amounts by a metric": (lambda rng: amounts(rng, scale=1e4), {"metric": "mean_absolute_error", "prefer": "simple"}),
    "mixed": (mixed, {}),
}


def table(name):
    return TEN[name][0](np.random.default_rng(sorted(TEN).index(name)))
