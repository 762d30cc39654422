"""Support vector machines with kernels, by their dual problems.

_svc        SVC, NuSVC                      _problems   the five machines as dual problems, and their solutions
_svr        SVR, NuSVR                      _solve      working sets, one after the other
_one_class  OneClassSVM                     _smo        one working set, two variables at a time, compiled
_interior    problems whose bounds are large against their kernel
_base       what the estimators share       _rows       rows of the kernel matrix, computed once and kept
_pairs      many classes as pairs of two    _kernel     kernels from matrix products
_inputs     rows, targets and weights, checked
_ways       all pairs of classes: each alone, or all from one matrix (_shared), in one loop (_pair_loop, _active)
"""
