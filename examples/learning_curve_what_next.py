r"""
More rows, more columns or another model? Read the learning curve
=================================================================

A model is not good enough. Shall we collect more rows, find other columns, take a more flexible model or a simpler one?
The learning curve tells these cases apart: the errors on training rows and on new rows, as the number of training rows
grows. `diagnose` measures it and the noise, and says what to do next.
"""

# %%
# One table and three models: a straight line, the target of the nearest row, and a Gaussian process with a kernel that
# suits the curve.

import matplotlib.pyplot as plt
import numpy as np

from learnt.diagnosis import diagnose
from learnt.gaussian_process import GaussianProcessRegressor
from learnt.kernels import RBF, White
from learnt.linear_model import LinearRegression
from learnt.neighbors import KNeighborsRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(400, 2))
y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 1] + 0.3 * rng.normal(size=400)

models = {
    "straight line": LinearRegression(),
    "one neighbour": KNeighborsRegressor(1),
    "Gaussian process": GaussianProcessRegressor(2 * RBF(1.0) + White(0.1), optimizer=None),
}
found = {name: diagnose(model, X, y) for name, model in models.items()}
for name, diagnosis in found.items():
    print(f"{name}: {diagnosis.regime}. {diagnosis.finding}")
    print(f"    What to do first: {diagnosis.treatments[0]}")

# %%
# The dotted line is the true noise, which is known here. `diagnose` has to find it by itself, from nearest neighbours:
# rows that are alike and still have different targets.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained", sharey=True)
for ax, (name, diagnosis) in zip(axes, found.items(), strict=True):
    for losses, colour, label in (
        (diagnosis.train, "#009e73", "on training rows"),
        (diagnosis.valid, "#d55e00", "on new rows"),
    ):
        ax.plot(diagnosis.sizes, losses.mean(axis=1), "o-", color=colour, markersize=4, label=label)
    ax.axhline(0.3**2, color="#555555", linestyle=":", label="the noise")
    ax.set(xscale="log", xlabel="training rows", title=f"{name}:\n{diagnosis.regime}", ylim=(-0.05, 1.1))
    ax.minorticks_off()
    ax.set_xticks(diagnosis.sizes, [f"{size:.0f}" for size in diagnosis.sizes])
axes[0].set(ylabel="squared error")
axes[0].legend(frameon=False, loc="upper right", fontsize="small")
plt.show()

# %%
# Three shapes to remember. Both curves are high and close together: the model is too simple, and more rows do little.
# A wide gap that closes as rows come in: the model is too flexible for so few of them; more rows help, and so does an
# average of more neighbours, or of many models. Both curves meet at the noise: no model of these columns does better,
# and only other columns or cleaner targets help.

assert found["straight line"].regime == "high bias"
assert found["one neighbour"].regime == "high variance"
