r"""
Support vector machines
=======================

If two classes can be separated by a plane, they can be separated by many. The perceptron takes the first that it meets.
The support vector machine takes the one that stays as far from both classes as it can: the middle of the widest street
between them. That plane depends on the few rows at the kerb only, needs rows only in inner products, and so works with
any kernel.
"""

# %%
# The margin
# ----------
#
# How far is :math:`x` from the plane :math:`w^T x + b = 0`? The nearest point of the plane is :math:`x - aw` for some
# number :math:`a`, as the shortest way is along :math:`w`. From :math:`w^T(x - aw) + b = 0` follows
# :math:`a = (w^T x + b) / \|w\|^2`, and the distance is :math:`\|aw\| = |w^T x + b| / \|w\|`. With labels ±1, a row on
# its own side has a positive :math:`m_i = y_i (w^T x_i + b)`, and the *margin* of the plane is
# :math:`\min_i m_i / \|w\|`.
#
# Multiplying :math:`w` and :math:`b` by 10 changes nothing. So choose their scale such that the nearest rows have
# :math:`m_i = 1`. Then the margin is :math:`1/\|w\|`, the street is :math:`2/\|w\|` wide, and the widest one is the
# solution of
#
# .. math::
#
#    \min_{w, b} \tfrac{1}{2} \|w\|^2
#    \quad \mathrm{such\ that} \quad y_i (w^T x_i + b) \ge 1 \quad \mathrm{for\ all\ } i .
#
# By hand: with one row of each class, (0, 0) and (2, 2), the street runs across the line between them, 2√2 wide. So
# :math:`w = (\frac{1}{2}, \frac{1}{2})`, and :math:`b = -1`. An infinite ``C`` asks for this *hard* margin:

import matplotlib.pyplot as plt
import numpy as np

from learnt.svm import SVC

two, labels = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([-1, 1])
hard = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(two, labels)
assert np.allclose(hard.coef_, [[0.5, 0.5]])
assert np.allclose(hard.intercept_, -1)
assert np.isclose(2 / np.linalg.norm(hard.coef_), 2 * np.sqrt(2))

# %%
# The soft margin, and its loss
# -----------------------------
#
# One row on the wrong side, and there is no such plane. So let row :math:`i` miss by :math:`\xi_i \ge 0`, at the price
# :math:`C`:
#
# .. math::
#
#    \min_{w, b, \xi} \tfrac{1}{2} \|w\|^2 + C \sum_i \xi_i
#    \quad \mathrm{such\ that} \quad y_i (w^T x_i + b) \ge 1 - \xi_i, \quad \xi_i \ge 0 .
#
# No :math:`\xi_i` will be larger than it must be: :math:`\xi_i = \max(0, 1 - m_i)`, the *hinge loss*. Divided by
# :math:`nC`, the whole is a mean loss and a penalty, :math:`\frac{1}{n} \sum_i \max(0, 1 - m_i) + \lambda \|w\|^2` with
# :math:`\lambda = 1/(2nC)`. (Where a text writes :math:`w^T w` without the half, its :math:`C` is twice ours.) Rows
# with :math:`m_i \ge 1` cost nothing at all; logistic regression, whose loss is never quite 0, goes on pulling at them.

from learnt.erm import ERMClassifier

rng = np.random.default_rng(0)
n = 80
X = rng.normal(size=(n, 2))
y = np.where(X @ [1.0, 0.5] + 0.6 * rng.normal(size=n) > 0, 1, -1)
soft = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
risk = ERMClassifier(loss="hinge", penalty="l2", alpha=1 / (2 * n * 1.0)).fit(X, y)
assert np.allclose(soft.coef_, risk.coef_, atol=1e-3)
assert np.allclose(soft.intercept_, risk.intercept_, atol=1e-3)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
across = np.linspace(-3, 3, 100)
for ax, C in zip(axes, (0.03, 100.0), strict=True):
    model = SVC(C=C, kernel="linear").fit(X, y)
    (w1, w2), b = model.coef_[0], model.intercept_[0]
    for level, style in ((-1, ":"), (0, "-"), (1, ":")):
        ax.plot(across, (level - b - w1 * across) / w2, "k", linestyle=style, linewidth=1)
    ax.scatter(*X.T, s=14, c=np.where(y > 0, "#0072b2", "#d55e00"))
    ax.scatter(*model.support_vectors_.T, s=50, facecolors="none", edgecolors="#555555", linewidths=0.8)
    ax.set(xlabel="first feature", xlim=(-3, 3), ylim=(-3, 3))
    ax.set_title(f"C = {C:g}: width {2 / np.hypot(w1, w2):.1f}, {len(model.support_)} support vectors", fontsize=10)
