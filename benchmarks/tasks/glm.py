"""Generalised linear, robust, quantile and Bayesian regression against scikit-learn's classes of the same names."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def fit(package: str, name: str, **params):
    def work(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(f"{package}.linear_model"), name)(**params).fit(data["X"], data["y"])

    return work


def amounts(d: int, family: str):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        mean = np.exp(X @ rng.normal(size=d) * 0.5 / np.sqrt(d) + 0.5)
        y = rng.poisson(mean).astype(float) if family == "Poisson" else rng.gamma(2.0, mean / 2.0)
        return {"X": X, "y": np.where(rng.random(n) < 0.3, 0.0, y) if family == "Tweedie" else y}

    return data


def wild(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = X @ rng.normal(size=d) + 0.5 + rng.standard_t(3, size=n)
        y[rng.random(n) < 0.05] += 20.0
        return {"X": X, "y": y}

    return data


def half_deviance(power: float, alpha: float):
    """The objective that both minimise, up to a constant."""

    def objective(model, data: dict) -> float:
        score, y = data["X"] @ model.coef_ + model.intercept_, data["y"]
        if power == 1:
            loss = np.exp(score) - y * score
        elif power == 2:
            loss = score + y * np.exp(-score)
        else:
            loss = np.exp((2 - power) * score) / (2 - power) - y * np.exp((1 - power) * score) / (1 - power)
        return float(loss.mean() + 0.5 * alpha * np.sum(model.coef_**2))

    return objective


def huber_objective(model, data: dict) -> float:
    error, epsilon = np.abs(data["y"] - data["X"] @ model.coef_ - model.intercept_) / model.scale_, 1.35
    loss = np.where(error <= epsilon, error**2, 2 * epsilon * error - epsilon**2)
    return float(model.scale_ * np.mean(1 + loss) + 1e-4 * np.sum(model.coef_**2) / len(error))


def pinball(quantile: float, alpha: float):
    def objective(model, data: dict) -> float:
        e = data["y"] - data["X"] @ model.coef_ - model.intercept_
        return float(np.mean(np.where(e > 0, quantile * e, (quantile - 1) * e)) + alpha * np.abs(model.coef_).sum())

    return objective


def squared_error(model, data: dict) -> float:
    return float(np.mean((data["y"] - data["X"] @ model.coef_ - model.intercept_) ** 2))


def posterior(model, data: dict) -> float:
    """−2 log of the posterior of the coefficients at the precisions found, over n, but for a constant."""
    error, coef = data["y"] - data["X"] @ model.coef_ - model.intercept_, model.coef_
    return float((model.alpha_ * error @ error + model.lambda_ * coef @ coef) / len(error))


def wide(columns_per_row: int):
    return lambda n: wild(columns_per_row * n)(n)


def bayes_wide(n: int, columns_per_row: int) -> Task:
    """Fewer rows than columns, at toy size too, where a decomposition of all columns would take seconds."""
    return Task(
        name=f"BayesianRidge {n}×{columns_per_row * n}",
        family="glm",
        make=wide(columns_per_row),
        rows=n,
        ours=fit("learnt", "BayesianRidge"),
        peers={"sklearn": fit("sklearn", "BayesianRidge")},
        quality=posterior,
        quality_name="posterior",
        required=1.5,
        tolerance=1e-4,
        toy=30,
    )


def glm(name: str, n: int, d: int, power: float) -> Task:
    setting = {"alpha": 1e-3, **({"power": power} if name == "TweedieRegressor" else {})}
    return Task(
        name=f"{name} {n}×{d}",
        family="glm",
        make=amounts(d, name.removesuffix("Regressor")),
        rows=n,
        ours=fit("learnt", name, **setting),
        peers={
            "sklearn lbfgs": fit("sklearn", name, tol=1e-5, max_iter=1000, **setting),
            "sklearn newton": fit("sklearn", name, solver="newton-cholesky", **setting),
        },
        quality=half_deviance(power, 1e-3),
        quality_name="objective",
        required=1.5,
    )


def other(
    name: str, n: int, d: int, quality, quality_name: str, tolerance: float = 1e-6, toy: int = 200, **params
) -> Task:
    peer = {"max_iter": 1000} if name == "HuberRegressor" else {}
    return Task(
        name=f"{name} {n}×{d}",
        family="glm",
        make=wild(d),
        rows=n,
        ours=fit("learnt", name, **params),
        peers={"sklearn": fit("sklearn", name, **peer, **params)},
        quality=quality,
        quality_name=quality_name,
        required=1.5,
        tolerance=tolerance,
        toy=toy,
    )


TASKS = [
    glm("PoissonRegressor", 200_000, 10, 1.0),
    glm("PoissonRegressor", 100_000, 50, 1.0),
    glm("GammaRegressor", 100_000, 50, 2.0),
    glm("TweedieRegressor", 100_000, 20, 1.5),
    glm("PoissonRegressor", 200, 1000, 1.0),
    other("HuberRegressor", 200_000, 10, huber_objective, "objective"),
    other("HuberRegressor", 50_000, 50, huber_objective, "objective"),
    other("QuantileRegressor", 2_000, 10, pinball(0.8, 0.01), "objective", quantile=0.8, alpha=0.01),
    other("QuantileRegressor", 5_000, 20, pinball(0.5, 0.001), "objective", quantile=0.5, alpha=0.001),
    other("BayesianRidge", 100_000, 50, squared_error, "squared error", 1e-4),
    other("BayesianRidge", 3_000, 200, squared_error, "squared error", 1e-4, toy=400),
    bayes_wide(200, 15),
    bayes_wide(500, 10),
    other("ARDRegression", 20_000, 50, squared_error, "squared error", 1e-4),
]
