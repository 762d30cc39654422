r"""
The floor and the ceiling
=========================

A model is wrong on 8 rows of 100. Is that good? Two numbers answer, and both can be had before any model is fitted.
The *best constant* ignores the features; whatever does not beat it has learned nothing. The *Bayes error* is that of
the best possible rule; nothing beats it, however long it is tuned. This chapter makes the two precise, and shows how
the second, which needs the unknown :math:`P(x, y)`, is bracketed from the rows alone.
"""

# %%
# The floor: the prior rule
# -------------------------
#
# Before anything is measured, all that is known of the :math:`c` classes is how often they occur, the *prior*
# probabilities :math:`P(y = k) = \pi_k`. A rule that always says :math:`k` is right with probability :math:`\pi_k`.
# So the best one names the most common class:
#
# .. math::
#
#    \hat{k} = \argmax_k \pi_k, \qquad \text{success rate } \pi_{\hat{k}}, \qquad \text{error rate } 1 - \max_k \pi_k .
#
# The constant depends on the loss, and so does the floor. For a probability :math:`q_k` of each class and the log
# loss :math:`-\log q_y`, add a multiplier for :math:`\sum_k q_k = 1` and set the slope to zero:
#
# .. math::
#
#    \frac{\partial}{\partial q_k} \left[ -\sum_j \pi_j \log q_j + \mu \left( \sum_j q_j - 1 \right) \right]
#    = -\frac{\pi_k}{q_k} + \mu = 0 \iff q_k = \pi_k .
#
# The best constant probabilities are the priors, and the floor is the *entropy* :math:`-\sum_k \pi_k \log \pi_k`.
# `ConstantClassifier` gives both.

import matplotlib.pyplot as plt
import numpy as np

from learnt.baseline import ConstantClassifier
from learnt.datasets import load_breast_cancer, load_digits, load_wine
from learnt.metrics import log_loss, zero_one_loss
from learnt.neighbors import KNeighborsClassifier

X, y = load_wine(return_X_y=True)
prior = np.bincount(y) / len(y)
floor = ConstantClassifier().fit(X, y)
assert abs(zero_one_loss(y, floor.predict(X)) - (1 - prior.max())) < 1e-12
assert abs(log_loss(y, floor.predict_proba(X)) + prior @ np.log(prior)) < 1e-12

everybody = KNeighborsClassifier(n_neighbors=len(y)).fit(X, y)  # all rows vote, near or far
assert (everybody.predict(X) == floor.predict(X)).all()
print(f"wine: the floor is an error of {1 - prior.max():.0%}, or a log loss of {-prior @ np.log(prior):.2f}")

# %%
# So the best constant is a nearest-neighbour vote of *all* rows.
#
# The ceiling: the Bayes classifier
# ---------------------------------
#
# Now :math:`x` is seen, and somebody knows :math:`P(y \mid x)`. At each :math:`x` the situation is the one above,
# with posterior probabilities in place of priors, so the best answer is the most probable class, and the error is the
# mean of what is left:
#
# .. math::
#
#    h^*(x) = \argmax_k P(k \mid x), \qquad
#    p^*(x) = 1 - \max_k P(k \mid x), \qquad
#    p^* = \mathbb{E}_x\, p^*(x) = \int p^*(x)\, p(x)\, dx .
#
# Every other rule is at least as wrong at *every* :math:`x`. What is left is due to what :math:`x` does not say:
# noise in the measurement, missing columns, chance. A better model does not help against it; a better column does.
#
# With two classes and Bayes' rule, take logarithms of the two posteriors; :math:`p(x)` cancels:
#
# .. math::
#
#    h^*(x) = 1 \iff \log \frac{p(x \mid 1)}{p(x \mid 0)} + \log \frac{\pi_1}{\pi_0} \ge 0 .
#
# Evidence and prior belief are added up, in the currency of log-odds. With equal priors the second term is 0, and the
# rule is that of *maximum likelihood*: the class that makes :math:`x` most probable. The pens of the last chapter:

from learnt.bayes import BayesClassifier, bayes_rule

likelihood = np.array([[5 / 7, 2 / 7], [2 / 7, 5 / 7]])  # rows: marker, ball pen; columns: red, blue
pens = bayes_rule([1 / 2, 1 / 2], likelihood)
assert pens.argmax(axis=1).tolist() == [0, 1]  # a marker is red, a ball pen blue
share = likelihood @ [1 / 2, 1 / 2]  # how often each kind of pen is drawn
assert abs(share @ (1 - pens.max(axis=1)) - 2 / 7) < 1e-12

