r"""
Imbalanced classes: weights, resampling, or just a threshold?
=============================================================

With three positives in a hundred rows, a classifier that never says "positive" is right 97% of the time, and many
models end up close to it. The usual remedies are weights for the rare class or a balanced sample. Do they make a better
model, or only a model with another threshold?
"""

# %%
# Logistic regression three times: as it is, with ``class_weight="balanced"``, and on a sample in which the common class
# is thinned out until both are as frequent.

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LogisticRegression
from learnt.metrics import (
    accuracy_score,
    log_loss,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
)
from learnt.model_selection import train_test_split

rng = np.random.default_rng(0)
X = rng.normal(size=(30_000, 5))
y = (rng.uniform(size=30_000) < 1 / (1 + np.exp(5 - X @ [1.2, 1.0, 0.8, 0.0, 0.0]))).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
common = rng.permutation(np.flatnonzero(y_train == 0))[: y_train.sum()]
thinned = np.r_[common, np.flatnonzero(y_train == 1)]

fits = {
    "as it is": LogisticRegression().fit(X_train, y_train),
    "balanced weights": LogisticRegression(class_weight="balanced").fit(X_train, y_train),
    "balanced sample": LogisticRegression().fit(X_train[thinned], y_train[thinned]),
}
probabilities = {name: model.predict_proba(X_test)[:, 1] for name, model in fits.items()}

# %%
# Precision and recall depend on the threshold. So, in the last row, the first model gets another one: that at which it
# calls as many rows positive as the one with weights does.


def line(name, p, threshold):
    called = (p > threshold).astype(int)
    accuracy, precision, recall = (f(y_test, called) for f in (accuracy_score, precision_score, recall_score))
    print(f"{name:28}{accuracy:9.2f}{precision:11.2f}{recall:8.2f}{roc_auc_score(y_test, p):6.2f}", end="")
    print(f"{p.mean():18.3f}{log_loss(y_test, p):10.2f}")


print(f"{y_test.mean():.3f} of the test rows are positive")
print(f"{'':28} accuracy  precision  recall   AUC  mean probability  log loss")
for name, p in probabilities.items():
    line(name, p, 0.5)
plain, weighted = probabilities["as it is"], probabilities["balanced weights"]
threshold = np.quantile(plain, 1 - np.mean(weighted > 0.5))
line(f"as it is, threshold {threshold:.3f}", plain, threshold)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for (name, p), colour, width in zip(probabilities.items(), ("#0072b2", "#d55e00", "#009e73"), (5, 2.5, 1), strict=True):
    precision, recall, _ = precision_recall_curve(y_test, p)
    left.plot(recall, precision, color=colour, linewidth=width, label=name)
    edges = np.quantile(p, np.linspace(0, 1, 11))
    groups = np.digitize(p, edges[1:-1])
    means, shares = (np.array([v[groups == g].mean() for g in range(10)]) for v in (p, y_test))
    right.plot(means, shares, "o-", color=colour, markersize=4, label=name)
right.plot([0, 1], [0, 1], color="#999999", linewidth=1)
left.set(xlabel="recall", ylabel="precision")
right.set(xlabel="predicted probability", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1))
left.legend(frameon=False)
plt.show()

# %%
# The curves on the left lie on each other: the three models rank rows alike, and a threshold gives the first all that
# the others have. On the right is the price of balancing: probabilities of 80% for rows of which not even 20% are
# positive. So fit the data as they are, judge by precision and recall or by costs, and move the threshold
# (`FixedThresholdClassifier`, `TunedThresholdClassifierCV`). Thinning the common class saves time where it is huge, and
# weights have their place with models that give no probabilities, such as `SVC`.

areas = [roc_auc_score(y_test, p) for p in probabilities.values()]
assert max(areas) - min(areas) < 0.01
assert abs(plain.mean() - y_test.mean()) < 0.005 < 0.1 < weighted.mean() - y_test.mean()
