r"""
Clusters
========

So far every row came with an answer. Now there are only rows, :math:`x_1, \dots, x_n`, and the wish to sort them into
groups so that rows of one group are alike. Nobody marks the result. What "alike" means is therefore not found in the
data but put in by whoever chooses the distance, the number of groups and the method. This chapter says what each
method puts in.
"""

# %%
# An objective
# ------------
#
# A clustering gives every row one of :math:`k` labels, :math:`C(i) \in \{1, \dots, k\}`. It is natural to ask that
# rows with the same label are near each other,
#
# .. math::
#
#    W(C) = \frac12 \sum_{c=1}^{k} \sum_{C(i) = c} \sum_{C(j) = c} d(x_i, x_j) .
#
# For the squared distance the pairs can be counted from the cluster's mean :math:`m_c` instead. Write
# :math:`x_i - x_j = (x_i - m_c) - (x_j - m_c)`, expand the square and sum: the mixed terms vanish, because deviations
# from a mean sum to 0. With :math:`n_c` rows in the cluster,
#
# .. math::
#
#    \frac12 \sum_{C(i) = c} \sum_{C(j) = c} \|x_i - x_j\|^2 = n_c \sum_{C(i) = c} \|x_i - m_c\|^2 .
#
# *K-means* leaves the factor :math:`n_c` out, so that large clusters are not punished for being large:
#
# .. math::
#
#    J(C, m) = \sum_{c=1}^{k} \sum_{C(i) = c} \|x_i - m_c\|^2 .
#
# `KMeans` calls it the inertia. Why not try all clusterings? There are too many: 19 rows can be put into 4 groups in
# more than ten thousand million ways.

from math import comb, factorial

import matplotlib.pyplot as plt
import numpy as np

from learnt.cluster import KMeans

BLUE, RED, GREEN, PINK = colours = "#0072b2", "#d55e00", "#009e73", "#cc79a7"


def groupings(n, k):
    """How many ways there are to put n rows into k groups, none of them empty."""
    return sum((-1) ** (k - j) * comb(k, j) * j**n for j in range(k + 1)) // factorial(k)


assert groupings(10, 4) == 34_105
assert groupings(19, 4) == 11_259_666_950

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
pairs = ((X[:, None] - X[None]) ** 2).sum() / 2
assert np.isclose(pairs, 30 * ((X - X.mean(axis=0)) ** 2).sum())

# %%
# Lloyd's algorithm
# -----------------
#
# :math:`J` has two arguments, and each is easy to minimise while the other is held still. For given centres the best
# label of a row is its nearest centre. For given labels the best centre is the mean, as the gradient
# :math:`-2 \sum_{C(i) = c} (x_i - m_c)` vanishes there. So repeat the two steps. :math:`J` falls with every step or
# stays, and there are finitely many labellings: the algorithm stops. (Should a centre lose all its rows, `KMeans`
# gives it one that lies far from its own.)