rare = bayes_rule([1 / 10, 9 / 10], likelihood)  # one pen of ten is red
assert rare.argmax(axis=1).tolist() == [1, 1]  # blue, whatever the pen

# %%
# With equal priors the kind of pen brings the error from 1/2 down to 2/7. With one red pen in ten the prior wins: the
# Bayes rule *is* the constant, and its error, 1/10, the floor. A useless column and a useful one that is not strong
# enough look alike to the zero-one loss; probabilities show the difference.
#
# The nearest neighbour comes close
# ---------------------------------
#
# The Bayes error needs :math:`P(y \mid x)`, which nobody has. But a row next to :math:`x` has a label drawn from
# nearly the same distribution. The *nearest-neighbour rule* copies it. With infinitely many rows and a continuous
# density the neighbour is at :math:`x` itself: a ball around :math:`x` of any radius holds a share :math:`q > 0` of
# the rows, and the probability :math:`(1 - q)^n` that none of :math:`n` rows is in it goes to 0. The label and its
# copy are then two independent draws from :math:`P(\cdot \mid x)`, and differ with probability
#
# .. math::
#
#    p_\infty(x) = 1 - \sum_k P(k \mid x)^2 ,
#
# the *Gini impurity* at :math:`x`; trees will use the same quantity. How much worse is this than :math:`p^*(x)`?
# Write :math:`e = p^*(x)`. The most probable class has the probability :math:`1 - e`, and the others share :math:`e`.
# The sum of squares is smallest when they share it equally, :math:`e / (c - 1)` each, so
#
# .. math::
#
#    \sum_k P(k \mid x)^2 \ge (1 - e)^2 + \frac{e^2}{c - 1}
#    = 1 - 2 e + \frac{c}{c - 1} e^2 ,
#    \qquad p_\infty(x) \le 2 e - \frac{c}{c - 1} e^2 .
#
# On average over :math:`x` the square of :math:`e` is at least the square of its mean, because a variance is never
# negative. This gives the result of Cover and Hart:
#
# .. math::
#
#    p^* \le p_\infty \le p^* \left( 2 - \frac{c}{c - 1}\, p^* \right) .
#
# No data: :math:`p^* = 0` gives 0, both sides. No information: :math:`p^* = (c - 1)/c`, both sides again. Between,
# the nearest neighbour makes at most twice as many mistakes as the best possible rule. In this sense half of the
# information about a label is in the nearest row.
#
# The example of the notes, by hand
# ---------------------------------
#
# Two equally frequent classes on :math:`[0, 1]` with :math:`p(x \mid 0) = 2 - 2x` and :math:`p(x \mid 1) = 2x` have
# :math:`P(1 \mid x) = x` and the Bayes error 1/4. The nearest neighbour of infinitely many rows is wrong with
# probability
#
# .. math::
#
#    p_\infty = \int_0^1 \left( 1 - x^2 - (1 - x)^2 \right) dx = 2 \int_0^1 x (1 - x)\, dx = \tfrac{1}{3} ,
#    \qquad \tfrac{1}{4} \le \tfrac{1}{3} \le \tfrac{1}{4} \left( 2 - 2 \cdot \tfrac{1}{4} \right) = \tfrac{3}{8} .
#
# With one row of each class it was 7/20. In between we draw :math:`m` rows a class, many times, and average the exact
# errors of the rules. One neighbour stops at a third. A number of neighbours that grows, but more slowly than the
# rows (here :math:`\sqrt{n}`, made odd), goes on to a quarter: such a rule is called *consistent*.

grid = (np.arange(500) + 0.5) / 500
known = BayesClassifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]))
assert abs(known.error(grid[:, None]) - 1 / 4) < 1e-12
assert abs(np.mean(1 - grid**2 - (1 - grid) ** 2) - 1 / 3) < 1e-5

rng = np.random.default_rng(0)


def draw(m):
    """m rows of either class, by the inverse of their distribution functions."""
    x0, x1 = 1 - np.sqrt(rng.uniform(size=m)), np.sqrt(rng.uniform(size=m))
    return np.concatenate([x0, x1])[:, None], np.repeat([0, 1], m)


