"""The name of the processor, which every speed belongs to."""

from __future__ import annotations

import os
import platform
import subprocess


def processor() -> str:
    """As `lscpu` calls it, where there is one; otherwise what the operating system says."""
    try:
        told = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=True)
        names = [line.split(":", 1)[1].strip() for line in told.stdout.splitlines() if line.startswith("Model name")]
    except (OSError, subprocess.CalledProcessError):
        names = []
    kind = platform.machine()
    return f"{names[0] if names and names[0] != '-' else platform.processor() or 'unknown processor'} ({kind})"
