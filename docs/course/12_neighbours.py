r"""
Nearest neighbours
==================

In a situation that is new, do what was right in the most similar one. Nothing is fitted: the rows are the model. What
remains are three choices, how many neighbours are asked, what "near" means, and how they are found, and one obstacle
that no choice removes: where there are many columns, nothing is near.
"""

# %%
# One neighbour
# -------------
#
# Let :math:`x'` be the row nearest to :math:`x`; the answer is its label. The plane falls into the *Voronoi cells* of
# the rows, and the boundary runs where cells of different labels meet. How good can that be? Let rows become so many
# that :math:`x'` is as close as one likes, and let :math:`p_k = P(y = k \mid x)`, continuous. Then :math:`x` and
# :math:`x'` have their labels drawn independently from the same :math:`p`, and these differ with probability
#
# .. math::
#
#    1 - \sum_k p_k^2 ,
#
# the Gini impurity at :math:`x`. The best possible error there is :math:`e = 1 - \max_k p_k`. The sum of squares is
# :math:`(1 - e)^2` for the largest and, for the :math:`c - 1` others that share :math:`e`, at least
# :math:`e^2 / (c - 1)`. So
#
# .. math::
#
#    1 - \sum_k p_k^2 \le 1 - (1 - e)^2 - \frac{e^2}{c - 1} = 2e - \frac{c}{c - 1} e^2 .
#
# Averaged over :math:`x`, and with the mean of a square at least the square of the mean, this bounds the error
# :math:`p_\infty` of one neighbour by the Bayes error :math:`p^*` (Cover and Hart):
#
# .. math::
#
#    p^* \le p_\infty \le p^* \left( 2 - \frac{c}{c - 1} p^* \right) \le 2 p^* .
#
# At most twice the best: half of all that can be known about a label lies in its nearest neighbour. Take the example
# of the first chapter, :math:`P(1 \mid x) = x` on :math:`[0, 1]`. The Bayes error is 1/4, one neighbour has
# :math:`\int_0^1 2x(1 - x)\, dx = 1/3`, and the bound is :math:`\frac{1}{4} (2 - 2 \cdot \frac{1}{4}) = 3/8`. Turned
# round, the measured error of one neighbour says what *any* method could reach: `bayes_error_bounds`.

import matplotlib.pyplot as plt
import numpy as np

from learnt.diagnosis import bayes_error_bounds
from learnt.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)


def coin_at_x(n):
    """Rows with P(1 | x) = x."""
    x = rng.uniform(size=(n, 1))
    return x, (rng.uniform(size=n) < x[:, 0]).astype(int)


x, y = coin_at_x(4000)
x_new, y_new = coin_at_x(4000)
nearest = KNeighborsClassifier(1).fit(x, y)
error = 1 - nearest.score(x_new, y_new)
bounds = bayes_error_bounds(x, y)
print(f"one neighbour is wrong on {error:.3f}; so the Bayes error is between {bounds.low:.2f} and {bounds.high:.2f}")
assert abs(error - 1 / 3) < 0.03
assert bounds.low < 1 / 4 < bounds.high
assert nearest.score(x, y) == 1.0  # each row is its own neighbour: the training error says nothing

# %%
# One neighbour stays at 1/3 however many rows there are. A vote of :math:`k` neighbours gets to 1/4, if :math:`k`
# grows with the rows but more slowly: :math:`k \to \infty` averages the labels' noise out, :math:`k / n \to 0` keeps
# the voters near. With all :math:`n` rows voting it is the best constant.

for n in (100, 1000, 10_000):
    x, y = coin_at_x(n)
    model = KNeighborsClassifier(round(n ** (2 / 3))).fit(x, y)
    print(f"{n:6} rows, {model.n_neighbors:3} neighbours: {1 - model.score(x_new, y_new):.3f} wrong")
assert abs(1 - model.score(x_new, y_new) - 1 / 4) < 0.03

# %%
# How many?
# ---------
#
# For numbers the neighbours' mean is the prediction. Let :math:`y = f(x) + \varepsilon` with noise of variance
# :math:`\sigma^2`. Around the rows as they lie, the expected squared error at :math:`x` is
#
# .. math::
#
#    \left( f(x) - \frac{1}{k} \sum_{i \in N_k(x)} f(x_i) \right)^2 + \frac{\sigma^2}{k} + \sigma^2 :
#
# a bias, which grows with :math:`k` since neighbours get farther away; a variance, which falls like :math:`1/k`; and
# the noise of the new row, which nobody removes. `bias_variance` measures the parts, here from 30 tables drawn anew.

