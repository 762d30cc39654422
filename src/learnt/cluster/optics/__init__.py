"""OPTICS: rows in an order in which clusters of every density are valleys of one curve.

_estimator   the class
_extraction  clusters from the curve, as functions: at one distance, or by steep edges
_graph       core distances, and the order by whichever source of neighbours fits in memory
_ordering    compiled loops: the order from stored neighbours, or from the rows themselves
_sizes       numbers of rows given as such or as a share
_valleys     where the curve falls and rises steeply, and the valleys between
"""
