r"""
HDBSCAN finds clusters of any shape, and leaves noise alone
===========================================================

K-means cuts the plane into convex pieces and gives every row to one of them. `HDBSCAN` follows where rows are dense:
its clusters may be crescents, each with a density of its own. Their number is not asked for, and rows that lie in none
of them stay without a cluster.
"""

# %%
# Two crescents, a dense blob, a loose one, and one row of eleven that belongs to nothing.

import matplotlib.pyplot as plt
import numpy as np

from learnt.cluster import HDBSCAN, KMeans
from learnt.datasets import make_moons
from learnt.metrics import adjusted_rand_score

rng = np.random.default_rng(0)
moons, side = make_moons(400, noise=0.06, random_state=0)
rows = np.concatenate(
    [
        moons,
        rng.normal((2.8, 1.0), 0.08, size=(150, 2)),
        rng.normal((3.2, -0.6), 0.28, size=(150, 2)),
        rng.uniform((-1.8, -2.0), (4.6, 2.0), size=(70, 2)),
    ]
)
truth = np.concatenate([side, np.full(150, 2), np.full(150, 3), np.full(70, -1)])

by_means = KMeans(4, random_state=0).fit_predict(rows)
by_density = HDBSCAN(min_cluster_size=20).fit_predict(rows)

belongs = truth >= 0
for name, labels in (("k-means, told that there are 4", by_means), ("HDBSCAN, told nothing", by_density)):
    print(
        f"{name}: {labels.max() + 1} clusters, {np.mean(labels < 0):.0%} of rows left as noise, "
        f"agreement with the truth {adjusted_rand_score(truth[belongs], labels[belongs]):.2f} (1 is perfect)"
    )

# %%
# Grey crosses are rows without a cluster.

colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
figure, axes = plt.subplots(1, 3, figsize=(9, 2.2), layout="constrained", sharex=True, sharey=True)
for ax, labels, name in zip(axes, (truth, by_means, by_density), ("as drawn", "k-means", "HDBSCAN")):
    ax.scatter(*rows[labels < 0].T, marker="x", s=10, linewidth=0.7, color="#999999")
    for one in range(labels.max() + 1):
        ax.scatter(*rows[labels == one].T, s=5, color=colours[one % 6])
    ax.set(title=name, xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# K-means was told the right number and still cuts both crescents in two, because each centre takes what is nearest.
# HDBSCAN finds the four from the rows alone. Its one setting is the smallest group that counts as a cluster; scattered
# rows that happen to lie on a cluster are counted to it, as they should be.