from learnt.diagnosis import bias_variance
from learnt.neighbors import KNeighborsRegressor


def wave(columns):
    """The truth."""
    return np.sin(6 * columns[:, 0])


def table(generator, n=400):
    """A table with noise of standard deviation 0.3."""
    columns = generator.uniform(size=(n, 1))
    return columns, wave(columns) + generator.normal(scale=0.3, size=n)


sizes = [1, 2, 4, 8, 16, 32, 64, 128]
rows, targets = table(rng, 150)
parts = bias_variance(
    KNeighborsRegressor(), rows, targets, vary={"n_neighbors": sizes}, truth=wave, draw=table, n_sets=30
)
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(sizes, parts.bias, "o-", color="#0072b2", label="squared bias")
ax.plot(sizes, parts.variance, "o-", color="#d55e00", label="variance")
ax.plot(sizes, 0.3**2 / np.array(sizes), "k:", label="σ² / k")
ax.plot(sizes, parts.bias + parts.variance, "-", color="#009e73", label="their sum")
ax.set(xscale="log", yscale="log", ylim=(1e-3, 0.2), xlabel="neighbours k", ylabel="squared error, without noise")
ax.legend(frameon=False)
plt.show()
assert np.allclose(parts.variance[:4], 0.09 / np.array(sizes[:4]), rtol=0.2)
assert sizes[int(np.argmin(parts.bias + parts.variance))] in (16, 32)

# %%
# Where there is no second table, cross-validation chooses; ``n_neighbors="auto"`` does it.
#
# What is near?
# -------------
#
# The Minkowski distance is :math:`\left( \sum_j |x_j - z_j|^p \right)^{1/p}`: Manhattan for :math:`p = 1`, Euclid for
# 2, the largest difference for :math:`p \to \infty`. It adds up columns, and so it matters in which units they are.
# In the wine data one column counts to 1680 and others to 1:

from learnt.datasets import load_digits, load_wine
from learnt.model_selection import cross_val_score
from learnt.neighbors import NearestNeighbors
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler

for p, distance in ((1, 7.0), (2, 5.0), (np.inf, 4.0)):
    found, _ = NearestNeighbors(n_neighbors=1, p=p).fit([[3.0, 4.0]]).kneighbors([[0.0, 0.0]])
    assert abs(found.item() - distance) < 1e-12

wine, grower = load_wine(return_X_y=True)
raw = cross_val_score(KNeighborsClassifier(5), wine, grower, cv=5).mean()
scaled = cross_val_score(make_pipeline(StandardScaler(), KNeighborsClassifier(5)), wine, grower, cv=5).mean()
print(f"wine: {raw:.0%} right as it is, {scaled:.0%} with standardised columns")
assert scaled > raw + 0.15

# %%
# The curse of dimensionality
# ---------------------------
#
# Spread :math:`n` rows evenly in the unit cube of :math:`d` dimensions. A small cube that holds :math:`k` of them has
# the volume :math:`l^d \approx k / n`, so its edge is :math:`l \approx (k / n)^{1/d}`. For 10 of 1000 rows:

for d, edge in ((2, 0.1), (10, 0.631), (100, 0.955), (1000, 0.995)):
    assert abs((10 / 1000) ** (1 / d) - edge) < 5e-4

# %%
# In 100 dimensions the "neighbourhood" reaches along 95% of every column. It is nearly the whole table, and the
# nearest row is hardly nearer than any other. `dimensionality` measures both on a table of your own: ``edge_length``,
# and ``concentration``, the distance of the nearest rows by that of any two. What saves real data is that they rarely
# fill their columns: the 64 pixels of a digit depend on few things that a hand can do. ``intrinsic`` estimates how
# many.

from learnt.diagnosis import dimensionality

dims = [1, 2, 3, 5, 10, 20, 50, 100]
cubes = [dimensionality(rng.uniform(size=(1000, d))) for d in dims]
digits, digit = load_digits(return_X_y=True)
real = dimensionality(digits)
shuffled = dimensionality(rng.permuted(digits, axis=0))  # each pixel by itself: the same columns, no structure

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(dims, [c.edge_length for c in cubes], "o-", color="#0072b2", label="edge of the cube of 10 neighbours")
ax.plot(dims, [c.concentration for c in cubes], "o-", color="#d55e00", label="nearest distance / typical distance")
for found, colour, name in ((real, "#009e73", "digits"), (shuffled, "#cc79a7", "shuffled pixels")):
    ax.plot(found.intrinsic.estimate, found.concentration, "s", color=colour, label=name)