def lloyd(X, centres, steps=100):
    """Centres, labels, and J after every step."""
    history = []
    for _ in range(steps):
        labels = ((X[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array([X[labels == c].mean(axis=0) for c in range(len(centres))])
        history.append(((X - moved[labels]) ** 2).sum())
        if np.allclose(moved, centres):
            break
        centres = moved
    return moved, labels, np.array(history)


three = np.repeat([[0.0, 0.0], [5.0, 0.0], [2.5, 4.0]], 80, axis=0) + rng.normal(size=(240, 2))
start = three[:3]  # all three from the first group
centres, labels, history = lloyd(three, start)
assert (np.diff(history) <= 1e-9).all()
assert np.isclose(KMeans(3, init=start, n_init=1).fit(three).inertia_, history[-1])
print(f"J after each step: {history.round(0)}")

# %%
# Where to start
# --------------
#
# It stops, but where? Take the corners of a rectangle that is 4 wide and 1 high. Centres in the middle of the long
# sides attract the two upper and the two lower corners, whose means they already are. Nothing moves, at
# :math:`J = 4 \cdot 2^2 = 16`. The best two clusters, left and right, have :math:`J = 4 \cdot (\frac12)^2 = 1`. A
# wider rectangle makes the ratio as bad as you like: k-means ends in a *local* minimum, and the start decides in
# which.

corners = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
assert KMeans(2, init=np.array([[2.0, 0.0], [2.0, 1.0]]), n_init=1).fit(corners).inertia_ == 16
assert KMeans(2, n_init=10, random_state=0).fit(corners).inertia_ == 1

# %%
# The remedy is to run several times and keep the lowest :math:`J` (``n_init``), and to start well. *k-means++* takes
# the first centre at random, and each further one among the rows with a probability in proportion to the squared
# distance :math:`D(x)^2` to the nearest centre so far:
#
# .. math::
#
#    P(x) = \frac{D(x)^2}{\sum_i D(x_i)^2} .
#
# It *samples*. Taking the row with the largest :math:`D` instead is another method, farthest-first, and its weakness
# is plain: the farthest row is an outlier, if there is one. For k-means++ it is proven that
# :math:`\mathbb{E}\, J \le 8 (\ln k + 2)\, J_{\text{best}}` even before the first step of Lloyd; starts at random
# rows have no bound at all. In the rectangle the second centre lands on the other short side with probability 33/34.
# `KMeans` with ``init="k-means++"`` draws a few candidates for each centre and keeps the best of them, which is
# better still.
#
# Here are 25 groups on a grid, and the same with 50 rows scattered far and wide. Every kind of start is tried 20
# times, once each.

middles = 10.0 * np.array([(i, j) for i in range(5) for j in range(5)])
clean = np.repeat(middles, 30, axis=0) + rng.normal(size=(750, 2))
dirty = np.vstack([clean, rng.uniform(-80, 120, size=(50, 2))])

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
found = {}
for ax, rows, title in zip(axes, (clean, dirty), ("25 groups", "25 groups and 50 outliers"), strict=True):
    for place, init in enumerate(("random", "farthest-first", "k-means++")):
        runs = [KMeans(25, init=init, n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(20)]
        found[title, init] = np.median(runs)
        ax.plot(np.array(runs) / 1000, place + np.linspace(-0.25, 0.25, 20), ".", color=colours[place])
    ax.set(xlabel="inertia J, in thousands", title=title, yticks=range(3))
    ax.set_yticklabels(("random", "farthest-first", "k-means++") if ax is axes[0] else ())
plt.show()

assert found["25 groups", "random"] > 2 * found["25 groups", "k-means++"]
assert found["25 groups and 50 outliers", "farthest-first"] > found["25 groups and 50 outliers", "k-means++"]

# %%
# How many?
# ---------
#
# :math:`J` falls as :math:`k` grows, down to 0 at :math:`k = n`, so it cannot choose. `choose_k` has three criteria:
#
# - *elbow*: where :math:`\log J` stops falling most sharply;
# - *silhouette*: with :math:`a_i` the mean distance of a row to its own cluster, and :math:`b_i` that to the nearest
#   other, the mean of :math:`(b_i - a_i) / \max(a_i, b_i)`, between −1 and 1;
# - *gap*: how much lower :math:`\log J` is than for rows spread evenly over the same box. It alone can answer "one".

from learnt.cluster import choose_k

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
for ax, method in zip(axes, ("elbow", "silhouette", "gap"), strict=True):
    chosen = choose_k(three, range(1, 8), method=method, n_references=5, random_state=0)
    ax.plot(chosen.candidates, chosen.scores, "o-", color=BLUE)
    ax.axvline(chosen.k, color=RED, linestyle="--")
    ax.set(xlabel="clusters", ylabel="J" if method == "elbow" else "score", title=f"{method}: {chosen.k}")
    assert chosen.k == 3
plt.show()

# %%
# K-means is EM with the noise turned off
# ---------------------------------------
#
# Let the rows come from a mixture of :math:`k` Gaussians, equally frequent, each round with the same known variance
# :math:`\sigma^2`. EM computes how responsible each centre is for each row, then takes weighted means:
#
# .. math::
#
#    r_{ic} = \frac{e^{-\|x_i - m_c\|^2 / 2 \sigma^2}}{\sum_b e^{-\|x_i - m_b\|^2 / 2 \sigma^2}}, \qquad
#    m_c = \frac{\sum_i r_{ic}\, x_i}{\sum_i r_{ic}} .
#
# Divide numerator and denominator by the largest of the exponentials. As :math:`\sigma \to 0`, every other one tends
# to 0: :math:`r_{ic}` becomes 1 for the nearest centre and 0 for the rest. The first step turns into "assign", the
# second into "mean". K-means is what is left of EM when responsibility is all or nothing.


def soft_means(X, centres, sigma, steps=200):
    """EM for round Gaussians of one known spread and equal weights."""
    for _ in range(steps):
        far = ((X[:, None] - centres[None]) ** 2).sum(axis=2) / (2 * sigma**2)
        share = np.exp(far.min(axis=1, keepdims=True) - far)
        share /= share.sum(axis=1, keepdims=True)
        centres = share.T @ X / share.sum(axis=0)[:, None]
    return centres


away = [np.abs(soft_means(three, centres, sigma) - centres).max() for sigma in (1.0, 0.3, 0.03)]
print(f"EM's centres are off those of k-means by {away[0]:.2f}, {away[1]:.3f}, {away[2]:.4f} as sigma falls")
assert away[0] > away[1] > away[2]
assert away[2] < 0.01

# %%
# So k-means carries the assumptions of that mixture: clusters that are round, of one width and about one size.
# `GaussianMixture` drops them at the price of more parameters: ellipses, unequal weights, and a probability for every
# row.
#
# A tree of clusters
# ------------------
#
# *Agglomerative* clustering does not fix :math:`k`. It begins with every row alone and merges the two nearest
# clusters until one is left. What "nearest" means for clusters is the linkage: the smallest distance between their
# rows (single), the largest (complete), the mean (average), or by how much the merge raises :math:`J`. The last one
# is Ward's,
#
# .. math::
#
#    \Delta J = \frac{n_a n_b}{n_a + n_b} \|m_a - m_b\|^2 ,
#
# and its tree records :math:`\sqrt{2\, \Delta J}`, which is the plain distance for two single rows. A *dendrogram*
# draws every merge at its height. A long stretch without merges is a natural place to cut.

from scipy.cluster.hierarchy import dendrogram

from learnt.cluster import AgglomerativeClustering

tree = AgglomerativeClustering(3, linkage="ward", compute_distances=True).fit(three)
total = ((three - three.mean(axis=0)) ** 2).sum()  # J of a single cluster, which all merges together lead to
assert np.isclose((tree.distances_**2 / 2).sum(), total)

sizes = np.zeros(len(tree.children_))  # SciPy draws the picture, and wants the number of rows below every merge
for i, pair in enumerate(tree.children_):
    sizes[i] = sum(1 if child < len(three) else sizes[child - len(three)] for child in pair)
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
merges = np.column_stack([tree.children_, tree.distances_, sizes])
cut = (tree.distances_[-3] + tree.distances_[-2]) / 2
dendrogram(merges, ax=ax, p=30, truncate_mode="lastp", no_labels=True, color_threshold=0, above_threshold_color=BLUE)
ax.axhline(cut, color=RED, linestyle="--", label="cut here: three clusters")
ax.set(xlabel="the last 30 branches", ylabel="height of the merge")
ax.legend(frameon=False)
plt.show()

# %%
# Shapes
# ------
#
# A cluster can also be a region where rows are *dense*, of any shape. `DBSCAN` needs a radius ``eps`` and a count
# ``min_samples``. A row with that many rows within the radius, itself included, is a core row. Core rows within the
# radius of each other belong together, other rows join a core row in reach, and what is left is noise, labelled −1.
# One radius does not suit clusters of different density; `HDBSCAN` looks at all radii and keeps the clusters that
# persist.

from learnt.cluster import DBSCAN, HDBSCAN
from learnt.datasets import make_moons
from learnt.metrics import adjusted_rand_score

moons, of_moon = make_moons(300, noise=0.06, random_state=0)
twins = np.repeat([[0.2, 1.7], [0.45, 1.7]], 60, axis=0) + rng.normal(scale=0.03, size=(120, 2))
shapes, truth = np.vstack([moons, twins]), np.append(of_moon, np.repeat([2, 3], 60))

models = {
    "k-means": KMeans(4, random_state=0),
    "DBSCAN, radius 0.2": DBSCAN(eps=0.2),
    "DBSCAN, radius 0.08": DBSCAN(eps=0.08),
    "HDBSCAN": HDBSCAN(min_cluster_size=10),
}
figure, axes = plt.subplots(1, 4, figsize=(9, 2.7), layout="constrained")
agreement = {}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    labels = model.fit_predict(shapes)
    agreement[name] = adjusted_rand_score(truth, labels)
    ax.scatter(*shapes.T, s=5, color=["#bbbbbb" if label < 0 else colours[label % 4] for label in labels])
    ax.set(title=f"{name}: {agreement[name]:.2f}", xticks=[], yticks=[])
    ax.title.set_fontsize(10)
plt.show()

assert agreement["HDBSCAN"] > max(agreement["DBSCAN, radius 0.2"], agreement["DBSCAN, radius 0.08"])
assert agreement["k-means"] < 0.5

# %%
# Four groups: two moons, and two small dense ones side by side. K-means cuts all of them. A radius that holds the
# moons together merges the twins, and one that separates the twins shatters the moons (grey rows are noise; colours
# repeat). Above each picture stands the agreement with the truth.
#
# The numbers of labels mean nothing (cluster 0 today may be cluster 2 tomorrow), so never compare labels by equality.
# `adjusted_rand_score` counts pairs of rows that both clusterings treat alike; it is 1 for the same clustering and
# about 0 for chance.
#
# What clustering cannot tell
# ---------------------------
#
# **Whether there are clusters.** K-means cuts rows without any structure into :math:`k` tidy pieces all the same, and
# the silhouette of the best cut looks respectable. Only a comparison with nothing, the gap, answers one. It errs too:
# ask it about several samples.

cloud = rng.normal(size=(300, 2))
best = choose_k(cloud, range(2, 6), method="silhouette", random_state=0)
alone = choose_k(cloud, range(1, 6), method="gap", random_state=0)
print(f"one round cloud: best silhouette {best.scores.max():.2f}; number of clusters by the gap: {alone.k}")
assert alone.k == 1

# %%
# **Which clusters are the right ones.** A pack of cards has clusters by suit, by rank and by colour. The columns and
# their units decide. Three varieties of wine are nearly recovered from standardised columns, and lost where proline,
# whose numbers are the largest, outvotes the other twelve columns.

from learnt.datasets import load_wine
from learnt.preprocessing import StandardScaler

wine, variety = load_wine(return_X_y=True)
raw = adjusted_rand_score(variety, KMeans(3, n_init=10, random_state=0).fit_predict(wine))
scaled = adjusted_rand_score(
    variety, KMeans(3, n_init=10, random_state=0).fit_predict(StandardScaler().fit_transform(wine))
)
print(f"agreement with the varieties: {raw:.2f} in the units of the table, {scaled:.2f} standardised")
assert raw < 0.5 < 0.8 < scaled

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Columns in different units.** Seen above. Standardise, or say why one column should count more.
# - **One start.** Two seeds give two answers: compare their ``inertia_``, and raise ``n_init``. Where many starts
#   with nearly the same inertia disagree (`adjusted_rand_score` well below 1), the clusters are not in the data.
# - **Elongated or nested groups cut across.** Look at the first two principal components (next chapter); try
#   `GaussianMixture` for ellipses, `HDBSCAN` for shapes.
# - **Outliers.** A square makes far rows heavy, and they take centres of their own: clusters of one to three rows.
#   Set them aside first, or use `HDBSCAN`, which may call a row noise.
# - **Too many columns.** All distances become alike, and so do clusters; `learnt.diagnosis.dimensionality` measures
#   it.
# - **Belief.** Names given to clusters sound like discoveries. Cluster a second sample and see whether they return.
#
# Exercises
# ---------
#
# 1. In the rectangle, how often does k-means with two different *random* rows as centres end at :math:`J = 16`?
# 2. Derive Ward's :math:`\Delta J` and check it on two clusters of your own.
# 3. Single linkage finds the moons. Put a bridge of five rows between them: what happens, and why not to `DBSCAN`?
#
# Solutions
# ---------
#
# 1. Six pairs of corners are equally likely. Two pairs (a short side) have both centres at the left or at the right:
#    the nearest centre separates top from bottom, so they end at 16. Long sides and diagonals separate left from
#    right. It is 1/3.

pairs = [(a, b) for a in range(4) for b in range(a)]
ends = [KMeans(2, init=corners[list(pair)], n_init=1).fit(corners).inertia_ for pair in pairs]
assert sorted(ends) == [1, 1, 1, 1, 16, 16]

# %%
# 2. The sum of squares about any point :math:`p` is that about the mean plus :math:`n \|m - p\|^2`. With
#    :math:`m = (n_a m_a + n_b m_b) / (n_a + n_b)` the merge adds :math:`n_a \|m_a - m\|^2 + n_b \|m_b - m\|^2`, where
#    :math:`m_a - m = \frac{n_b}{n_a + n_b} (m_a - m_b)` and the same with the letters exchanged. The factors add up
#    to :math:`(n_a n_b^2 + n_b n_a^2) / (n_a + n_b)^2 = n_a n_b / (n_a + n_b)`.

a, b = rng.normal(size=(7, 3)), rng.normal(2.0, size=(12, 3))
both = np.vstack([a, b])
rise = sum(sign * ((part - part.mean(axis=0)) ** 2).sum() for sign, part in ((1, both), (-1, a), (-1, b)))
assert np.isclose(rise, 7 * 12 / 19 * ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum())

# %%
# 3. Single linkage joins clusters by their nearest rows, so one thin bridge chains the moons together. On the bridge
#    no row has enough neighbours to be a core row of `DBSCAN`, and only core rows pass a cluster on.

upper, lower = moons[of_moon == 0], moons[of_moon == 1]
gaps = ((upper[:, None] - lower[None]) ** 2).sum(axis=2)
i, j = np.unravel_index(gaps.argmin(), gaps.shape)
bridged = np.vstack([moons, np.linspace(upper[i], lower[j], 7)[1:-1]])
for model in (AgglomerativeClustering(2, linkage="single"), DBSCAN(eps=0.15, min_samples=10)):
    before = adjusted_rand_score(of_moon, model.fit_predict(moons))
    after = adjusted_rand_score(of_moon, model.fit_predict(bridged)[:300])
    print(f"{type(model).__name__}: agreement {before:.2f} without the bridge, {after:.2f} with it")
    assert before > 0.9
    assert (after < 0.1) == isinstance(model, AgglomerativeClustering)

# %%
# Next: directions instead of groups, by principal components.
