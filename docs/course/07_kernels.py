r"""
Kernels
=======

A line cannot separate XOR, and no straight line follows a sine. Give the line new columns, products or cosines of the
old ones, and it can. The price seems to be the number of columns: 20 features have a million products. This chapter
shows why nobody has to pay it: many methods only ever need inner products of rows, and those are often cheap where the
columns are many or even infinite. A function that gives such inner products is a kernel.
"""

# %%
# Feature maps
# ------------
#
# XOR of two bits is not linear in them. In :math:`t_j = 2x_j - 1 \in \{-1, 1\}` it is linear in the product: equal bits
# have :math:`t_1 t_2 = 1`, different ones −1, so :math:`y = \frac{1}{2}(1 - t_1 t_2)`. Least squares finds that by
# itself:

import matplotlib.pyplot as plt
import numpy as np

from learnt.linear_model import LinearRegression

bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
xor = np.array([0.0, 1.0, 1.0, 0.0])
signs = 2.0 * bits - 1
mapped = np.column_stack([signs, signs[:, 0] * signs[:, 1]])
line = LinearRegression().fit(mapped, xor)
assert np.allclose(line.coef_, [0, 0, -1 / 2])
assert np.isclose(line.intercept_, 1 / 2)

# %%
# Nobody wants to guess the one product that helps, so take them all. For two features, up to degree 2 and with suitable
# factors, the inner product of the new rows has a short form:
#
# .. math::
#
#    \phi(x) = \left(x_1^2,\; x_2^2,\; \sqrt2\, x_1 x_2,\; \sqrt2\, x_1,\; \sqrt2\, x_2,\; 1\right)
#    \quad \Longrightarrow \quad \phi(x)^T \phi(z) = (x^T z + 1)^2 .
#
# It is the square of a sum of three terms, multiplied out. And all :math:`2^d` products of subsets of :math:`d`
# features, from 1 to :math:`x_1 x_2 \cdots x_d`, have the inner product :math:`\prod_{k=1}^d (1 + x_k z_k)`: choose in
# each bracket whether feature :math:`k` takes part. That is :math:`d` multiplications for :math:`2^d` columns.

from learnt.kernels import RBF, AllProducts, Linear, Mahalanobis, Polynomial, SetIntersection, is_kernel

rng = np.random.default_rng(0)
X = rng.normal(size=(5, 2))
phi = np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1], np.sqrt(2) * X, np.ones(5)])
assert np.allclose(phi @ phi.T, Polynomial(2)(X))

wide = rng.normal(size=(5, 10))
subsets = np.ones((5, 1))
for column in wide.T:
    subsets = np.hstack([subsets, subsets * column[:, None]])
assert subsets.shape == (5, 1024)
assert np.allclose(subsets @ subsets.T, AllProducts()(wide))

# %%
# Why inner products are enough
# -----------------------------
#
# Let a method minimise, over :math:`w`, some loss of the predictions :math:`w^T \phi(x_i)` plus :math:`\alpha \|w\|^2`.
# Split :math:`w` into a part :math:`\sum_i c_i \phi(x_i)` in the span of the training rows and a part orthogonal to all
# of them. The second part changes no prediction on these rows and makes :math:`\|w\|^2` larger: at the minimum it is 0.
# This is the *representer theorem*. (Descent shows the same: starting at 0, each gradient is a sum of rows, so
# :math:`w` stays one.) Therefore
#
# .. math::
#
#    w = \sum_i c_i\, \phi(x_i), \qquad f(x) = w^T \phi(x) = \sum_i c_i\, k(x_i, x),
#    \qquad k(x, z) = \phi(x)^T \phi(z) ,
#
# with :math:`n` unknowns, however many columns :math:`\phi` has. For squares, with :math:`K_{ij} = k(x_i, x_j)`:
#
# .. math::
#
#    \min_c \|y - Kc\|^2 + \alpha\, c^T K c
#    \quad \Longrightarrow \quad K\left((K + \alpha I)c - y\right) = 0
#    \quad \Longleftarrow \quad c = (K + \alpha I)^{-1} y .
#
# This is the dual form of ridge with another product. With a mean of squares and a penalty :math:`\lambda`, it is
# :math:`\alpha = n\lambda`. `KernelRidge` solves it; with the linear kernel it is `Ridge` without an intercept, and
# with degree 2 it knows XOR.

from learnt.kernel_ridge import KernelRidge
from learnt.linear_model import Ridge

