"""
Programs that are counted: they work when they are told to, so that counters are there before and after.

Environment: LIMPET is the executable under test, PROGRAMS the folder with counted.
"""

import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import LIMPET, PATIENCE_S, PROGRAMS, limpet  # noqa: E402,F401

SOFTWARE = ("task-clock", "context-switches", "cpu-migrations", "page-faults", "minor-faults", "major-faults")


class Counted:
    """A program that waits for a word before it works."""

    def __init__(self, *arguments, before=(), path=None):
        self.process = subprocess.Popen(
            [*before, path or harness.program("counted"), *map(str, arguments)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def state(self):
        return harness.status_of(self.pid).get("State", "X")[0]

    def await_rest(self):
        """Until it waits for the next word, and is off the processor."""
        if not harness.wait_until(lambda: self.state() == "S" and harness.thread_count(self.pid) == 1):
            raise AssertionError("it never rests")

    def work(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise AssertionError("it did not do its work")
        self.await_rest()

    def end(self):
        """By itself."""
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()


class CountTest(unittest.TestCase):
    maxDiff = None

    def counted(self, *arguments, **options):
        target = Counted(*arguments, **options)
        self.addCleanup(target.close)
        target.await_rest()
        return target

    def start(self, *arguments, **options):
        """A limpet that counts by now."""
        process = harness.limpet_start("stat", "--json", *arguments, **options)
        event = harness.event_wait(process)
        if not event or event.get("event") != "counting":
            raise AssertionError(f"it does not count: {event} {harness.limpet_finish(process)}")
        return process

    def finish(self, process, code=0):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        return self.judge(harness.limpet_finish(process), code)

    def judge(self, result, code=0):
        self.assertEqual(result.code, code, result)
        return result


def counts(result, scope="total", of="process", **wanted):
    """{name: event} of the counts that are meant."""
    return {event["name"]: event for event in result.events
            if event.get("event") == "counter" and (event["scope"], event["of"]) == (scope, of)
            and all(event[key] == value for key, value in wanted.items())}


def value(result, name, **which):
    return counts(result, **which)[name]["value"]
