"""Dictionary learning: rows as few atoms each, and the atoms too.

_coding     codes for atoms that are given            _kernels    the compiled loops, exact
_coder      the class SparseCoder                     _update     better atoms for given codes
_estimator  the class DictionaryLearning              _online     MiniBatchDictionaryLearning
_functions  both as functions                         _schema     what a model file may hold
"""