Z, y = rng.normal(size=(30, 4)), rng.normal(size=30)
same = KernelRidge(alpha=2.0, kernel="linear").fit(Z, y)
assert np.allclose(same.predict(Z), Ridge(alpha=2.0, fit_intercept=False).fit(Z, y).predict(Z))
assert np.allclose(same.dual_coef_, np.linalg.solve(Z @ Z.T + 2.0 * np.eye(30), y))

square = KernelRidge(alpha=1e-6, kernel=Polynomial(2)).fit(bits, xor)
assert np.allclose(square.predict(bits), xor, atol=1e-4)

clouds = np.repeat(signs, 40, axis=0) + 0.35 * rng.normal(size=(160, 2))
sides = np.repeat(2 * xor - 1, 40)
fitted = KernelRidge(alpha=1.0, kernel=Polynomial(2)).fit(clouds, sides)
across = np.linspace(-2.2, 2.2, 120)
plane = np.stack(np.meshgrid(across, across), axis=-1)
height = fitted.predict(plane.reshape(-1, 2)).reshape(120, 120)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
axes[0].contourf(across, across, height, levels=[-9, 0, 9], colors=["#d55e00", "#0072b2"], alpha=0.2)
axes[0].scatter(*clouds.T, s=8, c=np.where(sides > 0, "#0072b2", "#d55e00"))
axes[0].set(xlabel="first feature", ylabel="second feature", title="XOR: one kernel of degree 2")

x = np.sort(rng.uniform(0, 1, 40))[:, None]
noisy = np.sin(2 * np.pi * x[:, 0]) + 0.25 * rng.normal(size=40)
grid = np.linspace(-0.3, 1.3, 400)[:, None]
for length, colour in ((0.01, "#cc79a7"), (0.2, "#0072b2"), (5.0, "#d55e00")):
    curve = KernelRidge(alpha=0.1, kernel=RBF(length)).fit(x, noisy)
    axes[1].plot(grid, curve.predict(grid), color=colour, linewidth=1.3, label=f"length {length:g}")
axes[1].plot(x, noisy, "k.", markersize=4)
axes[1].set(xlabel="x", ylabel="y", title="one sine, three widths of the Gaussian", ylim=(-1.8, 1.8))
axes[1].legend(frameon=False, loc="lower left")
plt.show()

# %%
# On the right is the Gaussian kernel (RBF) :math:`e^{-\|x - z\|^2 / 2\ell^2}`, whose feature map is infinite. Too short
# a length makes every row an island: the curve visits the points and falls to 0 between them. Too long a one leaves
# nearly a line. Width and penalty are searched together, on logarithmic grids:

from learnt.model_selection import GridSearchCV, KFold

grids = {"gamma": np.geomspace(0.1, 1e4, 11), "alpha": np.geomspace(1e-3, 10, 5)}
search = GridSearchCV(KernelRidge(kernel="rbf"), grids, cv=KFold(5, shuffle=True, random_state=0)).fit(x, noisy)
width = np.sqrt(1 / (2 * search.best_params_["gamma"]))
print(f"the search takes a length of {width:.2f}, with R² {search.best_score_:.2f} on held-out rows")
assert 0.05 < width < 0.8

# %%
# Which functions are kernels?
# ----------------------------
#
# Those for which every matrix :math:`K` on any rows is symmetric and *positive semidefinite*: :math:`v^T K v \ge 0` for
# all :math:`v`. It is necessary, as :math:`v^T K v = \|\sum_i v_i \phi(x_i)\|^2`. It is sufficient (Mercer): factor
# :math:`K = F F^T`, and the rows of :math:`F` are features. Eight rules make kernels of kernels; in `learnt.kernels`
# they are operators, and each has a reason of one line:
#
# 1. :math:`x^T z`, ``Linear()``: the features themselves.
# 2. :math:`c\, k` for :math:`c \ge 0`, ``2 * k``: features times :math:`\sqrt c`.
# 3. :math:`k_1 + k_2`, ``k1 + k2``: both lists of features side by side.
# 4. :math:`g(k)` for a polynomial :math:`g` without negative coefficients, ``k.poly([1, 0, 3])``: rules 2, 3 and 5.
# 5. :math:`k_1 k_2`, ``k1 * k2``: all products of a feature of one and a feature of the other.
# 6. :math:`f(x)\, k(x, z)\, f(z)`, ``k.warp(f)``: the features of :math:`x` times the number :math:`f(x)`.
# 7. :math:`e^k`, ``k.exp()``: the limit of polynomials :math:`1 + k + k^2/2 + \ldots`, rule 4.
# 8. :math:`x^T A z` for a positive semidefinite :math:`A = B^T B`, ``Mahalanobis(A)``: the features :math:`Bx`.
#
# The Gaussian follows from them. With :math:`\|x - z\|^2 = x^T x - 2 x^T z + z^T z`,
#
# .. math::
#
#    e^{-\|x - z\|^2 / \sigma^2} = \underbrace{e^{-x^T x / \sigma^2}}_{f(x)}
#    \; \underbrace{e^{2 x^T z / \sigma^2}}_{\mathrm{rules\ 1, 2, 7}} \; \underbrace{e^{-z^T z / \sigma^2}}_{f(z)}
#    \qquad \mathrm{(rule\ 6)} .

