r"""
How sure is a random forest? Quantiles for every row
====================================================

A forest predicts a mean. Its leaves know more: they hold the targets of similar training rows, and quantiles of these
give a range for a new row. Unlike a margin of ± 2 standard deviations around the prediction, the range is wide where
the data are noisy, narrow where they are not, and lopsided where they are.
"""

# %%
# Delivery times by distance: the spread grows with the distance, and delays are longer than any head start.

import matplotlib.pyplot as plt
import numpy as np

from learnt.ensemble import RandomForestRegressor

rng = np.random.default_rng(0)


def deliveries(n):
    distance = rng.uniform(0, 20, size=n)
    delay = rng.gamma(2, 0.5 + 0.25 * distance)
    return distance[:, None], 10 + 2 * distance + 5 * np.sin(distance / 2) + delay


X, y = deliveries(3000)
X_new, y_new = deliveries(4000)
forest = RandomForestRegressor(100, min_samples_leaf=10, oob_score=True, random_state=0).fit(X, y)

# %%
# `RandomForestRegressor.predict_quantiles` gives any quantiles, `predict_interval` the middle 90%. The usual margin,
# for comparison, is the same everywhere: 1.64 standard deviations of the errors on rows that the trees had not seen.

low, high = forest.predict_interval(X_new, coverage=0.9).T
center, margin = forest.predict(X_new), 1.64 * np.std(y - forest.oob_prediction_)
inside = {"quantiles of the forest": (low <= y_new) & (y_new <= high), "one margin": np.abs(y_new - center) <= margin}

parts = {"below 5 km": X_new[:, 0] < 5, "5 to 15 km": np.abs(X_new[:, 0] - 10) <= 5, "above 15 km": X_new[:, 0] > 15}
print("share of new deliveries within their 90% range")
print(f"{'':24}" + "".join(f"{part:>13}" for part in parts))
shares = {}
for name, hit in inside.items():
    shares[name] = [hit[rows].mean() for rows in parts.values()]
    print(f"{name:24}" + "".join(f"{share:13.0%}" for share in shares[name]))

# %%
grid = np.linspace(0, 20, 300)[:, None]
lower, median, upper = forest.predict_quantiles(grid, q=(0.05, 0.5, 0.95)).T
mean = forest.predict(grid)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
for ax in axes:
    ax.plot(X_new[:1000, 0], y_new[:1000], ".", color="#999999", markersize=2)
    ax.set(xlabel="distance in km", ylim=(0, 100))
axes[0].fill_between(grid[:, 0], lower, upper, color="#0072b2", alpha=0.25, label="5% to 95%")
axes[0].plot(grid, median, color="#0072b2", label="median")
axes[0].set(title="quantiles of the forest", ylabel="minutes")
axes[1].fill_between(grid[:, 0], mean - margin, mean + margin, color="#d55e00", alpha=0.25, label="mean ± one margin")
axes[1].plot(grid, mean, color="#d55e00", label="mean")
axes[1].set(title="one margin for all")
for ax in axes:
    ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Both ranges hold about nine tenths of all new deliveries, but only one of them follows the spread. The single margin
# is far too wide for short ways and too narrow for long ones, where a promise is most needed. The quantiles are a
# little too careful for short ways, as a leaf covers a stretch of the road and not a point: smaller leaves
# (``min_samples_leaf``) sharpen them, until they get too rough.

assert all(abs(share - 0.9) < 0.08 for share in shares["quantiles of the forest"])
assert shares["one margin"][0] > 0.98 > 0.86 > shares["one margin"][2]
