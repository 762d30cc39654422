r"""
A loss, a penalty, a solver
===========================

Least squares and logistic regression differ in one function. So do the support vector machine, the median and the
lasso. Written in one form, *empirical risk minimisation*, they share their theory and their algorithms: choose what a
wrong score costs, choose what large weights cost, and go downhill. This chapter is about the three choices, and most
of all about the ways downhill.
"""

# %%
# The form
# --------
#
# A linear model gives row :math:`i` the score :math:`s_i = x_i^\top w + b`. Minimise the mean loss and a penalty, or
# the mean loss under a constraint:
#
# .. math::
#
#    \min_{w, b} \frac{1}{n} \sum_i \ell(y_i, s_i) + \lambda\, r(w)
#    \qquad \text{or} \qquad
#    \min_{w, b} \frac{1}{n} \sum_i \ell(y_i, s_i) \quad \text{with} \quad r(w) \le B .
#
# For each :math:`\lambda` there is a :math:`B` with the same solution: take :math:`B = r(\hat{w})`. `ERMClassifier`
# and `ERMRegressor` take any loss, any penalty and any solver, as names or objects; ``alpha=`` is :math:`\lambda` and
# ``bound=`` is :math:`B`.
#
# Losses of a class
# -----------------
#
# For :math:`y = \pm 1` what counts is the margin :math:`m = y s`: positive on the right side. The loss that is meant,
# 1 for :math:`m \le 0`, is flat almost everywhere and gives no direction. *Surrogates* are convex and lie above it:
#
# .. math::
#
#    \text{hinge } \max(1 - m, 0), \qquad \text{log } \log_2(1 + e^{-m}), \qquad \text{exponential } e^{-m} .
#
# So their mean bounds the share of mistakes. If the mean exponential loss is 0.2, at most 20% of the rows are wrong.
# (The log loss is a bound only to base 2: with natural logarithms it is 0.69 at :math:`m = 0`.) They differ far from
# the boundary. For :math:`m \to -\infty` hinge and log grow like straight lines, the exponential much faster: one
# wrong label can command the fit. For large :math:`m` the hinge is 0, so that rows that are safely right play no
# part: the support vector machine.
#
# Losses of a number
# ------------------
#
# With the residual :math:`r = y - s`: the squared loss :math:`r^2` estimates the mean, :math:`|r|` the median, and
# :math:`\max(q r, (q - 1) r)` the :math:`q`-quantile. *Huber's* loss is squared for small residuals and absolute for
# large ones, with one slope where they meet; :math:`\log \cosh r` is much the same, with all derivatives:
#
# .. math::
#
#    \ell_\delta(r) = \tfrac{1}{2} r^2 \text{ for } |r| \le \delta, \qquad
#    \ell_\delta(r) = \delta \left( |r| - \tfrac{1}{2} \delta \right) \text{ otherwise.}

import matplotlib.pyplot as plt
import numpy as np

from learnt.erm import ERMClassifier, ERMRegressor, Problem, losses, minimize, penalties, solvers
from learnt.linear_model import LogisticRegression

m = np.linspace(-3, 3, 301)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
shapes = {"zero-one": losses.ZeroOne().value(1.0, m), "hinge": losses.Hinge().value(1.0, m)}
shapes |= {"log, base 2": losses.Log().value(1.0, m) / np.log(2), "exponential": losses.Exponential().value(1.0, m)}
colors = ("#555555", "#0072b2", "#d55e00", "#009e73")
for (name, value), color in zip(shapes.items(), colors, strict=True):
    assert (value >= shapes["zero-one"] - 1e-12).all(), name
    left.plot(m, value, color=color, label=name)
left.set(xlabel="margin m = y s", ylabel="loss", ylim=(0, 4))
left.legend(frameon=False)
for loss, color in zip(
    (losses.Squared(), losses.Huber(1), losses.Absolute(), losses.Quantile(0.9)), colors, strict=True
):
    right.plot(m, loss.value(m, 0.0), color=color, label=type(loss).__name__)
right.set(xlabel="residual r = y − s", ylabel="loss", ylim=(0, 4))
right.legend(frameon=False)
plt.show()

