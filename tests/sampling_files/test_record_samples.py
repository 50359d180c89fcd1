#!/usr/bin/env python3
"""
`limpet record -p PID` samples: what is in the file, what is said, and how it ends.  Waits for what the
target has done, never for a time.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import PROGRAMS, limpet  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="record-samples-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")

    def target(self, *arguments):
        process = subprocess.Popen([os.path.join(PROGRAMS, "spinner"), *arguments])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if not arguments:
            self.assertTrue(harness.wait_until(lambda: cpu_seconds(process.pid) > 0.02, 60))
        return process

    def start(self, pid, *options):
        return harness.limpet_start("record", "-p", pid, "-o", self.path, "--json", *options)

    def record(self, pid, *options, busy=0.2, code=0):
        """Records until the target has had so much processor time."""
        process = self.start(pid, *options)
        self.assertTrue(harness.wait_until(
            lambda: process.poll() is not None or
            (os.path.exists(self.path) and os.path.getsize(self.path) > 1000), 60))
        begin = cpu_seconds(pid)
        self.assertTrue(harness.wait_until(
            lambda: process.poll() is not None or cpu_seconds(pid) - begin > busy, 120))
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process, 60)
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        return result

    def report(self):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return result.events

    def hot(self, view="on-cpu"):
        return {event["name"]: event for event in self.report()
                if event["event"] == "sampled_function" and event["view"] == view}

    def assert_unharmed(self, process):
        self.assertIsNone(process.poll())
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            self.assertIn("TracerPid:\t0\n", file.read())


class Samples(Recording):
    def test_where_a_program_spends_its_time(self):
        target = self.target()
        result = self.record(target.pid, "-F", "499", busy=0.5)
        told = result.event("recorded")
        self.assertGreater(told["samples"], 50)
        self.assertGreater(told["complete_percent"], 99)
        hot = self.hot()
        self.assertGreater(hot["spin_leaf"]["self_percent"], hot["spin_cold"]["self_percent"])
        self.assertGreater(hot["spin_hot"]["total_percent"], 60)
        names = {event["name"] for event in self.report() if event["event"] == "sampled_thread"}
        self.assertIn("spinning", names)
        self.assert_unharmed(target)

    def test_an_address_with_one_name_after_the_other(self):
        """Code that is made while the program runs: each sample has the name of its time."""
        target = subprocess.Popen([os.path.join(PROGRAMS, "compiling")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.addCleanup(lambda: os.path.exists(f"/tmp/perf-{target.pid}.map") and
                        os.unlink(f"/tmp/perf-{target.pid}.map"))
        self.addCleanup(target.stdin.close)
        self.addCleanup(target.stdout.close)
        self.assertEqual(target.stdout.readline(), b"first_function\n")
        process = self.start(target.pid, "-F", "499")
        self.run_for(target, process, 0.2)
        target.stdin.write(b"\n")
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), b"second_function\n")
        self.run_for(target, process, 0.2)
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process, 60)
        self.assertEqual(result.code, 0, str(result))
        self.assertGreater(result.event("recorded")["complete_percent"], 99)
        hot = self.hot()
        self.assertGreater(hot["first_function"]["self_percent"], 20)
        self.assertGreater(hot["second_function"]["self_percent"], 20)

    def run_for(self, target, process, busy):
        """Until there is a recording, and the target had so much processor time."""
        self.assertTrue(harness.wait_until(
            lambda: process.poll() is not None or
            (os.path.exists(self.path) and os.path.getsize(self.path) > 1000), 60))
        begin = cpu_seconds(target.pid)
        self.assertTrue(harness.wait_until(
            lambda: process.poll() is not None or cpu_seconds(target.pid) - begin > busy, 120))

    def test_samples_and_calls_in_one_file(self):
        target = self.target()
        result = self.record(target.pid, "-F", "199", "--force", "--function", "*:nanosleep")
        told = result.event("recorded")
        self.assertGreater(told["samples"], 10)
        self.assertGreater(told["records"], 0)
        self.assertIn("spin_leaf", self.hot())
        self.assertTrue(any(event["event"] == "function" and event["name"] == "nanosleep"
                            for event in self.report()))
        self.assert_unharmed(target)

    def test_nobody_runs(self):
        target = self.target("quiet")
        result = limpet("record", "-p", target.pid, "-o", self.path, "--sampler", "copy", "--duration", "300ms")
        self.assertEqual(result.code, 5, str(result))
        self.assertIn("no thread of the process ran", result.err)
        self.assertIn("--off-cpu", result.err)
        self.assert_unharmed(target)

    def test_nobody_ran_and_it_has_ended(self):
        """What has ended cannot be looked at any more: no hint to do so."""
        result = limpet("record", "-o", self.path, "--", "true")
        if result.code != 5:
            self.skipTest("even true had a sample")
        self.assertNotIn("limpet dump", result.err)
        target = self.target("quiet")
        result = limpet("record", "-p", target.pid, "-o", self.path, "--duration", "300ms")
        self.assertIn(f"limpet dump {target.pid}", result.err)

    def test_who_reads_its_words_leaves(self):
        """record ... 2>&1 | head -1: the file is whole all the same."""
        target = self.target()
        process = subprocess.Popen(
            [harness.LIMPET, "record", "-p", str(target.pid), "-o", self.path, "-F", "499"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn(b"recording", process.stdout.readline())
        process.stdout.close()
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000, 120))
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(60), (0, 1))
        summary = self.report()[-1]
        self.assertTrue(summary["complete"], summary)
        self.assertIn("spin_leaf", self.hot())

    def test_code_without_room_is_told(self):
        """More mappings than the kernel programs take of one process."""
        code = ("import mmap, sys, time\n"
                "file = open(sys.executable, 'rb')\n"
                "kept = [mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)\n"
                "        for _ in range(5000)]\n"
                "print('ready', flush=True)\n"
                "while True:\n    pass\n")
        target = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        result = limpet("record", "-p", target.pid, "-o", self.path, "--sampler", "bpf", "--duration", "500ms", "--json")
        if "may not be loaded" in result.err or "cannot walk stacks" in result.err:
            self.skipTest(result.err)
        count = result.event("recorded")["code_left_out"]
        self.assertGreater(count, 900)
        self.assertLess(count, 1500)
        self.assertIn(f"warning: {count} pieces of code had no room", result.err)

    def test_limpet_is_killed(self):
        target = self.target()
        process = self.start(target.pid, "-F", "499")
        self.assertTrue(harness.wait_until(
            lambda: os.path.exists(self.path) and os.path.getsize(self.path) > 3000, 120))
        process.kill()
        process.wait()
        self.assertIn("spin_leaf", self.hot())
        self.assert_unharmed(target)

    def test_the_target_ends(self):
        target = self.target()
        process = self.start(target.pid, "-F", "499")
        self.assertTrue(harness.wait_until(
            lambda: os.path.exists(self.path) and os.path.getsize(self.path) > 3000, 120))
        target.kill()
        result = harness.limpet_finish(process, 60)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("recorded")["reason"], "exit")
        self.assertIn("spin_leaf", self.hot())


class Earlier(Recording):
    """A file that lies where the recording is to go."""

    def setUp(self):
        super().setUp()
        target = self.target()
        self.record(target.pid, "-F", "499")
        target.kill()
        self.earlier = self.content()

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def assert_kept(self, result, code):
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(self.content(), self.earlier)
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path)])
        self.assertNotIn("next:", result.out)

    def test_stays_where_nothing_was_recorded(self):
        target = self.target("quiet")
        options = ("record", "-p", target.pid, "-o", self.path, "--duration", "300ms")
        result = limpet(*options, "--sampler", "copy")
        self.assert_kept(result, 5)
        self.assertIn(f"{self.path} stays as it was", result.out)
        self.assert_kept(limpet(*options, "--function", "*:no_such_function"), 5)
        self.assertTrue(limpet(*options, "--sampler", "copy", "--json").event("recorded")["leaves_old_file"])

    def test_stays_where_nothing_could_be_begun(self):
        self.assert_kept(limpet("record", "-p", 2 ** 31 - 1, "-o", self.path), 4)
        self.assert_kept(limpet("record", "-p", 2 ** 31 - 1, "-o", self.path, "--io-trace"), 4)
        self.assert_kept(limpet("record", "-o", self.path, "--io-trace", "--", "/no/such/program"), 1)

    def test_goes_with_the_first_sample(self):
        target = self.target()
        process = self.start(target.pid, "-F", "499")
        self.assertTrue(harness.wait_until(lambda: self.content() != self.earlier, 60))
        process.kill()
        process.communicate()
        self.assertIn("spin", self.hot(), "every sample of the busy thread has it")
        pids = [event["pid"] for event in self.report() if event["event"] == "process"]
        self.assertEqual(pids, [target.pid])

    def test_that_is_no_recording_is_left_alone(self):
        with open(self.path, "wb") as file:
            file.write(b"precious\n")
        self.earlier = self.content()
        for options in (("-p", self.target().pid), ("--", "true")):
            result = limpet("record", "-o", self.path, "--duration", "300ms", *options)
            self.assert_kept(result, 1)
            self.assertIn("fix: choose another name with -o FILE, or remove it", result.err)

    def test_that_is_empty_holds_nothing(self):
        with open(self.path, "wb"):
            pass
        self.record(self.target().pid, "-F", "499")
        self.assertIn("spin_leaf", self.hot())


class Launched(Recording):
    """Programs that limpet starts: from their beginning on, and nothing is loaded into them."""

    def launch(self, *command, options=("-F", "499")):
        process = harness.limpet_start("record", "-o", self.path, *options, "--", *command)
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        """With the program, which would go on."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def child(self, process):
        """The program, once it has computed."""
        def children():
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                return file.read().split()
        self.assertTrue(harness.wait_until(lambda: process.poll() is not None or
                                           (children() and cpu_seconds(children()[0]) > 0.2), 120))
        self.assertIsNone(process.poll())
        return children()[0]

    def end(self, process):
        """What is sent to limpet alone goes to the program."""
        process.send_signal(signal.SIGTERM)
        result = harness.limpet_finish(process, 60)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("the program ended: killed by signal 15", result.err)

    def test_nothing_is_loaded_into_it(self):
        process = self.launch(os.path.join(PROGRAMS, "spinner"))
        self.assertEqual(harness.limpet_mappings(self.child(process)), [])
        self.end(process)
        self.assertIn("spin_leaf", self.hot())

    def test_a_program_that_it_executes(self):
        for options in (("-F", "499"), ("-F", "499", "--force", "--function", "*:nanosleep")):
            process = self.launch("sh", "-c", f"exec {PROGRAMS}/spinner", options=options)
            self.child(process)
            self.end(process)
            self.assertIn("spin_leaf", self.hot())
            commands = [event["command"] for event in self.report() if event["event"] == "process"]
            self.assertEqual(len(commands), 2, commands)

    def test_one_that_ends_at_once(self):
        process = self.launch("true", options=())
        result = harness.limpet_finish(process, 60)
        self.assertIn(result.code, (0, 5), str(result))
        self.assertIn("the program ended: exit status 0", result.err)

    def test_no_library_is_needed(self):
        """Static programs, and those of musl, which are not traced from their beginning."""
        for name in ("spinner_static", "spinner_musl"):
            if not harness.runs(name):
                continue
            process = self.launch(os.path.join(PROGRAMS, name))
            self.child(process)
            self.end(process)
            self.assertIn("spin_leaf", self.hot(), name)
            commands = [event["command"] for event in self.report() if event["event"] == "process"]
            self.assertEqual(len(commands), 1, "the program is the only one, from its beginning on")


