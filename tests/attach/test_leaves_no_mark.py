#!/usr/bin/env python3
"""
After detach nothing may be left but what is listed here by name.  Compares maps, descriptors, threads,
signal masks and stacks, dispositions, environment, directory, scheduling, timers, limits, libc's heap arenas
and its way of working without locks before and after, as /proc shows them and as the program itself says
(workload mirror).
"""

import os
import resource
import signal
import tempfile
import unittest

import harness
from harness import Mirror, Workload, limpet

PROBE = harness.program("tool_probe.so")

# Per-thread lines of /proc/PID/task/TID/status that must stay.  Not FDSize: it is the room that the kernel
# keeps for descriptors, which only grows; the descriptors themselves are compared.
STATUS_KEYS = (
    "Name Umask Tgid Ngid PPid TracerPid Uid Gid Groups NStgid NSpid NoNewPrivs Seccomp "
    "Seccomp_filters SigPnd ShdPnd SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapBnd CapAmb "
    "Cpus_allowed_list Mems_allowed_list THP_enabled CoreDumping VmLck VmPin HugetlbPages"
).split()
PROCESS_FILES = (
    "oom_score_adj timerslack_ns personality coredump_filter limits cmdline comm timers loginuid "
    "attr/current uid_map cgroup"
).split()

# glibc's first pthread_create installs the handler of its own signal 33 for the life of the process.
LIBC_SIGNAL = 33

MEBIBYTE = 1024 * 1024
HEAP_BYTES = MEBIBYTE  # by which the program's heap may grow: libc's share of threads and libraries

REGION_BYTES = 2 * 1024 * 1024  # bootstrap code, start block and the stacks of limpet's threads


def file_read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError as error:
        return error.strerror


class Mapping:
    def __init__(self, line):
        fields = line.split(None, 5)
        self.start, self.end = (int(part, 16) for part in fields[0].split("-"))
        self.rights = fields[1]
        self.name = fields[5].strip() if len(fields) > 5 else ""

    def key(self):
        return self.start, self.end, self.rights, self.name

    def __str__(self):
        return f"{self.start:x}-{self.end:x} {self.rights} {self.name}"


def maps_of(pid):
    return [Mapping(line) for line in file_read(f"/proc/{pid}/maps").splitlines()]


def maps_added(before, after):
    known = {mapping.key() for mapping in before}
    return [mapping for mapping in after if mapping.key() not in known]


def is_heap(mapping):
    return mapping.name == "[heap]"


def address_space(pid):
    return int(harness.status_of(pid)["VmSize"].split()[0]) * 1024


def is_agent(mapping):
    return mapping.name.startswith("/memfd:limpet-agent")


def is_region(mapping, added):
    """limpet's own anonymous region: one run of mappings, of a known size, with code in it."""
    run = [mapping]
    for other in sorted(added, key=lambda m: m.start):
        if not other.name and other.start == run[-1].end:
            run.append(other)
    for other in sorted(added, key=lambda m: -m.start):
        if not other.name and other.end == run[0].start:
            run.insert(0, other)
    has_code = any(m.rights == "r-xp" for m in run)
    return not mapping.name and has_code and run[-1].end - run[0].start <= REGION_BYTES


def is_environment(mapping):
    """The block with our variables is never freed: a pointer from getenv may live for ever."""
    return not mapping.name and mapping.rights == "rw-p" and mapping.end - mapping.start <= 65536


def libc_lines(said):
    return [line for line in said if line.split()[0] in ("single", "arenas", "file")]


def descriptors_of(pid):
    folder = f"/proc/{pid}/fd"
    return {name: os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}


def threads_state(pid):
    state = {}
    for tid in harness.threads_of(pid):
        status = harness.status_of(pid, tid)
        fields = file_read(f"/proc/{pid}/task/{tid}/stat").rsplit(")", 1)[1].split()
        # priority, nice, realtime priority, policy: fields 18, 19, 40, 41 of proc(5)
        scheduling = [fields[number - 3] for number in (18, 19, 40, 41)]
        state[tid] = ([status.get(key) for key in STATUS_KEYS], scheduling)
    return state


def process_state(pid):
    state = {name: file_read(f"/proc/{pid}/{name}") for name in PROCESS_FILES}
    for link in ("cwd", "root", "exe"):
        state[link] = os.readlink(f"/proc/{pid}/{link}")
    state["environ"] = file_read(f"/proc/{pid}/environ")
    return state


