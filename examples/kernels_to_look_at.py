"""
Kernels to look at
==================

Pictures of kernels: margins and support vectors, the soft nearest neighbour, a Gaussian process, two rings made
straight.

::

    python examples/kernels_to_look_at.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

from learnt import kernels, plots
from learnt.decomposition import KernelPCA
from learnt.gaussian_process import GaussianProcessRegressor
from learnt.gaussian_process.kernels import RBF, WhiteKernel
from learnt.neighbors import KNeighborsClassifier
from learnt.svm import SVC

out = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
out.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)


def moons(n, noise):
    turn = rng.uniform(0, np.pi, n)
    upper = np.arange(n) % 2
    X = np.column_stack([np.cos(turn), np.sin(turn)])
    X[upper == 0] = [1.0, 0.4] - X[upper == 0]
    return X + noise * rng.normal(size=(n, 2)), upper


def field(model, X, side=61):
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    xs, ys = np.linspace(low[0], high[0], side), np.linspace(low[1], high[1], side)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(xs, ys)])
    return (xs, ys), grid, model.decision_function(grid).reshape(side, side)


X, y = moons(120, 0.15)

# A margin: |f| = 1 is the thin lines, and only the ringed rows hold it.
svm = SVC(C=1.0, kernel="rbf", gamma=1.0).fit(X, y)
places, grid, scores = field(svm, X)
title = f"SVM, RBF: {len(svm.support_)} of {len(X)} rows are support vectors"
plots.boundary(X, y, places, scores, support=svm.support_, title=title).save(out / "svm_margin.svg")

# The narrower the kernel, the more the nearest row decides alone: Σ αᵢyᵢ exp(−γ‖x − xᵢ‖²) has one term that counts.
nearest = KNeighborsClassifier(n_neighbors=1).fit(X, y).predict(grid)
agree = []
for name, gamma in (("wide", 0.3), ("middle", 5.0), ("narrow", 60.0)):
    svm = SVC(C=1000.0, kernel="rbf", gamma=gamma).fit(X, y)
    # Without the constant b, which is all that is left of f far from the rows.
    votes = kernels.RBF(gamma=gamma)(grid, svm.support_vectors_) @ svm.dual_coef_[0]
    agree.append(float(np.mean((votes > 0) == nearest)))
    title = f"γ = {gamma:g}: as the nearest neighbour says at {agree[-1]:.0%} of places"
    shown = (np.sign(votes) * np.abs(votes) ** 0.1).reshape(scores.shape)
    plots.boundary(X, y, places, shown, levels=(0.0,), title=title).save(out / f"soft_neighbour_{name}.svg")
print("agreement with the nearest neighbour:", ", ".join(f"{share:.1%}" for share in agree))

# A Gaussian process is sure where rows are, and says so where none are.
x = np.sort(np.concatenate([rng.uniform(0, 4, 14), rng.uniform(7, 10, 10)]))
seen = np.sin(x) + 0.1 * rng.normal(size=len(x))
process = GaussianProcessRegressor(1.0 * RBF(1.0) + WhiteKernel(0.1), random_state=0).fit(x[:, None], seen)
at = np.linspace(0, 10, 200)
mean, spread = process.predict(at[:, None], return_std=True)
title = "Gaussian process: the band is wide where no rows are"
plots.band(at, mean, spread, rows=(x, seen), truth=np.sin(at), title=title).save(out / "gaussian_process.svg")

# Two rings: no line parts them; in the space of the kernel one does.
side = np.arange(300) % 2
turn = 2 * np.pi * np.arange(300) / 300
rings = (np.where(side, 1.0, 0.35)[:, None]) * np.column_stack([np.cos(turn), np.sin(turn)])
rings += 0.05 * rng.normal(size=rings.shape)
flat = KernelPCA(2, kernel="rbf", gamma=4.0).fit_transform(rings)
names = ("inner ring", "outer ring")
plots.scatter(rings, side, names=names, title="Two rings").save(out / "rings.svg")
labels = ("first component", "second component")
plots.scatter(flat, side, names=names, labels=labels, title="The rings by KernelPCA").save(out / "rings_kernel_pca.svg")

assert agree[0] < agree[1] < agree[2] > 0.98
assert spread[np.abs(at - 5.5).argmin()] > 2 * spread[np.abs(at - 2.0).argmin()]
inner, outer = (np.sort(flat[side == k, 0])[[0, -1]] for k in (0, 1))
assert inner[1] < outer[0] or outer[1] < inner[0]
print(f"written to {out}/")
