r"""
Gaussian processes
==================

Kernel ridge gives one curve. How far may it be off, here and there? How wide should the kernel be? Both have an answer
if the unknown function is itself taken as random: before any row, all functions with some smoothness are possible; rows
rule out those that miss them. What is left has a mean, which is the curve of kernel ridge, and a spread, which is new.
"""

# %%
# What one value says of another
# ------------------------------
#
# Everything rests on one property of Gaussians. Let :math:`a` and :math:`b` be parts of a Gaussian vector with mean 0
# and covariances :math:`\Sigma_{aa}, \Sigma_{ab}, \Sigma_{bb}`. The vector :math:`a - \Sigma_{ab}\Sigma_{bb}^{-1} b`
# has covariance 0 with :math:`b`, hence is independent of it: knowing :math:`b` shifts :math:`a` by
# :math:`\Sigma_{ab}\Sigma_{bb}^{-1} b` and leaves this rest,
#
# .. math::
#
#    a \mid b \;\sim\; N\!\left(\Sigma_{ab} \Sigma_{bb}^{-1}\, b, \;\;
#    \Sigma_{aa} - \Sigma_{ab} \Sigma_{bb}^{-1} \Sigma_{ba}\right) .
#
# Three houses: two are neighbours, with correlated prices, and the third is far off and of another class. Prices are
# differences from what is usual, and house 1 is sold at 2 above. Then house 2 is expected at 1.8, its variance falls
# from 1 to 0.19, and of house 3 nothing is learnt.

import matplotlib.pyplot as plt
import numpy as np

houses = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 10.0]])


def condition(covariance, unknown, known, values):
    """Mean and covariance of some entries of a Gaussian vector of mean 0, given others."""
    across = covariance[np.ix_(unknown, known)]
    pull = across @ np.linalg.inv(covariance[np.ix_(known, known)])
    return pull @ values, covariance[np.ix_(unknown, unknown)] - pull @ across.T


mean, left = condition(houses, [1, 2], [0], np.array([2.0]))
assert np.allclose(mean, [1.8, 0.0])
assert np.allclose(left, [[0.19, 0.0], [0.0, 10.0]])

# %%
# A prior over functions
# ----------------------
#
# A *Gaussian process* says that the values of a function at any finite set of points are such a vector, of mean 0 and
# with the covariance :math:`\mathrm{Cov}(f(x), f(z)) = k(x, z)`. A covariance matrix must be positive semidefinite, and
# that is what a kernel is. Linear models are a special case: :math:`f(x) = w^T \phi(x)` with :math:`w \sim N(0, I)` has
# the covariance :math:`\phi(x)^T \phi(z)`. With the Gaussian kernel of length :math:`\ell`, points much nearer than
# :math:`\ell` have nearly the same value, and points much further apart have nothing to do with each other.
#
# Rows are seen with noise, :math:`y_i = f(x_i) + \varepsilon_i`, of variance :math:`\sigma^2`. The values at the rows
# and the value at a new point :math:`x` are jointly Gaussian, so conditioning is the whole of learning. With
# :math:`K = k(X, X)` and :math:`k_*` the vector of :math:`k(x_i, x)`:
#
# .. math::
#
#    f(x) \mid y \;\sim\; N\!\left(k_*^T (K + \sigma^2 I)^{-1} y, \;\;
#    k(x, x) - k_*^T (K + \sigma^2 I)^{-1} k_*\right) .

from learnt.gaussian_process import GaussianProcessRegressor
from learnt.kernels import RBF

rng = np.random.default_rng(3)
x = np.array([[0.4], [1.1], [1.5], [3.2], [3.5], [4.8]])
y = np.sin(1.5 * x[:, 0]) + 0.1 * rng.normal(size=6)
grid = np.linspace(-0.5, 6.5, 200)[:, None]

process = GaussianProcessRegressor(RBF(0.8), alpha=0.01, optimizer=None)  # alpha is the variance of the noise
before = process.sample_y(grid, n_samples=5, random_state=0)
process.fit(x, y)
after = process.sample_y(grid, n_samples=5, random_state=0)
mean, deviation = process.predict(grid, return_std=True)

