"""An existing scikit-learn script, unchanged, faster: ``python -m learnt.accel script.py``.

In a program or a notebook, `install` before the estimators are imported; `uninstall` gives everything back. From then
on scripts that ask scikit-learn's packages for an estimator get learnt's of the same name, and scikit-learn's own code
still gets scikit-learn's. What learnt's cannot fit, scikit-learn's fits.

    install, uninstall, report      the three public names
    _packages    scikit-learn's packages, with attributes that depend on the importing code
    _pairs       which names are replaced, and by what
    _classes     a class that replaces scikit-learn's and falls back to it where a fit fails
    _functions   the same for a function
    _recursion   partial dependence of trees, which scikit-learn asks of some of these classes
    _record      what ran, for how long, and what went back
    replaced     where pickles find those classes and functions
    _command     ``python -m learnt.accel``
"""

from __future__ import annotations

from typing import Any

from learnt.accel._packages import install as install
from learnt.accel._packages import uninstall as uninstall
from learnt.accel._record import report as report

__all__ = ["install", "report", "uninstall"]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext learnt.accel``."""
    install()


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext learnt.accel``."""
    uninstall()
