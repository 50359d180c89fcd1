"""
All that a process has and can read about itself, as one flat dictionary from names to values: what /proc shows of it and
of each of its threads, and what a workload mirror says itself.  Two of them are compared before and after a visit.
"""

import os
import re

import harness

# Files in /proc/PID that are compared as they are; "io", "stat", "status" and "smaps" are taken apart.
PROCESS_FILES = (
    "attr/current attr/exec attr/fscreate attr/keycreate attr/prev attr/sockcreate autogroup auxv cgroup cmdline "
    "coredump_filter cpuset environ gid_map ksm_merging_pages limits loginuid mountinfo oom_adj oom_score oom_score_adj "
    "personality projid_map sessionid setgroups timens_offsets timers uid_map"
).split()
LINKS = "cwd exe root".split()
# ...and of each thread, in /proc/PID/task/TID.
THREAD_FILES = "children comm syscall wchan".split()
# Fields of stat, proc(5), after the name.
STAT = (
    "state ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice "
    "num_threads itrealvalue starttime vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked "
    "sigignore sigcatch wchan nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time "
    "cguest_time start_data end_data start_brk arg_start arg_end env_start env_end exit_code"
).split()
ELSEWHERE = ("state", "vsize", "rss", "wchan")  # what other files say better
SCHED = ("policy", "prio")  # lines of sched; the others are counters
# What is the same for all threads: compared once.
SHARED = re.compile(r"(status (Vm|Rss|FDSize|SigQ|Threads|HugetlbPages)|stat (num_threads|cm(in|aj)flt|c[us]time))")


def text_of(path):
    try:
        with open(path, errors="replace", newline="\n") as file:
            return file.read()
    except OSError as error:
        return error.strerror


