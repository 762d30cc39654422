"""Empirical risk minimisation:  min over w, b of  mean loss(y, xᵀw + b) + alpha · penalty(w).

losses      what a wrong score costs
penalties   what large, many or negative coefficients cost; as a price or as a constraint
"""

from learnt.erm import losses as losses
from learnt.erm import penalties as penalties

__all__ = ["losses", "penalties"]
