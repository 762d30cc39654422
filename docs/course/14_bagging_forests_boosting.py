r"""
Bagging, forests, boosting and stacking
=======================================

A deep tree is nearly right on average and different for every training set: little bias, much variance. A stump is
always much the same and always wrong: little variance, much bias. Both are cured by taking many of them, in two ways
that have little in common. Deep trees are *averaged*, each grown by itself. Shallow ones are *added up*, each grown
for what the others have left over.
"""

# %%
# What an average takes away
# --------------------------
#
# Let :math:`h_1(x), \dots, h_m(x)` be predictions with the same variance :math:`\sigma^2`, and let any two of them
# have the correlation :math:`\rho`. The variance of a sum has :math:`m` terms :math:`\sigma^2` and :math:`m(m-1)`
# terms :math:`\rho \sigma^2`, so
#
# .. math::
#
#    \Var\left(\frac1m \sum_j h_j\right) = \frac{m \sigma^2 + m(m-1) \rho \sigma^2}{m^2}
#    = \rho \sigma^2 + \frac{1 - \rho}{m} \sigma^2 .
#
# The mean, and with it the bias, stays as it was. Models of independent training sets have :math:`\rho = 0`, and their
# variance would vanish. But there is only one training set :math:`D`. The *bootstrap* stands in for new ones: draw
# :math:`n` rows of :math:`D` with replacement. A row that is drawn so has the right distribution. If a value has the
# probability :math:`p` under :math:`P`, it stands :math:`k` times in :math:`D` with a binomial probability, and is
# then drawn with probability :math:`k/n`:
#
# .. math::
#
#    \sum_{k=0}^n \binom{n}{k} p^k (1-p)^{n-k}\, \frac{k}{n} = \frac{np}{n} = p .
#
# What is lost is independence: two bootstrap samples share rows, so :math:`\rho > 0` and some variance remains.
# *Bagging* is the mean of models of :math:`m` bootstrap samples. (*Pasting* draws fewer rows without replacement.)

from math import comb

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_breast_cancer, load_digits
from learnt.diagnosis import bias_variance
from learnt.ensemble import BaggingClassifier, BaggingRegressor
from learnt.model_selection import train_test_split
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"

n, p = 12, 0.3
drawn = sum(comb(n, k) * p**k * (1 - p) ** (n - k) * k / n for k in range(n + 1))
assert abs(drawn - p) < 1e-12

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(size=(150, 1)), axis=0)
y = np.sin(6 * x[:, 0]) + rng.normal(scale=0.3, size=150)
grid = np.linspace(0.01, 0.99, 400)[:, None]
tree = DecisionTreeRegressor(random_state=0).fit(x, y)
bagged = BaggingRegressor(tree, 100, random_state=0).fit(x, y)

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for ax, model, name in zip(axes, (tree, bagged), ("one deep tree", "mean of 100"), strict=True):
    ax.plot(x, y, ".", color="#999999", markersize=4)
    ax.plot(grid, np.sin(6 * grid), color=BLUE, label="truth")
    ax.plot(grid, model.predict(grid), color=RED, linewidth=1, label=name)
    ax.set(xlabel="x", ylim=(-2.1, 1.8))
    ax.legend(frameon=False)
axes[0].set_ylabel("y")
plt.show()

# %%
# Out-of-bag rows
# ---------------
#
# A sample of :math:`n` draws misses a given row with probability :math:`(1 - 1/n)^n \to 1/e \approx 0.368`. So about
# 37% of the members have never seen row :math:`i`. Their prediction for it is honest, and every row gets one: the
# *out-of-bag* error, without a test set and without further fits.
#
# There are two ways to count. One averages the errors of those members, one by one: that is the error of a *single*
# tree. The other lets them vote and counts the error of the vote: that is the error of the *ensemble*, and it is what
# `learnt` gives as ``oob_score_``.

X, labels = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, labels, test_size=0.4, stratify=labels, random_state=0)
bag = BaggingClassifier(DecisionTreeClassifier(), 80, oob_score=True, random_state=0).fit(X_train, y_train)
unseen = np.array([np.bincount(rows, minlength=len(y_train)) == 0 for rows in bag.estimators_samples_])
wrong = np.array([member.predict(X_train) != y_train for member in bag.estimators_])
one_by_one = np.mean((wrong & unseen).sum(axis=0) / unseen.sum(axis=0))
print(f"rows that a tree has not seen: {unseen.mean():.1%}")
print(f"out of bag: a tree errs on {one_by_one:.0%}, the vote on {1 - bag.oob_score_:.1%}", end="; ")
print(f"on test rows the vote errs on {1 - bag.score(X_test, y_test):.1%}")
assert abs(unseen.mean() - 1 / np.e) < 0.01
assert 1 - bag.oob_score_ < one_by_one / 2
assert abs(bag.oob_score_ - bag.score(X_test, y_test)) < 0.04

