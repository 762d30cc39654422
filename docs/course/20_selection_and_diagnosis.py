r"""
Choosing and diagnosing
=======================

The error that counts is that on rows to come. It can only be estimated, the estimate has an error of its own, and
every choice made by looking at it makes it too good. This chapter is about estimating honestly, and about reading
from the same numbers what is wrong with a model and what to do next.
"""

# %%
# Optimism
# --------
#
# A model has been fitted to its training rows, so it does better there than elsewhere:
#
# .. math::
#
#    \text{expected error} = \text{training error} + \text{optimism}, \qquad \text{optimism} \ge 0 \text{ as a rule.}
#
# One nearest neighbour is the extreme: its training error is 0 whatever the data. In the example of the first chapter
# (:math:`x` even on :math:`[0, 1]`, :math:`P(1 \mid x) = x`) a new row and its neighbour have independent labels with
# nearly the same :math:`x`; they differ with probability :math:`2 \int_0^1 x (1 - x)\, dx = 1/3`. All of it is
# optimism.
#
# Hence three parts: *training* rows to fit, *validation* rows to choose among models and settings, *test* rows to
# judge what was chosen. To set rows aside wastes them; *cross-validation* takes turns. Shuffle the rows, cut them
# into :math:`K` folds, fit :math:`K` times without one fold, and predict that fold. Every row is predicted once by a
# model that has not seen it.

import matplotlib.pyplot as plt
import numpy as np

from learnt.model_selection import KFold, cross_val_score
from learnt.neighbors import KNeighborsClassifier

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"

rng = np.random.default_rng(0)
x = rng.uniform(size=(2000, 1))
y = (rng.uniform(size=2000) < x[:, 0]).astype(int)

model = KNeighborsClassifier(1)
by_hand = []
for rest, fold in KFold(5, shuffle=True, random_state=0).split(x):
    by_hand.append(1 - model.fit(x[rest], y[rest]).score(x[fold], y[fold]))
folds = KFold(5, shuffle=True, random_state=0)
assert np.allclose(by_hand, 1 - cross_val_score(model, x, y, cv=folds))
train_error = 1 - model.fit(x, y).score(x, y)
print(f"one neighbour: training error {train_error:.2f}, cross-validated {np.mean(by_hand):.3f}; in theory 0.333")
assert train_error == 0
assert abs(np.mean(by_hand) - 1 / 3) < 0.04

# %%
# Which :math:`K`? The models of the folds have :math:`(1 - 1/K)\, n` rows, so their error is a little too high, most
# for :math:`K = 2`. With :math:`K = n`, *leave-one-out*, that vanishes, at the price of :math:`n` fits and of
# estimates that depend strongly on the rows at hand. 5 and 10 are the usual compromise.
#
# For least squares, with or without a ridge penalty, the fitted values are linear in :math:`y`, :math:`\hat y = H y`,
# and leaving one out costs nothing: a row's error when left out is its ordinary residual, enlarged by its leverage,
#
# .. math::
#
#    y_i - \hat y_{-i}(x_i) = \frac{y_i - \hat y_i}{1 - H_{ii}} .
#
# Proof: replace :math:`y_i` by :math:`z = \hat y_{-i}(x_i)`. The fit without row :math:`i` passes through the new row
# exactly, so it is also the fit *with* it: :math:`z = \hat y_i + H_{ii} (z - y_i)`. Solve for :math:`y_i - z`.
# `RidgeCV` chooses its penalty so.

from learnt.linear_model import LinearRegression
from learnt.model_selection import LeaveOneOut, cross_val_predict

A = rng.normal(size=(40, 3))
b = A @ [1.0, -2.0, 0.5] + rng.normal(size=40)
left_out = b - cross_val_predict(LinearRegression(), A, b, cv=LeaveOneOut())
ones = np.column_stack([np.ones(40), A])
H = ones @ np.linalg.pinv(ones)
assert np.allclose(left_out, (b - H @ b) / (1 - np.diag(H)))

# %%
# Searching
# ---------
#
# A setting such as the penalty :math:`\lambda` is chosen where the cross-validated score is best. *Grid search* tries
# all values; *telescopic search* tries a few far apart, then finer ones around the best, and needs a number of fits
# that grows with the logarithm of the grid.

from learnt.datasets import load_diabetes
from learnt.linear_model import Ridge
from learnt.model_selection import GridSearchCV, TelescopicSearchCV

