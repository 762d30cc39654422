"""`cached_property` without Python 3.11's lock, which all objects of a class share.

That lock makes threads that work on different objects wait for each other, and stays locked for ever in a process that
is forked while it is held. Python 3.12 has dropped it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, TypeVar

T = TypeVar("T")

if sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property[T]):
        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None or self.attrname is None:
                return super().__get__(instance, owner)
            kept = instance.__dict__
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]