ax.set(xscale="log", xlabel="dimensions (for squares: measured)", ylabel="share", ylim=(0, 1))
ax.legend(frameon=False, fontsize="small")
plt.show()
print(f"digits: 64 columns, {real.intrinsic.estimate:.0f} dimensions; shuffled {shuffled.intrinsic.estimate:.0f}")
print(real.advice)
right = cross_val_score(KNeighborsClassifier(3), digits, digit, cv=5).mean()
print(f"three neighbours read {right:.0%} of the digits")
assert cubes[1].edge_length == 0.1
assert real.intrinsic.estimate < 12 < shuffled.intrinsic.estimate

# %%
# The advice is a caution and not a verdict: it looks at rows alone. Where classes lie far apart, as here, even far
# neighbours have the right label. Compare, as it says.
#
# Finding them
# ------------
#
# Comparing with every row costs :math:`O(nd)` a query. A *KD-tree* cuts the rows at the median of the column that
# varies most, and the halves again, down to small boxes. A query goes down to its own box and finds a candidate. On
# the way back up it skips the other side of every wall that is farther away than the candidate: whoever stands behind
# a wall is no nearer than the wall. With few columns hardly any box is left to open. With many the candidate is far,
# the walls are near, and nearly all boxes must be opened. A *ball tree* puts the halves into balls instead: no row in
# a ball of centre :math:`m` and radius :math:`r` is nearer than :math:`|x - m| - r`. Balls need not follow the
# columns, which helps where rows lie on a slanted sheet. Both are exact.

from learnt.neighbors import BallTree, KDTree

for d in (2, 5, 10, 20):
    cloud, queries = rng.uniform(size=(5000, d)), rng.uniform(size=(50, d))
    brute = ((queries[:, None] - cloud) ** 2).sum(axis=2).min(axis=1) ** 0.5
    needed = {}
    for kind in (KDTree, BallTree):
        tree = kind(cloud, leaf_size=20)
        tree.reset_n_calls()  # begins to count
        distance, _ = tree.query(queries, k=1)
        assert np.allclose(distance[:, 0], brute)
        needed[kind.__name__] = tree.get_n_calls() / 50
    print(f"{d:2} columns: rows to look at of 5000:", {name: round(share) for name, share in needed.items()})
    if d == 2:
        assert needed["KDTree"] < 100

# %%
# ``algorithm="auto"`` of all estimators here chooses among these two and brute force; the answers are the same.
#
# Fewer rows
# ----------
#
# Only rows near the boundary decide. *Condensing* goes through the rows and memorises one when those memorised so far
# get it wrong; training rows are then all answered rightly, and the boundary is roughly the old one. *Voronoi
# editing* drops every row whose Voronoi neighbours all have its own label: the cells of what is left join up, and the
# boundary stays exactly where it was.

from learnt.neighbors import CondensedNearestNeighbor, VoronoiEditing

angle = rng.uniform(0, np.pi, 500)
label = np.arange(500) % 2
moons = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(label, -1, 1)[:, None] + label[:, None] * [1.0, 0.4]
moons += rng.normal(scale=0.12, size=moons.shape)
side = np.linspace(-1.6, 2.6, 150), np.linspace(-1.2, 1.6, 150)
mesh = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)
every = KNeighborsClassifier(1).fit(moons, label).predict(mesh)
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained", sharey=True)
condensed, edited = CondensedNearestNeighbor().fit(moons, label), VoronoiEditing().fit(moons, label)
views = {
    "all": (np.arange(500), every),
    "condensed": (condensed.kept_indices_, condensed.predict(mesh)),
    "edited": (edited.kept_indices_, edited.predict(mesh)),
}
for ax, (name, (kept, said)) in zip(axes, views.items(), strict=True):
    ax.contourf(*side, said.reshape(150, 150), levels=[-0.5, 0.5, 1.5], colors=["#dbe9f6", "#fbe3d3"])
    ax.scatter(*moons[kept].T, c=np.array(["#0072b2", "#d55e00"])[label[kept]], s=5)
    ax.set(title=f"{name}: {len(kept)} rows", xlabel="first column")
axes[0].set_ylabel("second column")
plt.show()
assert condensed.score(moons, label) == 1.0
assert (views["edited"][1] == every).all()

