r"""
Which threshold? The one that costs least
=========================================

A classifier decides at a probability of one half unless it is told otherwise. That is right if both mistakes cost the
same, and they rarely do. With the two prices known, the best threshold is known before any data are seen, provided
that the probabilities are calibrated; where they are not, it can be tuned.
"""

# %%
# A machine with twelve sensors is checked when a model says that it may fail. A needless check costs 1; a failure that
# was missed costs 30. A row of the matrix is the truth, a column the decision. Checking costs :math:`1 - p` on average
# and not checking :math:`30 p`, so it pays from :math:`p = 1/31` on.

import matplotlib.pyplot as plt
import numpy as np

from learnt.bayes import CostSensitiveClassifier
from learnt.linear_model import LogisticRegression
from learnt.metrics import cost_threshold, mean_cost
from learnt.model_selection import train_test_split
from learnt.naive_bayes import GaussianNB

costs = np.array([[0, 1], [30, 0]])
fail_from = 1 - cost_threshold(costs)  # the function is for the first class, which is "runs on" here
print(f"the rule: check from a probability of {fail_from:.3f} on")

rng = np.random.default_rng(0)
state = rng.normal(size=(12_000, 4))
X = np.column_stack([state, state @ rng.normal(size=(4, 8)) + 0.5 * rng.normal(size=(12_000, 8))])  # 12 alike sensors
y = (rng.uniform(size=12_000) < 1 / (1 + np.exp(2.5 - state @ [1.0, 1.0, 1.0, -1.0]))).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=6000, stratify=y, random_state=0)

# %%
# `CostSensitiveClassifier` decides by the least expected cost. Around it: the usual one half, and the two rules that
# need no model, never checking and always checking.

models = {"logistic regression": LogisticRegression(), "naive Bayes": GaussianNB()}
thresholds = np.geomspace(1e-5, 0.9, 150)
curves, found = {}, {}
print(f"never checking costs {30 * y_test.mean():.2f} a machine, always checking {1 - y_test.mean():.2f}")
for name, model in models.items():
    half = mean_cost(y_test, model.fit(X_train, y_train).predict(X_test), costs)
    careful = CostSensitiveClassifier(model, costs).fit(X_train, y_train)
    found[name] = mean_cost(y_test, careful.predict(X_test), costs)
    p = model.predict_proba(X_test)[:, 1]
    curves[name] = [mean_cost(y_test, (p > t).astype(int), costs) for t in thresholds]
    least = min(curves[name])
    print(f"{name:20} at one half {half:.2f}, by the rule {found[name]:.2f}; the best threshold would cost {least:.2f}")
    assert found[name] < half

# %%
figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for (name, curve), colour in zip(curves.items(), ("#0072b2", "#d55e00"), strict=True):
    ax.plot(thresholds, curve, color=colour, label=name)
ax.axhline(1 - y_test.mean(), color="#999999", linestyle=":", label="always checking")
ax.axvline(fail_from, color="#009e73", linestyle="--", label="by the costs: 1/31")
ax.axvline(0.5, color="#555555", linewidth=1, label="the usual half")
ax.set(xscale="log", xlabel="threshold", ylabel="mean cost on new rows", ylim=(0.2, 2))
ax.legend(frameon=False, ncols=2, fontsize="small")
plt.show()

# %%
# The blue curve is lowest where the rule says, and one half costs several times as much. Naive Bayes is too sure of
# itself, so its probabilities do not deserve the rule: its curve has the bottom far to the left. Calibrate it
# (`CalibratedClassifierCV`) or tune its threshold on rows left out (`TunedThresholdClassifierCV`). A curve that is flat
# around its bottom is good news: the costs need not be known exactly.

assert found["logistic regression"] < 1.1 * min(curves["logistic regression"])
assert thresholds[np.argmin(curves["naive Bayes"])] < fail_from / 3
