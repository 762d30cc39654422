"""The same models on a GPU: is the answer NumPy's, does it stay on the device, and how long does it take?

    python benchmarks/gpu.py [ROWS]

Takes whichever of PyTorch, CuPy and JAX are installed and see a device. Not part of CI, which has no GPU.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

import numpy as np

from learnt.cluster import KMeans
from learnt.decomposition import PCA
from learnt.engine.arrays import device_name, to_numpy
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from learnt.naive_bayes import GaussianNB
from learnt.preprocessing import StandardScaler


def libraries():
    """name -> (array from NumPy, wait for the device)"""
    found = {}
    try:
        import torch

        if torch.cuda.is_available():
            found["torch"] = (lambda a: torch.tensor(a, device="cuda"), torch.cuda.synchronize)
    except ImportError:
        pass
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            found["cupy"] = (cupy.asarray, cupy.cuda.Device().synchronize)
    except Exception:  # no CuPy, or no driver behind it
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "cpu":
            found["jax"] = (jax.numpy.asarray, lambda: jax.block_until_ready(jax.numpy.zeros(1)))
    except ImportError:
        pass
    return found


def models(X):
    return {
        "LinearRegression": LinearRegression(),
        "Ridge": Ridge(),
        "RidgeCV": RidgeCV(),
        "LogisticRegression": LogisticRegression(tol=1e-8),
        "GaussianNB": GaussianNB(),
        "PCA": PCA(n_components=5),
        "KMeans": KMeans(n_clusters=8, init=np.array(X[:8], dtype=np.float64), n_init=1, max_iter=20),
        "StandardScaler": StandardScaler(),
    }


def outcome(model, X):
    method = next(m for m in ("predict_proba", "predict", "transform") if hasattr(model, m))
    return getattr(model, method)(X[:1000])


def timed(work, wait, repeat=3):
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        wait()
        best = min(best, time.perf_counter() - start)
    return result, best


def main(n_rows: int) -> int:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 50))
    X[np.arange(n_rows), np.arange(n_rows) % 3] += 4.0
    target = X @ rng.normal(size=50) + rng.normal(size=n_rows)
    labels = (np.arange(n_rows) % 3).astype(np.int64)
    failures = 0
    print("library  model                  largest difference   NumPy s  device s  place of the result")
    for name, model in models(X).items():
        y = labels if name in ("LogisticRegression", "GaussianNB") else target
        local, seconds = timed(partial(model.fit, X, y), lambda: None, 1)
        expected = to_numpy(outcome(local, X)).copy()
        for library, (convert, wait) in libraries().items():
            try:
                Xd, yd, fresh = convert(X), convert(y), models(X)[name]
                there, device_seconds = timed(partial(fresh.fit, Xd, yd), wait)
                result = outcome(there, Xd)
                difference = float(np.abs(to_numpy(result) - expected).max())
                same = type(result) is type(Xd)
                failures += not same or difference > 1e-4
                place = device_name(result) if same else f"LEFT THE DEVICE: {type(result).__name__}"
                print(
                    f"{library:8s} {name:20s} {difference:20.1e} {seconds:9.3f} {device_seconds:9.3f}  {place}",
                    flush=True,
                )
            except Exception as error:
                failures += 1
                print(f"{library:8s} {name:20s} FAILED {type(error).__name__}: {str(error)[:160]}", flush=True)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000))
