"""Holds the calls of a recording against what uprobes counted of the same functions, call by call."""

import collections
import csv
import os

import footprint
import uprobes
from driving import harness

# Names in a recording, and the functions in which such calls end up. Functions of libc that others of
# libc call directly are here too: these servers do not use them that way (no stdio in their work).
ALLOC = "malloc calloc realloc free posix_memalign aligned_alloc memalign mmap munmap".split()
IO = (
    "read write pread pwrite readv writev preadv pwritev send recv sendto recvfrom sendmsg recvmsg sendfile "
    "open openat close fsync fdatasync accept accept4 connect fopen fclose fread fwrite fgets fputs fflush"
).split()
# libc takes locks of its own by direct calls, which nobody can see in a table of imports: strerror()
# looks for a translation under three of them.
CALLED_BY_LIBC = ("pthread_rwlock_rdlock", "pthread_rwlock_wrlock")
# A lock that nobody holds is taken by trying for it: only waits come to these.
CONTENDED = (
    "pthread_mutex_lock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_cond_wait pthread_cond_timedwait"
).split()
TRY = "pthread_mutex_trylock"

SLACK_NS = 100_000  # between a time stamp and the probe behind it, and of the clocks
TEXTED = ("open", "openat", "accept", "accept4", "connect", "fopen")

Call = collections.namedtuple("Call", "begin_ns tid name descriptor result text")


def find_offsets(pid, names):
    """Where the process has these functions: the allocator's library goes before libc."""
    paths = [path for path in footprint.modules(pid) if "libjemalloc" in path or path.endswith("/libc.so.6")]
    paths.sort(key=lambda path: "libjemalloc" not in path)
    exported = {path: uprobes.symbol_offsets(path) for path in paths}
    offsets = {}
    for name in names:
        owner = next((path for path in paths if exported[path][name]), None)
        if owner:
            offsets[name] = {(owner, offset) for offset in exported[owner][name]}
    return offsets


def without_own_calls(counted, offsets):
    """glibc's posix_memalign calls its own malloc directly: the caller asked for one block, not for two."""
    inner, outer = offsets.get("malloc"), offsets.get("posix_memalign")
    if not inner or not outer or any("jemalloc" in path for path, _ in inner):
        return counted
    calls = counted["malloc"].calls - counted["posix_memalign"].calls
    return {**counted, "malloc": counted["malloc"]._replace(calls=calls)}


def read_calls(path):
    """All calls of a recording, through `limpet export -f csv`."""
    table = f"{path}.csv"
    done = harness.limpet("export", path, "-f", "csv", "-o", table, deadline_s=120)
    if done.code:
        raise AssertionError(f"limpet export: {done}")
    with open(table, newline="") as file:
        calls = [
            Call(int(row["begin_ns"]), int(row["tid"]), row["function"], row["descriptor"], row["result"], row["text"])
            for row in csv.DictReader(file)
        ]
    os.unlink(table)
    return calls


def between(calls, name, counted):
    """How many calls surely lie in the window of a counter, and how many may."""
    times = [call.begin_ns for call in calls if call.name == name]
    surely = sum(counted.surely_from_ns + SLACK_NS <= time <= counted.surely_to_ns - SLACK_NS for time in times)
    maybe = sum(counted.maybe_from_ns - SLACK_NS <= time <= counted.maybe_to_ns + SLACK_NS for time in times)
    return surely, maybe


class Comparison:
    """
    Recorded against counted, for each function. A call is recorded when it has returned: of those
    that wait, as many as were pending may be missing at the end, of all others none.
    """

    def __init__(self, calls, counted, pending):
        self.recorded = self.counted = self.edge = self.waiting = 0
        self.pending, self.wrong = pending, []
        for name, count in counted.items():
            self.add(name, count, *between(calls, name, count))
        if self.waiting > pending:
            self.wrong.append(f"{self.waiting} waits are missing, {pending} were pending")

    def add(self, name, count, surely, maybe):
        if name in CALLED_BY_LIBC:
            count = count._replace(calls=maybe)
        self.recorded += maybe
        self.counted += count.calls
        self.edge += maybe - surely
        missing = max(count.calls - maybe, 0)
        if name in (TRY, *CONTENDED):
            self.waiting += missing
        elif missing:
            self.wrong.append(f"{name}: recorded {surely} to {maybe}, counted {count.calls}")
        if count.calls < surely:
            self.wrong.append(f"{name}: recorded {surely}, counted only {count.calls}")


def has_text(call):
    """A path always; a peer when somebody has come."""
    return call.name in TEXTED and (not call.name.startswith("accept") or int(call.result) >= 0)


def without_text(calls):
    """Calls whose text was dropped: the drop is counted, and the call is there all the same."""
    return sum(has_text(call) and not call.text for call in calls)
