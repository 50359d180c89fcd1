"""Each sampler with exactly its rights, and what is said when a better one cannot be had."""

import os
import shutil
import stat
import tempfile
import unittest

import exactness
from exactness import in_three_tries, running, sample

SOMEBODY, ANOTHER = 65534, 65533


@unittest.skipIf(os.geteuid(), "needs root, to become other users")
@in_three_tries
class Ladder(unittest.TestCase):
    """Programs and the driver lie where every user may run them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chmod(cls.folder.name, 0o755)
        cls.programs = exactness.PROGRAMS, exactness.DRIVER
        for path in (os.path.join(exactness.PROGRAMS, "chain_50"), exactness.DRIVER):
            shutil.copy(path, cls.folder.name)
        exactness.Recording.programs = cls.folder.name
        exactness.DRIVER = os.path.join(cls.folder.name, "sampler_driver")
        os.chmod(exactness.DRIVER, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)

    @classmethod
    def tearDownClass(cls):
        exactness.Recording.programs, exactness.DRIVER = cls.programs
        cls.folder.cleanup()

    def chain(self, *words):
        return running(os.path.join(self.folder.name, "chain_50"), "2", *words, user=SOMEBODY)

    def skip_if_refused(self, recording):
        """Where this machine allows users nothing of the kind."""
        if recording.error:
            self.skipTest(f"{recording.error['what']}: {recording.error['why']}")

    def test_the_same_user_gets_stacks_without_capabilities(self):
        with self.chain() as process:
            recording = sample("copy", process.pid, "max=200", user=SOMEBODY)
        self.skip_if_refused(recording)
        self.assertEqual(recording.ready, "copy")
        self.assertEqual(recording.counts["ends"]["complete"], len(recording.samples))
        self.assertGreaterEqual(len(recording.samples), 200)
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) >= 2:
                self.assertIn("perf_event_paranoid", recording.counts["limits"])

    def test_two_capabilities_are_enough_for_the_best(self):
        with self.chain() as process:
            recording = sample("best", process.pid, "on", "off", "max=200", user=SOMEBODY, capabilities=("bpf", "perfmon"))
            for_another = sample("best", process.pid, "max=20", user=ANOTHER, capabilities=("bpf", "perfmon"))
        self.skip_if_refused(recording)
        if recording.ready != "bpf":
            self.skipTest(f"{recording.refused}")
        running_ones = [one for one in recording.samples if one["kind"] == 0]
        self.assertTrue(running_ones)
        self.assertEqual({one["end"] for one in running_ones}, {"complete"})
        # Which code is mapped where is another right: CAP_SYS_PTRACE.  It is said, or there are stacks.
        self.assertTrue(for_another.refused or for_another.counts["ends"]["complete"], for_another.counts)
        for one in for_another.refused:
            self.assertTrue(one["what"] and one["fix"], one)

    def test_a_deleted_program_is_read_from_memory(self):
        program = os.path.join(self.folder.name, "deleted")
        shutil.copy(os.path.join(self.folder.name, "chain_50"), program)
        with running(program, "1", user=SOMEBODY) as process:
            os.unlink(program)
            recording = sample("copy", process.pid, "max=100", user=SOMEBODY)
        self.skip_if_refused(recording)
        self.assertEqual(recording.counts["ends"]["complete"], len(recording.samples))
        module = recording.modules[recording.samples[0]["frames"][0][0]]
        self.assertTrue(module["deleted"])
        self.assertEqual(module["path"], program)

    def test_another_user_gets_states_and_the_reasons(self):
        with self.chain() as process:
            recording = sample("best", process.pid, "max=10", user=ANOTHER)
            forced = sample("copy", process.pid, "max=10", user=ANOTHER)
        self.assertEqual(recording.ready, "state")
        refused = {one["sampler"]: one for one in recording.refused}
        self.assertIn("read", refused)
        self.assertTrue({"copy", "read"} <= set(refused), refused)
        for one in recording.refused:
            self.assertTrue(one["what"] and one["fix"], one)
        self.assertTrue(all(not s["frames"] for s in recording.samples))
        self.assertIn("R", {s["state"] for s in recording.samples})
        self.assertEqual(forced.exit, 1)
        self.assertIn("perf_event_open", forced.error["what"])

    def test_waiting_threads_are_read_from_outside(self):
        with running(os.path.join(self.folder.name, "chain_50"), "3", "sleepy", user=SOMEBODY) as process:
            recording = sample("read", process.pid, "off", "max=60", rate=50, user=SOMEBODY)
        self.skip_if_refused(recording)
        asleep = [s for s in recording.samples if s["end"] == "complete"]
        self.assertGreater(len(asleep), 20, recording.counts)
        for one in asleep:
            functions = [n for n in recording.stack(one) if n.startswith("f_")]
            self.assertEqual(functions, [f"f_{i:04}" for i in range(50)])

    def test_an_unknown_rung_is_named(self):
        recording = sample("unheard", os.getpid())
        self.assertEqual(recording.exit, 1)
        self.assertIn("copy", recording.error["fix"])

    def test_cycles_are_counted_or_refused_by_name(self):
        with self.chain() as process:
            for sampler in ("best", "copy"):
                recording = sample(sampler, process.pid, "cycles", "max=50")
                if recording.error:
                    self.assertIn("cycles", recording.error["what"])
                    self.assertIn("cpu-clock", recording.error["fix"])
                else:
                    self.assertGreater(recording.counts["ends"]["complete"], 0)

    def test_a_process_that_is_not_there(self):
        recording = sample("best", 4194303)
        self.assertEqual(recording.exit, 1)
        self.assertIn("4194303", recording.error["what"])

    def test_the_end_of_the_process_ends_sampling(self):
        with self.chain() as process:
            process.kill()
            process.wait()
            recording = sample("copy", process.pid)
            if "perf_event_open" in recording.error["what"]:
                self.skip_if_refused(recording)
            self.assertIn("no process", recording.error["what"])


if __name__ == "__main__":
    unittest.main()
