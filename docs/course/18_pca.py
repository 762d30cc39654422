r"""
Principal components
====================

A row of 64 numbers cannot be looked at. A shadow of it can: throw the rows onto a plane, as a lamp throws a solid
onto a wall. Some shadows show nearly everything and some nothing, depending on the direction of the lamp. Principal
component analysis finds the directions in which the rows differ most, in closed form, without any label.
"""

# %%
# The direction of largest variance
# ---------------------------------
#
# Let the rows :math:`x_1, \dots, x_n \in \mathbb{R}^p` be centred: their mean is subtracted. The coordinate of a row
# along a unit vector :math:`a` is its *score* :math:`a^\top x_i`. The scores have mean 0 and the variance
#
# .. math::
#
#    \frac{1}{n - 1} \sum_i (a^\top x_i)^2 = a^\top S a, \qquad S = \frac{1}{n - 1} \sum_i x_i x_i^\top ,
#
# with :math:`S` the sample covariance matrix. Maximise it subject to :math:`a^\top a = 1`. With a Lagrange
# multiplier,
#
# .. math::
#
#    F(a) = a^\top S a - \lambda (a^\top a - 1), \qquad \nabla F = 2 S a - 2 \lambda a = 0 \iff S a = \lambda a .
#
# Every stationary point is an eigenvector. Its variance is :math:`a^\top S a = \lambda\, a^\top a = \lambda`, so the
# best one is the eigenvector :math:`a_1` with the *largest* eigenvalue :math:`\lambda_1`, and :math:`\lambda_1` is
# the variance of the first score.
#
# The second direction shall be perpendicular to the first, or it would say the same again:
#
# .. math::
#
#    F(a) = a^\top S a - \lambda (a^\top a - 1) - \mu\, a_1^\top a, \qquad 2 S a - 2 \lambda a - \mu a_1 = 0 .
#
# Multiply by :math:`a_1^\top` from the left. The first term is :math:`2 (S a_1)^\top a = 2 \lambda_1 a_1^\top a = 0`,
# the second is 0 too, and what remains is :math:`\mu = 0`. So :math:`S a = \lambda a` again: the second direction is
# the eigenvector of the second largest eigenvalue, and so on down. All of them at once, as columns of :math:`A`, are
# the eigendecomposition
#
# .. math::
#
#    S = A \Lambda A^\top, \qquad \lambda_1 \ge \dots \ge \lambda_p \ge 0, \qquad
#    \sum_k \lambda_k = \text{tr}\, S = \text{the total variance.}
#
# Component :math:`k` *explains* the share :math:`\lambda_k / \sum_j \lambda_j`.

import matplotlib.pyplot as plt
import numpy as np

from learnt.decomposition import PCA

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"

rng = np.random.default_rng(0)
turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
cloud = rng.normal(size=(200, 2)) * [2.0, 0.6] @ turn.T + [1.0, 2.0]

pca = PCA().fit(cloud)
scores = pca.transform(cloud)
S = np.cov(cloud.T)
for a, variance in zip(pca.components_, pca.explained_variance_, strict=True):
    assert np.allclose(S @ a, variance * a)
assert np.allclose(scores.var(axis=0, ddof=1), pca.explained_variance_)
assert np.isclose(pca.explained_variance_.sum(), np.trace(S))
assert abs(np.corrcoef(scores.T)[0, 1]) < 1e-10  # scores of different components are uncorrelated

angles = np.linspace(0, np.pi, 181)
units = np.column_stack([np.cos(angles), np.sin(angles)])
variances = ((cloud - cloud.mean(axis=0)) @ units.T).var(axis=0, ddof=1)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.scatter(*cloud.T, s=6, color="#999999")
for a, variance, colour in zip(pca.components_, pca.explained_variance_, (RED, BLUE), strict=True):
    reach = np.outer([-2, 2], a * np.sqrt(variance)) + pca.mean_
    left.plot(*reach.T, color=colour, linewidth=2.5)
left.set(xlabel="first column", ylabel="second column", aspect="equal")
right.plot(np.degrees(angles), variances, color="#555555", label="variance of the shadow")
for a, variance, colour in zip(pca.components_, pca.explained_variance_, (RED, BLUE), strict=True):
    right.plot(np.degrees(np.arctan2(a[1], a[0])) % 180, variance, "o", color=colour, markersize=9)
right.set(xlabel="direction in degrees", ylabel="variance", ylim=(0, None))
right.legend(frameon=False)
plt.show()

