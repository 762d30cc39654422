r"""
Least squares
=============

Fit a line through points so that the squared vertical distances add up to as little as possible. This is the oldest
method of the course, and the only one whose solution can be written down, computed in five ways, and given error bars
by a formula. Most later models are this one with a part exchanged.
"""

# %%
# Why squares
# -----------
#
# The model says that a number is a weighted sum of features and noise, :math:`y_i = x_i^\top w + b + \varepsilon_i`.
# If the noise is normal with variance :math:`\sigma^2` and independent from row to row, the log-likelihood of
# :math:`n` rows is
#
# .. math::
#
#    \log P(y \mid X, w, b) = -\frac{n}{2} \log (2 \pi \sigma^2)
#    - \frac{1}{2 \sigma^2} \sum_i (y_i - x_i^\top w - b)^2 .
#
# Whatever :math:`\sigma` is, it is largest where the sum of squares is smallest. So least squares is maximum
# likelihood for normal noise. (Noise with heavier tails leads to other losses: chapter 5.) For one feature, set both
# slopes to zero:
#
# .. math::
#
#    -2 \sum_i (y_i - b - w x_i) = 0 &\iff b = \bar{y} - w \bar{x} \\
#    -2 \sum_i (y_i - b - w x_i)\, x_i = 0
#    &\iff w = \frac{\sum_i (x_i - \bar{x})(y_i - \bar{y})}{\sum_i (x_i - \bar{x})^2} .
#
# The first line says that the fitted line goes through the mean of the points. So one can subtract the means from all
# columns and from :math:`y`, fit without an intercept, and get :math:`b` at the end. The numbers become smaller and
# rounding with them; `LinearRegression` always does this. Below, :math:`X` and :math:`y` are centred.

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LinearRegression

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=40)
y = 3 + 0.5 * x + rng.normal(size=40)
line = LinearRegression().fit(x[:, None], y)
w = (x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean()))
assert abs(line.coef_[0] - w) < 1e-10
assert abs(line.intercept_ - (y.mean() - w * x.mean())) < 1e-10

# %%
# The normal equations, and their picture
# ---------------------------------------
#
# With many features the sum is :math:`\|y - X w\|^2 = y^\top y - 2\, w^\top X^\top y + w^\top X^\top X w`. Its
# gradient is
#
# .. math::
#
#    \nabla_w \|y - X w\|^2 = 2\, X^\top (X w - y) = 0 \iff X^\top X\, w = X^\top y .
#
# The second derivative :math:`2 X^\top X` is never negative, so every solution is a minimum. Where the columns are
# independent it is unique:
#
# .. math::
#
#    \hat{w} = (X^\top X)^{-1} X^\top y = X^+ y, \qquad \hat{y} = X \hat{w} = H y, \qquad H = X (X^\top X)^{-1} X^\top .
#
# Read as geometry: the columns of :math:`X` span a plane in the space of :math:`n` numbers, and
# :math:`X^\top (y - \hat{y}) = 0` says that the residual is orthogonal to it. :math:`\hat{y}` is the foot of the
# perpendicular from :math:`y`, and :math:`H` the projection: :math:`H H = H`, and
# :math:`\|y\|^2 = \|\hat{y}\|^2 + \|y - \hat{y}\|^2` by Pythagoras. The share :math:`\|\hat{y}\|^2 / \|y\|^2` is
# :math:`R^2`.
#
# Four factorisations solve it, and one method that needs none. They are the values of ``solver=``:
#
# - ``"cholesky"`` and ``"normal"``: :math:`X^\top X = R^\top R` with :math:`R` triangular; solve
#   :math:`R^\top z = X^\top y`, then :math:`R w = z`. Sums over rows are enough, so there may be any number of rows.
#   About :math:`n d^2` multiplications.
# - ``"qr"``: :math:`X = Q R` with orthonormal columns in :math:`Q`; solve :math:`R w = Q^\top y`. Twice the work, and
#   the standard where columns are difficult.
# - ``"svd"``: :math:`X = U \Lambda V^\top`; :math:`w = V \Lambda^{-1} U^\top y`, leaving out singular values of 0.
#   The dearest; also right where columns are dependent.
# - ``"lsqr"``: products :math:`X u` and :math:`X^\top v` only, so :math:`X` may be sparse, a file, or a function.
#
# QR follows by :math:`X^\top X = R^\top Q^\top Q R = R^\top R`, hence
# :math:`(X^\top X)^{-1} X^\top = R^{-1} R^{-\top} R^\top Q^\top = R^{-1} Q^\top`. The SVD by
# :math:`X^\top X = V \Lambda^2 V^\top`, hence :math:`V \Lambda^{-2} V^\top V \Lambda U^\top = V \Lambda^{-1} U^\top`.
# No inverse is ever formed: a triangular system is solved from one end to the other.

