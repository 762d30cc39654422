"""Pursuits, sparse coding, dictionary learning and polynomial features against scikit-learn."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def regression(d: int, k: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        chosen = rng.permutation(d)[: min(k, d)]
        return {"X": X, "y": X[:, chosen] @ rng.normal(size=len(chosen)) + 0.5 * rng.normal(size=n)}

    return data


def signals(d: int, size: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        D = rng.normal(size=(size, d))
        D /= np.linalg.norm(D, axis=1, keepdims=True)
        W = rng.normal(size=(n, size)) * (rng.random((n, size)) < 0.1)
        return {"D": D, "X": W @ D + 0.05 * rng.normal(size=(n, d))}

    return data


def fit(package: str, room: str, name: str, **params):
    def work(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's lassos do not always converge
            return getattr(import_module(f"{package}.{room}"), name)(**params).fit(data["X"], data.get("y"))

    return work


def encode(package: str, **params):
    def work(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(f"{package}.decomposition").sparse_encode(data["X"], data["D"], **params)

    return work


def expand(package: str, **params):
    def work(data: dict):
        model = import_module(f"{package}.preprocessing").PolynomialFeatures(**params)
        return model.fit_transform(data["X"])

    return work


def squared_error(model, data: dict) -> float:
    return float(np.mean((data["y"] - model.predict(data["X"])) ** 2))


def code_objective(alpha: float):
    def quality(code, data: dict) -> float:
        return float(0.5 * np.sum((data["X"] - code @ data["D"]) ** 2) + alpha * np.abs(code).sum())

    return quality


def learned(model, data: dict) -> float:
    """½‖X − WD‖² + α Σ|w| with the exact codes of the learned atoms."""
    from learnt.decomposition import sparse_encode

    D = model.components_
    code = sparse_encode(data["X"], D, alpha=model.alpha, positive=model.positive_code)
    return float(0.5 * np.sum((data["X"] - code @ D) ** 2) + model.alpha * np.abs(code).sum())


def pursuit(name: str, n: int, d: int, k: int, required: float, model: str = "OrthogonalMatchingPursuit", **params):
    work = {
        package: fit(package, "linear_model", model, **params, **({} if "CV" in model else {"n_nonzero_coefs": k}))
        for package in ("learnt", "sklearn")
    }
    return Task(
        name=name, family="pursuit", make=regression(d, k), rows=n, ours=work["learnt"],
        peers={"scikit-learn": work["sklearn"]}, quality=squared_error, quality_name="mean squared error",
        required=required, toy=max(60, 2 * k),
    )  # fmt: skip


def coding(name: str, n: int, d: int, size: int, required: float, **params) -> Task:
    quality = code_objective(params.get("alpha", 0.0))
    return Task(
        name=name, family="pursuit", make=signals(d, size), rows=n, ours=encode("learnt", **params),
        peers={"scikit-learn": encode("sklearn", **params)}, quality=quality, quality_name="objective",
        required=required, toy=50,
    )  # fmt: skip


def learning(name: str, n: int, d: int, size: int, required: float, **params) -> Task:
    work = {
        p: fit(p, "decomposition", "DictionaryLearning", n_components=size, random_state=0, **params)
        for p in ("learnt", "sklearn")
    }
    return Task(
        name=name, family="pursuit", make=signals(d, size), rows=n, ours=work["learnt"],
        peers={"scikit-learn": work["sklearn"]}, quality=learned, quality_name="objective", required=required,
        tolerance=1e-3, toy=50,
    )  # fmt: skip


def products(name: str, n: int, d: int, required: float, **params) -> Task:
    return Task(
        name=name, family="pursuit", make=regression(d, 1), rows=n, ours=expand("learnt", **params),
        peers={"scikit-learn": expand("sklearn", **params)}, quality=lambda out, data: float(out.sum()),
        quality_name="sum", required=required, better="same", tolerance=1e-9, toy=50,
    )  # fmt: skip


TASKS = [
    pursuit("OMP 20k×200, k=20", 20_000, 200, 20, 3.0),
    pursuit("OMP 2k×2000, k=50", 2_000, 2000, 50, 3.0),
    pursuit("OMP 500×10k, k=50", 500, 10_000, 50, 2.0),
    pursuit("OMP CV 1k×500", 1_000, 500, 10, 3.0, model="OrthogonalMatchingPursuitCV"),
    coding("codes by OMP 2k signals, 256 atoms of 64", 2_000, 64, 256, 3.0, algorithm="omp", n_nonzero_coefs=10),
    coding("codes by lasso_cd 1k signals, 100 atoms of 64", 1_000, 64, 100, 3.0, algorithm="lasso_cd", alpha=0.2),
    coding("codes by lasso_lars 500 signals, 100 atoms of 64", 500, 64, 100, 3.0, alpha=0.2),
    learning("DictionaryLearning 500×32, 48 atoms, cd", 500, 32, 48, 3.0, alpha=0.2, max_iter=10, fit_algorithm="cd"),
    learning("DictionaryLearning 300×32, 48 atoms, lars", 300, 32, 48, 3.0, alpha=0.2, max_iter=5),
    products("PolynomialFeatures 100k×10, degree 2", 100_000, 10, 1.5, degree=2),
    products("PolynomialFeatures 20k×10, degree 3", 20_000, 10, 1.5, degree=3),
]
