r"""
The perceptron and logistic regression
======================================

A plane divides space into two halves: one class on this side, the other on that. The perceptron finds such a plane if
there is one, by the simplest rule that anybody has thought of. Logistic regression also says how sure it is, and has
an answer where no plane divides the classes, which is nearly always.
"""

# %%
# A plane
# -------
#
# The classes are :math:`y_i \in \{-1, +1\}` and the rule is :math:`h(x) = \sign(w^\top x + b)`. Append a 1 to every
# row and :math:`b` to :math:`w`, and the rule is :math:`\sign(w^\top x)`: below, :math:`b` is one of the weights. Row
# :math:`i` is on the right side if :math:`y_i\, w^\top x_i > 0`. A prediction costs :math:`d` multiplications,
# however many rows there were; a nearest neighbour has to look at all of them.
#
# The perceptron
# --------------
#
# Start at :math:`w = 0`. Go through the rows, again and again. Where a row is on the wrong side,
# :math:`y_i\, w^\top x_i \le 0`, move:
#
# .. math::
#
#    w \leftarrow w + y_i\, x_i, \qquad \text{so that} \quad
#    y_i\, w^\top x_i \quad \text{grows by} \quad \|x_i\|^2 .
#
# The move may spoil other rows. It ends all the same. Scale all rows so that the longest has length 1, and let a unit
# vector :math:`w^*` separate them with the *margin* :math:`\gamma = \min_i y_i\, x_i^\top w^* > 0`. A mistake changes
# two numbers:
#
# .. math::
#
#    w^\top w^* &\to w^\top w^* + y_i\, x_i^\top w^* \ge w^\top w^* + \gamma \\
#    \|w\|^2 &\to \|w\|^2 + 2\, y_i\, w^\top x_i + \|x_i\|^2 \le \|w\|^2 + 1 .
#
# The first grows by at least :math:`\gamma`. The second by at most 1, since the term in the middle is not positive:
# it was a mistake. After :math:`M` mistakes, with Cauchy and Schwarz,
#
# .. math::
#
#    M \gamma \le w^\top w^* \le \|w\| \le \sqrt{M} \implies M \le \frac{1}{\gamma^2} .
#
# No number of rows, no number of columns and no order of the rows enters: only the margin. `Perceptron` counts its
# mistakes and reports the margin of the plane that it found, which is a lower bound of the best one.

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LogisticRegression, Perceptron

rng = np.random.default_rng(0)
direction = np.array([0.8, 0.6])


def separable(n, gap):
    """Rows in the unit disc, at least `gap` from the line through the origin."""
    X = rng.uniform(-1, 1, size=(50 * n, 2))
    X = X[(np.linalg.norm(X, axis=1) <= 1) & (np.abs(X @ direction) >= gap)][:n]
    return X, np.sign(X @ direction)


gaps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
mistakes = []
for gap in gaps:
    runs = [Perceptron(fit_intercept=False, tol=None).fit(*separable(500, gap)) for _ in range(20)]
    assert all(run.margin_ > 0 and run.mistakes_ <= 1 / run.margin_**2 for run in runs)
    mistakes.append(max(run.mistakes_ for run in runs))
    assert mistakes[-1] <= 1 / gap**2
print("most mistakes of 20 runs:", ", ".join(f"γ = {g:g}: {m}" for g, m in zip(gaps, mistakes, strict=True)))

