r"""
Setting up a problem, and its losses
====================================

Someone gives you rows: what is known of a thing, :math:`x`, and what was wanted of it, :math:`y`. Learning is to find
a function :math:`h` for rows that nobody has seen yet. Before any method there are four questions, and a careful
answer to them is worth more than most methods: what is predicted, what does a mistake cost, how good is no model at
all, and how good could the best one be?
"""

# %%
# Rows, labels, and where they come from
# --------------------------------------
#
# The data are :math:`D = \{(x_1, y_1), \dots, (x_n, y_n)\}`, with :math:`x_i \in \mathbb{R}^d` and :math:`y_i` in a
# set of labels: two of them (binary classification, written :math:`\{0, 1\}` or :math:`\{-1, +1\}`), :math:`k` of
# them (multi-class), or any number (regression). A patient is a vector of sex, age and height; a text is a vector
# with a count for every word, nearly all of them 0; a picture of 7 million pixels has 21 million numbers, hardly any
# of them 0.
#
# One assumption carries everything: the rows that we have and those that will come are drawn independently from the
# *same* distribution :math:`P(x, y)`, which nobody knows. Where it does not hold (last year's customers, another
# hospital) no theorem and no score on old rows helps.
#
# Three losses
# ------------
#
# A loss says how bad a prediction is: never negative, and lower is better. Over a data set it is a mean:
#
# .. math::
#
#    \text{zero-one loss} &= \frac1n \sum_i \mathbb{1}[h(x_i) \neq y_i] \\
#    \text{squared loss} &= \frac1n \sum_i (h(x_i) - y_i)^2 \\
#    \text{absolute loss} &= \frac1n \sum_i |h(x_i) - y_i|

import matplotlib.pyplot as plt
import numpy as np

from learnt.metrics import mean_absolute_error, mean_squared_error, zero_one_loss

assert zero_one_loss([1, 0, 1, 1], [1, 1, 1, 0]) == 2 / 4
assert mean_squared_error([3.0, 1.0, 8.0], [2.0, 1.0, 5.0]) == (1 + 0 + 9) / 3
assert mean_absolute_error([3.0, 1.0, 8.0], [2.0, 1.0, 5.0]) == (1 + 0 + 3) / 3

# %%
# The choice matters as soon as predictions cannot be right. A mistake of 10 counts a hundred times as much as one of
# 1 by the squared loss and ten times as much by the absolute one. What is best for each follows from the slope in a
# constant :math:`c`:
#
# .. math::
#
#    \frac{d}{dc} \sum_i (y_i - c)^2 = -2 \sum_i (y_i - c) = 0
#    &\iff c = \frac1n \sum_i y_i \quad \text{(the mean)} \\
#    \frac{d}{dc} \sum_i |y_i - c| = \#\{y_i < c\} - \#\{y_i > c\} = 0
#    &\iff c \text{ is a median.}
#
# For labels the constant that is wrong least often is the most common one. These are the *best constant predictors*,
# and the first models that anybody should fit: `ConstantRegressor` and `ConstantClassifier`.

from learnt.baseline import ConstantClassifier, ConstantRegressor

waiting = np.array([2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 40.0])  # minutes; somebody was forgotten
nothing = np.zeros((len(waiting), 0))  # no features at all
mean = ConstantRegressor(strategy="mean").fit(nothing, waiting).predict(nothing)[0]
median = ConstantRegressor(strategy="median").fit(nothing, waiting).predict(nothing)[0]
assert mean == waiting.mean() == 9.0
assert median == 4.0

grid = np.linspace(0, 20, 401)
squared = [mean_squared_error(waiting, np.full(len(waiting), c)) for c in grid]
absolute = [mean_absolute_error(waiting, np.full(len(waiting), c)) for c in grid]
assert grid[np.argmin(squared)] == mean
assert abs(grid[np.argmin(absolute)] - median) < 1e-12

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, loss, name, best in zip(axes, (squared, absolute), ("squared", "absolute"), (mean, median), strict=True):
    ax.plot(grid, loss, color="#0072b2")
    ax.axvline(best, color="#d55e00", linestyle="--")
    ax.set(xlabel="the constant c", ylabel=f"mean {name} loss", title=f"least at {best:g} minutes")
plt.show()