# %%
# The right loss is the one that matches the question. A tenth of these rows is spoilt, and all of them in the same
# direction:

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
y = X @ [1.0, 2.0, 3.0] + 0.5 * rng.normal(size=300)
spoilt = y + 30 * (rng.uniform(size=300) < 0.1) * (X[:, 0] > 0)
error = {}
for loss in ("squared", "absolute", losses.Huber(1.0), "log_cosh"):
    error[str(loss)] = np.abs(ERMRegressor(loss, alpha=0).fit(X, spoilt).coef_ - [1, 2, 3]).max()
print("largest error of a coefficient:", ", ".join(f"{name} {value:.2f}" for name, value in error.items()))
assert error["squared"] > 0.5 > 0.3 > max(error["absolute"], error["log_cosh"])

priced = ERMRegressor("huber", penalty="l1", alpha=0.5).fit(X, y)
limited = ERMRegressor("huber", penalty="l1", bound=np.abs(priced.coef_).sum()).fit(X, y)
assert np.abs(priced.coef_ - limited.coef_).max() < 1e-3  # λ and its B

upper = ERMRegressor(losses.Quantile(0.9), alpha=0).fit(X, y)
assert abs(np.mean(y < upper.predict(X)) - 0.9) < 0.03

positive = y > 0
same = ERMClassifier("log", alpha=1 / (2 * 300)).fit(X, positive)  # the last chapter's model: λ = 1 / (2 C n)
assert np.abs(same.coef_ - LogisticRegression(C=1).fit(X, positive).coef_).max() < 1e-3

# %%
# Gradient descent
# ----------------
#
# Near :math:`w` the objective is :math:`F(w + s) \approx F(w) + g^\top s`, with the gradient :math:`g`. The step
# :math:`s = -\eta g` lowers it by about :math:`\eta \|g\|^2`, if the step is short enough for the approximation. How
# short? Let no second derivative exceed :math:`L`. Then
#
# .. math::
#
#    F(w - \eta g) \le F(w) - \eta \|g\|^2 + \tfrac{1}{2} L\, \eta^2 \|g\|^2
#    = F(w) - \eta \left( 1 - \tfrac{1}{2} L \eta \right) \|g\|^2 .
#
# Any :math:`\eta < 2/L` descends, :math:`1/L` is best by this bound, and with more it may run away. If second
# derivatives also exceed :math:`\mu > 0`, a step :math:`1/L` takes at least the share :math:`\mu / L` off the
# distance to the minimum in :math:`F`: the number of steps for a digit grows like :math:`\kappa = L / \mu`. Columns
# of different units make it large: scale them.
#
# Nobody knows :math:`L`, so there are other rules. :math:`\eta_t = t_0 / t` is safe and slow. A *line search* halves
# the step until the objective falls as it should, and doubles it again: the default of
# `learnt.erm.solvers.GradientDescent`.
#
# - **Momentum**: :math:`v \leftarrow \beta v + g`, :math:`w \leftarrow w - \eta v`. Moves across a valley cancel,
#   moves along it add up. **Nesterov** takes the gradient where the momentum is going. Both need about
#   :math:`\sqrt{\kappa}` steps instead of :math:`\kappa`.
# - **Adagrad**: :math:`S \leftarrow S + g^2`, :math:`w \leftarrow w - \eta\, g / \sqrt{S + \epsilon}`, for each
#   weight by itself. A column that is rarely not 0, such as a rare word, keeps a long step.
# - **Adam**: running means :math:`m` of :math:`g` and :math:`v` of :math:`g^2`, both corrected for their start at 0;
#   :math:`w \leftarrow w - \eta\, m / (\sqrt{v} + \epsilon)`. Each weight moves by about :math:`\eta` a step,
#   whatever the units of its column.
# - **Newton**: :math:`w \leftarrow w - H^{-1} g` with the matrix :math:`H` of second derivatives, the minimum of the
#   local parabola. Exact in one step for the squared loss; any scaling of columns is the same to it. :math:`d^2`
#   numbers and :math:`d^3` multiplications a step.
#
# `Problem` holds data, loss and penalty as a function of the weights; `minimize` runs a solver on it and, with
# ``record=True``, keeps the path.