# %%
# The bound holds with room to spare. But which of the many separating planes is found depends on the order of the
# rows, and where none exists the rule goes on forever (`Perceptron` stops when the mean loss no longer falls). Both
# are reasons for what follows.
#
# Odds
# ----
#
# Instead of a side, model a probability. A probability lies between 0 and 1, a score :math:`s = w^\top x` anywhere.
# The *odds* :math:`p / (1 - p)` lie above 0, and their logarithm anywhere. So let the score be the log-odds:
#
# .. math::
#
#    \log \frac{P(1 \mid x)}{P(0 \mid x)} = w^\top x
#    \iff P(1 \mid x) = \sigma(w^\top x), \qquad \sigma(s) = \frac{1}{1 + e^{-s}} .
#
# Two properties make all later formulas short:
#
# .. math::
#
#    \sigma(-s) = 1 - \sigma(s), \qquad \sigma'(s) = \frac{e^{-s}}{(1 + e^{-s})^2} = \sigma(s)\, (1 - \sigma(s)) .
#
# One more of feature :math:`j` adds :math:`w_j` to the log-odds, so it *multiplies the odds* by :math:`e^{w_j}`. The
# shape is no arbitrary choice. For two Gaussian classes with the same covariance :math:`\Sigma`, means
# :math:`\pm \mu` and equal priors, Bayes' rule gives it: the quadratic terms cancel, and
#
# .. math::
#
#    P(1 \mid x) = \frac{1}{1 + p(x \mid 0) / p(x \mid 1)}
#    = \sigma(2\, \mu^\top \Sigma^{-1} x), \qquad w = 2\, \Sigma^{-1} \mu .
#
# Estimating :math:`\mu` and :math:`\Sigma` gives a *generative* model (discriminant analysis); estimating :math:`w`
# straight away a *discriminative* one, which need not believe in Gaussians.
#
# Maximum likelihood
# ------------------
#
# With :math:`y_i \in \{0, 1\}` and :math:`p_i = \sigma(w^\top x_i)` the negative log-likelihood is
#
# .. math::
#
#    L(w) = -\sum_i \left[ y_i \log p_i + (1 - y_i) \log (1 - p_i) \right] .
#
# By the chain rule and :math:`\sigma' = \sigma (1 - \sigma)` the fractions cancel. What is left is error times
# feature, and a second derivative that is never negative, so there are no local minima:
#
# .. math::
#
#    \nabla L = \sum_i (p_i - y_i)\, x_i = X^\top (p - y), \qquad
#    \nabla^2 L = \sum_i p_i (1 - p_i)\, x_i x_i^\top = X^\top S X .
#
# With :math:`y_i \in \{-1, +1\}` the same loss reads :math:`\sum_i \log(1 + e^{-y_i w^\top x_i})`. A prior
# :math:`w \sim \mathcal{N}(0, \tau^2 I)` adds minus its logarithm, and the most probable weights (MAP) minimise
#
# .. math::
#
#    \sum_i \log(1 + e^{-y_i w^\top x_i}) + \lambda \|w\|^2, \qquad \lambda = \frac{1}{2 \tau^2} .
#
# `LogisticRegression` minimises :math:`C` times the loss and :math:`\tfrac{1}{2} \|w\|^2`, so its ``C`` is
# :math:`\tau^2`, the variance of the prior. The default, 1, is a prior, and a strong one for columns in large units.
# ``C=np.inf`` is maximum likelihood.
#
# Newton's method
# ---------------
#
# :math:`X^\top (p - y) = 0` has no closed solution. Newton replaces :math:`L` by its parabola and goes to the lowest
# point, :math:`w \leftarrow w - (X^\top S X)^{-1} X^\top (p - y)`. Written with :math:`z = X w + S^{-1} (y - p)` this
# is
#
# .. math::
#
#    w \leftarrow (X^\top S X)^{-1} X^\top S z ,
#
# a weighted least-squares problem with weights :math:`p_i (1 - p_i)`: *iteratively reweighted least squares*. Near
# the minimum a step doubles the number of correct digits.

mu, Sigma = np.array([1.0, 0.5]), np.array([[1.0, 0.6], [0.6, 1.5]])
labels = (rng.uniform(size=2000) < 0.5).astype(float)
rows = rng.multivariate_normal([0, 0], Sigma, size=2000) + np.where(labels == 1, 1, -1)[:, None] * mu
design = np.column_stack([rows, np.ones(len(rows))])

