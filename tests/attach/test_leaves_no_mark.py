#!/usr/bin/env python3
"""
After detach nothing may be left but what resources.py names as an exception: everything that a process has, as /proc
and the program itself (workload mirror) see it, is compared before and after each kind of visit.  The program works
and forks while limpet is there.
"""

import pathlib
import resource
import signal
import tempfile
import time
import unittest

import harness
import resources
from harness import Mirror, TargetTest, Workload, limpet, limpet_finish, limpet_start
from resources import AGENT, DEVICES, ENVIRONMENT, MUSL, SINGLE, TOOL, TRACER, USED, WORKING, unloaded

PROBE = harness.program("tool_probe.so")
BUILT = pathlib.Path(harness.PROGRAMS).parent.resolve()
MIRROR_DEVICES = str(BUILT / "devices/mirror_devices")
# A register library that tells no tables, so that limpet looks for them; a driver of OpenCL.
PREPARED = {"before": ("env", f"LD_LIBRARY_PATH={BUILT}/standin/amd_register/old"),
            "preload": BUILT / "opencl/libstandin_cl.so"}
TRACES = "--alloc-trace --io-trace --lock-trace".split()
LIBRARY = ["--load", PROBE, "--env", "LIMPET_TEST_VALUE=seen"]
SDK_TOOL = ["--tool", harness.program("life_a.so")]
UNLOAD = "--unload"
RECORDED, REFUSED, CANNOT = (0, 5), (1,), 6  # limpet's status; 5: nothing was called in so short a time
PAUSE_S = 0.01
MEBIBYTE = 1024 * 1024
MANY = 20


def address_space(pid):
    return int(harness.status_of(pid)["VmSize"].split()[0]) * 1024


