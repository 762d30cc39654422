r"""
Convolutions, and training on several machines
==============================================

Two ways to make large networks affordable. A convolution looks at a small window and uses the same few weights
everywhere on an image: fewer parameters, and a pattern learnt in one corner is known in all. Data parallelism gives
each of several workers a part of every batch. Done in step it changes nothing but the time, and this can be proved and
tested.
"""

# %%
# A convolution by hand
# ---------------------
#
# One unit that sees a whole image of 200 × 200 pixels and three colours has 120,000 weights, and there would be
# hundreds of such units. Near pixels belong together; far ones hardly. So let a unit see a window of
# :math:`K \times K` pixels, and let all windows share the weights, the *kernel*. What comes out is again an image, a
# *feature map*:
#
# .. math::
#
#    s(i, j) = \sum_{m=0}^{K-1} \sum_{n=0}^{K-1} I(i + m, j + n)\, K(m, n) .
#
# (Mathematicians call this a correlation, and a convolution the same with a flipped kernel. Since kernels are learnt
# it makes no difference.) Two numbers more: a border of :math:`P` zeros, the *padding*, lets the kernel reach the
# edge; with a *stride* :math:`S` it goes :math:`S` pixels at a time. On :math:`W` pixels it has
#
# .. math::
#
#    O = \left\lfloor \frac{W - K + 2P}{S} \right\rfloor + 1
#
# places: the first one, and one more for each step that is left. A padding of :math:`(K - 1)/2` with stride 1 keeps
# the size.

import warnings

import matplotlib.pyplot as plt
import numpy as np

import learnt
from learnt.datasets import load_digits
from learnt.exceptions import ConvergenceWarning
from learnt.neural_network import (
    Augment,
    Conv,
    ConvNetClassifier,
    Dense,
    MaxPool,
    MLPClassifier,
    conv_output_size,
    summary,
)

BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
warnings.simplefilter("ignore", ConvergenceWarning)  # numbers of epochs are chosen on purpose


def convolve(image, kernel, padding=0, stride=1):
    """A kernel of (rows, columns) on an image of (rows, columns)."""
    image, size = np.pad(image, padding), len(kernel)
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size))[::stride, ::stride]
    return np.einsum("ijmn,mn->ij", windows, kernel)


image = np.array([[2.0, 5, 1, 5], [1, 8, 3, 2], [0, 6, 1, 2], [5, 3, 3, 0]])
vertical = np.array([[1.0, 0, -1]] * 3)
assert conv_output_size(4, 3) == 2
assert np.array_equal(convolve(image, vertical), [[3 - 5, 19 - 9], [6 - 7, 17 - 4]])
for W, K, P, S in ((4, 3, 0, 1), (4, 3, 1, 1), (7, 3, 0, 2), (8, 3, 1, 2), (28, 5, 2, 1)):
    assert convolve(np.ones((W, W)), np.ones((K, K)), P, S).shape == (conv_output_size(W, K, P, S),) * 2

# %%
# *Pooling* makes a map smaller: the largest value of each window (where is an edge, roughly?), or the mean. It has no
# parameters. The windows of the same image, two by two:


