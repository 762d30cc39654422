"""Classical gradient boosting, and boosting of any learner with any loss.

_base              What both classical gradient boosting estimators share
_classifier        Classical gradient boosting, for classes
_functional        Gradient descent in the space of functions, with any learner and any loss
_functional_steps  The pieces of boosting in function space: the best constant, the step length along a learner
_losses            The losses of classical gradient boosting
_regressor         Classical gradient boosting, for numbers
_rows              Which rows a tree of gradient boosting is grown on, and what it draws by
"""
