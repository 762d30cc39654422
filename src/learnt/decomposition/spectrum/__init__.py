"""Spectra of rows: eigenvectors of their scatter, singular vectors of the rows, from sums over any kind of rows.

_centre     mean and scatter                                     _exact   all components, or some, of a matrix
_products   with the centred data, from sums over rows           _krylov  a few components of a large matrix
_triangle   the QR factorisation of the centred data in blocks   _choice  which solver, and how many components
"""