class LeavesNoMark(unittest.TestCase):
    maxDiff = None

    def attach(self, pid, *arguments):
        result = limpet("attach", pid, "--json", "--duration", "0", *arguments)
        self.assertEqual(result.code, 0, str(result))
        return result

    def snapshot(self, target):
        return {
            "said": target.look(),
            "descriptors": descriptors_of(target.pid),
            "threads": threads_state(target.pid),
            "process": process_state(target.pid),
        }

    def compare(self, before, after):
        for part in before:
            with self.subTest(part=part):
                self.assertEqual(before[part], after[part])

    def settle(self, target, threads):
        """The control thread is gone a moment after limpet has ended."""
        harness.wait_until(lambda: harness.thread_count(target.pid) == threads)

    def run_mirror(self, name, *arguments, times=1, forgive=lambda state: state):
        with Mirror(name) as target:
            before = self.snapshot(target)
            maps_before = maps_of(target.pid)
            threads = harness.thread_count(target.pid)
            for _ in range(times):
                self.attach(target.pid, *arguments)
            self.settle(target, threads)
            after = self.snapshot(target)
            self.compare(forgive(before), forgive(after))
            self.assertEqual(target.stats.word("errors"), 0, target.stats.detail())
            return maps_before, maps_of(target.pid)

    def assert_only_heap(self, before, after, forgive=lambda mapping: False):
        added = [m for m in maps_added(before, after) if not is_heap(m)]
        self.assertEqual([str(m) for m in added if not forgive(m)], [])

    def assert_rests_inert(self, before, after, forgive=lambda mapping: False):
        added = [m for m in maps_added(before, after) if not is_heap(m)]
        ours = [m for m in added if is_agent(m) or m.name == PROBE or forgive(m)]
        # Zero-filled data of a library has no name; it lies right behind the library's file.
        ours += [m for m in added if not m.name and any(m.start == other.end for other in ours)]
        others = [m for m in added if m not in ours]
        self.assertEqual([str(m) for m in others if not is_region(m, others)], [])

    def test_default_leaves_the_inert_agent_only(self):
        self.assert_rests_inert(*self.run_mirror("mirror"))

    def test_unload_leaves_nothing(self):
        self.assert_only_heap(*self.run_mirror("mirror", "--unload"))

    def test_tool_and_environment_default(self):
        arguments = ("--load", PROBE, "--env", "LIMPET_TEST_VALUE=seen")
        self.assert_rests_inert(*self.run_mirror("mirror", *arguments), is_environment)

    def test_tool_and_environment_unload(self):
        arguments = ("--load", PROBE, "--env", "LIMPET_TEST_VALUE=seen", "--unload")
        self.assert_only_heap(*self.run_mirror("mirror", *arguments), is_environment)

    def test_many_times_leave_no_more_than_once(self):
        before, once = self.run_mirror("mirror")
        before_many, many = self.run_mirror("mirror", times=20)
        self.assertLessEqual(len(maps_added(before_many, many)), len(maps_added(before, once)) + 1)

    def test_many_unloads_leave_nothing(self):
        self.assert_only_heap(*self.run_mirror("mirror", "--unload", "--load", PROBE, times=20))

    def forgive_signal(self, state):
        bit = 1 << (LIBC_SIGNAL - 1)
        caught = STATUS_KEYS.index("SigCgt")
        state["said"] = [l for l in state["said"] if not l.startswith(f"signal {LIBC_SIGNAL} ")]
        for keys, _ in state["threads"].values():
            keys[caught] = int(keys[caught], 16) & ~bit
        return state

    def test_single_threaded_target(self):
        before, after = self.run_mirror("mirror_single", "--unload", forgive=self.forgive_signal)
        self.assert_only_heap(before, after)

    def test_single_threaded_target_default(self):
        before, after = self.run_mirror("mirror_single", times=2, forgive=self.forgive_signal)
        self.assert_rests_inert(before, after)

    def test_libc_works_without_locks_again(self):
        with Mirror("mirror_single") as target:
            before = libc_lines(target.look())
            self.assertIn("single 1", before)
            self.assertIn("file new locks=0", before)
            process = harness.limpet_attached("attach", target.pid, "--json", "--unload")
            self.assertIn("single 0", target.look())
            process.send_signal(signal.SIGINT)
            self.assertEqual(harness.limpet_finish(process).code, 0)
            self.settle(target, 1)
            self.assertEqual(libc_lines(target.look()), before)

    def record(self, target, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            result = limpet("record", "-p", target.pid, "-o", f"{folder}/it.limpet", "--duration", "50ms", *arguments)
        self.assertIn(result.code, (0, 5), str(result))  # 5: nothing was allocated

    def test_traces_leave_no_mark_on_libc(self):
        for arguments in (["--alloc-trace", "--unload"], ["--alloc-sample", "512K"]):
            with self.subTest(arguments), Mirror("mirror_single") as target:
                before = self.forgive_signal(self.snapshot(target))
                self.record(target, *arguments)
                self.settle(target, 1)
                self.compare(before, self.forgive_signal(self.snapshot(target)))

    def test_address_space_is_given_back(self):
        with Mirror("mirror") as target:
            target.look()  # when all its threads have begun
            threads = harness.thread_count(target.pid)
            before = address_space(target.pid)
            limit = before + 300 * MEBIBYTE
            resource.prlimit(target.pid, resource.RLIMIT_AS, (limit, limit))
            self.assertIn("large 1", target.look(b"m"))
            self.attach(target.pid, "--unload", "--load", PROBE)
            self.settle(target, threads)
            self.assertLess(address_space(target.pid) - before, HEAP_BYTES)
            self.assertIn("large 1", target.look(b"m"))

    def test_target_that_is_refused_is_untouched(self):
        with Workload("filtered", "mmap_kill") as target:
            before = [str(m) for m in maps_of(target.pid)], threads_state(target.pid)
            result = limpet("attach", target.pid, "--json", "--duration", "0")
            self.assertEqual(result.code, 6, str(result))
            after = [str(m) for m in maps_of(target.pid)], threads_state(target.pid)
            self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
