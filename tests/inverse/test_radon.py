"""The Radon operator against clipped lines, exact integrals and its own transpose."""

import pickle

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator, lsqr

from learnt.engine.threads import set_threads
from learnt.inverse import RadonOperator, shepp_logan, shepp_logan_sinogram


def clipped(theta, s, x, y):
    """Length of the line x cos θ + y sin θ = s inside the unit square about (x, y), by clipping its parameter range."""
    c, d = np.cos(theta), np.sin(theta)
    low, high = -np.inf, np.inf
    for start, slope, centre in ((s * c, -d, x), (s * d, c, y)):
        if abs(slope) < 1e-14:
            if abs(start - centre) > 0.5:
                return 0.0
            continue
        a, b = sorted([(centre - 0.5 - start) / slope, (centre + 0.5 - start) / slope])
        low, high = max(low, a), min(high, b)
    return max(high - low, 0.0)


@pytest.mark.parametrize("spacing", [1.0, 0.37, 2.5])
def test_weights_are_lengths_inside_pixels(spacing):
    angles = np.array([0.1, 0.7853981, 1.3, 2.2, 3.0, -0.4, 5.0])
    A = RadonOperator((4, 5), angles, n_detectors=9, spacing=spacing)
    matrix = A @ np.eye(20)
    for a, theta in enumerate(angles):
        for k in range(9):
            for i in range(4):
                for j in range(5):
                    expected = clipped(theta, (k - 4) * spacing, j - 2.0, 1.5 - i)
                    assert matrix[a * 9 + k, i * 5 + j] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [(16, 16), (7, 12), (1, 1), (20, 3)])
@pytest.mark.parametrize("spacing", [1.0, 0.5, 1.7])
def test_the_transpose_is_exact(shape, spacing):
    rng = np.random.default_rng(0)
    A = RadonOperator(shape, rng.uniform(0, 2 * np.pi, 11), spacing=spacing)
    for _ in range(5):
        x, y = rng.normal(size=A.shape[1]), rng.normal(size=A.shape[0])
        left, right = (A @ x) @ y, x @ (A.T @ y)
        assert abs(left - right) <= 1e-13 * np.linalg.norm(A @ x) * np.linalg.norm(y)
        assert (A.H @ y) @ x == right
    small = RadonOperator(shape, [0.0, 0.3, np.pi / 2], spacing=spacing)
    np.testing.assert_allclose((small @ np.eye(small.shape[1])).T, small.T @ np.eye(small.shape[0]), atol=1e-12)


def test_axes_are_sums_of_columns_and_rows():
    image = np.random.default_rng(1).random((6, 8))
    sinogram = RadonOperator((6, 8), [0.0, np.pi / 2, np.pi], n_detectors=8).project(image)
    np.testing.assert_allclose(sinogram[0], image.sum(axis=0))  # x to the right
    np.testing.assert_allclose(sinogram[1, 1:7], image.sum(axis=1)[::-1], atol=1e-9)  # y upwards
    np.testing.assert_allclose(sinogram[2], sinogram[0][::-1], atol=1e-6)
    # Rays along the edges of pixels see half of each neighbour.
    edges = RadonOperator((6, 8), [0.0], n_detectors=7).project(image)[0]
    columns = image.sum(axis=0)
    np.testing.assert_allclose(edges, (columns[1:] + columns[:-1]) / 2)


def test_the_mass_is_seen_from_every_angle():
    image = np.random.default_rng(2).random((33, 20))
    fine = RadonOperator((33, 20), np.linspace(0, np.pi, 17), spacing=0.05)
    np.testing.assert_allclose(fine.project(image).sum(axis=1) * 0.05, image.sum(), rtol=1e-3)


def test_the_phantom_as_a_scanner_would_see_it():
    angles = np.pi * np.arange(60) / 60
    A = RadonOperator(128, angles)
    exact = shepp_logan_sinogram(128, angles, A.sinogram_shape[1])
    seen = A.project(shepp_logan(128))
    assert np.linalg.norm(seen - exact) < 0.03 * np.linalg.norm(exact)
    finer = RadonOperator(256, angles)
    exact = shepp_logan_sinogram(256, angles, finer.sinogram_shape[1])
    assert np.linalg.norm(finer.project(shepp_logan(256)) - exact) < 0.015 * np.linalg.norm(exact)


def test_it_is_a_linear_operator_for_scipy():
    rng = np.random.default_rng(3)
    A = RadonOperator(12, np.pi * np.arange(30) / 30)
    truth = rng.random(144)
    assert aslinearoperator(A) is A
    assert A.shape == (30 * A.sinogram_shape[1], 144)
    assert A.dtype == np.float64
    np.testing.assert_allclose(lsqr(A, A @ truth, atol=1e-12, btol=1e-12, iter_lim=2000)[0], truth, atol=1e-6)
    np.testing.assert_allclose((2 * A) @ truth, 2 * (A @ truth))
    np.testing.assert_allclose(A.T.T @ truth, A @ truth)
    np.testing.assert_allclose(A @ np.stack([truth, truth], axis=1), np.stack([A @ truth] * 2, axis=1))
    np.testing.assert_allclose(A @ (truth + 2j * truth), (1 + 2j) * (A @ truth))
    np.testing.assert_allclose(A.H @ (1j * (A @ truth)), 1j * (A.T @ (A @ truth)))
    again = pickle.loads(pickle.dumps(A))
    np.testing.assert_array_equal(again @ truth, A @ truth)


def test_threads_change_nothing():
    image = np.random.default_rng(4).random((64, 64))
    A = RadonOperator(64, np.pi * np.arange(40) / 40)
    results = []
    for threads in (1, 2, 5):
        set_threads(threads)
        results.append((A.project(image), A.back_project(A.project(image))))
    set_threads(None)
    for forward, backward in results[1:]:
        np.testing.assert_array_equal(forward, results[0][0])
        np.testing.assert_array_equal(backward, results[0][1])


def test_detectors_that_do_not_reach_the_corners_lose_only_those_rays():
    image = np.random.default_rng(5).random((20, 20))
    angles = np.linspace(0, 3, 7)
    full, short = RadonOperator(20, angles, n_detectors=30), RadonOperator(20, angles, n_detectors=6)
    np.testing.assert_allclose(short.project(image), full.project(image)[:, 12:18], atol=1e-12)


BAD = {
    "shape of three": (lambda: RadonOperator((2, 3, 4), [0.0]), "rows and columns"),
    "shape of words": (lambda: RadonOperator("ab", [0.0]), "rows and columns"),
    "shape zero": (lambda: RadonOperator((0, 4), [0.0]), "rows and columns"),
    "no angles": (lambda: RadonOperator(4, []), "in radians"),
    "angles with NaN": (lambda: RadonOperator(4, [np.nan]), "in radians"),
    "angles of words": (lambda: RadonOperator(4, ["north"]), "in radians"),
    "no detectors": (lambda: RadonOperator(4, [0.0], n_detectors=0), "n_detectors"),
    "spacing zero": (lambda: RadonOperator(4, [0.0], spacing=0.0), "spacing"),
    "image of another size": (lambda: RadonOperator(4, [0.0]).project(np.zeros((4, 5))), "made for (4, 4)"),
    "image turned": (lambda: RadonOperator((4, 6), [0.0]).project(np.zeros((6, 4))), "made for (4, 6)"),
    "sinogram of another size": (lambda: RadonOperator(4, [0.0]).back_project(np.zeros(3)), "made for (1, 6)"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    ask, part = BAD[case]
    with pytest.raises(ValueError) as error:
        ask()
    assert part in str(error.value)
    assert "\n" not in str(error.value)