def blocks(image):
    rows, columns = image.shape
    return image.reshape(rows // 2, 2, columns // 2, 2)


assert np.array_equal(blocks(image).max(axis=(1, 3)), [[8, 5], [6, 3]])
assert np.array_equal(blocks(image).mean(axis=(1, 3)), [[4, 2.75], [3.5, 1.5]])

# %%
# What the kernel for vertical edges, and its transpose, see in a digit:

X, y = load_digits(return_X_y=True)
digit = X[7].reshape(8, 8)
maps = {
    "a seven": digit,
    "vertical edges": convolve(digit, vertical, padding=1),
    "horizontal edges": convolve(digit, vertical.T, padding=1),
}
maps["their largest of 2 × 2"] = blocks(np.maximum(maps["horizontal edges"], 0)).max(axis=(1, 3))
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, (name, values) in zip(axes, maps.items(), strict=True):
    most = np.abs(values).max()
    ax.imshow(values, cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# Shared weights, counted
# -----------------------
#
# A layer of :math:`c` kernels on an image of :math:`q` channels has :math:`c (K^2 q + 1)` parameters, however large
# the image is. A dense layer between the same two shapes has one for every pair of numbers. A convolution is that
# dense layer with most weights fixed at zero and the others tied. So backpropagation works as before: the derivative
# by a shared weight is the *sum* of the derivatives at all places.

layers = [Conv(8, 3, padding="same"), MaxPool(2), Conv(16, 3, padding="same"), MaxPool(2), Dense(32)]
table = summary(layers, (8, 8), n_outputs=10)
print(table)
assert table.steps[0].n_parameters == 8 * (3 * 3 * 1 + 1) == 80
assert table.steps[2].n_parameters == 16 * (3 * 3 * 8 + 1) == 1168
assert summary([Dense(8 * 8 * 8)], (64,)).n_parameters == 64 * 512 + 512  # instead of the first 80

rng = np.random.default_rng(0)
kernel, wanted, h = rng.normal(size=(3, 3)), rng.normal(size=(6, 6)), 1e-6
off = convolve(digit, kernel) - wanted  # the derivative of half the squared error by the feature map
by_kernel = convolve(digit, off)  # summed over all places: a convolution again
for place in np.ndindex(3, 3):
    step = np.zeros((3, 3))
    step[place] = h
    above, below = (np.sum((convolve(digit, kernel + sign * step) - wanted) ** 2) / 2 for sign in (1, -1))
    assert np.isclose((above - below) / (2 * h), by_kernel[place], rtol=1e-4, atol=1e-2)

# %%
# A small network for digits
# --------------------------
#
# Convolution, ReLU, pooling, twice; then the maps are flattened, and a dense layer and softmax decide.
# `ConvNetClassifier` takes rows of 64 as images of 8 × 8. (Training needs PyTorch: ``pip install 'learnt[nets]'``.)
# Beside it are a perceptron without windows, and the same network trained on digits that are moved at random. All are
# shown digits moved sideways, by up to two pixels.

from learnt.model_selection import train_test_split

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
images = X_test.reshape(-1, 8, 8)
settings = {"max_iter": 8, "learning_rate_init": 0.01, "random_state": 0}
net = ConvNetClassifier(layers, **settings).fit(X_train, y_train)
jolted = ConvNetClassifier(layers, augment=Augment(shift=2), **settings).fit(X_train, y_train)
dense = MLPClassifier((64,), max_iter=15, learning_rate_init=0.01, random_state=0).fit(X_train, y_train)

shifts = range(-2, 3)
moved = [np.roll(np.pad(images, ((0, 0), (0, 0), (2, 2))), k, axis=2)[:, :, 2:-2].reshape(-1, 64) for k in shifts]
right = {}
figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
for name, model, colour in (
    ("dense", dense, RED),
    ("convolutions", net, BLUE),
    ("and trained on moved digits", jolted, GREEN),
):
    right[name] = [model.score(rows, y_test) for rows in moved]
    ax.plot(shifts, right[name], "o-", color=colour, label=name)
ax.set(xlabel="moved by so many pixels", ylabel="share of test digits right", ylim=(0, 1.02), xticks=shifts)
ax.legend(frameon=False)
plt.show()
assert right["convolutions"][2] > 0.94
assert sum(right["convolutions"]) > sum(right["dense"])
assert min(right["and trained on moved digits"]) > min(right["convolutions"]) + 0.2

# %%
# A moved image gives moved maps: convolutions are *equivariant*. Pooling forgives small moves. But on 8 × 8 pixels
# little is left to forgive, and the dense layer at the end knows where things were. So the windows alone help little
# here; that a digit may move must be said, by `Augment`. It has its price: the same small network has more to learn,
# and is worse on digits that are in place.
#
# The whole prediction, with nothing but our own ``convolve``:

weights = net.weights_
standard = (images[:20] - net.mean_) / net.scale_


def features(channels, layer):
    """All kernels of a layer on an image of several channels, ReLU, and the largest of 2 × 2."""
    found = []
    for kernel, bias in zip(weights[f"{layer}.weight"], weights[f"{layer}.bias"], strict=True):
        maps = [convolve(image, kernel[:, :, q], padding=1) for q, image in enumerate(channels)]
        found.append(blocks(np.maximum(np.sum(maps, axis=0) + bias, 0)).max(axis=(1, 3)))
    return found


flat = np.array([np.stack(features(features([image], "conv1"), "conv2"), axis=-1).ravel() for image in standard])
hidden = np.maximum(flat @ weights["dense1.weight"].T + weights["dense1.bias"], 0)
scores = hidden @ weights["output.weight"].T + weights["output.bias"]
by_hand = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
assert np.abs(by_hand - net.predict_proba(X_test[:20])).max() < 1e-3

# %%
# Several workers
# ---------------
#
# The loss of a batch :math:`B` is a mean over rows, and so is its gradient. Cut the batch into parts
# :math:`B_1, \dots, B_k`, one for each worker:
#
# .. math::
#
#    \nabla L_B(w) = \frac{1}{|B|} \sum_{i \in B} \nabla \ell_i(w)
#    = \sum_{j=1}^k \frac{|B_j|}{|B|}\, \nabla L_{B_j}(w) .
#
# The gradients of the workers, averaged by their numbers of rows, *are* the gradient of the whole batch. *Synchronous*
# descent repeats: every worker computes its part at the same :math:`w`, the parts are summed over the network
# (*all-reduce*), all take the same step. So :math:`k` workers with :math:`b` rows each do exactly what one does with
# :math:`kb` rows. The mean of parts of unequal size, without weights, would be another gradient.

A, t, w = rng.normal(size=(10, 3)), rng.normal(size=10), rng.normal(size=3)


def slope(rows):
    return A[rows].T @ (A[rows] @ w - t[rows]) / len(A[rows])


first, second = slice(0, 7), slice(7, 10)
assert np.allclose(0.7 * slope(first) + 0.3 * slope(second), slope(slice(None)))
assert not np.allclose((slope(first) + slope(second)) / 2, slope(slice(None)))

# %%
# `learnt.distributed.fit` does it with processes, here or on a Dask cluster. ``batch_size`` is a worker's. Two workers
# with 20 rows against one with 40:

settings = {"hidden_layer_sizes": (16,), "activation": "tanh", "max_iter": 3, "random_state": 0}
alone = MLPClassifier(batch_size=40, **settings).fit(X_train[:400] / 16, y_train[:400])
both = learnt.distributed.fit(MLPClassifier(batch_size=20, **settings), X_train[:400] / 16, y_train[:400], workers=2)
apart = max(np.abs(a - b).max() for a, b in zip(alone.coefs_, both.coefs_, strict=True))
print("two workers give the weights of one:", bool(apart < 1e-6))
assert apart < 1e-6

# %%
# A worker that is lost is reported, and training goes on from the last checkpoint. What is paid: all wait for the
# slowest, and every step sends about two numbers for each parameter. What changes: with :math:`k` times the batch
# there are :math:`k` times fewer steps an epoch, each with a gradient of :math:`1/k` the variance. So the rate may be
# larger, up to about :math:`k` times, until the curvature of the loss forbids it.
#
# Staleness
# ---------
#
# *Asynchronous* workers do not wait: each sends its gradient when it has it. By then the weights have moved on by
# :math:`\tau` steps, and the gradient is *stale*. On a parabola :math:`\tfrac{\lambda}{2} w^2` that reads
#
# .. math::
#
#    w_{t+1} = w_t - \eta \lambda\, w_{t - \tau} .
#
# It converges only for :math:`\eta\lambda < 2 \sin \frac{\pi}{2 (2\tau + 1)}`: 2 without delay, 1 with a delay of one
# step, 0.35 with four. Long delays want small steps, about in proportion to :math:`1/\tau`.


def stale(rate, delay, steps=60):
    """Steps on a parabola of curvature 1, each by the gradient of `delay` steps ago."""
    w = [1.0] * (delay + 1)
    for _ in range(steps):
        w.append(w[-1] - rate * w[-1 - delay])
    return np.array(w[delay:])


figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for delay, colour in ((0, BLUE), (2, GREEN), (4, RED)):
    ax.plot(stale(0.4, delay), color=colour, label=f"delay {delay}")
ax.set(xlabel="step", ylabel="w (the minimum is at 0)", ylim=(-5, 5))
ax.legend(frameon=False)
plt.show()
for delay in range(6):
    limit = 2 * np.sin(np.pi / (2 * (2 * delay + 1)))
    assert abs(stale(0.9 * limit, delay, 2000)[-1]) < 1e-3
    assert np.abs(stale(1.1 * limit, delay, 2000)[-20:]).max() > 1e3

# %%
# What goes wrong in practice
# ---------------------------
#
# - **Shapes that do not fit.** A size of 7 under a stride of 2 loses nothing; 8 under a pool of 3 loses a column.
#   `summary` says what comes out before anything is trained.
# - **Channels in the wrong place.** (rows, columns, channels) or (channels, rows, columns): look at ``layout_``, or
#   set ``layout``.
# - **Flipped augmentation.** A mirrored 7 is no 7. Change images only in ways that keep the label.
# - **Batch norm and workers.** Each worker normalises by its own rows, so :math:`k` workers are no longer exactly one.
#   The same holds for dropout, drawn by each. Keep enough rows on each worker.
# - **A larger batch, the same rate.** Ten workers, a tenth of the steps, an apparently worse network: raise the rate,
#   or give it the same number of steps.
# - **More workers than work.** A step of a millisecond is not worth sending. Measure one epoch with 1, 2 and 4.
#
# Exercises
# ---------
#
# 1. An image of 28 × 28 goes through Conv(6, 5), MaxPool(2), Conv(16, 5), MaxPool(2). What comes out, and how many
#    parameters are there?
# 2. Two layers of 3 × 3 see as far as one of 5 × 5. Compare the weights for :math:`c` channels in and out.
# 3. Show the limit :math:`\eta\lambda < 1` for a delay of one step.
#
# Solutions
# ---------
#
# 1. 28 → 24 → 12 → 8 → 4 pixels, 16 channels: 256 numbers. Parameters: :math:`6 \cdot (25 + 1) = 156` and
#    :math:`16 \cdot (25 \cdot 6 + 1) = 2416`.

table = summary([Conv(6, 5), MaxPool(2), Conv(16, 5), MaxPool(2)], (28, 28))
assert table.steps[-1].after == (16, 4, 4)
assert table.n_parameters == 156 + 2416

# %%
# 2. The second kernel sees windows that are 3 wide, 1 apart: :math:`3 + 2 = 5` pixels. There are :math:`18 c^2`
#    weights instead of :math:`25 c^2`, and a ReLU more.

one = summary([Conv(10, 5, bias=False)], (10, 9, 9)).n_weights
two = summary([Conv(10, 3, bias=False), Conv(10, 3, bias=False)], (10, 9, 9)).n_weights
assert (one, two) == (2500, 1800)

# %%
# 3. Try :math:`w_t = r^t`: :math:`r^2 = r - c` with :math:`c = \eta\lambda`. For :math:`c > 1/4` the two roots are
#    conjugate, their product is :math:`c`, so :math:`|r| = \sqrt{c}`, which is below 1 just for :math:`c < 1`. (For
#    :math:`c \le 1/4` both roots are real and between 0 and 1.)

for c in (0.1, 0.25, 0.5, 0.99, 1.01):
    radius = np.abs(np.roots([1, -1, c])).max()
    assert (radius < 1) == (c < 1)
    assert c < 0.3 or abs(radius - np.sqrt(c)) < 1e-12

# %%
# Next: clusters, where there are no labels.
