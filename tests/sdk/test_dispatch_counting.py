"""Counters of single kernels for tools of AMD's SDK, on stand-ins of HSA and aqlprofile: right values of kernels that were alone, and that no queue
ever stalls: whoever leaves, whatever the program does with its queues."""

import os
import pathlib
import signal
import time
import unittest

from sdk import ToolCase, Work, harness

MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))

from standin import STANDIN, Recorder  # noqa: E402

PLACES = 8  # where SQ counts: XCCs and engines
KERNELS = 20
HITS = 8  # TCC's, of a wave's item
SUCCESS, CONFLICT, NOT_AVAILABLE = "0", "12", "37"


class DispatchCountingTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.trigger = self.log.path.parent / "sample"

    def work(self, library="with", **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def begin(self, work, *variables, options=()):
        arguments = [word for variable in (f"SDK_SAMPLE={self.trigger}", *variables) for word in ("--env", variable)]
        return self.attach(work, "dispatch", arguments=(*arguments, *options))

    def tell(self, word):
        made = self.trigger.with_suffix(".new")
        made.write_text(word)
        made.rename(self.trigger)
        self.assertTrue(harness.wait_until(lambda: not self.trigger.exists()), self.log.lines())

    def finish(self, work):
        work.process.stdin.close()
        return work.process.wait(timeout=2 * harness.PATIENCE_S)

    def records(self, word="record"):
        """[(waves of the grid, name, value)], each checked against its question."""
        asked = {words[1]: words[2:] for words in self.log.lines("asked")}
        found = []
        for words in self.log.lines(word):
            dispatch, kernel, grid, name, value, data = words[1], words[3], words[5], words[6], words[7], words[11]
            self.assertEqual(asked[dispatch], ["kernel", kernel, "grid", grid])
            self.assertEqual(int(data), int(dispatch) + 1000, "the tool's own")
            found.append((int(grid) // 64, name, int(value)))
        return found

    def check_waves(self, records):
        for waves, name, value in records:
            self.assertEqual((name, value), ("SQ_WAVES", waves))

    def check_all_is_given_back(self, work):
        def is_given_back():
            starts, stops, reads = map(int, work.ask("bank")[0][1:])
            return starts == stops == reads and work.ask("sets") == [["sets", "0"]]

        for _ in range(16):
            if harness.wait_until(is_given_back, 0.5):
                break
            self.leave(self.begin(work))
        self.assertTrue(is_given_back(), work.ask("bank") + work.ask("sets"))
        work.ask("solo", 2)

    def test_each_kernel_is_counted(self):
        work = self.work()
        attached = self.begin(work)
        self.assertEqual(self.log.lines("again") + self.log.lines("started"), [["again", "15"], ["started", SUCCESS]])
        work.ask("solo", KERNELS)
        self.leave(attached)
        records = self.records()
        self.assertEqual([waves for waves, _, _ in records], list(range(1, KERNELS + 1)))
        self.check_waves(records)
        self.assertEqual({words[9] for words in self.log.lines("record")}, {str(PLACES)})
        self.assertEqual(len(self.log.lines("asked")), KERNELS, "once for each kernel")
        self.assertNotIn("0", {words[3] for words in self.log.lines("asked")}, "kernels are known by their numbers")
        self.check_all_is_given_back(work)

    def test_a_config_that_is_made_when_the_tool_is_asked(self):
        """As AMD's samples have it: the kernel that is asked for first goes by uncounted, all others are counted: their launch waits for packets, half
        a second at most."""
        for _ in range(4):
            work = self.work()
            attached = self.begin(work, "SDK_LATE=1")
            work.ask("solo", KERNELS)
            self.leave(attached)
            records = self.records()
            self.check_waves(records)
            self.assertEqual(len(self.log.lines("asked")), KERNELS)
            self.assertNotIn(1, [waves for waves, _, _ in records])
            self.check_all_is_given_back(work)
            self.log.clear()
            if len(records) == KERNELS - 1:
                return
        self.fail(f"only {len(records)} were counted")

    def test_the_first_kernels_are_collected_at_once(self):
        """There are 64 sets of packets: they come back before the thread that collects would look by itself."""
        for _ in range(5):
            work = self.work()
            attached = self.begin(work)
            for _ in range(5):
                work.ask("solo", KERNELS)
                time.sleep(0.02)
            self.leave(attached)
            records = self.records()
            self.check_waves(records)
            self.check_all_is_given_back(work)
            self.log.clear()
            if len(records) == 5 * KERNELS:
                return
        self.fail(f"only {len(records)} were counted")

    def all_are_counted(self, work):
        before = len(self.records())
        work.ask("solo", KERNELS)
        return harness.wait_until(lambda: len(self.records()) == before + KERNELS, 1)

    def test_a_tool_that_takes_configs_in_turn(self):
        """As AMD's own does with groups of counters: every kernel is counted, once it was seen to."""
        work = self.work()
        attached = self.begin(work, "SDK_ROUND=2")
        self.assertTrue(harness.wait_until(lambda: self.all_are_counted(work)))
        self.leave(attached)
        for waves, name, value in self.records():
            self.assertEqual(value, waves if name == "SQ_WAVES" else 64 * HITS * waves)
        self.check_all_is_given_back(work)

    def test_a_tool_that_does_not_want_every_kernel(self):
        work = self.work()
        attached = self.begin(work, "SDK_ODD=1")
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.assertEqual(len(self.log.lines("asked")), KERNELS)
        self.assertEqual([waves for waves, _, _ in self.records()], list(range(1, KERNELS + 1, 2)))
        self.check_waves(self.records())
        self.check_all_is_given_back(work)

    def test_a_tool_that_changes_its_config(self):
        """The kernel that it says so for goes by uncounted: other counters run around it.  Both are counted from then on as expected."""
        work = self.work()
        attached = self.begin(work, "SDK_SWITCH=1")
        for name in ("SQ_WAVES", "TCC_HIT_sum") * 2:
            before = len(self.records())
            self.assertTrue(harness.wait_until(
                lambda: work.ask("solo", 3) == [] and any(words[1] == name for words in self.records()[before:])), name)
            self.tell("switch")
        self.leave(attached)
        found = self.records()
        for waves, name, value in found:
            self.assertEqual(value, waves if name == "SQ_WAVES" else 64 * HITS * waves)
        self.check_all_is_given_back(work)

    def test_through_a_buffer(self):
        """Of 4 kB: which the thread that fills it delivers."""
        work = self.work()
        attached = self.begin(work, "SDK_BUFFERED=1")
        work.ask("solo", KERNELS)
        self.leave(attached)
        sums = {}
        for words in self.log.lines("buffered"):
            sums.setdefault((int(words[1]), int(words[5]) // 64), []).append(int(words[7]))
        self.assertEqual([(waves, sum(values), len(values)) for (_, waves), values in sums.items()],
                         [(waves, waves, PLACES) for waves in range(1, KERNELS + 1)])
        self.check_all_is_given_back(work)

    def test_a_buffer_that_is_smaller_than_the_values_of_a_kernel(self):
        """They come whole, in several deliveries."""
        work = self.work()
        attached = self.begin(work, "SDK_BUFFERED=1", "SDK_BUFFER=512")
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.assertEqual(self.log.lines("wrong"), [])
        self.assertEqual(len(self.log.lines("buffered")), KERNELS * PLACES)
        self.check_all_is_given_back(work)

    @unittest.skipUnless(os.environ.get("DISPATCH_LONG"), "takes eight seconds: ./dev stress dispatch")
    def test_the_program_ends_while_its_buffer_is_full_and_stuck(self):
        """exit() waits for half a second, not for room for each value."""
        work = self.work()
        attached = self.begin(work, "SDK_BUFFERED=1", "SDK_STUCK=1")
        work.ask("solo", 5)
        time.sleep(0.8)
        work.ask("solo", 55)
        self.assertEqual(self.finish(work), 0)
        attached.process.kill()

    def test_kernels_of_code_that_comes_later_are_known(self):
        """Also where nobody asks for code objects."""
        work = self.work()
        attached = self.begin(work)
        work.ask("late")
        self.leave(attached)
        self.assertEqual(len(self.log.lines("asked")), 1)
        self.assertNotEqual(self.log.lines("asked")[0][3], "0")

    def test_a_tracer_after_a_tool_that_left_something_behind(self):
        """A kernel that did not end while the tool left: once it has, others count."""
        work = self.work()
        attached = self.begin(work)
        work.ask("endless")
        self.leave(attached)
        self.assertNotEqual(work.ask("sets"), [["sets", "0"]])
        work.ask("release")
        work.ask("solo", 2)
        result = Recorder(work.pid, str(self.trigger.with_suffix(".limpet")), "--counters", "GRBM_COUNT").stop()
        self.assertNotIn("a tool of AMD's SDK counts", result.err + result.out)
        self.check_all_is_given_back(work)

    def test_a_thread_that_rings_for_another(self):
        """A kernel belongs to who has taken room for it."""
        work = self.work()
        other = work.ask("cross", 0)[0][1]
        attached = self.begin(work, "SDK_PUSH=1")
        for _ in range(5):
            work.ask("cross", 7)
        self.leave(attached)
        self.check_waves(self.records())
        found = {(words[3], words[1]) for words in self.log.lines("external")}
        self.assertEqual(found, {(str(64 * 7), str(work.pid)), (str(64 * 8), other)})
        self.check_all_is_given_back(work)

    def test_a_program_that_keeps_its_ring_full(self):
        """By its own count, which does not know of packets around its own: none of its kernels is lost, also while limpet leaves."""
        work = self.work()
        attached = self.begin(work)
        work.ask("brim", 300)
        work.tell("brim", 600)
        self.leave(attached)
        work.lines()
        self.check_waves(self.records())
        self.assertGreater(len(self.records()), 0)
        self.check_all_is_given_back(work)

    def test_a_queue_that_the_program_serves(self):
        """It gets no packet but the program's."""
        work = self.work()
        attached = self.begin(work)
        work.ask("soft", KERNELS)
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.check_waves(self.records())
        self.assertEqual(len(self.records()), KERNELS)
        self.check_all_is_given_back(work)

    def test_queues_that_are_lent(self):
        """Each borrower has a handle of its own, and gives it back while others use the queue."""
        work = self.work()
        attached = self.begin(work)
        for _ in range(3):
            work.ask("lent", KERNELS)
        self.leave(attached)
        self.check_waves(self.records())
        self.assertGreater(len(self.records()), 2 * KERNELS)
        self.check_all_is_given_back(work)

    def test_kernels_that_run_at_the_same_time_are_not_told(self):
        """The stand-in counts both in one bank: a value of such a kernel is another's, too."""
        work = self.work()
        attached = self.begin(work)
        work.ask("pairs", 10)
        asked = len(self.log.lines("asked"))
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.assertEqual(asked, 20)
        found = self.records()
        self.check_waves(found)
        self.assertLess(len([waves for waves, _, _ in found if waves == 3]), 20)
        self.assertGreaterEqual(len(found), KERNELS - 1, "those that were alone")
        self.check_all_is_given_back(work)

    def test_beside_a_kernel_that_goes_by_uncounted(self):
        """It is in a queue of before, and does not end: nothing on its device is right until it is done."""
        work = self.work()
        work.ask("beside", 0)
        attached = self.begin(work)
        work.ask("beside", 1)
        work.ask("solo", 5)
        work.ask("release")
        self.assertTrue(harness.wait_until(lambda: work.ask("beside", 1) + work.ask("solo", KERNELS) == [] and self.log.lines("record")))
        self.leave(attached)
        self.check_waves(self.records())
        self.check_all_is_given_back(work)

    def test_what_goes_by_uncounted(self):
        """Room for several at once, queues of one thread, full rings; the program runs as ever."""
        work = self.work()
        attached = self.begin(work)
        for _ in range(3):
            work.ask("group", 5)
            work.ask("single", 5)
            work.ask("stuff", 40)
            work.ask("away")
            work.ask("solo", KERNELS)
        self.leave(attached)
        self.check_waves(self.records())
        self.assertGreater(len(self.records()), KERNELS)
        self.check_all_is_given_back(work)

    def test_many_threads(self):
        work = self.work()
        for word in ("many", "churn", "go"):
            attached = self.begin(work)
            work.ask(word, 40)
            self.leave(attached)
        work.ask("solo", 2)
        for words in self.log.lines("record"):
            self.assertEqual((words[5], words[6], words[7]), ("10", "SQ_WAVES", self.log.lines("record")[0][7]))
        self.assertGreater(len(self.log.lines("record")), 10)
        self.check_all_is_given_back(work)

    def test_left_between_room_and_doorbell(self):
        """The packet is filled in and rung for when nobody is there any more."""
        for is_killed in (False, True):
            with self.subTest(is_killed=is_killed):
                self.log.clear()
                work = self.work()
                attached = self.begin(work, options=("--unload",))
                work.ask("hold")
                if is_killed:
                    attached.process.send_signal(signal.SIGKILL)
                    attached.process.wait()
                else:
                    self.leave(attached)
                work.ask("let", 3)
                work.ask("solo", KERNELS)
                self.check_all_is_given_back(work)
                self.assertEqual(self.finish(work), 0)

    def test_attached_between_room_and_doorbell(self):
        """It is around nothing: the tool is asked, and gets nothing."""
        work = self.work()
        work.ask("hold")
        attached = self.begin(work)
        work.ask("let", 3)
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.check_waves(self.records())
        self.check_all_is_given_back(work)

    def test_limpet_is_killed(self):
        work = self.work()
        for _ in range(3):
            attached = self.begin(work)
            work.ask("solo", 5)
            attached.process.send_signal(signal.SIGKILL)
            attached.process.wait()
            work.ask("many", 5)
            work.ask("solo", KERNELS)
        self.check_all_is_given_back(work)
        self.assertEqual(self.finish(work), 0)

    def test_a_kernel_that_does_not_end(self):
        """Its packets stay the device's, so that the tracer does not count either; the next attach gives them back."""
        work = self.work()
        attached = self.begin(work)
        work.ask("endless")
        self.leave(attached)
        self.assertNotEqual(work.ask("sets"), [["sets", "0"]])
        result = Recorder(work.pid, str(self.trigger.with_suffix(".limpet")), "--counters", "GRBM_COUNT").stop()
        self.assertIn("a tool of AMD's SDK counts", result.out + result.err)
        work.ask("release")
        self.leave(self.begin(work))
        self.check_all_is_given_back(work)

    def test_hsa_ends_and_begins_again(self):
        """The stand-in ends the program where anybody uses a queue, a signal or memory of a runtime that was shut down."""
        work = self.work()
        attached = self.begin(work)
        for word in ("restart", "together", "restart"):
            work.ask("solo", 5)
            work.ask(word)
            before = len(self.log.lines("record"))
            self.assertTrue(harness.wait_until(lambda: work.ask("solo", 5) == [] and len(self.log.lines("record")) > before), word)
        work.ask("lives", 20)
        work.ask("solo", 5)
        self.leave(attached)
        self.check_waves(self.records())
        self.check_all_is_given_back(work)

    def test_hsa_ends_with_packets_under_way(self):
        work = self.work()
        attached = self.begin(work)
        work.ask("endless")
        work.ask("release")
        work.ask("restart")
        work.ask("solo", 5)
        self.leave(attached)
        self.check_all_is_given_back(work)

    def test_the_program_ends(self):
        for chore, is_there in (("sets", True), ("late_end", True), ("sets", False), ("endless", True)):
            with self.subTest(chore=chore, is_there=is_there):
                self.log.clear()
                work = self.work()
                attached = self.begin(work)
                work.ask("solo", KERNELS)
                work.ask(chore)
                if not is_there:
                    self.leave(attached)
                self.assertEqual(self.finish(work), 0)
                if is_there:
                    harness.limpet_finish(attached.process)
                self.check_waves(self.records())
                self.assertGreaterEqual(len(self.records()), KERNELS - 1 if chore == "late_end" else KERNELS, "what was done is told")

    def test_a_forked_child(self):
        work = self.work()
        attached = self.begin(work)
        work.ask("hold")
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        work.ask("let", 3)
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        self.check_waves(self.records())
        self.check_all_is_given_back(work)
        self.assertEqual(self.finish(work), 0)

    def test_at_each_attach_and_unloaded(self):
        """aqlprofile has functions of limpet's until the program's end: the tool goes, the agent stays."""
        work = self.work()
        maps = pathlib.Path(f"/proc/{work.pid}/maps")
        for _ in range(3):
            self.log.clear()
            result = self.unload(lambda: self.begin(work, options=("--unload",)),
                                 lambda: (self.log.clear(), work.ask("solo", KERNELS)))
            self.assertEqual(len(self.records()), KERNELS)
            self.assertIn("AMD's aqlprofile library calls it when the program ends", result.out + result.err)
            self.assertTrue(harness.wait_until(lambda: "tool_dispatch" not in maps.read_text()), maps.read_text())
        self.check_all_is_given_back(work)
        self.assertEqual(self.finish(work), 0)

    def test_unloaded_without_a_kernel(self):
        """What exit() calls is there: with a config that it made packets for, and with none."""
        for variables in ((), ("SDK_LATE=1",)):
            for pieces in ("0", "100000"):
                with self.subTest(variables=variables, pieces=pieces):
                    work = self.work(STANDIN_MEMORY=pieces)
                    self.leave(self.begin(work, *variables, options=("--unload",)))
                    self.assertEqual(self.finish(work), 0)

    def test_a_context_that_is_stopped_and_started(self):
        work = self.work()
        attached = self.begin(work)
        for _ in range(3):
            before = len(self.log.lines("record"))
            work.ask("solo", 5)
            self.tell("restart")
            self.assertTrue(harness.wait_until(lambda: len(self.log.lines("record")) >= before + 5), "of before it was stopped")
        self.assertEqual(self.log.lines("restarted"), [["restarted", SUCCESS]] * 3)
        self.tell("second")
        self.assertEqual(self.log.lines("second"), [["second", CONFLICT]])
        work.ask("solo", KERNELS)
        self.leave(attached)
        self.check_waves(self.records())
        self.assertEqual(len(self.records()), KERNELS + 15)
        self.check_all_is_given_back(work)

    def test_a_tool_that_is_slow(self):
        """It gets fewer records; the program does not wait for it."""
        work = self.work()
        attached = self.begin(work, "SDK_SLOW=5")
        work.ask("solo", 200)
        self.leave(attached)
        self.check_waves(self.records())
        self.assertGreaterEqual(len(self.records()), 64)
        self.check_all_is_given_back(work)

    def test_what_is_not_whole_is_not_told(self):
        for variables in ({"STANDIN_VALUES": "3000"}, {"STANDIN_STRANGER": "1"}):
            with self.subTest(variables):
                self.log.clear()
                work = self.work(**variables)
                attached = self.begin(work)
                work.ask("solo", KERNELS)
                self.leave(attached)
                self.assertEqual(len(self.log.lines("asked")), KERNELS)
                self.assertEqual(self.log.lines("record"), [])
                self.check_all_is_given_back(work)

    def test_no_memory_for_packets(self):
        for pieces in ("0", "3", "9"):
            with self.subTest(pieces):
                self.log.clear()
                work = self.work(STANDIN_MEMORY=pieces)
                attached = self.begin(work)
                work.ask("solo", KERNELS)
                self.leave(attached)
                self.check_waves(self.records())
                self.assertEqual(work.ask("memory"), [["memory", "0"]])
                self.assertEqual(self.finish(work), 0)

    def test_without_aqlprofile_a_context_does_not_start(self):
        work = self.work(library=None)
        attached = self.begin(work)
        self.assertEqual(self.log.lines("started"), [["started", NOT_AVAILABLE]])
        work.ask("solo", 2)
        self.leave(attached)
        work.ask("solo", 2)

    def test_one_counts_in_a_process(self):
        work = self.work()
        attached = self.attach(work, "device", "dispatch", arguments=("--env", f"SDK_SAMPLE={self.trigger}"))
        self.assertEqual(self.log.lines("attached"), [["attached", CONFLICT]])
        self.assertEqual(attached.leave().code, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
