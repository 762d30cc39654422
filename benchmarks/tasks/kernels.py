"""Kernel ridge, Gaussian processes and kernel features against scikit-learn's."""

from __future__ import annotations

import warnings
from functools import partial
from importlib import import_module

import numpy as np
from harness import Task


def smooth(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        return {"X": X, "y": np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)}

    return data


def ridge(package: str):
    def work(data: dict):
        model = import_module(f"{package}.kernel_ridge").KernelRidge(0.1, kernel="rbf", gamma=0.1)
        return model.fit(data["X"], data["y"])

    return work


def process(package: str):
    def work(data: dict):
        room = import_module(f"{package}.gaussian_process")
        kernels = import_module(f"{package}.gaussian_process.kernels")
        kernel = 1.0 * kernels.RBF(np.ones(data["X"].shape[1])) + kernels.WhiteKernel(0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return room.GaussianProcessRegressor(kernel).fit(data["X"], data["y"])

    return work


def deviations(package: str, rows: int):
    """The fit once, before the clock runs: predictions with standard deviations of other rows."""
    fitted: dict[int, tuple] = {}

    def work(data: dict):
        X = data["X"]
        if len(X) not in fitted:
            room = import_module(f"{package}.gaussian_process")
            kernels = import_module(f"{package}.gaussian_process.kernels")
            lengths = [5.5, 17.5, 21.0, *[1e5] * (X.shape[1] - 3)]  # what a fit of these rows finds
            kernel = 7500.0 * kernels.RBF(lengths) + kernels.WhiteKernel(0.01)
            model = room.GaussianProcessRegressor(kernel, optimizer=None).fit(X, data["y"])
            asked = np.random.default_rng(1).normal(size=(min(rows, 20 * len(X)), X.shape[1]))
            fitted[len(X)] = model, asked
        model, asked = fitted[len(X)]
        return model.predict(asked, return_std=True)

    return work


def features(package: str, name: str, **params):
    def work(data: dict):
        made = getattr(import_module(f"{package}.kernel_approximation"), name)(random_state=0, **params)
        return made.fit(data["X"]).transform(data["X"])

    return work


def squared_error(model, data: dict) -> float:
    return float(np.mean((model.predict(data["X"][:500]) - data["y"][:500]) ** 2))


def mean_deviation(result, data: dict) -> float:
    return float(result[1].mean())


def negative_likelihood(model, data: dict) -> float:
    return -float(model.log_marginal_likelihood_value_)


def kernel_error(made, data: dict) -> float:
    """How far products of features of 200 rows are from the kernel, on average."""
    X = data["X"][:200]
    exact = np.exp(-0.02 * np.square(X[:, None] - X).sum(axis=2))
    return float(np.abs(made[:200] @ made[:200].T - exact).mean())


def task(name: str, n: int, d: int, work, quality, quality_name: str, required: float, toy: int) -> Task:
    return Task(
        name=name,
        family="kernels",
        make=smooth(d),
        rows=n,
        ours=work("learnt"),
        peers={"sklearn": work("sklearn")},
        quality=quality,
        quality_name=quality_name,
        required=required,
        tolerance=1e-3,
        toy=toy,
    )


def deviation_task(rows: int) -> Task:
    work = partial(deviations, rows=rows)
    name = f"GP of 2k rows, standard deviations of {rows // 1000}k"
    return task(name, 2_000, 10, work, mean_deviation, "mean deviation", 5.0, 200)


def sampler(name: str):
    return lambda package: features(package, name, gamma=0.02)


TASKS = [
    task("KernelRidge RBF 5k×20", 5_000, 20, ridge, squared_error, "squared error", 1.5, 300),
    task("GP fit with 10 length scales, 2k", 2_000, 10, process, negative_likelihood, "−log likelihood", 5.0, 100),
    deviation_task(2_000),
    deviation_task(20_000),
    task("Nyström 100k×50, 100 rows", 100_000, 50, sampler("Nystroem"), kernel_error, "kernel error", 2.0, 500),
    task("Random features 100k×50, 100", 100_000, 50, sampler("RBFSampler"), kernel_error, "kernel error", 2.0, 500),
]