# %%
# Random forests
# --------------
#
# If one column is much better than the others, every tree asks about it first. The trees are alike, :math:`\rho` is
# large, and more of them do not help. A *random forest* draws, at every split, :math:`k` of the :math:`d` columns, and
# may only use those. A tree becomes worse: more bias mostly, and a variance :math:`\sigma^2` no smaller. But
# :math:`\rho` falls.
#
# `bias_variance` measures it: it fits on many training sets, here newly drawn ones, and compares predictions with a
# truth that we know. With the variance of one tree and of the mean of 16 the formula gives :math:`\rho`. The ten
# columns are noisy readings of one thing, and the first is the best of them.

from learnt.ensemble import RandomForestRegressor


def true_mean(X):
    return 5 * np.tanh(X[:, 0]) + X.sum(axis=1)


def draw(rng):
    X = rng.normal(size=(200, 1)) + 0.7 * rng.normal(size=(200, 10))
    return X, true_mean(X) + 2 * rng.normal(size=200)


X_new, y_new = draw(np.random.default_rng(1))


def parts(model, **options):
    """Noise, bias and variance of a model of 200 rows."""
    return bias_variance(model, X_new, y_new, truth=true_mean, draw=draw, n_sets=12, **options)


columns = {"max_features": [1, 3, 5, 10]}
one = parts(RandomForestRegressor(1, random_state=0), vary=columns)
many = parts(RandomForestRegressor(16, random_state=0), vary=columns)
correlation = (16 * many.variance / one.variance - 1) / 15
assert correlation[0] < correlation[-1]
assert (many.variance < one.variance / 3).all()
assert (many.bias + many.variance)[1] < min((many.bias + many.variance)[[0, -1]])

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
axes[0].plot(columns["max_features"], correlation, "o-", color=PINK)
axes[0].set(xlabel="columns k at each split", ylabel="correlation of two trees", ylim=(0, None))
for part, name, colour in (
    (many.bias + many.variance, "bias² + variance", GREEN),
    (many.bias, "bias²", RED),
    (many.variance, "variance", BLUE),
):
    axes[1].plot(columns["max_features"], part, "o-", color=colour, label=name)
axes[1].set(xlabel="columns k at each split", ylabel="squared error of 16 trees", ylim=(0, None))
axes[1].legend(frameon=False)
plt.show()

# %%
# With one column the trees are blind, with all ten they are alike; the best :math:`k` is between. :math:`k = \sqrt{d}`
# is the usual start for classes (`RandomForestClassifier`), all columns or a third of them for numbers
# (`RandomForestRegressor`). It is a rule of thumb: where few columns matter, larger is better. The number of trees is
# no such choice. More are never worse on average, only slower. *Extremely randomised trees* (`ExtraTreesRegressor`)
# draw the thresholds too.
#
# AdaBoost
# --------
#
# Boosting adds weak learners :math:`h_t(x) \in \{-1, +1\}` one after the other: :math:`H_t = H_{t-1} + \alpha_t h_t`,
# with labels of :math:`\pm 1` and :math:`\sign H` as the answer. AdaBoost lowers the *exponential loss*
# :math:`L(H) = \sum_i e^{-y_i H(x_i)}`, which is never below the number of mistakes. Let :math:`w_i` be the share of
# row :math:`i` in it. Then
#
# .. math::
#
#    \frac{L(H + \alpha h)}{L(H)} = \sum_i w_i e^{-\alpha y_i h(x_i)}
#    = (1 - \varepsilon) e^{-\alpha} + \varepsilon e^{\alpha},
#    \qquad \varepsilon = \sum_{i:\, h(x_i) \neq y_i} w_i .
#
# So the best learner has the least *weighted* error. Setting the derivative by :math:`\alpha` to zero gives its
# weight, and putting that back gives the factor by which the loss falls:
#
# .. math::
#
#    \alpha = \frac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \qquad
#    L \leftarrow L \cdot 2 \sqrt{\varepsilon (1 - \varepsilon)}, \qquad
#    w_i \leftarrow w_i\, \frac{e^{-\alpha y_i h(x_i)}}{2 \sqrt{\varepsilon (1 - \varepsilon)}} .
#
# A smaller error makes a larger weight. Take ten rows, of which the first stump gets two wrong. Then
# :math:`\varepsilon = 1/5` and :math:`\alpha = \tfrac12 \ln 4 = \ln 2`. The eight weights of 1/10 are halved and the
# two are doubled, then all are divided by 0.8: 1/16 and 1/4.