# %%
# Learning the metric
# -------------------
#
# Standard deviations make columns comparable, not relevant. A linear map :math:`A` makes the distance
# :math:`|Ax - Az|`, and `NeighborhoodComponentsAnalysis` chooses :math:`A` so that a neighbour drawn at random, with
# chance :math:`\propto e^{-|Ax_i - Ax_j|^2}`, often has the same label. It uses labels: fit it within the pipeline,
# so that cross-validation refits it on each fold. Here two columns of ten say everything, in rings that no line
# separates.

from learnt.neighbors import NeighborhoodComponentsAnalysis


def rings(n):
    """A disc within a ring, in columns 3 and 7 of ten."""
    ring, turn = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, n)
    radius, columns = 1.5 * ring + rng.normal(scale=0.2, size=n), rng.normal(size=(n, 10))
    columns[:, 3], columns[:, 7] = radius * np.cos(turn), radius * np.sin(turn)
    return columns, ring


columns, ring = rings(400)
columns_new, ring_new = rings(1000)
plain = KNeighborsClassifier(5).fit(columns, ring)
learnt_map = NeighborhoodComponentsAnalysis(init="identity")
mapped = make_pipeline(learnt_map, KNeighborsClassifier(5)).fit(columns, ring)
weight = np.linalg.norm(mapped[0].components_, axis=0)  # how much the map stretches each column
print(f"wrong: {1 - plain.score(columns_new, ring_new):.1%} by all columns alike, ", end="")
print(f"{1 - mapped.score(columns_new, ring_new):.1%} by the learnt metric")
assert set(np.argsort(weight)[-2:]) == {3, 7}
assert mapped.score(columns_new, ring_new) > plain.score(columns_new, ring_new) + 0.1

# %%
# The map is found by climbing, and there are many hills. Asked for two components at once (``n_components=2``), it
# begins with the widest directions, which mean nothing here, and ends on a lesser hill. Try several starts
# (``init=``), and compare on rows left out.
#
# What goes wrong
# ---------------
#
# - **Units.** Always scale first, inside the pipeline. Numbers that name categories are no distances: encode them.
# - **Training error.** It is 0 for :math:`k = 1` whatever the data. Judge on rows left out.
# - **Copies.** A row that is in the table twice, once on each side of a split, finds itself. Drop duplicates, or keep
#   groups together (`GroupKFold`); an error that rises when you do was never as good as it looked.
# - **Rare classes** are outvoted as :math:`k` grows. Look at recall, or use ``weights="distance"``.
# - **The model is the table**: as large, and as private. Edit it, or take another method where rows must not leave.
# - **Outside the table** a neighbour is still found, however far. Look at the distances (``kneighbors``).
#
# Exercises
# ---------
#
# 1. The Bayes error is 0.1 with three classes. How bad can one neighbour be, with many rows? And if one neighbour has
#    0.3 with two classes, what is the least possible error?
# 2. How many rows do 10 neighbours need to lie in a cube of edge 0.1, in 2 and in 10 dimensions?
# 3. Which classifier is :math:`k = n`? And what is the leave-one-out error of one neighbour where labels alternate
#    along a line?
#
# Solutions
# ---------
#
# 1. :math:`0.1 (2 - \frac{3}{2} \cdot 0.1) = 0.185`. For the second, :math:`p (2 - 2p) = 0.3` gives
#    :math:`p = \frac{1}{2} (1 - \sqrt{1 - 0.6}) = 0.184`.

from learnt.diagnosis import cover_hart_lower

assert abs(cover_hart_lower(0.185, n_classes=3) - 0.1) < 1e-9
assert abs(cover_hart_lower(0.3, n_classes=2) - (1 - np.sqrt(0.4)) / 2) < 1e-12

# %%
# 2. :math:`n = k / l^d`: 1000, and a hundred thousand million.

assert np.isclose(10 / 0.1**2, 1000)
assert np.isclose(10 / 0.1**10, 1e11)

# %%
# 3. The best constant. And 1: both neighbours of every row have the other label.

from learnt.baseline import ConstantClassifier
from learnt.model_selection import LeaveOneOut

uneven = np.arange(500) % 3 == 0
constant = ConstantClassifier().fit(moons, uneven)
assert (KNeighborsClassifier(500).fit(moons, uneven).predict(mesh) == constant.predict(mesh)).all()
places = np.arange(20.0)[:, None]
assert cross_val_score(KNeighborsClassifier(1), places, np.arange(20) % 2, cv=LeaveOneOut()).mean() == 0

# %%
# Next: trees, which cut the table as a KD-tree does, but look at the labels.
