"""What the tools of tests/programs/tool_lifecycle.c write down, and targets that they are attached to."""

import os
import signal
import unittest

import staged
from staged import harness
from harness import Workload

FIRST = ["configure", "configure_attach", "initialize", "tool_attach"]
AGAIN = ["tool_attach", "tool_detach"]


def tool(name):
    return harness.program(f"life_{name}.so")


def expected(attaches, exited=False):
    """The calls that a tool sees over so many visits, in order."""
    return FIRST + AGAIN[1:] + AGAIN * (attaches - 1) + (["finalize"] if exited else [])


class Doors(unittest.TestCase):
    """A staged product, a target, a log."""

    maxDiff = None
    workload = "idle"

    @classmethod
    def setUpClass(cls):
        cls.prefix = staged.prefix()

    def setUp(self):
        self.log = staged.Log()
        self.addCleanup(self.log.close)
        self.target = self.new_target()

    def new_target(self, workload=None, **options):
        target = Workload("plain", workload or self.workload, **options)
        harness.progress.note_visit([target.pid])  # by a front end, sooner or later
        self.addCleanup(target.close)
        return target

    def assert_well(self, target=None):
        target = target or self.target
        self.assertTrue(target.alive(), target.fate())
        self.assertTrue(target.stats.wait_turn(), "stuck")
        for name in ("eintr", "corruptions", "errors"):
            self.assertEqual(target.stats.word(name), 0, target.stats.detail())

    def assert_log(self, *events):
        """What a tool wrote, which may come a little later when nobody waited for it."""
        harness.wait_until(lambda: len(self.log.events()) >= len(events))
        self.assertEqual(self.log.events(), list(events))

    def end_target(self):
        """The target returns from main."""
        self.target.process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.target.process.wait(harness.PATIENCE_S), 0)


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "needs root")(test)


def as_nobody():
    return ("setpriv", f"--reuid={staged.NOBODY}", f"--regid={staged.NOBODY}", "--clear-groups")


def new_zombie(test):
    """A child that has ended and is not waited for until the test is over."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    test.addCleanup(os.waitpid, pid, 0)
    harness.wait_until(lambda: harness.status_of(pid).get("State", "").startswith("Z"))
    return pid


def free_pid():
    """A number that no process has: one that has just been reaped."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
