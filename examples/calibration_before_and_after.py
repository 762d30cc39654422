r"""
Can these probabilities be believed? Calibration before and after
=================================================================

A classifier that says 95% should be right in 95 of 100 such cases. Many are not: they rank rows well, and their numbers
are too bold or too timid. That does not matter for a ranking, and it matters for any decision about money or health. A
map fitted to rows that the classifier has not seen repairs it.
"""

# %%
# Naive Bayes takes columns for independent. Where they are not, it counts the same evidence several times and becomes
# too sure. Here 12 of 16 columns are mixtures of the other four, and the true probability is a logistic curve.

import matplotlib.pyplot as plt
import numpy as np

from learnt.calibration import CalibratedClassifierCV
from learnt.metrics import brier_score_loss, calibration_curve, log_loss, roc_auc_score
from learnt.model_selection import train_test_split
from learnt.naive_bayes import GaussianNB

rng = np.random.default_rng(0)
state = rng.normal(size=(12_000, 4))
X = np.column_stack([state, state @ rng.normal(size=(4, 12)) + 0.5 * rng.normal(size=(12_000, 12))])
y = (rng.uniform(size=12_000) < 1 / (1 + np.exp(-state.sum(axis=1)))).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=6000, random_state=0)

models = {
    "before": GaussianNB(),
    "after, sigmoid": CalibratedClassifierCV(GaussianNB(), method="sigmoid"),
    "after, temperature": CalibratedClassifierCV(GaussianNB(), method="temperature"),
    "after, isotonic": CalibratedClassifierCV(GaussianNB(), method="isotonic"),
}
probabilities, losses = {}, {}
print(f"{'':20}{'log loss':>10}{'Brier':>8}{'AUC':>7}")
for name, model in models.items():
    p = probabilities[name] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    losses[name] = log_loss(y_test, p)
    print(f"{name:20}{losses[name]:10.2f}{brier_score_loss(y_test, p):8.2f}{roc_auc_score(y_test, p):7.2f}")

# %%
# Calibration hardly changes the order of the rows (AUC), and improves the losses that judge probabilities a lot. To see
# it, put rows into bins by their prediction and compare each bin's mean prediction with its share of positives.

styles = {
    "before": "#d55e00",
    "after, sigmoid": "#0072b2",
    "after, temperature": "#cc79a7",
    "after, isotonic": "#009e73",
}
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot([0, 1], [0, 1], color="#999999", linewidth=1)
for name, colour in styles.items():
    share, mean = calibration_curve(y_test, probabilities[name], n_bins=12, strategy="quantile")
    left.plot(mean, share, "o-", color=colour, markersize=4, label=name)
    right.hist(probabilities[name], np.linspace(0, 1, 21), histtype="step", linewidth=1.5, color=colour, label=name)
left.set(xlabel="predicted probability", ylabel="share of positives")
right.set(xlabel="predicted probability", ylabel="rows")
left.legend(frameon=False)
plt.show()

# %%
# Before, the curve is too flat: of rows that naive Bayes calls almost sure a good share is of the other class, and on
# the right one sees that it is almost sure of most rows. After, two of the maps lie on the diagonal. A temperature is
# one number that tones down all probabilities alike, and being too sure is all that is wrong here. The isotonic map can
# take any rising shape, and wants a thousand rows or more. The sigmoid is made for scores without limits, such as those
# of `LinearSVC`; of probabilities that crowd at 0 and 1 it makes a range from 0.17 to 0.83, with no way beyond.

bold = probabilities["before"] < 0.05
share = y_test[bold].mean()
print(f"before: 'below 5%' is said of {bold.mean():.0%} of the rows, and {share:.0%} of these are positive")
assert all(losses[name] < losses["before"] - 0.1 for name in list(models)[1:])
assert share > 0.1