sigma2 = 3.0
by_rules = (2 / sigma2 * Linear()).exp().warp(lambda rows: np.exp(-(rows**2).sum(axis=1) / sigma2))
assert np.allclose(by_rules(Z), RBF(gamma=1 / sigma2)(Z))

A = np.array([[2.0, 1.0], [1.0, 2.0]])
composed = 2 * Polynomial(2) * RBF(0.5) + Mahalanobis(A).poly([1, 0, 3])
print(composed)
print(is_kernel(composed))
assert np.linalg.eigvalsh(composed(X)).min() > -1e-9

# %%
# Rows need not be numbers. Two sets have the kernel :math:`e^{|S \cap T|}`: write a set as a vector of zeros and ones
# over all things there are; then :math:`|S \cap T|` is an inner product (rule 1), and rule 7 does the rest.

baskets = [{"tea", "milk"}, {"milk", "eggs"}, {"tea", "milk", "eggs"}]
assert np.allclose(SetIntersection()(baskets), np.exp([[2, 1, 2], [1, 2, 2], [2, 2, 3]]))

# %%
# Is this a kernel?
# -----------------
#
# A matrix with a negative eigenvalue on *some* rows proves that it is not. No such matrix proves nothing. `is_kernel`
# therefore has three answers, and a "no" comes with its witness, a direction :math:`v`. By hand, try two rows first: a
# kernel has :math:`k(x, x) \ge 0` and :math:`k(x, z)^2 \le k(x, x)\, k(z, z)`.

candidates = {
    "-|x - z|²": lambda a, b: -float(((a - b) ** 2).sum()),
    "tanh(x·z - 1)": lambda a, b: float(np.tanh(a @ b - 1)),
    "max(x, z)": lambda a, b: float(np.maximum(a, b)[0]),
    "min(x, z)": lambda a, b: float(np.minimum(a, b)[0]),
}
places = np.linspace(0.1, 2, 12)[:, None]
for name, candidate in candidates.items():
    verdict = is_kernel(candidate, places)
    print(f"{name:14s} {verdict.answer}")
    if verdict.answer == "no":
        K = np.array([[candidate(a, b) for b in verdict.points] for a in verdict.points])
        assert verdict.direction @ K @ verdict.direction < 0

# %%
# The last one *is* a kernel: :math:`\min(x, z) = \int_0^\infty \mathbb{1}[t < x]\, \mathbb{1}[t < z]\, dt`, an inner
# product of two functions. No test on rows could have told. ``-2 * Linear()`` is refused as soon as it is written.
#
# Random features
# ---------------
#
# The trick has a price of its own: :math:`K` has :math:`n^2` entries, 20 GB for 50 000 rows, and solving takes time in
# :math:`n^3`. So go back to columns, but few. The Gaussian is the mean of :math:`\cos(\omega^T (x - z))` over
# :math:`\omega \sim N(0, 2\gamma I)`, since that is the characteristic function of a Gaussian. With a uniform phase
# :math:`b`,
#
# .. math::
#
#    e^{-\gamma\|x - z\|^2} = \mathbb{E}\left[\sqrt2 \cos(\omega^T x + b) \cdot \sqrt2 \cos(\omega^T z + b)\right] ,
#
# because :math:`2 \cos u \cos v = \cos(u - v) + \cos(u + v)` and the last term has the mean 0. Draw :math:`m` of them:
# the mean of products is off by about :math:`1/\sqrt m`. `RBFSampler` does that. `Nystroem` looks at the data instead:
# it takes some rows and describes all others by their kernel with those.

from learnt.datasets import load_digits
from learnt.kernel_approximation import Nystroem, RBFSampler

