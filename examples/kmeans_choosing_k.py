r"""
Choosing the number of clusters for k-means: elbow, silhouette or gap?
======================================================================

The k-means objective always falls as clusters are added, so it cannot say how many there are. `learnt.cluster.choose_k`
knows three rules. They agree where clusters are clear, and it is worth knowing which of them can say "none".
"""

# %%
# Two tables: four groups, and a single cloud without any.

import matplotlib.pyplot as plt
import numpy as np

from learnt.cluster import KMeans, choose_k

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [5.0, 5.0]])
groups = np.repeat(centres, 100, axis=0) + rng.normal(size=(400, 2))
cloud = rng.normal(size=(400, 2)) * 2

found = {}
for name, rows in (("four groups", groups), ("one cloud", cloud)):
    for method in ("elbow", "silhouette", "gap"):
        found[name, method] = choose_k(rows, range(1, 9), method=method, random_state=0)
    print(f"{name}:", ", ".join(f"{m} says {found[name, m].k}" for m in ("elbow", "silhouette", "gap")))
assert found["four groups", "silhouette"].k == found["four groups", "gap"].k == 4
assert found["one cloud", "gap"].k == 1

# %%
# What two of the rules look at. A silhouette needs at least two clusters, and an elbow a number on either side. The gap
# compares with rows that have no clusters, and so it alone may answer 1.

figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout="constrained")
for (name, rows), (first, *others) in zip((("four groups", groups), ("one cloud", cloud)), axes):
    chosen = found[name, "gap"]
    labels = KMeans(chosen.k, random_state=0).fit_predict(rows)
    for one, colour in zip(range(chosen.k), ("#0072b2", "#d55e00", "#009e73", "#cc79a7")):
        first.scatter(*rows[labels == one].T, s=4, color=colour)
    first.set(title=f"{name}: gap says {chosen.k}", xticks=[], yticks=[], aspect="equal")
    for ax, method in zip(others, ("silhouette", "gap")):
        picked = found[name, method]
        ax.plot(picked.candidates, picked.scores, "o-", color="#0072b2", markersize=4)
        ax.axvline(picked.k, color="#d55e00", linestyle="--", label=f"chosen: {picked.k}")
        ax.set(xlabel="number of clusters", ylabel=method)
        ax.legend(frameon=False)
plt.show()

# %%
# On the four groups both rules have their peak at four. On the cloud the silhouette has to choose something, and
# k-means would cut the cloud into as many slices without complaint. Its low silhouettes are the only warning. Use the
# gap where "no clusters" is a possible answer; ``choose_k(rows).picture()`` draws what it saw.
