"""StandardScaler, and TableEncoder with a linear model against a careful hand-made ColumnTransformer."""

from __future__ import annotations

import numpy as np
from harness import Task


def make_numbers(n: int) -> dict:
    rng = np.random.default_rng(0)
    return {"X": rng.normal(size=(n, 50)) * 3 + 1}


def scale(package: str):
    def work(data: dict):
        from importlib import import_module

        return import_module(f"{package}.preprocessing").StandardScaler().fit_transform(data["X"])

    return work


def make_table(n: int) -> dict:
    import pandas as pd

    rng = np.random.default_rng(0)
    city = rng.integers(12, size=n)
    age = rng.normal(40, 12, size=n)
    y = (0.04 * (age - 40) + rng.normal(size=12)[city] + rng.normal(size=n) > 0).astype(int)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.05, np.nan, age),
            "income": rng.lognormal(10, 1, size=n),
            "city": np.array([f"city {c}" for c in range(12)])[city],
            "plan": np.array(["basic", "plus", "pro"])[rng.integers(3, size=n)],
        }
    )
    return {"X": frame, "y": y}


def encode_ours(data: dict):
    from learnt.preprocessing import TableEncoder

    return TableEncoder().fit_transform(data["X"], data["y"])


def encode_by_hand(data: dict):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    encoder = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), ["age", "income"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["city", "plan"]),
    )
    return encoder.fit_transform(data["X"])


def worth(encoded, data: dict) -> float:
    """R² of least squares on the encoded columns: what the encoding keeps of the target."""
    Z = np.asarray(encoded, dtype=float)
    Z = np.column_stack([np.ones(len(Z)), (Z - Z.mean(axis=0)) / (Z.std(axis=0) + 1e-12)])
    coef, *_ = np.linalg.lstsq(Z, data["y"], rcond=None)
    residual = data["y"] - Z @ coef
    return float(1 - residual @ residual / np.square(data["y"] - data["y"].mean()).sum())


TASKS = [
    Task(
        name="StandardScaler 200k×50",
        family="preprocessing",
        make=make_numbers,
        rows=200_000,
        ours=scale("learnt"),
        peers={"scikit-learn": scale("sklearn")},
        quality=lambda Z, data: float(np.abs(Z.mean(axis=0)).max() + np.abs(Z.std(axis=0) - 1).max()),
        quality_name="off from 0, 1",
        required=1.0,
        tolerance=1e3,  # both are rounding errors
    ),
    Task(
        name="TableEncoder 50k×4",
        family="preprocessing",
        make=make_table,
        rows=50_000,
        ours=encode_ours,
        peers={"sklearn by hand": encode_by_hand},
        quality=worth,
        quality_name="R² kept",
        required=1.0,
        better="higher",
        tolerance=1e-3,
    ),
]
