"""
A metric that is learnt
=======================

Learning the metric: two columns of ten tell the classes apart, and the others, as wide, say nothing.

Nearest neighbours by Euclidean distance look at all columns alike, and principal components at the widest. A linear map
that is learnt with the labels, by neighbourhood components (`NeighborhoodComponentsAnalysis`) or by large margins
(`LMNN`), finds the two that count. Drawn are the two directions that each map stretches most.

::

    python examples/learnt_metric.py [FILE]        # draws learnt_metric.png where Matplotlib is there
"""

import sys

import numpy as np

from learnt.decomposition import PCA
from learnt.neighbors import LMNN, KNeighborsClassifier, NeighborhoodComponentsAnalysis


def rings(n, rng):
    """A disc within a ring within a ring in columns 3 and 7 of ten; the others are noise."""
    y = np.arange(n) % 3
    angle, radius = rng.uniform(0, 2 * np.pi, size=n), y + rng.normal(scale=0.15, size=n)
    X = rng.normal(size=(n, 10))
    X[:, 3], X[:, 7] = radius * np.cos(angle), radius * np.sin(angle)
    return X, y


rng = np.random.default_rng(0)
X, y = rings(600, rng)
X_test, y_test = rings(2000, rng)
maps = {
    "principal components": PCA(n_components=2).fit(X),
    "neighbourhood components": NeighborhoodComponentsAnalysis(init="identity", max_iter=100).fit(X, y),
    "large margins": LMNN(2, init="pca").fit(X, y),
}
every = 1 - KNeighborsClassifier(5).fit(X, y).score(X_test, y_test)
print(f"{'all ten columns':26} {every:5.1%} wrong")
errors, drawn = {}, {}
for name, model in maps.items():
    _, stretch, directions = np.linalg.svd(model.components_, full_matrices=False)
    flat = (stretch[:2, None] * directions[:2]).T
    errors[name] = 1 - KNeighborsClassifier(5).fit(X @ flat, y).score(X_test @ flat, y_test)
    drawn[name] = X_test @ flat
    share = np.square(flat[[3, 7]]).sum() / np.square(flat).sum()
    print(f"{name:26} {errors[name]:5.1%} wrong, {share:.0%} of the map from the two columns that count")
assert errors["neighbourhood components"] < 0.1 < every
assert errors["large margins"] < 0.1 < errors["principal components"]

try:
    from matplotlib.figure import Figure
except ImportError:
    sys.exit(0)
figure = Figure(figsize=(12, 4.3), layout="constrained")
for axes, (name, Z) in zip(figure.subplots(1, 3), drawn.items()):
    for label, color in enumerate(("#b4532a", "#1f6f8b", "#8a8f2a")):
        axes.plot(*Z[y_test == label].T, ".", color=color, markersize=3)
    axes.set(title=f"{name}: {errors[name]:.1%} wrong", xticks=[], yticks=[], aspect="equal")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "learnt_metric.png", dpi=110)
