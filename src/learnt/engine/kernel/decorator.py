"""The one decorator for compiled code.

    @kernel
    def add_rows(X, out):
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                out[j] += X[i, j]

A kernel is a module-level function over arrays and numbers. It is compiled by Numba at its first call, not at
import; it releases the GIL, so that `engine.threads` can run it on many cores; its machine code is kept on disk
(`engine.kernel.cache`). It may call other kernels. It writes only into arrays that its caller allocated for it;
read-only arrays are passed like any others (`engine.kernel.read_only`). With compilation switched off
(`LEARNT_COMPILE=0`, `NUMBA_DISABLE_JIT=1`, or Numba not installed) the same function runs as plain Python: slow, but
right.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, overload

from learnt.engine.forks import hold_while_forking
from learnt.engine.interrupts import check_stopped
from learnt.engine.kernel import cache, compiler
from learnt.engine.kernel.digest import UnknownConstant, code_parts, hash_parts, names_read
from learnt.engine.kernel.read_only import run_as_writable

# Named flags, never blanket fast-math: `contract` allows fused multiply-add; `reassoc` lets a sum be vectorised.
# NaN and infinity keep their meaning in both.
_EXACT = {"contract"}
_REASSOCIATING = {"contract", "reassoc", "nsz"}

_log = logging.getLogger("learnt")
_resolving = threading.RLock()


def _locks() -> Iterator[Any]:
    """The locks that a fork waits for: those of importing Numba and of compiling."""
    yield _resolving
    yield from compiler.locks()


hold_while_forking(_locks)


def compilation_enabled() -> bool:
    """Whether kernels are compiled, and not run as plain Python.

    >>> isinstance(compilation_enabled(), bool)
    True
    """
    if os.environ.get("LEARNT_COMPILE", "1") == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") == "1":
        return False
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


class Kernel:
    """A function that compiles itself when first called; `.python` is the plain function."""

    def __init__(self, function: FunctionType, reassociate: bool, allocates: bool = True, fuse: bool = True) -> None:
        functools.update_wrapper(self, function)
        self.python = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._reassociate = reassociate
        self._allocates = allocates
        self._fuse = fuse
        self._run: Callable[..., Any] | None = None
        self._called: Callable[..., Any] | None = None
        self._digest: str | None = None

    def __call__(self, *args: Any) -> Any:
        run = self._run
        if run is None:
            run = self.resolve()
        check_stopped()
        return run(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def resolve(self) -> Callable[..., Any]:
        """The callable behind this kernel: a Numba dispatcher, or the plain function."""
        with _resolving:
            if self._run is None:
                self._run = self._compiled() if compilation_enabled() else self.python
            return self._run

    def resolve_for_kernels(self) -> Callable[..., Any]:
        """The same for kernels that call this one.

        Those need no wrapper that is callable from Python, which takes a sixth of the compiler's time; their machine
        code on disk contains this kernel's.
        """
        with _resolving:
            if self._called is None:
                self._called = self._compiled(entry=False)
            return self._called

    def callees(self) -> dict[str, Kernel]:
        """The kernels this one calls, by the name it calls them."""
        scope = self.python.__globals__
        return {name: scope[name] for name in names_read(self.python) if isinstance(scope.get(name), Kernel)}

    def digest(self) -> str:
        """A hash of all that decides this kernel's machine code: its own code, its constants and its callees.

        Numba's own freshness stamp looks only at the kernel's file, so that a change in a callee elsewhere
        would leave old machine code in use. Raises `UnknownConstant` where a constant's value cannot be determined.
        """
        if self._digest is None:
            parts = [self.python.__qualname__, str(self._reassociate), str(self._allocates)]
            parts += [] if self._fuse else ["not fused"]
            parts += code_parts(self.python, known=Kernel)
            self._digest = "recursive"  # the digest that a recursive kernel sees for itself
            try:
                parts += [f"{name}:{callee.digest()}" for name, callee in sorted(self.callees().items())]
            except UnknownConstant:
                self._digest = None
                raise
            self._digest = hash_parts(parts)
        return self._digest

    def _compiled(self, entry: bool = True) -> Callable[..., Any]:
        import numba

        # Numba types a global by its value: give it the callees' dispatchers in place of these wrappers.
        scope = dict(self.python.__globals__)
        for name, callee in self.callees().items():
            if callee is not self:
                scope[name] = callee.resolve_for_kernels()
        function = FunctionType(
            self.python.__code__, scope, self.python.__name__, self.python.__defaults__, self.python.__closure__
        )
        function.__kwdefaults__ = self.python.__kwdefaults__
        function.__module__ = self.python.__module__
        function.__qualname__ = self.python.__qualname__
        flags: Any = _REASSOCIATING if self._reassociate else _EXACT if self._fuse else False
        options: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": not entry, "_nrt": self._allocates}
        calls_itself = self.python.__name__ in self.python.__code__.co_names  # then it needs machine code of its own
        whole, draft = compiler.compilers()
        options["pipeline_class"] = whole if entry or calls_itself else draft
        dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath=flags, **options)(function)
        compiler.compare_flags_quickly(dispatcher)
        scope[self.python.__name__] = dispatcher  # a kernel may call itself
        if entry:
            run_as_writable(dispatcher)
            compiler.watch_numba()
            try:
                cache.attach(dispatcher, self.name, self.digest())
            except UnknownConstant as error:
                _log.debug("%s is compiled in every process: %s", self.name, error)
        return dispatcher


@overload
def kernel(function: Callable[..., Any]) -> Kernel: ...
@overload
def kernel(
    *, reassociate: bool = ..., allocates: bool = ..., fuse: bool = ...
) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    reassociate: bool = False,
    allocates: bool = True,
    fuse: bool = True,
) -> Any:
    """Make a module-level function over arrays and numbers a compiled kernel.

    Parameters
    ----------
    reassociate : bool, default=False
        Allow sums to be reordered so that they are vectorised. The order is fixed by the machine code, so results
        are still the same on every call and thread.
    allocates : bool, default=True
        Whether the kernel makes arrays. Numba counts the references to every array that a kernel with loops is given,
        with atomic instructions; one that is called for a few rows at a time and makes no array does better without.
        It must not call a kernel that makes one, and refuses to compile if it does itself.
    fuse : bool, default=True
        Whether a multiplication may be fused into an addition, which rounds once; without, NumPy gets the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(x):
    ...     s = 0.0
    ...     for i in range(x.size):
    ...         s += x[i]
    ...     return s
    >>> total(np.arange(4.0))
    6.0
    """
    if function is None:
        return lambda f: Kernel(f, reassociate, allocates, fuse)
    return Kernel(function, reassociate, allocates, fuse)  # type: ignore[arg-type]
