"""KernelRidge and Gaussian processes of many rows on a GPU: TFLOP/s beside those of a plain matrix product.

    python benchmarks/gpu_kernels.py [ROWS] [float32|float64] [torch,cupy,jax]

A fit of n rows is n³/3 operations of a Cholesky factor and 2n²d of distances. Every answer is checked on 500 rows: the
residual of the linear system, relative to the targets.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from gpu import libraries

from learnt.engine.arrays import namespace, to_numpy
from learnt.gaussian_process import GaussianProcessRegressor
from learnt.gaussian_process.kernels import RBF, WhiteKernel
from learnt.kernel_ridge import KernelRidge

D, ALPHA, SCALE = 20, 0.1, 3.0


def seconds(wait, work, *arguments, **options) -> float:
    """How long a call takes on the device."""
    wait()
    start = time.perf_counter()
    found = work(*arguments, **options)
    getattr(found, "block_until_ready", wait)()  # JAX goes on while it computes
    wait()
    return time.perf_counter() - start


def product_speed(xp, X, wait, side: int = 16384) -> float:
    """TFLOP/s of a product of two square matrices in the precision of X."""
    A = xp.ones((side, side), dtype=X.dtype, device=X.device) * 1e-3
    seconds(wait, xp.matmul, A, A)
    return 2 * side**3 / min(seconds(wait, xp.matmul, A, A) for _ in range(3)) / 1e12


def residual(rows: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """‖((K + αI)c − y)‖/‖y‖ over 500 rows, in float64."""
    some = rows[:500]
    square = (some**2).sum(1)[:, None] + (rows**2).sum(1) - 2 * some @ rows.T
    found = np.exp(-0.5 * square / SCALE**2) @ weights + ALPHA * weights[:500]
    return float(np.linalg.norm(found - y[:500]) / np.linalg.norm(y[:500]))


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    dtype = sys.argv[2] if len(sys.argv) > 2 else "float32"
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else ["torch", "cupy", "jax"]
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, D))
    y = np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.1 * rng.normal(size=n)
    work = n**3 / 3 + 2 * n**2 * D
    for name, (to_device, wait) in libraries().items():
        if name not in wanted:
            continue
        X, t = to_device(rows.astype(dtype)), to_device(y.astype(dtype))
        plain = product_speed(namespace(X), X, wait)
        print(f"{name} {dtype}: a plain product {plain:.1f} TFLOP/s", flush=True)
        small = X[:2000, :], t[:2000]
        kernel = RBF(SCALE, "fixed") + WhiteKernel(ALPHA, "fixed")
        models = {
            "KernelRidge": KernelRidge(ALPHA, kernel="rbf", gamma=0.5 / SCALE**2),
            "GaussianProcessRegressor": GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None),
        }
        for label, model in models.items():
            model.fit(*small)  # what is compiled or opened once
            took = seconds(wait, model.fit, X, t)
            weights = to_numpy(model.dual_coef_ if label == "KernelRidge" else model.alpha_).astype(np.float64)
            speed = work / took / 1e12
            print(
                f"  {label} {n:,} × {D}: fit {took:.2f} s, {speed:.1f} TFLOP/s, {speed / plain:.0%} of a product, "
                f"residual {residual(rows, y, weights):.1e}",
                flush=True,
            )
            if label != "KernelRidge":
                took = seconds(wait, model.predict, X[:1000, :], return_std=True)
                print(f"    mean and variance of 1,000 rows {took:.2f} s", flush=True)
            for part in ("L_", "dual_coef_", "alpha_"):
                vars(model).pop(part, None)


if __name__ == "__main__":
    main()
