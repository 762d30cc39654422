"""
Computed tomography
===================

Computed tomography: a head is X-rayed from 180 directions and computed back by least squares.

Every measured ray is one equation, the sum of absorption along its way. `RadonOperator` is that system of 65 520
equations in 65 536 unknowns without its matrix. Writes tomography.png: the truth, the measurements, the classical
inversion (filtered back-projection), least squares, and least squares with the knowledge that nothing absorbs less
than nothing.
"""

import time

import numpy as np
from pieces.png import write_png

from learnt.inverse import RadonOperator, filtered_back_projection, psnr, reconstruct, shepp_logan

truth = shepp_logan(256)
A = RadonOperator(truth.shape, angles=np.pi * np.arange(180) / 180)
x, y = np.random.default_rng(0).normal(size=A.shape[1]), np.random.default_rng(1).normal(size=A.shape[0])
print(f"{A.shape[0]} equations, {A.shape[1]} unknowns; ⟨Ax, y⟩ − ⟨x, Aᵀy⟩ = {(A @ x) @ y - x @ (A.T @ y):.1e}")

began = time.perf_counter()
sinogram = A.project(truth)
print(f"one application: {time.perf_counter() - began:.2f} s")
noise = 0.3 * np.random.default_rng(2).normal(size=sinogram.shape)

results = {"clean": sinogram, "noisy": sinogram + noise}
pictures = {}
for name, measured in results.items():
    began = time.perf_counter()
    pictures[name] = {
        "filtered back-projection": filtered_back_projection(A, measured),
        "least squares": reconstruct(A, measured, tol=5e-4).image,
        "least squares, x ≥ 0": reconstruct(A, measured, nonnegative=True, tol=1e-3).image,
    }
    for method, image in pictures[name].items():
        print(f"{name} rays, {method:25s} PSNR {psnr(image, truth):.1f} dB")
    print(f"{name} rays, all three {time.perf_counter() - began:.1f} s")

assert psnr(pictures["clean"]["least squares"], truth) > 30
assert psnr(pictures["clean"]["least squares, x ≥ 0"], truth) > 30

# The truth, all angles of the sinogram, and five times the error of the best image; then one row for each scan.
shown = sinogram[np.arange(256) * 180 // 256, 54:310] / sinogram.max()
error = 5 * np.abs(pictures["clean"]["least squares, x ≥ 0"] - truth)
rows = [[truth, shown, error], *(list(images.values()) for images in pictures.values())]
write_png("tomography.png", np.vstack([np.hstack(row) for row in rows]))
print("written: tomography.png (truth, sinogram, error; below, clean and noisy rays by the three methods)")
