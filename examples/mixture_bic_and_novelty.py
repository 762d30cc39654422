r"""
Gaussian mixtures: how many components, and which rows are new?
===============================================================

A mixture of Gaussians is a density, and so it answers two questions. How many groups are there? As many as give the
lowest BIC, which charges for every parameter. Is a new row like any of them? It is not where its density is lower than
that of almost all training rows.
"""

# %%
# Three kinds of parts come off a machine, with two measurements each. None of the groups is round, and two of them
# touch. BIC compares numbers of components and shapes of the covariances on one scale.

import matplotlib.pyplot as plt
import numpy as np

from learnt.mixture import GaussianMixture

rng = np.random.default_rng(0)
parts = np.concatenate(
    [
        rng.multivariate_normal((0, 0), [[1.0, 0.9], [0.9, 1.0]], 400),
        rng.multivariate_normal((4, 0), [[0.3, 0.0], [0.0, 1.5]], 300),
        rng.multivariate_normal((2, 5), [[1.5, -0.8], [-0.8, 0.7]], 300),
    ]
)
numbers = range(1, 8)
bic, fitted = {}, {}
for shape in ("full", "diag", "spherical"):
    for k in numbers:
        fitted[shape, k] = GaussianMixture(k, covariance_type=shape, n_init=3, random_state=0).fit(parts)
        bic[shape, k] = fitted[shape, k].bic(parts)
best = min(bic, key=bic.get)
print(f"lowest BIC: {best[1]} components with {best[0]} covariances")
assert best == ("full", 3)

# %%
# A part is called new where its density is below that of 99 in 100 training parts. Four parts are judged: two from the
# middle of a group, one far away, and one whose two measurements are common each but were never met together.

model = fitted[best]
limit = np.quantile(model.score_samples(parts), 0.01)
new = np.array([[4.0, 1.0], [2.0, 5.0], [7.0, 6.0], [1.5, -1.5]])
for row, log_density in zip(new, model.score_samples(new)):
    print(f"{row}: log density {log_density:6.1f}, {'new' if log_density < limit else 'known'}")

# %%
# The map shows where "known" ends.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for shape, colour in (("spherical", "#cc79a7"), ("diag", "#009e73"), ("full", "#0072b2")):
    left.plot(numbers, [bic[shape, k] for k in numbers], "o-", color=colour, markersize=4, label=shape)
left.set(xlabel="number of components", ylabel="BIC (lower is better)")
left.legend(frameon=False, title="covariances")

x, y = np.linspace(-4, 8, 150), np.linspace(-5, 8, 150)
density = model.score_samples(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)).reshape(150, 150)
right.scatter(*parts.T, s=3, color="#999999", label="training parts")
right.contour(x, y, density, levels=[limit], colors="#0072b2")
known = model.score_samples(new) >= limit
right.scatter(*new[known].T, marker="o", color="#009e73", label="known")
right.scatter(*new[~known].T, marker="X", color="#d55e00", label="new")
right.set(xlabel="measurement 1", ylabel="measurement 2")
right.legend(frameon=False, fontsize=8, loc="upper right")
plt.show()

# %%
# With full covariances BIC finds the three kinds. Round components need many more to cover stretched groups, and never
# get as low. The part at (1.5, −1.5) is new although either measurement alone is ordinary: no limit on single columns
# would have found it.
