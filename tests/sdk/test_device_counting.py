"""Counters of whole devices for tools of AMD's SDK: what they read, and that a queue of limpet's outlives nothing that it must not: HSA's end,
forks, a device that does not answer, a detach, limpet itself."""

import os
import pathlib
import signal
import unittest

from sdk import Attached, Log, Work, harness

MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))

from standin import STANDIN  # noqa: E402

DEVICE = "257"
XCCS, CHANNELS = 2, 4
KERNELS = 20
HITS = 64 * XCCS * CHANNELS  # of a kernel of one work group: one for each item
COUNTED = HITS * sum(range(1, KERNELS + 1))
SUCCESS, ERROR, CONTEXT_INVALID, CONFLICT, HSA_NOT_LOADED, RATE_EXCEEDED, NOT_AVAILABLE = "0", "1", "10", "12", "22", "33", "37"


class DeviceCountingTest(unittest.TestCase):
    def setUp(self):
        self.log = Log()
        self.addCleanup(self.log.close)
        self.trigger = self.log.path.parent / "sample"

    def work(self, library="with", **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def attach(self, work, *options):
        attached = Attached(work, self.log, "device", arguments=("--env", f"SDK_SAMPLE={self.trigger}", *options))
        self.addCleanup(attached.process.kill)
        return attached

    def leave(self, attached):
        result = attached.leave()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.log.lines("wrong"), [])
        return result

    def tell(self, word):
        """Has the tool do something."""
        made = self.trigger.with_suffix(".new")
        made.write_text(word)
        made.rename(self.trigger)
        self.assertTrue(harness.wait_until(lambda: not self.trigger.exists()), self.log.lines())

    def sample(self):
        """What the tool reads, by name."""
        self.log.clear()
        self.tell("sample")
        self.assertEqual(self.log.lines("wrong"), [])
        return {words[1]: words[2:] for words in self.log.lines("value")}

    def status(self):
        self.log.clear()
        self.tell("status")
        return self.log.lines("status")[0][1]

    def check_all_is_given_back(self, work):
        """The last packet is in the queue; on a busy machine the device comes to it later."""
        def is_stopped():
            starts, stops, _ = map(int, work.ask("bank")[0][1:])
            return starts == stops and work.ask("sets") == [["sets", "0"]]

        self.assertTrue(harness.wait_until(is_stopped), work.ask("bank") + work.ask("sets"))
        work.ask("solo", 2)

    def check_counts(self, work):
        before = float(self.sample()["TCC_HIT_sum"][0])
        work.ask("solo", KERNELS)
        self.assertEqual(float(self.sample()["TCC_HIT_sum"][0]) - before, COUNTED)

    def test_it_is_counted_when_the_tool_reads(self):
        work = self.work()
        attached = self.attach(work)
        self.assertEqual(self.log.lines("again") + self.log.lines("before") + self.log.lines("started"),
                         [["again", "15"], ["before", "10"], ["started", "0"]])
        self.assertEqual(self.log.lines("waves"), [["waves", NOT_AVAILABLE, "0"]], "waves of its queues are not seen: no 0 is told")
        self.assertEqual(self.log.lines("choose"), [["choose", "1", "1", "unknown", "30"]], "once for each start")
        first = self.sample()
        work.ask("solo", KERNELS)
        second = self.sample()
        self.assertEqual(float(second["TCC_HIT_sum"][0]) - float(first["TCC_HIT_sum"][0]), COUNTED)
        self.assertEqual(second["HIT_SHARE"], ["100", "7", DEVICE])
        self.assertGreater(float(second["GRBM_COUNT"][0]), float(first["GRBM_COUNT"][0]))
        self.assertEqual(len(self.log.lines("value")), 2 + XCCS)
        self.assertEqual(self.log.lines("refused"), [["refused", "29", "19", "10"]])
        buffered = {words[1]: words[2:] for words in self.log.lines("buffered")}
        self.assertEqual(buffered["TCC_HIT_sum"], [second["TCC_HIT_sum"][0], "8", DEVICE])
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_at_each_attach_and_unloaded(self):
        work = self.work()
        maps = pathlib.Path(f"/proc/{work.pid}/maps")
        for _ in range(3):
            attached = self.attach(work, "--unload")
            self.check_counts(work)
            self.leave(attached)
            self.check_all_is_given_back(work)
            self.assertTrue(harness.wait_until(lambda: "memfd:limpet" not in maps.read_text()), maps.read_text())

    def test_without_aqlprofile_a_context_does_not_start(self):
        work = self.work(library=None)
        attached = self.attach(work)
        self.assertEqual(self.log.lines("started"), [["started", NOT_AVAILABLE]])
        self.leave(attached)
        work.ask("solo", 2)

    def test_a_device_is_counted_for_one_context(self):
        work = self.work()
        attached = self.attach(work)
        self.tell("second")
        self.assertEqual(self.log.lines("second"), [["second", CONFLICT, "0"]])
        self.assertEqual(self.log.lines("instead"), [["instead", "0", "0"]])
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_hsa_ends_and_begins_again(self):
        """The stand-in ends the program where anybody uses a queue, a signal or memory of a runtime that was shut down."""
        work = self.work()
        attached = self.attach(work)
        for word in ("restart", "together") * 2:
            self.check_counts(work)
            work.ask(word)
            self.check_counts(work)
        self.leave(attached)
        starts, stops, _ = map(int, work.ask("bank")[0][1:])
        self.assertGreaterEqual(starts, 5)
        work.ask("solo", 2)

    def test_hsa_ends_while_threads_read(self):
        work = self.work()
        attached = self.attach(work, "--env", "SDK_READERS=1")
        for _ in range(3):
            work.ask("lives", 20)
            work.ask("restart")
            self.tell("toggle")
            work.ask("solo", KERNELS)
        self.leave(attached)
        reads = {words[1] for words in self.log.lines("reads")}
        self.assertLessEqual(reads, {SUCCESS, ERROR, CONTEXT_INVALID, HSA_NOT_LOADED, RATE_EXCEEDED})
        self.assertIn(SUCCESS, reads)
        self.assertEqual(len(self.log.lines("toggled")), 3)
        attached = self.attach(work)
        self.check_counts(work)
        self.leave(attached)
        work.ask("solo", 2)

    def test_hsa_ends_while_the_device_does_not_answer(self):
        """The program does not wait for it: its runtime goes, with what is in the queue."""
        work = self.work(STANDIN_SLOW="30000")
        attached = self.attach(work)
        self.log.clear()
        work.ask("restart")
        work.ask("solo", 2)
        self.assertIn(self.status(), (ERROR, CONTEXT_INVALID, HSA_NOT_LOADED))
        self.leave(attached)
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_device_that_is_late_keeps_its_queue(self):
        """What was left is stopped and given back by the next attach, and limpet stays in the process as long."""
        work = self.work(STANDIN_SLOW="2000")
        maps = pathlib.Path(f"/proc/{work.pid}/maps")
        attached = self.attach(work, "--unload")
        result = attached.leave()
        self.assertEqual(self.log.lines("wrong"), [])
        self.assertIn("a device has not done what its counters were told", result.out + result.err)
        self.assertIn("limpet", maps.read_text())
        work.ask("solo", 2)
        self.assertTrue(harness.wait_until(lambda: int(work.ask("bank")[0][1]) > 0), work.ask("bank"))

        def is_stopped():
            self.attach(work).leave()
            starts, stops, _ = map(int, work.ask("bank")[0][1:])
            return stops > 0

        self.assertTrue(harness.wait_until(is_stopped), work.ask("bank"))
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_fault_of_the_queue_ends_nothing_else(self):
        work = self.work(STANDIN_FAULT="2")
        attached = self.attach(work)
        self.assertEqual(self.status(), ERROR)
        work.ask("solo", KERNELS)
        self.leave(attached)
        work.ask("restart")
        work.ask("solo", 2)

    def test_a_forked_child_touches_no_queue(self):
        """The stand-in ends who rings a doorbell of another process."""
        work = self.work()
        attached = self.attach(work)
        self.tell("fork")
        self.assertEqual(self.log.lines("child"), [["child", NOT_AVAILABLE, "0", "0"]])
        self.assertEqual(self.log.lines("forked"), [["forked", "0"]])
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_limpet_is_killed(self):
        work = self.work()
        attached = self.attach(work)
        self.check_counts(work)
        os.kill(attached.process.pid, signal.SIGKILL)
        attached.process.wait()
        self.check_all_is_given_back(work)
        attached = self.attach(work)
        self.check_counts(work)
        self.leave(attached)
        self.check_all_is_given_back(work)


if __name__ == "__main__":
    unittest.main()