w, sizes = np.zeros(3), []
for _ in range(8):
    p = 1 / (1 + np.exp(-design @ w))
    gradient = design.T @ (p - labels)
    sizes.append(np.abs(gradient).max())
    w -= np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]), gradient)
print("largest entry of the gradient, step by step:", ", ".join(f"{size:.0e}" for size in sizes[:7]))
assert sizes[7] < 1e-6 * sizes[0]

model = LogisticRegression(C=np.inf).fit(rows, labels)
assert np.abs(np.append(model.coef_[0], model.intercept_) - w).max() < 1e-4
assert np.abs(model.coef_[0] - 2 * np.linalg.solve(Sigma, mu)).max() < 0.4  # what Bayes' rule says
for solver in ("newton", "irls", "lbfgs"):
    other = LogisticRegression(C=np.inf, solver=solver, tol=1e-6).fit(rows, labels)
    assert np.abs(other.coef_ - model.coef_).max() < 1e-3, solver

# %%
# In pictures: mistakes of the perceptron and the bound; and lines of equal probability of the fitted model. They are
# parallel, and the middle one is the boundary.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.loglog(gaps, 1 / np.array(gaps) ** 2, color="#555555", linestyle=":", label="1/γ²")
left.loglog(gaps, np.maximum(mistakes, 1), "o-", color="#0072b2", label="most of 20 runs")
left.set(xlabel="margin γ", ylabel="mistakes")
left.legend(frameon=False)
a, b = np.meshgrid(np.linspace(-4, 4, 80), np.linspace(-4, 4, 80))
probability = model.predict_proba(np.column_stack([a.ravel(), b.ravel()]))[:, 1].reshape(a.shape)
for value, color, marker in ((0, "#0072b2", "o"), (1, "#d55e00", "^")):
    right.plot(*rows[labels == value][:150].T, marker, color=color, markersize=3, alpha=0.6)
right.clabel(right.contour(a, b, probability, [0.05, 0.5, 0.95], colors="black", linewidths=1), fontsize=8)
right.set(xlabel="first column", ylabel="second column", xlim=(-4, 4), ylim=(-4, 4))
plt.show()

# %%
# Many classes
# ------------
#
# Give each class its own score and make the exponentials add up to 1, the *softmax*:
#
# .. math::
#
#    P(k \mid x) = \frac{e^{w_k^\top x}}{\sum_j e^{w_j^\top x}}, \qquad
#    \nabla_{w_k} L = \sum_i \left( P(k \mid x_i) - \mathbb{1}[y_i = k] \right) x_i .
#
# Adding the same vector to all :math:`w_k` changes nothing; the penalty picks the smallest. With two classes this is
# the sigmoid of the difference :math:`w_1 - w_0`. At the minimum the gradient of the intercepts is 0, so *the mean of
# the predicted probabilities of a class is its share of the training rows*.

from learnt.datasets import load_breast_cancer, load_iris
from learnt.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True)
flowers = LogisticRegression().fit(X, y)
scores = X @ flowers.coef_.T + flowers.intercept_
softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
assert np.abs(softmax - flowers.predict_proba(X)).max() < 1e-10
assert np.abs(softmax.mean(axis=0) - 1 / 3).max() < 1e-4
assert np.abs(flowers.coef_.sum(axis=0)).max() < 1e-4  # the smallest of all that are equally good

# %%
# What goes wrong
# ---------------
#
# - **Separable classes, no penalty.** If a plane divides the training rows, twice the weights are always better:
#   every :math:`p_i` goes to 0 or 1 and the weights to infinity. `LogisticRegression` notices, stops, and warns. A
#   finite ``C`` makes the answer unique. Watch the weights of separable rows grow with ``C``, and probabilities with
#   them:

two, side = separable(100, 0.1)
strengths = np.logspace(-2, 6, 9)
paths = [LogisticRegression(C=C).fit(two, side) for C in strengths]
lengths = [np.linalg.norm(path.coef_) for path in paths]
assert np.all(np.diff(lengths) > 0)

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.loglog(strengths, lengths, "o-", color="#0072b2")
ax.set(xlabel="C, the variance of the prior", ylabel="length of w")
plt.show()

