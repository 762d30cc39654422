"""HDBSCAN: clusters of any shape and of different densities.

_estimator    the class
_spanning     the spanning tree of mutual reachabilities, by the cheapest algorithm
_boruvka      in few dimensions: components find their nearest others in a tree of boxes
_prim         from given distances, a row at a time
_hierarchy    the tree of merges, and the condensed tree, in which small clusters are points that leave
_selection    which clusters of that tree to take
"""
