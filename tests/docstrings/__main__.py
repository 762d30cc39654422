"""python tests/docstrings [learnt.ROOM …]: a line for each fault, and how many there are."""

import sys

from audit import ROOMS, faults

count = 0
for room in [name.removeprefix("learnt.") for name in sys.argv[1:]] or ROOMS:
    found = faults(room)
    count += len(found)
    print(*(f"{name}: {fault}" for name, fault in found), sep="\n")
    print(f"learnt.{room}: {len(found)}", file=sys.stderr)
print(f"{count} faults", file=sys.stderr)
sys.exit(bool(count))
