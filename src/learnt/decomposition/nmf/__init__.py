"""Non-negative matrix factorisation:  X ≈ W H  with no entry below 0.

_estimator    the class NMF                      _function     the same as one call
_minibatch    MiniBatchNMF, a few rows at a time  _online       one step of it
_base         what both classes share
_starts       where W and H begin (NNDSVD)       _checks       W and H that are given
_descent      coordinate descent (HALS)          _kernels      its compiled inner loop
_updates      multiplicative updates             _divergence   how far W H is from X
"""
