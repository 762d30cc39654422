r"""
Density estimation: a tree, a histogram or a kernel?
====================================================

A histogram has cells of one width, and a kernel density one bandwidth. Where rows crowd in one place and are scattered
elsewhere, no single width is right: narrow ones are noisy in the tail, and wide ones blur the peak. `DensityTree` cuts
small cells where there are many rows and large ones where there are few.
"""

# %%
# Two thirds of the rows are in a narrow peak, the others anywhere between 0 and 10. A second table is smooth: one bell.

import matplotlib.pyplot as plt
import numpy as np

from learnt.density import DensityTree, Histogram
from learnt.model_selection import GridSearchCV
from learnt.neighbors import KernelDensity


def draw_peak(n, rng):
    return np.where(rng.uniform(size=n) < 2 / 3, rng.normal(2, 0.05, size=n), rng.uniform(0, 10, size=n))[:, None]


def draw_bell(n, rng):
    return rng.normal(size=(n, 1))


def bell(x, mean, scale):
    return np.exp(-(((x - mean) / scale) ** 2) / 2) / (scale * np.sqrt(2 * np.pi))


def true_peak(x):
    return 2 / 3 * bell(x, 2, 0.05) + ((x >= 0) & (x <= 10)) / 30


# %%
# Each estimate chooses its width by the data. The likelihood of rows that it has not seen judges it: the mean of
# :math:`\log p(x)`, higher is better, and highest for the true density. Histogram and tree end where the training rows
# end, and say 0 beyond: the few rows there are left out for all.


def estimates(rows):
    bandwidths = {"bandwidth": np.geomspace(0.01, 1, 13)}
    return {
        "histogram": Histogram(bins="cv", alpha=0.01).fit(rows),
        "kernel": GridSearchCV(KernelDensity(), bandwidths, cv=5).fit(rows).best_estimator_,
        "tree": DensityTree(random_state=0).fit(rows),
    }


fitted = {}
for name, draw, density in (("peak", draw_peak, true_peak), ("bell", draw_bell, lambda x: bell(x, 0, 1))):
    rng = np.random.default_rng(0)
    rows, new = draw(3000, rng), draw(20_000, rng)
    new = new[(new > rows.min()) & (new < rows.max())][:, None]
    fitted[name] = estimates(rows)
    score = {way: model.score_samples(new).mean() for way, model in fitted[name].items()}
    score["true density"] = np.log(density(new)).mean()
    print(f"{name}: " + ", ".join(f"{way} {value:.2f}" for way, value in score.items()))

# %%
# On a logarithmic scale the tail can be seen beside the peak.

x = np.linspace(0.05, 9.95, 4000)
figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharey=True)
for ax, (way, model), colour in zip(axes, fitted["peak"].items(), ("#cc79a7", "#009e73", "#0072b2")):
    ax.plot(x, true_peak(x), color="#555555", linestyle=":", label="true")
    ax.plot(x, np.exp(model.score_samples(x[:, None])), color=colour, label=way)
    ax.set(xlabel="x", yscale="log", ylim=(3e-3, 20))
    ax.legend(frameon=False, loc="upper right")
axes[0].set_ylabel("density")
plt.show()

# %%
# Histogram and kernel chose a width that fits the peak, and their tails are noise. The tree has few cells in the tail
# and is nearest to the truth. On the smooth bell it is the other way round: there the kernel is best, and steps cost a
# little. Look at how uneven the rows are before choosing.
