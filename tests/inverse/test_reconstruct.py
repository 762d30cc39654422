"""Reconstructions: the phantom comes back, the minimum is the minimum, and bad input is refused in one sentence."""

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from learnt.inverse import (
    RadonOperator,
    filtered_back_projection,
    psnr,
    reconstruct,
    shepp_logan,
    shepp_logan_sinogram,
)

ANGLES = np.pi * np.arange(90) / 90


@pytest.fixture(scope="module")
def scan():
    truth = shepp_logan(96)
    A = RadonOperator(96, ANGLES)
    return A, A.project(truth), truth


def small(seed=0, n=6, angles=5):
    rng = np.random.default_rng(seed)
    A = RadonOperator(n, np.pi * np.arange(angles) / angles)
    return A, A @ np.eye(n * n), rng.normal(size=A.sinogram_shape), rng


def test_the_phantom_comes_back(scan):
    A, sinogram, truth = scan
    found = reconstruct(A, sinogram, max_iter=200)
    bounded = reconstruct(A, sinogram, nonnegative=True, max_iter=200, tol=3e-4)
    assert found.converged
    assert psnr(found.image, truth) > 32
    assert psnr(bounded.image, truth) > 34
    assert bounded.image.min() >= 0.0
    assert psnr(filtered_back_projection(A, sinogram), truth) > 25
    assert psnr(found.image, truth) > psnr(filtered_back_projection(A, sinogram), truth)


def test_from_what_a_scanner_would_measure():
    truth = shepp_logan(96)
    A = RadonOperator(96, ANGLES)
    sinogram = shepp_logan_sinogram(96, ANGLES, A.sinogram_shape[1])
    found = reconstruct(A, sinogram, nonnegative=True, tol=3e-3)
    assert psnr(found.image, truth) > 30


@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_conjugate_gradients_reach_the_ridge_solution(ridge):
    A, matrix, y, _ = small()
    found = reconstruct(A, y, ridge=ridge, tol=1e-12, max_iter=500)
    expected = np.linalg.solve(matrix.T @ matrix + ridge * np.eye(36), matrix.T @ y.ravel())
    np.testing.assert_allclose(found.image.ravel(), expected, atol=1e-9)
    assert found.converged
    residual = np.linalg.norm(matrix @ expected - y.ravel()) / np.linalg.norm(y)
    assert found.residual == pytest.approx(residual)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_projected_gradients_reach_non_negative_least_squares(ridge):
    A, matrix, y, rng = small(n=4, angles=12)
    y = A.project(np.clip(rng.normal(size=(4, 4)), 0, None)) + 0.3 * rng.normal(size=A.sinogram_shape)
    found = reconstruct(A, y, ridge=ridge, nonnegative=True, tol=1e-9, max_iter=20000)
    stacked = np.vstack([matrix, np.sqrt(ridge) * np.eye(16)])
    expected = nnls(stacked, np.concatenate([y.ravel(), np.zeros(16)]))[0]
    assert (expected == 0).any()
    np.testing.assert_allclose(found.image.ravel(), expected, atol=1e-6)


def test_a_ridge_helps_where_data_are_noisy(scan):
    A, sinogram, truth = scan
    noisy = sinogram + np.random.default_rng(0).normal(size=sinogram.shape)
    with pytest.warns(ConvergenceWarning):
        plain = reconstruct(A, noisy, max_iter=40, tol=1e-12)
    assert psnr(reconstruct(A, noisy, ridge=30.0, tol=1e-3).image, truth) > psnr(plain.image, truth) + 3


def test_uneven_angles_count_by_their_share(scan):
    _, _, truth = scan
    uneven = np.pi * (np.arange(120) / 120) ** 1.5
    A = RadonOperator(96, uneven)
    again = RadonOperator(96, np.concatenate([uneven, uneven]))
    once = filtered_back_projection(A, A.project(truth))
    assert psnr(once, truth) > 22
    np.testing.assert_allclose(filtered_back_projection(again, again.project(truth)), once, atol=1e-9)


def test_finer_rays_have_the_same_scale():
    truth = shepp_logan(64)
    A = RadonOperator(64, ANGLES, spacing=0.5)
    image = filtered_back_projection(A, A.project(truth))
    assert image.mean() == pytest.approx(truth.mean(), rel=0.01)


def test_an_image_of_no_measurements_is_zero():
    A, *_ = small()
    for bounded in (False, True):
        found = reconstruct(A, np.zeros(A.sinogram_shape), nonnegative=bounded)
        assert found.converged
        assert found.n_iter == 0
        np.testing.assert_array_equal(found.image, 0.0)


def test_too_few_iterations_report_the_distance(scan):
    A, sinogram, _ = scan
    with pytest.warns(ConvergenceWarning, match=r"after 3 iterations with a gradient .* raise max_iter above 3"):
        assert not reconstruct(A, sinogram, max_iter=3).converged


def test_progress_is_reported(scan, capsys):
    import io

    from learnt.engine import progress

    A, sinogram, _ = scan
    stream = io.StringIO()
    progress.show("plain", stream)
    try:
        reconstruct(A, sinogram, tol=1e-2)
    finally:
        progress.show("off")
    assert "reconstruction" in stream.getvalue()
    assert capsys.readouterr().out == ""


def test_the_phantom_and_its_measure():
    image = shepp_logan(100)
    assert image.min() == 0.0
    assert image.max() == pytest.approx(1.0)
    np.testing.assert_allclose(image[50, 0], 0.0)
    assert image[4:6, 50].max() == pytest.approx(1.0)  # the skull
    assert psnr(image, image) == np.inf
    assert psnr(image + 0.1, image) == pytest.approx(20.0)


BAD = {
    "turned": (lambda A, y: reconstruct(A, y.T), "angles are rows"),
    "NaN": (lambda A, y: reconstruct(A, np.where(y > y.mean(), np.nan, y)), "NaN or infinite"),
    "ridge": (lambda A, y: reconstruct(A, y, ridge=-1.0), "ridge"),
    "max_iter": (lambda A, y: reconstruct(A, y, max_iter=0), "max_iter"),
    "tol": (lambda A, y: reconstruct(A, y, tol="small"), "tol"),
    "no operator": (lambda A, y: reconstruct(np.eye(3), y), "RadonOperator"),
    "sizes": (lambda A, y: psnr(np.zeros(3), np.zeros(4)), "equal grids"),
    "phantom": (lambda A, y: shepp_logan(0), "pixels along a side"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    A, _, y, _ = small()
    ask, part = BAD[case]
    with pytest.raises((TypeError, ValueError)) as error:
        ask(A, y)
    assert part in str(error.value)
    assert "\n" not in str(error.value)
