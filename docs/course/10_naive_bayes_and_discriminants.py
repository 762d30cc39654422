r"""
Naive Bayes and discriminants
=============================

Bayes' rule turns a model of how each class looks, :math:`p(x \mid y)`, into the probability of each class,
:math:`P(y \mid x)`. So the task is to estimate distributions from rows. This chapter begins with the smallest one, a
coin, where every idea can be seen: the likeliest parameter, a belief held beforehand, and what is left to doubt. Then
come two models of many columns that differ in one assumption: naive Bayes ignores how columns go together,
discriminant analysis estimates it.
"""

# %%
# A coin
# ------
#
# A coin fell H T T H H H T T T T: :math:`n_H = 4` heads and :math:`n_T = 6` tails. If heads have the probability
# :math:`\theta`, what was seen has the probability :math:`P(D \mid \theta) = \theta^{n_H} (1 - \theta)^{n_T}`, up to
# a factor without :math:`\theta`. *Maximum likelihood* (MLE) takes the :math:`\theta` that makes it largest. The
# logarithm has the same maximum and turns products into sums:
#
# .. math::
#
#    \frac{d}{d\theta} \left( n_H \log \theta + n_T \log (1 - \theta) \right)
#    = \frac{n_H}{\theta} - \frac{n_T}{1 - \theta} = 0
#    \quad \Rightarrow \quad \hat{\theta}_{MLE} = \frac{n_H}{n_H + n_T} = 0.4 .
#
# After a single toss it says 0 or 1. Whoever believes that coins are about fair can say so by :math:`m` imagined
# heads and as many imagined tails, and gets :math:`(n_H + m) / (n + 2m)`. With :math:`m = 1`, *+1 smoothing*, that is
# :math:`5 / 12`.
#
# The belief can be written as a distribution of :math:`\theta`, the *prior*. Bayes' rule makes the *posterior* of it,
# :math:`P(\theta \mid D) \propto P(D \mid \theta)\, P(\theta)`. With a Beta prior,
# :math:`P(\theta) \propto \theta^{a-1} (1-\theta)^{b-1}`, exponents only add up: the posterior is
# Beta(:math:`a + n_H`, :math:`b + n_T`). A prior whose posterior has the same form is called *conjugate*. The
# posterior's maximum (MAP) and mean follow as above:
#
# .. math::
#
#    \hat{\theta}_{MAP} = \frac{n_H + a - 1}{n + a + b - 2}, \qquad
#    \mathbb{E}[\theta \mid D] = \frac{n_H + a}{n + a + b} .
#
# Smoothing by :math:`m` is the MAP of Beta(:math:`m + 1`, :math:`m + 1`). The mean is also the *predictive*
# probability that the next toss gives heads, all values of :math:`\theta` being averaged by their posterior. Under a
# flat prior, Beta(1, 1), it is 5/12 too: the same number by another road.

import matplotlib.pyplot as plt
import numpy as np

from learnt.bayes import BetaBinomial, DirichletMultinomial, GaussianEstimate

flat = BetaBinomial(1, 1).observe(heads=4, tails=6)
assert flat.mle == flat.map == 0.4
assert BetaBinomial.smoothing(1).observe(heads=4, tails=6).map == 5 / 12
assert flat.mean == flat.predictive() == 5 / 12
low, high = flat.credible_interval(0.9)
print(f"after 10 tosses θ is between {low:.2f} and {high:.2f} with probability 0.9")

# %%
# How long does a belief last? Let the coin give 40% heads for ever, and let the prior be sure of 0.8: Beta(17, 5),
# worth 16 imagined heads and 4 tails. The prior is a fixed number of tosses, so it loses weight like :math:`1/n`.