n, d = 200, 6
X = rng.normal(size=(n, d))
truth = np.arange(1.0, d + 1)
target = X @ truth + 2 + rng.normal(size=n)
fits = {name: LinearRegression(solver=name).fit(X, target) for name in ("normal", "cholesky", "qr", "svd", "lsqr")}
for name, fit in fits.items():
    assert np.abs(fit.coef_ - fits["qr"].coef_).max() < 1e-4, name

residual = target - fits["qr"].predict(X)
assert np.abs(X.T @ residual).max() < 1e-9  # orthogonal to every column
assert abs(residual.sum()) < 1e-9  # and to the column of ones

# %%
# How many digits survive
# -----------------------
#
# The *condition number* :math:`\kappa` of :math:`X` is its largest singular value over its smallest. Relative errors
# of rounding, :math:`\epsilon \approx 10^{-16}`, grow by :math:`\kappa` in QR and SVD. But :math:`X^\top X` has the
# condition number :math:`\kappa^2`, so that the normal equations lose twice as many digits: at :math:`\kappa = 10^8`
# none are left. Here the singular values are made to measure, and :math:`y` has no noise, so that every error is one
# of rounding.

kappas = np.logspace(1, 9, 9)
ways = ("normal", "qr", "svd", "auto")
lost = {name: [] for name in ways}
for kappa in kappas:
    U, V = np.linalg.qr(rng.normal(size=(200, d)))[0], np.linalg.qr(rng.normal(size=(d, d)))[0]
    A = U @ np.diag(np.geomspace(1, 1 / kappa, d)) @ V.T
    for name in ways:
        fit = LinearRegression(solver=name, fit_intercept=False).fit(A, A @ truth)
        lost[name].append(max(np.linalg.norm(fit.coef_ - truth) / np.linalg.norm(truth), 1e-17))
at_1e7 = {name: errors[6] for name, errors in lost.items()}
assert at_1e7["normal"] > 1e-5 > 1e-7 > max(at_1e7["qr"], at_1e7["svd"], at_1e7["auto"])

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, color, marker in zip(ways, ("#d55e00", "#0072b2", "#009e73", "#cc79a7"), "os^x", strict=True):
    ax.loglog(kappas, lost[name], marker + "-", color=color, label=f'solver="{name}"')
ax.loglog(kappas, 1e-16 * kappas**2, color="#555555", linewidth=1, linestyle=":", label="κ² · 1e-16")
ax.set(xlabel="condition number κ of X", ylabel="relative error of w", ylim=(1e-17, 1e2))
ax.legend(frameon=False, ncols=2, fontsize=8)
plt.show()

# %%
# ``"auto"`` takes the normal equations, estimates :math:`\kappa`, and corrects its solution or changes the method
# where that is needed. There is rarely a reason to choose by hand.
#
# More columns than rows
# ----------------------
#
# With :math:`d > n` there are infinitely many :math:`w` with :math:`X w = y`. The shortest one has no part outside
# the span of the rows, :math:`w = X^\top a`; then :math:`X X^\top a = y` is a system of only :math:`n` equations, the
# *dual* form:
#
# .. math::
#
#    \hat{w} = X^\top (X X^\top)^{-1} y = V \Lambda^{-1} U^\top y .
#
# It is the limit of ridge regression as the penalty goes to 0, and what `LinearRegression` returns. It fits every row
# exactly, noise included, which is seldom wanted: penalties come in chapter 6.