X, progress = load_diabetes(return_X_y=True)
values = {"alpha": np.logspace(-4, 2, 31)}
grid = GridSearchCV(Ridge(), values, cv=5).fit(X, progress)
telescope = TelescopicSearchCV(Ridge(), values, cv=5).fit(X, progress)
print(f"telescopic search tried {telescope.n_candidates_} of {telescope.n_grid_} values")
assert telescope.n_candidates_ < 25
assert abs(telescope.best_score_ - grid.best_score_) < 1e-3

# %%
# The error of the error
# ----------------------
#
# An error rate from :math:`n` independent test rows is a mean of :math:`n` coin throws; its standard error is
# :math:`\sqrt{p (1 - p) / n}`. Twenty errors in 100 rows mean anything between 13% and 29%. `wilson_interval` is for
# shares, `bootstrap_interval` for the mean of any loss.
#
# Scores of folds are *not* independent, since their training sets overlap. The plain :math:`s / \sqrt K` is too
# small; `corrected_interval` uses :math:`s \sqrt{1/K + n_{\text{test}} / n_{\text{train}}}` (Nadeau and Bengio). And
# to compare two models, take the difference *fold by fold*: hard folds are hard for both.

from learnt.diagnosis import wilson_interval
from learnt.model_selection import compare_scores, corrected_interval

assert np.allclose(wilson_interval(20, 100), (0.2, 0.1334, 0.2888), atol=1e-4)

ten = KFold(10, shuffle=True, random_state=0)
plain = cross_val_score(LinearRegression(), X, progress, cv=ten)
ridge = cross_val_score(Ridge(1.5), X, progress, cv=ten)  # too strong a penalty for these columns
sizes = {"n_train": 0.9 * len(X), "n_test": 0.1 * len(X)}
interval = corrected_interval(plain, **sizes)
difference = compare_scores(plain, ridge, **sizes)
print(f"R² of least squares: {interval.mean:.2f}, between {interval.low:.2f} and {interval.high:.2f}")
print(f"least squares less ridge: {difference.difference:.2f}, between {difference.low:.2f} and {difference.high:.2f}")
assert interval.low < ridge.mean() < interval.high
assert not difference.tied
assert interval.std_error > plain.std(ddof=1) / np.sqrt(10)
assert difference.high - difference.low < interval.high - interval.low

# %%
# The score of ridge lies within the interval of least squares, and still the difference is clear: the folds are the
# same.
#
# Bias, variance and noise
# ------------------------
#
# Why is a model wrong? Draw a training set :math:`D`, fit :math:`h_D`, and meet a new row :math:`(x, y)`. Let
# :math:`\bar y(x) = \mathbb{E}[y \mid x]` be the best prediction and :math:`\bar h(x) = \mathbb{E}_D h_D(x)` the mean
# over training sets. Add and subtract both:
#
# .. math::
#
#    h_D(x) - y = \left(h_D(x) - \bar h(x)\right) + \left(\bar h(x) - \bar y(x)\right) + \left(\bar y(x) - y\right) .
#
# Square it and take the expectation. The first bracket has mean 0 over :math:`D`, and nothing else depends on
# :math:`D`; the last has mean 0 over :math:`y` given :math:`x`, independent of :math:`D`. So every mixed product
# vanishes, and
#
# .. math::
#
#    \mathbb{E} (h_D(x) - y)^2 = \underbrace{\mathbb{E} (h_D - \bar h)^2}_{\text{variance}}
#    + \underbrace{\mathbb{E} (\bar h - \bar y)^2}_{\text{bias}^2}
#    + \underbrace{\mathbb{E} (\bar y - y)^2}_{\text{noise}} .
#
# *Variance*: how much the model depends on which rows it happened to get. *Bias*: what remains with infinitely many
# training sets, since the model cannot bend that way. *Noise*: what no function of :math:`x` can predict.
#
# For :math:`k` nearest neighbours at fixed rows :math:`x_i` with :math:`y_i = f(x_i) + \varepsilon_i` the parts are
# in closed form. The prediction is a mean of :math:`k` labels, so its variance is :math:`\sigma^2 / k`; its bias is
# the mean of :math:`f` over the neighbours less :math:`f(x)`, which grows with :math:`k`. `bias_variance` measures
# them by drawing training sets.

from learnt.diagnosis import bias_variance
from learnt.neighbors import KNeighborsRegressor


def f(X):
    return np.sin(4 * X[:, 0])


