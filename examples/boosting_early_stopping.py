r"""
Early stopping: how many trees does boosting need?
==================================================

Too few trees, and boosting has not learnt yet; too many, and it learns the noise by heart. The right number depends on
the learning rate and on the data, so it should not be guessed. Early stopping holds a part of the rows out and stops
when the loss on these gets no better.
"""

# %%
# A table with noise, and a test set that only judges. First 400 trees without stopping: `staged_predict_proba` says how
# good the model was after each.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import HistGradientBoostingClassifier
from learnt.metrics import log_loss

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 8))
score = 1.5 * X[:, 0] + X[:, 1] * X[:, 2] - np.abs(X[:, 3])
y = (rng.uniform(size=6000) < 1 / (1 + np.exp(-score))).astype(int)
X_train, X_test, y_train, y_test = X[:2000], X[2000:], y[:2000], y[2000:]

long = HistGradientBoostingClassifier(max_iter=400, max_leaf_nodes=8, early_stopping=False, random_state=0)
long.fit(X_train, y_train)
losses = {
    name: np.array([log_loss(labels, p) for p in long.staged_predict_proba(rows)])
    for name, rows, labels in (("training rows", X_train, y_train), ("test rows", X_test, y_test))
}

# %%
# Then with early stopping, for three learning rates. It stops after ten rounds without a better loss on the fifth of
# the training rows that it holds out.

stopped = {}
for rate in (0.3, 0.1, 0.03):
    model = HistGradientBoostingClassifier(
        learning_rate=rate,
        max_iter=1000,
        max_leaf_nodes=8,
        early_stopping=True,
        validation_fraction=0.2,
        random_state=0,
    ).fit(X_train, y_train)
    stopped[rate] = model.n_iter_, log_loss(y_test, model.predict_proba(X_test))
    print(f"learning rate {rate}: stopped after {model.n_iter_} trees, test loss {stopped[rate][1]:.3f}")
print(f"learning rate 0.1, not stopped: 400 trees, test loss {losses['test rows'][-1]:.3f}")
assert losses["test rows"][-1] > max(loss for _, loss in stopped.values())

# %%
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for (name, values), colour in zip(losses.items(), ("#999999", "#0072b2")):
    ax.plot(np.arange(1, 401), values, color=colour, label=f"learning rate 0.1, {name}")
for (rate, (n, loss)), marker in zip(stopped.items(), "vos"):
    ax.plot(n, loss, marker, color="#d55e00", label=f"learning rate {rate}, stopped")
ax.set(xlabel="number of trees", ylabel="log loss")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# The training loss only falls. The test loss turns after some sixty trees, and early stopping ends near the turn
# without having seen a test row. A smaller learning rate takes more trees to much the same loss, so choose the rate by
# patience and leave the number of trees to the rule. With more than 10,000 rows it is on by itself. On small tables the
# rows held out are missed: a last fit on all rows with ``max_iter=model.n_iter_`` wins them back.