k = RBF(0.8)
inverse = np.linalg.inv(k(x) + 0.01 * np.eye(6))
assert np.allclose(mean, k(grid, x) @ inverse @ y)
assert np.allclose(deviation**2, 1 - np.sum(k(grid, x) @ inverse * k(grid, x), axis=1), atol=1e-7)

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3), sharey=True, layout="constrained")
for ax in axes:
    ax.set_prop_cycle(color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555"])
axes[0].plot(grid, before, linewidth=1)
axes[0].fill_between(grid[:, 0], -2, 2, color="#888888", alpha=0.15)
axes[0].set(xlabel="x", ylabel="f(x)", title="before: functions drawn from the prior")
axes[1].plot(grid, after, linewidth=1)
axes[1].plot(x, y, "ko", markersize=4)
axes[1].fill_between(grid[:, 0], mean - 2 * deviation, mean + 2 * deviation, color="#888888", alpha=0.2)
axes[1].set(xlabel="x", title="after six rows: those that are left")
plt.show()

# %%
# Three things to see. Where there are no rows, the mean goes back to 0 and the spread to that of the prior. The spread
# does not depend on :math:`y` at all, only on where the rows are: it can be computed before they are measured. And
# without noise the curve goes through all rows, with spread 0 there.
#
# The mean is kernel ridge, with the penalty :math:`\alpha = \sigma^2`. A weak penalty claims that there is little
# noise.

from learnt.kernel_ridge import KernelRidge

ridge = KernelRidge(alpha=0.01, kernel=RBF(0.8)).fit(x, y)
assert np.allclose(ridge.predict(grid), mean)
exact = GaussianProcessRegressor(RBF(0.8), optimizer=None).fit(x, y)
at_rows, spread = exact.predict(x, return_std=True)
assert np.allclose(at_rows, y, atol=1e-4)
assert spread.max() < 1e-2

# %%
# How likely are the rows?
# ------------------------
#
# Length, height and noise need not be searched on held-out rows. Before any row is seen, :math:`y` is Gaussian with the
# covariance :math:`K_y = K + \sigma^2 I`. Its density, in which all functions have been averaged out, is the *marginal
# likelihood*:
#
# .. math::
#
#    \log p(y) = -\tfrac{1}{2}\, y^T K_y^{-1} y \;-\; \tfrac{1}{2} \log |K_y| \;-\; \tfrac{n}{2} \log 2\pi .
#
# The first term asks for a good fit, the second punishes a kernel under which very many different :math:`y` are
# possible. A short length fits anything and has a large determinant; a long one is modest and fails to fit. The best is
# between, without a validation set. `GaussianProcessRegressor` climbs this hill by its gradient in the logarithms of
# all parameters that are not "fixed"; ``White`` is noise as a part of the kernel.

from learnt.kernels import White

places = np.sort(rng.uniform(0, 6, 25))[:, None]
seen = 1.5 * np.sin(1.5 * places[:, 0]) + 0.3 * rng.normal(size=25)
lengths = np.geomspace(0.05, 20, 60)
fit, modesty, total = [], [], []
for length in lengths:
    Ky = 2.0 * RBF(length)(places) + 0.09 * np.eye(25)
    fit.append(-seen @ np.linalg.solve(Ky, seen) / 2)
    modesty.append(-np.linalg.slogdet(Ky)[1] / 2)
    total.append(fit[-1] + modesty[-1] - 25 / 2 * np.log(2 * np.pi))

learnt_kernel = GaussianProcessRegressor(1.0 * RBF(1.0) + White(0.1)).fit(places, seen)
signal, noise = learnt_kernel.kernel_.k1, learnt_kernel.kernel_.k2
print(f"found: a length of {signal.k2.length_scale:.1f}, noise of the variance {noise.noise_level:.2f} (0.09 is true)")
assert abs(signal.k2.length_scale - lengths[np.argmax(total)]) < 0.5
Ky = learnt_kernel.kernel_(places)
by_hand = -seen @ np.linalg.solve(Ky, seen) / 2 - np.linalg.slogdet(Ky)[1] / 2 - 25 / 2 * np.log(2 * np.pi)
assert np.isclose(by_hand, learnt_kernel.log_marginal_likelihood_value_)

centre, of_y = learnt_kernel.predict(grid, return_std=True)
of_f = np.sqrt(np.maximum(0, of_y**2 - noise.noise_level))
figure, axes = plt.subplots(1, 2, figsize=(8.5, 3), layout="constrained")
for values, name, colour in ((fit, "fit", "#009e73"), (modesty, "modesty", "#cc79a7"), (total, "log p(y)", "#0072b2")):
    axes[0].plot(lengths, values, color=colour, label=name)
axes[0].set(xscale="log", ylim=(-120, 60), xlabel="length of the kernel", ylabel="logarithm")
axes[0].legend(frameon=False, loc="lower center")
axes[1].plot(places, seen, "k.", markersize=5)
axes[1].plot(grid, centre, color="#0072b2")
axes[1].fill_between(grid[:, 0], centre - 2 * of_y, centre + 2 * of_y, color="#888888", alpha=0.2, label="a new row")
axes[1].fill_between(grid[:, 0], centre - 2 * of_f, centre + 2 * of_f, color="#0072b2", alpha=0.3, label="the function")
axes[1].set(xlabel="x", ylabel="y")
axes[1].legend(frameon=False, loc="lower left")
plt.show()

# %%
# With ``White`` in the kernel, ``predict(..., return_std=True)`` is the spread of a new *row*, noise included; with
# noise given as ``alpha`` it is that of the function. Say which one you report.
#
# Structure is written in the kernel
# ----------------------------------
#
# Sums of kernels are sums of independent functions, so knowledge goes in by the algebra: a slow trend, plus a season
# that repeats, plus noise. Two years of months are extrapolated by what repeats; the Gaussian kernel alone only falls
# back.

from learnt.kernels import ExpSineSquared

months = np.arange(36.0)[:, None]
sales = 0.03 * months[:, 0] + np.sin(2 * np.pi * months[:, 0] / 12) + 0.15 * rng.normal(size=36)
past, future = months[:24], months[24:]
kernels = {
    "a Gaussian": 1.0 * RBF(3.0) + White(0.02),
    "trend and season": 1.0 * RBF(30.0) + 1.0 * ExpSineSquared(1.0, periodicity=12.0) + White(0.02),
}
for name, kernel in kernels.items():
    forecast = GaussianProcessRegressor(kernel, optimizer=None).fit(past, sales[:24])
    print(
        f"{name:17s} is off by {np.sqrt(np.mean((forecast.predict(future) - sales[24:]) ** 2)):.2f} in the third year"
    )

# %%
# The price, and what to do
# -------------------------
#
# Factoring :math:`K_y` takes :math:`n^3/3` operations, and :math:`8n^2` bytes: 10 000 rows are 0.8 GB, and each step of
# the search factors anew. Ways out, in this order: fewer rows (of one smooth column some hundred say nearly all);
# ``method="inducing"``, which sees all rows through :math:`m` of them at a cost in :math:`n m^2`, and bounds
# :math:`\log p(y)` from below; ``method="cg"``, which solves with the whole :math:`K` without storing it; ridge on
# `Nystroem` columns, without a spread.

many = rng.uniform(0, 10, size=(1200, 1))
waves = np.sin(many[:, 0]) + 0.2 * rng.normal(size=1200)
known = 1.0 * RBF(1.0) + White(0.04)
through = np.linspace(0, 10, 50)[:, None]
full = GaussianProcessRegressor(known, optimizer=None).fit(many, waves)
few = GaussianProcessRegressor(known, optimizer=None, method="inducing", n_inducing=25).fit(many, waves)
assert np.abs(full.predict(through) - few.predict(through)).max() < 1e-3
assert few.log_marginal_likelihood_value_ <= full.log_marginal_likelihood_value_ + 1e-6

# %%
# What goes wrong
# ---------------
#
# - **No noise.** Real rows have some. With the default ``alpha=1e-10`` and no ``White``, the length shrinks until the
#   curve passes through everything; repeated rows make :math:`K` singular, and a warning says so.
# - **Targets far from 0.** The prior has mean 0, and that is what predictions go back to. ``normalize_y=True``.
# - **The wrong hill.** The likelihood can have several: everything is noise, or everything is signal. Start from
#   several places (``n_restarts_optimizer=5``) and read ``kernel_``. A warning tells of a parameter at its bound.
# - **One length for columns of different units.** Scale them, or give each its own: ``RBF([1.0, 1.0, 1.0])``. A column
#   whose length grows very large is not used.
# - **The spread is believed too much.** It is right if the kernel is right (exercise 3). Count on held-out rows how
#   many lie in their intervals.
# - **Far away.** Beyond the rows the kernel alone speaks. A straight trend needs ``Linear()`` in the sum.
#
# Exercises
# ---------
#
# 1. The price of house 1, 2 above, is only known with a variance of 0.1. What is now expected of house 2?
# 2. One row without noise at 0, a kernel of length 1 and height 1. How far from it is the standard deviation a half?
#    Where should the next row be measured to know most about [0, 3]?
# 3. Draw functions from a prior, see noisy rows, and count how often a new row lies within 1.96 deviations. Then do the
#    same with a kernel that is five times too long.
#
# Solutions
# ---------
#
# 1. The noise is added to the variance of what was seen: the mean is :math:`0.9 \cdot 2 / 1.1`, the variance
#    :math:`1 - 0.81 / 1.1`.

noisy_houses = houses + np.diag([0.1, 0, 0])
mean, left = condition(noisy_houses, [1], [0], np.array([2.0]))
assert np.allclose(mean, 1.8 / 1.1)
assert np.allclose(left, 1 - 0.81 / 1.1)
print(f"house 2 is expected at {mean[0]:.2f} with variance {left[0, 0]:.2f}")

# %%
# 2. The variance at distance :math:`d` is :math:`1 - e^{-d^2}`, a quarter at :math:`d = \sqrt{\log(4/3)} \approx 0.54`.
#    The spread does not depend on :math:`y`, so that any :math:`y` will do to compute what a row at some place would
#    leave. Of the places in [0, 3] the one that leaves least on average is near 1.9, not the end, where the spread is
#    largest: half of what is learnt there is outside.

zero = np.zeros((1, 1))
one = GaussianProcessRegressor(RBF(1.0), optimizer=None).fit(zero, [0.0])
assert np.isclose(one.predict([[np.sqrt(np.log(4 / 3))]], return_std=True)[1][0], 0.5, atol=1e-4)
window = np.linspace(0, 3, 61)[:, None]
remains = []
for place in window[2:]:
    both = GaussianProcessRegressor(RBF(1.0), alpha=1e-6, optimizer=None).fit(np.vstack([zero, place]), [0.0, 0.0])
    remains.append(np.mean(both.predict(window, return_std=True)[1] ** 2))
best = window[2:][np.argmin(remains), 0]
print(f"next row at {best:.2f}")
assert 1.5 < best < 2.5

# %%
# 3. With the kernel that made them, 95%. With one that is too stiff far fewer: it is sure of a curve that is wrong.

inside = {1.0: [], 5.0: []}
for _ in range(100):
    spots = rng.uniform(0, 10, size=(30, 1))
    truth = np.linalg.cholesky(RBF(1.0)(spots) + 1e-8 * np.eye(30)) @ rng.normal(size=30)  # of the prior
    rows = truth + 0.2 * rng.normal(size=30)
    for length in inside:
        model = GaussianProcessRegressor(1.0 * RBF(length) + White(0.04), optimizer=None).fit(spots[:20], rows[:20])
        guess, sd = model.predict(spots[20:], return_std=True)
        inside[length] += (np.abs(rows[20:] - guess) < 1.96 * sd).tolist()
for length, hits in inside.items():
    print(f"length {length:g}: {np.mean(hits):.0%} of new rows in their 95% intervals")
assert abs(np.mean(inside[1.0]) - 0.95) < 0.04
assert np.mean(inside[5.0]) < 0.8

# %%
# Next: the probabilities behind it all, with likelihood and prior for a coin, a die and a Gaussian.
