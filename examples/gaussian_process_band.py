r"""
A Gaussian process knows where it does not know
===============================================

Most regressors answer just as firmly far from the data as among them. A Gaussian process gives a distribution over
functions: narrow near the rows it has seen, wide in gaps and beyond the ends. That is what one wants for few, dear
measurements, and for the question where to measure next.
"""

# %%
# 25 noisy measurements with a gap in the middle. The kernel says what functions are like: their height, over what
# distance they change (``RBF``) and how large the noise is (``White``). `GaussianProcessRegressor` learns all three by
# the marginal likelihood.

import matplotlib.pyplot as plt
import numpy as np

from learnt.gaussian_process import GaussianProcessRegressor
from learnt.kernels import RBF, White

rng = np.random.default_rng(3)


def truth(x):
    return np.sin(x) + 0.3 * x


x = np.r_[rng.uniform(0, 3.5, size=15), rng.uniform(6.5, 9, size=10)]
y = truth(x) + 0.15 * rng.normal(size=25)
model = GaussianProcessRegressor(1.0 * RBF(1.0) + White(0.1), normalize_y=True).fit(x[:, None], y)
height, length, noise = np.exp(model.kernel_.theta)
print(f"learnt: functions change over a distance of {length:.1f}; noise {np.sqrt(noise) * y.std():.2f} (it is 0.15)")

# %%
# The standard deviation that `predict` gives with this kernel is of a new *measurement*, with its noise. Curves drawn
# from the posterior by ``sample_y`` show what the band stands for: each of them is a function that the data allow.

grid = np.linspace(-2, 12, 300)
mean, std = model.predict(grid[:, None], return_std=True)
smooth = GaussianProcessRegressor(model.kernel_.k1, alpha=noise, optimizer=None, normalize_y=True).fit(x[:, None], y)
curves = smooth.sample_y(grid[:, None], n_samples=4, random_state=0)

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.fill_between(grid, mean - 2 * std, mean + 2 * std, color="#0072b2", alpha=0.2, label="mean ± 2 standard deviations")
ax.plot(grid, curves, color="#0072b2", linewidth=0.6, alpha=0.7)
ax.plot(grid, mean, color="#0072b2", linewidth=2, label="mean")
ax.plot(grid, truth(grid), color="#555555", linestyle="--", label="truth")
ax.plot(x, y, "o", color="#d55e00", markersize=4, label="measurements")
ax.set(xlabel="x", ylabel="y", ylim=(-3, 6))
ax.legend(frameon=False, ncols=2, loc="upper left")
plt.show()

# %%
# In the gap the band opens, and the thin curves take different ways through it; beyond the ends the mean returns to the
# average of y and the band to the spread that y has. Where to measure next? Where the band is widest within the range:

inside = (grid >= x.min()) & (grid <= x.max())
widest = grid[inside][std[inside].argmax()]
print(f"measure next at x = {widest:.1f}")
covered = np.abs(mean - truth(grid))[inside] < 2 * std[inside]
print(f"the true curve lies within the band on {covered.mean():.0%} of the range of the measurements")
assert 3.5 < widest < 6.5
assert covered.mean() > 0.9