def table_of(path):
    """Lines of "name: value"."""
    pairs = (line.partition(":") for line in text_of(path).splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


class Mapping:
    """A line of maps; with flags: also what the kernel notes of it beside its rights."""

    def __init__(self, line):
        fields = line.split(None, 5)
        self.start, self.end = (int(part, 16) for part in fields[0].split("-"))
        self.rights, self.flags = fields[1], ""
        self.name = fields[5].strip() if len(fields) > 5 else ""

    def key(self):
        return self.start, self.end, self.rights, self.name

    def holds(self, other):
        """Is the other one part of it, with the same rights, flags and name?"""
        same = (self.rights, self.flags, self.name) == (other.rights, other.flags, other.name)
        return same and self.start <= other.start and other.end <= self.end

    def __str__(self):
        return " ".join(filter(None, (f"{self.start:x}-{self.end:x}", self.rights, self.name, self.flags)))


def maps_of(pid):
    return [Mapping(line) for line in text_of(f"/proc/{pid}/maps").splitlines()]


def maps_with_flags(pid):
    found = []
    for line in text_of(f"/proc/{pid}/smaps").splitlines():
        if line.startswith("VmFlags:"):
            found[-1].flags = " ".join(sorted(line.split()[1:]))
        elif "-" in line.split(" ", 1)[0]:
            found.append(Mapping(line))
    return found


def maps_added(before, after):
    known = {mapping.key() for mapping in before}
    return [mapping for mapping in after if mapping.key() not in known]


def threads_state(pid):
    state = {}
    for tid in harness.threads_of(pid):
        name, base = "task main" if tid == pid else f"task {tid}", f"/proc/{pid}/task/{tid}"
        state[name] = tid
        state.update({f"{name} {file}": text_of(f"{base}/{file}") for file in THREAD_FILES})
        state.update({f"{name} status {key}": value for key, value in table_of(f"{base}/status").items()})
        fields = text_of(f"{base}/stat").rpartition(") ")[2].split()
        state.update({f"{name} stat {key}": value for key, value in zip(STAT, fields) if key not in ELSEWHERE})
        sched = table_of(f"{base}/sched")
        state.update({f"{name} sched {key}": sched.get(key) for key in SCHED})
        state[f"{name} slack"] = text_of(f"/proc/{tid}/timerslack_ns")
        # Its number; the rest differs as the program works.
        state[f"{name} syscall"] = " ".join(state[f"{name} syscall"].split()[:1])
    shared = [key for key in state if not key.startswith("task main ") and SHARED.search(key)]
    return {key: value for key, value in state.items() if key not in shared}


def descriptors_of(pid):
    folder = f"/proc/{pid}/fd"
    found = {}
    for number in os.listdir(folder):
        found[f"fd {number}"] = os.readlink(f"{folder}/{number}")
        found[f"fd {number} info"] = text_of(f"/proc/{pid}/fdinfo/{number}")
    return found


def state_of(pid):
    """What /proc shows."""
    state = {name: text_of(f"/proc/{pid}/{name}") for name in PROCESS_FILES}
    state.update({name: os.readlink(f"/proc/{pid}/{name}") for name in LINKS})
    state.update({f"ns {name}": os.readlink(f"/proc/{pid}/ns/{name}") for name in os.listdir(f"/proc/{pid}/ns")})
    state.update({f"io {name}": value for name, value in table_of(f"/proc/{pid}/io").items()})
    return {**state, **descriptors_of(pid), **threads_state(pid)}


def said_by(lines):
    """What a mirror says: "thread 0 mask=1 ..." is "thread 0 mask" and "1"."""
    state = {}
    for line in lines:
        words = line.split()
        if words[0] == "env":
            name, _, value = line[4:].partition("=")
            state[f"env {name}"] = value
        elif "=" not in words[-1]:
            state[" ".join(words[:-1])] = words[-1]
        else:
            head = [word for word in words if "=" not in word]
            state.update({" ".join([*head, name]): value
                          for name, _, value in (word.partition("=") for word in words if "=" in word)})
    return state


def is_at_rest(pid):
    return all(harness.progress.state_of(pid, tid) == "S" for tid in harness.threads_of(pid))


class Snapshot:
    """A target, or a process of its family that says nothing, when it waits."""

    def __init__(self, pid, lines=()):
        harness.wait_until(lambda: is_at_rest(pid))
        self.threads = harness.thread_count(pid)
        self.values, self.maps = {**state_of(pid), **said_by(lines)}, maps_with_flags(pid)


# Exceptions: which names, what may become of the value, and why.  docs/support.md, "What stays afterwards", says the same.

MIB = 1024  # in KiB


def anything(before, after):
    del before, after
    return True


def comes(before, after):
    del after
    return before is None


def number_of(value):
    return int(value.split()[0])


def size_of(mapping):
    start, end = (int(part, 16) for part in mapping.split()[0].split("-"))
    return (end - start) // 1024


def grows(most):
    """By so much, never down."""
    return lambda before, after: None not in (before, after) and 0 <= number_of(after) - number_of(before) <= most


def shrinks(most):
    return lambda before, after: grows(most)(after, before)


def below(most):
    """Up by so much, or down."""
    return lambda before, after: None not in (before, after) and number_of(after) - number_of(before) <= most


# After whatever limpet does, since the kernel counts it or the program has run meanwhile.
USED = [
    (r"io .*|task \w+ stat (c?m(in|aj)flt|c?[us]time|c?guest_time|processor|delayacct.*)|.* (non)?voluntary_ctxt_switches",
     anything, "what was used while limpet was there"),
    (r"task main status (VmHWM|VmPeak)", anything, "the most there ever was"),
    (r"task main status (VmRSS|RssAnon|RssFile|VmPTE)", below(2 * MIB), "pages that were touched"),
    (r"oom_score", below(10), "counts such pages"),
    (r"task main status SigQ", anything, "counted for all processes of the user together"),
    (r"task main status FDSize", grows(512), "the room that the kernel keeps for descriptors, which only grows"),
    (r"speed .*", lambda before, after: number_of(after) <= 4 * number_of(before),
     "as fast as before; with locks stdio takes seven times as long"),
]


def unloaded(libraries=2):
    """After --unload: the loader's counts, by which programs notice that libraries have come and gone; the heap."""
    return [
        *USED,
        (r"loader (adds|subs)", grows(libraries), "the loader counts libraries that come and go"),
        (r"task main status (VmSize|VmData)", grows(256), "the program's heap: libc's share of threads and libraries"),
    ]


def stay(modules, size, mappings):
    """What is loaded, and the memory that it has."""
    return [
        *USED,
        (r"loader (adds|left|modules)", grows(modules), "the agent and the tracer stay"),
        (rf"module ({mappings}).*", comes, "the agent and the tracer stay"),
        (rf"map ({mappings}|anonymous).*", comes, "the agent and the tracer, their data and the region"),
        (r"task main status (VmSize|VmData|VmLib|RssShmem)", grows(size), "these mappings"),
        (r"task main status (VmRSS|RssAnon)", below(4 * MIB), "what is in memory of them"),
    ]


FORKS = (r"handlers fork", grows(1), "forks of the program call limpet's handler, which counts them")
LOADED = r"/proc/.*/fd/|/memfd:limpet-agent"
AGENT = [*stay(1, 4 * MIB, LOADED), FORKS]
AT_EXIT = (r"handlers exit", grows(1), "exit() calls the finalize function of tools, of the tracer, too")
TOOL = [*stay(2, 5 * MIB, rf"{LOADED}|.*/(tool_probe|life_a).so"), FORKS, AT_EXIT]
ENVIRONMENT = [(r"map anonymous", lambda before, after: before is None and size_of(after) <= 64,
                "variables for tools: a pointer from getenv may live for ever")]
OF_TRACER = [
    (r"child tls", grows(1), "the tracer has thread-local data"),
    (r"child blocks", shrinks(1), "the tracer has 16 bytes of the room for static TLS"),
    FORKS, AT_EXIT,
]
TRACER = [*stay(2, 16 * MIB, rf"{LOADED}|/memfd:liblimpet-tracer"), *OF_TRACER]
# CUPTI as it is in the stand-in, which has a thread with 8 MiB of stack.
DEVICES = [
    *stay(3, 224 * MIB, rf"{LOADED}|/memfd:liblimpet-tracer|.*/libcupti"), *OF_TRACER,
    (r"child tls", grows(2), "...and CUPTI"),
    (r"handlers exit", grows(2), "...and for AMD's runtimes"),
    (r"task \d+.*", comes, "CUPTI's thread"), (r"task main (status Threads|stat num_threads)", grows(1), "CUPTI's thread"),
]
MUSL = [*AGENT, (r"loader (adds|left)", anything, "musl counts every dlopen, also those of the mirror itself")]
WORKING = (r"task \w+ (syscall|wchan|status State)", anything, "the program goes on with its work")
SINGLE = [(r"signal 33 .*|task \w+ (status SigCgt|stat sigcatch)", anything, "glibc's handler of its own signal 33")]


def is_heap_of(before, after):
    return before.name == "[heap]" == after.name and before.start == after.start and before.end <= after.end


def map_changes(before, after):
    lost = [old for old in before if not any(new.holds(old) or is_heap_of(old, new) for new in after)]
    known = {(old.start, old.name) for old in before}
    come = [new for new in after if (new.start, new.name) not in known and not any(new.holds(old) for old in before)]
    return [*((f"map {old.name or 'anonymous'}", str(old), None) for old in lost),
            *((f"map {new.name or 'anonymous'}", None, str(new)) for new in come)]


def differences(before, after, exceptions):
    """Lines that say what is not as it was, and is no exception."""
    names = sorted({*before.values, *after.values})
    changes = [(name, before.values.get(name), after.values.get(name)) for name in names]
    changes = [change for change in changes if change[1] != change[2]] + map_changes(before.maps, after.maps)
    return [f"{name}: {old} -> {new}" for name, old, new in changes
            if not any(re.fullmatch(pattern, name) and allows(old, new) for pattern, allows, _ in exceptions)]
