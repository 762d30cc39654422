"""From held-out predictions to one model: step 5.

_calibration   a map of probabilities, fitted out of fold
_blend         greedy selection of members
_combine       calibrated models and a blend of them, evaluated in the same way
_choice        the lowest loss, or a simpler model where nothing is lost
_decide        the decision, its out-of-fold predictions, the final fits
_told          all of it as facts
"""