class LeavesNoMark(TargetTest):
    def mirror(self, *arguments, **options):
        try:
            target = Mirror(*arguments, **options)
        except harness.Unavailable as reason:
            self.skipTest(str(reason))
        self.addCleanup(target.close)
        target.look()  # when all its threads have begun
        return target

    def visit(self, target, *words, codes=(0,), request=b"w"):
        """One run of limpet, during which the program works."""
        process = limpet_start(*words)
        while process.poll() is None:
            target.look(request)
            time.sleep(PAUSE_S)
        result = limpet_finish(process)
        self.assertIn(result.code, codes, str(result))

    def attach(self, target, *words, **options):
        self.visit(target, "attach", target.pid, "--duration", "0", *words, **options)

    def record(self, target, *words, codes=RECORDED, **options):
        with tempfile.TemporaryDirectory() as folder:
            self.visit(target, "record", "-p", target.pid, "-o", f"{folder}/it", "--duration", "50ms", *words, codes=codes,
                       **options)

    def compare(self, before, pid, lines, exceptions):
        """limpet's threads are gone a moment after limpet has ended; CUPTI's stays."""
        most = before.threads + (exceptions is DEVICES)
        harness.wait_until(lambda: harness.thread_count(pid) <= most)
        self.assertEqual(resources.differences(before, resources.Snapshot(pid, lines), exceptions), [])

    def check(self, target, visit, exceptions, request=b"w"):
        target.look(request)
        before = resources.Snapshot(target.pid, target.look())
        visit()
        target.look(request)
        self.compare(before, target.pid, target.look(), exceptions)
        self.assertEqual(target.stats.word("errors"), 0, target.stats.detail())

    def check_each(self, visit, rows, *mirror, request=b"w", **options):
        """A new target for each row of arguments and exceptions."""
        for arguments, exceptions in rows:
            with self.subTest(arguments):
                target = self.mirror(*mirror, **options)
                self.check(target, lambda: visit(target, *arguments, request=request), exceptions, request)

    def test_attach(self):
        self.check_each(self.attach, [
            ([], AGENT), ([UNLOAD], unloaded()),
            (LIBRARY, [*TOOL, *ENVIRONMENT]), ([*LIBRARY, UNLOAD], [*unloaded(), *ENVIRONMENT]),
            (SDK_TOOL, [*TOOL, *ENVIRONMENT]), ([*SDK_TOOL, UNLOAD], [*unloaded(), *ENVIRONMENT]),
        ], "mirror")

    def test_record(self):
        self.check_each(self.record, [(TRACES, TRACER), ([*TRACES, UNLOAD], unloaded())], "mirror")

    def test_single_threaded_target(self):
        rows = [([], AGENT), ([UNLOAD], unloaded())], [(["--alloc-sample", "512K"], TRACER), ([*TRACES, UNLOAD], unloaded())]
        for visit, arguments in zip((self.attach, self.record), rows):
            self.check_each(visit, [(words, [*those, *SINGLE]) for words, those in arguments], "mirror_single", request=b"t")

    def test_who_only_looks(self):
        target = self.mirror("mirror_single")

        def look():
            self.record(target, "-F", "999", "--off-cpu")
            self.visit(target, "dump", target.pid)
            self.visit(target, "top", target.pid, "--off-cpu", "--batch", "-d", "0.1")
            self.visit(target, "stat", target.pid, "-d", "0.1")

        self.check(target, look, USED)

    def test_children(self):
        for visit, arguments, exceptions in ((self.attach, [], AGENT), (self.record, TRACES, TRACER)):
            with self.subTest(arguments):
                target = self.mirror("mirror")
                child = int(resources.said_by(target.look(b"f"))["family"])
                before = resources.Snapshot(child)
                self.check(target, lambda: visit(target, "--children", *arguments), exceptions)
                self.compare(before, child, (), exceptions)

    def test_devices(self):
        rows = [(["--sys-trace"], DEVICES), (["--sys-trace", UNLOAD], DEVICES)]
        self.check_each(self.record, rows, "mirror", MIRROR_DEVICES, request=b"d", **PREPARED)

    def test_musl(self):
        self.check_each(self.attach, [([], MUSL), ([UNLOAD], MUSL)], "mirror", "mirror_musl")

        def refused(target, *words, **options):
            self.record(target, *words, codes=REFUSED, **options)

        self.check_each(refused, [(TRACES, MUSL)], "mirror", "mirror_musl")

    def attach_often(self, target, *words):
        """While the program waits: one that forks is left more slowly."""
        for _ in range(MANY):
            result = limpet("attach", target.pid, "--duration", "0", *words)
            self.assertEqual(result.code, 0, str(result))

    def test_many_times_leave_no_more_than_once(self):
        target = self.mirror("mirror")
        self.record(target, *TRACES)
        self.check(target, lambda: self.record(target, *TRACES), USED)
        self.check(target, lambda: self.attach_often(target), USED)

    def test_many_unloads_leave_nothing(self):
        target = self.mirror("mirror_single")
        self.check(target, lambda: self.attach_often(target, UNLOAD, "--load", PROBE), [*unloaded(2 * MANY), *SINGLE])

    def test_libc_works_without_locks_again(self):
        target = self.mirror("mirror_single")
        before = target.look()
        self.assertIn("single 1", before)
        self.assertIn("file new locks=0", before)
        process = harness.limpet_attached("attach", target.pid, "--json", UNLOAD)
        self.assertIn("single 0", target.look())
        process.send_signal(signal.SIGINT)
        self.assertEqual(limpet_finish(process).code, 0)
        harness.wait_until(lambda: harness.thread_count(target.pid) == 1)
        self.assertIn("single 1", target.look())

    def test_address_space_is_given_back(self):
        target = self.mirror("mirror")
        before = address_space(target.pid)
        limit = before + 300 * MEBIBYTE
        resource.prlimit(target.pid, resource.RLIMIT_AS, (limit, limit))
        self.assertIn("large 1", target.look(b"m"))
        self.check(target, lambda: self.attach(target, UNLOAD, "--load", PROBE), unloaded())
        self.assertLess(address_space(target.pid) - before, MEBIBYTE)
        self.assertIn("large 1", target.look(b"m"))

    def test_target_that_is_refused_is_untouched(self):
        with Workload("filtered", "mmap_kill") as target:
            before = resources.Snapshot(target.pid)
            result = limpet("attach", target.pid, "--json", "--duration", "0")
            self.assertEqual(result.code, CANNOT, str(result))
            self.compare(before, target.pid, (), [*USED, WORKING])


if __name__ == "__main__":
    unittest.main()
