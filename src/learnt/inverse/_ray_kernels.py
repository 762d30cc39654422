"""Line integrals over square pixels, and their transpose.

A line at distance t from the centre of a unit square, at the angle θ of its normal, runs inside it for

    ℓ(t) = 1/M · clip(½ + (M/2 − |t|) / m, 0, 1),    M = max(|cos θ|, |sin θ|),  m = min(|cos θ|, |sin θ|):

a trapezoid. Both kernels take their weights from this one formula, so that one is the transpose of the other. The
image lies about the origin with its first row on top; detector k is at (k − (K − 1)/2) · spacing along the normal.

Sinograms have `rays(spacing)` columns more than detectors, so that a pixel can always read that many. A row of
pixels is done in two loops, one of arithmetic only, which is vectorised, and one that reads the detectors.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel

_FLAT = 1e-9  # instead of a ramp of no width: a ray along the edge of two pixels belongs to each by half


def rays(spacing: float) -> int:
    """The most parallel rays through one pixel."""
    return int(math.sqrt(2.0) / spacing) + 1


@kernel
def _locate(c, s, spacing, row, n_rows, n_detectors, index, offset):
    """For a row of pixels.

    The first detector whose ray can cross each, and the pixel's offset from it, in detectors.
    """
    reach = 0.5 * (abs(c) + abs(s)) / spacing + _FLAT
    step = c / spacing
    n_columns = index.size
    first = (0.5 * (n_rows - 1) - row) * (s / spacing) - 0.5 * (n_columns - 1) * step + 0.5 * (n_detectors - 1)
    most = float(n_detectors)
    for j in range(n_columns):
        place = first + j * step
        start = place - reach + 1.0
        start = start if start > 0.0 else 0.0
        start = np.floor(start if start < most else most)
        index[j] = np.int64(start)
        offset[j] = place - start


@kernel
def _chords(c, s, spacing, q, offset, lengths):
    """How far the ray q detectors on runs inside each pixel."""
    top = 1.0 / max(abs(c), abs(s))
    slope = spacing * top / max(min(abs(c), abs(s)), _FLAT)
    half = 0.5 / (top * spacing)
    for j in range(offset.size):
        length = 0.5 * top + (half - abs(offset[j] - q)) * slope
        length = length if length < top else top
        lengths[j] = length if length > 0.0 else 0.0


@kernel
def project(image, cosines, sines, spacing, n_detectors, lo, hi, out):
    """Rows lo…hi of the sinogram `out` (angles × detectors and padding, zeros before): sums along rays."""
    n_rows, n_columns = image.shape
    index, offset, lengths = np.empty(n_columns, np.int64), np.empty(n_columns), np.empty(n_columns)
    for a in range(lo, hi):
        for i in range(n_rows):
            _locate(cosines[a], sines[a], spacing, i, n_rows, n_detectors, index, offset)
            for q in range(out.shape[1] - n_detectors):
                _chords(cosines[a], sines[a], spacing, float(q), offset, lengths)
                for j in range(n_columns):
                    lengths[j] *= image[i, j]
                for j in range(n_columns):
                    out[a, index[j] + q] += lengths[j]


@kernel
def back_project(sinogram, cosines, sines, spacing, n_detectors, lo, hi, out):
    """Rows lo…hi of the image `out` (zeros before): every pixel collects from the rays through it; padding is 0."""
    n_rows, n_columns = out.shape
    index, offset, lengths = np.empty(n_columns, np.int64), np.empty(n_columns), np.empty(n_columns)
    found = np.empty(n_columns)
    for i in range(lo, hi):
        for a in range(sinogram.shape[0]):
            _locate(cosines[a], sines[a], spacing, i, n_rows, n_detectors, index, offset)
            for q in range(sinogram.shape[1] - n_detectors):
                _chords(cosines[a], sines[a], spacing, float(q), offset, lengths)
                for j in range(n_columns):
                    found[j] = sinogram[a, index[j] + q]
                for j in range(n_columns):
                    out[i, j] += found[j] * lengths[j]
