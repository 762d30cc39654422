"""Penalties: what large, many or negative coefficients cost.

    L2  L1  ElasticNet(l1_ratio)      ‖w‖², ‖w‖₁, and a mixture
    L0                                how many are not 0 (local minima only)
    NonNegative  Box(low, high)       sets to stay in
    NoPenalty

Each is a frozen value with `value(w)`, `prox(w, step)` and `project(w, bound)`, over NumPy or any Array API arrays, so
that alpha·r(w) and r(w) ≤ bound are the same problem to a solver: a constraint's prox is its projection.
`penalty_value`, `penalty_gradient`, `penalty_curvature`, `penalty_prox` and `penalty_project` are the same as compiled
functions of a penalty's `form`.
"""

from learnt.erm.penalties._base import NoPenalty as NoPenalty
from learnt.erm.penalties._base import Penalty as Penalty
from learnt.erm.penalties._compiled import penalty_curvature as penalty_curvature
from learnt.erm.penalties._compiled import penalty_gradient as penalty_gradient
from learnt.erm.penalties._compiled import penalty_project as penalty_project
from learnt.erm.penalties._compiled import penalty_prox as penalty_prox
from learnt.erm.penalties._compiled import penalty_value as penalty_value
from learnt.erm.penalties._norms import L0 as L0
from learnt.erm.penalties._norms import L1 as L1
from learnt.erm.penalties._norms import L2 as L2
from learnt.erm.penalties._norms import ElasticNet as ElasticNet
from learnt.erm.penalties._norms import soft_threshold as soft_threshold
from learnt.erm.penalties._sets import Box as Box
from learnt.erm.penalties._sets import NonNegative as NonNegative

#: The names that estimators take.
NAMES: dict[str, type] = {
    "l2": L2,
    "l1": L1,
    "elasticnet": ElasticNet,
    "l0": L0,
    "nonnegative": NonNegative,
    "box": Box,
    "none": NoPenalty,
}

__all__ = [
    "L0",
    "L1",
    "L2",
    "NAMES",
    "Box",
    "ElasticNet",
    "NoPenalty",
    "NonNegative",
    "Penalty",
    "penalty_curvature",
    "penalty_gradient",
    "penalty_project",
    "penalty_prox",
    "penalty_value",
    "soft_threshold",
]
