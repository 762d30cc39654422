"""
A boundary as it learns
=======================

The boundary of a multilayer perceptron as it learns: two spirals, after 1, 50, 150 and 400 epochs.

`warm_start` goes on where the last fit ended. A straight line becomes a curve that winds around: the last layer is
linear, and the layers before it learn the features in which a plane separates the spirals.

::

    python examples/boundary_as_it_learns.py [FILE]        # draws boundary_as_it_learns.png where Matplotlib is there
"""

import sys
import warnings

import numpy as np

from learnt.exceptions import ConvergenceWarning
from learnt.neural_network import MLPClassifier

rng = np.random.default_rng(0)
angle = np.sqrt(rng.uniform(size=400)) * 3 * np.pi
side = np.arange(400) % 2
turned = angle + np.pi * side
X = np.column_stack([np.cos(turned), np.sin(turned)]) * (angle / (3 * np.pi))[:, None]
X += rng.normal(scale=0.02, size=X.shape)
grid = np.linspace(-1.15, 1.15, 200)
places = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)

model = MLPClassifier((40, 40), activation="tanh", learning_rate_init=0.01, random_state=0, warm_start=True)
pictures, epochs = [], 0
for until in (1, 50, 150, 400):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is the point
        model.set_params(max_iter=until - epochs, n_iter_no_change=1000).fit(X, side)
    epochs = until
    print(f"after {until:3} epochs: loss {model.loss_:.3f}, {model.score(X, side):.1%} right")
    pictures.append((until, model.predict_proba(places)[:, 1].reshape(200, 200)))
print(model.summary())
assert model.score(X, side) > 0.95

try:
    from matplotlib.figure import Figure
except ImportError:
    sys.exit(0)
figure = Figure(figsize=(12, 3.4), layout="constrained")
for axes, (until, share) in zip(figure.subplots(1, 4, sharey=True), pictures):
    axes.contourf(grid, grid, share, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
    axes.contour(grid, grid, share, levels=[0.5], colors="black", linewidths=1)
    for one, colour in ((0, "#2166ac"), (1, "#b2182b")):
        axes.scatter(*X[side == one].T, s=6, color=colour, edgecolors="white", linewidths=0.3)
    axes.set(title=f"{until} epoch" + "s" * (until > 1), xticks=[], yticks=[], aspect="equal")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "boundary_as_it_learns.png", dpi=110)
