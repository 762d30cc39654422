"""`cached_property` without the lock that Python 3.11 has in it, one for all objects of a class.

That lock makes two threads wait for each other that work on different objects, and is held for ever in a process that
is forked meanwhile. Python 3.12 has dropped it.
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