class Waits(Recording):
    def waits(self, sampler):
        """Names of the functions in which threads waited, innermost ones only."""
        result = self.record(self.target().pid, "--off-cpu", "--sampler", sampler, code=None)
        if result.code == 3 or "BPF" in result.err:
            self.skipTest(result.err)
        self.assertEqual(result.code, 0, str(result))
        if any(name.startswith("[kernel]") for name in self.hot("off-cpu")):
            self.skipTest("this kernel does not tell its names")
        folded = limpet("export", self.path, "-f", "folded", "--view", "off-cpu", "-o", "-").out
        return {line.rsplit(" ", 1)[0].rsplit(";", 1)[-1] for line in folded.splitlines()}

    def test_the_kernel_begins_with_its_scheduler(self):
        """Nothing of what took the stack is in it; a thread that slept before is seen by what called the scheduler."""
        innermost = self.waits("bpf")
        self.assertIn("__schedule", {name.split(".")[0].split(" ")[0] for name in innermost}, innermost)
        self.assertFalse([name for name in innermost if re.search("bpf|trace|limpet", name)], innermost)

    def test_so_it_does_where_perf_copies_stacks(self):
        innermost = self.waits("copy")
        self.assertTrue(innermost)
        self.assertFalse([name for name in innermost if re.search("perf|bpf|trace", name)], innermost)


    def test_a_wait_is_counted_for_what_called_the_kernel(self):
        """All waits are in the kernel's scheduler: as "self" that would say nothing."""
        self.waits("bpf")
        rows = self.hot("off-cpu")
        own = {name: row["self_percent"] for name, row in rows.items() if row["self_percent"] > 0}
        self.assertFalse([name for name in own if rows[name]["module"] == "[kernel]"], own)
        self.assertAlmostEqual(sum(own.values()), 100, delta=1)
        self.assertTrue([name for name in rows if name.startswith("__schedule")], "it is in the tables still")


