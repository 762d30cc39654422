r"""
ROC or precision and recall? What rare positives change
=======================================================

The ROC curve of a model does not depend on how common the positives are. That is its strength, and a trap: with one
positive among a hundred rows, an area of 0.9 can mean that nine alarms of ten are false. The curve of precision and
recall shows it.
"""

# %%
# The same scores in two places: a clinic where half of the people are ill, and a screening where one in a hundred is.
# The scores of the ill have one distribution and those of the healthy another, the same in both.

import matplotlib.pyplot as plt
import numpy as np

from learnt.diagnosis import auc_interval
from learnt.metrics import average_precision_score, precision_recall_curve, roc_curve

rng = np.random.default_rng(0)


def people(n, share):
    ill = rng.uniform(size=n) < share
    return ill.astype(int), rng.normal(1.8 * ill)


places = {"clinic: 50% ill": people(4000, 0.5), "screening: 1% ill": people(40_000, 0.01)}
colours = ("#0072b2", "#d55e00")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot([0, 1], [0, 1], color="#999999", linewidth=1)
areas, at_80 = {}, {}
for (place, (ill, score)), colour in zip(places.items(), colours, strict=True):
    areas[place] = auc_interval(ill, score)
    precision, recall, _ = precision_recall_curve(ill, score)
    at_80[place] = precision[recall >= 0.8].max()
    found, low, high = areas[place]
    print(f"{place}: area under ROC {found:.2f} (95%: {low:.2f} to {high:.2f}), ", end="")
    print(f"average precision {average_precision_score(ill, score):.2f}")
    print(f"    of the alarms that find 80% of the ill, {at_80[place]:.0%} are right")
    false_alarms, hits, _ = roc_curve(ill, score)
    left.plot(false_alarms, hits, color=colour, label=place)
    right.plot(recall, precision, color=colour, label=place)
    right.axhline(ill.mean(), color=colour, linewidth=1, linestyle=":")
left.set(xlabel="share of the healthy with an alarm", ylabel="share of the ill found", title="ROC")
right.set(xlabel="recall: share of the ill found", ylabel="precision: share of alarms that are right", ylim=(0, 1.05))
right.set(title="precision and recall")
left.legend(frameon=False, loc="lower right")
plt.show()

# %%
# The arithmetic: with a rate of hits :math:`h`, of false alarms :math:`f` and a share of positives :math:`\pi`,
#
# .. math::
#
#    \mathrm{precision} = \frac{\pi h}{\pi h + (1 - \pi) f} .
#
# To find 80% of the ill, some 17% of the healthy get an alarm, in both places. Where one in a hundred is ill these are
# many more people than the ill. On the left the curves lie on each other; on the right they have little in common, and
# so have their floors (dotted), the precision of a coin.
#
# Use the ROC curve to compare models on the same rows and to see how well they rank. Use precision and recall to say
# what people will live with, on rows with the share of positives that they will meet: a balanced sample flatters.

first, second = areas.values()
assert abs(first.estimate - second.estimate) < 0.03
assert at_80["clinic: 50% ill"] > 0.75 > 0.1 > at_80["screening: 1% ill"]