from learnt.ensemble import AdaBoostClassifier

line = np.arange(10.0)[:, None]
sign = np.array([1, 1, 1, -1, -1, -1, -1, -1, 1, 1])
boosted = AdaBoostClassifier(n_estimators=3, random_state=0).fit(line, sign)

weights, score, history = np.full(10, 1 / 10), np.zeros(10), []
for stump in boosted.estimators_:
    answer = stump.predict(line)
    error = weights[answer != sign].sum()
    alpha = np.log((1 - error) / error) / 2
    weights = weights * np.exp(-alpha * sign * answer) / (2 * np.sqrt(error * (1 - error)))
    score += alpha * answer
    history.append(weights)
    assert abs(weights.sum() - 1) < 1e-12
    assert abs(weights[answer != sign].sum() - 1 / 2) < 1e-12  # the stump just used is now worthless

assert np.allclose(history[0], np.where(line[:, 0] > 7, 1 / 4, 1 / 16))
assert np.allclose(boosted.estimator_errors_, [1 / 5, 3 / 16, 5 / 26])
assert (np.sign(score) == sign).all()
assert (boosted.predict(line) == sign).all()

# %%
# Some books leave out the half and multiply only the wrong rows, by :math:`e^{\alpha}`. With :math:`\ln 4` the two
# become 4/10, all together 16/10, so again 1/16 and 1/4: it is the same ensemble, every :math:`\alpha` twice as large.
# `learnt` counts in this way, as scikit-learn does.
#
# After :math:`T` rounds the loss is :math:`n \prod_t 2 \sqrt{\varepsilon_t (1 - \varepsilon_t)}`. If every error is at
# most :math:`\tfrac12 - \gamma`, that is at most :math:`n (1 - 4\gamma^2)^{T/2}`. Below 1 there can be no mistake,
# hence none is left on the training rows after
#
# .. math::
#
#    T > \frac{2 \ln n}{-\ln(1 - 4 \gamma^2)} .

assert np.allclose(boosted.estimator_weights_[0], np.log(4))
errors = boosted.estimator_errors_
assert np.allclose(boosted.loss_bound_, 10 * np.cumprod(2 * np.sqrt(errors * (1 - errors))))
assert np.allclose(boosted.loss_bound_[2], np.exp(-sign * score).sum())  # 4.9 is left, and no mistake

