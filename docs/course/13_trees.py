r"""
Decision trees
==============

A tree asks questions about one column at a time, each depending on the answers before, and predicts what most
training rows with the same answers had. It is a KD-tree that looks at the labels, keeps counts instead of rows, and
never goes back. Units do not matter, columns may be of any kind, and the model can be read aloud. It is also
restless: another sample, another tree. This chapter is about growing one tree well; the next, about growing many.
"""

# %%
# How mixed is a node?
# --------------------
#
# Let :math:`p_k` be the shares of the :math:`c` classes in a node. An impurity is 0 where one class is alone and
# largest where all are alike. Three are in use:
#
# .. math::
#
#    G = \sum_k p_k (1 - p_k) = 1 - \sum_k p_k^2, \qquad H = -\sum_k p_k \log_2 p_k, \qquad E = 1 - \max_k p_k .
#
# Gini's :math:`G` is the chance that two rows drawn from the node differ (and, from the last chapter, the error of
# one neighbour). Entropy :math:`H` is what is missing to certainty in bits. Its maximum is where :math:`p` is
# uniform, since
#
# .. math::
#
#    \sum_k p_k \log \frac{p_k}{1/c} = \log c - H \ge 0 ,
#
# the Kullback–Leibler divergence from the uniform distribution, which by :math:`\log u \le u - 1` is never negative.
# With two classes :math:`G = 2p(1-p)` runs from 0 to 1/2; with :math:`c` it ends at :math:`1 - 1/c`, and :math:`H` at
# :math:`\log_2 c`.
#
# A split sends the share :math:`P_L` of the rows left and :math:`P_R` right. What it is worth is its *goodness*, the
# impurity that it takes away:
#
# .. math::
#
#    \Delta = \Phi(t) - P_L\, \Phi(t_L) - P_R\, \Phi(t_R) .

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np


def gini(*counts):
    """Gini impurity of exact counts."""
    return 1 - sum(Fraction(n, sum(counts)) ** 2 for n in counts)


def wrong(*counts):
    """The share of rows that are not of the most common class."""
    return 1 - Fraction(max(counts), sum(counts))


def goodness(impurity, left, right):
    """What a split takes away."""
    node = [a + b for a, b in zip(left, right, strict=True)]
    return impurity(*node) - sum(Fraction(sum(side), sum(node)) * impurity(*side) for side in (left, right))


print("rows of two classes   ", *(f"{n}:{10 - n}".rjust(5) for n in range(6)))
print("Gini impurity         ", *(f"{float(gini(n, 10 - n)):5.2f}" for n in range(6)))
assert gini(0, 10) == 0
assert gini(5, 5) == Fraction(1, 2)
assert gini(1, 1, 1, 1) == 1 - Fraction(1, 4)

first, second = ((30, 10), (10, 30)), ((20, 40), (20, 0))
assert goodness(wrong, *first) == goodness(wrong, *second) == Fraction(1, 4)
assert goodness(gini, *first) == Fraction(1, 8)
assert goodness(gini, *second) == Fraction(1, 6)

# %%
# The last four lines show why trees are not grown by the error that they will be judged by. Of 40 and 40 rows, one
# split leaves 30:10 and 10:30, another 20:40 and 20:0. Both leave 20 rows wrong. But the second has finished a
# quarter of them for good, and only the first needs work on both sides. Gini and entropy are strictly concave and see
# it; the error is straight and does not.
#
# Greedy growth
# -------------
#
# To find the best split, sort each column and move the threshold past one row after the other: one count goes from
# right to left, and the impurity follows in :math:`O(c)`. So a node of :math:`n` rows and :math:`d` columns takes
# :math:`O(nd\, (\log n + c))` instead of :math:`O(n^2 d c)`. The best split is made, and the same is done in both
# halves, until leaves are pure or a limit is met: ``max_depth``, ``min_samples_leaf``, ``max_leaf_nodes`` (then the
# most valuable split anywhere comes first), ``min_impurity_decrease``, or ``min_significance``, a test of whether
# chance could have made the split.

from learnt.datasets import load_iris
from learnt.tree import DecisionTreeClassifier

