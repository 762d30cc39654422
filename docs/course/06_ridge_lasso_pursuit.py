r"""
Ridge, lasso and pursuit
========================

Least squares takes every column at its word. Where columns say nearly the same, or where there are more of them than
the rows can tell apart, its coefficients are large numbers that cancel on the training rows and nowhere else. There are
two cures. *Shrink*: make large coefficients cost something, and accept a little bias for much less variance. *Select*:
use few columns, and give the others exactly nothing. Ridge regression does the first, matching pursuit the second, the
lasso both.
"""

# %%
# Large numbers that cancel
# -------------------------
#
# Take the singular value decomposition :math:`X = U S V^T`, with singular values :math:`s_j` and directions
# :math:`v_j`. Least squares gives :math:`\hat b = V S^{-1} U^T y`. If :math:`y = Xb + \varepsilon` with noise of
# variance :math:`\sigma^2`, then :math:`\hat b` has the variance :math:`\sigma^2 / s_j^2` in direction :math:`v_j`: a
# small singular value is a direction in which the rows hardly differ, and of which they know hardly anything.
#
# Two columns, the second a noisy copy of the first, and true coefficients 1 and 1. The columns stay, the noise of
# :math:`y` is drawn anew 300 times:

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LinearRegression, Ridge

rng = np.random.default_rng(0)
n, sigma, truth = 40, 1.0, np.array([1.0, 1.0])
first = rng.normal(size=n)
X = np.column_stack([first, first + 0.1 * rng.normal(size=n)])
draws = X @ truth + sigma * rng.normal(size=(300, n))  # 300 vectors y

