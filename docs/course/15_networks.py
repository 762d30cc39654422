r"""
Networks and backpropagation
============================

A kernel method fixes the features :math:`\phi(x)` and learns a line on them. A network learns the features too:
:math:`\phi(x) = \sigma(Wx + b)`, with matrices :math:`W` that are fitted like everything else, by descent. The chain
rule, applied from the loss backwards, gives all derivatives for about the price of two predictions.
"""

# %%
# Units and activations
# ---------------------
#
# A unit adds up its inputs with weights and a bias, and bends the sum: :math:`a = \sigma(w^\top x + b)`. Without the
# bend a network would be a product of matrices, hence a line. The usual ones are
#
# .. math::
#
#    \text{sigmoid } \sigma(z) = \frac{1}{1 + e^{-z}}, \qquad
#    \tanh(z) = 2 \sigma(2z) - 1, \qquad
#    \text{ReLU } \max(0, z), \qquad
#    \text{leaky ReLU } \max(cz, z),\; 0 < c < 1 .
#
# The slope of the sigmoid is :math:`\sigma(1 - \sigma)`, at most 1/4, and nearly 0 far out. That of tanh is at most 1,
# and its values are centred on 0. ReLU has slope 1 wherever it is on. A ReLU unit that is off for *every* row has no
# slope and never comes back: it is dead. The leaky one leaves a small slope.
#
# The last layer depends on the target: none (regression), a sigmoid (two classes), or softmax,
# :math:`p_k = e^{z_k} / \sum_j e^{z_j}` (more).

import warnings

import matplotlib.pyplot as plt
import numpy as np

from learnt.exceptions import ConvergenceWarning
from learnt.neural_network import Dense, MLPClassifier, MLPRegressor, summary

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
warnings.simplefilter("ignore", ConvergenceWarning)  # below, numbers of epochs are chosen on purpose


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


z = np.linspace(-4, 4, 201)
assert np.allclose(np.tanh(z), 2 * sigmoid(2 * z) - 1)
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
for name, value, colour in (
    ("sigmoid", sigmoid(z), BLUE),
    ("tanh", np.tanh(z), RED),
    ("ReLU", np.maximum(z, 0), GREEN),
):
    axes[0].plot(z, value, color=colour, label=name)
    axes[1].plot(z[:-1], np.diff(value) / np.diff(z), color=colour)
axes[0].set(xlabel="z", ylabel="activation", ylim=(-1.2, 2))
axes[1].set(xlabel="z", ylabel="slope")
axes[0].legend(frameon=False)
plt.show()

# %%
# A network of 25 numbers
# -----------------------
#
# Two inputs, two hidden layers of three units, one output. Each layer multiplies by a matrix:
# :math:`2 \cdot 3 + 3 \cdot 3 + 3 \cdot 1 = 18` weights. Each unit after the inputs has a bias: :math:`3 + 3 + 1 = 7`.

table = summary([Dense(3), Dense(3)], (2,), n_outputs=1)
assert (table.n_weights, table.n_biases, table.n_parameters) == (18, 7, 25)

# %%
# The forward pass, with ReLU in the hidden layers, a sigmoid at the end and :math:`a^{(0)} = x` (vectors are rows):
#
# .. math::
#
#    z^{(l)} = a^{(l-1)} W^{(l)} + b^{(l)}, \qquad a^{(l)} = \sigma(z^{(l)}) .
#
# With the weights below and :math:`x = (1, 2)` it can be done by hand.

W = [
    np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]),
    np.array([[1.0, 0.0, 1.0], [1.0, 1.0, -1.0], [2.0, -1.0, 1.0]]),
    np.array([[1.0], [-3.0], [1.0]]),
]
b = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.array([np.log(3)])]
x, y = np.array([1.0, 2.0]), 0


def forward(W, b, x):
    """All z and all a."""
    zs, activations = [], [x]
    for weights, bias in zip(W, b, strict=True):
        zs.append(activations[-1] @ weights + bias)
        activations.append(sigmoid(zs[-1]) if len(zs) == len(W) else np.maximum(zs[-1], 0))
    return zs, activations


zs, a = forward(W, b, x)
assert np.array_equal(zs[0], [1, 1, -1])
assert np.array_equal(a[1], [1, 1, 0])  # the third unit is off
assert np.array_equal(a[2], [2, 1, 1])
assert np.allclose(zs[2], 2 - 3 + 1 + np.log(3))
assert np.allclose(a[3], 3 / 4)  # sigmoid of ln 3

