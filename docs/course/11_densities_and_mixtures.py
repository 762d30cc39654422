r"""
Densities and mixtures
======================

A density :math:`p(x)` says how rows are spread: where there are many, where there are few, and where none is
expected. It is the most general thing that can be learnt from rows without labels, and much follows from it: which
rows are strange, which groups there are, what new rows could look like, and, with one density for each class, a
classifier. The last chapter took the shape of the density as given. This one lets the rows choose it, more and more
freely.
"""

# %%
# Histograms
# ----------
#
# Cut the line into bins of width :math:`\Delta` and let the density be a constant :math:`p_l` within bin :math:`l`.
# Which constants are best? The squared error against the true density :math:`p^*`, summed over the line, is
#
# .. math::
#
#    \int (p^*(x) - p(x))^2 dx = \int p^*(x)^2 dx - 2 \sum_l p_l \int_l p^*(x) dx + \sum_l p_l^2 \Delta .
#
# The middle integral is the probability of bin :math:`l`, estimated by its share of the rows, :math:`N_l / N`. The
# derivative by :math:`p_l` is zero at
#
# .. math::
#
#    p_l = \frac{N_l}{N \Delta}, \qquad \text{which leaves} \qquad \int p^*(x)^2 dx - \sum_l p_l^2 \Delta .
#
# Measured on the same rows, the error falls for ever as bins get narrower. So the width is chosen by a rule, or on
# other rows:
#
# - Scott: :math:`\Delta = 3.49\, \sigma\, N^{-1/3}`, the best for a normal density.
# - Freedman and Diaconis: :math:`\Delta = 2\, IQR\, N^{-1/3}`; the quartiles do not mind outliers.
# - Shimazaki and Shinomoto: the smallest :math:`(2m - v) / \Delta^2`, with :math:`m` and :math:`v` the mean and the
#   variance of the counts of the bins.
# - Cross-validation: the smallest error on rows that were left out.

import matplotlib.pyplot as plt
import numpy as np

from learnt.density import DensityForest, DensityTree, Gaussian, Histogram

rng = np.random.default_rng(0)


def draw(n):
    """Two thirds wide, one third narrow."""
    wide = rng.uniform(size=n) < 2 / 3
    return np.where(wide, rng.normal(0, 1, n), rng.normal(3, 0.25, n))[:, None]


def density(z):
    """The truth."""
    bell = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return 2 / 3 * bell + 1 / 3 * np.exp(-(((z - 3) / 0.25) ** 2) / 2) / (0.25 * np.sqrt(2 * np.pi))


def squared_error(model):
    """The integral of (p* - p)², by small steps."""
    p = np.exp(model.score_samples(line[:, None]))
    return ((density(line) - p) ** 2).sum() * (line[1] - line[0])


line = np.linspace(-6, 6, 6001)
sample = draw(1000)
bins = np.arange(3, 201)
error = [squared_error(Histogram(bins=int(n)).fit(sample)) for n in bins]
rules = {rule: Histogram(bins=rule).fit(sample) for rule in ("scott", "fd", "shimazaki", "cv")}
uniform = np.linspace(0, 1, 1000)[:, None]
assert len(Histogram(bins="fd").fit(uniform).counts_) == 10  # N rows, evenly spread: the cube root of N bins

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
axes[0].plot(bins, error, color="#555555")
looks = (("^", "#0072b2"), ("v", "#d55e00"), ("s", "#009e73"), (".", "#cc79a7"))
for (rule, model), (mark, colour) in zip(rules.items(), looks, strict=True):
    chosen = len(model.counts_)
    axes[0].plot(chosen, squared_error(model), mark, color=colour, label=f"{rule}: {chosen} bins")
axes[0].set(xlabel="bins", ylabel="squared error", ylim=(0, 0.12))
axes[0].legend(frameon=False)
axes[1].plot(line, np.exp(rules["scott"].score_samples(line[:, None])), color="#0072b2", label="scott")
axes[1].plot(line, np.exp(rules["cv"].score_samples(line[:, None])), color="#cc79a7", label="cv")
axes[1].plot(line, density(line), "k--", linewidth=1, label="truth")
axes[1].set(xlabel="x", ylabel="density", xlim=(-4, 5))
axes[1].legend(frameon=False)
plt.show()