# %%
# One forgotten patient moves the mean from 3.8 to 9 and the median from 3.5 to 4. Neither is wrong. A bill is a sum, so
# its forecast is about the mean; a patient who asks how long it takes wants the median.
#
# What we want, and what we can measure
# -------------------------------------
#
# The goal is not a small loss on :math:`D` but a small *expected* loss on a new row,
#
# .. math::
#
#    \mathbb{E}_{(x, y) \sim P}\, \ell(h(x), y),
#    \qquad \text{best possible: } h^* = \argmin_h \mathbb{E}\, \ell(h(x), y).
#
# It cannot be computed without :math:`P`, but the mean over rows that played no part in choosing :math:`h` converges
# to it by the law of large numbers. Hence the split into training rows, validation rows (to choose among models) and
# test rows (to judge the chosen one, *once*). Rows are shuffled where they are independent, and cut by time where
# time matters.

from learnt.model_selection import SealedTestSet, train_validation_test_split

rng = np.random.default_rng(0)
x = rng.uniform(size=(4000, 1))
y = (rng.uniform(size=4000) < x[:, 0]).astype(int)  # P(y = 1 | x) = x
x_train, x_val, x_test, y_train, y_val, y_test = train_validation_test_split(x, y, random_state=0)
test = SealedTestSet(x_test, y_test)  # hands its rows out once, and keeps a log

floor = ConstantClassifier().fit(x_train, y_train)
print(f"training rows {len(y_train)}, validation {len(y_val)}, {test}")
print(f"the best constant is wrong on {zero_one_loss(y_val, floor.predict(x_val)):.0%} of the validation rows")

# %%
# The best that is possible
# -------------------------
#
# If :math:`P(y \mid x)` were known, the decision that is wrong least often would be the most probable label, and its
# error at :math:`x` would be :math:`1 - \max_y P(y \mid x)`. No method does better on average: this is the *Bayes
# error*, the ceiling as the best constant is the floor. Bayes' rule gives the posterior from what is often known
# instead, the distribution of features within each class:
#
# .. math::
#
#    P(y \mid x) = \frac{p(x \mid y)\, P(y)}{\sum_{y'} p(x \mid y')\, P(y')}
#
# Half of the pens in a box are red. Of the red ones 2 in 7 are ball pens, of the blue ones 5 in 7. It is a ball pen:

from learnt.bayes import BayesClassifier, bayes_optimal, bayes_rule

red, blue = bayes_rule([1 / 2, 1 / 2], [2 / 7, 5 / 7])
assert abs(red - 2 / 7) < 1e-12
assert abs(blue - 5 / 7) < 1e-12

# %%
# A case that can be worked through by hand: two classes, equally frequent, with the densities :math:`p(x \mid 0) = 2
# - 2x` and :math:`p(x \mid 1) = 2x` on :math:`[0, 1]`. Then :math:`p(x) = 1` and :math:`P(1 \mid x) = x`, which is
# how the rows above were drawn. The rule "1 if :math:`x > t`" is wrong with probability
#
# .. math::
#
#    \int_0^t x\, dx + \int_t^1 (1 - x)\, dx = t^2 - t + \tfrac12 = \left(t - \tfrac12\right)^2 + \tfrac14 ,
#
# the opposite rule with 1 minus that, :math:`\tfrac34 - (t - \tfrac12)^2`. So the best threshold is a half, and even
# it is wrong on one row of four: a perfect score here would be a sign of a leak.

known = BayesClassifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]))
middle = (np.arange(1000)[:, None] + 0.5) / 1000  # the midpoints of 1000 equal cells stand for p(x) = 1
assert abs(known.error(middle) - 1 / 4) < 1e-12

thresholds = np.linspace(0, 1, 41)
formula = (thresholds - 1 / 2) ** 2 + 1 / 4
measured = [zero_one_loss(y, (x[:, 0] > t).astype(int)) for t in thresholds]
assert np.abs(formula - measured).max() < 0.03

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(thresholds, formula, color="#0072b2", label="(t − ½)² + ¼")
ax.plot(thresholds, measured, ".", color="#d55e00", label="counted on 4000 rows")
ax.axhline(1 / 4, color="#555555", linewidth=1, linestyle=":", label="Bayes error")
ax.set(xlabel="threshold t", ylabel="zero-one loss", ylim=(0.2, 0.55))
ax.legend(frameon=False)
plt.show()

# %%
# The most probable hypothesis is not the most probable answer. Let the data leave three hypotheses with the
# probabilities 0.4, 0.3 and 0.3. The first is the maximum a posteriori, and says +1; the other two say −1. A vote
# weighted by belief, :math:`\argmax_y \sum_h P(y \mid h) P(h \mid D)`, says −1 with probability 0.6. It is hopeless
# to compute over all hypotheses, and the reason why ensembles of models so often win.