axes[0].set(ylabel="second feature")
plt.show()

# %%
# A small :math:`C` gives a wide street with many rows in it, a large one a narrow street with few. Ringed rows are
# those that hold it in its place; the next section says why only they do.
#
# The dual, and three kinds of rows
# ---------------------------------
#
# Multipliers :math:`\alpha_i \ge 0` and :math:`\beta_i \ge 0` for the two constraints make the Lagrangian
#
# .. math::
#
#    \tfrac{1}{2}\|w\|^2 + C \sum_i \xi_i
#    + \sum_i \alpha_i \left(1 - \xi_i - y_i (w^T x_i + b)\right) - \sum_i \beta_i \xi_i .
#
# Slopes of 0 in :math:`w`, :math:`b` and :math:`\xi_i` mean :math:`w = \sum_i \alpha_i y_i x_i`,
# :math:`\sum_i \alpha_i y_i = 0` and :math:`\alpha_i + \beta_i = C`, so :math:`\alpha_i \le C`. Put them in, and only
# the multipliers are left, with rows in inner products, hence with any kernel :math:`k`:
#
# .. math::
#
#    \max_{\alpha} \sum_i \alpha_i - \tfrac{1}{2} \sum_{ij} \alpha_i \alpha_j y_i y_j\, k(x_i, x_j)
#    \quad \mathrm{such\ that} \quad 0 \le \alpha_i \le C, \quad \sum_i \alpha_i y_i = 0 .
#
# A multiplier is 0 where its constraint is slack (Karush, Kuhn and Tucker). So there are three kinds of rows:
#
# - :math:`\alpha_i = 0`: then :math:`\beta_i = C`, :math:`\xi_i = 0` and :math:`m_i \ge 1`. Beyond the kerb; it could
#   be deleted.
# - :math:`0 < \alpha_i < C`: both constraints are tight, so :math:`m_i = 1`. Exactly at the kerb.
# - :math:`\alpha_i = C`: :math:`m_i \le 1`. In the street or on the wrong side; each has the same weight, however wrong
#   it is, where a squared loss would let the worst rows rule.
#
# Rows with :math:`\alpha_i > 0` are the *support vectors*. The dual has lost :math:`b`; rows of the second kind give it
# back, as :math:`y_i(w^T x_i + b) = 1` means :math:`b = y_i - \sum_j \alpha_j y_j\, k(x_j, x_i)`. Those at
# :math:`\alpha_i = C` do not: their :math:`m_i` may be anything below 1. For less rounding, take the mean.

alpha = np.zeros(n)
alpha[soft.support_] = np.abs(soft.dual_coef_[0])  # dual_coef_ holds y times alpha
margins = y * soft.decision_function(X)
beyond, inside = alpha < 1e-9, alpha > 1 - 1e-9
at_kerb = ~beyond & ~inside
assert (margins[beyond] > 1 - 1e-6).all()
assert np.allclose(margins[at_kerb], 1, atol=1e-6)
assert (margins[inside] < 1 + 1e-6).all()
assert abs(alpha @ y) < 1e-9
assert np.allclose(soft.coef_[0], (alpha * y) @ X)
assert np.allclose(soft.intercept_, np.mean(y[at_kerb] - X[at_kerb] @ X.T @ (alpha * y)), atol=1e-6)

primal = (soft.coef_**2).sum() / 2 + np.maximum(0, 1 - margins).sum()
dual = alpha.sum() - ((alpha * y) @ X @ X.T @ (alpha * y)) / 2
assert np.isclose(primal, dual)  # no gap: both are at their optimum
print(f"{beyond.sum()} rows beyond the kerb, {at_kerb.sum()} at it, {inside.sum()} inside; objective {primal:.3f}")

# %%
# A soft nearest neighbour
# ------------------------
#
# With the Gaussian kernel the decision is the sign of :math:`\sum_i \alpha_i y_i\, e^{-\gamma \|x_i - x\|^2} + b`.
# Nearest neighbours vote in the same way,
# :math:`\mathrm{sign} \sum_i y_i\, \mathbb{1}[x_i\ \mathrm{among\ the\ } k \mathrm{\ nearest}]`, all votes equal and
# with a hard edge. Here votes fade with the distance, have learnt weights, and rows that are not needed have none.

from learnt.datasets import make_moons
from learnt.neighbors import KNeighborsClassifier

