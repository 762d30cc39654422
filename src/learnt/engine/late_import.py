"""Large packages that others import on the off chance: loaded when something of theirs is first used.

scikit-learn imports `scipy.stats` and, where it is installed, pandas as soon as it is imported itself. Together they
take longer to load than all that a study needs. In a process of ours (the command, a study's worker), and nowhere else,
a module that loads the real one at the first use stands in for them.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_loading = threading.RLock()


class _LateModule(ModuleType):
    """Stands in for a package until something of it is used. Of the functions named, the call is the first use."""

    def __init__(self, name: str, path: list[str], functions: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__path__ = path
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)  # asked for by the import system
        if name in self._functions and sys.modules.get(self.__name__) is self:
            return _late_function(self, name)
        return getattr(_real(self), name)


def _late_function(module: _LateModule, name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        return getattr(_real(module), name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call


def _real(module: _LateModule) -> ModuleType:
    """The package itself, in its place from now on."""
    with _loading:
        name = module.__name__
        if sys.modules.get(name) is module:
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent and getattr(sys.modules[parent], child, None) is module:
                delattr(sys.modules[parent], child)
        return importlib.import_module(name)


class _LoadForSubmodules:
    """Where a module inside a package is imported, the package is loaded first."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        package = sys.modules.get(name.rpartition(".")[0])
        if isinstance(package, _LateModule):
            _real(package)


def import_late(name: str, functions: tuple[str, ...] = ()) -> None:
    """Let a package be loaded at its first use; `functions` are those that others import by name and call later."""
    if name in sys.modules or (spec := find_spec(name)) is None:
        return
    if not any(isinstance(finder, _LoadForSubmodules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LoadForSubmodules())
    module = _LateModule(name, list(spec.submodule_search_locations or ()), functions)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    sys.modules[name] = module


def import_late_in_our_processes() -> None:
    """What a process that runs a study does first."""
    import_late("scipy.stats", functions=("rankdata",))
    import_late("pandas")
