"""
The boundary of nearest neighbours
==================================

The boundary of nearest neighbours: for k = 1, 5 and n, and for k = 1 before and after editing.

One neighbour makes an island of every stray row, five outvote it, and all n say the larger class everywhere: k is the
smoothness. One neighbour needs few of its rows, though: `CondensedNearestNeighbor` memorises what it would miss, and
moves the boundary; `VoronoiEditing` keeps the rows whose cells touch the boundary, and every decision with them.

::

    python examples/boundary_of_neighbors.py [FILE]        # draws boundary_of_neighbors.png where Matplotlib is there
"""

import sys

import numpy as np

from learnt.neighbors import CondensedNearestNeighbor, KNeighborsClassifier, VoronoiEditing


def moons(n, rng):
    """Two half circles that reach into each other, three rows of the first for two of the second."""
    y = (np.arange(n) % 5 > 2).astype(int)
    angle = rng.uniform(0, np.pi, size=n)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(y, -1, 1)[:, None] + np.outer(y, [1.0, 0.4])
    return X + rng.normal(scale=0.35, size=X.shape), y


rng = np.random.default_rng(0)
X, y = moons(250, rng)
X_test, y_test = moons(5000, rng)
n = len(X)
across, up = np.linspace(-2.0, 3.0, 300), np.linspace(-1.8, 2.0, 240)
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)

models = {
    "k = 1": KNeighborsClassifier(1),
    "k = 5": KNeighborsClassifier(5),
    f"k = n = {n}": KNeighborsClassifier(n),
    "k = 1, before editing": KNeighborsClassifier(1),
    "condensed": CondensedNearestNeighbor(),
    "Voronoi editing": VoronoiEditing(),
}
pictures = []
for name, model in models.items():
    model.fit(X, y)
    kept = getattr(model, "kept_indices_", np.arange(n))
    error = 1 - model.score(X_test, y_test)
    print(f"{name:22} {len(kept):3} rows, {1 - model.score(X, y):5.1%} of all {n} wrong, {error:5.1%} of new ones")
    pictures.append((name, kept, error, model.predict(places).reshape(len(up), len(across))))

one, _, everyone, before, condensed, edited = (said for *_, said in pictures)
moved = np.mean(condensed != before)
print(f"condensing moves {moved:.1%} of the plane to the other class, Voronoi editing {np.mean(edited != before):.1%}")
assert (everyone == 0).all()
assert (edited == one).all()
assert models["condensed"].score(X, y) == 1

try:
    from matplotlib.figure import Figure
except ImportError:
    sys.exit(0)
figure = Figure(figsize=(12, 7), layout="constrained")
for axes, (name, kept, error, said) in zip(figure.subplots(2, 3, sharex=True, sharey=True).flat, pictures):
    axes.contourf(across, up, said, levels=[-0.5, 0.5, 1.5], colors=["#2166ac", "#b2182b"], alpha=0.25)
    if said.any() and not said.all():
        axes.contour(across, up, said, levels=[0.5], colors="black", linewidths=1)
    for label, colour in ((0, "#2166ac"), (1, "#b2182b")):
        axes.scatter(*X[kept][y[kept] == label].T, s=14, color=colour, edgecolors="white", linewidths=0.4)
    axes.set_title(f"{name}\n{len(kept)} rows, {error:.1%} of new ones wrong", fontsize=11)
    axes.set(xticks=[], yticks=[], aspect="equal")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "boundary_of_neighbors.png", dpi=110)
