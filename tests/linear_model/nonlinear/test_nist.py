"""The 27 certified non-linear regression problems of NIST's Statistical Reference Datasets, from both starts.

`nist/problems.json` holds them in a compact form: the model as an expression of the columns x and z and the parameters
b, the data, the two starts, and the certified parameters, standard errors and residual deviation.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from learnt.linear_model import NonlinearLeastSquares

PROBLEMS = json.loads((Path(__file__).parent / "nist" / "problems.json").read_text())


def posed(name, library=np):
    """Model, X and y; the model computes with `library`'s functions."""
    problem = PROBLEMS[name]
    code = compile(problem["model"], name, "eval")
    functions = {key: getattr(library, key) for key in ("exp", "cos", "sin", "arctan")} | {"pi": np.pi}

    def model(X, b):
        return eval(code, functions, {"x": X[:, 0], "z": X[:, -1], "b": b})

    X = np.column_stack([problem[key] for key in ("x", "z") if key in problem])
    y = np.array(problem["y"])
    return model, X, np.log(y) if problem.get("transform") == "log" else y


def digits(found, certified):
    error = np.abs(np.asarray(found) - certified) / np.abs(certified)
    return -np.log10(max(error.max(), 1e-16))


def test_all_are_there():
    assert len(PROBLEMS) == 27


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", PROBLEMS)
def test_certified_values(name, start):
    model, X, y = posed(name)
    problem = PROBLEMS[name]
    fit = NonlinearLeastSquares(model, start=problem["starts"][start]).fit(X, y)
    assert fit.converged_
    assert digits(fit.coef_, problem["certified"]) > 6
    # Lanczos1's residuals are rounding errors of its 14 digits, so that noise is certified to three digits only.
    exact = name == "Lanczos1"
    assert digits(fit.sigma_, problem["sigma"]) > (2 if exact else 8)
    assert digits(fit.stderr_, problem["stderr"]) > (2 if exact else 5)


@pytest.mark.parametrize("jac", ["torch", "jax"])
@pytest.mark.parametrize("name", ["ENSO", "Nelson"])
def test_automatic_differentiation(name, jac):
    library = __import__("torch") if jac == "torch" else __import__("jax.numpy", fromlist=["exp"])
    model, X, y = posed(name, library)
    problem = PROBLEMS[name]
    fit = NonlinearLeastSquares(model, start=problem["starts"][1], jac=jac).fit(X, y)
    assert digits(fit.coef_, problem["certified"]) > 7
    assert isinstance(fit.predict(X), np.ndarray)


@pytest.mark.parametrize("method", ["levenberg", "gauss-newton"])
def test_the_other_methods_from_the_nearer_start(method):
    for name in PROBLEMS:
        model, X, y = posed(name)
        fit = NonlinearLeastSquares(model, start=PROBLEMS[name]["starts"][1], method=method).fit(X, y)
        assert digits(fit.coef_, PROBLEMS[name]["certified"]) > 6, name


@pytest.mark.parametrize("name", PROBLEMS)
def test_units_of_the_parameters_do_not_matter(name):
    """The same path whatever the units: parameters times powers of two, which round to nothing."""
    model, X, y = posed(name)
    start = np.array(PROBLEMS[name]["starts"][1])
    units = 2.0 ** np.random.default_rng(0).integers(-20, 20, size=start.size)
    plain = NonlinearLeastSquares(model, start=start).fit(X, y)
    scaled = NonlinearLeastSquares(lambda X, b: model(X, b * units), start=start / units).fit(X, y)
    assert scaled.n_iter_ == plain.n_iter_
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-9)