sigma, ks = 0.5, [1, 2, 4, 8, 16, 32]
fixed = np.linspace(0, 2, 100)[:, None]
new = rng.uniform(0, 2, size=(300, 1))
seen = f(new) + rng.normal(scale=sigma, size=300)
parts = bias_variance(
    KNeighborsRegressor(),
    new,
    seen,
    vary={"n_neighbors": ks},
    truth=f,
    draw=lambda generator: (fixed, f(fixed) + generator.normal(scale=sigma, size=100)),
    n_sets=60,
)
assert np.allclose(parts.noise + parts.bias + parts.variance, parts.error)
assert np.allclose(parts.variance, sigma**2 / np.array(ks), rtol=0.25)
assert np.allclose(parts.noise, sigma**2, rtol=0.25)

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
names, place = ("noise", "bias²", "variance"), np.arange(len(ks))
below = np.zeros(len(ks))
for name, part, colour in zip(names, (parts.noise, parts.bias, parts.variance), ("#bbbbbb", RED, BLUE), strict=True):
    ax.bar(place, np.maximum(part, 0), bottom=below, color=colour, label=name)
    below += np.maximum(part, 0)
ax.plot(place, sigma**2 / np.array(ks) + parts.noise + parts.bias, "k.", label="σ²/k on top of the others")
ax.set(xlabel="neighbours k", ylabel="mean squared error", xticks=place, xticklabels=ks)
ax.legend(frameon=False, ncols=2)
ax.set(ylim=(0, 0.6))
plt.show()

assert parts.best in (4, 8, 16)

# %%
# For labels and the zero-one loss there is a similar account, by Domingos, with one surprise: where the usual
# prediction is wrong, variance *helps*.
#
# Two regimes
# -----------
#
# On a real table :math:`\bar h` and :math:`\bar y` are unknown, but the *learning curve* shows them: training error
# and error on new rows against the number of rows. Let :math:`\epsilon` be the error you need.
#
# ==============  ==========================================  ==============================================
# ..              regime 1: high variance                     regime 2: high bias
# ==============  ==========================================  ==============================================
# signs           training error far below that on new rows,  training error itself above ε, and that on
#                 and below ε; the gap closes with more rows  new rows close to it; both curves flat
# what to do      more rows, more penalty, a simpler model,   a model that bends: features, kernels, trees,
#                 fewer columns, bagging                      boosting; less penalty
# what does not   a model that bends more                     more rows
# ==============  ==========================================  ==============================================
#
# `diagnose` draws the curve, brackets the noise by nearest neighbours, and says which it is.

from learnt.diagnosis import diagnose

many = rng.normal(size=(250, 80))  # eighty columns, of which two matter
sum_of_two = many[:, 0] + many[:, 1] + rng.normal(size=250)
one = rng.uniform(0, 2, size=(250, 1))  # one column, and a curve
curve = f(one) + rng.normal(scale=0.3, size=250)
tables = {"80 columns": (many, sum_of_two, 1.0), "a curve": (one, curve, 0.3**2)}
found = {name: diagnose(LinearRegression(), X, y, sizes=[100, 125, 160, 200]) for name, (X, y, _) in tables.items()}

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, (name, seen) in zip(axes, found.items(), strict=True):
    ax.plot(seen.sizes, seen.valid.mean(axis=1), "o-", color=RED, label="on new rows")
    ax.plot(seen.sizes, seen.train.mean(axis=1), "o-", color=BLUE, label="on training rows")
    ax.axhline(tables[name][2], color="#999999", linestyle=":", label="noise")
    ax.set(xlabel="training rows", title=f"{name}: {seen.regime}", ylim=(0, None))
axes[0].set(ylabel="mean squared error")
axes[0].legend(frameon=False)
plt.show()

for name, seen in found.items():
    print(f"{name}: {seen.treatments[0]}\n   {seen.treatments[1]}")
assert [seen.regime for seen in found.values()] == ["high variance", "high bias"]

# %%
# Both are least squares. Each gets its own medicine, a penalty that drops columns and a polynomial, and comes down to
# its noise.

from learnt.linear_model import LassoCV
from learnt.pipeline import make_pipeline
from learnt.preprocessing import PolynomialFeatures

cures = {"80 columns": LassoCV(), "a curve": make_pipeline(PolynomialFeatures(6), LinearRegression())}
for name, (X, y, noise) in tables.items():
    loss = -cross_val_score(cures[name], X, y, scoring="neg_mean_squared_error").mean()
    print(f"{name}: mean squared error {found[name].loss:.2f} before, {loss:.2f} after; noise {noise:.2f}")
    assert loss < 1.25 * noise < found[name].loss

# %%
# Used once, and sealed
# ---------------------
#
# Take 20 models that are all right on 80% of rows, and 200 test rows. The best of them *looks* better, for no reason
# but chance, and the more that are tried the better it looks. The same holds for validation rows: their score for the
# winner is too good. Hence the test rows, which choose nothing. `SealedTestSet` hands them out once and keeps a log.

