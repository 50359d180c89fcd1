#!/usr/bin/env python3
"""Checks that files are opened where that is known to be safe.

Names that come from a target, a recording or a file of somebody else are opened in src/host/process/foreign_file.c
only.  Every other file of the host that opens something is named below, with whose name it opens.
"""

import pathlib
import re
import sys

CALL = re.compile(r"(?<![\w>.])(?:open|open64|openat|openat64|creat|fopen|freopen|opendir)\s*\(|\(\s*SYS_open")
COMMENT = re.compile(r"/\*.*?\*/", re.S)

KNOWN = {
    "fleet/folder/fleet_folder.c": "a folder that a person gave: whether it is empty",
    "fleet/job/fleet_job.c": "/proc/self/exe, for nodes that have no limpet",
    "attach/exclusion.c": "/proc/locks",
    "attach/facts/flushed_files.c": "/proc/PID/fd",
    "attach/library.c": "a file system of ours that nobody else sees yet; /proc/self",
    "attach/children/spawn.c": "temporary folders of ours",
    "cli/main.c": "/dev/null",
    "collect/facts.c": "/proc/self/cmdline, /proc/PID/fd",
    "core/output/output_file.c": "files that limpet makes, with care",
    "core/output/output_location.c": "folders of a path that a person gave, with care",
    "core/text/text.c": "/proc and /etc/passwd; paths that a person gave",
    "counters/amd/device_lock.c": "/dev/kfd",
    "counters/event_names.c": "/sys/bus/event_source/devices",
    "live/source.c": "a recording of limpet that grows; never followed",
    "recorder/counter_watch.c": "/dev/null",
    "process/foreign_file.c": "names of strangers, with care",
    "process/jvm/jvm.c": "below a folder that foreign_file.c opened; never followed",
    "process/memory.c": "/proc/PID/mem",
    "process/forks/process_numbers.c": "/proc/loadavg",
    "process/procfs.c": "/proc",
    "recording/reader.c": "a path that a person gave",
    "sampling/bpf/kernel_session.c": "/sys/kernel/security/lockdown",
    "sampling/bpf/sched_switch.c": "/proc/kallsyms",
    "sampling/copy/stack_holes.c": "/proc/PID/pagemap",
    "session/tools.c": "a path that a person gave",
    "session/tracer_unload.c": "/proc/PID/pagemap",
    "symbols/elf/debuginfod.c": "/dev/null",
    "symbols/kernel_symbols.c": "/proc/kallsyms",
    "ui/browser.c": "a new page with a name by chance, with the user's rights alone; /dev/null",
    "unwind/tables/cache.c": "the cache of our user; never followed",
}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    host = root / "src/host"
    opening = {
        path.relative_to(host).as_posix()
        for path in host.rglob("*.c")
        if CALL.search(COMMENT.sub("", path.read_text()))
    }
    for name in sorted(opening - KNOWN.keys()):
        print(
            f"src/host/{name}: opens a file.  A name that somebody else chose is opened by foreign_file_open(); for "
            "any other, say whose it is in tools/check-opens.py"
        )
    return 1 if opening - KNOWN.keys() or not opening else 0


if __name__ == "__main__":
    sys.exit(main())
