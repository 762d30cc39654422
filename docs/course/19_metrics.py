r"""
Metrics
=======

A model is good *for* something. One number per model is convenient, and which number is a decision about what
mistakes are worth. This chapter takes the common ones apart: what each counts, what it leaves out, and how it follows
from probabilities and costs, which are what a decision needs.
"""

# %%
# The table of mistakes
# ---------------------
#
# Two classes, one called positive: the one that is looked for. There are two ways to be right and two to be wrong,
#
# ==================  ==================  ==================
# ..                  predicted positive  predicted negative
# ==================  ==================  ==================
# truly positive      TP                  FN (a miss)
# truly negative      FP (a false alarm)  TN
# ==================  ==================  ==================
#
# and everything else is a ratio of these counts. With :math:`n_+ = TP + FN` positives and :math:`n_- = FP + TN`
# negatives:
#
# - *accuracy* :math:`(TP + TN) / (n_+ + n_-)`; its complement is the misclassification rate, the mean zero-one loss;
# - *sensitivity* = *recall* = true positive rate :math:`TP / n_+`: how many of the positives are found;
# - *specificity* :math:`TN / n_-`, and its complement, the false positive rate :math:`FP / n_-`;
# - *precision* :math:`TP / (TP + FP)`: how many of those predicted positive are so.
#
# The rates look along a row of the table, so they do not depend on how common the positives are. Precision looks down
# a column and does.
#
# A test of 100 people, 10 of them ill, finds 8 of the ill and alarms 18 of the healthy. The best constant, "nobody is
# ill", is right more often. It also finds nobody.

import matplotlib.pyplot as plt
import numpy as np

from learnt.metrics import accuracy_score, classification_rates, confusion_matrix, f1_score, precision_score

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"

ill = np.repeat([1, 1, 0, 0], [8, 2, 18, 72])
alarm = np.repeat([1, 0, 1, 0], [8, 2, 18, 72])
assert confusion_matrix(ill, alarm, labels=[1, 0]).tolist() == [[8, 2], [18, 72]]  # positives first, as in the table
rates = classification_rates(ill, alarm)
assert np.allclose([rates.sensitivity, rates.specificity, rates.fpr, rates.fnr], [0.8, 0.8, 0.2, 0.2])
assert accuracy_score(ill, alarm) == 0.8 < accuracy_score(ill, np.zeros(100)) == 0.9
assert precision_score(ill, alarm) == 8 / 26

# %%
# Precision and recall pull against each other: alarm more people, and recall rises while precision mostly falls. The
# :math:`F_1` score is their harmonic mean, which is small as soon as one of them is. With :math:`P` for precision and
# :math:`R` for recall:
#
# .. math::
#
#    F_1 = \frac{2}{\frac1P + \frac1R} = \frac{2 P R}{P + R} = \frac{2\, TP}{2\, TP + FP + FN} .
#
# The number of true negatives is not in it, so it changes when the classes are exchanged. With :math:`k` classes,
# each against the rest has an :math:`F_1`; *macro* :math:`F_1` is their mean and treats rare classes as the equals of
# common ones.

assert np.isclose(f1_score(ill, alarm), 2 * 8 / (2 * 8 + 18 + 2))
assert f1_score(ill, alarm) == 4 / 9
assert f1_score(1 - ill, 1 - alarm) > 0.87  # of the healthy

true, said = list("aaaaaaaabbbc"), list("aaaaaaabbbac")
each = f1_score(true, said, average=None)
assert np.allclose(each, [7 / 8, 2 / 3, 1])
assert np.isclose(f1_score(true, said, average="macro"), each.mean())

# %%
# All thresholds at once: the ROC curve
# -------------------------------------
#
# Most classifiers give a score, and a threshold turns it into a label. Let the threshold fall from above the largest
# score to below the smallest: from "nobody" to "everybody". The *ROC curve* is the path of the true positive rate
# (up) against the *false positive* rate (to the right), from (0, 0) to (1, 1).
#
# The area below it has a plain meaning. Order the rows by score. Passing a positive, the curve goes up by
# :math:`1/n_+`; passing a negative, it goes right by :math:`1/n_-`, at a height that is the share of positives
# already passed, those that score higher. So each negative adds
# :math:`\frac{1}{n_-} \cdot \frac{1}{n_+} \cdot \#\{\text{positives above}\}`. Where a positive and a negative have
# the *same* score the curve goes up and right together, along a slope that halves their cell. Altogether
#
# .. math::
#
#    \text{AUC} &= \frac{1}{n_+ n_-} \sum_{i \in +} \sum_{j \in -}
#    \left( \mathbb{1}[s_i > s_j] + \tfrac12 \mathbb{1}[s_i = s_j] \right) \\
#    &= P(s^+ > s^-) + \tfrac12 P(s^+ = s^-) :
#
# the probability that a random positive scores higher than a random negative, where a tie is settled by a coin. A
# constant score is all ties: its area is exactly a half. Only the order counts, so any increasing function of a score
# has the same area.

