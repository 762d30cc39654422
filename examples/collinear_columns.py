r"""
Why do coefficients jump when columns are alike?
================================================

A coefficient is 12 today and −9 with a few other rows tomorrow, and both models predict equally well. The usual cause
is two columns that say the same: least squares then knows what they do together, and not which of them does it. Ridge
regression settles the question by sharing.
"""

# %%
# Shoe sizes, say, of the left and the right foot: two columns that differ by a hair. The truth is
# :math:`y = x_1 + x_2 + \text{noise}`. We draw 300 tables of 50 rows from the same source and fit each.

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LinearRegression, Ridge

rng = np.random.default_rng(0)


def table(n):
    size = rng.normal(size=n)
    X = size[:, None] + 0.05 * rng.normal(size=(n, 2))  # correlated by 0.998
    return X, X.sum(axis=1) + rng.normal(size=n)


X_new, y_new = table(2000)
models = {"least squares": LinearRegression(), "ridge, α = 1": Ridge(alpha=1.0)}
coefs = {name: [] for name in models}
errors = {name: [] for name in models}
for _ in range(300):
    X, y = table(50)
    for name, model in models.items():
        model.fit(X, y)
        coefs[name].append(model.coef_)
        errors[name].append(np.mean((model.predict(X_new) - y_new) ** 2))
coefs = {name: np.array(found) for name, found in coefs.items()}

print(f"{'':14}{'first coefficient':>20}{'sum of both':>16}{'error on new rows':>20}")
for name, found in coefs.items():
    first, total = (f"{b.mean():.1f} ± {b.std():.1f}" for b in (found[:, 0], found.sum(axis=1)))
    print(f"{name:14}{first:>20}{total:>16}{np.mean(errors[name]):>20.2f}")

# %%
# Where does the uncertainty come from? The variance of the coefficients is :math:`\sigma^2 (X^\top X)^{-1}`. Along the
# direction in which the columns agree, :math:`(1, 1)`, there is much data; along :math:`(1, -1)` there is hardly any,
# and the inverse is huge. Ridge adds :math:`\alpha` to every direction: next to nothing for the first, everything for
# the second.

alphas = np.geomspace(1e-4, 1e3, 50)
X, y = table(50)
path = np.array([Ridge(alpha=a).fit(X, y).coef_ for a in alphas])

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for (name, found), colour in zip(coefs.items(), ("#d55e00", "#0072b2"), strict=True):
    left.plot(*found.T, ".", color=colour, markersize=4, label=name)
left.plot(1, 1, "k+", markersize=12, label="the truth")
left.set(xlabel="first coefficient", ylabel="second coefficient", title="300 tables from one source")
left.legend(frameon=False)
for coefficient, colour, label in zip(path.T, ("#0072b2", "#009e73"), ("first", "second"), strict=True):
    right.plot(alphas, coefficient, color=colour, label=label)
right.plot(alphas, path.sum(axis=1), "--", color="#555555", label="sum")
right.set(xscale="log", xlabel="penalty α", ylabel="coefficient", title="one table, every penalty")
right.legend(frameon=False)
plt.show()

# %%
# All orange dots lie on the line :math:`b_1 + b_2 = 2`: the sum was never in doubt. A small penalty brings the dots to
# the truth, and costs nothing in prediction. If the columns are meant to be read one by one, no penalty is a remedy:
# drop one of them, or take their mean as the column.

spread = {name: found[:, 0].std() for name, found in coefs.items()}
assert spread["ridge, α = 1"] < spread["least squares"] / 4
assert np.mean(errors["ridge, α = 1"]) < np.mean(errors["least squares"])
