"""Inverse problems: reconstruction from measurements.

RadonOperator                             X-rays of an image as a linear operator, never a matrix
reconstruct                               the image by least squares, with a ridge or x ≥ 0
filtered_back_projection                  the classical inversion
shepp_logan, shepp_logan_sinogram, psnr   a phantom, its exact line integrals, and how close an image comes
"""

from learnt.inverse._phantom import psnr as psnr
from learnt.inverse._phantom import shepp_logan as shepp_logan
from learnt.inverse._phantom import shepp_logan_sinogram as shepp_logan_sinogram
from learnt.inverse._radon import RadonOperator as RadonOperator
from learnt.inverse._reconstruct import Reconstruction as Reconstruction
from learnt.inverse._reconstruct import filtered_back_projection as filtered_back_projection
from learnt.inverse._reconstruct import reconstruct as reconstruct

__all__ = [
    "RadonOperator",
    "Reconstruction",
    "filtered_back_projection",
    "psnr",
    "reconstruct",
    "shepp_logan",
    "shepp_logan_sinogram",
]