# %%
# Backpropagation
# ---------------
#
# Let :math:`\delta^{(l)} = \partial \ell / \partial z^{(l)}` be what the loss thinks of the sums in layer :math:`l`.
# For the log loss after a sigmoid (or softmax), and for half the squared loss after no activation, the last one is
# simply prediction less target: :math:`\delta = p - y`. The chain rule gives the layer below it, and the derivatives
# by its parameters:
#
# .. math::
#
#    \delta^{(l-1)} = \left(\delta^{(l)} W^{(l)\top}\right) \odot \sigma'(z^{(l-1)}), \qquad
#    \frac{\partial \ell}{\partial W^{(l)}} = a^{(l-1)\top} \delta^{(l)}, \qquad
#    \frac{\partial \ell}{\partial b^{(l)}} = \delta^{(l)} .
#
# Each :math:`\delta` is computed once and used for all derivatives below it. One pass back costs about as much as one
# pass forward, for 25 weights or 25 million. Here :math:`y = 0`, so it starts with :math:`\delta^{(3)} = 3/4`.


def backward(W, zs, a, y):
    """The derivatives of the log loss by every W and b."""
    delta, by_W, by_b = a[-1] - y, [], []
    for layer in reversed(range(len(W))):
        by_W.insert(0, np.outer(a[layer], delta))
        by_b.insert(0, delta)
        if layer:
            delta = (W[layer] @ delta) * (zs[layer - 1] > 0)
    return by_W, by_b


by_W, by_b = backward(W, zs, a, y)
assert np.allclose(by_b[1], [3 / 4, -9 / 4, 3 / 4])
assert np.allclose(by_b[0], [3 / 2, -9 / 4, 0])  # nothing goes through the unit that is off
assert np.allclose(by_W[2].ravel(), [3 / 2, 3 / 4, 3 / 4])
assert np.allclose(by_W[0], [[3 / 2, -9 / 4, 0], [3, -9 / 2, 0]])

# %%
# Derivatives by hand are never believed before they agree with differences. All 25:


def loss(W, b):
    p = forward(W, b, x)[1][-1][0]
    return -np.log(p if y else 1 - p)


for parts, gradients in ((W, by_W), (b, by_b)):
    for values, gradient in zip(parts, gradients, strict=True):
        for place in np.ndindex(values.shape):
            kept, h = values[place], 1e-5
            values[place] = kept + h
            above = loss(W, b)
            values[place] = kept - h
            below = loss(W, b)
            values[place] = kept
            assert abs((above - below) / (2 * h) - gradient[place]) < 1e-8

# %%
# `MLPClassifier` does the same. One step of plain gradient descent from our weights moves every weight by the rate
# times our derivative.

net = MLPClassifier((3, 3), solver="sgd", momentum=0.0, alpha=0.0, learning_rate_init=0.1, random_state=0)
net.partial_fit([x], [y], classes=[0, 1])
net.coefs_, net.intercepts_ = [weights.copy() for weights in W], [bias.copy() for bias in b]
assert np.isclose(net.predict_proba([x])[0, 1], 3 / 4)
net.partial_fit([x], [y])
for before, after, gradient in zip(W + b, net.coefs_ + net.intercepts_, by_W + by_b, strict=True):
    assert np.allclose(before - after, 0.1 * gradient)

# %%
# The boundary as it learns
# -------------------------
#
# The loss has many minima: permuting hidden units alone gives as many as there are orders. So the start matters, and
# nobody finds the best. Batches help: the gradient of a few rows is cheap and noisy, and noise leaves saddles and
# narrow valleys. One *epoch* is one pass over all rows.

from learnt.datasets import make_moons

