"""Empirical risk minimisation:  min over w, b of  mean loss(y, xᵀw + b) + alpha · penalty(w).

losses      what a wrong score costs
penalties   what large, many or negative coefficients cost; as a price or as a constraint
solvers     ways down
Problem     the three together with the data, as a function of the coefficients
minimize    runs a solver on a problem: the loop, early stopping, the path, and a Result
"""

from learnt.erm import losses as losses
from learnt.erm import penalties as penalties
from learnt.erm import solvers as solvers
from learnt.erm._gap import duality_gap as duality_gap
from learnt.erm._minimize import Result as Result
from learnt.erm._minimize import minimize as minimize
from learnt.erm._problem import Problem as Problem

__all__ = ["Problem", "Result", "duality_gap", "losses", "minimize", "penalties", "solvers"]
