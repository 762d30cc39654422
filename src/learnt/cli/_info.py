"""``learnt info``: what a bug report needs."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from learnt import __version__
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import compilation_enabled
from learnt.engine.threads import thread_source

NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "polars", "safetensors", "threadpoolctl", "joblib")
EXTRAS = {"nets": "torch", "cluster": "dask", "ann": "hnswlib"}


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
    rows = [
        ("learnt", __version__),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"),
        *((name, _version(name)) for name in NEEDED),
        ("threads", f"{threads} (from {source})"),
        ("BLAS", _blas()),
        ("kernels", "compiled" if compilation_enabled() else "plain Python (slow): Numba is off or not installed"),
        ("kernel cache", where),
        ("GPU", _gpu()),
    ]
    for extra, package in EXTRAS.items():
        version = _version(package)
        rows.append(
            (
                f"extra {extra}",
                f"{package} {version}" if version != "not installed" else f'pip install "learnt[{extra}]"',
            )
        )
    return rows


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


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
    if _version("torch") == "not installed":
        return "unknown (PyTorch is not installed)"
    import torch

    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count()))
    return "Apple (mps)" if torch.backends.mps.is_available() else "none"
