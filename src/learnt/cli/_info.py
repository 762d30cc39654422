"""``learnt info``: what a bug report needs."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from learnt import __version__
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import compilation_enabled
from learnt.engine.threads import thread_source

PACKAGE, NOT_THERE = "learnt", "not installed"


def run_info() -> int:
    """Print versions and surroundings, one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in facts():
        table.add_row(name, escape(value))
    Console(highlight=False).print(table)
    return 0


def facts() -> list[tuple[str, str]]:
    """Everything shown, as pairs."""
    threads, source = thread_source()
    cache = kernel_cache.info()
    where = (
        f"{cache.folder} ({cache.entries} kernels, {cache.size / 1e6:.1f} MB)"
        if cache.folder
        else f"none: {cache.refused}"
        if cache.refused
        else "none can be written"
    )
    needed, extras = packages(_requirements())
    rows = [
        ("learnt", __version__),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"),
        *((name, _version(name)) for name in needed),
        ("threads", f"{threads} (from {source})"),
        ("BLAS", _blas()),
        ("kernels", "compiled" if compilation_enabled() else "plain Python (slow): Numba is off or not installed"),
        ("kernel cache", where),
        ("GPU", _gpu()),
    ]
    for extra, names in extras.items():
        versions = [_version(name) for name in names]
        there = ", ".join(f"{name} {version}" for name, version in zip(names, versions))
        rows.append((f"extra {extra}", f'pip install "{PACKAGE}[{extra}]"' if NOT_THERE in versions else there))
    return rows


def packages(requirements: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """What is needed, and the packages of each extra for users, from the requirements of a package's metadata.

    >>> packages(["numpy>=1.26", "dask[array]>=2024.8; extra == 'cluster'", "ruff; extra == 'dev'"])
    (['numpy'], {'cluster': ['dask']})
    """
    needed: list[str] = []
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        what, _, when = requirement.partition(";")
        name = re.match(r"[A-Za-z0-9._-]+", what.strip())
        extra = re.search(r"extra\s*==\s*[\"']([^\"']+)", when)
        if name is not None and (extra is None or extra[1] != "dev"):
            (needed if extra is None else extras.setdefault(extra[1], [])).append(name[0])
    return needed, extras


def _requirements() -> list[str]:
    """What the installed package says it needs; nothing where it runs from a folder without being installed."""
    try:
        return metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_THERE


def _blas() -> str:
    import numpy  # noqa: F401  (loads the library that is asked about)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    found = [
        f"{p['internal_api']} {p['version']}, {p['num_threads']} threads"
        for p in threadpool_info()
        if p["user_api"] == "blas"
    ]
    return "; ".join(dict.fromkeys(found)) or "unknown"


def _gpu() -> str:
    if _version("torch") == NOT_THERE:
        return "unknown (PyTorch is not installed)"
    import torch

    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count()))
    return "Apple (mps)" if torch.backends.mps.is_available() else "none"