moons, side = make_moons(200, noise=0.25, random_state=0)
fresh, truth = make_moons(2000, noise=0.25, random_state=1)
nearest = KNeighborsClassifier(n_neighbors=1).fit(moons, side).predict(fresh)
axis1, axis2 = np.linspace(-1.8, 2.8, 150), np.linspace(-1.4, 1.9, 120)
plane = np.stack(np.meshgrid(axis1, axis2), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
print("gamma  support vectors  right on fresh rows  says what the nearest row says")
for ax, gamma in zip(axes, (0.05, 2, 100), strict=True):
    model = SVC(gamma=gamma, C=10).fit(moons, side)
    said = model.predict(fresh)
    print(f"{gamma:5g}{len(model.support_):17d}{np.mean(said == truth):21.2f}{np.mean(said == nearest):32.2f}")
    height = model.decision_function(plane).reshape(120, 150)
    ax.contourf(axis1, axis2, height, levels=[-99, 0, 99], colors=["#d55e00", "#0072b2"], alpha=0.2)
    ax.scatter(*moons.T, s=8, c=np.where(side > 0, "#0072b2", "#d55e00"))
    ax.set(title=f"γ = {gamma:g}", xlabel="first feature")
axes[0].set(ylabel="second feature")
plt.show()

# %%
# A small γ gives nearly a straight line. A large one gives islands around rows: nearly all are support vectors, and far
# from all of them every answer is the sign of :math:`b`.
#
# Choosing C and γ
# ----------------
#
# They belong together. With a small γ the kernel is nearly :math:`1 - \gamma\|x\|^2 - \gamma\|z\|^2 + 2\gamma\, x^T z`.
# As :math:`\sum_i \alpha_i y_i = 0`, what is left of :math:`\sum_i \alpha_i y_i\, k(x_i, x)` is a constant and
# :math:`2\gamma \sum_i \alpha_i y_i\, x_i^T x`: a linear machine with :math:`2\gamma C` in the place of :math:`C`.
# There the score depends on the product alone, and what is good is a band across the grid; a search along one of the
# two may miss it. Both grids are logarithmic, and the scaler is inside the pipeline.

from learnt.datasets import load_breast_cancer
from learnt.model_selection import GridSearchCV
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler
from learnt.svm import SVR

data = load_breast_cancer()
Cs, gammas = np.geomspace(0.01, 1e4, 7), np.geomspace(1e-6, 1, 7)
grids = {"svc__C": Cs, "svc__gamma": gammas}
search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grids, cv=3).fit(data.data, data.target)
scores = search.cv_results_["mean_test_score"].reshape(7, 7)
print(f"best of {scores.size}: {search.best_score_:.3f}; worst: {scores.min():.3f}, the share of the larger class")

x = np.linspace(0, 6, 60)[:, None]
wave = np.sin(x[:, 0]) + 0.15 * rng.normal(size=60)
wave[[12, 40]] += [2.0, -2.0]  # two misprints
tube = SVR(C=10, gamma=0.5, epsilon=0.3, tol=1e-8).fit(x, wave)
figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
image = axes[0].pcolormesh(gammas, Cs, scores, cmap="cividis", shading="nearest", vmin=0.9)
figure.colorbar(image, label="accuracy, 3 folds")
axes[0].set(xscale="log", yscale="log", xlabel="γ", ylabel="C", title="breast cancer")
axes[1].plot(x, wave, ".", color="#888888", label="costs nothing")
axes[1].plot(x[tube.support_], wave[tube.support_], "o", color="#d55e00", markersize=4, label="support vectors")
axes[1].plot(x, tube.predict(x), color="#0072b2")
axes[1].fill_between(x[:, 0], tube.predict(x) - 0.3, tube.predict(x) + 0.3, color="#0072b2", alpha=0.15)
axes[1].set(xlabel="x", ylabel="y", title="regression with a tube")
axes[1].legend(frameon=False)
plt.show()

# %%
# Regression with a tube
# ----------------------
#
# `SVR` turns the idea round: misses of up to :math:`\varepsilon` cost nothing, larger ones their excess,
# :math:`\frac{1}{2}\|w\|^2 + C \sum_i \max(0, |y_i - f(x_i)| - \varepsilon)`. Rows inside the tube (on the right above)
# are not needed; misprints pull with the force :math:`C` and no more.