# %%
# - **Columns in different units.** The penalty compares weights, so a length in millimetres is punished less than in
#   metres. Scale first, with `StandardScaler` in a pipeline. Weights are then also comparable.
# - **Odds ratios read as causes**, or read one by one where columns say the same: standard errors grow as in the last
#   chapter.
# - **Rare classes.** With 1 row in 100 of class 1 hardly any probability exceeds a half, and the model "never
#   predicts it". The probabilities are right; the threshold is wrong. Costs decide it
#   (`learnt.bayes.CostSensitiveClassifier`).
# - **A curved boundary.** Add columns (`learnt.preprocessing.PolynomialFeatures`), or take another model.
#
# An example with odds: what one standard deviation does in the breast cancer data, class 1 being benign.

cancer = load_breast_cancer()
scaled = StandardScaler().fit_transform(cancer.data[:, :2])
tumours = LogisticRegression().fit(scaled, cancer.target)
for name, odds in zip(cancer.feature_names, np.exp(tumours.coef_[0]), strict=False):
    print(f"one standard deviation more of {name}: odds of benign times {odds:.3f}")

# %%
# Exercises
# ---------
#
# 1. A perceptron that has ended has :math:`w = \sum_i c_i y_i x_i`, where :math:`c_i` counts the mistakes on row
#    :math:`i`. Write one that stores only the counts, and check it on ``two``.
# 2. Show that with :math:`y \in \{-1, +1\}` the expected log loss at :math:`x` is least at the score
#    :math:`\log P(1|x) / P(-1|x)`. What score is best for the squared loss :math:`(y - s)^2`?
# 3. What is the gradient of :math:`L` at :math:`w = 0`, and which model uses its direction?
#
# Solutions
# ---------
#
# 1. The score of a row is a sum of products of rows, :math:`\sum_j c_j y_j x_j^\top x_i`. Only products appear: this
#    is the door to kernels.

products, counts, wrong = two @ two.T, np.zeros(len(two)), True
while wrong:
    wrong = False
    for i in range(len(two)):
        if side[i] * ((counts * side) @ products[i]) <= 0:
            counts[i] += 1
            wrong = True
weights = (counts * side) @ two
assert (np.sign(two @ weights) == side).all()
assert counts.sum() <= 1 / (np.min(side * (two @ weights)) / np.linalg.norm(weights)) ** 2

# %%
# 2. With :math:`p = P(1|x)` the slope of :math:`p \log(1 + e^{-s}) + (1 - p) \log(1 + e^{s})` is
#    :math:`\sigma(s) - p`, which is 0 at the log-odds. For the squared loss it is :math:`s = p - (1 - p) = 2p - 1`,
#    so :math:`p = (s + 1)/2`.

s = np.linspace(-4, 4, 8001)
p = 0.8
assert abs(s[np.argmin(p * np.log1p(np.exp(-s)) + (1 - p) * np.log1p(np.exp(s)))] - np.log(p / (1 - p))) < 1e-3
assert abs(s[np.argmin(p * (1 - s) ** 2 + (1 - p) * (-1 - s) ** 2)] - (2 * p - 1)) < 1e-3

# %%
# 3. All :math:`p_i` are a half:
#    :math:`X^\top (\tfrac{1}{2} - y) = -\tfrac{1}{2} \left( \sum_{y_i = 1} x_i - \sum_{y_i = 0} x_i \right)`. With
#    equally many rows its direction joins the means of the classes, as `learnt.neighbors.NearestCentroid` does.

start = design.T @ (0.5 - labels)
assert np.abs(start + (design[labels == 1].sum(axis=0) - design[labels == 0].sum(axis=0)) / 2).max() < 1e-9

# %%
# Next: the same for any loss and any penalty, and the methods that find the minimum.
