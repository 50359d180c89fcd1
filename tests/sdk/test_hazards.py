"""Tools of AMD's SDK in programs that leave their calls by jumps, fork, cancel, end; and limpet that comes, goes and dies meanwhile."""

import os
import signal
import unittest

import forks
from sdk import CASES, ToolCase, Work, harness

TOOLS = ("callbacks", "buffers", "work")
CHILD_KERNELS = 2000  # more than lossless buffers hold: each that waited for room would take 2 s


class Hazards(ToolCase):
    def setUp(self):
        super().setUp()
        self.work = Work(**CASES["amds"], program="standin_hazards")
        self.addCleanup(self.work.close)

    def begin(self, *arguments, tools=TOOLS):
        return self.attach(self.work, *tools, arguments=arguments)

    def is_alive(self):
        self.assertEqual(self.work.ask("streams", 1), [])

    def storm(self):
        self.work.tell("storm", 64)
        self.assertEqual(self.work.process.stdout.readline(), "storming\n")

    def calm(self):
        self.assertGreater(int(self.work.ask("stop")[-1][1]), 0)
        self.is_alive()

    def test_detached_while_64_threads_are_in_callbacks(self):
        self.storm()
        for arguments in ((), ("--unload",)):
            attached = self.begin(*arguments)
            harness.wait_until(lambda: False, 0.2)
            self.leave(attached)
        for words in self.log.lines("detach"):
            if "extended" in words:
                self.assertEqual(words[words.index("wrong") + 1], "0", words)
        self.calm()

    def test_limpet_is_killed(self):
        self.storm()
        for _ in range(2):
            attached = self.begin()
            os.killpg(attached.process.pid, signal.SIGKILL)
            attached.process.wait()
            self.assertTrue(harness.wait_until(lambda: len(self.log.lines("detach")) == len(TOOLS)))
            self.log.clear()
        self.calm()

    def test_calls_that_are_left_by_longjmp(self):
        attached = self.begin()
        self.assertEqual(self.work.ask("leaps", 60), [])
        self.is_alive()
        self.leave(attached)
        self.assertEqual(self.work.ask("leaps", 20), [])

    def test_threads_that_are_cancelled_in_their_calls(self):
        attached = self.begin()
        self.assertEqual(self.work.ask("cancels", 60), [])
        self.is_alive()
        self.leave(attached)
        self.assertEqual(self.work.ask("cancels", 5), [])

    def test_children_forked_among_launches(self):
        attached = self.begin()
        self.assertEqual(self.work.ask("forks", 15), [])
        self.is_alive()
        self.leave(attached)

    def test_a_child_that_launches_waits_for_no_delivery(self):
        """It has copies of contexts with lossless buffers, but no thread that empties them."""
        attached = self.begin()
        self.assertEqual(self.work.ask("child", CHILD_KERNELS), [])
        self.is_alive()
        self.leave(attached)

    def test_a_thread_that_may_not_read_the_counter(self):
        attached = self.begin()
        self.assertEqual(self.work.ask("forbid", 50), [])
        self.is_alive()
        self.leave(attached)

    def test_calls_at_the_very_end(self):
        attached = self.begin()
        self.work.tell("quit")
        self.assertEqual(self.work.process.wait(harness.PATIENCE_S), 0)
        harness.limpet_finish(attached.process)


class Children(unittest.TestCase):
    """Of threads that fork all the time: each uses the loader, and none may find it locked. See ./dev stress forks."""

    def storm(self, visit):
        problem, _ = forks.storm(visit, 2, 4)
        self.assertIsNone(problem)

    def test_while_tools_come_and_go(self):
        self.storm("tools")

    def test_while_everything_is_unloaded(self):
        self.storm("tools, unload")

    def test_while_tables_are_traced(self):
        self.storm("trace")


class Corners(ToolCase):
    """Calls where calls are rare."""

    def setUp(self):
        super().setUp()
        self.work = Work(**CASES["amds"], program="standin_corners")
        self.addCleanup(self.work.close)

    def begin(self, *tools, arguments=()):
        return self.attach(self.work, *tools, arguments=arguments)

    def left(self, word, count):
        [[_, number]] = self.work.ask(word, count)
        return int(number)

    def test_a_callback_that_jumps_out_of_the_call(self):
        attached = self.begin("hazards", arguments=("--env", "SDK_HAZARD=leap", "--unload"))
        # Every third callback: the tool sees the thread's calls also after it has jumped.
        self.assertGreater(self.left("escapes", 30), 10)
        # A thread that is in calls again is in no callback any more.
        self.assertEqual(self.left("handlers", 1), 0)
        result = attached.leave()
        self.assertEqual(result.code, 0, result)
        self.assertGreater(int(self.log.lines("detach")[-1][2]), 30)
        with open(f"/proc/{self.work.pid}/maps") as maps:
            self.assertNotIn("tool_hazards", maps.read())
        self.assertEqual(self.left("escapes", 30), 0)

    def test_signal_handlers_tiny_stacks_and_brief_threads(self):
        for name in TOOLS, ("hazards",):
            attached = self.begin(*name, arguments=("--env", "SDK_HAZARD=throw"))
            for word in ("handlers", "tiny", "brief"):
                self.assertEqual(self.left(word, 300), 0, word)
            result = attached.leave()
            self.assertEqual(result.code, 0, result)
            self.assertEqual(self.log.lines("wrong"), [])
        self.assertEqual(self.left("brief", 20), 0)

    def test_arguments_in_vector_registers(self):
        attached = self.begin(*TOOLS)
        self.assertEqual(self.left("floats", 100), 0)
        self.assertEqual(attached.leave().code, 0)
        told = {words[3]: words[-1] for words in self.log.lines("argument")}
        self.assertEqual((told["minMipMapLevelClamp"], told["maxMipMapLevelClamp"]), ("0.250000", "1.500000"))
        self.assertEqual(self.left("floats", 10), 0)

    def test_as_often_as_one_likes(self):
        """What a tool asks to be told is given back with it."""
        for _ in range(34):
            attached = self.begin("buffers", arguments=("--unload",))
            self.assertEqual(attached.leave().code, 0)
            self.assertEqual(self.log.lines("wrong"), [])


if __name__ == "__main__":
    unittest.main()