class Words(Recording):
    def test_what_cannot_be(self):
        for words in (("-F", "0"), ("-F", "5001"), ("--sampler", "nosuch")):
            result = limpet("record", "-p", self.target("quiet").pid, "-o", self.path, *words)
            self.assertEqual(result.code, 2, str(result))
            self.assertFalse(os.path.exists(self.path))

    def test_what_is_said_at_the_end(self):
        target = self.target()
        result = limpet("record", "-p", target.pid, "-o", self.path, "--duration", "1s", "-F", "999")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.out, r"wrote .*it\.limpet: \d+ samples of \d+ threads?, \d+ lost, "
                                     r"\d+\.\d\d % of the stacks complete, \d+ KiB\n")
        self.assertRegex(result.out, r"(?m)^sampler: \w+ \(.+\)$")
        self.assertIn(f"next: limpet report {self.path}\n", result.out)


@unittest.skipUnless(os.getuid() == 0, "needs root, to become another user")
class Rungs(Recording):
    def test_a_lower_one_samples_and_says_why(self):
        """Somebody without rights, whose own process it is."""
        folder = tempfile.mkdtemp(prefix="record-samplers-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        for path in (harness.LIMPET, os.path.join(PROGRAMS, "spinner")):
            shutil.copy(path, folder)
        somebody = {"user": 65534, "group": 65534, "extra_groups": []}
        target = subprocess.Popen([os.path.join(folder, "spinner")], **somebody)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.assertTrue(harness.wait_until(lambda: cpu_seconds(target.pid) > 0.02, 60))
        done = subprocess.run(
            [os.path.join(folder, "limpet"), "record", "-p", str(target.pid), "-o", os.devnull, "--duration", "500ms"],
            **somebody, capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 5), done.stderr)
        self.assertRegex(done.stderr, r"(?m)^note: bpf: .+")
        self.assertRegex(done.stderr, r"sampler (copy|read|state) into")

    def test_a_program_with_more_rights_that_it_executes(self):
        """The kernel takes perf events away then, from root's limpet too."""
        folder = tempfile.mkdtemp(prefix="record-privileged-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            self.skipTest("no program gets more rights in /tmp")
        program = shutil.copy(os.path.join(PROGRAMS, "spinner"), folder)
        os.chmod(program, 0o4755)
        for sampler in ("bpf", "copy"):
            target = subprocess.Popen(["sh", "-c", f"read line; exec {program}"], stdin=subprocess.PIPE, user=65534,
                                      group=65534, extra_groups=[])
            self.addCleanup(target.wait)
            self.addCleanup(target.kill)
            process = self.start(target.pid, "--sampler", sampler, "-F", "499")
            self.addCleanup(process.kill)
            attached = harness.attached_wait(process)
            if attached is None and sampler == "bpf":
                continue  # not allowed here
            self.assertIsNotNone(attached)
            target.stdin.write(b"\n")
            target.stdin.close()
            self.assertTrue(harness.wait_until(lambda: cpu_seconds(target.pid) > 0.5, 120))
            process.send_signal(signal.SIGINT)
            result = harness.limpet_finish(process, 60)
            self.assertEqual(result.code, 0, str(result))
            self.assertGreater(self.hot()["spin_leaf"]["total_samples"], 50, sampler)
            target.kill()


if __name__ == "__main__":
    tried = limpet("record", "-p", os.getpid(), "-o", os.devnull, "--sampler", "copy", "--duration", "1ms")
    if tried.code == 3 or "perf_event_open" in tried.err:
        print(f"perf events cannot be had here: {tried.err}")
        sys.exit(harness.SKIP)
    unittest.main(verbosity=2)
