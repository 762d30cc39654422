"""Convolutional networks against a plain PyTorch loop: the same layers, batches, epochs and optimiser."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task

_EPOCHS, _BATCH = 3, 64


def images(side: int):
    """Bright bars of ten kinds on noise: a place and a direction."""

    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=n)
        X = rng.normal(0, 0.3, size=(n, side, side)).astype(np.float32)
        for image, kind in zip(X, y, strict=True):
            place = (1 + kind // 2) * side // 7
            image[(place, slice(None)) if kind % 2 else (slice(None), place)] += 1
        return {"X": X, "y": y}

    return data


def ours(data: dict):
    from learnt.neural_network import Conv, ConvNetClassifier, Dense, Flatten, MaxPool, NetworkHealthWarning

    layers = [Conv(32, 3, padding="same"), MaxPool(2), Conv(64, 3, padding="same"), MaxPool(2), Flatten(), Dense(64)]
    model = ConvNetClassifier(
        layers, batch_size=_BATCH, max_iter=_EPOCHS, learning_rate="constant", alpha=0.0, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkHealthWarning)  # a few steps at toy size leave units unused
        return model.fit(data["X"], data["y"]).predict(data["X"])


def plain_torch(data: dict):
    import torch
    from torch import nn

    torch.manual_seed(0)
    side = data["X"].shape[1]
    network = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * (side // 4) ** 2, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip
    X, y = torch.from_numpy(data["X"])[:, None], torch.from_numpy(data["y"])
    X = (X - X.mean()) / X.std()
    optimiser = torch.optim.Adam(network.parameters())
    for _ in range(_EPOCHS):
        order = torch.randperm(len(y))
        for rows in order.split(_BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(X[rows]), y[rows]).backward()
            optimiser.step()
    with torch.no_grad():
        return torch.cat([network(part).argmax(1) for part in X.split(1024)]).numpy()


def accuracy(labels, data: dict) -> float:
    return float((labels == data["y"]).mean())


TASKS = [
    Task(
        name=f"ConvNetClassifier, {n:,} images of {side}×{side}, {_EPOCHS} epochs",
        family="networks",
        make=images(side),
        rows=n,
        ours=ours,
        peers={"plain PyTorch": plain_torch},
        quality=accuracy,
        quality_name="accuracy",
        required=1.0,
        better="higher",
        tolerance=0.01,
        toy=256,
    )
    for side, n in ((8, 6_000), (28, 2_000))
]