iris = load_iris()
petal, kind = iris.data[:, 2], iris.target
cuts = (np.unique(petal)[1:] + np.unique(petal)[:-1]) / 2
count = [tuple(tuple(np.bincount(kind[s], minlength=3).tolist()) for s in (petal <= t, petal > t)) for t in cuts]
gains = [float(goodness(gini, *sides)) for sides in count]
stump = DecisionTreeClassifier(max_depth=1).fit(petal[:, None], kind)
assert abs(stump.tree_.threshold[0] - cuts[int(np.argmax(gains))]) < 1e-6  # the sweep by hand finds its threshold

p = np.linspace(1e-9, 1 - 1e-9, 300)
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
axes[0].plot(p, 2 * p * (1 - p), color="#0072b2", label="Gini")
axes[0].plot(p, -(p * np.log2(p) + (1 - p) * np.log2(1 - p)) / 2, color="#d55e00", label="entropy / 2")
axes[0].plot(p, np.minimum(p, 1 - p), color="#009e73", label="error")
axes[0].set(xlabel="share of the first class", ylabel="impurity")
axes[0].legend(frameon=False)
axes[1].plot(cuts, gains, ".-", color="#0072b2")
axes[1].set(xlabel="threshold on the length of the petal (cm)", ylabel="goodness by Gini")
plt.show()

# %%
# The tree can be drawn (`plot_tree`), printed (`export_text`), and asked for the reasons of one row (`explain`). Here
# for the package's own table: was a delivery late?

import pandas as pd

from learnt.study import example_path
from learnt.tree import plot_tree

deliveries = pd.read_csv(example_path())
known = deliveries[["district", "vehicle", "distance_km", "items", "kitchen_queue", "rain_mm", "courier_months"]]
courier = DecisionTreeClassifier(max_leaf_nodes=7, random_state=0).fit(known[:1500], deliveries["late"][:1500])
print(f"{courier.score(known[1500:], deliveries['late'][1500:]):.0%} of the later deliveries are judged rightly")
print(courier.explain(known.iloc[3], class_names=["in time", "late"]))
plot_tree(courier, class_names=["in time", "late"])

# %%
# Where no single split helps
# ---------------------------
#
# Growth is greedy: each split is the best for the moment. In the exclusive or, :math:`y = 1` where exactly one of two
# columns is 1, either column alone has half of each class on both sides. Every first split has goodness 0, and two
# levels solve it. So a tree must be let to take splits that gain nothing; a limit on the gain stops it at the root.

square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
exclusive = square[:, 0] ^ square[:, 1]
assert goodness(gini, (10, 10), (10, 10)) == 0
assert DecisionTreeClassifier().fit(square, exclusive).score(square, exclusive) == 1
assert DecisionTreeClassifier(min_impurity_decrease=1e-6).fit(square, exclusive).get_depth() == 0

rng = np.random.default_rng(0)


def signs(n):
    """Ten columns; the label is whether the first two have the same sign."""
    columns = rng.uniform(-1, 1, size=(n, 10))
    return columns, (columns[:, 0] * columns[:, 1] > 0).astype(int)


(x, y), (x_new, y_new) = signs(400), signs(2000)
for name, add in (("as it is", lambda z: z), ("with a product", lambda z: np.column_stack([z, z[:, 0] * z[:, 1]]))):
    model = DecisionTreeClassifier(random_state=0).fit(add(x), y)
    print(f"{name:15} {model.get_n_leaves():3} leaves, {model.score(add(x_new), y_new):.0%} right")

# %%
# Among columns that say nothing the first cuts are drawn by chance, and 400 rows are spent before the right one comes
# up. One column that shows the interaction makes it a single question. The same holds for slanted boundaries, which
# become staircases: a tree takes the columns as they are.
#
# Pruning
# -------
#
# A tree that grows until its leaves are pure learns the noise too. To stop early is risky, as the exclusive or shows.
# So one grows fully and cuts back. *Cost-complexity* pruning charges :math:`\alpha` for each leaf and minimises
# :math:`R(T) + \alpha\, |T|`, with :math:`R` the impurity left in the leaves, weighted by their share of the rows. A
# node :math:`t` with the subtree :math:`T_t` becomes a leaf when
#
# .. math::
#
#    \alpha \ge \frac{R(t) - R(T_t)}{|T_t| - 1} .
#
# As :math:`\alpha` grows the weakest link goes first, and each tree is part of the one before: a path, from which
# cross-validation chooses. *Reduced-error* pruning (`prune`) needs no price: it makes a leaf of each subtree that
# does not do better on validation rows. A disc with 15% of its labels wrong:

from learnt.model_selection import train_test_split
from learnt.tree import prune

