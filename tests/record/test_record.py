#!/usr/bin/env python3
"""
limpet record on live programs that nobody prepared: what is in the file, what ends a recording, and what
stays behind when either side dies.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import TargetTest, limpet  # noqa: E402

# A program of somebody else's: writes a file and allocates, for ever, and says how often.
PROGRAM = """if True:
    import os, sys, time
    turns = 0
    while True:
        fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"%-999d\\n" % turns)
        os.close(fd)
        data = [bytearray(5000) for _ in range(20)]
        turns += 1
        time.sleep(0.002)
"""

LIMIT_BYTES = 5 << 20  # a little more than the smallest rings take


class Record(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")

    def program(self, text=PROGRAM):
        process = subprocess.Popen(["/usr/bin/python3", "-c", text,
                                    os.path.join(self.folder, "written")])
        self.addCleanup(harness.progress.end, process)
        self.assertTrue(harness.wait_until(lambda: self.turns() is not None))
        return process

    def turns(self):
        """How often the program has gone round; None at its beginning."""
        try:
            with open(os.path.join(self.folder, "written")) as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return None

    def start(self, pid, *arguments):
        process = harness.limpet_attached("record", "-p", pid, "-o", self.path, "--json", *arguments)
        self.addCleanup(self.end_process, process)
        return process

    def record(self, pid, *arguments, code=0):
        result = limpet("record", "-p", pid, "-o", self.path, "--json", *arguments)
        self.assertEqual(result.code, code, str(result))
        return result

    def record_turns(self, pid, *arguments, turns=50):
        """While the program goes round so often at least: what limpet said, and harness.Span."""
        span = harness.Span(self.turns)
        process = self.start(pid, *arguments)
        span.begin()
        self.assertTrue(harness.wait_until(lambda: span.turns() > span.begun + turns))
        span.end()
        process.terminate()
        result = harness.limpet_finish(process)
        span.close()
        self.assertEqual(result.code, 0, str(result))
        return result, span

    def report(self):
        """The functions of the recording by name, and its end."""
        result = limpet("report", self.path, "--json")
        self.assertIn(result.code, (0, 5), str(result))
        events = [json.loads(line) for line in result.out.splitlines()]
        return {event["name"]: event for event in events if event["event"] == "function"}

    def assert_all_put_back(self, result):
        said = result.event("recorded")
        self.assertGreater(said["words_hooked"], 0)
        self.assertEqual(said["words_restored"], said["words_hooked"])
        self.assertEqual([said["words_" + why] for why in ("foreign", "unwritable", "refused")], [0, 0, 0])

    def assert_complete(self, result):
        """All that was said to be recorded is in the file, and it says so."""
        summary = limpet("report", self.path, "--json").event("summary")
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["records"], result.event("recorded")["records"])

    def assert_alive(self, process):
        size = lambda: os.stat(os.path.join(self.folder, "written")).st_mtime_ns
        before = size()
        self.assertTrue(harness.wait_until(lambda: size() > before), "the program does not go on")
        self.assertIsNone(process.poll())


class Contents(Record):
    def test_memory_and_files(self):
        program = self.program()
        result, span = self.record_turns(program.pid, "--alloc-trace", "--io-trace")
        functions = self.report()
        self.assertGreater(functions["malloc"]["calls"], 100)
        for name in ("write", "open", "close"):
            self.assertTrue(span.holds(functions[name]["calls"]), (name, vars(span), functions[name]))
        self.assertEqual(result.event("recorded")["invalid"], 0)
        self.assert_complete(result)
        self.assert_all_put_back(result)
        self.assert_alive(program)

    def test_any_function(self):
        program = self.program()
        _, span = self.record_turns(program.pid, "--function", "*:fstat*", "--function", "*:clock_nanosleep")
        self.assertTrue(span.holds(self.report()["clock_nanosleep"]["calls"]), vars(span))
        self.assert_alive(program)

    def test_filters_that_kill_who_asks_for_the_counter(self):
        target = self.target("filtered", "counter_kill")
        result = limpet("record", "-p", target.pid, "-o", self.path, "--function", "*:usleep", "--duration", "300ms")
        self.assertEqual(result.code, 6, str(result))
        self.assertIn("does not allow prctl", result.err)
        self.assertEqual(limpet("attach", target.pid, "--duration", "10ms").code, 0)
        begun = target.stats.word("turns")
        self.assertTrue(harness.wait_until(lambda: target.stats.word("turns") > begun + 20))
        self.assertTrue(target.alive())

    def test_again_with_other_options(self):
        program = self.program()
        for option, name, other in (("--io-trace", "write", "malloc"),
                                    ("--alloc-trace", "malloc", "write")) * 2:
            self.record_turns(program.pid, option)
            functions = self.report()
            self.assertIn(name, functions)
            self.assertNotIn(other, functions)
        self.assert_alive(program)

    def test_in_periods(self):
        program = self.program()
        result = self.record(program.pid, "--io-trace", "--collection-period", "50ms:500ms:2")
        self.assertGreater(result.event("recorded")["records"], 0)
        self.assert_complete(result)
        self.assert_all_put_back(result)
        self.assert_alive(program)

    def test_exports_say_the_same(self):
        program = self.program()
        self.record_turns(program.pid, "--io-trace")
        wanted = self.report()["write"]["calls"]
        out = os.path.join(self.folder, "it.json")
        result = limpet("export", self.path, "-f", "chrome", "-o", out)
        self.assertEqual(result.code, 0, str(result))
        with open(out) as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.assertEqual(sum(event.get("name") == "write" for event in events), wanted)


    def test_status_counts_the_program_only(self):
        """Nothing waits in a traced call; the tracer's own thread is none of the program's."""
        target = self.target("plain", "idle")
        process = self.start(target.pid, "--alloc-trace")
        inside = lambda: limpet("status", target.pid, "--json").event("status")["inside"]
        self.assertTrue(harness.wait_until(lambda: inside() == 0), inside())
        process.terminate()
        harness.limpet_finish(process)


class Ends(Record):
    def test_a_signal(self):
        program = self.program()
        process = self.start(program.pid, "--io-trace")
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000))
        process.terminate()
        result = harness.limpet_finish(process)
        self.assertEqual((result.code, result.event("recorded")["reason"]), (0, "signal"), str(result))
        self.assert_complete(result)

    def test_a_second_signal_gives_up_writing_and_says_so(self):
        program = self.program()
        process = self.start(program.pid, "--io-trace")
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000))
        os.kill(process.pid, signal.SIGSTOP)  # both are there before it looks
        process.terminate()
        process.send_signal(signal.SIGINT)
        os.kill(process.pid, signal.SIGCONT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("stopped at the second signal", result.err)
        self.assertFalse(limpet("report", self.path, "--json").event("summary")["complete"])
        self.assert_alive(program)

    def test_the_size(self):
        program = self.program()
        result = self.record(program.pid, "--alloc-trace", "--max-size", "20K")
        self.assertEqual(result.event("recorded")["reason"], "max-size")
        self.assertGreater(self.report()["malloc"]["calls"], 10)

    def test_the_end_of_the_program(self):
        program = self.program()
        process = self.start(program.pid, "--io-trace")
        harness.wait_until(lambda: os.path.getsize(self.path) > 4000)
        program.kill()
        result = harness.limpet_finish(process)
        self.assertEqual((result.code, result.event("recorded")["reason"]), (0, "exit"), str(result))
        self.assertGreater(self.report()["write"]["calls"], 0)

    def test_another_program_at_the_same_moment(self):
        """Executed while limpet cannot look, and is asked to end: what there was is kept, and that is said."""
        executed = os.path.join(self.folder, "execute")
        program = self.program(PROGRAM + f"        if os.path.exists({executed!r}): os.execv('/bin/sh', ['sh', '-c', 'while :; do sleep 0.01; done'])\n")
        process = self.start(program.pid, "--io-trace")
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000))
        process.send_signal(signal.SIGSTOP)
        open(executed, "w").close()
        self.assertTrue(harness.wait_until(lambda: harness.status_of(program.pid).get("Name") == "sh"))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        # It may see the execution before it is asked, and follow.
        self.assertRegex(result.err, "it executed another program, which is not recorded|it executes another program now")
        self.assertGreater(self.report()["write"]["calls"], 0)
        self.assertIsNone(program.poll())

    def test_limpet_killed(self):
        """What was written is readable, the program is unhooked, and a new recording works."""
        program = self.program()
        process = self.start(program.pid, "--io-trace")
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000))
        process.kill()
        process.wait()
        self.assertGreater(self.report()["write"]["calls"], 0)
        self.assert_alive(program)
        rests = lambda: limpet("status", program.pid, "--json").event("status")["state"] == "resting"
        self.assertTrue(harness.wait_until(rests))
        self.record_turns(program.pid, "--io-trace")
        self.assertGreater(self.report()["write"]["calls"], 0)

    def test_a_full_disk(self):
        program = self.program()
        result = limpet("record", "-p", program.pid, "-o", "/dev/full", "--io-trace", "--json",
                        "--duration", "2s")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("No space left", result.err)
        self.assert_alive(program)

    def limited(self, bytes_most, *arguments):
        """limpet record with a limit of file sizes (ulimit -f), whose signal would end it."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_most, bytes_most))
        process = harness.limpet_start("record", "-p", *arguments, "-o", self.path, "--json",
                                       preexec_fn=limit)
        self.addCleanup(self.end_process, process)
        return harness.limpet_finish(process)

    def test_the_limit_of_file_sizes(self):
        """An error that says so; what is in the file can be read, and the program is let go."""
        target = self.target("plain", "malloc8")
        result = self.limited(LIMIT_BYTES, target.pid, "--alloc-trace", "--ring-size", "4K")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("File too large", result.err)
        self.assertIn("ulimit -f", result.err)
        self.assertGreater(os.path.getsize(self.path), LIMIT_BYTES // 2)
        self.assertLessEqual(os.path.getsize(self.path), LIMIT_BYTES)
        self.assertGreater(self.report()["malloc"]["calls"], 1000)
        self.assertEqual(limpet("status", target.pid, "--json").event("status")["state"], "resting")
        self.assertTrue(target.stats.wait_turn())
        self.record(target.pid, "--alloc-trace", "--duration", "300ms")

    def test_the_limit_of_file_sizes_is_too_low_for_the_rings(self):
        program = self.program()
        result = self.limited(LIMIT_BYTES, program.pid, "--io-trace")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("--ring-size", result.err)
        self.assert_alive(program)


    def test_one_signal_loses_nothing(self):
        program = self.program()
        process = self.start(program.pid, "--io-trace")
        self.assertTrue(harness.wait_until(lambda: os.path.getsize(self.path) > 3000))
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        told = limpet("report", self.path, "--json")
        self.assertEqual(told.code, 0, str(told))
        self.assertNotIn("give up", told.out)


class Refusals(Record):
    def test_bad_words(self):
        for arguments in (("--max-size", "many"), ("--ring-size", "0"),
                          ("--collection-period", "1:2"), ("--alloc-sample", "-1")):
            with self.subTest(arguments=arguments):
                result = limpet("record", "-p", os.getpid(), "--io-trace", *arguments)
                self.assertEqual(result.code, 2, str(result))

    def test_an_empty_trace_is_no_success(self):
        target = self.target("plain", "idle")
        result = self.record(target.pid, "--marker-trace", "--duration", "200ms", code=5)
        self.assertIn("nothing to trace for marker", result.err)
        self.assertTrue(target.stats.wait_turn())

    def test_an_empty_trace_names_the_option_that_helps(self):
        """Python takes the address of malloc, which is left alone, and calls nothing while it sleeps."""
        python = self.program("import sys, time; print(1, file=open(sys.argv[1], 'w'), flush=True); time.sleep(600)")
        result = self.record(python.pid, "--alloc-trace", "--duration", "200ms", code=5)
        self.assertRegex(result.err, "fix: add --address-entries")

    def test_stopped_before_the_first_period(self):
        program = self.program()
        process = harness.limpet_start("record", "-p", program.pid, "-o", self.path, "--json",
                                       "--io-trace", "--collection-period", "60s:1s:1")
        self.addCleanup(self.end_process, process)
        self.assertTrue(harness.wait_until(lambda: os.path.exists(self.path)))
        process.terminate()
        self.assertEqual(harness.limpet_finish(process).code, 5)

    def test_no_such_process(self):
        """And no empty file is left of it."""
        result = limpet("record", "-p", "4194303", "--io-trace", cwd=self.folder)
        self.assertEqual(result.code, 4, str(result))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
