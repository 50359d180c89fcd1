#!/usr/bin/env python3
"""
Sampling from C: programs that are compiled against the installed header and library, as users do it, and
run beside live targets.  Each case once as it is and once with the address sanitizer.

Environment: as tests/front_ends/staged.py, and PROGRAMS with spinner.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/front_ends"))

import staged  # noqa: E402
import harness  # noqa: E402
from needs import missing  # noqa: E402

CC = os.environ.get("CC", "cc").split()
KINDS = {"plain": [], "sanitized": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]}
# On aarch64 to look for leaks costs four seconds of processor time, whatever there is to be found: it is done for one case.
LEAKS_OF = ["samples"] if os.uname().machine == "aarch64" else None


class Programs:
    """The test's program, and the examples, built with pkg-config against a staged tree."""

    def __init__(self):
        self.prefix = staged.prefix()
        self.folder = tempfile.mkdtemp(prefix="api-")
        self.flags = self.pkg_config()
        for kind, options in KINDS.items():
            self.build(ROOT / "tests/api/sampling.c", kind, options)

    def pkg_config(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": self.prefix.library("pkgconfig")}
        return subprocess.run(
            ["pkg-config", f"--define-variable=prefix={self.prefix.root}", "--cflags", "--libs", "limpet"],
            env=environment, check=True, capture_output=True, text=True).stdout.split()

    def build(self, source, name, options=()):
        path = os.path.join(self.folder, name)
        subprocess.run(
            [*CC, "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", *options, str(source), "-o", path,
             *self.flags, "-pthread"], check=True)
        return path

    def environment(self, case=None):
        leaks = int(LEAKS_OF is None or case in LEAKS_OF)
        return {**os.environ, "LD_LIBRARY_PATH": self.prefix.library(""), "ASAN_OPTIONS": f"detect_leaks={leaks}"}

    def close(self):
        shutil.rmtree(self.folder)


def setUpModule():
    global programs
    if missing(CC[0], "pkg-config"):
        raise unittest.SkipTest(f"needs {', '.join(missing(CC[0], 'pkg-config'))}")
    programs = Programs()


def tearDownModule():
    programs.close()


class ApiTest(unittest.TestCase):
    def target(self, *arguments):
        process = subprocess.Popen([harness.program("spinner"), *arguments])
        if not arguments:  # others do nothing that could go on
            harness.progress.note_visit([process.pid])
        self.addCleanup(harness.progress.end, process)
        self.assertTrue(harness.wait_until(lambda: len(self.names(process.pid)) == 3))
        return process

    @staticmethod
    def names(pid):
        """Of its threads, which give themselves one of their own."""
        return {harness.status_of(pid, tid).get("Name") for tid in harness.threads_of(pid)}

    def start(self, name, *arguments):
        process = subprocess.Popen(
            [os.path.join(programs.folder, name), *map(str, arguments)], env=programs.environment(*arguments[:1]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, given=None):
        out, err = process.communicate(given, timeout=2 * harness.PATIENCE_S)
        self.assertEqual(process.returncode, 0, out + err)
        return out.splitlines()

    def run_program(self, name, *arguments):
        return self.finish(self.start(name, *arguments))

    def assert_unharmed(self, target):
        self.assertIsNone(target.poll())
        self.assertEqual(harness.status_of(target.pid)["TracerPid"], "0")


class Cases:
    """Run for each kind of program."""

    def case(self, name, *arguments):
        target = self.target()
        lines = self.run_program(self.kind, name, target.pid, *arguments)
        self.assert_unharmed(target)
        return lines

    def test_samples_have_threads_states_and_named_stacks(self):
        lines = self.case("samples")
        samples = [line.split(" ", 5) for line in lines if line.startswith("sample ")]
        self.assertEqual(len(samples), 20)
        spinning = [stack for _, kind, state, thread, end, stack in samples
                    if thread == "spinning" and kind == "0" and state == "R" and end == "complete"]
        self.assertTrue(any("spin_leaf;spin_hot" in stack for stack in spinning), lines)
        status = dict(word.split("=") for word in lines[-1].split()[1:])
        self.assertEqual(status["running"], "0")
        self.assertGreaterEqual(int(status["samples"]), 50)
        self.assertGreater(int(status["complete"]), 0)
        self.assertIn(status["sampler"], ("bpf", "copy"))

    def test_a_callback_sees_all(self):
        self.assertTrue(self.case("callback")[-1].startswith("heard "))

    def test_a_slow_callback_costs_samples_and_no_memory(self):
        self.assertEqual(len(self.case("slow")), 4)

    def test_waits(self):
        lines = [line.split(" ", 5) for line in self.case("off-cpu")]
        waits = [words for words in lines if words[1] == "1" and words[3] == "dozing"]
        self.assertTrue(any("sleep_short" in words[5] for words in waits), lines)

    def test_a_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it.limpet")
            self.case("file", path)
            result = harness.limpet("report", path, "--json")
        self.assertEqual(result.code, 0, str(result))
        self.assertTrue(any(event.get("name") == "spin_leaf" for event in result.events), str(result))

    def test_a_recording_of_calls_and_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it.limpet")
            said = self.case("record", path)[-1]
            result = harness.limpet("report", path, "--json")
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(f"recorded {result.event('summary')['records']}", said)
        self.assertTrue(any(event.get("name") == "nanosleep" for event in result.events), str(result))
        self.assertTrue(any(event.get("name") == "spin_leaf" for event in result.events), str(result))

    def test_a_recording_that_ends_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it.limpet")
            self.case("record-duration", path)
            self.assertTrue(harness.limpet("report", path, "--json").event("summary")["complete"])

    def test_misuse_of_recordings_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            self.case("record-misuse", os.path.join(folder, "it.limpet"))

    def test_misuse_is_an_error(self):
        self.case("misuse")

    def test_the_rate_changes(self):
        self.case("rate")

    def test_two_samplers_and_a_closed_handle(self):
        self.case("two")

    def test_detaching_while_it_samples(self):
        self.case("detach")

    def test_threads_with_states_and_stacks(self):
        lines = [line.split(" ", 6) for line in self.case("threads")]
        self.assertEqual({words[3] for words in lines[:3]}, {"spinner", "spinning", "dozing"})
        self.assertTrue(all(words[5] == "no-stack" for words in lines[:3]), lines)
        stacks = {words[3]: words[6] for words in lines[3:] if words[5] == "complete"}
        self.assertIn("main", stacks.get("spinner", ""), lines)

    def test_a_program_of_an_older_header(self):
        self.case("older")

    def test_many_threads_use_one_sampler(self):
        self.case("crowd")

    def test_the_process_is_gone_before(self):
        with tempfile.TemporaryDirectory() as folder:
            self.end_during("dead", os.path.join(folder, "it.limpet"))

    def test_the_process_ends_meanwhile(self):
        self.end_during("ends")

    def end_during(self, case, *arguments):
        target = self.target()
        process = self.start(self.kind, case, target.pid, *arguments)
        self.assertEqual(process.stdout.readline(), "ready\n")
        target.kill()
        target.wait()
        self.finish(process, "go on\n")


class Plain(Cases, ApiTest):
    kind = "plain"


class Sanitized(Cases, ApiTest):
    kind = "sanitized"


class Examples(ApiTest):
    def test_attach_test(self):
        programs.build(ROOT / "examples/attach_test.c", "attach_test")
        target = self.target()
        lines = self.run_program("attach_test", target.pid, "1")
        text = "\n".join(lines)
        self.assertRegex(text, r"thread \d+ \(spinning\), ")  # on a busy machine hardly any of them runs
        self.assertIn("spin_hot", text)
        self.assertRegex(lines[-1], r"^\d+ samples, \d+ lost, .* of the stacks complete, by \w+$")
        self.assert_unharmed(target)

    def test_profile_workload(self):
        programs.build(ROOT / "examples/profile_workload.c", "profile_workload")
        lines = self.run_program("profile_workload", "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; exit 3")
        text = "\n".join(lines)
        self.assertRegex(text, r"(?m)^ *\d+\.\d %  ")
        self.assertIn("ended with 3", text)

    def test_profile_workload_of_nothing(self):
        programs.build(ROOT / "examples/profile_workload.c", "profile_workload")
        process = self.start("profile_workload", "/nonexistent/program")
        _, err = process.communicate(timeout=harness.PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("/nonexistent/program", err)


if __name__ == "__main__":
    unittest.main()