# %%
# The two rules that think of one normal hill smear the narrow one; the two that look at the counts find it. Since the
# best width falls like :math:`N^{-1/3}`, bins grow like the cube root of the rows: about 10 for 1000 rows, 100 for a
# million. In :math:`d` columns that would be :math:`10^d` cells, and no table fills them. What else can be done?
#
# Four ways to more columns
# -------------------------
#
# *Kernel density*: every row is a small hill of width :math:`h`, and the density is the mean of the hills,
# :math:`p(x) = \frac{1}{N h^d} \sum_i K((x - x_i) / h)`. There is nothing to fit but :math:`h`, which is chosen by
# the likelihood of rows left out (on its own rows the best is :math:`h \to 0`: a spike on every row).
#
# *Density trees*: bins that follow the rows. A box around all rows is cut in two, then one of the parts, and so on; a
# leaf of volume :math:`V_l` has the density :math:`N_l / (N V_l)`. The log likelihood is
# :math:`\sum_l N_l \log (N_l / (N V_l))`, so a cut of leaf :math:`l` into :math:`a` and :math:`b` gains
#
# .. math::
#
#    N_a \log \frac{N_a / N_l}{V_a / V_l} + N_b \log \frac{N_b / N_l}{V_b / V_l} \ge 0 ,
#
# which is large where rows are shared out differently from volume. The gain is never negative, so growth would not
# stop: rows that were held out cut the tree back. A *forest* is the mean of many trees, each on rows drawn anew.
#
# *Mixtures*: a weighted sum of a few normal densities, of which more below. All four on two rings:

from learnt.mixture import GaussianMixture
from learnt.model_selection import GridSearchCV
from learnt.neighbors import KernelDensity


def rings(n):
    """Two noisy circles."""
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.choice([1.0, 3.0], n) + rng.normal(0, 0.2, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


old, new = rings(2000), rings(2000)
widths = GridSearchCV(KernelDensity(), {"bandwidth": [0.05, 0.1, 0.15, 0.2, 0.3, 0.5]}).fit(old)
models = {
    "histogram, 8 × 8": Histogram(bins=8, alpha=1),
    "tree": DensityTree(random_state=0),
    "forest": DensityForest(random_state=0),
    f"kernels, h = {widths.best_params_['bandwidth']}": widths.best_estimator_,
    "16 normals": GaussianMixture(16, random_state=0),
}
side = np.linspace(-3.7, 3.7, 120)
mesh = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 5, figsize=(9, 2.3), layout="constrained", sharey=True)
quality = {}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    logarithm = model.fit(old).score_samples(new)
    inside = logarithm > -np.inf  # beyond the box of all rows a tree and a histogram say 0
    quality[name] = logarithm[inside].mean()
    print(f"{name:20} log density of a new row {quality[name]:.2f}; of {(~inside).sum()} rows it is -inf")
    picture = np.exp(model.score_samples(mesh)).reshape(len(side), -1)
    ax.imshow(picture, origin="lower", extent=(-3.7, 3.7, -3.7, 3.7), cmap="cividis", vmax=0.12)
    ax.set_title(name, fontsize="small")
    ax.set_xlabel("first column")
axes[0].set_ylabel("second column")
plt.show()
assert quality["histogram, 8 × 8"] < quality["tree"] < quality["forest"] < quality["16 normals"]

# %%
# The mean log density of new rows is the fair measure. The tree has about as many leaves as the grid has cells, and
# puts them where the rows are. In two columns a finer grid may do better than a tree; in five there is no grid. The
# mixture wins where clouds are smooth, as here.
#
# Mixtures and responsibilities
# -----------------------------
#
# Let :math:`p(x) = \sum_k \pi_k\, N(x; \mu_k, \Sigma_k)`: each row was drawn from one of :math:`K` normal densities,
# but which one is not known. If it were, each would be fitted to its own rows, as in the last chapter. If the
# densities were known, Bayes' rule would give the probability that component :math:`k` made row :math:`i`, its
# *responsibility*. EM does both in turn:
#
# .. math::
#
#    E:\quad r_{ik} &= \frac{\pi_k\, N(x_i; \mu_k, \Sigma_k)}{\sum_j \pi_j\, N(x_i; \mu_j, \Sigma_j)} \\
#    M:\quad N_k &= \sum_i r_{ik}, \quad \pi_k = \frac{N_k}{N}, \quad \mu_k = \frac{1}{N_k} \sum_i r_{ik} x_i,
#    \quad \Sigma_k = \frac{1}{N_k} \sum_i r_{ik} (x_i - \mu_k)(x_i - \mu_k)^T .
#
# It climbs: for any weights :math:`r_{ik}` that sum to 1, Jensen's inequality bounds the log likelihood from below by
# :math:`\sum_{ik} r_{ik} \log (\pi_k N(x_i; \mu_k, \Sigma_k) / r_{ik})`. The E step makes the bound tight, the M step
# raises it. So the likelihood never falls. In one column it is ten lines:

