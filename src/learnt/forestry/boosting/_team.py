"""A team of threads inside one compiled call: the leader posts steps, the others help.

Growing a tree is hundreds of parallel steps of microseconds, too short to hand to a pool one by one. The leader
`post`s a step, does its own share and `gather`s; helpers spin on one word. A helper that arrives late takes part from
the next step on, and one that never arrives is not needed: no step waits for a thread that does not run. One that has
waited for long gives its processor away, for milliseconds where others want it; it says so before (`AWAKE`, a bit a
helper), and steps are done without it until it is back. On a busy machine (Neoverse-N1, Linux 6.18, eight processes on
two cores) trees of two threads took eight times as long as those of one before it said so.

The word is step · 1024 + members: a helper that is not a member of a step ignores it, so that the leader may continue.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_add, atomic_load, atomic_store, yield_processor

WORD, DONE, JOINED, ARGUMENTS = 0, 8, 16, 24  # places in the team's array, a cache line apart
AWAKE = 17  # in the line of JOINED: both are read together
STOP = 0
_SPINS = 2000
_PATIENCE = 4000  # of a helper, before it is away: some microseconds, as long as most of what is between two steps
_BITS = 62  # helpers that can say that they are away


@kernel(allocates=False)
def members(team):
    """How many work together now, the leader included: those before the first that is away."""
    joined, awake = atomic_load(team, JOINED), atomic_load(team, AWAKE)
    count = 1
    while count <= joined and (count > _BITS or (awake >> count) & 1):
        count += 1
    return count


@kernel(allocates=False)
def post(team, n_members):
    """The leader: the arguments are written, begin."""
    atomic_store(team, DONE, 0)
    step = (atomic_load(team, WORD) >> 10) + 1
    atomic_store(team, WORD, (step << 10) + n_members)


@kernel(allocates=False)
def gather(team, n_members):
    """The leader: wait until every member has done its share."""
    spins = 0
    while atomic_load(team, DONE) < n_members - 1:
        spins += 1
        if spins > _SPINS:
            yield_processor()


@kernel(allocates=False)
def join(team):
    """A helper: become a member; returns its place."""
    me = atomic_add(team, JOINED, 1) + 1
    if me <= _BITS:
        atomic_add(team, AWAKE, 1 << me)
    return me


@kernel(allocates=False)
def next_step(team, last, me):
    """A helper: wait for a step that it is a member of; returns the word."""
    spins = 0
    while True:
        word = atomic_load(team, WORD)
        if word != last and (word & 1023) > me:
            return word
        last = word
        spins += 1
        if spins > _PATIENCE:
            bit = 1 << me if me <= _BITS else 0
            atomic_add(team, AWAKE, -bit)
            yield_processor()
            atomic_add(team, AWAKE, bit)
            spins = 0