looks = rng.binomial(200, 0.8, size=(10_000, 20)).max(axis=1).mean() / 200
print(f"20 models of accuracy 0.80: the best of them shows {looks:.3f} on average")
assert 0.84 < looks < 0.86

# %%
# What goes wrong in practice
# ---------------------------
#
# Nearly all of it is a *leak*: something of the rows that judge has reached the rows that teach.
#
# **Choosing columns before the folds.** Here is pure noise. Take the 20 of 2000 columns that go best with the labels,
# then cross-validate, and it looks like knowledge. Inside the pipeline the choice is repeated in each fold, and the
# truth comes out.

from learnt.feature_selection import SelectKBest
from learnt.naive_bayes import GaussianNB

noise, coin = rng.normal(size=(100, 2000)), np.repeat([0, 1], 50)
chosen = SelectKBest(k=20).fit_transform(noise, coin)
leaked = cross_val_score(GaussianNB(), chosen, coin).mean()
honest = cross_val_score(make_pipeline(SelectKBest(k=20), GaussianNB()), noise, coin).mean()
print(f"accuracy on pure noise: {leaked:.2f} with columns chosen first, {honest:.2f} with the choice inside the folds")
assert leaked > honest + 0.2

# %%
# **A column from the future.** A refund is paid because a delivery was late. `learnt.profile` looks for columns that
# explain the target too well, and for dates.

import learnt

profile = learnt.profile(learnt.study.example_path(), target="late")
warning = next(line for line in str(profile).splitlines() if line.startswith("'refund'"))
print(warning)

# %%
# - **Rows that belong together** (visits of one patient, frames of one film) on both sides of a split: `GroupKFold`.
# - **Shuffled time.** Train on the past, judge on the future: `TimeSeriesSplit`, ``train_test_split(..., time=...)``.
# - **Rare classes** absent from a fold: `StratifiedKFold`, which classifiers get by default.
# - **The winner's own score** reported as its error: it was chosen by that number. Use the sealed rows, or a second
#   cross-validation around the search.
# - **Ties decided by the third digit.** `tied_with_best` lists the models that cannot be told apart. Take the
#   simplest.
#
# All of it in one command
# ------------------------
#
# .. code-block:: console
#
#    $ learnt study deliveries.csv --target late --budget 60s
#
# seals a test set, sets leaks aside, measures the best constant and a bracket of the Bayes error, races models by
# cross-validation within the budget, diagnoses the winner, opens the test set once, and writes a report in which
# every figure has its interval. In Python: ``learnt.study(table, target="late", budget="60s")``.
#
# Exercises
# ---------
#
# 1. Half of an even number of labels are 1, and the columns say nothing. What does leave-one-out say of the best
#    constant?
# 2. How many test rows are needed to know an error of about 10% to within one point, with 95% confidence?
# 3. The mean of :math:`n` measurements is unbiased for :math:`\mu`. Shrink it, :math:`s \bar y`: which :math:`s` has
#    the least mean squared error?
#
# Solutions
# ---------
#
# 1. Without one row its label is in the minority, so the constant is the other one, always: an error of 100%, where
#    the truth is a half. Each prediction is honest, and yet the estimate is useless, because the rows left out are
#    not independent of the fits.

from learnt.baseline import ConstantClassifier

assert cross_val_score(ConstantClassifier(), noise, coin, cv=LeaveOneOut()).mean() == 0
assert cross_val_score(ConstantClassifier(), noise, coin, cv=5).mean() == 0.5

# %%
# 2. :math:`1.96 \sqrt{0.1 \cdot 0.9 / n} = 0.01` gives :math:`n = 1.96^2 \cdot 0.09 / 0.01^2 \approx 3457`.

need = round(1.96**2 * 0.09 / 0.01**2)
assert need == 3457
_, low, high = wilson_interval(0.1 * need, need)
assert abs((high - low) / 2 - 0.01) < 1e-4

# %%
# 3. The bias is :math:`(s - 1) \mu`, the variance :math:`s^2 \sigma^2 / n`. The slope of
#    :math:`(1 - s)^2 \mu^2 + s^2 \sigma^2 / n` is 0 at :math:`s = \mu^2 / (\mu^2 + \sigma^2 / n)`, always below 1: a
#    little bias buys more variance than it costs. This is why ridge beats least squares.

mu, n = 1.0, 5
means = mu + rng.normal(size=100_000) * 2.0 / np.sqrt(n)
shrink = np.linspace(0, 1, 101)
best = shrink[np.argmin([((s * means - mu) ** 2).mean() for s in shrink])]
assert abs(best - mu**2 / (mu**2 + 2.0**2 / n)) < 0.02

# %%
# Next: your own table. The course ends here; the user guide says how to do each of these things in a day's work.