A = rng.normal(size=(200, 2)) @ np.diag([1.0, 0.2])
side = np.where(A @ [1.5, 5.0] + rng.logistic(size=200) > 0, 1.0, -1.0)
problem = Problem(A, side, losses.Log(), penalties.L2(), alpha=1e-3, fit_intercept=False)
best = minimize(problem, solvers.Newton())
steps = {
    "gradient descent": solvers.GradientDescent(step=4.0, max_iter=300),
    "momentum": solvers.Momentum(step=1.0, momentum=0.9, max_iter=300),
    "Adagrad": solvers.Adagrad(step=1.0, max_iter=300),
    "Newton": solvers.Newton(),
}
runs = {name: minimize(problem, solver, record=True) for name, solver in steps.items()}
near = {name: int(np.argmax(np.array(run.curve) < best.objective + 1e-6)) + 1 for name, run in runs.items()}
print("steps to a millionth above the minimum:", ", ".join(f"{name} {steps}" for name, steps in near.items()))
assert near["Newton"] < 10 < near["Adagrad"] < near["gradient descent"]
for solver in (solvers.GradientDescent(), solvers.Nesterov(step=1.0), solvers.Adam(step=0.1), solvers.LBFGS()):
    assert abs(minimize(problem, solver).objective - best.objective) < 1e-6, solver

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
a, b = np.meshgrid(np.linspace(-0.3, 2.3, 60), np.linspace(-0.6, 3.6, 60))
height = np.array([problem.objective(np.array(w)) for w in zip(a.ravel(), b.ravel(), strict=True)]).reshape(a.shape)
left.contour(a, b, np.log(height - best.objective + 1e-4), 12, colors="#bbbbbb", linewidths=0.7)
for (name, run), color in zip(runs.items(), ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=True):
    left.plot(*np.array([w for w, _ in run.path]).T, ".-", color=color, markersize=3, linewidth=1, label=name)
    right.semilogy(np.maximum(np.array(run.curve) - best.objective, 1e-12), color=color, label=name)
left.plot(*best.coef, "*", color="black", markersize=9)
left.set(xlabel="first weight", ylabel="second weight", xlim=(-0.3, 2.3), ylim=(-0.6, 3.6))
right.set(xlabel="step", ylabel="above the minimum", xlim=(0, 200))
right.legend(frameon=False, fontsize=8)
plt.show()

# %%
# When Newton runs away, and what to do
# -------------------------------------
#
# Far out the log loss is nearly straight, its second derivative nearly 0, and :math:`H^{-1} g` enormous. Newton is
# right near the minimum and reckless elsewhere. So: descend first, Newton last, and halve a step that does not lower
# the objective. That is `learnt.erm.solvers.Hybrid`, which ``solver="auto"`` takes for smooth problems of moderate
# size. (`IRLS` of the last chapter is Newton read as least squares; with the diagonal of :math:`H` alone it is
# `DiagonalNewton`; `LBFGS` guesses :math:`H` from the last gradients, for many columns.)

flat = Problem(
    np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, 1.0, -1.0, 1.0]), losses.Log(), fit_intercept=False
)
far = np.array([8.0])
reckless, careful = minimize(flat, solvers.Newton(), far), minimize(flat, solvers.Hybrid(), far)
print(f"from w = 8: Newton converged: {reckless.converged}; descent first: {careful.converged}, {careful.n_iter} steps")
assert not reckless.converged
assert careful.converged

# %%
# A few rows at a time
# --------------------
#
# The gradient is a mean over rows, so the mean over a *mini-batch* of random rows estimates it at a fraction of the
# cost. The estimate is noisy. With a fixed step the weights dance around the minimum; with steps that shrink they
# settle. Shuffle the rows, go through them in batches, and call that an *epoch*. The first digits come after a few
# epochs, the last ones never: that is enough, because the training rows are a sample themselves.

tall = rng.normal(size=(20_000, 10)) * np.linspace(0.3, 1, 10)
goal = tall @ np.arange(10.0) + rng.normal(size=20_000)
big = Problem(tall, goal, losses.Squared())
least = minimize(big, solvers.Newton()).objective
one_pass = {
    "one step on all rows": minimize(big, solvers.GradientDescent(max_iter=1)),
    "an epoch of batches of 32": minimize(big, solvers.SGD(batch_size=32, max_iter=1)),
}
for name, run in one_pass.items():
    print(f"after one pass, {name}: {run.objective - least:.2g} above the minimum")
assert one_pass["an epoch of batches of 32"].objective < one_pass["one step on all rows"].objective