plain = np.array([LinearRegression(fit_intercept=False).fit(X, y).coef_ for y in draws])
shrunk = np.array([Ridge(alpha=2.0, fit_intercept=False).fit(X, y).coef_ for y in draws])
U, s, Vt = np.linalg.svd(X, full_matrices=False)
print("singular values", s.round(1), "- squared error of the coefficients, mean of 300:")
for name, found in (("least squares", plain), ("ridge", shrunk)):
    print(f"  {name:14s}{((found - truth) ** 2).sum(axis=1).mean():6.2f}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
axes[0].plot(*plain.T, ".", color="#0072b2", markersize=4, label="least squares")
axes[0].plot(*shrunk.T, ".", color="#d55e00", markersize=4, label="ridge, α = 2")
axes[0].plot(*truth, "k+", markersize=12, label="truth")
axes[0].set(xlabel="first coefficient", ylabel="second coefficient")
axes[0].legend(frameon=False)
size = np.geomspace(0.1, 20, 200)
axes[1].plot(size, 1 / size, color="#0072b2", label="least squares: 1/s")
axes[1].plot(size, size / (size**2 + 2), color="#d55e00", label="ridge: s/(s² + α)")
axes[1].plot(s, s / (s**2 + 2), "o", color="#d55e00")
axes[1].set(xscale="log", ylim=(0, 2), xlabel="singular value s", ylabel="factor on that direction")
axes[1].legend(frameon=False)
plt.show()

# %%
# The cloud is long in one direction, (1, −1): all that the rows say is what the sum of the coefficients is.
#
# Ridge: one minimum, five ways to it
# -----------------------------------
#
# Add a price for large coefficients, with :math:`\alpha > 0`. Setting the gradient to 0 gives a linear system that
# always has exactly one solution:
#
# .. math::
#
#    \min_b \|y - Xb\|^2 + \alpha \|b\|^2
#    \quad \iff \quad (X^T X + \alpha I)\, b = X^T y .
#
# 1. The matrix :math:`(X^T X + \alpha I)^{-1} X^T` is the *regularised pseudo-inverse*: a Cholesky factor, cheap for
#    few columns.
# 2. Put :math:`\sqrt\alpha\, I` under :math:`X` and zeros under :math:`y`: plain least squares on the *augmented rows*
#    has the same sum.
# 3. By the singular values it is :math:`V\, \mathrm{diag}\!\left(\frac{s_j}{s_j^2 + \alpha}\right) U^T y`: a *filter*.
#    Directions with :math:`s_j^2 \gg \alpha` pass, and those with :math:`s_j^2 \ll \alpha` get next to nothing in place
#    of :math:`1/s_j` (picture above). In direction :math:`v_j` the expected coefficient shrinks by the factor
#    :math:`s_j^2 / (s_j^2 + \alpha)`, which is the bias; the variance shrinks by that factor squared.
# 4. From :math:`(X^T X + \alpha I) X^T = X^T (X X^T + \alpha I)` follows the *dual* form
#    :math:`b = X^T (X X^T + \alpha I)^{-1} y`, a system of :math:`n` equations. It is cheaper where rows are fewer than
#    columns, and it is the door to kernels.
# 5. A *prior*: see below.
#
# Written with the mean of squares, as :math:`\frac1n \|y - Xb\|^2 + \lambda \|b\|^2`, the penalty is
# :math:`\alpha = n\lambda`. A bound :math:`\|b\|^2 \le t` in place of the price leads to the same solutions: each
# :math:`t` below that of least squares has its :math:`\alpha`.

alpha, y = 2.0, draws[0]
inverse = np.linalg.solve(X.T @ X + alpha * np.eye(2), X.T @ y)
augmented = np.linalg.lstsq(np.vstack([X, np.sqrt(alpha) * np.eye(2)]), np.append(y, [0, 0]), rcond=None)[0]
filtered = Vt.T @ (s / (s**2 + alpha) * (U.T @ y))
dual = X.T @ np.linalg.solve(X @ X.T + alpha * np.eye(n), y)
for way in (augmented, filtered, dual):
    assert np.allclose(way, inverse)
for solver in ("cholesky", "augmented", "svd", "dual", "qr"):
    assert np.allclose(Ridge(alpha=alpha, solver=solver, fit_intercept=False).fit(X, y).coef_, inverse)

# %%
# The fifth way says what :math:`\alpha` means. Believe, before any row, that coefficients are drawn from
# :math:`N(0, \tau^2)`. The most probable :math:`b` after the rows (the maximum a posteriori) minimises
#
# .. math::
#
#    -\log p(y \mid b) - \log p(b) = \frac{\|y - Xb\|^2}{2\sigma^2} + \frac{\|b\|^2}{2\tau^2} + \mathrm{const}
#    \quad \Longrightarrow \quad \alpha = \frac{\sigma^2}{\tau^2}, \qquad \lambda = \frac{\sigma^2}{n \tau^2} .
#
# `BayesianLinearRegression` keeps the whole posterior, hence error bars; without given variances it takes those under
# which the rows are most probable. Its `effective_dimension_` is :math:`\sum_j s_j^2/(s_j^2 + \alpha)`: how many
# directions the data decide, and not the prior.

from learnt.linear_model import BayesianLinearRegression

bayes = BayesianLinearRegression(noise_variance=1.0, prior_variance=0.5, fit_intercept=False).fit(X, y)
assert np.allclose(bayes.coef_, inverse)  # 1 / 0.5 = 2 = alpha
assert np.isclose(bayes.effective_dimension_, (s**2 / (s**2 + alpha)).sum())
print("coefficients", bayes.coef_.round(2), "+/-", np.sqrt(np.diag(bayes.covariance_)).round(2))
print(f"of two directions the rows decide {bayes.effective_dimension_:.2f}")

# %%
# The lasso: a price that makes zeros
# -----------------------------------
#
# Counting the coefficients that are not 0 would select, but to minimise with such a price all subsets have to be tried.
# The sum of absolute values is the nearest convex price. In one dimension,
#
# .. math::
#
#    \min_b \tfrac{1}{2} (u - b)^2 + a|b|
#    \quad \Longrightarrow \quad b = S_a(u) = \mathrm{sign}(u) \max(|u| - a, 0) ,
#
# since the slope is :math:`b - u + a\, \mathrm{sign}(b)` for :math:`b \ne 0`, and at 0 it can be anything between
# :math:`-u - a` and :math:`-u + a`: if :math:`|u| \le a`, 0 is the minimum. This *soft threshold* moves everything
# towards 0 by :math:`a` and stops there. The square has slope 0 at 0 and never quite arrives.
#
# With columns that are orthogonal, :math:`X^T X = nI`, every coefficient is such a problem of its own. `Lasso`
# minimises :math:`\frac{1}{2n}\|y - Xb\|^2 + \alpha \|b\|_1`, so the threshold of the least-squares coefficients is
# :math:`\alpha`; ridge divides them by :math:`1 + \alpha/n`.

from learnt.linear_model import Lasso

corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
at_corners = corners @ [3.0, -0.5]
assert np.allclose(Lasso(alpha=1.0).fit(corners, at_corners).coef_, [2.0, 0.0])
assert np.allclose(Ridge(alpha=4.0).fit(corners, at_corners).coef_, [1.5, -0.25])

# %%
# For any columns, take turns: a gradient step on the squares, then the threshold. This is ISTA. For the notes'
# objective :math:`\frac1n \|Xw - y\|^2 + \lambda \|w\|_1` and the step :math:`\gamma = n / (2\|X^T X\|)`,
#
# .. math::
#
#    w \leftarrow S_{\gamma\lambda}\!\left(w - \frac{2\gamma}{n} X^T (Xw - y)\right) .
#
# `Lasso` descends along coordinates, which is faster, and proves its answer: the objective is at most `dual_gap_` too
# high. Its objective is half of this one, so its `alpha` is :math:`\lambda/2`.

from learnt.datasets import load_diabetes
from learnt.preprocessing import StandardScaler

data = load_diabetes(scaled=False)
Z = StandardScaler().fit_transform(data.data)  # 442 patients, 10 measurements
target = data.target - data.target.mean()  # how far the disease went in a year
rows = len(target)

lam, step = 20.0, rows / (2 * np.linalg.norm(Z.T @ Z, 2))
w = np.zeros(Z.shape[1])
for _ in range(3000):
    moved = w - 2 * step / rows * Z.T @ (Z @ w - target)
    w = np.sign(moved) * np.maximum(np.abs(moved) - step * lam, 0)
model = Lasso(alpha=lam / 2, tol=1e-10).fit(Z, target)
assert np.allclose(w, model.coef_, atol=1e-4)

# %%
# The path
# --------
#
# All coefficients are 0 from :math:`\alpha_{\max} = \max_j |x_j^T y| / n` on (0 is then the minimum in every
# coordinate). Going down from there, columns enter one after the other, and between two entries coefficients move along
# straight lines.

from learnt.linear_model import lasso_path

largest = np.abs(Z.T @ target).max() / rows
assert not Lasso(alpha=1.001 * largest).fit(Z, target).coef_.any()

alphas, path, _ = lasso_path(Z, target, alphas=np.geomspace(largest, largest / 1000, 80))
strengths = np.geomspace(1, 1e5, 80)
ridge_path = np.array([Ridge(alpha=a).fit(Z, target).coef_ for a in strengths])
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
axes[0].plot(alphas, path.T, linewidth=1.2)
axes[0].set(xscale="log", xlabel="α of the lasso", ylabel="coefficients", title="lasso: zeros")
axes[1].plot(strengths, ridge_path, linewidth=1.2)
axes[1].set(xscale="log", xlabel="α of ridge", title="ridge: small, never zero")
plt.show()

# %%
# Elastic net
# -----------
#
# The lasso has a weakness. Of two equal columns any split of the coefficient costs the same: which one it takes is an
# accident. A little of the square in the price, :math:`\alpha\left(\rho\|b\|_1 + \frac{1 - \rho}{2}\|b\|^2\right)`,
# makes the minimum unique, and equal columns get equal shares: for a given sum :math:`b_1^2 + b_2^2` is least where
# they are equal.

from learnt.linear_model import ElasticNet

twins = np.column_stack([first, first])
equal = ElasticNet(alpha=0.1, l1_ratio=0.9, tol=1e-12).fit(twins, first).coef_
assert np.isclose(equal[0], equal[1], atol=1e-3)
split = Lasso(alpha=0.1, tol=1e-12).fit(twins, first).coef_  # all of it on one of the two: which one means nothing
assert np.isclose(split.sum(), Lasso(alpha=0.1, tol=1e-12).fit(twins[:, :1], first).coef_[0])

# %%
# Pursuit: one column at a time
# -----------------------------
#
# Matching pursuit starts with the residual :math:`r = y`. It takes the column that shortens the residual most, the one
# of largest :math:`(x_j^T r)^2 / \|x_j\|^2`, adds :math:`x_j^T r / \|x_j\|^2` to its coefficient, and goes on with what
# is left. *Orthogonal* matching pursuit takes columns in the same way, but fits all those taken so far again: the
# residual is then orthogonal to them, and none has a second turn. By hand: :math:`x_1 = (1, 0)`,
# :math:`x_2 = (0.6, 0.8)` and :math:`y = x_1 + 1.5\, x_2 = (1.9, 1.2)`. The products with :math:`y` are 1.9 and 2.1, so
# the second column comes first and gets 2.1, too much. Its own next turns must correct that in matching pursuit; the
# second fit of OMP does at once.

from learnt.linear_model import MatchingPursuit, OrthogonalMatchingPursuit

pair = np.array([[1.0, 0.6], [0.0, 0.8]])
y2 = pair @ [1.0, 1.5]
for k, expected in ((1, [0.0, 2.1]), (2, [1.0, 1.5])):
    omp = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(pair, y2)
    assert np.allclose(omp.coef_, expected)

# %%
# If few columns made :math:`y`, and no two are too alike, pursuit finds exactly them. A theorem promises it for
# :math:`k` columns where :math:`k < \frac{1}{2} (1 + 1/\mu)`, with :math:`\mu` the largest :math:`|x_i^T x_j|` of two
# columns of length 1. In practice it goes much further: 100 random columns, 50 rows, :math:`k` coefficients of ±1, and
# how often all :math:`k` are found.

counts, tries, found = np.arange(1, 25, 3), 20, {"largest products with y": [], "matching pursuit": [], "OMP": []}
for k in counts:
    hits = dict.fromkeys(found, 0)
    for _ in range(tries):
        D = rng.normal(size=(50, 100))
        D /= np.linalg.norm(D, axis=0)
        support = np.sort(rng.choice(100, k, replace=False))
        signal = D[:, support] @ rng.choice([-1.0, 1.0], k)
        settings = {"n_nonzero_coefs": int(k), "fit_intercept": False}
        chosen = {
            "largest products with y": np.argsort(-np.abs(D.T @ signal))[:k],
            "matching pursuit": np.flatnonzero(MatchingPursuit(**settings).fit(D, signal).coef_),
            "OMP": np.flatnonzero(OrthogonalMatchingPursuit(**settings).fit(D, signal).coef_),
        }
        for name, columns in chosen.items():
            hits[name] += np.array_equal(np.sort(columns), support)
    for name in found:
        found[name].append(hits[name] / tries)
coherence = np.abs(D.T @ D - np.eye(100)).max()
print(f"coherence {coherence:.2f}: the theorem promises k < {(1 + 1 / coherence) / 2:.1f}")

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for (name, shares), colour in zip(found.items(), ("#cc79a7", "#009e73", "#0072b2"), strict=True):
    ax.plot(counts, shares, ".-", color=colour, label=name)
ax.set(xlabel="columns that made y", ylabel="all of them found")
ax.legend(frameon=False)
plt.show()
assert found["OMP"][0] == 1.0

# %%
# Choosing the penalty
# --------------------
#
# For ridge, leave-one-out costs one fit. Predictions are linear in :math:`y`: :math:`\hat y = Hy` with
# :math:`H = X(X^T X + \alpha I)^{-1} X^T`. Put the left-out prediction :math:`\tilde y_i` in the place of :math:`y_i`:
# the fit of all rows is now the fit without row :math:`i`, as that row sits on the curve already. So
#
# .. math::
#
#    \tilde y_i = \hat y_i - H_{ii} (y_i - \tilde y_i)
#    \quad \iff \quad
#    y_i - \tilde y_i = \frac{y_i - \hat y_i}{1 - H_{ii}} .
#
# `RidgeCV` does that for every α at once. The lasso has no such formula: `LassoCV` follows its path in each of five
# folds and takes the α whose mean error on the held-out parts is least.

from learnt.linear_model import LassoCV, RidgeCV

H = Z @ np.linalg.solve(Z.T @ Z + 30 * np.eye(10), Z.T)
closed = (target - H @ target) / (1 - np.diag(H))
without = [Ridge(alpha=30, fit_intercept=False).fit(np.delete(Z, i, 0), np.delete(target, i)) for i in range(20)]
assert np.allclose(closed[:20], [target[i] - m.predict(Z[i : i + 1])[0] for i, m in enumerate(without)])

one_fit = RidgeCV(alphas=[30.0], fit_intercept=False).fit(Z, target)
assert np.isclose(-one_fit.best_score_, (closed**2).mean())

# %%
# Ten columns and 442 rows hardly need a penalty. With all squares and products of two they are 65 columns, some of them
# the same (the square of a column with two values is a copy of it), and the penalty earns its keep:

from learnt.linear_model import ElasticNetCV
from learnt.model_selection import cross_val_score
from learnt.pipeline import make_pipeline
from learnt.preprocessing import PolynomialFeatures

models = {
    "least squares": LinearRegression(),
    "ridge": RidgeCV(alphas=np.geomspace(1, 1e4, 40)),
    "lasso": LassoCV(eps=0.01),
    "elastic net": ElasticNetCV(eps=0.01, l1_ratio=[0.5, 0.9]),
}
for name, last in models.items():
    pipe = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler(), last)
    score = cross_val_score(pipe, data.data, data.target, cv=5).mean()
    print(f"{name:14s}R² {score:.2f} with {np.sum(pipe.fit(data.data, data.target)[-1].coef_ != 0)} columns of 65")

