"""Tomography against what one does without a Radon operator: the sparse matrix of ray–pixel lengths and SciPy's LSQR.

Both do the same number of the same iterations (CGLS and LSQR agree step by step); quality is the error of the image.
Building the matrix is part of the peer's work, as deciding lengths on the fly is of ours.
"""

from __future__ import annotations

import numpy as np
from harness import Task
from scipy import sparse

_ITERATIONS = 20


def scan(n: int) -> dict:
    """A phantom of n × n pixels seen from 0.7 n directions."""
    from learnt.inverse import RadonOperator, shepp_logan

    truth = shepp_logan(n)
    angles = np.pi * np.arange(int(0.7 * n)) / int(0.7 * n)
    operator = RadonOperator(n, angles)
    return {"n": n, "angles": angles, "truth": truth, "sinogram": operator.project(truth), "operator": operator}


def system_matrix(n: int, angles: np.ndarray, n_detectors: int) -> sparse.csr_array:
    """Lengths of rays inside pixels, angle by angle: at most two rays of distance 1 meet a pixel."""
    x = np.tile(np.arange(n) - (n - 1) / 2, n)
    y = np.repeat((n - 1) / 2 - np.arange(n), n)
    parts = []
    for theta in angles:
        c, s = np.cos(theta), np.sin(theta)
        long, short = max(abs(c), abs(s)), max(min(abs(c), abs(s)), 1e-9)
        place = x * c + y * s + (n_detectors - 1) / 2
        first = np.floor(place - (abs(c) + abs(s)) / 2 - 1e-9 + 1).astype(np.int32)
        rows, lengths = [], []
        for q in (0, 1):
            distance = np.abs(place - first - q)
            rows.append(first + q)
            lengths.append(np.clip(0.5 + (long / 2 - distance) / short, 0, 1) / long)
        columns = np.tile(np.arange(n * n, dtype=np.int32), 2)
        shape = (n_detectors + 2, n * n)
        part = sparse.csr_array((np.concatenate(lengths), (np.concatenate(rows), columns)), shape=shape)
        parts.append(part[:n_detectors])
    return sparse.vstack(parts, format="csr")


def ours(data: dict) -> np.ndarray:
    import warnings

    from learnt.inverse import RadonOperator, reconstruct

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operator = RadonOperator(data["n"], data["angles"])
        return reconstruct(operator, data["sinogram"], max_iter=_ITERATIONS, tol=0.0).image


def theirs(data: dict) -> np.ndarray:
    from scipy.sparse.linalg import lsqr

    matrix = system_matrix(data["n"], data["angles"], data["sinogram"].shape[1])
    found = lsqr(matrix, data["sinogram"].ravel(), atol=0, btol=0, conlim=0, iter_lim=_ITERATIONS)[0]
    return found.reshape(data["n"], data["n"])


def error(image: np.ndarray, data: dict) -> float:
    return float(np.sqrt(np.mean((image - data["truth"]) ** 2)))


TASKS = [
    Task(
        name="reconstruct 256×256 from 179 angles, 20 iterations",
        family="inverse",
        make=scan,
        rows=256,
        ours=ours,
        peers={"sparse matrix + lsqr": theirs},
        quality=error,
        quality_name="root mean squared error",
        required=1.0,
        tolerance=1e-4,
        toy=24,
    ),
]