sure, theta = BetaBinomial(17, 5), np.linspace(0.001, 0.999, 500)
tosses = np.array([0, 10, 100, 1000])
found = [sure.observe(heads=0.4 * n, tails=0.6 * n) for n in tosses]
assert abs(found[1].map - 20 / 30) < 1e-12
assert abs(found[-1].map - found[-1].mle) < 0.01  # MAP tends to MLE

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for estimate, n, colour in zip(found, tosses, ("#555555", "#cc79a7", "#0072b2", "#009e73"), strict=True):
    heads, tails = estimate.a - 1 + estimate.heads, estimate.b - 1 + estimate.tails
    logarithm = heads * np.log(theta) + tails * np.log(1 - theta)
    ax.plot(theta, np.exp(logarithm - logarithm.max()), color=colour, label=f"{n} tosses, MAP {estimate.map:.2f}")
ax.axvline(0.4, color="#d55e00", linestyle="--", label="share of heads")
ax.set(xlabel="θ", ylabel="posterior, by its maximum")
ax.legend(frameon=False, fontsize="small")
plt.show()

# %%
# A die and a measurement
# -----------------------
#
# With :math:`K` outcomes the Beta becomes a Dirichlet distribution, with one :math:`\alpha_k` for each:
# :math:`\hat{\theta}_k = (n_k + \alpha_k - 1) / (n + \sum_j \alpha_j - K)`. A number that is normal has a mean and a
# variance. Maximum likelihood gives :math:`\bar{x}` and :math:`\frac{1}{n} \sum (x_i - \bar{x})^2` (divided by
# :math:`n`). A prior mean :math:`\mu_0` that is worth :math:`w` measurements gives
# :math:`(w \mu_0 + n \bar{x}) / (w + n)`.

die = DirichletMultinomial([1] * 6).observe([3, 2, 4, 1, 2, 0])
print("a die, MLE:        ", die.mle.round(3))
print("after +1 smoothing:", DirichletMultinomial.smoothing(6, 1).observe([3, 2, 4, 1, 2, 0]).map.round(3))

weights = [1.0, 2.0, 3.0, 6.0]
assert GaussianEstimate().fit(weights).mle == (3.0, 3.5)
assert abs(GaussianEstimate(mean=0.0, weight=4.0).fit(weights).map[0] - (4 * 0.0 + 4 * 3.0) / 8) < 1e-12

# %%
# Naive Bayes
# -----------
#
# To estimate :math:`p(x \mid y)` for a row of :math:`d` columns by counting is hopeless: hardly any row occurs twice.
# Naive Bayes assumes that columns are independent *within a class*. What remains is one small estimate for each
# column and class, each as easy as the coin:
#
# .. math::
#
#    h(x) = \argmax_c \left( \log P(y = c) + \sum_{j=1}^d \log p(x_j \mid y = c) \right) .
#
# A column of categories is a die (`CategoricalNB`), a row of counts such as words is many throws of one die
# (`MultinomialNB`), a number may be normal (`GaussianNB`) or have a histogram (`HistogramNB`). The smoothing
# ``alpha`` of these classes is the number of imagined throws.

from learnt.naive_bayes import CategoricalNB, GaussianNB, MixedNB, MultinomialNB

words = np.array([[2, 1, 0, 0], [3, 0, 1, 0], [0, 1, 2, 1], [0, 0, 1, 2], [1, 2, 0, 3]])  # win, hello, report, meeting
kind = np.array(["spam", "spam", "work", "work", "work"])
mail = MultinomialNB(alpha=1).fit(words, kind)
of_spam = DirichletMultinomial.smoothing(4, 1).observe(words[kind == "spam"].sum(axis=0))
assert np.allclose(np.exp(mail.feature_log_prob_[0]), of_spam.map)
assert np.allclose(of_spam.map, np.array([5 + 1, 1 + 1, 1 + 1, 0 + 1]) / (7 + 4))

# %%
# It is a linear classifier: with counts, the difference of the two sums is
#
# .. math::
#
#    \underbrace{\log P(+) - \log P(-)}_{b} + \sum_j x_j \underbrace{(\log \theta_{j+} - \log \theta_{j-})}_{w_j} ,
#
# a weight for each word. The same holds for categories as indicators, and for normal columns where both classes have
# the same variance (the squares cancel). The model can be read off, and it is fast: two matrix products.