def one_neighbor(m):
    """The exact error of one nearest neighbour: on a line it changes its mind midway between two rows."""
    x, y = draw(m)
    order = np.argsort(x[:, 0])
    says = y[order][np.searchsorted((x[order[1:], 0] + x[order[:-1], 0]) / 2, grid)]
    return np.where(says == 1, 1 - grid, grid).mean()


def root_neighbors(m):
    model = KNeighborsClassifier(2 * int(np.sqrt(2 * m) / 2) + 1).fit(*draw(m))
    return np.where(model.predict(grid[:, None]) == 1, 1 - grid, grid).mean()


sizes = [1, 3, 10, 30, 100, 300, 1000, 3000]
one = [np.mean([one_neighbor(m) for _ in range(4000 if m < 30 else 200)]) for m in sizes]
growing = [np.mean([root_neighbors(m) for _ in range(20)]) for m in sizes[1:]]
print(f"one row a class {one[0]:.3f}, many rows {one[-1]:.3f}; √n neighbours of many rows {growing[-1]:.3f}")
assert abs(one[0] - 7 / 20) < 0.015
assert abs(one[-1] - 1 / 3) < 0.015
assert abs(growing[-1] - 1 / 4) < 0.015

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for c, color in ((2, "#0072b2"), (10, "#d55e00")):
    best = np.linspace(0, (c - 1) / c, 100)
    left.fill_between(best, best, best * (2 - c / (c - 1) * best), color=color, alpha=0.25, label=f"c = {c}")
left.plot([0, 0.45], [0, 0.9], color="#555555", linewidth=1, linestyle=":", label="twice p*")
left.plot(1 / 4, 1 / 3, "o", color="black", label="the example")
left.set(xlabel="Bayes error p*", ylabel="nearest neighbour p∞")
left.legend(frameon=False)
right.semilogx(sizes, one, "o-", color="#0072b2", label="one neighbour")
right.semilogx(sizes[1:], growing, "s-", color="#009e73", label="√n neighbours")
for value in (1 / 3, 1 / 4):
    right.axhline(value, color="#555555", linewidth=1, linestyle=":")
right.set(xlabel="rows of each class", ylabel="error")
right.legend(frameon=False)
plt.show()

# %%
# Reading it backwards
# --------------------
#
# The error :math:`R` of the nearest neighbour can be counted, each row in turn being predicted from the others. Solve
# the right side of the bracket for :math:`p^*`, with :math:`r = (c - 1)/c`:
#
# .. math::
#
#    r \left( 1 - \sqrt{1 - R / r} \right) \le p^* \le R .
#
# That is `learnt.diagnosis.bayes_error_bounds`. ``low`` and ``high`` are an interval around the bracket that allows
# for chance and for neighbours that are far away.

from learnt.diagnosis import bayes_error_bounds, cover_hart_lower
from learnt.preprocessing import StandardScaler

assert abs(cover_hart_lower(3 / 8, 2) - 1 / 4) < 1e-12  # the bracket's right end leads back to p* = 1/4

bounds = bayes_error_bounds(*draw(2000))
print(f"the example: bracket {bounds.lower:.3f} to {bounds.upper:.3f}, interval {bounds.low:.3f} to {bounds.high:.3f}")
assert bounds.low < 1 / 4 < bounds.high

for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer), ("digits", load_digits)):
    X, y = load(return_X_y=True)
    found = bayes_error_bounds(StandardScaler().fit_transform(X) if name != "digits" else X, y)
    worst = 1 - np.bincount(y).max() / len(y)
    print(f"{name:14} floor {worst:.1%}, bracket {found.lower:.1%} to {found.upper:.1%}, at most {found.high:.1%}")
    assert found.lower < 0.05 < worst

# %%
# All three are problems where little is left to chance. For a numeric target `noise_bounds` brackets the variance of
# the noise.
#
# What goes wrong
# ---------------
#
# - **Many columns.** "Infinitely many rows" means that the neighbour is near. Add columns of pure noise to the
#   example: the Bayes error stays 1/4, but neighbours in many dimensions are no longer alike, :math:`R` goes to 1/2,
#   and ``lower`` with it. A ``lower`` of 0.3 would then "prove" that a quarter is out of reach. ``low`` takes the
#   distance into account and falls to 0: nothing is known. Look at ``low``, and at `learnt.diagnosis.dimensionality`,
#   before you give up.

