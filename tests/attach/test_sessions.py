#!/usr/bin/env python3
"""
A limpet that stays: what ends it, two at once, one that is killed, what status and detach say.
"""

import os
import signal
import subprocess
import time
import unittest

import harness
from harness import limpet, TargetTest, Workload


class Sessions(TargetTest):
    def setUp(self):
        self.target = Workload("plain", "idle")
        self.addCleanup(self.target.close)
        self.threads = harness.thread_count(self.target.pid)

    def start(self, *arguments, **options):
        process = harness.limpet_start("attach", self.target.pid, "--json", *arguments, **options)
        self.addCleanup(self.end_process, process)
        event = harness.attached_wait(process)
        self.assertIsNotNone(event, "not attached")
        self.assertEqual(event["pid"], self.target.pid)
        return process

    def assert_ends(self, process, reason, **options):
        result = harness.limpet_finish(process, **options)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("detached").get("reason"), reason, str(result))
        self.assertEqual(result.events[-1]["event"], "summary")
        return result

    def assert_well(self):
        self.assertTrue(self.target.alive())
        self.assertTrue(self.target.stats.wait_turn())
        self.assertEqual(self.target.stats.word("eintr"), 0)
        back = lambda: harness.thread_count(self.target.pid) == self.threads
        self.assertTrue(harness.wait_until(back), "a thread was left behind")

    def assert_stays(self, process, time_s=0.4):
        time.sleep(time_s)
        self.assertIsNone(process.poll(), "ended by itself")

    def status(self):
        result = limpet("status", self.target.pid, "--json")
        self.assertEqual(result.code, 0, str(result))
        return result


class Ends(Sessions):
    def test_enter(self):
        process = self.start(stdin=subprocess.PIPE)
        process.stdin.write("\n")
        process.stdin.flush()
        self.assert_ends(process, "enter")
        self.assert_well()

    def test_end_of_file_is_not_enter(self):
        process = self.start(stdin=subprocess.DEVNULL)
        self.assert_stays(process)
        process.send_signal(signal.SIGTERM)
        self.assert_ends(process, "signal")

    def test_text_without_a_newline_is_not_enter(self):
        process = self.start(stdin=subprocess.PIPE)
        process.stdin.write("x")
        process.stdin.close()
        process.stdin = None
        self.assert_stays(process)
        process.send_signal(signal.SIGINT)
        self.assert_ends(process, "signal")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start()
                process.send_signal(number)
                self.assert_ends(process, "signal")
                self.assert_well()

    def test_a_closed_terminal(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # nohup is inherited
        process.send_signal(signal.SIGHUP)
        result = harness.limpet_finish(process)
        self.assertFalse(result.hung)
        self.assert_well()

    def test_duration_in_each_unit(self):
        for text, least_s in (("0.3", 0.3), ("300ms", 0.3), ("1", 1), ("1s", 1)):
            with self.subTest(duration=text):
                start = time.monotonic()
                process = self.start("--duration", text)
                self.assert_ends(process, "duration")  # not after so many seconds, or minutes
                self.assertGreater(time.monotonic() - start, least_s)
        self.assert_well()

    def test_exit_of_the_target(self):
        process = self.start()
        os.kill(self.target.pid, signal.SIGKILL)
        self.target.process.wait()
        self.assert_ends(process, "exit")

    def test_exec_of_the_target(self):
        with Workload("storms", "exec") as storm:
            for _ in range(5):
                result = limpet("attach", storm.pid, "--json", "--duration", "200ms")
                self.assertFalse(result.hung, str(result))
                self.assertTrue(storm.stats.wait_turn())

    def test_no_json_prints_the_pause(self):
        result = limpet("attach", self.target.pid, "--duration", "0")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.out + result.err, r"(?i)pause")