w, b = mail.linear_form()
assert (((words @ w + b) > 0) == (mail.predict(words) == "work")).all()
for word, weight in zip(("win", "hello", "report", "meeting"), w, strict=True):
    print(f"{word:8} {weight:+.2f}")

# %%
# Logistic regression has the same form, but chooses :math:`w` and :math:`b` to make the *labels* likely instead of
# the rows. It needs no assumption on the columns, and more rows.
#
# One shape for all classes, or one each
# --------------------------------------
#
# The simplest model with more than one column keeps one representative a class, its mean, and answers by the nearest
# (`NearestCentroid`). That is right where clusters are round and equally wide. Otherwise the shape must be estimated
# too: let class :math:`c` be normal with mean :math:`\mu_c` and covariance :math:`\Sigma_c`. Both maximum-likelihood
# estimates are averages over the rows of the class, and minus twice the logarithm of :math:`\pi_c\, p(x \mid c)` is
#
# .. math::
#
#    (x - \mu_c)^T \Sigma_c^{-1} (x - \mu_c) + \log |\Sigma_c| - 2 \log \pi_c + \text{const}.
#
# The first term is the squared Mahalanobis distance; boundaries are quadratic (QDA). If all classes share
# :math:`\Sigma`, then :math:`x^T \Sigma^{-1} x` and the determinant cancel, and boundaries are planes (LDA). If every
# :math:`\Sigma_c` is diagonal, it is Gaussian naive Bayes.

from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.neighbors import NearestCentroid

rng = np.random.default_rng(4)
n = 300
labels = np.repeat([0, 1], n)
long = rng.normal(size=(2 * n, 2)) @ np.array([[2.0, 1.8], [0.0, 0.4]])  # columns that go together
clouds = long + np.where(labels[:, None] == 1, [0.5, -0.8], [-0.5, 0.8])
crossed = long * np.where(labels[:, None] == 1, [1, -1], [1, 1])  # the second class is mirrored
models = {
    "nearest mean": NearestCentroid(),
    "Gaussian naive Bayes": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
}
side = np.linspace(-7.5, 7.5, 150)
mesh = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
errors = {}
figure, axes = plt.subplots(2, 4, figsize=(9, 4.8), layout="constrained", sharex=True, sharey=True)
for line, (case, points) in zip(axes, (("one shape", clouds), ("two shapes", crossed)), strict=True):
    for ax, (name, model) in zip(line, models.items(), strict=True):
        errors[case, name] = 1 - model.fit(points, labels).score(points, labels)
        areas = model.predict(mesh).reshape(len(side), -1)
        ax.contourf(side, side, areas, levels=[-0.5, 0.5, 1.5], colors=["#dbe9f6", "#fbe3d3"])
        ax.scatter(*points.T, c=np.array(["#0072b2", "#d55e00"])[labels], s=2)
        ax.set_title(f"{name}: {errors[case, name]:.0%} wrong", fontsize="small")
    line[0].set_ylabel(f"{case}\nsecond column")
for ax in axes[1]:
    ax.set(xlabel="first column", xlim=(-7.5, 7.5), ylim=(-7.5, 7.5))
plt.show()
assert errors["one shape", "LDA"] == 0
assert errors["one shape", "Gaussian naive Bayes"] > 0.1
assert errors["two shapes", "QDA"] < 0.2 < 0.4 < errors["two shapes", "LDA"]

# %%
# In the upper row a straight line separates the classes without error, and naive Bayes does not find it: column by
# column the classes overlap, and it looks no further. The fit is right, the assumption is not. The perceptron, which
# makes none, does find a line. In the lower row the classes have the same mean and mirrored shapes. No line helps,
# and naive Bayes sees no difference at all: only the quadratic boundary does.

from learnt.linear_model import Perceptron