# %%
# Corners: the proximal step
# --------------------------
#
# :math:`|w|` has no gradient at 0, and there is where the solution lies. Keep the penalty whole and replace only the
# smooth part by its bound, :math:`\tfrac{1}{2 \eta} \|w' - u\|^2` around the point :math:`u = w - \eta g` that a
# gradient step would reach. Each weight is then a problem of its own:
#
# .. math::
#
#    \min_{w} \tfrac{1}{2 \eta} (w - u)^2 + \lambda |w|
#    \implies w = S_{\eta \lambda}(u) = \sign(u) \max(|u| - \eta \lambda, 0) .
#
# For :math:`w > 0` the slope :math:`(w - u)/\eta + \lambda` is 0 at :math:`w = u - \eta \lambda`; for :math:`w < 0`
# by symmetry; and if neither has the right sign, the corner wins. *Soft thresholding* makes weights exactly 0. For
# the squared loss this is ISTA,
#
# .. math::
#
#    w \leftarrow S_{\eta \lambda} \left( w - \frac{2 \eta}{n} X^\top (X w - y) \right), \qquad
#    \eta = \frac{n}{2 \|X^\top X\|} .
#
# FISTA adds momentum and gets from an error like :math:`1/t` to :math:`1/t^2`. *Coordinate descent* solves for one
# weight after the other by the same formula, and for the lasso it is usually the quickest. How near is near enough?
# The *duality gap* answers: a number, computed at any :math:`w`, that the distance to the minimum cannot exceed.

D = rng.normal(size=(100, 200)) + rng.normal(size=(100, 1))
sparse = np.zeros(200)
sparse[:5] = [3, -2, 2, 1, -1]
t = D @ sparse + rng.normal(size=100)
lasso = Problem(D, t, losses.Squared(), penalties.L1(), alpha=0.5, fit_intercept=False)
ways = {
    "ISTA": solvers.ISTA(max_iter=400),
    "FISTA": solvers.FISTA(max_iter=400),
    "coordinate descent": solvers.CoordinateDescent(),
}
found = {name: minimize(lasso, solver) for name, solver in ways.items()}
exact = found["coordinate descent"]
print(f"the lasso keeps {np.count_nonzero(exact.coef)} weights of 200; gap below a millionth: {exact.gap < 1e-6}")
assert exact.converged
assert np.count_nonzero(exact.coef) < 60

w, eta = np.zeros(200), 100 / (2 * np.linalg.norm(D, 2) ** 2)
for _ in range(3000):
    u = w - 2 * eta / 100 * D.T @ (D @ w - t)
    w = np.sign(u) * np.maximum(np.abs(u) - 0.5 * eta, 0)
assert abs(lasso.objective(w) - exact.objective) < 1e-4  # ISTA by hand

# %%
# Stopping early
# --------------
#
# Descent from 0 fits the strong directions of the data first and the noise last. For the squared loss with singular
# values :math:`\nu_j` of :math:`X / \sqrt{n}` the part along direction :math:`j` has, after :math:`t` steps, grown to
# the share :math:`1 - (1 - 2 \eta \nu_j^2)^t` of its least-squares value. Ridge regression keeps
# :math:`\nu_j^2 / (\nu_j^2 + \alpha)`. Both pass strong directions and damp weak ones: *the number of steps is a
# penalty*, about :math:`1 / (2 \eta \alpha)`. One run shows all of them, where a grid of penalties needs a fit each.
# Stop when the loss of held-out rows has ceased to fall.

signal = np.concatenate([np.ones(4), np.zeros(36)])
train, held = rng.normal(size=(2, 60, 40))
train_y, held_y = (Z @ signal + 2 * rng.normal(size=60) for Z in (train, held))
noisy, validation = Problem(train, train_y, losses.Squared()), Problem(held, held_y, losses.Squared())
slow = solvers.GradientDescent(step=0.01, max_iter=400)
full = minimize(noisy, slow, record=True)
stopped = minimize(noisy, slow, validation=validation, patience=20)
outside = [validation.risk(np.append(w, b)) for w, b in full.path]
assert stopped.status == "early"
assert stopped.best_iter < 200
assert min(outside) < 0.9 * outside[-1]

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for (name, run), color in zip(found.items(), ("#0072b2", "#d55e00", "#009e73"), strict=True):
    left.semilogy(np.maximum(np.array(run.curve) - exact.objective, 1e-10), color=color, label=name)
left.set(xlabel="iteration", ylabel="lasso: above the minimum")
left.legend(frameon=False)
right.plot(full.curve, color="#0072b2", label="training rows")
right.plot(outside[1:], color="#d55e00", label="held-out rows")
right.axvline(stopped.best_iter, color="#555555", linewidth=1, linestyle=":", label="kept")
right.set(xlabel="step", ylabel="mean squared loss")
right.legend(frameon=False)
plt.show()

