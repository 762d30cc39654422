r"""
The lasso path: which columns come in, and when
===============================================

The lasso shrinks coefficients until most of them are exactly 0. Followed from a strong penalty to none, it is an
order of the columns: the one that helps most comes in first. Cross-validation says where to stop.
"""

# %%
# Ten measurements of 442 patients, and ten columns of noise that we add to see whether they are found out. The penalty
# adds up coefficients, so the columns are brought to the same units first.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_diabetes
from learnt.linear_model import LassoCV, lasso_path
from learnt.model_selection import KFold
from learnt.preprocessing import StandardScaler

rng = np.random.default_rng(0)
data = load_diabetes()
X = StandardScaler().fit_transform(np.column_stack([data.data, rng.normal(size=(442, 10))]))
y = data.target - data.target.mean()
names = [*data.feature_names, *["noise"] * 10]

alphas, coefs, _ = lasso_path(X, y, alphas=np.geomspace(50, 0.05, 150))
entry = np.array([np.argmax(c != 0) if c.any() else len(alphas) for c in coefs])  # where on the path a column comes in
first = np.argsort(entry, kind="stable")
print("the order of entry:", ", ".join(names[j] for j in first[:6]), "…")

# %%
# `LassoCV` runs the path on each fold and takes the penalty with the least error on the rows left out. Its curve is
# flat at the bottom, so the choice is loose: a common rule is to take the strongest penalty whose error is within one
# standard error of the least.

chosen = LassoCV(alphas=alphas, cv=KFold(10, shuffle=True, random_state=0)).fit(X, y)
error = chosen.mse_path_.mean(axis=1)
standard_error = chosen.mse_path_.std(axis=1, ddof=1) / np.sqrt(10)
best = error.argmin()
simple = np.flatnonzero(error <= error[best] + standard_error[best]).min()  # alphas_ falls: the first is the strongest
for rule, at in (("least error", best), ("one standard error", simple)):
    kept = np.flatnonzero(coefs[:, at])
    real = [names[j] for j in kept if j < 10]
    print(f"{rule}: {len(real)} measurements ({', '.join(real)}) and {len(kept) - len(real)} columns of noise")

# %%
# Where labels stand: at which penalty, and how many points above the line.
labelled = {"bmi": (6, 4), "s5": (6, -12), "bp": (3, 4), "s3": (5, -12), "sex": (0.13, -12)}
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharex=True)
for j, path in enumerate(coefs):
    strong = names[j] in labelled
    colour = "#bbbbbb" if names[j] == "noise" else "#0072b2" if strong else "#56a0d3"
    left.plot(alphas, path, color=colour, linewidth=1.6 if strong else 1)
    if strong:
        penalty, above = labelled[names[j]]
        at = np.abs(alphas - penalty).argmin()
        left.annotate(names[j], (alphas[at], path[at]), textcoords="offset points", xytext=(0, above), fontsize="small")
left.plot([], color="#bbbbbb", label="columns of noise")
left.set(xscale="log", xlabel="penalty α", ylabel="coefficient", ylim=(-20, 32))
left.legend(frameon=False, loc="lower left")
right.plot(chosen.alphas_, error, color="#0072b2")
right.fill_between(chosen.alphas_, error - standard_error, error + standard_error, color="#0072b2", alpha=0.15)
right.set(xlabel="penalty α", ylabel="squared error on rows left out")
for ax in (left, right):
    ax.axvline(alphas[best], color="#d55e00", linestyle="--", label="least error")
    ax.axvline(alphas[simple], color="#009e73", linestyle=":", label="one standard error")
right.legend(frameon=False, loc="upper center")
left.invert_xaxis()
plt.show()

# %%
# Read from left to right: body mass index (``bmi``) and a blood value (``s5``) come first and stay. The penalty with
# the least error lets some noise in, since it is chosen for prediction and not for the truth of the list. The simpler
# rule keeps fewer columns at nearly the same error. Of two columns that are alike the lasso takes one, so that a column
# which is missing from the list may still matter.

assert set(first[:2]) == {names.index("bmi"), names.index("s5")}
