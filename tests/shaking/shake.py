"""The tests under other processors' arithmetic, one thread, load and a random order: `make shake ARGS="tests/erm"`.

A test that fails here hangs on the processor, on time or on another test. One line a variant, failures at the end. The
environment variable SHAKE_ONLY chooses variants by parts of their names: SHAKE_ONLY="ARMV8 THREADS" is two of them.
"""

import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CORES = {
    "x86_64": ("Haswell", "SkylakeX", "Zen", "Sandybridge"),
    "aarch64": ("NEOVERSEN1", "ARMV8"),
    "arm64": ("NEOVERSEN1", "ARMV8"),
}
BUSY = 4  # processes beside the tests


def variants(seed: int) -> list[tuple[str, dict[str, str]]]:
    """(name, what the environment has beside) of every run."""
    cores = CORES.get(platform.machine(), ())
    return [
        *((f"OPENBLAS_CORETYPE={core}", {"OPENBLAS_CORETYPE": core}) for core in cores),
        ("NUMBA_CPU_NAME=generic", {"NUMBA_CPU_NAME": "generic"}),
        ("OMP_NUM_THREADS=1", {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}),
        (f"load of {BUSY}", {"SHAKE_LOAD": str(BUSY)}),
        (f"SHAKE_SEED={seed} (random order)", {"SHAKE_SEED": str(seed)}),
    ]


def chosen(names: str, seed: int) -> list[tuple[str, dict[str, str]]]:
    """Those whose name has one of the parts; all where none is given."""
    parts = names.split()
    found = [variant for variant in variants(seed) if not parts or any(part in variant[0] for part in parts)]
    if not found:
        raise SystemExit(f"SHAKE_ONLY={names} is part of none of: {', '.join(name for name, _ in variants(seed))}.")
    return found


def run(extra: dict[str, str], arguments: list[str]) -> tuple[int, list[str], str]:
    """pytest's exit code, the tests that failed and its last line."""
    env = {**os.environ, **extra}
    plugins = []
    if "SHAKE_SEED" in extra:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), env.get("PYTHONPATH")]))
        plugins = ["-p", "shake_order"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", *plugins, *arguments]
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(int(extra.get("SHAKE_LOAD", 0)))
    ]
    with tempfile.TemporaryFile("w+") as out:
        try:
            code = subprocess.run(command, env=env, stdout=out, stderr=subprocess.STDOUT).returncode
        finally:
            for process in busy:
                process.kill()
                process.wait()
        out.seek(0)
        text = out.read()
    return code, re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.M), (text.strip().splitlines() or [""])[-1]


def main(arguments: list[str]) -> int:
    seed = int(os.environ.get("SHAKE_SEED") or random.SystemRandom().randrange(10**6))
    wrong: list[tuple[str, str]] = []
    for name, extra in chosen(os.environ.get("SHAKE_ONLY", ""), seed):
        code, failed, last = run(extra, arguments)
        print(f"{'ok' if code == 0 else 'FAILED':<7}{name:<34}{last}", flush=True)
        if code:
            wrong += [(name, test) for test in failed or [f"pytest ended with {code}: {last}"]]
    for name, test in wrong:
        print(f"{name}: {test}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
