"""scikit-learn's packages with attributes that depend on the importing code: a script gets learnt's estimators,
scikit-learn its own.

A package of scikit-learn that has been imported changes its class (`Package`). Its names stay what they are; only when
one is asked for (`from sklearn.svm import SVC`, `svm.SVC`) by code outside scikit-learn is the answer learnt's.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

import learnt

PACKAGES = frozenset(f"sklearn.{room}" for room in learnt._ESTIMATORS)
_ON_BEHALF = ("inspect", "importlib", "runpy")  # modules that import on behalf of their caller
_left: set[str] = set()


class Package(ModuleType):
    """A package of scikit-learn with replaced names."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or not callable(value) or name in _left or not _is_outside(sys._getframe(1)):
            return value
        from learnt.accel.replaced import standing

        found = standing(super().__getattribute__("__name__").partition(".")[2], name)
        return value if found is None else found


def _is_outside(frame: FrameType | None) -> bool:
    """Whether the importing code is neither scikit-learn's nor learnt's."""
    while frame is not None:
        root = str(frame.f_globals.get("__name__")).partition(".")[0]
        if root not in _ON_BEHALF:
            return root not in ("sklearn", "learnt")
        frame = frame.f_back
    return True


class _Finder:
    """An import hook that changes packages imported later, once their own code has run."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in PACKAGES:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_replace(module: ModuleType) -> None:
                load(module)
                if self in sys.meta_path:
                    _replace(module)

            spec.loader.exec_module = load_and_replace  # type: ignore[method-assign]
        return spec


_finder = _Finder()


class Installed:
    """``with install(): ...`` gives everything back at the end."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        uninstall()


def install(leave: Iterable[str] = ()) -> Installed:
    """Scripts that ask scikit-learn for an estimator get learnt's of the same name, but for the names to leave.

    What learnt's cannot fit, scikit-learn's fits. Names that a script has imported before (``from sklearn.svm import
    SVC``) stay what they are.

    Parameters
    ----------
    leave : iterable of str, default=()
        Names of classes and functions to leave scikit-learn's, such as ["Lasso"].

    Returns
    -------
    installed : context manager
        In a ``with`` statement, it gives everything back at the end; else it can be ignored.

    See Also
    --------
    uninstall : Gives scikit-learn's names back.
    report : What ran, and how long.

    Examples
    --------
    >>> with install(leave=["Lasso"]):
    ...     exec("from sklearn.linear_model import Lasso, Ridge", script := {"__name__": "script"})
    >>> script["Lasso"].__module__, script["Ridge"].__module__
    ('sklearn.linear_model._coordinate_descent', 'learnt.accel.replaced')
    """
    if isinstance(leave, str):
        raise TypeError(f"leave is a list of names; write leave=[{leave!r}]")
    _left.clear()
    _left.update(leave)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        for name in PACKAGES & sys.modules.keys():
            _replace(sys.modules[name])
    return Installed()


def uninstall() -> None:
    """Make scikit-learn's packages what they were; names that a script has imported meanwhile stay learnt's.

    See Also
    --------
    install : Replaces scikit-learn's names by learnt's.

    Examples
    --------
    >>> _ = install()
    >>> uninstall()
    >>> exec("from sklearn.linear_model import Ridge", script := {"__name__": "script"})
    >>> script["Ridge"].__module__
    'sklearn.linear_model._ridge'
    """
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        for name in PACKAGES & sys.modules.keys():
            _give_back(sys.modules[name])


def _replace(package: ModuleType) -> None:
    if type(package) is ModuleType:
        for cls in _classes_of(package):
            copyreg.pickle(cls, _reduce)
        package.__class__ = Package


def _give_back(package: ModuleType) -> None:
    if type(package) is Package:
        package.__class__ = ModuleType  # type: ignore[assignment]
        for cls in _classes_of(package):
            copyreg.dispatch_table.pop(cls, None)


def _classes_of(package: ModuleType) -> list[type]:
    """Classes defined in the package itself: a pickle names them by a name that is replaced."""
    return [
        value
        for value in vars(package).values()
        if isinstance(value, type) and value.__module__ == package.__name__ and not value.__name__.startswith("_")
    ]


def _reduce(model: Any) -> tuple[Any, ...]:
    cls = type(model)
    return new_original, (cls.__module__, cls.__name__), model.__getstate__()


def new_original(package: str, name: str) -> Any:
    """An object of scikit-learn's class, without a state: for pickles."""
    __import__(package)
    cls = vars(sys.modules[package])[name]
    return cls.__new__(cls)