disc = rng.uniform(-1, 1, size=(3000, 2))
inside = (disc**2).sum(axis=1) < 0.5
noisy = np.where(rng.uniform(size=3000) < 0.15, ~inside, inside)
x, x_rest, y, y_rest = train_test_split(disc, noisy, train_size=600, random_state=0)
x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, train_size=300, random_state=0)
full = DecisionTreeClassifier(random_state=0).fit(x, y)
alphas = np.unique(full.cost_complexity_pruning_path(x, y).ccp_alphas)[:-1]
path = [DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(x, y) for alpha in alphas]
leaves = [model.get_n_leaves() for model in path]
chosen = path[int(np.argmax([model.score(x_val, y_val) for model in path]))]
reduced = prune(full, x_val, y_val)
for name, model in (("full", full), ("cost-complexity", chosen), ("reduced-error", reduced)):
    print(f"{name:16} {model.get_n_leaves():3} leaves, wrong on {1 - model.score(x_test, y_test):.1%} of new rows")
assert chosen.score(x_test, y_test) > full.score(x_test, y_test) + 0.04

side = np.linspace(-1, 1, 150)
mesh = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained")
axes[0].plot(leaves, [1 - model.score(x, y) for model in path], color="#0072b2", label="training rows")
axes[0].plot(leaves, [1 - model.score(x_test, y_test) for model in path], color="#d55e00", label="new rows")
axes[0].axhline(0.15, color="#555555", linestyle=":", label="Bayes error")
axes[0].set(xlabel="leaves", ylabel="share wrong", xscale="log")
axes[0].legend(frameon=False, fontsize="small")
for ax, model, name in ((axes[1], full, "full"), (axes[2], chosen, "pruned")):
    ax.contourf(
        side, side, model.predict(mesh).reshape(150, 150), levels=[-0.5, 0.5, 1.5], colors=["#dbe9f6", "#fbe3d3"]
    )
    ax.add_patch(plt.Circle((0, 0), 0.5**0.5, fill=False, linestyle="--"))
    ax.set(
        title=f"{name}: {model.get_n_leaves()} leaves", xlabel="first column", ylabel="second column", aspect="equal"
    )
plt.show()

# %%
# Categories and gaps
# -------------------
#
# A column of :math:`m` categories can be cut in :math:`2^{m-1} - 1` ways. With two classes it is enough to sort the
# categories by their share of one class and to cut that order: the best of all divisions is among them.
# ``categorical_split="multiway"`` makes one branch each instead (ID3). Text columns of a data frame are taken as
# categories.
#
# Where a value is missing, ``missing="direction"`` has learnt from training rows with gaps on which side such rows do
# better. ``missing="surrogate"`` asks another column: that whose split sends most other rows the same way, and then
# the next. It works for gaps that were never seen before, if columns repeat each other. Two thermometers and a column
# of noise:

warm = rng.normal(size=600)
readings = np.column_stack([warm, warm + rng.normal(0, 0.3, 600), rng.normal(size=600)])
state = np.where(warm > 0, "thaw", "frost")
broken = readings.copy()
broken[:, 0] = np.nan
for missing in ("direction", "surrogate"):
    model = DecisionTreeClassifier(max_depth=2, missing=missing, random_state=0).fit(readings[:300], state[:300])
    print(f"{missing}: {model.score(broken[300:], state[300:]):.0%} right after the first thermometer broke")
best_surrogate = model.tree_.surrogates.of(0)[0]
assert best_surrogate["feature"] == 1
assert best_surrogate["agreement"] > 0.8
assert model.score(broken[300:], state[300:]) > 0.85

# %%
# Numbers in the leaves
# ---------------------
#
# A regression tree is the same with the squared error: a leaf predicts the mean of its rows, which is the best
# constant, and a split minimises the sum of both sides' squared errors. The result is a staircase.
# `ModelTreeRegressor` fits a line in each leaf; if the truth is made of lines, it comes back exactly (by one leaf too
# many here: the first cut, being greedy, falls between the corners). On the right, what another sample does to each:
# ten tables from the same source.

from learnt.diagnosis import bias_variance
from learnt.tree import DecisionTreeRegressor, ModelTreeRegressor


def roof(z):
    """Piecewise linear, with corners at 0.3 and 0.7."""
    return np.interp(z[:, 0], [0, 0.3, 0.7, 1], [0, 1, 0.4, 1.2])


