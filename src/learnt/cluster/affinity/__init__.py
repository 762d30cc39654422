"""Affinity propagation: rows send each other messages until some of them stand for the others.

_estimator    the class, and the same as a function
_messages     the messages; compiled
"""
