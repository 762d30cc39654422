"""Layers that suit an image, where none are given."""

from __future__ import annotations

from learnt.neural_network.layers import Conv, Dense, Dropout, Flatten, Layer, MaxPool


def default_layers(rows: int, columns: int) -> list[Layer]:
    """Two convolutions and a pool, then one more and, on larger images, another pool; a dense layer at the end.

    A line of numbers (one row or one column) has windows along the line; a few numbers have a small network.

    >>> [type(layer).__name__ for layer in default_layers(8, 8)]
    ['Conv', 'Conv', 'MaxPool', 'Conv', 'Flatten', 'Dropout', 'Dense', 'Dropout']
    """
    kernel = (min(3, rows), min(3, columns))
    if max(rows, columns) < 6:  # a few numbers
        return [Conv(16, kernel, padding="same"), Conv(16, kernel, padding="same"), Flatten(), Dense(32)]
    layers: list[Layer] = [Conv(32, kernel, padding="same"), Conv(32, kernel, padding="same")]
    left, wide = (rows, columns), max(rows, columns)
    for channels in (64, 64) if wide > 20 else (64,):
        pool = (min(2, left[0]), min(2, left[1]))
        layers += [MaxPool(pool), Conv(channels, kernel, padding="same")]
        left = (left[0] // pool[0], left[1] // pool[1])
    while wide > 20 and max(left) > 7:
        pool = (min(2, left[0]), min(2, left[1]))
        layers.append(MaxPool(pool))
        left = (left[0] // pool[0], left[1] // pool[1])
    return [*layers, Flatten(), Dropout(0.25), Dense(128), Dropout(0.5)]