misses = np.abs(wave - tube.predict(x))
outside = np.zeros(60, dtype=bool)
outside[tube.support_] = True
assert (misses[~outside] <= 0.3 + 1e-6).all()
assert (misses[outside] >= 0.3 - 1e-6).all()
assert np.abs(tube.dual_coef_).max() <= 10 + 1e-9

# %%
# What goes wrong
# ---------------
#
# - **Unscaled columns.** In the wine data one column is in thousands, the others are not: distance is that column.

from learnt.datasets import load_wine
from learnt.model_selection import cross_val_score

wine = load_wine()
raw = cross_val_score(SVC(), wine.data, wine.target, cv=5).mean()
scaled = cross_val_score(make_pipeline(StandardScaler(), SVC()), wine.data, wine.target, cv=5).mean()
print(f"wine as it is {raw:.2f}, scaled {scaled:.2f}")
assert scaled > raw + 0.2

# %%
# - **Everything is a support vector.** Then :math:`\gamma` is too large or :math:`C` too small, and prediction is as
#   slow as nearest neighbours. Compare ``len(model.support_)`` with the number of rows.
# - **It does not end.** A huge :math:`C` on classes that overlap, or unscaled columns, can take millions of steps.
#   ``C=np.inf`` is for rows that can be separated.
# - **Decision values are taken for probabilities.** They are not; wrap the model in `CalibratedClassifierCV`.
# - **A rare class is ignored**: ``class_weight="balanced"`` multiplies :math:`C` class by class.
# - **Many rows.** Work grows faster than :math:`n^2`. From some ten thousand rows on take `LinearSVC`, on `Nystroem`
#   columns if the surface must bend. (`LinearSVC` penalises :math:`b` a little and squares the hinge: not quite the
#   same numbers.)
#
# Exercises
# ---------
#
# 1. Negative: (0, 0). Positive: (2, 0) and (3, 2). Find :math:`w`, :math:`b` and all :math:`\alpha_i` of the hard
#    margin by hand.
# 2. Delete all rows that are no support vectors of ``soft``, and fit again. What does this say of leave-one-out?
# 3. For the two rows (0, 0) and (2, 2): from which :math:`C` on is the soft margin the hard one? What is :math:`w` at
#    :math:`C = 0.1`, and what do the conditions say of :math:`b`?
#
# Solutions
# ---------
#
# 1. The nearest points of both sides are (0, 0) and (2, 0), so :math:`w = (1, 0)` and :math:`b = -1`; (3, 2) has
#    :math:`m = 2` and :math:`\alpha = 0`. From :math:`w = \alpha\, (2, 0)` and :math:`\sum_i \alpha_i y_i = 0` the
#    other two have :math:`\alpha = \frac{1}{2}`.

three = np.array([[0.0, 0.0], [2.0, 0.0], [3.0, 2.0]])
found = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(three, [-1, 1, 1])
assert np.allclose(found.coef_, [[1, 0]])
assert np.allclose(found.intercept_, -1)
assert found.support_.tolist() == [0, 1]
assert np.allclose(np.abs(found.dual_coef_), 1 / 2)

# %%
# 2. Nothing changes: the same :math:`\alpha` meets all conditions. So a row without weight, left out, is still
#    classified as before, and rightly. Leave-one-out errors are at most the share of support vectors.

kept = soft.support_
again = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X[kept], y[kept])
assert np.allclose(again.coef_, soft.coef_, atol=1e-5)
left_out = [SVC(kernel="linear").fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0] for i in range(n)]
print(f"wrong when left out {np.mean(left_out != y):.2f}, share of support vectors {len(kept) / n:.2f}")
assert np.mean(left_out != y) <= len(kept) / n

# %%
# 3. The hard margin has :math:`w = \alpha\, (2, 2) = (\frac{1}{2}, \frac{1}{2})`, so :math:`\alpha = \frac{1}{4}`: the
#    bound plays no part from :math:`C = \frac{1}{4}` on. At 0.1 both are at the bound and :math:`w = (0.2, 0.2)`. Then
#    no row is at the kerb, and all that is known is :math:`-b \le 1` and :math:`0.8 + b \le 1`: any :math:`b` from −1
#    to 0.2 is optimal. `SVC` takes the middle, −0.4.

for C, weights in ((0.25, 0.5), (1.0, 0.5), (0.1, 0.2)):
    model = SVC(C=C, kernel="linear", tol=1e-8).fit(two, labels)
    assert np.allclose(model.coef_, weights)
assert np.isclose(model.intercept_[0], -0.4)

# %%
# Next: the same kernels as covariances of functions, and predictions that know how sure they are: Gaussian processes.