vote = bayes_optimal([+1, -1, -1], [0.4, 0.3, 0.3])
assert vote.label == -1
assert abs(vote.probability - 0.6) < 1e-12

# %%
# A model is judged between the two: a quarter is possible, a half is free. The test set says it once.

from learnt.linear_model import LogisticRegression

model = LogisticRegression().fit(x_train, y_train)
x_final, y_final = test.open(reason="the end of the chapter")
loss = zero_one_loss(y_final, model.predict(x_final))
print(f"logistic regression is wrong on {loss:.1%} of the test rows; a quarter is the best that is possible")
assert abs(loss - 1 / 4) < 0.05

# %%
# What goes wrong
# ---------------
#
# - **The loss is not the one that matters.** A forecast that is trained on the squared loss and complained about by its
#   median, or 99% accuracy where 99% of rows have one label: name the loss with those who bear it, first.
# - **The test set is used twice.** With 20 variants tried on 200 test rows, the best looks some points better than it
#   is.
# - **Tomorrow's rows are not today's.** Shuffled rows of a time series put neighbours of a test row into the training
#   set; split by time (``train_test_split(..., time=...)``).
# - **No floor.** 85% sounds good until the best constant has 84.
# - **There is no best method** for all problems: a method wins where its assumptions hold. `learnt.study` races
#   several.
#
# Exercises
# ---------
#
# 1. Being one too low costs three times as much as being one too high. Which constant is best for the waiting times?
# 2. Class 1 is drawn three times as often as class 0, with the densities of the example. What are the best threshold
#    and the Bayes error?
# 3. A nearest-neighbour rule with one row per class, :math:`x_0` and :math:`x_1`, puts its threshold midway between
#    them. How often is it wrong on average, in the example? (The answer is 7/20.)
#
# Solutions
# ---------
#
# 1. Around the best constant :math:`\#\{y < c\} - 3\, \#\{y > c\}` changes its sign, so three quarters of the rows
#    lie below: it is the 0.75-quantile, and the loss is called the pinball loss. Seven rows have none exactly; of
#    them the sixth, 6, is cheapest, and the usual estimate goes halfway from the one before.

high = ConstantRegressor(strategy="quantile", quantile=0.75).fit(nothing, waiting).predict(nothing)[0]
cost = [np.where(waiting > c, 3 * (waiting - c), c - waiting).mean() for c in grid]
print(f"the quantile is {high:g}, the cheapest constant {grid[np.argmin(cost)]:g}")
assert high == 5.5
assert abs(grid[np.argmin(cost)] - 6) < 1e-12

# %%
# 2. The posterior is :math:`P(1 \mid x) = 3x / (3x + 1 - x)`, a half at :math:`3x = 1 - x`. The error is
#    :math:`\int_0^{1/4} \tfrac34\, 2x\, dx + \int_{1/4}^1 \tfrac14 (2 - 2x)\, dx = \tfrac{3}{64} + \tfrac{9}{64} =
#    \tfrac{3}{16}`.

posterior = bayes_rule([1 / 4, 3 / 4], np.column_stack([2 - 2 * middle[:, 0], 2 * middle[:, 0]]))
frequency = (2 - 2 * middle[:, 0]) / 4 + 2 * middle[:, 0] * 3 / 4  # p(x), no longer 1
best_threshold = middle[posterior.argmax(axis=1) == 1].min()
assert abs(best_threshold - 1 / 4) < 1e-3
assert abs(np.average(1 - posterior.max(axis=1), weights=frequency) - 3 / 16) < 1e-5

# %%
# 3. By simulation: draw the two rows by their densities, and average the error of the rule that they make. By
#    integration it is 83/360 for :math:`x_0 \le x_1` and 43/360 for the others, where the rule is the wrong way
#    round.

n = 400_000
x0, x1 = 1 - np.sqrt(rng.uniform(size=n)), np.sqrt(rng.uniform(size=n))  # by the inverse distribution functions
off = ((x0 + x1) / 2 - 1 / 2) ** 2
wrong = np.where(x0 <= x1, off + 1 / 4, 3 / 4 - off)
print(f"{wrong.mean():.4f} by simulation, {83 / 360 + 43 / 360:.4f} by integration")
assert abs(83 / 360 + 43 / 360 - 7 / 20) < 1e-12
assert abs(wrong.mean() - 7 / 20) < 4 * wrong.std() / np.sqrt(n)