wide = rng.normal(size=(20, 100))
goal = rng.normal(size=20)
shortest = LinearRegression(fit_intercept=False).fit(wide, goal).coef_
assert np.abs(wide @ shortest - goal).max() < 1e-9
assert np.abs(shortest - wide.T @ np.linalg.solve(wide @ wide.T, goal)).max() < 1e-9

# %%
# Error bars
# ----------
#
# Put :math:`y = X w + \varepsilon` into the solution: :math:`\hat{w} = w + (X^\top X)^{-1} X^\top \varepsilon`. Its
# mean is :math:`w`, so it is unbiased, and its covariance is
#
# .. math::
#
#    \mathrm{Cov}(\hat{w}) = (X^\top X)^{-1} X^\top\, \sigma^2 I\, X (X^\top X)^{-1} = \sigma^2 (X^\top X)^{-1} .
#
# The likelihood above is largest at :math:`\sigma^2 = \|y - \hat{y}\|^2 / n`. That is too small: the residual lies in
# a space of :math:`n - p` dimensions, where :math:`p = d + 1` coefficients were fitted, so its expected square is
# :math:`(n - p)\, \sigma^2`. The unbiased estimate, the standard errors, and the intervals at a new row :math:`x`
# (with a 1 for the intercept) are
#
# .. math::
#
#    \hat\sigma^2 = \frac{\|y - \hat{y}\|^2}{n - p}, \qquad
#    \mathrm{se}_j = \hat\sigma \sqrt{(X^\top X)^{-1}_{jj}}, \qquad
#    x^\top \hat{w} \pm t\, \hat\sigma \sqrt{h(x)}, \qquad
#    x^\top \hat{w} \pm t\, \hat\sigma \sqrt{1 + h(x)},
#
# with :math:`h(x) = x^\top (X^\top X)^{-1} x` and the quantile :math:`t` of Student's distribution with :math:`n - p`
# degrees of freedom (1.96 for many rows and 95%). The first interval is for the *mean* of :math:`y` at :math:`x`, the
# second for one new :math:`y`: the 1 under the root is its own noise, and no number of rows takes that away.

summary = fits["qr"].summary()
design = np.column_stack([np.ones(n), X])
covariance = np.linalg.inv(design.T @ design) * (residual @ residual) / (n - d - 1)
assert np.abs(summary.stderr - np.sqrt(np.diag(covariance))).max() < 1e-10
assert abs(summary.sigma - 1) < 0.15
print(line.summary())

shown = np.linspace(-2, 14, 100)[:, None]
mean = line.predict(shown, interval="confidence")
new = line.predict(shown, interval="prediction")
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.fill_between(shown[:, 0], new.lower, new.upper, color="#0072b2", alpha=0.15, label="95% for a new y")
ax.fill_between(shown[:, 0], mean.lower, mean.upper, color="#0072b2", alpha=0.4, label="95% for the mean")
ax.plot(shown, mean.prediction, color="#0072b2")
ax.plot(x, y, ".", color="black")
ax.plot(shown, 3 + 0.5 * shown, color="#d55e00", linestyle="--", linewidth=1, label="truth")
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False)
plt.show()

# %%
# Rows of unequal noise
# ---------------------
#
# If row :math:`i` has the standard deviation :math:`\sigma_i`, divide the row and its :math:`y` by it. The noise is
# then the same everywhere, and ordinary least squares applies. Written without the division this is *weighted* least
# squares:
#
# .. math::
#
#    \hat{w} = \argmin_w \sum_i \frac{(y_i - x_i^\top w)^2}{\sigma_i^2} = (X^\top S^{-1} X)^{-1} X^\top S^{-1} y,
#    \qquad S = \mathrm{diag}(\sigma_1^2, \dots, \sigma_n^2) .
#
# In `learnt` that is ``sample_weight=1 / sigma**2``. For counts, whose variance is their mean, `AnscombeTransformer`
# (:math:`2 \sqrt{y + 3/8}`) makes the noise equal without any weights. Where nobody knows the :math:`\sigma_i`,
# `IterativelyReweightedLeastSquares` estimates them from the residuals and fits again, in turns.

