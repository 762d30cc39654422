"""Lasso and elastic net, one penalty, a path and cross-validation, against scikit-learn and skglm.

Everybody has to reach the same duality gap: quality is the worst one, relative to ‖y‖², and no better than GAP counts.
"""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task
from scipy import sparse

GAP = 1e-6
TOY = 200  # rows up to which scikit-learn stands in for skglm, which compiles for half a minute in every process


def dense(d: int, rho: float = 0.0, k: int = 20):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        for j in range(1, d) if rho else ():
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        chosen = rng.permutation(d)[: min(k, d)]
        y = X[:, chosen] @ rng.normal(size=len(chosen)) + np.sqrt(k) / 4 * rng.normal(size=n) + 1.0
        return posed(X - X.mean(axis=0), y)

    return data


def text(d: int, density: float, k: int = 100):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = sparse.csr_matrix(sparse.random_array((n, d), density=density, rng=rng, format="csr"))
        X.data = np.log1p(rng.geometric(0.5, size=X.nnz).astype(float))
        chosen = rng.permutation(d)[: min(k, d)]
        y = np.asarray(X[:, chosen] @ rng.normal(size=len(chosen)))
        return posed(X, y + 0.3 * y.std() * rng.normal(size=n))

    return data


def posed(X, y) -> dict:
    y = y - y.mean()
    top = np.abs(X.T @ y).max() / len(y)
    return {"X": X, "y": y, "top": top}


def quiet(work):
    def silent(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work(data)

    return silent


def single(package: str, share: float, name: str = "Lasso", **params):
    @quiet
    def work(data: dict):
        alpha = share * data["top"]
        if package == "skglm" and len(data["y"]) > TOY:
            model = import_module("skglm").Lasso(alpha, tol=1e-6 * data["top"])
        else:
            room = import_module(f"{package.replace('skglm', 'sklearn')}.linear_model")
            model = getattr(room, name)(alpha, tol=GAP, max_iter=20_000, **params)
        model.fit(data["X"], data["y"])
        return [(alpha, model.coef_, model.intercept_)]

    return work


def path(package: str, eps: float, n: int):
    @quiet
    def work(data: dict):
        alphas = data["top"] * np.geomspace(1.0, eps, n)
        if package == "skglm" and len(data["y"]) > TOY:
            model = import_module("skglm").Lasso(fit_intercept=False, tol=1e-6 * data["top"])
            coefs = model.path(data["X"], data["y"], alphas)[1]
        else:
            lasso_path = import_module(f"{package.replace('skglm', 'sklearn')}.linear_model").lasso_path
            coefs = lasso_path(data["X"], data["y"], alphas=alphas, tol=GAP, max_iter=20_000)[1]
        return [(alpha, coefs[:, i], 0.0) for i, alpha in enumerate(alphas)]

    return work


def chosen(package: str):
    @quiet
    def work(data: dict):
        model = import_module(f"{package}.linear_model").LassoCV(tol=GAP, max_iter=20_000)
        model.fit(data["X"], data["y"])
        return [(model.alpha_, model.coef_, model.intercept_)]

    return work


def worst_gap(ratio: float = 1.0):
    def quality(solutions, data: dict) -> float:
        X, y = data["X"], data["y"]
        n, gaps = len(y), []
        for alpha, coef, intercept in solutions:
            rest = y - np.asarray(X @ coef) - intercept
            l1, l2 = alpha * ratio * n, alpha * (1 - ratio) * n
            slopes = np.asarray(X.T @ rest)
            if l2:
                apart = np.maximum(np.abs(slopes) - l1, 0.0)
                gap = l1 * np.abs(coef).sum() + 0.5 * l2 * coef @ coef - coef @ slopes + 0.5 * apart @ apart / l2
            else:
                share = min(1.0, l1 / max(np.abs(slopes).max(), 1e-300))
                gap = 0.5 * (1 - share) ** 2 * rest @ rest + l1 * np.abs(coef).sum() - share * coef @ slopes
            gaps.append(gap / (y @ y))
        return float(max(max(gaps), GAP))

    return quality


def task(name: str, make, n: int, work, peer: str, required: float, toy: int = 100, ratio: float = 1.0) -> Task:
    return Task(
        name=name,
        family="lasso",
        make=make,
        rows=n,
        ours=work("learnt"),
        peers={peer: work(peer.split()[0])},
        quality=worst_gap(ratio),
        quality_name="duality gap",
        required=required,
        tolerance=0.05,
        toy=toy,
    )


def one(share: float):
    return lambda package: single(package, share)


def mixed(share: float):
    return lambda package: single(package, share, "ElasticNet", l1_ratio=0.5)


def along(eps: float, n: int = 100):
    return lambda package: path(package, eps, n)


TASKS = [
    task("Lasso 50k×200", dense(200), 50_000, one(0.05), "sklearn", 2.0),
    task("Lasso correlated 50k×200", dense(200, 0.95), 50_000, one(0.05), "sklearn", 2.0),
    task("Lasso 500×5000", dense(5000), 500, one(0.05), "sklearn", 2.0),
    task("Lasso 500×5000, skglm", dense(5000), 500, one(0.05), "skglm", 1.2),
    task("Lasso correlated 500×5000", dense(5000, 0.9), 500, one(0.05), "sklearn", 2.0),
    task("Lasso sparse 10k×50k", text(50_000, 0.001), 10_000, one(0.05), "sklearn", 2.0),
    task("Lasso sparse 10k×50k, skglm", text(50_000, 0.001), 10_000, one(0.05), "skglm", 1.2),
    task("Elastic net 500×5000", dense(5000), 500, mixed(0.05), "sklearn", 2.0, ratio=0.5),
    task("Lasso path 50k×200", dense(200), 50_000, along(1e-3), "sklearn", 2.0),
    task("Lasso path correlated 20k×200", dense(200, 0.95), 20_000, along(1e-3), "sklearn", 2.0),
    task("Lasso path 500×5000", dense(5000), 500, along(0.05), "sklearn", 2.0, toy=40),
    task("Lasso path 500×5000, skglm", dense(5000), 500, along(0.05), "skglm", 1.2, toy=40),
    task("Lasso path sparse 10k×50k", text(50_000, 0.001), 10_000, along(0.05), "sklearn", 2.0, toy=40),
    task("LassoCV 10k×100", dense(100), 10_000, lambda package: chosen(package), "sklearn", 2.0),
]
