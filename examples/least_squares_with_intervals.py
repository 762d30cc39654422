r"""
A line with its confidence band and its prediction band
=======================================================

A fitted line is an estimate, and two questions can be asked of it. Where is the *mean* of y at this x? Where will the
*next* y at this x be? The confidence band answers the first, the prediction band the second, and the second is much
wider. Bands are often drawn of the wrong kind, so we count.
"""

# %%
# 442 patients with diabetes: their body mass index, and how far the disease had gone a year later. The line sees 60 of
# them.

import matplotlib.pyplot as plt
import numpy as np

from learnt.datasets import load_diabetes
from learnt.linear_model import LinearRegression
from learnt.model_selection import train_test_split

data = load_diabetes(scaled=False)
bmi, y = data.data[:, [data.feature_names.index("bmi")]], data.target
bmi_train, bmi_new, y_train, y_new = train_test_split(bmi, y, train_size=60, random_state=0)

model = LinearRegression().fit(bmi_train, y_train)
print(model.summary())

# %%
# With an ``interval``, `predict` gives the prediction and both ends. With :math:`s` the spread of the residuals and
# :math:`t` a quantile of Student's distribution, the ends are at
#
# .. math::
#
#    \hat y \pm t\, s \sqrt{\frac1n + \frac{(x - \bar x)^2}{\sum_i (x_i - \bar x)^2}}
#    \quad \text{for the mean,} \qquad
#    \hat y \pm t\, s \sqrt{1 + \frac1n + \frac{(x - \bar x)^2}{\sum_i (x_i - \bar x)^2}}
#    \quad \text{for a new row.}
#
# The 1 under the second root is the new patient's own deviation. It stays, however many rows the line has seen.

grid = np.linspace(bmi.min(), bmi.max(), 200)[:, None]
line, mean_low, mean_high = model.predict(grid, interval="confidence", level=0.95)
_, new_low, new_high = model.predict(grid, interval="prediction", level=0.95)

shares = {}
for kind in ("confidence", "prediction"):
    _, low, high = model.predict(bmi_new, interval=kind)
    shares[kind] = np.mean((low <= y_new) & (y_new <= high))
    print(f"{shares[kind]:.0%} of {len(y_new)} patients that the line has not seen lie in the 95% {kind} band")
assert shares["confidence"] < 0.4 < 0.9 < shares["prediction"]

# %%
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.fill_between(grid[:, 0], new_low, new_high, color="#0072b2", alpha=0.12, label="95% prediction band: a new patient")
ax.fill_between(grid[:, 0], mean_low, mean_high, color="#0072b2", alpha=0.35, label="95% confidence band: the mean")
ax.plot(grid, line, color="#0072b2")
ax.plot(bmi_new, y_new, ".", color="#999999", markersize=4, label="new patients")
ax.plot(bmi_train, y_train, "o", color="#d55e00", markersize=4, label="the 60 patients of the fit")
ax.set(xlabel="body mass index", ylabel="progression after a year", ylim=(-60, 480))
ax.legend(frameon=False, ncols=2, loc="upper left", fontsize="small")
plt.show()

# %%
# The dark band is where the line may lie, and most new patients are outside of it. To tell a patient what to expect,
# take the light one. It also has an assumption that the dark one hardly needs: errors that are normal and of the same
# size everywhere. Where they are not, `learnt.ensemble.RandomForestRegressor` has intervals that follow the data.