from learnt.linear_model import HuberRegressor, IterativelyReweightedLeastSquares, TotalLeastSquares

slopes = {"equal weights": [], "1 / σ²": [], "estimated": []}
for _ in range(60):
    t = rng.uniform(0, 3, size=(150, 1))
    sigma = np.exp(t[:, 0] - 1)
    measured = 1 + 2 * t[:, 0] + sigma * rng.normal(size=150)
    slopes["equal weights"].append(LinearRegression().fit(t, measured).coef_[0])
    slopes["1 / σ²"].append(LinearRegression().fit(t, measured, sample_weight=1 / sigma**2).coef_[0])
    slopes["estimated"].append(IterativelyReweightedLeastSquares(variance="features").fit(t, measured).coef_[0])
for name, found in slopes.items():
    print(f"slope 2 from 150 rows, weights {name}: {np.mean(found):.2f} ± {np.std(found):.2f}")
assert np.std(slopes["1 / σ²"]) < 0.8 * np.std(slopes["equal weights"])
assert np.std(slopes["estimated"]) < 0.8 * np.std(slopes["equal weights"])

# %%
# Errors in X as well
# -------------------
#
# Least squares moves points up and down until they lie on a line. If :math:`x` is measured with errors too, they
# should move in both directions. *Total* least squares makes the smallest change :math:`[E, r]`, in squares, such
# that :math:`(X + E) w = y + r` can be solved. The changed table :math:`[X, y]` then has a vector, :math:`(w, -1)`,
# that it sends to 0; the cheapest way to give it one is to remove its smallest singular value. So with the right
# singular vector :math:`v = (v_x, v_y)` of the centred :math:`[X, y]` that belongs to it,
#
# .. math::
#
#    \hat{w} = - v_x / v_y .
#
# Points move at right angles to the line, and :math:`x` and :math:`y` have equal rights.
#
# Columns that say the same
# -------------------------
#
# Let :math:`R_j^2` be the share of column :math:`j` that the other columns explain. Then the standard error is
#
# .. math::
#
#    \mathrm{se}_j = \frac{\hat\sigma}{\sqrt{n}\, s_j} \cdot \frac{1}{\sqrt{1 - R_j^2}},
#
# with :math:`s_j` the standard deviation of the column. The last factor is 1 for a column on its own and infinite for
# a copy. On the right, 200 fits to two columns that differ by little: each coefficient is anything, their sum is
# sharp, and so are predictions.

true_x = rng.normal(size=1000)
X_seen, y_seen = true_x + 0.6 * rng.normal(size=1000), true_x + 0.6 * rng.normal(size=1000)
ordinary = LinearRegression().fit(X_seen[:, None], y_seen).coef_[0]
backwards = 1 / LinearRegression().fit(y_seen[:, None], X_seen).coef_[0]
total = TotalLeastSquares().fit(X_seen[:, None], y_seen).coef_[0]
v = np.linalg.svd(np.column_stack([X_seen - X_seen.mean(), y_seen - y_seen.mean()]))[2][-1]
assert abs(total + v[0] / v[1]) < 1e-8
assert ordinary < total < backwards

first = rng.normal(size=100)
pair = np.column_stack([first, first + 0.1 * rng.normal(size=100)])
both = np.array([LinearRegression().fit(pair, pair.sum(axis=1) + rng.normal(size=100)).coef_ for _ in range(200)])
assert both[:, 0].std() > 5 * both.sum(axis=1).std()
others = LinearRegression().fit(pair[:, 1:], pair[:, 0]).score(pair[:, 1:], pair[:, 0])  # R_j²
assert abs(both[:, 0].std() / (1 / np.sqrt(100 * pair[:, 0].var() * (1 - others))) - 1) < 0.2

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.plot(X_seen, y_seen, ".", color="#bbbbbb", markersize=2)
for slope, color, name in (
    (ordinary, "#0072b2", "y from x"),
    (backwards, "#d55e00", "x from y"),
    (total, "#009e73", "total"),
):
    left.axline((0, 0), slope=slope, color=color, label=f"{name}: {slope:.2f}")
