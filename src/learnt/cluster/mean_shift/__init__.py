"""Mean shift: clusters are the peaks of a density that rows climb to.

_bandwidth   the radius from the distances of neighbours
_climbing    from many starts at once to the peaks, and one peak for each cluster
_estimator   the class, and the same as a function
_seeds       few starts instead of all rows: cells of a grid
"""
