r"""
Logistic regression: the boundary, the probabilities, the odds ratios
=====================================================================

Logistic regression draws a straight line between two classes. It says more than that: how probable each class is at
every point, and by what factor the odds change for a unit of each column. Those factors, the odds ratios, are what
medical papers report; here they are with their intervals.
"""

# %%
# 569 tumours, and two columns of what the microscope saw: the mean radius of the cell nuclei and their texture (the
# spread of grey values). Is the tumour malignant? ``C=inf`` asks for no penalty, so that the coefficients can be read.
#
# .. math::
#
#    \log \frac{p}{1 - p} = b_0 + b_1 \cdot \mathrm{radius} + b_2 \cdot \mathrm{texture}
#
# One more unit of the radius adds :math:`b_1` to the log odds: it multiplies the odds :math:`p / (1 - p)` by
# :math:`e^{b_1}`, wherever one starts.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_breast_cancer
from learnt.linear_model import LogisticRegression

data = load_breast_cancer()
columns = [list(data.feature_names).index(name) for name in ("mean radius", "mean texture")]
X, malignant = data.data[:, columns], data.target == 0
model = LogisticRegression(C=np.inf).fit(X, malignant)
ratios = np.exp(model.coef_[0])

rng = np.random.default_rng(0)
draws = []
for _ in range(300):  # the bootstrap: the same fit on tables drawn from the rows with replacement
    rows = rng.integers(0, len(X), size=len(X))
    draws.append(np.exp(LogisticRegression(C=np.inf).fit(X[rows], malignant[rows]).coef_[0]))
low, high = np.quantile(draws, [0.025, 0.975], axis=0)
for name, ratio, l, h in zip(("radius", "texture"), ratios, low, high, strict=True):
    print(f"one more unit of {name} multiplies the odds of a malignant tumour by {ratio:.1f} (95%: {l:.1f} to {h:.1f})")

# %%
# A factor for the odds is not a factor for the probability. Odds of 1 in 100 times 3 are about 3 in 100; odds of 9 to 1
# (90%) times 3 are 27 to 1 (96%).

across, up = np.meshgrid(np.linspace(6, 26, 200), np.linspace(8, 38, 200))
probability = model.predict_proba(np.column_stack([across.ravel(), up.ravel()]))[:, 1].reshape(across.shape)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for label, colour, rows in (("benign", "#0072b2", ~malignant), ("malignant", "#d55e00", malignant)):
    left.plot(*X[rows].T, ".", color=colour, markersize=3, label=label)
lines = left.contour(across, up, probability, [0.05, 0.5, 0.95], colors="black", linestyles=["--", "-", "--"])
left.clabel(lines, fmt=lambda p: f"{p:.0%}")
left.set(xlabel="mean radius", ylabel="mean texture")
left.legend(frameon=False, markerscale=3)
radius = np.linspace(6, 26, 200)
for texture, colour in ((14, "#009e73"), (26, "#cc79a7")):
    p = model.predict_proba(np.column_stack([radius, np.full(200, texture)]))[:, 1]
    right.plot(radius, p, color=colour, label=f"texture {texture}")
right.set(xlabel="mean radius", ylabel="probability of a malignant tumour")
right.legend(frameon=False)
plt.show()

# %%
# The lines of equal probability are parallel and close together: between "surely benign" and "surely malignant" lie
# only a few units of the radius. On the right the same odds ratio is a steep rise in the middle and hardly any change
# at the ends. Mind the units: the ratio of the radius is the larger one per unit, but a unit of texture is less of its
# range. And an odds ratio tells of the rows as they came, not of what would happen if a nucleus grew.

assert (low > 1).all()
assert ratios[0] > ratios[1]
