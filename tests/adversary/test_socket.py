#!/usr/bin/env python3
"""
A target takes copies of limpet's sockets from limpet's thread, so that nobody hangs up, and fills them or has what is
sent dropped: limpet waits no longer than its deadlines, keeps no lock, and a second Ctrl-C ends it.
"""

import os
import signal
import time
import unittest

from harness import TargetTest, attached_wait, limpet, limpet_finish, limpet_start, wait_until

WIRETAPPER = os.path.join(os.environ.get("ADVERSARY", "."), "wiretapper")
ATTEMPTS = 20
FILL_S = 1  # longer than the program waits before it begins


class Socket(TargetTest):
    def attached(self, name):
        target = self.target(WIRETAPPER, name)
        process = limpet_start("attach", target.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertTrue(attached_wait(process))
        return target, process

    def assert_well(self, target):
        self.assertTrue(target.alive(), target.fate())
        self.assertTrue(target.stats.wait_turn())

    def filled(self):
        """The socket that it wants is there for a moment only: on a busy machine it may miss that."""
        for _ in range(ATTEMPTS):
            target, process = self.attached("fill")
            if target.stats.word("signals_sent"):
                time.sleep(FILL_S)
                return target, process
            self.end_process(process)
            target.process.kill()
        self.skipTest("the program was never fast enough")

    def test_a_full_socket_is_not_waited_for(self):
        target, process = self.filled()
        process.send_signal(signal.SIGINT)
        result = limpet_finish(process)
        self.assertEqual(result.code, 1, str(result))
        self.assert_well(target)
        again = limpet("detach", target.pid)
        self.assertFalse(again.hung, str(again))
        self.assertNotEqual(again.code, 7, "the lock is still held: " + str(again))

    def test_a_second_signal_ends_a_limpet_that_waits_for_an_answer(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            target, process = self.attached("silent")
            self.assertTrue(wait_until(lambda: target.stats.word("signals_sent")))
            process.send_signal(number)
            time.sleep(1)  # two at once are one
            process.send_signal(number)
            result = limpet_finish(process, 15)
            self.assertEqual(result.code, 1, str(result))
            self.assert_well(target)

    def swallow_until(self, expected, end):
        """What limpet says when a message to the agent was lost; the program may also read limpet's very first one, which is an error at once."""
        for _ in range(ATTEMPTS):
            target, process = self.swallowed()
            begin_s = time.monotonic()
            end(process)
            result = limpet_finish(process)
            self.assertEqual(result.code, 1, str(result))
            if expected in result.err:
                return target, time.monotonic() - begin_s
            self.assertIn("hello failed", result.err)
            target.process.kill()
        self.skipTest("the program has always read the first message")

    def swallowed(self):
        """A limpet that waits for an answer: the program has read what was sent to the agent."""
        for _ in range(ATTEMPTS):
            target = self.target(WIRETAPPER, "swallow")
            process = limpet_start("record", "-p", target.pid, "--alloc-trace", "-o", os.devnull, "-d", "10ms")
            self.addCleanup(self.end_process, process)
            if wait_until(lambda: target.stats.word("signals_sent") or process.poll() is not None) and process.poll() is None:
                time.sleep(FILL_S)
            if process.poll() is None:
                return target, process
            target.process.kill()
        self.skipTest("the program was never fast enough")

    def test_the_first_signal_ends_a_limpet_whose_messages_are_swallowed(self):
        target, took_s = self.swallow_until("interrupted before the agent had answered",
                                            lambda process: process.send_signal(signal.SIGINT))
        self.assertLess(took_s, 5)
        self.assert_well(target)

    def test_swallowed_messages_cost_one_deadline(self):
        """10 s in all, not for each message; most of them asleep."""
        target, took_s = self.swallow_until("the agent does not answer", lambda process: None)
        self.assertLess(took_s, 15)
        self.assert_well(target)


if __name__ == "__main__":
    unittest.main()
