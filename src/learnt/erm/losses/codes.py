"""The integer codes of losses in compiled loops: those of numbers, deviances, and those of margins."""

from __future__ import annotations

SQUARED, ABSOLUTE, HUBER, LOG_COSH, QUANTILE, INSENSITIVE, SQUARED_INSENSITIVE = range(7)
POISSON, GAMMA, TWEEDIE = range(7, 10)
LOG, HINGE, SQUARED_HINGE, EXPONENTIAL, MODIFIED_HUBER = range(10, 15)
FIRST_DEVIANCE, FIRST_MARGIN = POISSON, LOG
