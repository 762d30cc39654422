"""What a user waits for: imports, the first fit of a second process, and the prediction of one row."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from harness import Task


def process(code: str):
    """Seconds of a fresh process that runs this; the data are not used."""

    def work(data: dict) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - began

    return work


def nothing(n: int) -> dict:
    return {}


FIT = """
import numpy as np
from {package}.{room} import {name}
X = np.random.default_rng(0).normal(size=(300, 5))
{name}({params}).fit(X, (X[:, 0] > 0).astype(int))
"""


def first_fit(room: str, name: str, params: str = "", required: float = 0.5) -> Task:
    return Task(
        name=f"process: import and first fit of {name}",
        family="latency",
        make=nothing,
        rows=1,
        ours=process(FIT.format(package="learnt", room=room, name=name, params=params)),
        peers={"scikit-learn": process(FIT.format(package="sklearn", room=room, name=name, params=params))},
        quality=lambda seconds, data: 0.0,
        quality_name="—",
        required=required,
        better="same",
    )


def one_row(name: str, room: str, classify: bool) -> Task:
    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1000, 20))
        y = (X[:, 0] > 0).astype(int) if classify else X[:, 0]
        from importlib import import_module

        fitted = {p: getattr(import_module(f"{p}.{room}"), name)().fit(X, y) for p in ("learnt", "sklearn")}
        return {"row": X[:1], **fitted}

    def predict(package: str):
        def work(data: dict):
            model, row = data[package], data["row"]
            for _ in range(1000):
                label = model.predict(row)
            return label

        return work

    return Task(
        name=f"1000 × one row, {name}.predict",
        family="latency",
        make=make,
        rows=1,
        ours=predict("learnt"),
        peers={"scikit-learn": predict("sklearn")},
        quality=lambda label, data: float(label[0]),
        quality_name="prediction",
        required=1.0,
        better="same",
    )


TASKS = [
    Task(
        name="process: import learnt (against import numpy)",
        family="latency",
        make=nothing,
        rows=1,
        ours=process("import numpy, learnt"),
        peers={"numpy alone": process("import numpy")},
        quality=lambda seconds, data: 0.0,
        quality_name="—",
        required=0.5,
        better="same",
    ),
    first_fit("linear_model", "LinearRegression"),
    first_fit("linear_model", "LogisticRegression"),
    first_fit("cluster", "KMeans", "n_clusters=3, n_init=1, random_state=0"),
    one_row("Ridge", "linear_model", False),
    one_row("LogisticRegression", "linear_model", True),
    one_row("GaussianNB", "naive_bayes", True),
]
