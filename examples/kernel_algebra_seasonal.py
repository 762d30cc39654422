r"""
A seasonal forecast by adding and multiplying kernels
=====================================================

Sums and products of kernels are kernels, and each says something about a series: a trend that bends slowly, a season
that repeats, a season whose shape drifts. A Gaussian process with such a sum forecasts far better than with one smooth
kernel, and its mean falls apart into the parts.
"""

# %%
# Ten years of months: a slow rise, a yearly season with a sharp peak, and noise. The last three years are held out.

import matplotlib.pyplot as plt
import numpy as np

from learnt.gaussian_process import GaussianProcessRegressor
from learnt.kernels import RBF, ExpSineSquared, White

rng = np.random.default_rng(0)
year = np.arange(120) / 12
season = 2 * np.exp(np.sin(2 * np.pi * year))
series = 10 + 0.8 * year + 2 * np.sin(year / 3) + season + 0.4 * rng.normal(size=120)
seen, new = year[:84, None], year[84:, None]
y, level = series[:84] - series[:84].mean(), series[:84].mean()

# %%
# Written as one would say it: a smooth trend over years, plus a season of period 1 that may change its shape over
# decades, plus noise. The numbers are starting points; `GaussianProcessRegressor` learns the best ones from the data,
# the period among them.

kernels = {
    "one smooth kernel": 2 * RBF(0.3, (0.05, 20)) + White(0.1),
    "trend + season": 2 * RBF(5.0) + 2 * RBF(20.0) * ExpSineSquared(1.0, 1.0) + White(0.1),
}
models = {name: GaussianProcessRegressor(kernel).fit(seen, y) for name, kernel in kernels.items()}
errors = {}
for name, model in models.items():
    errors[name] = np.sqrt(np.mean((model.predict(new) + level - series[84:]) ** 2))
    print(f"{name:18}  off by {errors[name]:.1f} in the three years that it has not seen")
learnt = models["trend + season"].kernel_
period = learnt.k1.k2.k2.periodicity
print(f"the period was learnt as {period:.2f} years; the noise as {np.sqrt(learnt.k2.noise_level):.1f} (it is 0.4)")

# %%
# With :math:`k = k_1 + k_2 + \cdots` the mean is a sum, too: the part that belongs to :math:`k_1` is :math:`k_1(x, X)
# K^{-1} y`, and the vector :math:`K^{-1} y` is kept as ``alpha_``.

grid = np.linspace(0, 10, 600)[:, None]
weights = models["trend + season"].alpha_
trend, repeating = (part(grid, seen) @ weights for part in (learnt.k1.k1, learnt.k1.k2))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(3, 2))
for (name, model), colour in zip(models.items(), ("#d55e00", "#0072b2"), strict=True):
    mean, std = model.predict(grid, return_std=True)
    left.plot(grid, mean + level, color=colour, label=name)
    left.fill_between(grid[:, 0], mean + level - 2 * std, mean + level + 2 * std, color=colour, alpha=0.15)
left.plot(year, series, ".", color="#333333", markersize=4, label="months")
left.axvline(7, color="#999999", linestyle=":")
left.set(xlabel="year", ylabel="value", ylim=(8, 28), title="fitted to seven years")
left.legend(frameon=False, loc="upper left", fontsize="small")
right.plot(grid, trend + level, color="#009e73", label="trend")
right.plot(grid, repeating, color="#cc79a7", label="season")
right.set(xlabel="year", title="the parts of its mean")
right.legend(frameon=False)
plt.show()

# %%
# The smooth kernel fits the seven years as well as the sum does, and then knows nothing: its forecast returns to the
# mean within months. The sum goes on with the season, and its band opens only as the trend gets uncertain. How well a
# kernel fits says little; what it believes beyond the data decides.

assert errors["trend + season"] < errors["one smooth kernel"] / 2
assert abs(period - 1) < 0.02
