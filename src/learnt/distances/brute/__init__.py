"""Search by brute force.

_index            picks a way, as an index of `Search`
_direct           from the distances themselves
_products         by matrix products with an error bound, and exact distances where it leaves doubt
_product_radius   the same for all points within a radius
_rounded_points   what products need of the points, kept from query to query
_kernels          candidates from products, and the exact distances that settle them
"""