X, labels = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, labels, test_size=0.4, stratify=labels, random_state=0)
stumps = AdaBoostClassifier(n_estimators=200, random_state=0).fit(X_train, y_train)
wrong = np.array([(said != y_train).sum() for said in stumps.staged_predict(X_train)])
test_error = [np.mean(said != y_test) for said in stumps.staged_predict(X_test)]
assert (wrong <= stumps.loss_bound_ + 1e-9).all()
gamma = 1 / 2 - stumps.estimator_errors_.max()
enough = 2 * np.log(len(y_train)) / -np.log(1 - 4 * gamma**2)
print(f"no mistake on training rows after {np.flatnonzero(wrong)[-1] + 2} rounds, surely after {enough:.0f}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
rounds = np.arange(1, 201)
axes[0].semilogy(rounds, stumps.loss_bound_, color=BLUE, label="exponential loss")
axes[0].semilogy(rounds[wrong > 0], wrong[wrong > 0], color=RED, label="mistakes (none later)")
axes[0].set(xlabel="rounds", ylabel="on training rows")
axes[0].legend(frameon=False)
axes[1].plot(rounds, test_error, color=GREEN)
axes[1].set(xlabel="rounds", ylabel="share of test rows wrong", ylim=(0, 0.12))
plt.show()

# %%
# Gradient boosting
# -----------------
#
# The loss of an ensemble depends on :math:`n` numbers, :math:`F(x_1), \dots, F(x_n)`. Descent would subtract the
# gradient in them, but a new row has no place in that vector. So a regressor :math:`h` is fitted to it, and a step is
# made along :math:`h`, which has a value everywhere. To first order
#
# .. math::
#
#    L(F + \eta h) \approx L(F) - \eta \sum_i t_i h(x_i), \qquad
#    t_i = -\frac{\partial \ell(y_i, F(x_i))}{\partial F(x_i)} .
#
# Among functions of equal :math:`\sum_i h(x_i)^2` the sum is largest where :math:`\sum_i (h(x_i) - t_i)^2` is least:
# least squares with the negative gradients as labels. For the squared loss :math:`\tfrac12 (y - F)^2` they are the
# residuals :math:`y_i - F(x_i)`, for the absolute loss their signs, for the log loss the label less its probability.

from learnt.ensemble import GradientBoostingRegressor

F, F_grid = np.full(len(y), y.mean()), np.full(len(grid), y.mean())
boosting = GradientBoostingRegressor(n_estimators=100, max_depth=2, learning_rate=0.1, random_state=0).fit(x, y)
stages = list(boosting.staged_predict(grid))
for stage in stages:
    small = DecisionTreeRegressor(max_depth=2, random_state=0).fit(x, y - F)  # the residuals are its labels
    F, F_grid = F + 0.1 * small.predict(x), F_grid + 0.1 * small.predict(grid)
    assert np.abs(F_grid - stage).max() < 1e-6

# %%
# :math:`\eta` is the *shrinkage*. A small one makes each tree unimportant: many more are needed, and the sum is
# smoother. The number of trees is now a real choice, since each lowers the bias and adds variance. Held-out rows tell
# when to end: ``n_iter_no_change`` of `GradientBoostingRegressor`, ``early_stopping`` of
# `HistGradientBoostingRegressor`.

X_fit, y_fit = draw(np.random.default_rng(2))
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
lowest = {}
for rate, colour in ((1.0, RED), (0.3, PINK), (0.1, BLUE)):
    model = GradientBoostingRegressor(n_estimators=300, learning_rate=rate, random_state=0).fit(X_fit, y_fit)
    curve = [np.mean((stage - y_new) ** 2) for stage in model.staged_predict(X_new)]
    lowest[rate] = min(curve)
    ax.plot(np.arange(1, 301), curve, color=colour, label=f"rate {rate:g}")
ax.set(xlabel="trees", ylabel="squared error on new rows", ylim=(0, 40))
ax.legend(frameon=False)
plt.show()
assert lowest[0.1] < lowest[0.3] < lowest[1.0]

stopped = GradientBoostingRegressor(n_estimators=1000, n_iter_no_change=10, random_state=0).fit(X_fit, y_fit)
assert stopped.n_estimators_ < 1000

# %%
# Bias and variance of each
# -------------------------
#
# The same 12 training sets for all. Averaging takes variance away, and the bias stays nearly as it was. Adding up
# takes bias away. AdaBoost for numbers is between: its trees of depth 3 are fitted to reweighted rows, and their
# weighted median is taken.

from learnt.ensemble import AdaBoostRegressor

models = {
    "deep tree": DecisionTreeRegressor(random_state=0),
    "bagging": BaggingRegressor(DecisionTreeRegressor(), 20, random_state=0),
    "forest, k = 3": RandomForestRegressor(20, max_features=3, random_state=0),
    "stump": DecisionTreeRegressor(max_depth=1, random_state=0),
    "AdaBoost": AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=30, random_state=0),
    "boosted stumps": GradientBoostingRegressor(max_depth=1, learning_rate=0.2, random_state=0),
}
found = {name: parts(model) for name, model in models.items()}
bias = np.array([float(part.bias[0]) for part in found.values()])
variance = np.array([float(part.variance[0]) for part in found.values()])
for name, b, v in zip(found, bias, variance, strict=True):
    print(f"{name:15s} bias² {b:5.1f}   variance {v:5.1f}")
assert variance[1] < variance[0] / 2  # bagging mends variance …
assert abs(bias[1] - bias[0]) < variance[0] / 2
assert bias[5] < bias[3] / 4  # … and boosting bias

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(list(found), bias, color=RED, label="bias²")
ax.barh(list(found), variance, left=bias, color=BLUE, label="variance")
ax.invert_yaxis()
ax.set(xlabel="squared error above the noise")
ax.legend(frameon=False)
plt.show()