def table(generator, n=150):
    """The roof with noise."""
    z = generator.uniform(size=(n, 1))
    return z, roof(z) + generator.normal(scale=0.15, size=n)


exact = np.linspace(0, 1, 201)[:, None]
model_tree = ModelTreeRegressor().fit(exact, roof(exact))
print(f"a roof of three lines: {model_tree.tree_.n_leaves} leaves, exact")
assert np.allclose(model_tree.predict(exact), roof(exact))

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained", sharey=True)
kinds = {
    "full tree": DecisionTreeRegressor(random_state=0),
    "8 leaves": DecisionTreeRegressor(max_leaf_nodes=8, random_state=0),
    "model tree": ModelTreeRegressor(min_samples_leaf=15),
}
rows, targets = table(rng, 200)
for ax, (name, model) in zip(axes, kinds.items(), strict=True):
    for seed in range(10):
        ax.plot(exact, model.fit(*table(np.random.default_rng(seed))).predict(exact), color="#0072b2", linewidth=0.5)
    ax.plot(exact, roof(exact), color="#d55e00", linewidth=2)
    ax.set(title=name, xlabel="x")
    parts = bias_variance(model, rows, targets, truth=roof, draw=table, n_sets=30)
    print(f"{name:10} squared bias {parts.bias[0]:.4f}, variance {parts.variance[0]:.4f}")
axes[0].set_ylabel("prediction")
plt.show()

# %%
# A full tree has almost no bias and passes the noise on. Few leaves calm it, for a bias; lines in the leaves fit this
# truth better with less of both. The last way, the mean of many trees, is the next chapter.
#
# What goes wrong
# ---------------
#
# - **A full tree by default.** Without a limit, leaves are pure and probabilities are 0 and 1. Set
#   ``min_samples_leaf`` or ``ccp_alpha`` by cross-validation.
# - **Reading too much into one tree.** Change a few rows and the root may change. Grow it on two halves of the table;
#   believe what both say.
# - **Importances favour columns with many values**, which have many thresholds to try, and are counted on training
#   rows. Use `permutation_importance` on rows left out.
# - **No extrapolation.** Beyond the last threshold a tree is constant: no trend goes on. Model the trend first, or
#   take linear leaves.
# - **Slanted boundaries and interactions** need many splits: add a difference, a ratio or a product as a column.
# - **Categories as numbers** are cut by their order. Name them in ``categorical_features``.
#
# Exercises
# ---------
#
# 1. 8 rows of class a and 8 of class b are split into 6:2 and 2:6. What is the goodness by Gini, by entropy and by
#    the error?
# 2. From which :math:`\alpha` on is the tree of the exclusive or a single leaf, and why are there only two trees on
#    its path?
# 3. Show that for labels 0 and 1 a regression tree by squared error is the classification tree by Gini.
#
# Solutions
# ---------
#
# 1. :math:`\frac{1}{2} - \frac{3}{8} = \frac{1}{8}`; :math:`1 - 0.811 = 0.189` bits;
#    :math:`\frac{1}{2} - \frac{1}{4} = \frac{1}{4}`.

sides = (6, 2), (2, 6)
assert goodness(gini, *sides) == Fraction(1, 8)
assert goodness(wrong, *sides) == Fraction(1, 4)
assert round(1 + 0.75 * np.log2(0.75) + 0.25 * np.log2(0.25), 3) == 0.189

# %%
# 2. The root has :math:`R = \frac{1}{2}`, the four leaves 0: :math:`\alpha = \frac{1}{2} / 3 = \frac{1}{6}`. The
#    inner nodes are worth :math:`\frac{1}{4} / 1`, more than the whole: the root is the weakest link, and all falls
#    at once.

steps = DecisionTreeClassifier().fit(square, exclusive).cost_complexity_pruning_path(square, exclusive)
assert np.allclose(steps.ccp_alphas, [0, 1 / 6])
assert np.allclose(steps.impurities, [0, 1 / 2])

# %%
# 3. The mean of 0 and 1 is :math:`p`, the mean squared deviation :math:`p (1 - p)`: half of Gini, for every node.
#    Splits and leaves are the same, and the prediction is the probability.

as_class = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(x, y)
as_number = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(x, y.astype(float))
assert np.allclose(as_class.predict_proba(mesh)[:, 1], as_number.predict(mesh))
assert np.allclose(as_class.tree_.impurity, 2 * as_number.tree_.impurity)

# %%
# Next: many trees, and what they agree on.
