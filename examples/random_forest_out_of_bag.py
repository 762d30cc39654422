r"""
Out-of-bag error: judging a random forest without a test set
============================================================

Every tree of a random forest is grown on rows drawn with replacement, and about 37% of the rows are not drawn. For
those the tree is an honest judge. Voting over them gives every training row a prediction by trees that have not seen
it: a cross-validation that costs no further fit.
"""

# %%
# With ``warm_start`` a forest keeps its trees and grows more of them. Its out-of-bag error on 400 rows is compared with
# its error on 20,000 rows that it never saw.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import RandomForestRegressor
from learnt.metrics import mean_squared_error

rng = np.random.default_rng(0)
X = rng.uniform(size=(20_400, 6))
y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3] + rng.normal(size=len(X))
X_train, y_train, X_new, y_new = X[:400], y[:400], X[400:], y[400:]

numbers = [20, 30, 50, 80, 120, 200, 300, 500]
forest = RandomForestRegressor(warm_start=True, oob_score=True, max_features=1 / 2, random_state=0)
out_of_bag, unseen, seen = [], [], []
for n in numbers:
    forest.set_params(n_estimators=n).fit(X_train, y_train)
    out_of_bag.append(mean_squared_error(y_train, forest.oob_prediction_))
    unseen.append(mean_squared_error(y_new, forest.predict(X_new)))
    seen.append(mean_squared_error(y_train, forest.predict(X_train)))
print(f"squared error with {n} trees: {out_of_bag[-1]:.2f} out of bag, {unseen[-1]:.2f} on new rows,")
print(f"and {seen[-1]:.2f} on the rows it was fitted to, which says nothing")
assert abs(out_of_bag[-1] / unseen[-1] - 1) < 0.2
assert seen[-1] < unseen[-1] / 3

# %%
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(numbers, out_of_bag, "o-", color="#0072b2", label="out of bag")
ax.plot(numbers, unseen, "s-", color="#009e73", label="20,000 new rows")
ax.plot(numbers, seen, "^-", color="#d55e00", label="the training rows")
ax.set(xlabel="number of trees", ylabel="mean squared error", xscale="log", ylim=(0, None))
ax.set_xticks(numbers, [str(n) for n in numbers])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# The two honest curves meet at the right, far above the third. With few trees the out-of-bag error is too high, because
# each row is judged by about a third of them: use a few hundred. Rows that belong together (a patient's visits) spoil
# it: then a cross-validation by groups is needed.
