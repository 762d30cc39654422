"""Multilayer perceptrons against scikit-learn's and a plain PyTorch loop: training at equal loss, and prediction."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task

HIDDEN, BATCH = (100, 100), 200
EPOCHS = 20


def table(dtype: str, columns: int = 50):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, columns)).astype(dtype)
        score = np.tanh(X @ rng.normal(size=(columns, 8)) / np.sqrt(columns)).sum(axis=1)
        return {"X": X, "label": (score > 0).astype(int)}

    return data


def network(package: str, epochs: int = EPOCHS):
    from importlib import import_module

    cls = import_module(f"{package}.neural_network").MLPClassifier
    return cls(HIDDEN, max_iter=epochs, n_iter_no_change=epochs, batch_size=BATCH, random_state=0)


def fit(package: str):
    def work(data: dict) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return network(package).fit(data["X"], data["label"]).loss_

    return work


def plain_loop(data: dict) -> float:
    """What a tutorial writes: a module, Adam, batches by a random permutation; the same first weights do not exist."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    X, y = torch.from_numpy(data["X"]), torch.from_numpy(data["label"][:, None]).to(torch.from_numpy(data["X"]).dtype)
    a, b = HIDDEN
    net = nn.Sequential(nn.Linear(X.shape[1], a), nn.ReLU(), nn.Linear(a, b), nn.ReLU(), nn.Linear(b, 1)).to(X.dtype)
    optimiser, loss_of = torch.optim.Adam(net.parameters(), lr=1e-3), nn.BCEWithLogitsLoss()
    total = 0.0
    for _ in range(EPOCHS):
        order, total = torch.randperm(len(X)), 0.0
        for start in range(0, len(X), BATCH):
            rows = order[start : start + BATCH]
            optimiser.zero_grad()
            loss = loss_of(net(X[rows]), y[rows])
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
    return total / len(X)


_fitted: dict = {}


def predict(package: str, single: bool):
    def work(data: dict) -> np.ndarray:
        key = package, len(data["X"]), data["X"].dtype
        if key not in _fitted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _fitted[key] = network(package, 1).fit(data["X"][:2000], data["label"][:2000])
        model = _fitted[key]
        if single:
            return np.concatenate([model.predict_proba(data["X"][i : i + 1]) for i in range(200)])
        return model.predict_proba(data["X"])

    return work


def loss(result: float, data: dict) -> float:
    return float(result)


def total(result: np.ndarray, data: dict) -> float:
    return float(result[:, 1].sum())


TASKS = [
    *[
        Task(
            name=f"MLP 2×100, 50k×50, 20 epochs, {dtype}",
            family="perceptrons",
            make=table(dtype),
            rows=50_000,
            ours=fit("learnt"),
            peers={"sklearn": fit("sklearn"), "torch": plain_loop},
            quality=loss,
            quality_name="loss",
            required=1.2,
            tolerance=0.1,  # what other first weights differ by; scikit-learn's are ours
        )
        for dtype in ("float32", "float64")
    ],
    *[
        Task(
            name=f"MLP predict {what}",
            family="perceptrons",
            make=table("float64"),
            rows=50_000,
            ours=predict("learnt", single),
            peers={"sklearn": predict("sklearn", single)},
            quality=total,
            quality_name="Σp",
            required=2.0,
            better="same",
            tolerance=1e-6,
        )
        for what, single in (("50k rows", False), ("200 single rows", True))
    ],
]
