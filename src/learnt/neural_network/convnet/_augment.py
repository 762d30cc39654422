"""Random augmentation of the images of every batch, so that the network becomes invariant to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from learnt.neural_network._torch import torch_for


@dataclass(frozen=True)
class Augment:
    """Each image of a batch is moved, mirrored, turned, stretched and made noisy at random.

    A remedy for overfitting: take changes that do not change what is seen. Prediction sees images as they are. Pixels
    beyond the edge are those of the edge.

    Parameters
    ----------
    shift : int, default=0
        By so many pixels at most, up, down, left or right.
    flip : bool, default=False
        Every other image is mirrored, left to right.
    rotate : float, default=0.0
        By so many degrees at most, to either side; pixels between four are their weighted mean.
    noise : float, default=0.0
        The standard deviation of Gaussian noise, in units of the images' own standard deviation.
    scale : float, default=0.0
        Larger or smaller by this share at most, its height and its width each on its own.
    shear : float, default=0.0
        Slanted: a row is pushed sideways by at most this share of its distance from the middle.

    See Also
    --------
    ConvNetClassifier : Takes it as `augment`.
    ConvNetRegressor : Takes it as `augment`.

    Examples
    --------
    >>> Augment(shift=2, flip=True)
    Augment(shift=2, flip=True, rotate=0.0, noise=0.0, scale=0.0, shear=0.0)
    """

    shift: int = 0
    flip: bool = False
    rotate: float = 0.0
    noise: float = 0.0
    scale: float = 0.0
    shear: float = 0.0

    def __post_init__(self) -> None:
        highest = {"shift": 2**20, "rotate": 180, "noise": 2**20, "scale": 10, "shear": 10}
        for name, high in highest.items():
            kind = Integral if name == "shift" else Real
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= float(value) <= high:
                what = "a whole number" if kind is Integral else "a number"
                raise ValueError(f"The {name!r} of Augment must be {what} from 0 to {high}; got {value!r}.")
        if not isinstance(self.flip, bool):
            raise ValueError(f"The 'flip' of Augment must be True or False; got {self.flip!r}.")

    def change(self, X: Any, generator: Any, first: int, whole: int) -> Any:
        """Images (n, rows, columns, channels) changed: those from `first` on of a batch of `whole`.

        Draws are made for the whole batch, so that workers that share one change its images as a single one does.

        Parameters
        ----------
        X : torch.Tensor of shape (n, rows, columns, channels)
            The images.
        generator : torch.Generator
            Where random numbers come from.
        first : int
            The place of the first of these images in the batch.
        whole : int
            How many images the batch has.

        Returns
        -------
        X_new : torch.Tensor of shape (n, rows, columns, channels)
            The changed images.
        """
        torch, n = torch_for("a network"), len(X)
        mine = slice(first, first + n)

        def uniform(low: float, high: float) -> Any:
            drawn = torch.rand(whole, generator=generator, device=X.device)[mine]
            return low + (high - low) * drawn

        down = torch.round(uniform(-self.shift, self.shift)) if self.shift else X.new_zeros(n)
        right = torch.round(uniform(-self.shift, self.shift)) if self.shift else X.new_zeros(n)
        mirrored = uniform(0, 1) < 0.5 if self.flip else torch.zeros(n, dtype=torch.bool, device=X.device)
        if self.rotate or self.scale or self.shear:
            angle = uniform(-math.radians(self.rotate), math.radians(self.rotate)) if self.rotate else X.new_zeros(n)
            most = math.log1p(self.scale)
            high, wide = (torch.exp(uniform(-most, most)) if self.scale else X.new_ones(n) for _ in range(2))
            slant = uniform(-self.shear, self.shear) if self.shear else X.new_zeros(n)
            X = _warped(X, angle, high, wide, slant, down, right, mirrored)
        elif self.shift or self.flip:
            X = _moved(X, down, right, mirrored)
        if self.noise:
            drawn = torch.randn((whole, *X.shape[1:]), generator=generator, device=X.device)
            X = torch.add(X, drawn[mine], alpha=float(self.noise))
        return X


def _moved(X: Any, down: Any, right: Any, mirrored: Any) -> Any:
    torch, (_, h, w, _) = torch_for("a network"), X.shape
    rows = (torch.arange(h, device=X.device) - down.long()[:, None]).clamp_(0, h - 1)
    columns = (torch.arange(w, device=X.device) - right.long()[:, None]).clamp_(0, w - 1)
    columns = torch.where(mirrored[:, None], w - 1 - columns, columns)
    return X[torch.arange(len(X), device=X.device)[:, None, None], rows[:, :, None], columns[:, None, :]]


def _warped(X: Any, angle: Any, high: Any, wide: Any, slant: Any, down: Any, right: Any, mirrored: Any) -> Any:
    """Each pixel of a changed image is the weighted mean of the four around its place in the given one."""
    torch, (n, h, w, c) = torch_for("a network"), X.shape
    cos, sin = angle.cos(), angle.sin()
    # From a place of the changed image to one of the given, both from −1 to 1: a pixel is 2/w wide and 2/h high.
    x = torch.stack([cos / wide, (slant - sin / high) * (h / w), right * (-2 / w)], dim=1)
    y = torch.stack([sin / wide * (w / h), cos / high, down * (-2 / h)], dim=1)
    places = torch.stack([torch.where(mirrored[:, None], -x, x), y], dim=1)
    grid = torch.nn.functional.affine_grid(places, [n, c, h, w], align_corners=False)
    warped = torch.nn.functional.grid_sample(X.movedim(3, 1), grid, padding_mode="border", align_corners=False)
    return warped.movedim(1, 3).contiguous()
