#!/usr/bin/env python3
"""
A program launches kernels in every way that the stand-in knows while a tool of AMD's SDK that counts single kernels is attached, left, unloaded and
killed over and over: each value that is told is right, the program never stalls, and at the end all packets have come back.

  tests/stress/dispatch.py [--seconds N] [--seed N]

STANDIN, REGISTER_TESTS and SDK_TOOLS name the folders of the built tests, LIMPET the limpet to test. Ends with
"N passed, N failed".
"""

import argparse
import os
import pathlib
import random
import signal
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
MADE_UP = HERE.parent / "counters/amd"
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "sdk"), str(HERE.parent / "amd")]
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))

from report import Report
from sdk import Attached, Log, Work, harness
from standin import STANDIN

CHORES = (("solo", 20), ("solo", 5), ("many", 10), ("churn", 8), ("pairs", 3), ("group", 3), ("single", 3), ("stuff", 40), ("brim", 90), ("soft", 3),
          ("lent", 6), ("cross", 5), ("away", 0), ("restart", 0), ("together", 0), ("queue", 0), ("fork", 0), ("lives", 3))
TOOLS = ((), ("SDK_BUFFERED=1",), ("SDK_BUFFERED=1", "SDK_BUFFER=512"), ("SDK_LATE=1",), ("SDK_ODD=1",), ("SDK_PUSH=1",),
         ("SDK_ROUND=1",), ("SDK_ROUND=3", "SDK_LATE=1"))
SMALL_GRID, SMALL_WAVES, SMALL_ITEMS = 10, 94, 6000  # of "many": 10 times 20 times 30 items
HITS = 8  # of an item
KILLED, VISIT_S, END_S = 0.4, 0.6, 120


class Driver(threading.Thread):
    """The program's own work, until it is over."""

    def __init__(self, work, seed):
        super().__init__()
        self.work, self.random = work, random.Random(seed)
        self.is_over, self.chores, self.problem = False, 0, None

    def run(self):
        while not self.is_over:
            word, count = self.random.choice(CHORES)
            try:
                self.work.ask(word, count)
            except (AssertionError, OSError) as error:
                self.problem = f"{word} {count}: {error!r}"
                return
            self.chores += 1


def expected(grid, name):
    if name == "SQ_WAVES":
        return SMALL_WAVES if grid == SMALL_GRID else grid // 64
    return HITS * (SMALL_ITEMS if grid == SMALL_GRID else grid)


class Storm:
    def __init__(self, work, log, seed):
        self.work, self.log, self.random = work, log, random.Random(seed)
        self.visits = self.kills = self.records = 0
        self.problems = []

    def check_records(self):
        for words in self.log.lines("record"):
            grid, name, value = int(words[5]), words[6], int(words[7])
            self.records += 1
            if value != expected(grid, name):
                self.problems.append(" ".join(words))
        self.problems += [" ".join(words) for words in self.log.lines("wrong")]

    def visit(self):
        self.log.clear()
        arguments = [word for variable in self.random.choice(TOOLS) for word in ("--env", variable)]
        attached = Attached(self.work, self.log, "dispatch", arguments=(*arguments, *self.random.choice(((), ("--unload",)))))
        time.sleep(self.random.random() * VISIT_S)
        if self.random.random() < KILLED:
            attached.process.send_signal(signal.SIGKILL)
            attached.process.wait()
            self.kills += 1
        else:
            result = attached.leave()
            if result.code:
                self.problems.append(str(result))
        self.visits += 1
        self.check_records()


def is_given_back(work):
    starts, stops, reads = work.ask("bank")[0][1:]
    return starts == stops == reads and work.ask("sets") == [["sets", "0"]]


def give_back(work, log):
    """The next attach gives back what the last one left: whoever is killed leaves it."""
    for _ in range(16):
        if harness.wait_until(lambda: is_given_back(work), 0.5):
            return None
        Attached(work, log, "dispatch").leave()
    return f"{work.ask('bank')} {work.ask('sets')}"


def run(report, options, log):
    work = Work(library_path=f"{STANDIN}/amd_register/old:{STANDIN}", program="standin_hsa_work", STANDIN_GFX="gfx942")
    storm, driver = Storm(work, log, options.seed), Driver(work, options.seed + 1)
    try:
        driver.start()
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and not driver.problem and not storm.problems:
            storm.visit()
        driver.is_over = True
        driver.join(END_S)
        stalled = "it stalls" if driver.is_alive() else driver.problem
        if report.check("the program goes on", stalled, f"{driver.chores} chores, {storm.visits} attaches, {storm.kills} killed"):
            report.check("all packets came back", give_back(work, log))
            work.process.stdin.close()
            status = work.process.wait(timeout=END_S)
            report.check("it ends as ever", f"status {status}" if status else None)
    finally:
        work.close()
    report.check("each value is right", "; ".join(storm.problems[:3]), f"{storm.records} kernels")
    report.check("some were counted", None if storm.records else "none")


def ends_while_stuck():
    os.environ["DISPATCH_LONG"] = "1"
    from test_dispatch_counting import DispatchCountingTest

    result = unittest.TestResult()
    DispatchCountingTest("test_the_program_ends_while_its_buffer_is_full_and_stuck").run(result)
    return "".join(text for _, text in result.errors + result.failures) or None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report, log = Report(), Log()
    report.check("exit() is not held up by a tool that is stuck", ends_while_stuck())
    run(report, options, log)
    log.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