# %%
# What goes wrong
# ---------------
#
# - **A step too long** and the weights grow without end. `minimize` reports it, the estimators warn. Scale the
#   columns, or use the line search.
# - **Columns of different units.** One column in millimetres instead of metres, and descent crawls. Newton does not
#   notice.

metres = Problem(X, y, losses.Squared())
millimetres = Problem(X * [1, 1, 1000], y, losses.Squared())
assert minimize(metres, solvers.GradientDescent(step=2.0)).status == "diverged"
assert minimize(metres, solvers.GradientDescent()).converged
crawling = minimize(millimetres, solvers.GradientDescent(max_iter=100))
print("100 descent steps in millimetres, weights:", (crawling.coef * [1, 1, 1000]).round(1), "instead of about 1, 2, 3")
assert np.abs(crawling.coef[:2] - [1, 2]).max() > 0.5
assert minimize(millimetres, solvers.Newton()).n_iter <= 3

# %%
# - **Stopped, not converged.** Look at ``converged_``, and at ``gap_`` or ``gradient_norm_``, before you compare two
#   models: the difference may be the solver's.
# - **Rows that stopped the training are not test rows.** The number of steps was chosen by them.
# - **The zero-one loss cannot be descended**, and `learnt` says so. Train on a surrogate, judge by what is meant.
#
# Exercises
# ---------
#
# 1. For which steps does gradient descent converge on :math:`\frac{1}{n} \sum_i (y_i - w x_i)^2` with one feature?
#    Check both sides of the border.
# 2. Write a loss that is :math:`q r^2` for :math:`r > 0` and :math:`(1 - q) r^2` below. What does it estimate for
#    :math:`q = \tfrac{1}{2}`?
# 3. Solve the lasso in one step where :math:`X^\top X = n I`.
#
# Solutions
# ---------
#
# 1. The second derivative is :math:`L = 2\, \overline{x^2}`, and each step multiplies the distance to the minimum by
#    :math:`1 - \eta L`. So :math:`\eta < 2 / L = 1 / \overline{x^2}`.

single = Problem(X[:, :1], y, losses.Squared(), fit_intercept=False)
border = 1 / np.mean(X[:, 0] ** 2)
assert minimize(single, solvers.GradientDescent(step=0.98 * border)).converged
assert minimize(single, solvers.GradientDescent(step=1.02 * border, max_iter=30_000)).status == "diverged"

# %%
# 2. A loss is an object with a value and a gradient in the score; with a half it estimates the mean.


class Expectile:
    def __init__(self, q):
        self.q = q

    def value(self, y, score):
        return np.where(y > score, self.q, 1 - self.q) * (y - score) ** 2

    def gradient(self, y, score):
        return -2 * np.where(y > score, self.q, 1 - self.q) * (y - score)


score, h = rng.normal(size=300), 1e-6
slope = (Expectile(0.9).value(y, score + h) - Expectile(0.9).value(y, score - h)) / (2 * h)
assert np.abs(slope - Expectile(0.9).gradient(y, score)).max() < 1e-3
middle = ERMRegressor(Expectile(0.5), alpha=0).fit(X, y)
assert np.abs(middle.coef_ - ERMRegressor("squared", alpha=0).fit(X, y).coef_).max() < 1e-4
assert ERMRegressor(Expectile(0.9), alpha=0).fit(X, y).intercept_ > middle.intercept_ + 0.2

# %%
# 3. The objective is :math:`\|w - u\|^2 + \lambda \|w\|_1` plus a constant, with :math:`u = X^\top y / n`: the
#    proximal problem with :math:`\eta = \tfrac{1}{2}`, so :math:`w = S_{\lambda / 2}(u)`.

Q = np.linalg.qr(rng.normal(size=(100, 8)))[0] * 10  # QᵀQ = 100 I
values = Q @ [2, -1, 0.5, 0, 0, 0, 0, 0] + rng.normal(size=100)
u = Q.T @ values / 100
model = ERMRegressor("squared", penalty="l1", alpha=0.4, fit_intercept=False).fit(Q, values)
assert np.abs(model.coef_ - np.sign(u) * np.maximum(np.abs(u) - 0.2, 0)).max() < 1e-6

# %%
# Next: penalties from the side of statistics, ridge regression and the lasso.