# %%
# The same by singular values
# ---------------------------
#
# Write the centred rows as a matrix :math:`X` (:math:`n \times p`) and decompose it, :math:`X = U \Sigma V^\top`,
# with orthonormal columns in :math:`U` and :math:`V` and singular values :math:`\sigma_1 \ge \sigma_2 \ge \dots` on
# the diagonal. Then
#
# .. math::
#
#    S = \frac{X^\top X}{n - 1} = V \frac{\Sigma^2}{n - 1} V^\top, \qquad
#    A = V, \quad \lambda_k = \frac{\sigma_k^2}{n - 1}, \quad \text{scores } X V = U \Sigma .
#
# No covariance matrix is formed. That matters: squaring loses half of the digits. A direction of relative size
# :math:`10^{-8}` is lost in :math:`X^\top X` and kept by the singular values.

U, sigma, Vt = np.linalg.svd(cloud - cloud.mean(axis=0), full_matrices=False)
assert np.allclose(np.abs(Vt), np.abs(pca.components_))  # a direction has no sign: both v and −v are right
assert np.allclose(sigma**2 / (len(cloud) - 1), pca.explained_variance_)
assert np.allclose(np.abs(U * sigma), np.abs(scores))

thin = np.array([[1.0, 1.0], [1e-8, 0.0], [0.0, 1e-8]])
assert np.isclose(np.linalg.svd(thin, compute_uv=False)[1], 1e-8)
assert (thin.T @ thin == 1).all()  # 1 + 1e-16 is 1: of the second direction nothing is left

# %%
# Largest variance is least error
# -------------------------------
#
# Keep :math:`q` directions, the columns of :math:`A_q`. A row is replaced by its projection
# :math:`\hat x = A_q A_q^\top x`. By Pythagoras :math:`\|x\|^2 = \|\hat x\|^2 + \|x - \hat x\|^2`; the left side is
# fixed, so to keep the most variance is to lose the least:
#
# .. math::
#
#    \frac{1}{n - 1} \sum_i \|x_i - \hat x_i\|^2 = \lambda_{q+1} + \dots + \lambda_p .
#
# No other matrix of rank :math:`q` comes nearer to :math:`X` (Eckart and Young). Now the handwritten digits, 1797
# pictures of 8 × 8 points.

from learnt.datasets import load_digits

digits, figures = load_digits(return_X_y=True)
full = PCA().fit(digits)
kept = (2, 10, 30)
pictures = [digits[7]]
for q in kept:
    small = PCA(q).fit(digits)
    again = small.inverse_transform(small.transform(digits))
    lost = ((digits - again) ** 2).sum() / (len(digits) - 1)
    assert np.isclose(lost, full.explained_variance_[q:].sum())
    pictures.append(again[7])

figure, axes = plt.subplots(2, 4, figsize=(8, 4), layout="constrained")
titles = ["original", *(f"{q} components" for q in kept)]
for ax, picture, title in zip(axes[0], pictures, titles, strict=True):
    ax.imshow(picture.reshape(8, 8), cmap="gray_r")
    ax.set(title=title)
for k, ax in enumerate(axes[1]):
    ax.imshow(full.components_[k].reshape(8, 8), cmap="PuOr", vmin=-0.4, vmax=0.4)
    ax.set(title=f"direction {k + 1}: {full.explained_variance_ratio_[k]:.0%}")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Below are the first directions as pictures. They have positive and negative parts and resemble no digit: a picture
# is a sum of strokes added and taken away.
#
# How many components?
# --------------------
#
# No rule is right for all purposes. Here are four, from crude to careful:
#
# 1. *A share of the variance*: ``PCA(0.9)`` keeps as many as explain 90%.
# 2. *The bend* in the eigenvalues, by eye.
# 3. *Comparison with nothing*: shuffle every column by itself, which destroys what columns have in common, and keep
#    components that explain more than those of shuffled rows.
# 4. *The purpose*: if a classifier comes next, cross-validate it.

from learnt.model_selection import cross_val_score
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import make_pipeline