assert Perceptron(random_state=0).fit(clouds, labels).score(clouds, labels) == 1

# %%
# LDA three times
# ---------------
#
# *As a density.* Two classes with a shared :math:`\Sigma`: the difference of the two expressions above is linear,
# with :math:`w = \Sigma^{-1} (\mu_1 - \mu_0)`.
#
# *As a projection* (Fisher). Seek the direction along which the means are far apart for the spread within the
# classes: maximise :math:`(w^T \delta)^2 / (w^T \Sigma w)` with :math:`\delta = \mu_1 - \mu_0`. With
# :math:`u = \Sigma^{1/2} w` it is :math:`(u^T \Sigma^{-1/2} \delta)^2 / (u^T u)`, largest by Cauchy and Schwarz where
# :math:`u` points along :math:`\Sigma^{-1/2} \delta`: again :math:`w \propto \Sigma^{-1} \delta`.
#
# *As least squares* on labels −1 and +1. With balanced classes the covariance of all rows is
# :math:`\Sigma + \frac{1}{4} \delta \delta^T`, and that of rows with labels :math:`\frac{1}{2} \delta`. The normal
# equations say
#
# .. math::
#
#    \left(\Sigma + \tfrac{1}{4} \delta \delta^T\right) w = \tfrac{1}{2} \delta
#    \quad \Rightarrow \quad \Sigma w = \left(\tfrac{1}{2} - \tfrac{1}{4} \delta^T w\right) \delta ,
#
# the same direction a third time; the plane passes through the midpoint of the means.

ways = {
    way: LinearDiscriminantAnalysis(derivation=way).fit(clouds, labels)
    for way in ("gaussian", "fisher", "least-squares")
}
by_hand = np.linalg.solve(ways["gaussian"].covariance_, np.diff(ways["gaussian"].means_, axis=0)[0])
for model in ways.values():
    cosine = model.coef_[0] @ by_hand / np.linalg.norm(model.coef_) / np.linalg.norm(by_hand)
    assert abs(cosine - 1) < 1e-9
    assert abs(model.decision_function(model.means_.mean(axis=0)[None])[0]) < 1e-9

# %%
# Columns of different kinds
# --------------------------
#
# Independence has one great convenience: each column may have the model of its kind. `MixedNB` sees text, whole
# numbers of few values and other numbers, in the package's own table of deliveries (the question is whether one came
# late).

import pandas as pd

from learnt.metrics import roc_auc_score
from learnt.study import example_path

table = pd.read_csv(example_path())
columns = ["district", "vehicle", "distance_km", "items", "kitchen_queue", "rain_mm", "courier_months"]
rows = table[columns].fillna({"distance_km": table["distance_km"].median(), "rain_mm": table["rain_mm"].median()})
late = (table["late"] == "yes").to_numpy()
old, new = slice(0, 1500), slice(1500, None)  # the table is in the order of time
mixed = MixedNB().fit(rows[old], late[old])
area = roc_auc_score(late[new], mixed.predict_proba(rows[new])[:, 1])
print(dict(zip(columns, mixed.kinds_, strict=True)))
print(f"area under the ROC curve on the later rows: {area:.2f}")

# %%
# What goes wrong
# ---------------
#
# - **One count of zero is a veto.** Without smoothing a word that was never seen in a class makes that class
#   impossible, whatever the other words say. Keep ``alpha`` above 0, and choose it on validation rows.
# - **Naive Bayes is too sure.** Columns that say the same are counted as independent evidence. Labels are often right
#   all the same, but probabilities crowd at 0 and 1. Do not act on them before `CalibratedClassifierCV`; compare
#   `log_loss`.
# - **QDA has too much to estimate**: :math:`d (d + 3) / 2` numbers for each class. With few rows covariances are
#   nearly singular. Draw them towards a round shape (``reg_param=``, ``shrinkage=``), after `StandardScaler`, or the
#   column with the largest unit decides what is round. Or use LDA.
# - **Clusters that are not normal** bend LDA and QDA away from the boundary. Compare with `LogisticRegression`.
# - **Classes have other shares in use** than in training. Give ``priors=`` (``class_prior=`` where columns are
#   counts); the densities stay as they are.
#
# The second and the third, seen on tumours with 30 columns that repeat each other:

from learnt.calibration import CalibratedClassifierCV
from learnt.datasets import load_breast_cancer
from learnt.metrics import log_loss
from learnt.model_selection import train_test_split
from learnt.pipeline import make_pipeline
from learnt.preprocessing import StandardScaler

x, y = load_breast_cancer(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(x, y, train_size=120, stratify=y, random_state=0)
candidates = {
    "naive Bayes": GaussianNB(),
    "naive Bayes, calibrated": CalibratedClassifierCV(GaussianNB(), cv=5),
    "QDA": QuadraticDiscriminantAnalysis(),
    "QDA, shrunk": make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.3)),
    "LDA": LinearDiscriminantAnalysis(),
}
for name, model in candidates.items():
    loss = log_loss(y_test, model.fit(x_train, y_train).predict_proba(x_test))
    print(f"{name:24} wrong {1 - model.score(x_test, y_test):.1%}, log loss {loss:.2f}")

# %%
# Exercises
# ---------
#
# 1. A die was thrown 12 times and never showed a six. What do MLE and +1 smoothing say of the six? How many imagined
#    throws of each face make it 1/12?
# 2. A column is right 8 times of 10, whatever the class, and classes are equally frequent. What does naive Bayes say
#    when the column says "1"? And when the same column is in the table three times?
# 3. With 30 rows of one class and 300 of the other, does least squares still give LDA's direction? And its threshold?
#
# Solutions
# ---------
#
# 1. 0, and :math:`1 / (12 + 6) = 1/18`. From :math:`m / (12 + 6m) = 1/12` follows :math:`m = 2`.

counts = [3, 2, 4, 1, 2, 0]
assert DirichletMultinomial([1] * 6).observe(counts).mle[5] == 0
assert abs(DirichletMultinomial.smoothing(6, 1).observe(counts).map[5] - 1 / 18) < 1e-12
assert abs(DirichletMultinomial.smoothing(6, 2).observe(counts).map[5] - 1 / 12) < 1e-12

# %%
# 2. 0.8, and then :math:`0.8^3 / (0.8^3 + 0.2^3) = 64/65`: the odds of 4 are counted three times, though nothing was
#    learnt.

says = np.array([1] * 8 + [0] * 2 + [1] * 2 + [0] * 8)[:, None]
truth = np.repeat([1, 0], 10)
once = CategoricalNB(alpha=0).fit(says, truth).predict_proba([[1]])[0, 1]
thrice = CategoricalNB(alpha=0).fit(says.repeat(3, axis=1), truth).predict_proba([[1, 1, 1]])[0, 1]
assert abs(once - 0.8) < 1e-12
assert abs(thrice - 64 / 65) < 1e-12

# %%
# 3. The direction, yes: the factors ½ and ¼ in the derivation become others, and everything stays a multiple of
#    :math:`\delta`. The threshold, no: least squares puts it elsewhere.

few = np.r_[0:30, n : 2 * n]
density, squares = (
    LinearDiscriminantAnalysis(derivation=way).fit(clouds[few], labels[few]) for way in ("gaussian", "least-squares")
)
cosine = (density.coef_ @ squares.coef_.T).item() / np.linalg.norm(density.coef_) / np.linalg.norm(squares.coef_)
assert abs(cosine - 1) < 1e-9
thresholds = [(-model.intercept_ / np.linalg.norm(model.coef_)).item() for model in (density, squares)]
print(f"thresholds along the common direction: {thresholds[0]:.2f} and {thresholds[1]:.2f}")
assert abs(thresholds[0] - thresholds[1]) > 0.05

# %%
# Next: densities that have no shape given in advance.
