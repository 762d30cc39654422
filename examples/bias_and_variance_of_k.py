r"""
How many neighbours? Bias and variance as k grows
=================================================

With one neighbour a prediction follows every row, noise and all; with very many it is the same everywhere. Between the
two lies the k with the least error. Where the data can be drawn again and again, the two sources of error can be
measured one by one, and they add up.
"""

# %%
# Rows around a known curve, so that the truth is there to compare with. From 30 training sets of 100 rows come 30
# predictions for each point. How far their mean is from the truth is the bias, how far they scatter around their mean
# the variance:
#
# .. math::
#
#    \mathbb{E}\,(y - \hat y)^2 = \underbrace{\sigma^2}_{\mathrm{noise}}
#    + \underbrace{(\mathbb{E} \hat y - f(x))^2}_{\mathrm{bias}^2}
#    + \underbrace{\mathbb{E}\,(\hat y - \mathbb{E} \hat y)^2}_{\mathrm{variance}}

import matplotlib.pyplot as plt
import numpy as np

from learnt.diagnosis import bias_variance
from learnt.neighbors import KNeighborsRegressor


def truth(X):
    return np.sin(2 * np.pi * X[:, 0])


def draw(rng, n=100):
    X = rng.uniform(size=(n, 1))
    return X, truth(X) + 0.5 * rng.normal(size=n)


ks = [1, 2, 4, 8, 12, 20, 35, 60, 100]
X_new, y_new = draw(np.random.default_rng(0), n=1000)
parts = bias_variance(
    KNeighborsRegressor(), X_new, y_new, vary={"n_neighbors": ks}, truth=truth, draw=draw, n_sets=30, random_state=1
)
for k in (1, parts.best, 100):
    i = ks.index(k)
    print(f"k = {k:3}: bias² {abs(parts.bias[i]):.2f}, variance {parts.variance[i]:.2f}, error {parts.error[i]:.2f}")

# %%
# Left, the parts for every k. Right, ten of the predictions for the smallest k, for the best and for a large one.

figure = plt.figure(figsize=(9, 4), layout="constrained")
grid = figure.add_gridspec(3, 2, width_ratios=(3, 2))
left = figure.add_subplot(grid[:, 0])
left.stackplot(
    ks,
    parts.noise,
    parts.bias,
    parts.variance,
    colors=["#dddddd", "#d55e00", "#0072b2"],
    labels=["noise", "bias²", "variance"],
)
left.axvline(parts.best, color="black", linestyle="--", linewidth=1, label=f"least error: k = {parts.best}")
left.set(xscale="log", xlabel="neighbours k", ylabel="squared error", xticks=[1, 3, 10, 30, 100], xlim=(1, 100))
left.set_xticklabels(["1", "3", "10", "30", "100"])
left.legend(frameon=False, loc="upper center")
x = np.linspace(0, 1, 300)[:, None]
for row, k in enumerate((1, parts.best, 60)):
    ax = figure.add_subplot(grid[row, 1])
    rng = np.random.default_rng(2)
    for _ in range(10):
        ax.plot(x, KNeighborsRegressor(k).fit(*draw(rng)).predict(x), color="#0072b2", linewidth=0.5, alpha=0.7)
    ax.plot(x, truth(x), color="#d55e00", linewidth=2)
    ax.set(ylabel=f"k = {k}", ylim=(-2, 2), xticks=[] if row < 2 else [0, 0.5, 1])
plt.show()

# %%
# From left to right the blue part, variance, shrinks like :math:`1/k`, and the orange one, bias, grows once the
# neighbours come from so far away that the curve has changed. The grey part stays whatever one does. With real data
# there is no truth and no fresh draw: `bias_variance` then resamples the table, and `cross_val_score` finds a good k
# without asking where the error comes from.

assert parts.variance[0] > 5 * parts.variance[ks.index(parts.best)]
assert parts.bias[-1] > 5 * parts.bias[ks.index(parts.best)]
assert 3 <= parts.best <= 27
