"""The lower samplers tell the processor time that a program really used, as the program itself was told by the kernel,
beside others that want the same processors."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attach"))

import harness  # noqa: E402

# Two threads that run and sleep in turn.
PROGRAM = """if True:
    import resource, sys, threading, time
    def used():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime
    told = threading.Event()
    def wait(seconds):
        spend(seconds)
        done.set(), told.wait()
    done = threading.Event()
    def spend(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            short = min(end, time.thread_time() + 0.008)
            while time.thread_time() < short:
                pass
            time.sleep(0.008)
    sys.stdout.write("ready\\n"), sys.stdout.flush(), sys.stdin.readline()
    before = used()
    threading.Thread(target=wait, args=(0.2,), daemon=True).start()
    spend(0.2)
    done.wait()
    print(used() - before, flush=True)
    sys.stdin.readline()
"""
# The sampler opens one when it begins.
SLOW_START = ["strace", "-f", "-o", "/dev/null", "-e", "trace=pidfd_open", "-e", "inject=pidfd_open:delay_enter=2500000"]
LOOPS = 2 * len(os.sched_getaffinity(0))
SLACK_S = 0.06  # what the program did before and after


class Times(harness.TargetTest):
    def beside_others(self):
        for _ in range(LOOPS):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

    def check_sampler(self, sampler):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it.limpet")
            program = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True)
            self.addCleanup(self.end_process, program)
            self.assertEqual(program.stdout.readline(), "ready\n")
            recorder = harness.limpet_attached("record", "-p", program.pid, "-o", path, "--json", "--off-cpu",
                                               "--sampler", sampler)
            self.addCleanup(self.end_process, recorder)
            print(file=program.stdin, flush=True)
            used_s = float(program.stdout.readline())
            recorder.terminate()
            result = harness.limpet_finish(recorder)
            self.assertEqual(result.code, 0, str(result))
            return used_s, result, harness.limpet("report", path, "--json")

    def assert_same(self, seconds, used_s):
        self.assertGreater(seconds, used_s * 0.9 - SLACK_S)
        self.assertLess(seconds, used_s * 1.1 + SLACK_S)

    def check(self, sampler):
        self.beside_others()
        used_s, result, report = self.check_sampler(sampler)
        events = [json.loads(line) for line in report.out.splitlines()]
        threads = [event for event in events if event["event"] == "sampled_thread"]
        states = {event["state"]: event["time_ns"] / 1e9 for event in events if event["event"] == "sampled_state"}
        self.assert_same(sum(thread["on_cpu_ns"] for thread in threads) / 1e9, used_s)
        self.assert_same(states["running"], used_s)
        # Who is not on a processor wants one, beside so many others; and this one sleeps as well.
        self.assertGreater(states["wants a processor"], 0)
        self.assertGreater(states["sleeping"], 0.2)

    @unittest.skipUnless(shutil.which("strace"), "needs strace, to slow limpet down")
    def test_a_duration_is_that_of_the_samples(self):
        """What comes before the first sample does not count, however long it takes: here, seconds."""
        sleeper = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.end_process, sleeper)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it.limpet")
            recorder = subprocess.run([*SLOW_START, harness.LIMPET, "record", "-p", str(sleeper.pid), "-o", path,
                                       "--off-cpu", "--sampler", "read", "-d", "1s"], capture_output=True, text=True)
            self.assertEqual(recorder.returncode, 0, recorder.stderr)
            events = map(json.loads, harness.limpet("report", path, "--json").out.splitlines())
            states = [event for event in events if event["event"] == "sampled_state"]
        self.assertGreater(sum(state["time_ns"] for state in states), 0.98e9)
        self.assertGreater(sum(state["samples"] for state in states), 5)

    def test_of_waiting_threads(self):
        self.check("read")

    def test_of_states(self):
        self.check("state")


if __name__ == "__main__":
    unittest.main()