by_share = PCA(0.9).fit(digits).n_components_
shuffled = PCA().fit(rng.permuted(digits, axis=0)).explained_variance_
by_shuffling = int(np.argmax(full.explained_variance_ < shuffled))
tried = np.array([1, 2, 4, 7, by_shuffling, 15, by_share, 30, 45])
accuracy = [
    cross_val_score(make_pipeline(PCA(q), KNeighborsClassifier(3)), digits, figures, cv=3).mean() for q in tried
]
print(f"90% of the variance: {by_share} components; more than shuffled columns: {by_shuffling}; all: {digits.shape[1]}")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(range(1, 31), full.explained_variance_[:30], ".-", color=BLUE, label="digits")
left.plot(range(1, 31), shuffled[:30], ".-", color=RED, label="columns shuffled")
left.set(xlabel="component", ylabel="variance")
left.legend(frameon=False)
right.plot(tried, accuracy, ".-", color=BLUE, label="accuracy of 3 neighbours")
right.plot(range(1, 65), np.cumsum(full.explained_variance_ratio_), color=GREEN, label="variance explained")
right.set(xlabel="components kept", ylim=(0, 1.02))
right.legend(frameon=False)
plt.show()

assert by_share == 21
assert accuracy[-3] > accuracy[-1] - 0.02  # a third of the columns is enough

# %%
# Whitening
# ---------
#
# Dividing each score by its standard deviation, :math:`z = \Lambda^{-1/2} A^\top x`, gives columns that are
# uncorrelated *and* of variance 1 (``whiten=True``). The Euclidean distance of whitened rows is the Mahalanobis
# distance :math:`\sqrt{(x - x')^\top S^{-1} (x - x')}` of the rows themselves. Do not whiten what you have not cut:
# the last directions are mostly noise, and are blown up to the size of the first.

z = PCA(whiten=True).fit_transform(cloud)
assert np.allclose(np.cov(z.T), np.eye(2))
gap = cloud[0] - cloud[1]
assert np.isclose(((z[0] - z[1]) ** 2).sum(), gap @ np.linalg.solve(S, gap))

whitened = [
    cross_val_score(make_pipeline(PCA(q, whiten=True), KNeighborsClassifier(3)), digits, figures, cv=3).mean()
    for q in (by_share, 60)
]
print(f"3 neighbours on whitened scores: {whitened[0]:.2f} with {by_share} components, {whitened[1]:.2f} with 60")
assert whitened[0] > whitened[1] + 0.02

# %%
# Beyond flat
# -----------
#
# A plane is a poor shadow of a curved sheet. *Kernel PCA* does the same algebra on the kernel matrix, centred,
# instead of :math:`X X^\top`, whose eigenvectors give the scores: principal components in the kernel's feature space.
# *Manifold learning* keeps distances between near rows only. `Isomap` measures the others along the sheet, from
# neighbour to neighbour; t-SNE and spectral embedding (`learnt.manifold`) draw maps in which only neighbourhoods can
# be trusted: sizes of groups and gaps between them cannot. Below are two rings by `KernelPCA`, and a rolled-up sheet,
# coloured along its length, by PCA and by `Isomap`.

from learnt.datasets import make_circles, make_swiss_roll
from learnt.decomposition import KernelPCA
from learnt.manifold import Isomap

rings, ring = make_circles(300, factor=0.4, noise=0.05, random_state=0)
lifted = KernelPCA(3, kernel="rbf", gamma=3).fit_transform(rings)
sheet, along = make_swiss_roll(800, random_state=0)
flat = PCA(2).fit_transform(sheet)
unrolled = Isomap(n_neighbors=8).fit_transform(sheet)

figure, axes = plt.subplots(1, 4, figsize=(9, 2.7), layout="constrained")
axes[0].scatter(*rings.T, s=5, color=np.where(ring, BLUE, RED))
axes[1].scatter(lifted[:, 0], lifted[:, 2], s=5, color=np.where(ring, BLUE, RED))
axes[2].scatter(*flat.T, s=5, c=along)
axes[3].scatter(*unrolled.T, s=5, c=along)
titles = ("two rings", "kernel components 1 and 3", "PCA of a roll", "Isomap of the roll")
for ax, title in zip(axes, titles, strict=True):
    ax.set(title=title, xticks=[], yticks=[])
    ax.title.set_fontsize(10)
plt.show()

apart = np.sort(np.array([lifted[ring == side, 2] for side in (0, 1)]).mean(axis=1))
assert ((lifted[:, 2] > apart.mean()) == (ring == ring[lifted[:, 2].argmax()])).mean() > 0.99
assert abs(np.corrcoef(unrolled[:, 0], along)[0, 1]) > 0.95 > abs(np.corrcoef(flat[:, 0], along)[0, 1])

# %%
# Parts and topics
# ----------------
#
# Counts and intensities are never negative, and a component with negative entries is hard to read. *Non-negative
# matrix factorisation* minimises :math:`\|X - W H\|^2` over :math:`W \ge 0`, :math:`H \ge 0`: every row is a sum of
# parts, none taken away. There is no closed form and no order among the parts, and the start matters. For word counts
# the parts are topics. Here three are planted in 300 short texts, and found.

