"""A module that can be called: `learnt.study(frame, target="late")` is what people type."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnt.study.door._study import study

    class CallableModule(ModuleType):
        """`learnt.study` as type checkers see it."""

        __call__ = staticmethod(study)

else:

    class CallableModule(ModuleType):
        """`learnt.study`: a module, and the function `learnt.study.study` where it is called."""

        def __call__(self, *args: Any, **options: Any) -> Any:
            return self.study(*args, **options)

        @property
        def __signature__(self) -> inspect.Signature:
            return inspect.signature(self.study)