x = sample[:, 0]
share, mean, variance = np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0])
climb = []
for _ in range(300):
    joint = share * np.exp(-((x[:, None] - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    climb.append(np.log(joint.sum(axis=1)).mean())
    responsibility = joint / joint.sum(axis=1, keepdims=True)
    rows = responsibility.sum(axis=0)
    share, mean = rows / len(x), x @ responsibility / rows
    variance = (responsibility * (x[:, None] - mean) ** 2).sum(axis=0) / rows
assert (np.diff(climb) > -1e-12).all()
fitted = GaussianMixture(2, tol=1e-9, max_iter=1000, reg_covar=0, random_state=0).fit(sample)
order = fitted.means_[:, 0].argsort()
assert np.allclose(fitted.means_[order, 0], mean, atol=1e-3)
assert np.allclose(fitted.weights_[order], share, atol=1e-3)
print(f"shares {share.round(2)}, means {mean.round(2)}, deviations {np.sqrt(variance).round(2)}")

# %%
# How many components?
# --------------------
#
# The likelihood of the training rows grows with every component. BIC charges for each free number:
# :math:`BIC = -2 \log L + m \log N` with :math:`m = K - 1 + K d + K d (d + 1) / 2` for full covariances, and the
# smallest is taken. Where components are meant to be groups, that is the usual choice; where only the density
# matters, likelihood on rows left out will do, as for the kernels.

shapes = [np.array([[1.0, 0.8], [0.0, 0.3]]), np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[0.3, 0.0], [0.0, 1.2]])]
centres = [(-1.5, 0.0), (1.0, -1.5), (2.2, 1.0)]
blobs = np.vstack([rng.normal(size=(200, 2)) @ A + c for A, c in zip(shapes, centres, strict=True)])
counts = range(1, 8)
trials = [GaussianMixture(k, n_init=5, random_state=0).fit(blobs) for k in counts]
bic, likelihood = [m.bic(blobs) for m in trials], [-2 * m.score(blobs) * len(blobs) for m in trials]
best = trials[int(np.argmin(bic))]
assert best.n_components == 3
assert np.isclose(best.bic(blobs), -2 * best.score(blobs) * 600 + (2 + 6 + 9) * np.log(600))

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
axes[0].plot(counts, bic, "o-", color="#0072b2", label="BIC")
axes[0].plot(counts, likelihood, "o-", color="#d55e00", label="−2 log likelihood")
axes[0].set(xlabel="components", ylabel="less is better")
axes[0].legend(frameon=False)
colours = np.array([[0.0, 0.45, 0.7], [0.84, 0.37, 0.0], [0.0, 0.62, 0.45]])
axes[1].scatter(*blobs.T, c=best.predict_proba(blobs) @ colours, s=6)
axes[1].set(xlabel="first column", ylabel="second column", title="colours mixed by responsibility")
plt.show()

# %%
# What is unusual?
# ----------------
#
# A row is a *novelty* where the density is low. The threshold is a quantile of the densities of the training rows:
# ``contamination=0.02`` calls 2% of them unusual. Between the rings no single column is out of range, and still:

watch = DensityForest(contamination=0.02, random_state=0).fit(old)
planted = 2 * new[:20] / np.linalg.norm(new[:20], axis=1, keepdims=True)  # radius 2: halfway between the rings
found = (watch.predict(planted) == -1).mean()
alarms = (watch.predict(new) == -1).mean()
print(f"found {found:.0%} of the planted rows, with {alarms:.1%} false alarms")
assert found > 0.7
assert alarms < 0.06

# %%
# A classifier that can draw
# --------------------------
#
# One density for each class, and Bayes' rule: `GenerativeClassifier` makes a classifier of any density of this
# chapter. With normal densities it is QDA. It can also draw new rows, which shows better than any score what the
# model has understood.

from learnt.bayes import GenerativeClassifier
from learnt.datasets import load_digits
from learnt.model_selection import train_test_split

digits, digit = load_digits(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(digits, digit, random_state=0)
figure, axes = plt.subplots(2, 1, figsize=(8, 2.1), layout="constrained")
for ax, form in zip(axes, ("full", "diag"), strict=True):
    writer = GenerativeClassifier(Gaussian(covariance_type=form, reg_covar=1.0)).fit(x_train, y_train)
    drawn = np.hstack([writer.densities_[k].sample(1, random_state=k).reshape(8, 8) for k in range(10)])
    ax.imshow(drawn.clip(0, 16), cmap="gray_r")
    ax.set(xticks=[], yticks=[], ylabel=form)
    print(f"{form}: {writer.score(x_test, y_test):.1%} of new digits are read rightly")
plt.show()

# %%
# Both know where ink is. The diagonal model draws every pixel by itself, which is what naive Bayes believes: its
# strokes fray. The full one draws neighbouring pixels together, and reads better.
#
# What goes wrong
# ---------------
#
# - **Likelihood without limit.** A component that shrinks onto one row has a density as high as it likes.
#   ``reg_covar`` sets a floor to the variances; weights near 0 and tiny variances show that it happened. Ask for
#   fewer components, or for ``covariance_type="diag"``, "tied" or "spherical".
# - **EM stops on a lesser hill.** It climbs, but not always the highest: begin several times with ``n_init``. The
#   order of the components means nothing and changes from start to start.
# - **Logarithms of zero.** Beyond the box of a tree or histogram, or in an empty cell, the log density is −∞, and so
#   is any mean with it. Smooth (``alpha``), or take a density without limits.
# - **A density is no probability**: it may exceed 1, and changes with the units. Compare densities of the same
#   columns only.
# - **One width for all columns.** Kernels measure distances: bring columns to one scale first.
# - **Many columns.** Every method here needs more rows as columns grow; `PCA` first, or a model with few numbers.
#
# The first, on purpose: 60 rows, 8 components, hardly any floor. The training rows get likelier and new ones less
# likely, and `GaussianMixture` warns of singular covariances.

import warnings

few, more = blobs[::10], np.vstack([rng.normal(size=(200, 2)) @ A + c for A, c in zip(shapes, centres, strict=True)])
for k, floor in ((3, 1e-6), (8, 1e-6), (8, 0.1)):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = GaussianMixture(k, reg_covar=floor, n_init=5, random_state=0).fit(few)
    print(
        f"{k} components, floor {floor:g}: {model.score(few):.2f} on the rows, {model.score(more):.2f} on new ones",
        end="",
    )
    print(f"; {len(heard)} warning(s)")

# %%
# Exercises
# ---------
#
# 1. Two components, :math:`N(0, 1)` with share ¾ and :math:`N(4, 1)` with share ¼. Where is either as responsible as
#    the other?
# 2. A leaf holds 8 rows of 10, in a quarter of the volume of the box; the other leaf holds the rest. What has the cut
#    gained in log likelihood? When does a cut gain nothing?
# 3. Show that a `GenerativeClassifier` with a mixture of one component for each class is QDA.
#
# Solutions
# ---------
#
# 1. :math:`\log \frac{3}{4} - \frac{x^2}{2} = \log \frac{1}{4} - \frac{(x-4)^2}{2}` gives
#    :math:`x = 2 + \frac{1}{4} \log 3`: beyond the middle, by what is believed beforehand.

pair = GaussianMixture(2, random_state=0).fit(sample)
pair.weights_, pair.means_ = np.array([0.75, 0.25]), np.array([[0.0], [4.0]])
pair.covariances_ = pair.precisions_ = pair.precisions_cholesky_ = np.ones((2, 1, 1))
assert np.allclose(pair.predict_proba([[2 + np.log(3) / 4]]), 0.5)

# %%
# 2. :math:`8 \log \frac{0.8}{0.25} + 2 \log \frac{0.2}{0.75} = 6.66`. It gains nothing where both sides have the same
#    share of the rows as of the volume.

ten = np.concatenate([np.linspace(0, 1, 8), [1.0 + 1e-9, 4.0]])[:, None]
cut = Histogram(bins=np.array([0.0, 1.0 + 5e-10, 4.0])).fit(ten)
whole = Histogram(bins=np.array([0.0, 4.0])).fit(ten)
gain = cut.score_samples(ten).sum() - whole.score_samples(ten).sum()
assert abs(gain - (8 * np.log(0.8 / 0.25) + 2 * np.log(0.2 / 0.75))) < 1e-6
assert round(gain, 2) == 6.66

# %%
# 3. One component has responsibility 1 for every row; the M step is then the mean and the covariance of the class.

from learnt.datasets import load_iris
from learnt.discriminant_analysis import QuadraticDiscriminantAnalysis

iris, kind = load_iris(return_X_y=True)
one = GenerativeClassifier(GaussianMixture(1, reg_covar=0)).fit(iris, kind)
qda = QuadraticDiscriminantAnalysis(store_covariance=True).fit(iris, kind)
for c in range(3):
    assert np.allclose(one.densities_[c].covariances_[0], qda.covariance_[c])
assert np.allclose(one.predict_proba(iris), qda.predict_proba(iris), atol=1e-9)

# %%
# Next: no density at all, and only the nearest rows.
