"""
Digits by a convolutional network
=================================

Handwritten digits by a convolutional network, and what it sees: its kernels, and what they make of a digit.

Prints the table of the network and its accuracy on digits that it has not seen. Writes digits_by_a_cnn.png: on top the
kernels of the first layer, as learnt (light: positive); below, one row for each of ten digits: the image, and what the
first layer makes of it, kernel by kernel.
"""

import numpy as np
from pieces.png import write_png

from learnt.datasets import load_digits
from learnt.model_selection import train_test_split
from learnt.neural_network import Conv, ConvNetClassifier, Dense, Dropout, Flatten, MaxPool

ZOOM = 6  # points a pixel


def tile(images, size):
    """Images side by side, each enlarged to about `size` points, with a grey line around it."""
    enlarged = [np.kron(image, np.ones((size // len(image),) * 2)) for image in images]
    return np.hstack([np.pad(image, 3, constant_values=0.5) for image in enlarged])


X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
layers = [
    Conv(12, 3, padding="same"),
    MaxPool(2),
    Conv(32, 3, padding="same"),
    Flatten(),
    Dropout(0.25),
    Dense(64),
    Dropout(0.25),
]
model = ConvNetClassifier(layers, learning_rate_init=0.002, max_iter=30, random_state=0)
print(model.summary(image_shape=(8, 8), n_outputs=10))
model.fit(X_train, y_train)
accuracy = model.score(X_test, y_test)
print(f"{accuracy:.1%} of {len(y_test)} digits it has not seen")
assert accuracy > 0.97

kernels = model.weights_["conv1.weight"][:, :, :, 0]
scaled = 0.5 + 0.5 * kernels / np.abs(kernels).max()
digits = [np.flatnonzero(y_test == digit)[0] for digit in range(10)]
maps = model.feature_maps(X_test[digits])["conv1"]
rows = [tile([np.full((8, 8), 0.5), *scaled], 8 * ZOOM)]
for row, seen in zip(digits, maps, strict=True):
    image = X_test[row].reshape(8, 8) / 16
    rows.append(tile([image, *np.moveaxis(seen / maps.max(axis=(0, 1, 2)).clip(1e-9), 2, 0)], 8 * ZOOM))
write_png("digits_by_a_cnn.png", np.vstack(rows))
print("written: digits_by_a_cnn.png (kernels of the first layer; ten digits and what each kernel makes of them)")