left.set(xlabel="x, with errors", ylabel="y, with errors")
left.legend(frameon=False, fontsize=8)
right.plot(*both.T, ".", color="#0072b2", markersize=3)
right.plot(1, 1, "o", color="#d55e00", label="truth")
right.set(xlabel="first coefficient", ylabel="second coefficient")
right.legend(frameon=False)
plt.show()

# %%
# What goes wrong
# ---------------
#
# - **One wild row.** Its residual counts squared. Plot residuals; compare with `HuberRegressor`.

spoilt = y.copy()
spoilt[np.argmax(x)] += 100
moved = LinearRegression().fit(x[:, None], spoilt).coef_[0], HuberRegressor().fit(x[:, None], spoilt).coef_[0]
print(f"slope 0.5 and one wild row: least squares {moved[0]:.2f}, Huber {moved[1]:.2f}")
assert abs(moved[1] - 0.5) < 0.15 < abs(moved[0] - 0.5)

# %%
# - **A coefficient of the wrong sign.** Nearly always columns that say the same. Look at the standard error before
#   you explain the sign. Drop one of the columns, or use `Ridge`.
# - **A column that is a sum of others**: no standard errors exist. Predictions are right all the same, and
#   ``summary()`` says which column it is.
# - **Small p-values of chosen columns.** They are right for columns that were chosen before the data were seen.
# - **Rows that depend on each other** (one patient, many visits): error bars are too small, by the square root of the
#   repeats at worst.
# - **Extrapolation.** The bands above are right only while the line is.
#
# Exercises
# ---------
#
# 1. Fit 40 columns of noise to 50 rows of noise. What is :math:`R^2` on average? And the adjusted one?
# 2. How often does a 95% prediction interval hold a new :math:`y`, with 10 rows and one feature? And one with
#    :math:`\|y - \hat{y}\|^2 / n` and 1.96?
# 3. Errors of variance :math:`\tau^2` in :math:`x` bend the slope of ordinary least squares towards 0. By which
#    factor?
#
# Solutions
# ---------
#
# 1. Projecting on 40 of the 49 directions that centring leaves keeps 40/49 of the length: 0.82. Adjusted: 0.

r2 = []
for _ in range(50):
    A, b = rng.normal(size=(50, 40)), rng.normal(size=50)
    found = LinearRegression().fit(A, b).summary()
    r2.append([found.r2, found.adjusted_r2])
assert np.abs(np.mean(r2, axis=0) - [40 / 49, 0]).max() < 0.1

# %%
# 2. The proper one in 95% of the cases, the other one in about 84%.

held = []
for _ in range(200):
    t, fresh = rng.normal(size=(10, 1)), rng.normal(size=(50, 1))
    values, new = t[:, 0] + rng.normal(size=10), fresh[:, 0] + rng.normal(size=50)
    model = LinearRegression().fit(t, values)
    low, high = model.predict_interval(fresh, coverage=0.95)
    reach = 1.96 * np.sqrt(np.mean((values - model.predict(t)) ** 2))
    held.append([np.mean((low < new) & (new < high)), np.mean(abs(new - model.predict(fresh)) < reach)])
proper, careless = np.mean(held, axis=0)
print(f"the interval held {proper:.0%} of the new values, the careless one {careless:.0%}")
assert abs(proper - 0.95) < 0.025
assert careless < 0.9

# %%
# 3. The slope is covariance over variance, and only the variance of :math:`x` grows:
#    :math:`w\, s^2 / (s^2 + \tau^2)`. In the picture :math:`1 / (1 + 0.36) = 0.74`.

assert abs(ordinary - 1 / 1.36) < 0.1
assert abs(total - 1) < 0.15

# %%
# Next: from numbers to classes, with the perceptron and logistic regression.
