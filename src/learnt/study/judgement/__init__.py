"""How good the model is: step 6, and the bracket of step 3.

_ceiling   the best constant, and a bracket of the best possible error
_opening   the test set opened once, and recorded
_judge     errors with their intervals, thresholds, importances
_verdict   all of it for rows that are judged, the constant beside it
_rare      a rare class, judged by recall, precision and PR area
_curve     the learning curve and what it says
_output    predictions as columns, facts as plain data
"""