from learnt.decomposition import NMF

words = np.array(["goal", "team", "match", "vote", "law", "party", "oven", "flour", "salt"])
topic = np.repeat(np.eye(3), 3, axis=1) * 6 + 0.3  # mean counts of the nine words in texts of one topic
texts = rng.poisson(rng.dirichlet([0.3] * 3, size=300) @ topic)
parts = NMF(3, init="nndsvda", random_state=0, max_iter=1000).fit(texts).components_
groups = sorted(" ".join(sorted(words[np.argsort(part)[-3:]])) for part in parts)
print("topics:", "; ".join(groups))
assert groups == ["flour oven salt", "goal match team", "law party vote"]

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Units.** A length in millimetres has a million times the variance of the same length in metres, and becomes the
#   first component. Put `StandardScaler` before `PCA`, unless all columns are in the same unit.
# - **PCA before the split.** It has seen the test rows. Less harmful than a supervised step, but still a leak: keep
#   it inside the pipeline, as above, and it is fitted anew in every fold.
# - **Small is not unimportant.** PCA never sees the target; what decides may lie in the last direction (exercise 3).
# - **Outliers.** One row far away bends the first direction towards itself. Look at the largest scores before
#   anything else.
# - **Signs and near ties.** A direction has no sign, and two with nearly equal eigenvalues may turn within their
#   plane from sample to sample. Do not give them names.
# - **Shortcuts.** With too many neighbours for too few rows, `Isomap` jumps from one turn of the roll to the next
#   (try 12 of 500 rows). Draw the map with several numbers of neighbours.
# - **Sparse tables.** Centring fills them with numbers. `TruncatedSVD` does not centre.
# - **Size.** All components take :math:`O(n p^2 + p^3)`. For a few of many, ``svd_solver="randomized"``; for rows in
#   blocks, `IncrementalPCA`.
#
# Exercises
# ---------
#
# 1. Find the components of the rows (3, 1), (1, 3), (−3, −1), (−1, −3) by hand.
# 2. Two standardised columns have the correlation :math:`\rho`. What are the components and their variances?
# 3. Make two classes that PCA with one component cannot tell apart, though it explains over 95% of the variance.
#
# Solutions
# ---------
#
# 1. The mean is 0. The sums of squares are 20 for both columns, the sum of products is 12, so
#    :math:`S = \frac13 \left(\begin{matrix} 20 & 12 \\ 12 & 20 \end{matrix}\right)`. By symmetry
#    :math:`(1, 1) / \sqrt2` and :math:`(1, -1) / \sqrt2` are eigenvectors, with the variances 32/3 and 8/3: the first
#    explains four fifths.

four = PCA().fit([[3, 1], [1, 3], [-3, -1], [-1, -3]])
assert np.allclose(four.explained_variance_, [32 / 3, 8 / 3])
assert np.allclose(four.explained_variance_ratio_, [4 / 5, 1 / 5])
assert np.allclose(np.abs(four.components_), 1 / np.sqrt(2))

# %%
# 2. :math:`S` has ones on its diagonal and :math:`\rho` beside it. The directions are :math:`(1, \pm 1) / \sqrt2`
#    *whatever the data*, and the variances are :math:`1 \pm \rho`: with two standardised columns, only the shares say
#    anything.

standard = (cloud - cloud.mean(axis=0)) / cloud.std(axis=0, ddof=1)
rho = np.corrcoef(cloud.T)[0, 1]
assert np.allclose(PCA().fit(standard).explained_variance_, [1 + abs(rho), 1 - abs(rho)])

# %%
# 3. Let the classes differ in a narrow column beside a wide one. Labels are needed to find the direction: those of
#    `LinearDiscriminantAnalysis`, say.

from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.linear_model import LogisticRegression

label = np.repeat([0, 1], 200)
rows = np.column_stack([rng.normal(scale=10, size=400), rng.normal(2 * label, 0.4)])
assert PCA(1).fit(rows).explained_variance_ratio_[0] > 0.95
blind = cross_val_score(make_pipeline(PCA(1), LogisticRegression()), rows, label).mean()
told = cross_val_score(LinearDiscriminantAnalysis(), rows, label).mean()
print(f"accuracy after PCA with one component {blind:.2f}, of a linear discriminant {told:.2f}")
assert blind < 0.65
assert told > 0.95

# %%
# Next: how good is a classifier, in numbers: metrics.
