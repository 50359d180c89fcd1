"""Counters of whole devices for tools of AMD's SDK, on stand-ins of HSA, aqlprofile and the driver: what they read, and that nothing of limpet's
is used when it must not be: after HSA's end, in exit(), in forked children, by a device that does not answer, after a detach."""

import os
import pathlib
import signal
import subprocess
import unittest

from sdk import ToolCase, Work, driver, harness

MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))

from standin import STANDIN, Recorder  # noqa: E402

DEVICE = "257"
XCCS, CHANNELS = 2, 4
KERNELS = 20
TRIES = 8
HITS = 64 * XCCS * CHANNELS  # of a kernel of one work group: one for each item
COUNTED = HITS * sum(range(1, KERNELS + 1))
SUCCESS, ERROR, CONTEXT_ERROR, CONTEXT_INVALID, CONFLICT, HSA_NOT_LOADED, OLD_DRIVER, NO_QUEUE, NOT_AVAILABLE, DENIED = (
    "0", "1", "9", "10", "12", "22", "28", "34", "37", "40")


class DeviceCountingTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.trigger = self.log.path.parent / "sample"

    def work(self, library="with", **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def begin(self, work, *options):
        return self.attach(work, "device", arguments=("--env", f"SDK_SAMPLE={self.trigger}", *options))

    def finish(self, work):
        """How it ends in exit()."""
        work.process.stdin.close()
        return work.process.wait(timeout=2 * harness.PATIENCE_S)

    def tell(self, word):
        """Has the tool do something."""
        made = self.trigger.with_suffix(".new")
        made.write_text(word)
        made.rename(self.trigger)
        self.assertTrue(harness.wait_until(lambda: not self.trigger.exists()), self.log.lines())

    def sample(self):
        """What the tool reads, by name; None: the device was late, or counting has begun anew."""
        self.log.clear()
        self.tell("sample")
        self.assertEqual(self.log.lines("wrong"), [])
        unread = [words[1] for words in self.log.lines("unread")]
        self.assertLessEqual(set(unread), {ERROR, HSA_NOT_LOADED})
        return None if unread else {words[1]: words[2:] for words in self.log.lines("value")}

    def samples(self, work):
        """Before and after so many kernels, nothing between them but kernels."""
        for _ in range(TRIES):
            first = self.sample()
            work.ask("solo", KERNELS)
            second = self.sample() if first else None
            if second:
                return first, second
        self.fail(self.log.lines())

    def status(self):
        self.log.clear()
        self.tell("status")
        return self.log.lines("status")[0][1]

    def check_all_is_given_back(self, work):
        """The last packet is in the queue; on a busy machine the device comes to it later, and the next attach gives it back."""
        def is_stopped():
            starts, stops, _ = map(int, work.ask("bank")[0][1:])
            return starts == stops and work.ask("sets") == [["sets", "0"]]

        for _ in range(TRIES):
            if harness.wait_until(is_stopped, 2):
                break
            self.leave(self.begin(work))
        self.assertTrue(is_stopped(), work.ask("bank") + work.ask("sets"))
        work.ask("solo", 2)

    def check_counts(self, work):
        first, second = self.samples(work)
        self.assertEqual(float(second["TCC_HIT_sum"][0]) - float(first["TCC_HIT_sum"][0]), COUNTED)

    def test_it_is_counted_when_the_tool_reads(self):
        work = self.work()
        attached = self.begin(work)
        self.assertEqual(self.log.lines("again") + self.log.lines("before") + self.log.lines("started"),
                         [["again", "19", "3"], ["before", "10"], ["started", "0"]])
        self.assertEqual(self.log.lines("waves"), [["waves", OLD_DRIVER, "0"]], "waves of its queues are not seen: no 0 is told")
        self.assertEqual(self.log.lines("choose"), [["choose", "1", "1", "unknown", "30"]], "once for each start")
        first, second = self.samples(work)
        self.assertEqual(float(second["TCC_HIT_sum"][0]) - float(first["TCC_HIT_sum"][0]), COUNTED)
        self.assertEqual(second["HIT_SHARE"], ["100", "7", DEVICE])
        self.assertGreater(float(second["GRBM_COUNT"][0]), float(first["GRBM_COUNT"][0]))
        self.assertEqual(float(second["TWICE"][0]), 2 * float(second["TCC_HIT_sum"][0]), "which the tool has made itself")
        self.assertEqual(len(self.log.lines("value")), 3 + XCCS)
        self.assertEqual(self.log.lines("refused"), [["refused", "29", "19", "10"]])
        buffered = {words[1]: words[2:] for words in self.log.lines("buffered")}
        self.assertEqual(buffered["TCC_HIT_sum"], [second["TCC_HIT_sum"][0], "8", DEVICE])
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_at_each_attach_and_unloaded(self):
        """aqlprofile has functions of limpet's until the program's end: the tool goes, the agent stays."""
        work = self.work()
        maps = pathlib.Path(f"/proc/{work.pid}/maps")
        for _ in range(3):
            result = self.unload(lambda: self.begin(work, "--unload"), lambda: self.check_counts(work))
            self.assertIn("AMD's aqlprofile library calls it when the program ends", result.out + result.err)
            self.check_all_is_given_back(work)
            self.assertTrue(harness.wait_until(lambda: "tool_device" not in maps.read_text()), maps.read_text())
            self.assertTrue(harness.limpet_mappings(work.pid))
        self.assertEqual(self.finish(work), 0)

    def test_the_program_ends(self):
        """In exit() aqlprofile destroys its list: with a tool that reads, with one that has left, after the runtime's end, with a device that is
        late."""
        for variables, readers, chore, is_there in (({}, 1, "sets", True), ({}, 1, "late_end", True), ({}, 0, "sets", False),
                                                    ({"STANDIN_SLOW": "1500"}, 1, "sets", True)):
            with self.subTest(variables=variables, chore=chore, is_there=is_there):
                work = self.work(**variables)
                work.ask(chore)
                attached = self.begin(work, *(("--env", "SDK_READERS=1") if readers else ()))
                if readers:
                    work.ask("solo", KERNELS)
                else:
                    self.check_counts(work)
                if not is_there:
                    self.leave(attached)
                self.assertEqual(self.finish(work), 0)
                if is_there:
                    harness.limpet_finish(attached.process)

    def test_a_forked_child_ends(self):
        work = self.work()
        attached = self.begin(work)
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        self.check_counts(work)
        self.leave(attached)
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        self.assertEqual(self.finish(work), 0)

    def test_what_is_not_whole_is_not_told(self):
        """More values than there is room for, or of an event that nobody has asked for."""
        for variables in ({"STANDIN_VALUES": "3000"}, {"STANDIN_STRANGER": "1"}):
            with self.subTest(variables):
                self.log.clear()
                work = self.work(**variables)
                attached = self.begin(work)
                self.assertEqual(self.status(), ERROR)
                self.assertEqual(self.log.lines("status")[0][2], ERROR, "through the buffer, too")
                self.assertEqual(self.log.lines("buffered"), [])
                self.assertEqual(attached.leave().code, 0)
                self.check_all_is_given_back(work)

    def test_no_memory_for_packets(self):
        """Of a set that fails what was allocated is freed, though aqlprofile keeps it."""
        for pieces in ("0", "1", "3"):
            with self.subTest(pieces):
                self.log.clear()
                work = self.work(STANDIN_MEMORY=pieces)
                attached = self.begin(work, "--unload")
                self.assertEqual(self.status(), CONTEXT_INVALID, "the context was stopped")
                self.leave(attached)
                self.assertEqual(work.ask("memory"), [["memory", "0"]])
                self.assertEqual(self.finish(work), 0)

    def is_waited_for(self):
        """Detached while a thread of it chooses: is it told so only when the thread has come back?"""
        self.log.clear()
        work = self.work()
        attached = self.begin(work, "--unload")
        self.tell("stall")
        self.assertTrue(harness.wait_until(lambda: self.log.lines("stalled")))
        self.leave(attached)
        self.assertTrue(harness.wait_until(lambda: self.log.lines("chosen")))
        self.check_all_is_given_back(work)
        words = [words[0] for words in self.log.lines()]
        return words.index("chosen") < words.index("detach")

    def test_a_tool_that_chooses_is_waited_for(self):
        """For 2 s at most, which a busy machine may not have given it."""
        self.assertTrue(any(self.is_waited_for() for _ in range(4)))

    def test_a_thread_of_the_tools_ends_while_it_chooses(self):
        """Another one chooses then; the next start does, too."""
        work = self.work()
        attached = self.begin(work)
        for _ in range(2):
            self.tell("leave")
            self.assertEqual(self.log.lines("left"), [["left", "0"]])
            self.check_counts(work)
        self.leave(attached)
        attached = self.begin(work)
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_somebody_elses_function_is_not_called(self):
        """It may be unmapped before our queue is gone, or see it as the program's."""
        work = self.work()
        attached = self.begin(work, "--env", "SDK_WRAP=1")
        self.assertEqual(self.log.lines("wrapped"), [["wrapped"]])
        self.assertEqual(self.log.lines("restarted"), [["restarted", NO_QUEUE]])
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_the_tracer_does_not_count_beside_a_tool(self):
        """Here the tool has left, and its device has not answered: its counters are in use."""
        work = self.work(STANDIN_SLOW="30000")
        self.leave(self.begin(work))
        recorder = Recorder(work.pid, str(self.trigger.with_suffix(".limpet")), "--counters", "GRBM_COUNT")
        result = recorder.stop()
        self.assertIn("a tool of AMD's SDK counts a device in this process", result.out + result.err)

    def lock(self, mode, *words):
        """What the driver's lock comes to, in a program that limpet need not attach to: it may not while the stand-in answers its calls."""
        program, _, topology, shared = driver(self.log.folder.name)
        command = (program, mode, topology, shared, os.environ["DRIVER_LOCK_PROBE"], *words)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        status = process.stdout.readline().strip()
        held = shared.read_bytes()
        process.stdin.write("\n")
        process.stdin.flush()
        return status, held, process.stdout.readline().split(), shared.read_bytes()

    def test_the_drivers_lock(self):
        for mode, expected in (("free", SUCCESS), ("busy", CONFLICT), ("forbidden", DENIED), ("old", OLD_DRIVER)):
            with self.subTest(mode):
                status, held, after, given_back = self.lock(mode)
                self.assertEqual((status, after), (expected, ["0", "0"]))
                self.assertEqual((held[4], held[-4]), (1, 1) if mode == "free" else (0, 0), "all queues of node 1; one lock")
                self.assertEqual(given_back, bytes(4096))

    def test_the_drivers_lock_for_kernels(self):
        """Packets around a kernel switch its own queue on: with others their waves would be counted, too."""
        status, held, after, given_back = self.lock("free", "own")
        self.assertEqual((status, after), (SUCCESS, ["0", "0"]))
        self.assertEqual((held[4], held[-4]), (0, 1))
        self.assertEqual(given_back, bytes(4096))

    def test_the_drivers_file_is_closed_by_the_program(self):
        """What has its number by then is left alone."""
        status, held, after, _ = self.lock("free", "closed")
        self.assertEqual((status, held[4], after), (SUCCESS, 1, ["0", "1"]))

    def test_without_aqlprofile_a_context_does_not_start(self):
        work = self.work(library=None)
        attached = self.begin(work, "--unload")
        self.assertEqual(self.log.lines("started"), [["started", NOT_AVAILABLE]])
        self.leave(attached)
        work.ask("solo", 2)
        self.assertEqual(self.finish(work), 0)

    def test_a_device_is_counted_for_one_context(self):
        work = self.work()
        attached = self.begin(work)
        self.tell("second")
        self.assertEqual(self.log.lines("second"), [["second", CONFLICT, "0"]])
        self.assertEqual(self.log.lines("instead"), [["instead", "0", "0"]])
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_hsa_ends_and_begins_again(self):
        """The stand-in ends the program where anybody uses a queue, a signal or memory of a runtime that was shut down."""
        work = self.work()
        attached = self.begin(work)
        for word in ("restart", "together") * 2:
            self.check_counts(work)
            work.ask(word)
            self.log.clear()
            self.tell("sample")
            self.assertIn(self.log.lines("unread"), ([["unread", HSA_NOT_LOADED]], [["unread", ERROR]]),
                          "it counts anew, from 0, which the tool is told once")
            self.check_counts(work)
        self.leave(attached)
        starts, stops, _ = map(int, work.ask("bank")[0][1:])
        self.assertGreaterEqual(starts, 5)
        work.ask("solo", 2)

    def test_hsa_begins_after_the_attach(self):
        """What ran before the first read, which begins to count, is not told as nothing."""
        work = self.work()
        self.leave(self.begin(work))
        work.ask("end")
        attached = self.begin(work)
        self.assertEqual(self.status(), HSA_NOT_LOADED)
        work.ask("begin")
        work.ask("solo", KERNELS)
        self.log.clear()
        self.tell("sample")
        self.assertIn(self.log.lines("unread"), ([["unread", HSA_NOT_LOADED]], [["unread", ERROR]]))
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_hsa_begins_while_the_tool_is_stopped(self):
        """It does not register again: only its call tells."""
        work = self.work(STANDIN_REGISTER_ONCE="1")
        attached = self.begin(work)
        work.ask("end")
        self.tell("stop")
        work.ask("begin")
        self.tell("start")
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_hsa_ends_while_threads_read(self):
        work = self.work()
        attached = self.begin(work, "--env", "SDK_READERS=1")
        for _ in range(3):
            work.ask("lives", 20)
            work.ask("restart")
            self.tell("toggle")
            work.ask("solo", KERNELS)
        self.leave(attached)
        reads = {words[1] for words in self.log.lines("reads")}
        self.assertLessEqual(reads, {SUCCESS, ERROR, CONTEXT_INVALID, HSA_NOT_LOADED, NO_QUEUE, CONTEXT_ERROR})
        self.assertIn(SUCCESS, reads)
        self.assertEqual(len(self.log.lines("toggled")), 3)
        attached = self.begin(work)
        self.check_counts(work)
        self.leave(attached)
        work.ask("solo", 2)

    def test_hsa_ends_while_the_device_does_not_answer(self):
        """The program does not wait for it: its runtime goes, with what is in the queue."""
        work = self.work(STANDIN_SLOW="30000")
        attached = self.begin(work)
        self.log.clear()
        work.ask("restart")
        work.ask("solo", 2)
        self.assertIn(self.status(), (ERROR, CONTEXT_INVALID, HSA_NOT_LOADED))
        self.leave(attached)
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_device_that_is_late_keeps_its_queue(self):
        """What was left is stopped and given back by the next attach, and limpet stays in the process as long."""
        work = self.work(STANDIN_SLOW="1300")
        attached = self.begin(work, "--unload")
        result = attached.leave()
        self.assertEqual(self.log.lines("wrong"), [])
        self.assertRegex(result.out + result.err, "AMD's aqlprofile library calls it|never waits")
        self.assertTrue(harness.limpet_mappings(work.pid))
        work.ask("solo", 2)
        self.assertTrue(harness.wait_until(lambda: int(work.ask("bank")[0][1]) > 0), work.ask("bank"))

        def is_stopped():
            self.begin(work).leave()
            starts, stops, _ = map(int, work.ask("bank")[0][1:])
            return stops > 0

        self.assertTrue(harness.wait_until(is_stopped), work.ask("bank"))
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_fault_of_the_queue_ends_nothing_else(self):
        work = self.work(STANDIN_FAULT="2")
        attached = self.begin(work)
        self.assertEqual(self.status(), ERROR)
        work.ask("solo", KERNELS)
        self.leave(attached)
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_forked_child_touches_no_queue(self):
        """The stand-in ends who rings a doorbell of another process."""
        work = self.work()
        attached = self.begin(work)
        self.tell("fork")
        self.assertEqual(self.log.lines("child"), [["child", NOT_AVAILABLE, "0", "0"]])
        self.assertEqual(self.log.lines("forked"), [["forked", "0"]])
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_limpet_is_killed(self):
        work = self.work()
        attached = self.begin(work)
        self.check_counts(work)
        os.kill(attached.process.pid, signal.SIGKILL)
        attached.process.wait()
        self.check_all_is_given_back(work)
        attached = self.begin(work)
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)


if __name__ == "__main__":
    unittest.main()
