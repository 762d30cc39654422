"""Densities: how probable a row is, rows like those seen, and rows unlike them.

    Gaussian          mean and covariance

Every density has `score_samples` (log p of each row), `score` (their mean), `sample`, `predict` (1, or −1 for
novelties: rows less probable than all but a share `contamination` of the training rows), `decision_function`, and
`plot` for one or two features.

_base       what all of them have
_picture    one or two features as a picture
"""

from learnt.density._gaussian import Gaussian

__all__ = ["Gaussian"]