columns = [0, 1, 2, 3, 5, 10, 20, 50]
x, y = draw(1000)
noise = rng.uniform(size=(len(y), max(columns)))
brackets = [bayes_error_bounds(np.hstack([x, noise[:, :d]]), y) for d in columns]
assert brackets[0].low < 1 / 4 < brackets[0].high
assert brackets[-1].lower > 1 / 4 > brackets[-1].low == 0

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
places = np.arange(len(columns))
for name, color, marker in (("upper", "#0072b2", "o"), ("lower", "#d55e00", "s"), ("low", "#009e73", "^")):
    ax.plot(places, [getattr(b, name) for b in brackets], marker + "-", color=color, label=name)
ax.axhline(1 / 4, color="#555555", linewidth=1, linestyle=":", label="Bayes error")
ax.set(xlabel="columns of noise", ylabel="error", xticks=places, xticklabels=columns)
ax.legend(frameon=False, ncols=2)
plt.show()

# %%
# - **Columns in different units.** Neighbours are found by Euclidean distance, so the column with the largest numbers
#   decides alone. Scale first (`StandardScaler`), as above.
# - **The same row twice.** A copy is its own nearest neighbour, with the same label. :math:`R` is then 0, and
#   everything looks possible. Drop duplicates before you measure.

assert bayes_error_bounds(np.vstack([x, x]), np.concatenate([y, y])).upper == 0

# %%
# - **The floor moves.** Priors of the training rows are not those of tomorrow where rows were collected class by
#   class. Give the constant and the model the same ``sample_weight``.
# - **A ceiling for these columns, not for the task.** A model at the Bayes error gains from new columns only.
#
# A study (``learnt study data.csv --target y``) measures both numbers before it fits anything.
#
# Exercises
# ---------
#
# 1. What is the Bayes error of the pens if a share :math:`\pi` of them is red? For which :math:`\pi` is the kind of
#    pen of no use to the zero-one loss?
# 2. What are the smallest expected log loss and the smallest expected squared error of a probability in the example
#    with :math:`P(1 \mid x) = x`? What are the floors?
# 3. Replace each label of the digits by one of the nine others, with probability 0.2. What should the nearest
#    neighbour's error become, and what do the bounds say?
#
# Solutions
# ---------
#
# 1. The Bayes rule errs on the less probable pair of each row of the table: on a marker with
#    :math:`\min(\tfrac{5}{7} \pi, \tfrac{2}{7} (1 - \pi))`, on a ball pen with
#    :math:`\min(\tfrac{2}{7} \pi, \tfrac{5}{7} (1 - \pi))`. The sum is :math:`\min(\pi, 1 - \pi, \tfrac{2}{7})`: the
#    floor itself below 2/7 and above 5/7.

for red in np.linspace(0.01, 0.99, 99):
    assert abs((likelihood * [red, 1 - red]).min(axis=1).sum() - min(red, 1 - red, 2 / 7)) < 1e-12

# %%
# 2. The best probability is :math:`x`. Its log loss is
#    :math:`-\int_0^1 x \log x + (1 - x) \log (1 - x)\, dx = \tfrac{1}{2}`, its squared error
#    :math:`\int_0^1 x (1 - x)\, dx = \tfrac{1}{6}`. The constant 1/2 has :math:`\log 2 = 0.693` and 1/4.

assert abs(-np.mean(grid * np.log(grid) + (1 - grid) * np.log(1 - grid)) - 1 / 2) < 1e-4
assert abs(np.mean(grid * (1 - grid)) - 1 / 6) < 1e-4

# %%
# 3. Without noise the digits have nearly no error. With it :math:`p^*(x) = 0.2` everywhere and the other nine classes
#    share it equally: that is the case of equality, :math:`p_\infty = 0.2\, (2 - \tfrac{10}{9}\, 0.2) = 0.356`, and
#    the lower bound should come out at 0.2, give or take chance.

X, y = load_digits(return_X_y=True)
changed = np.where(rng.uniform(size=len(y)) < 0.2, (y + rng.integers(1, 10, size=len(y))) % 10, y)
noisy = bayes_error_bounds(X, changed)
print(f"noisy digits: nearest neighbour {noisy.nearest_neighbor_error:.3f}, lower bound {noisy.lower:.3f}")
assert abs(noisy.nearest_neighbor_error - 0.356) < 0.04
assert abs(noisy.lower - 0.2) < 0.03

# %%
# Next: the best-known model of all, and every way to compute it: least squares.