from learnt.diagnosis import auc_interval
from learnt.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve


def area_by_pairs(y, score):
    """The share of pairs in the right order, ties for a half."""
    above = score[y == 1][:, None] - score[y == 0][None]
    return np.mean((above > 0) + (above == 0) / 2)


rng = np.random.default_rng(0)
y = np.array([0, 0, 1, 0, 1, 1])
score = np.array([0.1, 0.3, 0.3, 0.6, 0.6, 0.9])  # of 9 pairs 6 are in order, 2 are tied and 1 is wrong
assert np.isclose(area_by_pairs(y, score), (6 + 2 / 2) / 9)
assert np.isclose(roc_auc_score(y, score), area_by_pairs(y, score))
assert roc_auc_score(y, np.ones(6)) == 0.5
assert roc_auc_score(y, np.exp(5 * score)) == roc_auc_score(y, score)
found = auc_interval(y, score)
print(f"the area of these six rows: {found.estimate:.2f}, and its 95% interval: {found.low:.2f} to {found.high:.2f}")

# %%
# Rare positives: the precision–recall curve
# ------------------------------------------
#
# With the share :math:`\pi` of positives, precision follows from the two rates:
#
# .. math::
#
#    \text{precision} = \frac{\pi\, TPR}{\pi\, TPR + (1 - \pi)\, FPR} .
#
# The ROC curve does not know :math:`\pi`. A false positive rate of 2% looks splendid; if one row in a hundred is
# positive, it is two false alarms for every positive there is. The *precision–recall curve* shows that, and *average
# precision*, :math:`\sum_k (R_k - R_{k-1}) P_k`, sums it up. Its floor is not a half but :math:`\pi`.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
areas = []
for share, colour in ((0.5, BLUE), (0.01, RED)):
    n_positive = int(20_000 * share)
    rare = np.repeat([1, 0], [n_positive, 20_000 - n_positive])
    s = rng.normal(size=20_000) + 2 * rare
    areas.append((roc_auc_score(rare, s), average_precision_score(rare, s)))
    fpr, tpr, _ = roc_curve(rare, s)
    precision, recall, _ = precision_recall_curve(rare, s)
    left.plot(fpr, tpr, color=colour, label=f"{share:.0%} positive: area {areas[-1][0]:.2f}")
    right.plot(recall, precision, color=colour, label=f"{share:.0%} positive: average {areas[-1][1]:.2f}")
left.plot([0, 1], [0, 1], color="#999999", linestyle=":")
left.set(xlabel="false positive rate", ylabel="true positive rate")
right.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02))
left.legend(frameon=False, loc="lower right")
right.legend(frameon=False, loc=(0.3, 0.45))
plt.show()

assert abs(areas[0][0] - areas[1][0]) < 0.03
assert areas[0][1] > areas[1][1] + 0.4

# %%
# Probabilities
# -------------
#
# A probability can be judged itself. Let :math:`\pi` be the true one and :math:`p` the forecast. The *log loss* and
# the *Brier score* have the expectations
#
# .. math::
#
#    -\pi \ln p - (1 - \pi) \ln(1 - p) &\quad \text{with the slope} \quad \frac{p - \pi}{p (1 - p)}, \\
#    \pi (1 - p)^2 + (1 - \pi) p^2 &\quad \text{with the slope} \quad 2 (p - \pi) .
#
# Both are least at :math:`p = \pi`: honesty pays. Such losses are called *proper*. The absolute error :math:`|y - p|`
# is not: its expectation is linear in :math:`p`, and the best forecast is 0 or 1, never the truth. The log loss has
# no upper bound (certain and wrong costs infinity), the Brier score has.
#
# Proper losses measure two things together: whether rows are told apart, and whether the forecasts mean what they
# say. The second is *calibration*: of the rows with a forecast of 0.8, 80% should be positive. `calibration_curve`
# counts in bins. Naive Bayes on one column repeated eight times counts the same evidence eight times, and is far too
# sure; a map fitted to rows that were left out repairs it (here ``method="temperature"``: a single factor on the
# log-odds). The order of the rows stays the same, and so does the area under the ROC curve.

