"""Counts calls of functions in a live process by the kernel's uprobes, independently of limpet.

One counter for each function and thread, through perf_event_open. A counter says between which
moments it surely counted and between which it may have, so that a trace with times can be held
against it call by call.
"""

import collections
import ctypes
import fcntl
import os
import platform
import struct
import subprocess
import time

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
ATTRIBUTE_BYTES = 128
TYPE_FILE = "/sys/bus/event_source/devices/uprobe/type"
DISABLED = 1
ENABLE, DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_*
CLOSE_ON_EXEC = 8

libc = ctypes.CDLL(None, use_errno=True)

Counted = collections.namedtuple("Counted", "calls surely_from_ns maybe_from_ns surely_to_ns maybe_to_ns")


class Unavailable(Exception):
    """This kernel has no uprobes, or keeps them from us."""


def now_ns():
    """The clock of a recording."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def symbol_offsets(path):
    """The functions that a library exports: name to offset in the file, all versions of a name."""
    listing = subprocess.run(["readelf", "-lWs", "--dyn-syms", path], capture_output=True, text=True).stdout
    segments, offsets = [], collections.defaultdict(set)
    for line in listing.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            offset, address, _, size = (int(word, 16) for word in words[1:5])
            segments.append((address, address + size, offset))
        elif len(words) >= 8 and words[3] == "FUNC" and words[6].isdigit():
            address = int(words[1], 16)
            for begin, end, offset in segments:
                if begin <= address < end:
                    offsets[words[7].split("@")[0]].add(address - begin + offset)
    return offsets


def event_type():
    try:
        with open(TYPE_FILE) as file:
            return int(file.read())
    except OSError as reason:
        raise Unavailable(f"no uprobes: {reason}") from None


def open_counter(path, offset, tid):
    name = ctypes.create_string_buffer(os.fsencode(path))
    kind = event_type()
    what = (ctypes.addressof(name), offset)
    head = struct.pack("<IIQQQQQIIQQ", kind, ATTRIBUTE_BYTES, 0, 0, 0, 0, DISABLED, 0, 0, *what)
    attribute = ctypes.create_string_buffer(head, ATTRIBUTE_BYTES)
    number = PERF_EVENT_OPEN[platform.machine()]
    fd = libc.syscall(number, attribute, tid, -1, -1, ctypes.c_ulong(CLOSE_ON_EXEC))
    if fd < 0:
        raise Unavailable(f"uprobe at {path}+{offset:#x}: {os.strerror(ctypes.get_errno())}")
    return fd


def require():
    """Raises Unavailable where no counter can be had: tried on ourselves."""
    os.close(open_counter("/proc/self/exe", 0x1000, os.getpid()))


class Counters:
    """Counters for offsets, {name: {(path, offset)}}, in these threads. A context: closed at its end."""

    def __init__(self, offsets, tids):
        self.fds = collections.defaultdict(list)
        try:
            for name, spots in offsets.items():
                self.fds[name] = [open_counter(*spot, tid) for spot in spots for tid in tids]
        except BaseException:
            self.close()
            raise

    def switch(self, request):
        """When each name's counters were switched: not before, not after."""
        moments = {}
        for name, fds in self.fds.items():
            before = now_ns()
            for fd in fds:
                fcntl.ioctl(fd, request, 0)
            moments[name] = before, now_ns()
        return moments

    def start(self):
        self.begins = self.switch(ENABLE)

    def stop(self):
        """What was counted, by name."""
        ends = self.switch(DISABLE)
        return {
            name: Counted(
                sum(struct.unpack("<Q", os.read(fd, 8))[0] for fd in fds),
                self.begins[name][1], self.begins[name][0], ends[name][0], ends[name][1],
            )
            for name, fds in self.fds.items()
        }  # fmt: skip

    def close(self):
        for fds in self.fds.values():
            for fd in fds:
                os.close(fd)
        self.fds.clear()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