# %%
# What goes wrong
# ---------------
#
# - **Units decide.** A column in grams has a coefficient a thousandth of the one in kilograms, and is spared the
#   penalty. Scale columns first (`StandardScaler` in a pipeline, or ``Ridge(standardize=True)``, which gives
#   coefficients of the columns as they were). The intercept is not penalised; with ``fit_intercept=False`` centre
#   :math:`y` yourself, as above.
# - **Two alphas that are not the same.** `Ridge` weighs α against the *sum* of squares, `Lasso` and `ElasticNet`
#   against half the *mean*. Twice as many rows want the same α of the lasso, and twice the one of ridge (exercise 2).
# - **The choice is at the edge of the grid.** Then the grid was too narrow: the best α may lie beyond. Look at
#   ``alpha_``.
# - **Zeros are read as proof.** Among columns that are alike, the lasso drops one by accident. Fit again on other
#   halves of the rows, and believe what stays. Nor do the p-values of a least-squares fit on chosen columns mean
#   anything.
# - **Columns are chosen on all rows, and the model is judged by folds of them.** The folds have seen the answer; put
#   the choice inside a pipeline.
# - **Coefficients of the lasso are too small**: those that matter are moved by the threshold too. If their sizes are
#   wanted, fit the chosen columns again with a little ridge.
#
# Exercises
# ---------
#
# 1. What does the elastic net do to a least-squares coefficient :math:`u` where columns are orthogonal? Check it at the
#    corners above with :math:`\alpha = 1` and :math:`\rho = \frac{1}{2}`.
# 2. Every row is written down twice. What α do ridge and the lasso now need for the same coefficients?
# 3. Topics. Three topics have known frequencies of words. A document is a mixture; which topics does it speak of? Why
#    must coefficients be non-negative?
#
# Solutions
# ---------
#
# 1. The slope of :math:`\frac{1}{2}(u - b)^2 + \alpha\rho|b| + \frac{\alpha(1 - \rho)}{2} b^2` is 0 at
#    :math:`b = S_{\alpha\rho}(u) / (1 + \alpha(1 - \rho))`: threshold first, then shrink.