from learnt.calibration import CalibratedClassifierCV
from learnt.metrics import brier_score_loss, calibration_curve, log_loss
from learnt.naive_bayes import GaussianNB

label = rng.integers(0, 2, size=6000)
column = rng.normal(label)[:, None]
table = np.repeat(column, 8, axis=1)
sure = GaussianNB().fit(table[:3000], label[:3000]).predict_proba(table[3000:])[:, 1]
mended = CalibratedClassifierCV(GaussianNB(), method="temperature").fit(table[:3000], label[:3000])
honest = mended.predict_proba(table[3000:])[:, 1]
later = label[3000:]

grid = np.linspace(0.01, 0.99, 99)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
losses = {
    "log loss": -0.7 * np.log(grid) - 0.3 * np.log(1 - grid),
    "Brier score": 0.7 * (1 - grid) ** 2 + 0.3 * grid**2,
    "absolute error": 0.7 * (1 - grid) + 0.3 * grid,
}
for (name, loss), colour in zip(losses.items(), (BLUE, GREEN, RED), strict=True):
    left.plot(grid, loss, color=colour, label=name)
    left.plot(grid[loss.argmin()], loss.min(), "o", color=colour)
left.set(xlabel="forecast p, where the truth is 0.7", ylabel="expected loss", ylim=(0, 1.6))
left.legend(frameon=False)
right.plot([0, 1], [0, 1], color="#999999", linestyle=":")
for forecast, name, colour in ((sure, "naive Bayes", RED), (honest, "calibrated", BLUE)):
    observed, mean = calibration_curve(later, forecast, n_bins=10)
    right.plot(mean, observed, "o-", color=colour, label=f"{name}: log loss {log_loss(later, forecast):.2f}")
right.set(xlabel="mean forecast in a bin", ylabel="share of positives")
right.legend(frameon=False)
plt.show()

assert np.allclose([grid[losses["log loss"].argmin()], grid[losses["Brier score"].argmin()]], 0.7)
assert brier_score_loss(later, honest) < brier_score_loss(later, sure)
assert log_loss(later, honest) < log_loss(later, sure)
assert abs(roc_auc_score(later, honest) - roc_auc_score(later, sure)) < 0.002

# %%
# Calibration alone is not enough: to forecast the share of positives for everybody is perfectly calibrated and
# useless.
#
# Costs, and where to cut
# -----------------------
#
# Let :math:`L(i, j)` be the loss of saying :math:`j` when :math:`i` is true, nothing for being right. Where class 1
# has the probability :math:`p`, saying 1 costs :math:`L(2, 1)(1 - p)` on average, and saying 2 costs
# :math:`L(1, 2)\, p`. Say 1 if the former is less:
#
# .. math::
#
#    L(2, 1)(1 - p) < L(1, 2)\, p \iff p > \frac{L(2, 1)}{L(1, 2) + L(2, 1)} .
#
# The zero-one loss puts the threshold at a half. If a miss costs 5 and a false alarm 2, alarm from 2/7 on. Turned
# round, whoever uses the threshold :math:`p_t` acts as if :math:`L(1, 2) / L(2, 1) = (1 - p_t) / p_t`.

from learnt.metrics import cost_threshold, expected_loss, mean_cost

assert cost_threshold([[0, 1], [1, 0]]) == 1 / 2
assert np.isclose(cost_threshold([[0, 5], [2, 0]]), 2 / 7)
assert expected_loss([[0.5, 0.5], [0.2, 0.8]], [[0, 5], [2, 0]]).argmin(axis=1).tolist() == [0, 1]

cuts = np.linspace(0.02, 0.98, 49)
losses = [[0, 5], [2, 0]]  # rows: truly positive, truly negative; columns: said positive, said negative
figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
paid = {}
for forecast, name, colour in ((sure, "naive Bayes", RED), (honest, "calibrated", BLUE)):
    costs = [mean_cost(later, (forecast > cut).astype(int), losses, labels=[1, 0]) for cut in cuts]
    paid[name] = mean_cost(later, (forecast > 2 / 7).astype(int), losses, labels=[1, 0])
    ax.plot(cuts, costs, color=colour, label=f"{name}: {paid[name]:.2f} at 2/7")
ax.axvline(2 / 7, color="#999999", linestyle="--")
ax.set(xlabel="threshold", ylabel="mean cost")
ax.legend(frameon=False)
plt.show()

assert paid["calibrated"] < paid["naive Bayes"]
assert paid["calibrated"] < 1.02 * min(costs)  # of all thresholds, the formula's is best but for chance

