"""Large packages that others import but seldom use: loaded when something of them is first used.

scikit-learn imports most of SciPy, of which few models need much, and tests of every array whether it is a pandas data
frame, where pandas is installed. Together they take longer to load than all that a study needs. In a process of ours
(the command, a study's worker), and nowhere else, they are replaced by a module that loads the real one at its first
use.

A package of ours with `names_when_used` does the same with its own files.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType, new_class
from typing import Any

_SPECIAL = ("boxcox", "comb", "expit", "gammaln", "inv_boxcox", "ndtri", "stdtr", "stdtrit", "xlogy")
_OPTIMISERS = ("brentq", "linear_sum_assignment", "linprog", "minimize", "minimize_scalar", "nnls")
_loading = threading.RLock()


class _LateModule(ModuleType):
    """Replaces a package until something of it is used.

    Importing one of the named functions is no use yet, only calling it is. Nor is `isinstance` with one of the named
    classes: of a package that is not loaded there are no objects.
    """

    def __init__(self, name: str, path: list[str], functions: tuple[str, ...], classes: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__path__ = path
        self._functions, self._classes = functions, classes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)  # asked for by the import system
        if sys.modules.get(self.__name__) is self:
            if name in self._functions:
                return _late_function(self, name)
            if name in self._classes:
                return _LateClass(name, (), {"_late": (self, name)})
        return getattr(_real(self), name)


class _LateClass(type):
    """Replaces a class of such a package in `isinstance` and `issubclass`; any other use loads the class.

    A class derived from it is derived from the class itself.
    """

    _late: tuple[_LateModule, str]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        real = tuple(base._itself() if isinstance(base, _LateClass) else base for base in bases)
        return new_class(name, real, options, lambda namespace: namespace.update(body))

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls._loaded() and isinstance(instance, cls._itself())

    def __subclasscheck__(cls, subclass: type) -> bool:
        return cls._loaded() and issubclass(subclass, cls._itself())

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return cls._itself()(*args, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._itself(), name)

    def _loaded(cls) -> bool:
        module = cls._late[0]
        return sys.modules.get(module.__name__) is not module

    def _itself(cls) -> type:
        module, name = cls._late
        return getattr(_real(module), name)


def _late_function(module: _LateModule, name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        return getattr(_real(module), name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call


def _real(module: _LateModule) -> ModuleType:
    """Load the package itself and put it in its place."""
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


def import_late(name: str, functions: tuple[str, ...] = (), classes: tuple[str, ...] = ()) -> None:
    """Let a package be loaded at its first use.

    `functions` are those that others import by name and call later, `classes` those that they use in `isinstance`.
    """
    if name in sys.modules or (spec := find_spec(name)) is None:
        return
    if not any(isinstance(finder, _LoadForSubmodules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LoadForSubmodules())
    module = _LateModule(name, list(spec.submodule_search_locations or ()), functions, classes)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    sys.modules[name] = module


def names_when_used(package: str, files: dict[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose public names are imported from their files when first used.

    >>> of_room, names = names_when_used("learnt.engine", {"as_rows": "rows"})
    >>> of_room("as_rows").__module__, names()
    ('learnt.engine.rows.summation', ['as_rows'])
    """

    def get(name: str) -> Any:
        if name in files:
            return getattr(importlib.import_module(f"{package}.{files[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(files)


@contextmanager
def collecting_later() -> Iterator[None]:
    """Load without looking for garbage: modules make hundreds of thousands of objects, and hardly any is garbage.

    It takes a sixth of the time of loading. What was loaded is left out of later collections as well.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def import_late_in_our_processes() -> None:
    """The late imports of a process that runs a study; called before anything else."""
    import_late("numpy.f2py")  # imported by `from numpy import *`, as are NumPy's tests
    import_late("numpy.testing")
    import_late("psutil", classes=("Process",))  # used by joblib for the memory of processes that we never start
    import_late("asyncio")
    import_late("scipy.stats", functions=("rankdata",))
    import_late("scipy.special", functions=_SPECIAL)
    import_late("scipy.linalg", functions=("solve_triangular",))
    import_late("scipy.sparse.linalg", functions=("cg",), classes=("LinearOperator",))
    import_late("scipy.integrate", functions=("trapezoid",))
    import_late("scipy.interpolate", functions=("BSpline",))
    import_late("scipy.optimize", functions=_OPTIMISERS)
    import_late("pandas", classes=("DataFrame", "Series", "Index"))
    # After all that scikit-learn itself imports.
    import_late("sklearn.metrics", functions=("check_scoring", "get_scorer_names", "r2_score"))
    import_late(
        "sklearn.model_selection",
        functions=("check_cv", "cross_val_predict", "train_test_split"),
        classes=("ShuffleSplit", "StratifiedKFold", "StratifiedShuffleSplit"),
    )