X_moons, y_moons = make_moons(300, noise=0.2, random_state=0)
side = np.linspace(-2, 3, 120), np.linspace(-1.6, 2.1, 100)
plane = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)
net = MLPClassifier((30, 30), batch_size=50, learning_rate_init=0.01, random_state=0)
shown = {}
for epoch in range(1, 101):
    net.partial_fit(X_moons, y_moons, classes=[0, 1])
    if epoch in (1, 10, 100):
        shown[epoch] = net.predict_proba(plane)[:, 1].reshape(100, 120), net.score(X_moons, y_moons)

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained", sharey=True)
for ax, (epoch, (probability, _)) in zip(axes, shown.items(), strict=True):
    ax.contourf(*side, probability, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
    ax.contour(*side, probability, levels=[0.5], colors="k", linewidths=1)
    ax.scatter(*X_moons.T, c=np.where(y_moons == 1, RED, BLUE), s=4)
    ax.set(xlabel="first column", title=f"epoch {epoch}")
axes[0].set_ylabel("second column")
plt.show()
assert shown[1][1] < shown[100][1]
assert shown[100][1] > 0.95

# %%
# Where to start, and gradients that vanish
# -----------------------------------------
#
# Equal weights give equal units, for ever (exercise 3). So weights are random, and the question is how large. If a
# layer has :math:`n` inputs of mean square :math:`q`, and weights of variance :math:`v`, its sums have the variance
# :math:`n v q`. Through :math:`L` layers that is a factor :math:`(nv)^L`: it dies out or explodes unless
# :math:`v \approx 1/n` (:math:`2/n` for ReLU, which drops half). Backwards :math:`n` is the number of outputs. The
# compromise, :math:`v = 2 / (n_{\text{in}} + n_{\text{out}})`, is what `learnt` and scikit-learn draw, uniformly from
# :math:`\pm\sqrt{6 / (n_{\text{in}} + n_{\text{out}})}`.
#
# On the way back each layer multiplies by a slope as well. For the sigmoid that is at most 1/4, so ten layers leave at
# most a millionth of what the weights let through.

rng = np.random.default_rng(0)
slopes = {
    "sigmoid": (sigmoid, lambda z: sigmoid(z) * (1 - sigmoid(z)), BLUE),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2, RED),
    "ReLU": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0, GREEN),
}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
size_of = {}
for name, (activation, slope, colour) in slopes.items():
    layers = [rng.uniform(-1, 1, (50, 50)) * np.sqrt(6 / 100) for _ in range(10)]
    h, sums = rng.normal(size=(200, 50)), []
    for weights in layers:
        sums.append(h @ weights)
        h = activation(sums[-1])
    delta = rng.normal(size=(200, 50))
    sizes = []
    for weights, z in zip(reversed(layers), reversed(sums), strict=True):
        delta = delta * slope(z)
        sizes.insert(0, np.sqrt(np.mean(delta**2)))
        delta = delta @ weights.T
    size_of[name] = sizes
    ax.semilogy(range(1, 11), sizes, "o-", color=colour, label=name)
ax.set(xlabel="layer (10 is next to the loss)", ylabel="root mean square of δ")
ax.legend(frameon=False)
plt.show()
assert size_of["sigmoid"][0] < 4.0**-9 < size_of["ReLU"][0]

# %%
# A network of eight sigmoid layers does not learn the moons at all, and `learnt` says why with a
# `NetworkHealthWarning`. *Batch normalisation* is one cure: every sum is brought to mean 0 and variance 1 over the
# batch, then scaled and shifted by two learnt numbers. So the slopes stay where they are large. ReLU is the other.

from learnt.neural_network import NetworkHealthWarning

deep = {"batch_size": 50, "max_iter": 40, "n_iter_no_change": np.inf, "learning_rate_init": 0.01, "random_state": 0}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always", NetworkHealthWarning)
    stuck = MLPClassifier([10] * 8, activation="sigmoid", **deep).fit(X_moons, y_moons)
normed = MLPClassifier([10] * 8, activation="sigmoid", batch_norm=True, **deep).fit(X_moons, y_moons)
print(str(said[0].message).split(" (in proportion")[0])
print(f"its loss ends at {stuck.loss_:.2f}; a constant has {np.log(2):.2f}")
assert abs(stuck.loss_ - np.log(2)) < 0.01  # no better than a constant
assert normed.score(X_moons, y_moons) > 0.8

# %%
# Too many parameters
# -------------------
#
# A network with more parameters than rows can learn the noise. The remedies are `alpha` (weight decay, the ridge
# penalty), `early_stopping` on held-out rows, and *dropout*: at each step every hidden unit is left out with a given
# probability, so that no unit can rely on another. It works like an average of many networks that share weights, and
# is switched off in prediction.

from learnt.metrics import log_loss

