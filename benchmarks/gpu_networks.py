"""Networks on a GPU against a plain PyTorch loop with a DataLoader: the same layers, batches, epochs and optimiser.

    python benchmarks/gpu_networks.py [EPOCHS]

The plain loop has the rows in the computer's memory and a DataLoader bring them, by itself or by four workers that pin
their memory: the quicker counts. The loss of the last epoch is beside every time.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import torch
from tasks.networks import images
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from learnt.neural_network import Conv, ConvNetClassifier, Dense, Flatten, MaxPool, MLPClassifier

MEMORY = {"num_workers": 4, "pin_memory": True, "persistent_workers": True}


def rows(n: int, d: int = 100, classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    hidden = np.tanh(X @ rng.standard_normal((d, 30), dtype=np.float32) / 5)
    return X, np.argmax(hidden @ rng.standard_normal((30, classes), dtype=np.float32), axis=1)


def dense() -> nn.Module:
    return nn.Sequential(nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 10))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 49, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def plain(make, X: np.ndarray, y: np.ndarray, batch: int, epochs: int, loader: dict) -> tuple[float, float]:
    """Seconds and the mean loss of the last epoch."""
    start = time.perf_counter()
    torch.manual_seed(0)
    network = make().cuda()
    optimiser = torch.optim.Adam(network.parameters())
    data = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(y)), batch, shuffle=True, **loader)
    for _ in range(epochs):
        total = torch.zeros((), device="cuda")
        for rows_, labels in data:
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(network(rows_.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
            loss.backward()
            optimiser.step()
            total += loss.detach() * len(labels)
    return time.perf_counter() - start, float(total) / len(y)


def ours(model, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    start = time.perf_counter()
    model.fit(X, y)
    torch.cuda.synchronize()
    return time.perf_counter() - start, model.loss_


def main() -> None:
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    warnings.simplefilter("ignore")
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    layers = [Conv(32, 3, padding="same"), MaxPool(2), Conv(64, 3, padding="same"), MaxPool(2), Flatten(), Dense(64)]
    X, y = rows(1_000_000)
    made = images(28)(60_000)
    pictures, kinds = made["X"], made["y"]
    fixed = {"max_iter": epochs, "alpha": 0.0, "random_state": 0, "device": "cuda", "tol": 0.0}
    scaled = ((pictures - pictures.mean()) / pictures.std())[:, None]
    tasks = [
        ("MLP 2 × 100, 1M × 100", MLPClassifier((100, 100), **fixed), (X, y), dense, (X, y), 200),
        ("MLP 2 × 100, 1M × 100", MLPClassifier((100, 100), **fixed), (X, y), dense, (X, y), 1000),
        ("CNN, 60,000 of 28 × 28", ConvNetClassifier(layers, learning_rate="constant", **fixed), (pictures, kinds),
         convolutional, (scaled, kinds), 64),
        ("CNN, 60,000 of 28 × 28", ConvNetClassifier(layers, learning_rate="constant", **fixed), (pictures, kinds),
         convolutional, (scaled, kinds), 512),
    ]  # fmt: skip
    plain(dense, X[:2000], y[:2000], 200, 1, {})  # the device opened, libraries loaded
    for name, model, given, make, theirs, batch in tasks:
        model.set_params(batch_size=batch)
        ours(model, given[0][: 4 * batch], given[1][: 4 * batch])
        took, loss = ours(model, *given)
        print(f"{name}, batches of {batch}, {epochs} epochs: ours {took:.2f} s, loss {loss:.4f}", flush=True)
        for label, loader in (("DataLoader", {}), ("DataLoader, 4 workers", MEMORY)):
            other, theirs_loss = plain(make, *theirs, batch, epochs, loader)
            print(f"    {label}: {other:.2f} s, loss {theirs_loss:.4f}; {other / took:.1f} times ours", flush=True)


if __name__ == "__main__":
    main()