# %%
# Stacking
# --------
#
# Different models err on different rows. *Stacking* learns how to combine them: a last model is fitted to their
# predictions. Those must be out-of-fold, from models that have not seen the row. Otherwise a deep tree, perfect on its
# own rows, would get all the trust.

from learnt.ensemble import StackingRegressor
from learnt.linear_model import LinearRegression, Ridge

members = [
    ("line", Ridge()),
    ("deep tree", DecisionTreeRegressor(random_state=0)),
    ("boosting", models["boosted stumps"]),
]
stack = StackingRegressor(members, LinearRegression(positive=True)).fit(X_fit, y_fit)
trust = dict(zip(("line", "deep tree", "boosting"), stack.final_estimator_.coef_, strict=True))
print("trust:", ", ".join(f"{name} {value:.1f}" for name, value in trust.items()))
error = {name: np.mean((model.predict(X_new) - y_new) ** 2) for name, model in stack.named_estimators_.items()}
assert trust["deep tree"] < 0.2
assert np.mean((stack.predict(X_new) - y_new) ** 2) < error["boosting"] < error["deep tree"]

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Bagging a stable model.** The mean of lines is a line. If `bias_variance` or `diagnose` shows bias, averaging is
#   wasted.
# - **Out-of-bag rows that are not new.** Ten rows of one patient: nine of them are in the bag. The score is then far
#   too good. Split by groups (`GroupKFold`) and compare.
# - **Wrong labels under AdaBoost.** The exponential loss of a row grows without end, and so does its weight. Look at
#   the rows of largest weight; take gradient boosting with the log loss, or a smaller ``learning_rate``.
# - **Boosting without a stop.** See the curve of rate 1 above. Set ``n_iter_no_change``, and a small rate.
# - **Extrapolation.** No sum of trees leaves the range it has seen in :math:`x`: beyond it every answer is constant.
# - **Stacking on training predictions.** `StackingRegressor` makes them out-of-fold itself; by hand it is forgotten
#   easily.
#
# Exercises
# ---------
#
# 1. 1000 rows: how many bagged models until every row is out of bag at least once, with 99% certainty?
# 2. Show that after reweighting the last learner of AdaBoost is wrong on exactly half of the weight.
# 3. Boost least squares lines with :math:`\eta = 0.1`. What is the coefficient after :math:`T` rounds?
#
# Solutions
# ---------
#
# 1. A row is in all of :math:`m` bags with probability :math:`0.632^m`. By the union bound
#    :math:`1000 \cdot 0.632^m \le 0.01` is enough: :math:`m \ge \ln 10^5 / 0.459`, that is 26.

inside = 1 - (1 - 1 / 1000) ** 1000
m = int(np.ceil(np.log(1e5) / -np.log(inside)))
missed = np.ones(1000, dtype=bool)
for _ in range(m):
    bag = np.zeros(1000, dtype=bool)
    bag[rng.integers(1000, size=1000)] = True
    missed &= bag
assert m == 26
assert not missed.any()

# %%
# 2. The wrong rows weigh :math:`\varepsilon e^{\alpha} / (2\sqrt{\varepsilon(1-\varepsilon)})` with
#    :math:`e^{\alpha} = \sqrt{(1-\varepsilon)/\varepsilon}`. The roots cancel, and 1/2 is left for every
#    :math:`\varepsilon`. (The loop above asserted it for three stumps.) So the next learner must be another one.

for error in (0.01, 0.2, 0.49):
    assert abs(error * np.sqrt((1 - error) / error) / (2 * np.sqrt(error * (1 - error))) - 1 / 2) < 1e-12

# %%
# 3. The residuals of :math:`F = c \hat{w}^\top x` have the least squares line :math:`(1 - c) \hat{w}`. Each round
#    leaves 0.9 of what is missing, so :math:`c_T = 1 - 0.9^T`: a slow way to plain least squares, and stopped early a
#    way to shrink.

from learnt.ensemble import FunctionalGradientBoosting

slow = FunctionalGradientBoosting(LinearRegression(), n_estimators=20, learning_rate=0.1).fit(X_fit, y_fit)
full = LinearRegression().fit(X_fit, y_fit)
change = full.predict(X_new) - y_fit.mean()
assert np.allclose(slow.predict(X_new) - y_fit.mean(), (1 - 0.9**20) * change)

# %%
# Next: networks, which learn their own features.
