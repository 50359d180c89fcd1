#!/usr/bin/env python3
"""
Programs in control groups: frozen ones, which cannot run what is loaded, and such with little memory left, which the
kernel kills for what is loaded.  Either form of groups, as the machine has them; what is missing is skipped by name.
"""

import contextlib
import os
import signal
import tempfile
import time
import unittest

import harness
from harness import TargetTest, limpet

FREEZERS = {"cgroup2": ("cgroup.freeze", "1", "0"), "cgroup": ("freezer.state", "FROZEN", "THAWED")}
LIMITS = {"cgroup2": ("memory.max", "memory.current"), "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes")}
NOT_ATTACHABLE, BUSY = 6, 7
SOON_S = 2
MIB = 1 << 20


def mount_of(form, controller):
    """Where the groups of this form are mounted that have the controller, or None."""
    with open("/proc/self/mountinfo") as file:
        for line in file:
            fields, _, kind = line.partition(" - ")
            type_, _, options = kind.split(maxsplit=2)
            if type_ == form and (form == "cgroup2" or controller in options.strip().split(",")):
                return fields.split()[4]
    return None


class Group:
    """A new group below the one that the test is in; gone with its end."""

    def __init__(self, test, form, controller):
        point = mount_of(form, controller)
        if not point or os.geteuid():
            raise unittest.SkipTest(f"no {form} with {controller} here" if not point else "needs root")
        with open("/proc/self/cgroup") as file:
            groups = [line.strip().split(":", 2) for line in file]
        own = next(path for _, names, path in groups if (controller in names.split(",") if form == "cgroup" else not names))
        self.home = os.path.normpath(f"{point}/{own}")
        self.path = f"{self.home}/limpet-test-{os.getpid()}-{time.monotonic_ns()}"
        try:
            os.mkdir(self.path)
        except OSError as error:
            raise unittest.SkipTest(f"no {form} group can be made: {error.strerror}")
        test.addCleanup(self.remove)

    def write(self, name, text):
        with open(f"{self.path}/{name}", "w") as file:
            file.write(str(text))

    def text(self, name):
        with open(f"{self.path}/{name}") as file:
            return file.read()

    def settled(self, name):
        """A number, once it no longer grows."""
        seen = -1
        while seen != (now := int(self.text(name))):
            seen = now
            time.sleep(0.2)
        return seen

    def has(self, name):
        return os.path.exists(f"{self.path}/{name}")

    def remove(self):
        """Who is still in it is about to end."""
        with contextlib.suppress(OSError):
            harness.wait_until(lambda: not self.text("cgroup.procs"), SOON_S)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


class Frozen(TargetTest):
    def frozen(self, form, workload="idle"):
        group = Group(self, form, "freezer")
        name, freeze, thaw = FREEZERS[form]
        if not group.has(name):
            self.skipTest(f"{form} cannot freeze here")
        target = self.target("plain", workload)
        group.write("cgroup.procs", target.pid)
        self.addCleanup(group.write, name, thaw)
        return target, lambda: group.write(name, freeze), lambda: group.write(name, thaw)

    def assert_goes_on(self, target, threads):
        self.assertTrue(target.stats.wait_turn(), "stands still")
        self.assertTrue(harness.wait_until(lambda: harness.thread_count(target.pid) <= threads), "threads are left")
        self.assertEqual(harness.status_of(target.pid)["TracerPid"], "0")

    def test_is_refused_by_name_and_goes_on(self):
        for form in FREEZERS:
            with self.subTest(form=form):
                target, freeze, thaw = self.frozen(form)
                threads = harness.thread_count(target.pid)
                freeze()
                for verb in (("attach",), ("record", "--io-trace", "-o", "/dev/null", "-p")):
                    begin = time.monotonic()
                    result = limpet(*verb, target.pid, "--json", "--duration", "100ms")
                    self.assertEqual(result.code, BUSY, str(result))
                    self.assertIn("frozen", result.err)
                    self.assertIn(FREEZERS[form][0], result.err)
                    self.assertLess(time.monotonic() - begin, SOON_S)
                thaw()
                self.assert_goes_on(target, threads)
                self.assertEqual(limpet("attach", target.pid, "--json", "--duration", "0", "--unload").code, 0)
                self.assert_goes_on(target, threads)

    def test_frozen_while_recorded(self):
        """limpet waits, or gives up, in bounded time; nothing of it is left once the program runs again."""
        for form in FREEZERS:
            with self.subTest(form=form), tempfile.TemporaryDirectory() as folder:
                target, freeze, thaw = self.frozen(form)
                threads = harness.thread_count(target.pid)
                process = harness.limpet_start("record", "-p", target.pid, "--alloc-sample", "64K", "--json", "-o",
                                               f"{folder}/it.limpet")
                self.addCleanup(self.end_process, process)
                self.assertIn('"attached"', process.stdout.readline())
                freeze()
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
                thaw()
                result = harness.limpet_finish(process)
                self.assertFalse(result.hung, str(result))
                self.assert_goes_on(target, threads)


class Memory(TargetTest):
    def limited(self, room):
        """A program whose group has so many bytes left."""
        form = "cgroup" if mount_of("cgroup", "memory") else "cgroup2"
        group = Group(self, form, "memory")
        limit, usage = LIMITS[form]
        if not group.has(limit):
            self.skipTest(f"{form} has no memory controller here")
        before = ("sh", "-c", f'echo $$ > {group.path}/cgroup.procs; exec "$@"', "sh")
        target = self.target("plain", "idle", before=before)
        group.write(limit, group.settled(usage) + room)
        return target

    def visit(self, target, *arguments):
        result = limpet(*arguments, target.pid, "--json", "--duration", "300ms")
        self.assertTrue(target.alive(), f"{target.fate()}: {result}")
        self.assertTrue(target.stats.wait_turn())
        return result

    def test_too_little_is_refused_with_the_figure(self):
        """The kernel would kill the program for the pages of limpet's."""
        for arguments in (("attach",), ("record", "--alloc-trace", "-o", "/dev/null", "-p")):
            with self.subTest(arguments=arguments):
                target = self.limited(MIB // 4)
                result = self.visit(target, *arguments)
                self.assertEqual(result.code, NOT_ATTACHABLE, str(result))
                self.assertRegex(result.err, r"[01]\.\d MiB of the \d+\.\d MiB of .*limpet-test.* are left")

    def test_enough_is_enough(self):
        target = self.limited(16 * MIB)
        with tempfile.TemporaryDirectory() as folder:
            result = self.visit(target, "record", "--function", "*:*", "-o", f"{folder}/it.limpet", "-p")
        self.assertEqual(result.code, 0, str(result))


if __name__ == "__main__":
    unittest.main()