class Again(Sessions):
    def test_reattach_loads_nothing(self):
        first = limpet("attach", self.target.pid, "--json", "--duration", "0").event("attached")
        agent_maps = harness.limpet_mappings(self.target.pid)
        self.assertTrue(agent_maps)
        second = limpet("attach", self.target.pid, "--json", "--duration", "0").event("attached")
        self.assertEqual((first.get("reattach"), second.get("reattach")), (False, True))
        self.assertEqual(harness.limpet_mappings(self.target.pid), agent_maps)
        self.assert_well()

    def test_two_at_once(self):
        process = self.start()
        second = limpet("attach", self.target.pid, "--json", "--duration", "0")
        self.assertEqual(second.code, 7, str(second))
        self.assertIn(str(process.pid), second.err)
        process.send_signal(signal.SIGTERM)
        self.assert_ends(process, "signal")
        self.assert_well()

    def test_many_at_the_same_moment(self):
        processes = [harness.limpet_start("attach", self.target.pid, "--json", "--duration", "50ms")
                     for _ in range(6)]
        results = [harness.limpet_finish(process) for process in processes]
        codes = [result.code for result in results]
        self.assertIn(0, codes)
        self.assertLessEqual(set(codes), {0, 7}, "\n".join(map(str, results)))
        self.assert_well()

    def test_killed_while_attached(self):
        process = self.start()
        process.kill()
        process.wait()
        rests = lambda: harness.thread_count(self.target.pid) == self.threads
        self.assertTrue(harness.wait_until(rests), "the agent does not rest")
        status = self.status().event("status")
        self.assertEqual((status["state"], status["ended"]), ("resting", "its limpet died"))
        again = limpet("attach", self.target.pid, "--json", "--duration", "0")
        self.assertEqual(again.code, 0, str(again))
        self.assertTrue(again.event("attached")["reattach"])
        self.assert_well()


class StatusAndDetach(Sessions):
    def test_status_of_an_untouched_process(self):
        before = harness.threads_of(self.target.pid)
        result = limpet("status", self.target.pid, "--json")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("no agent", result.err)
        self.assertEqual(harness.threads_of(self.target.pid), before)

    def test_status_while_attached(self):
        process = self.start("--load", harness.program("tool_probe.so"))
        result = self.status()
        status = result.event("status")
        self.assertEqual((status["state"], status["holder"]), ("attached", process.pid))
        self.assertEqual([tool["path"] for tool in status["tools"]],
                         [harness.program("tool_probe.so")])
        process.send_signal(signal.SIGTERM)
        self.assert_ends(process, "signal")
        self.assertEqual(self.status().event("status")["state"], "resting")

    def test_status_does_not_stop_the_target(self):
        limpet("attach", self.target.pid, "--duration", "0")
        log = subprocess.run(
            ["strace", "-f", "-qq", "-e", "trace=ptrace", harness.LIMPET, "status",
             str(self.target.pid)], capture_output=True, text=True)
        self.assertNotIn("PTRACE_", log.stderr)

    def test_detach_unloads_a_resting_agent(self):
        limpet("attach", self.target.pid, "--duration", "0")
        result = limpet("detach", self.target.pid, "--unload", "--json")
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(harness.limpet_mappings(self.target.pid), [])
        self.assert_well()

    def test_many_detaches_at_the_same_moment(self):
        """The one that unmaps holds the process, and others ask the holder to leave: one ended the other by SIGTERM."""
        for _ in range(20):
            self.assertEqual(limpet("attach", self.target.pid, "--duration", "0").code, 0)
            together = [harness.limpet_start("detach", self.target.pid, "--unload") for _ in range(5)]
            for process in together:
                self.assertGreaterEqual(harness.limpet_finish(process).code, 0)
        self.assertTrue(self.target.stats.wait_turn())

    def test_detach_without_an_agent(self):
        result = limpet("detach", self.target.pid, "--json")
        self.assertIn(result.code, (0, 1, 5), str(result))
        self.assertFalse(result.hung)
        self.assert_well()

    def test_detach_while_another_holds_it(self):
        process = self.start()
        result = limpet("detach", self.target.pid, "--json")
        self.assertIn(result.code, (0, 7), str(result))
        if result.code == 7:
            self.assertIn(str(process.pid), result.err)
            process.send_signal(signal.SIGTERM)
        self.assertFalse(harness.limpet_finish(process).hung)
        self.assert_well()


if __name__ == "__main__":
    unittest.main()