digits = load_digits().data[:400] / 16
gamma = 0.05
exact = RBF(gamma=gamma)(digits)
sizes = [10, 30, 100, 300]
errors = {"random cosines": [], "Nyström": []}
for m in sizes:
    for name, maker in (("random cosines", RBFSampler), ("Nyström", Nystroem)):
        parts = []
        for seed in range(3):
            F = maker(gamma=gamma, n_components=m, random_state=seed).fit_transform(digits)
            parts.append(np.sqrt(np.mean((F @ F.T - exact) ** 2)))
        errors[name].append(np.mean(parts))

figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
for (name, values), colour in zip(errors.items(), ("#0072b2", "#009e73"), strict=True):
    ax.loglog(sizes, values, "o-", color=colour, label=name)
ax.loglog(sizes, 0.7 / np.sqrt(sizes), ":", color="#555555", label="0.7 / √m")
ax.set(xlabel="columns m", ylabel="error of an entry of K")
ax.legend(frameon=False)
plt.show()
assert 2 < errors["random cosines"][0] / errors["random cosines"][2] < 5  # about √10 for ten times as many

# %%
# What goes wrong
# ---------------
#
# - **The width is not looked at.** A length far below the distance of neighbours makes :math:`K` the identity, far
#   above it a matrix of ones. Look at the off-diagonal entries: the useful widths leave them spread over 0 to 1. Then
#   search width and penalty together.
# - **Columns of different units.** Distances and products belong to the largest column. `StandardScaler` first.
# - **No intercept.** `KernelRidge` has none: away from the rows it predicts 0. Centre :math:`y`, or add a constant to
#   the kernel, ``RBF(1.0) + 100.0``, whose feature is an intercept that is hardly penalised.
# - **A high degree.** :math:`(x^T z + 1)^9` of rows of norm 10 reaches :math:`10^{18}`. Scale, and stay at 2 or 3.
# - **A similarity that is no kernel** (an edit distance, tanh). Fits may end anywhere; `SVC` warns where it sees a
#   negative eigenvalue. Use the similarities to some reference rows as plain features instead.
# - **More rows than memory.** Exact kernel methods end at some ten thousand rows; beyond, take `Nystroem` in a
#   pipeline.
#
# Exercises
# ---------
#
# 1. Is :math:`\cos(x - z)` a kernel of numbers? Is :math:`\cos(x + z)`?
# 2. :math:`k(x, z) / \sqrt{k(x, x)\, k(z, z)}` has ones on the diagonal. By which rule is it a kernel, and what is it
#    for :math:`(x^T z)^2`?
# 3. Write the squared distance of :math:`\phi(x)` from the mean of :math:`\phi` over a class in kernels only. What does
#    the rule of the nearest class mean say of XOR (in ±1), with degree 2?
#
# Solutions
# ---------
#
# 1. :math:`\cos(x - z) = \cos x \cos z + \sin x \sin z` has the features :math:`(\cos x, \sin x)`. :math:`\cos(x + z)`
#    is −1 at :math:`x = z = \pi/2`, and no kernel is negative on its diagonal.

angle = rng.uniform(0, 2 * np.pi, size=(20, 1))
features = np.hstack([np.cos(angle), np.sin(angle)])
assert np.allclose(features @ features.T, np.cos(angle - angle.T))
assert is_kernel(lambda a, b: float(np.cos(a[0] - b[0])), angle).answer == "don't know"
assert is_kernel(lambda a, b: float(np.cos(a[0] + b[0])), angle).answer == "no"

# %%
# 2. Rule 6 with :math:`f(x) = 1/\sqrt{k(x, x)}`. For :math:`(x^T z)^2` it is the squared cosine of the angle.

k = Linear() ** 2
normed = k.warp(lambda rows: 1 / np.sqrt(k.diag(rows)))
unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
assert np.allclose(normed(Z), (unit @ unit.T) ** 2)

# %%
# 3. With sums over the :math:`m` rows of the class, multiplying out gives
#
#    .. math::
#
#       \left\|\phi(x) - \tfrac1m \sum_i \phi(x_i)\right\|^2
#       = k(x, x) - \frac2m \sum_i k(x, x_i) + \frac{1}{m^2} \sum_{ij} k(x_i, x_j) .
#
#    Each point is 4 from its own mean and 12 from the other: the nearest mean is right.

K = Polynomial(2)(signs)


def distances(members):
    """Squared distances of all four rows from the mean of some of them, in the space of the kernel."""
    return np.diag(K) - 2 * K[:, members].mean(axis=1) + K[np.ix_(members, members)].mean()


assert np.allclose(distances([1, 2]), [12, 4, 4, 12])
assert np.allclose(distances([0, 3]), [4, 12, 12, 4])

# %%
# Next: of all surfaces that separate two classes, the one with the widest margin needs few of the rows: support
# vectors.
