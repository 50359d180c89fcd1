#!/usr/bin/env python3
"""
Programs that use a (stand-in) HSA runtime without HIP: their kernels and copies are in the recording, whether their
queues are older than limpet or not, and what cannot be seen is said.
"""

import tempfile
import unittest
from collections import Counter

from standin import CASES, Recorder, Seen, Work

NOTHING_RECORDED = 5
ROUNDS = 16
BATCH = 8
CHURN = 300
MANY = 60  # by each of eight threads
RESTARTS = 3
COPY_BYTES = 4096
TO_DEVICE, TO_HOST = 2, 3  # enum copy_direction
TRACED = ("--kernel-trace", "--memory-copy-trace")


class Hsa(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, case="amds", **variables):
        work = Work(**CASES[case], program="standin_hsa_work", **variables)
        self.addCleanup(work.close)
        return work

    def begin(self, work, *options):
        recorder = Recorder(work.pid, tempfile.mktemp(suffix=".limpet", dir=self.folder), *options)
        self.assertIsNotNone(recorder.attached)
        return recorder

    def end(self, recorder):
        result = recorder.stop()
        self.assertEqual(result.code, 0, str(result))
        for name in ("dropped_full", "dropped_nested", "dropped_no_ring", "invalid", "work_lost"):
            self.assertEqual(result.event("recorded")[name], 0, str(result))
        return result

    def check_kernels(self, seen, rounds=ROUNDS):
        kernels = seen.of("kernel")
        batches = (rounds + BATCH - 1) // BATCH
        self.assertEqual(Counter(call["title"] for call in kernels),
                         {"hsa_kernel_0": rounds, "hsa_kernel_1": batches * BATCH})
        for call in kernels:
            self.assertEqual([call["grid_" + axis] for axis in "xyz"], [10, 20, 30])
            self.assertEqual([call["group_" + axis] for axis in "xyz"], [1, 2, 3])
            self.assertEqual((call["device"], call["scratch_bytes"], call["local_bytes"]), (1, 16, 77))
            self.assertNotEqual(call["cause"], 0)

    def check_copies(self, seen, rounds=ROUNDS):
        copies = seen.of("memory-copy")
        self.assertEqual(Counter(call["direction"] for call in copies), {TO_DEVICE: rounds, TO_HOST: rounds})
        self.assertEqual({call["size"] for call in copies}, {COPY_BYTES})
        self.assertEqual({(call["device"], call["from_device"]) for call in copies}, {(1, 0), (0, 1)})

    def check_causes(self, seen):
        """Each was caused by a doorbell of its own thread, before it began; of a batch, all by one."""
        rings = {call["begin_ns"] for call in seen.of("hsa-core") if call["function"] == "hsa_signal_store_screlease"}
        for call in seen.of("kernel"):
            begin = seen.begin_ns(call["cause"])
            self.assertTrue(any(abs(ring - begin) <= 2 for ring in rings), f"{call}")
            self.assertLessEqual(begin, call["begin_ns"] + 1000)

    def test_queues_from_before_in_every_kind_of_process(self):
        for case in CASES:
            with self.subTest(case):
                work = self.start(case)
                work.ask("go", 3)
                tables = work.tables()
                before = work.words(tables)
                recorder = self.begin(work, *TRACED)
                work.ask("go", ROUNDS)
                self.end(recorder)
                self.assertEqual(work.words(tables), before)
                seen = Seen(recorder.path)
                self.assertEqual({call["domain"] for call in seen.calls}, {"kernel", "memory-copy"})
                self.check_kernels(seen)
                self.check_copies(seen)
                work.ask("go", 3)

    def test_queues_and_executables_that_come_later(self):
        work = self.start()
        recorder = self.begin(work, "--hsa-trace", *TRACED)
        work.ask("queue")
        work.ask("go", ROUNDS)
        self.end(recorder)
        seen = Seen(recorder.path)
        self.check_kernels(seen)
        self.check_copies(seen)
        self.check_causes(seen)
        recorder = self.begin(work, "--kernel-trace")
        work.ask("late")
        self.end(recorder)
        self.assertEqual([call["title"] for call in Seen(recorder.path).of("kernel")], ["hsa_kernel_4"])

    def test_a_queue_that_many_threads_use(self):
        """They ring for their packets in any order, half of which have no signal."""
        work = self.start()
        for _ in range(3):
            recorder = self.begin(work, "--kernel-trace", "--ring-size", "1M")
            work.ask("late")  # one thread first: while a queue is being learned, others are not seen
            work.ask("many", MANY)
            result = self.end(recorder)
            total = result.event("recorded")
            self.assertEqual(total["work_unseen"], 0)
            titles = Counter(call["title"] for call in Seen(recorder.path).of("kernel"))
            self.assertEqual(titles.pop("hsa_kernel_4"), 1)
            # A packet that another thread rings for while it is looked at may be taken for the one that comes to
            # its slot.
            self.assertEqual(titles.keys(), {"hsa_kernel_0", "hsa_kernel_1"})
            for count in titles.values():
                self.assertAlmostEqual(count, 8 * MANY, delta=20)
            self.assertLess(total["work_cut"], 20)

    def test_signals_that_are_destroyed_after_each_kernel(self):
        """Nobody looks at one afterwards: the runtime would end the program."""
        work = self.start()
        recorder = self.begin(work, "--kernel-trace", "--ring-size", "1M")
        work.ask("late")
        work.ask("churn", CHURN)
        total = self.end(recorder).event("recorded")
        kernels = Counter(call["title"] for call in Seen(recorder.path).of("kernel"))["hsa_kernel_0"]
        self.assertAlmostEqual(kernels, 8 * CHURN, delta=20)
        self.assertEqual(total["work_unseen"], 0)

    def check_restarts(self, word="restart", users=1, **variables):
        for case in CASES:
            with self.subTest(case):
                work = self.start(case, **variables)
                recorder = self.begin(work, "--hsa-core-trace", *TRACED)
                work.ask("go", 2)
                for _ in range(RESTARTS):
                    work.ask(word)
                    work.ask("go", 2)
                work.ask("go", ROUNDS - 2 - 2 * RESTARTS)
                self.end(recorder)
                seen = Seen(recorder.path)
                calls = seen.count("hsa-core")
                self.assertEqual((calls["hsa_shut_down"], calls["hsa_init"]), (users * RESTARTS, users * RESTARTS))
                kernels = seen.of("kernel")
                self.assertEqual(Counter(call["title"] for call in kernels),
                                 {"hsa_kernel_0": ROUNDS, "hsa_kernel_1": BATCH * (2 + RESTARTS)})
                self.assertEqual({call["device"] for call in kernels}, {1})
                self.check_copies(seen)

    def test_a_runtime_that_is_shut_down_and_starts_again(self):
        """Its agents, signals and queues are others then, and its tables were set anew."""
        self.check_restarts()

    def test_a_runtime_that_starts_again_and_does_not_register(self):
        self.check_restarts(STANDIN_REGISTER_ONCE="1")

    def test_a_runtime_that_several_threads_shut_down(self):
        """It is not asked while one of them takes it down."""
        self.check_restarts("together", 8)

    def test_a_runtime_that_a_thread_deletes_unseen(self):
        """It is not asked when a call of another thread is over: its tables tell."""
        for case in CASES:
            with self.subTest(case):
                work = self.start(case)
                recorder = self.begin(work, *TRACED)
                work.ask("overlap")
                work.ask("go", ROUNDS)
                self.end(recorder)
                seen = Seen(recorder.path)
                self.check_kernels(seen)
                self.check_copies(seen)

    def test_a_start_of_the_runtime_that_is_left_by_longjmp(self):
        """Whoever comes next sees all."""
        work = self.start()
        recorder = self.begin(work, "--kernel-trace")
        work.ask("leave")
        work.ask("go", 1)
        self.end(recorder)
        recorder = self.begin(work, *TRACED)
        work.ask("go", ROUNDS)
        self.end(recorder)
        seen = Seen(recorder.path)
        self.check_kernels(seen)
        self.check_copies(seen)

    def forbid(self, work, recorder, code):
        """The program's work without the counter."""
        work.ask("forbid")
        work.ask("go", ROUNDS)
        result = recorder.stop()
        self.assertEqual(result.code, code, str(result))
        self.assertIn("has forbidden a thread of its own to read the machine's counter", result.err)
        return result

    def test_a_thread_that_never_could_read_the_counter(self):
        work = self.start()
        work.ask("forbid")
        work.ask("go", ROUNDS)  # it can do without, and without us
        self.forbid(work, self.begin(work, *TRACED), NOTHING_RECORDED)

    def test_a_thread_that_loses_the_counter_between_two_visits(self):
        work = self.start()
        recorder = self.begin(work, *TRACED)
        work.ask("go", 1)
        self.end(recorder)
        work.ask("forbid")
        recorder = self.begin(work, "--hsa-trace")
        work.ask("go", ROUNDS)
        result = recorder.stop()
        self.assertEqual(result.code, NOTHING_RECORDED, str(result))
        self.assertIn("has forbidden a thread of its own to read the machine's counter", result.err)

    def test_a_thread_that_may_not_read_the_counter(self):
        """What the device did before is noted a moment later, which may be too late on a busy machine: again then."""
        batches = (ROUNDS + BATCH - 1) // BATCH * BATCH
        for _ in range(5):
            work = self.start()
            recorder = self.begin(work, *TRACED)
            work.ask("go", ROUNDS)
            result = self.forbid(work, recorder, 0)
            seen = Seen(recorder.path)
            if len(seen.of("kernel")) == ROUNDS + batches and len(seen.of("memory-copy")) == 2 * ROUNDS:
                break
        self.check_kernels(seen)
        self.check_copies(seen)
        self.assertGreaterEqual(result.event("recorded")["dropped_no_counter"], ROUNDS + batches + 2 * ROUNDS)

    def test_what_nobody_looks_at_is_said(self):
        work = self.start()
        recorder = self.begin(work, *TRACED)
        work.ask("go", 1)
        work.ask("unseen")
        result = self.end(recorder)
        self.assertEqual(result.event("recorded")["work_unseen"], 1)
        self.assertIn("1 kernels and copies of HSA are not in the recording: the program has not looked at", result.err)

    def test_a_kernel_that_does_not_end(self):
        work = self.start()
        recorder = self.begin(work, "--kernel-trace")
        work.ask("endless")
        result = self.end(recorder)
        self.assertEqual(result.event("recorded")["work_cut"], 1)
        work.ask("release")
        work.ask("go", 1)
        recorder = self.begin(work, *TRACED)
        work.ask("go", ROUNDS)
        self.assertEqual(self.end(recorder).event("recorded")["work_cut"], 0)
        self.check_kernels(Seen(recorder.path))

    def test_a_runtime_that_starts_again_between_two_visits(self):
        """What of ours came back when nobody was there went with the runtime."""
        work = self.start()
        recorder = self.begin(work, "--kernel-trace")
        work.ask("endless")
        self.assertEqual(self.end(recorder).event("recorded")["work_cut"], 1)
        work.ask("release")
        work.ask("go", 1)
        work.ask("restart")
        recorder = self.begin(work, *TRACED)
        work.ask("go", ROUNDS)
        self.end(recorder)
        self.check_kernels(Seen(recorder.path))

    def test_a_runtime_that_cannot_tell(self):
        work = self.start(STANDIN_NO_TIMES="1")
        recorder = self.begin(work, "--hsa-core-trace", "--kernel-trace")
        work.ask("go", 1)
        result = self.end(recorder)
        self.assertIn("kernel", result.err)
        self.assertIn("this HSA runtime lacks functions", result.err)
        self.assertEqual(Seen(recorder.path).of("kernel"), [])

    def test_a_runtime_that_does_not_tell_how_far_a_queue_is(self):
        """That is for counters only."""
        work = self.start(STANDIN_NO_INDEX="1")
        recorder = self.begin(work, "--kernel-trace")
        work.ask("brief", ROUNDS)
        self.end(recorder)
        self.assertEqual(len(Seen(recorder.path).of("kernel")), ROUNDS)


if __name__ == "__main__":
    unittest.main()