both = ElasticNet(alpha=1.0, l1_ratio=0.5, tol=1e-12).fit(corners, at_corners).coef_
assert np.allclose(both, [(3 - 0.5) / 1.5, 0.0])

# %%
# 2. Ridge compares α with a sum over rows, which doubles: it needs 2α. The lasso compares it with a mean: α stays.

Z2, target2 = np.vstack([Z, Z]), np.append(target, target)
assert np.allclose(Ridge(alpha=60).fit(Z2, target2).coef_, Ridge(alpha=30).fit(Z, target).coef_)
once, twice = Lasso(alpha=2.0, tol=1e-10).fit(Z, target), Lasso(alpha=2.0, tol=1e-10).fit(Z2, target2)
assert np.allclose(once.coef_, twice.coef_, atol=1e-4)

# %%
# 3. Column :math:`j` holds the frequencies of all words in a text on topic :math:`j` alone, and the document is a sum
#    with weights of at least 0: nobody writes −0.2 of a topic. Among 20 topics over 60 words, a text of 250 words, 70%
#    on topic 3 and 30% on topic 11, is found by pursuit. A residual that stops falling tells how many topics there are.

topics = rng.dirichlet(np.full(60, 0.1), size=20).T
document = rng.multinomial(250, topics[:, [3, 11]] @ [0.7, 0.3]) / 250
pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=2, positive=True, fit_intercept=False).fit(topics, document)
non_negative = Lasso(alpha=1e-4, positive=True, fit_intercept=False).fit(topics, document)
print("topics", np.flatnonzero(pursuit.coef_), "with weights", pursuit.coef_[pursuit.coef_ > 0].round(2))
assert np.flatnonzero(pursuit.coef_).tolist() == [3, 11]
assert set(np.argsort(-non_negative.coef_)[:2]) == {3, 11}

# %%
# Next: the dual form of ridge asks of rows only their products. Replace the products, and lines bend: kernels.
