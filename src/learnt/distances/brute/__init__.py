"""Search by brute force.

_index            chooses between the code paths below, as an index of `Search`
_direct           from the distances themselves
_products         by matrix products with an error bound, and exact distances where the bound does not decide
_product_radius   the same for all points within a radius
_rounded_points   what products need of the points, kept from query to query
_kernels          candidates from products, and their exact distances
"""