X_few, y_few = make_moons(60, noise=0.4, random_state=1)
X_new, y_new = make_moons(2000, noise=0.4, random_state=2)
wide = {"learning_rate_init": 0.01, "batch_size": 20}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
last = {}
for name, options, colour in (
    ("nothing", {}, RED),
    ("dropout 0.5", {"dropout": 0.5}, BLUE),
    ("alpha 1", {"alpha": 1.0}, GREEN),
):
    random = np.random.RandomState(0)  # a number would drop the same units in every call of partial_fit
    net, curve = MLPClassifier((100, 100), random_state=random, **wide, **options), []
    for _ in range(80):
        net.partial_fit(X_few, y_few, classes=[0, 1])
        curve.append(log_loss(y_new, net.predict_proba(X_new)))
    last[name] = curve[-1]
    ax.plot(range(1, 81), curve, color=colour, label=name)
ax.set(xlabel="epoch", ylabel="log loss on new rows", ylim=(0.2, 1.2))
ax.legend(frameon=False)
plt.show()
assert max(last["dropout 0.5"], last["alpha 1"]) < last["nothing"]

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Columns of different scales.** One of thousands drives every sum. Put a `StandardScaler` before the network; a
#   numeric target of thousands needs the same (`TransformedTargetRegressor`).
# - **The learning rate.** Too large, and the loss jumps or becomes infinite; too small, and it creeps. Look at
#   ``loss_curve_``, and change it by factors of three.
# - **Dead units.** ``dead_units_`` lists them, and a `NetworkHealthWarning` comes where they are more than half. Take
#   a smaller rate, or ``activation="leaky_relu"``.
# - **Stopped too early.** A `ConvergenceWarning` says that ``max_iter`` ended it, not the loss. (This chapter silences
#   it, since its numbers of epochs are on purpose.)
# - **A table of 500 rows.** Boosting or a line is mostly better, and always quicker. Compare before you tune.
# - **One seed.** Two starts can differ by more than two settings do. Repeat with several ``random_state``.
#
# Exercises
# ---------
#
# 1. How many weights and biases has a network 64-32-16-10?
# 2. Write the triangle that is 0 up to 0, rises to 1 at 1, falls to 0 at 2 and stays there as a sum of three ReLU
#    units.
# 3. Start all weights of a layer equal. Show that its units stay equal whatever the data.
#
# Solutions
# ---------
#
# 1. :math:`64 \cdot 32 + 32 \cdot 16 + 16 \cdot 10 = 2720` weights and :math:`32 + 16 + 10 = 58` biases.

table = summary([Dense(32), Dense(16)], (64,), n_outputs=10)
assert (table.n_weights, table.n_biases) == (2720, 58)

# %%
# 2. Each unit changes the slope at one place: by +1 at 0, by −2 at 1, by +1 at 2. So any broken line is one hidden
#    layer, and any continuous function nearly so, though perhaps a very wide one. That is what depth is for.

t = np.linspace(-1, 3, 81)[:, None]
triangle = np.clip(1 - np.abs(t[:, 0] - 1), 0, None)
hat = MLPRegressor(hidden_layer_sizes=(3,), max_iter=1, random_state=0).fit(t, triangle)
hat.coefs_ = [np.ones((1, 3)), np.array([[1.0], [-2.0], [1.0]])]
hat.intercepts_ = [np.array([0.0, -1.0, -2.0]), np.zeros(1)]
assert np.allclose(hat.predict(t), triangle)

# %%
# 3. Units with equal weights have equal sums and equal activations. If the weights that leave them are equal too, so
#    are their :math:`\delta`, and so are their derivatives. Every step changes them alike, and the layer is one unit.

equal = MLPClassifier((4,), activation="tanh", solver="sgd", momentum=0.0, learning_rate_init=0.1, random_state=0)
equal.partial_fit(X_moons, y_moons, classes=[0, 1])
equal.coefs_, equal.intercepts_ = [np.full((2, 4), 0.3), np.full((4, 1), 0.3)], [np.zeros(4), np.zeros(1)]
for _ in range(5):
    equal.partial_fit(X_moons, y_moons)
assert np.ptp(equal.coefs_[0], axis=1).max() < 1e-9
assert np.abs(equal.coefs_[0] - 0.3).max() > 1e-3  # though they moved

# %%
# Next: convolutions, which share weights over an image, and training on several machines.
