"""NonlinearLeastSquares against scipy.optimize.least_squares: certified problems, many rows, bounds.

The certified problems are fitted from both starts; their quality is how many fits have six right digits in every
parameter. SciPy runs at the tolerance at which it has most of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from harness import Task

_NIST = Path(__file__).resolve().parents[2] / "tests" / "linear_model" / "nonlinear" / "nist" / "problems.json"
_FUNCTIONS = {name: getattr(np, name) for name in ("exp", "cos", "sin", "arctan", "pi")}
_TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def nist(n: int) -> dict:
    """The first n / 2 problems, each from both starts."""
    fits = []
    for name, problem in list(json.loads(_NIST.read_text()).items())[: max(n // 2, 1)]:
        code = compile(problem["model"], name, "eval")

        def model(X, b, code=code):
            return eval(code, _FUNCTIONS, {"x": X[:, 0], "z": X[:, -1], "b": b})

        X = np.column_stack([problem[key] for key in ("x", "z") if key in problem])
        y = np.log(problem["y"]) if problem.get("transform") == "log" else np.array(problem["y"])
        fits += [(model, X, y, np.array(start), np.array(problem["certified"])) for start in problem["starts"]]
    return {"fits": fits}


def ours_on_nist(data: dict) -> list:
    from learnt.linear_model import NonlinearLeastSquares

    return [NonlinearLeastSquares(model, start).fit(X, y).coef_ for model, X, y, start, _ in data["fits"]]


def scipy_on_nist(method: str):
    def work(data: dict) -> list:
        from scipy.optimize import least_squares

        scale: Any = "jac" if method == "trf" else 1.0
        found = []
        for model, X, y, start, _ in data["fits"]:
            try:
                with np.errstate(all="ignore"):
                    fit = least_squares(
                        lambda b, model=model, X=X, y=y: model(X, b) - y, start, method=method, x_scale=scale, **_TIGHT
                    )
                found.append(fit.x)
            except ValueError:  # residuals that are not finite
                found.append(start)
        return found

    return work


def certified(found: list, data: dict) -> float:
    pairs = zip(found, (fit[-1] for fit in data["fits"]), strict=True)
    return float(sum(np.all(np.abs(b - truth) <= 1e-6 * np.abs(truth)) for b, truth in pairs))


def decay(X: np.ndarray, b: np.ndarray) -> np.ndarray:
    return b[0] * np.exp(-b[1] * X[:, 0]) + b[2]


def rows(n: int) -> dict:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, size=(n, 1))
    y = decay(X, np.array([3.0, 0.8, 0.5])) + 0.1 * rng.normal(size=n)
    return {"X": X, "y": y, "start": np.array([1.0, 1.0, 0.0])}


def ours_on_rows(bounds: Any):
    def work(data: dict) -> np.ndarray:
        from learnt.linear_model import NonlinearLeastSquares

        return NonlinearLeastSquares(decay, data["start"], bounds=bounds).fit(data["X"], data["y"]).coef_

    return work


def scipy_on_rows(method: str, bounds: Any = (-np.inf, np.inf)):
    def work(data: dict) -> np.ndarray:
        from scipy.optimize import least_squares

        return least_squares(lambda b: decay(data["X"], b) - data["y"], data["start"], method=method, bounds=bounds).x

    return work


def objective(coef: np.ndarray, data: dict) -> float:
    residual = data["y"] - decay(data["X"], coef)
    return float(residual @ residual) / len(residual)


_BOX = ([0.0, 0.0, 0.0], [2.9, 10.0, 10.0])

TASKS = [
    Task(
        name="NonlinearLeastSquares, 27 certified problems from 2 starts",
        family="nonlinear",
        make=nist,
        rows=54,
        ours=ours_on_nist,
        peers={"scipy lm": scipy_on_nist("lm"), "scipy trf": scipy_on_nist("trf")},
        quality=certified,
        quality_name="fits with 6 digits",
        required=1.0,
        better="higher",
        toy=4,
    ),
    Task(
        name="NonlinearLeastSquares 200k×1, 3 parameters",
        family="nonlinear",
        make=rows,
        rows=200_000,
        ours=ours_on_rows(None),
        peers={"scipy lm": scipy_on_rows("lm"), "scipy trf": scipy_on_rows("trf")},
        quality=objective,
        quality_name="objective",
        required=1.0,
    ),
    Task(
        name="NonlinearLeastSquares 200k×1, bounds",
        family="nonlinear",
        make=rows,
        rows=200_000,
        ours=ours_on_rows(_BOX),
        peers={"scipy trf": scipy_on_rows("trf", _BOX)},
        quality=objective,
        quality_name="objective",
        required=1.0,
    ),
]
