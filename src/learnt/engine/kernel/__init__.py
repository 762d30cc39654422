"""Compiled code: its one decorator, `@kernel`, and how that works.

decorator      what `@kernel` makes of a function: a callable that is compiled at its first call
compiler       how Numba is configured to compile it
shortcuts      what Numba would do again for each kernel, done once
digest         what decides the machine code, as text to be hashed
cache          machine code on disk, under that hash
lock           one process compiles a kernel, others wait for its machine code
private_files  files that nobody else could have written: the only ones machine code is read from
read_only      read-only arrays run the machine code of writable ones
intrinsics     machine instructions that Numba does not offer
"""

from learnt.engine.kernel.decorator import Kernel, compilation_enabled, kernel

__all__ = ["Kernel", "compilation_enabled", "kernel"]