# %%
# The formula is right for probabilities that are right. For others one pays too much, or the threshold must be found
# on validation rows. `CostSensitiveClassifier` decides by a loss matrix for any number of classes.
#
# Numbers
# -------
#
# For regression: with errors :math:`e_i = y_i - \hat y_i`,
#
# .. math::
#
#    \text{MAE} = \frac1n \sum_i |e_i|, \qquad \text{RMSE} = \sqrt{\frac1n \sum_i e_i^2}, \qquad
#    R^2 = 1 - \frac{\sum_i e_i^2}{\sum_i (y_i - \bar y)^2} .
#
# RMSE is never below MAE, and far above it where few errors make most of the sum. Both are in the units of :math:`y`.
# :math:`R^2` compares with the best constant: 1 is perfect, 0 is the constant's, and on new rows it can be negative.

from learnt.metrics import mean_absolute_error, r2_score, root_mean_squared_error

truth, guess = np.array([3.0, 1.0, 8.0]), np.array([2.0, 1.0, 5.0])
assert np.isclose(root_mean_squared_error(truth, guess) ** 2, 10 / 3)
assert np.isclose(mean_absolute_error(truth, guess), 4 / 3)
assert np.isclose(r2_score(truth, guess), 1 - 10 / 26)
assert r2_score(truth, truth[::-1]) < 0

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Accuracy with rare positives.** Say the best constant's beside it, always. `balanced_accuracy_score` is a half
#   for every constant.
# - **"Balancing" the rows.** Class weights and resampling move the threshold and spoil the probabilities (exercise
#   3). Fit on the rows as they are and move the threshold by costs.
# - **A threshold tuned on the rows it is judged on.** Choose it on validation rows: `TunedThresholdClassifierCV`.
# - **The area of a model that will be used at one threshold.** Curves cross; compare at the false positive rate you
#   can afford.
# - **Labels passed instead of scores.** `roc_auc_score` of 0 and 1 is the area of a curve with one corner.
# - **Percentages of nearly nothing.** Relative errors explode where :math:`y` is near 0, and favour forecasts that
#   are too low.
# - **:math:`R^2` across data sets.** The same model has a higher one where :math:`y` varies more. Report RMSE too.
# - **No interval.** `auc_interval`, `wilson_interval` and `bootstrap_interval` say how far off a figure may be.
#
# Exercises
# ---------
#
# 1. Scores are :math:`N(0, 1)` for negatives and :math:`N(\delta, 1)` for positives. What is the area under the ROC
#    curve?
# 2. A miss costs 5, a false alarm 2, and asking an expert, who is always right, 1. When should one ask?
# 3. A classifier was trained with positives counted :math:`w` times. How are its probabilities to be corrected?
#
# Solutions
# ---------
#
# 1. :math:`s^+ - s^-` is :math:`N(\delta, 2)`, and the area is the probability that it is positive:
#    :math:`\Phi(\delta / \sqrt2)`. For :math:`\delta = 2`, as in the picture above, 0.921.

from scipy.special import ndtr

assert abs(areas[0][0] - ndtr(2 / np.sqrt(2))) < 0.01

# %%
# 2. Alarm costs :math:`2 (1 - p)`, silence :math:`5 p`, the expert 1. Asking is cheapest where :math:`2 (1 - p) > 1`
#    and :math:`5 p > 1`, so for :math:`1/5 < p < 1/2`.

p = np.linspace(0, 1, 1001)
ask = np.column_stack([2 * (1 - p), 5 * p, np.ones(1001)]).argmin(axis=1) == 2
assert abs(p[ask].min() - 1 / 5) < 2e-3
assert abs(p[ask].max() - 1 / 2) < 2e-3

# %%
# 3. The weights multiply the odds by :math:`w`: the model reports :math:`q = w p / (w p + 1 - p)`. Solved for the
#    probability, :math:`p = q / (q + w (1 - q))`.

from learnt.linear_model import LogisticRegression

rows = rng.normal(size=(20_000, 1))
rare = (rng.uniform(size=20_000) < 1 / (1 + np.exp(4 - 1.5 * rows[:, 0]))).astype(int)
w = 20.0
q = LogisticRegression(C=np.inf, class_weight={0: 1, 1: w}).fit(rows, rare).predict_proba(rows)[:, 1]
corrected = q / (q + w * (1 - q))
print(f"share of positives {rare.mean():.3f}; mean forecast {q.mean():.3f} balanced, {corrected.mean():.3f} corrected")
assert abs(corrected.mean() - rare.mean()) < 0.01 < q.mean() - rare.mean()

# %%
# Next: how sure such figures are, and what they say to do.
