"""Single trees: the table cut into boxes by questions about one column at a time."""

from learnt.tree._dyadic import DyadicPartitionRegressor

__all__ = [
    "DyadicPartitionRegressor",
]
