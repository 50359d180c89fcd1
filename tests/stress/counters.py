#!/usr/bin/env python3
"""
Counters of kernels, on and off for ten minutes, while a program launches kernels, fills its queues, makes and destroys them:
limpet is killed at random times. No queue stalls, no value is wrong, no packets are lost.

  tests/stress/counters.py [--seconds N] [--kills N] [--seed N] [--short]

The program is standin_hsa_work on the stand-ins of AMD's runtimes (tests/standin), which say themselves what every kernel
counts: the waves of its grid. STANDIN and REGISTER_TESTS name the folders of the built tests, ROCPROFV3 the program to test.
Ends with "N passed, N failed".
"""

import argparse
import csv
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "amd")]

from report import Report
from standin import STANDIN, Work, harness

ROCPROFV3 = os.environ["ROCPROFV3"]
MADE_UP = HERE.parent / "counters/amd"
HOST = {**os.environ, "HSA_MODEL_TOPOLOGY": str(MADE_UP / "topology"), "ROCPROFILER_METRICS_PATH": str(MADE_UP / "definitions")}
STALL_S = 2 * harness.PATIENCE_S
VISIT_S = 1.5
SHORT_S = 5
WAVE = 64

# What the program is asked to do, and how many kernels that makes.
CHORES = {
    ("solo", 500): 500, ("solo", 2000): 2000, ("many", 40): 8 * 2 * 40, ("churn", 40): 8 * 40, ("stuff", 64): 64, ("stuff", 40): 40,
    ("pairs", 3): 6, ("group", 50): 100, ("single", 20): 20, ("away",): 0, ("queue",): 0, ("brief", 20): 20,
    ("turns", 40): 40, ("streams", 20): 8 * 20,
}


class Stalled(Exception):
    pass


class Program:
    """Works at random, and is ended where it does not answer."""

    def __init__(self, chance):
        self.work = Work(library_path=f"{STANDIN}/amd_register/old:{STANDIN}", program="standin_hsa_work", STANDIN_GFX="gfx942")
        self.chance, self.kernels = chance, 0

    def ask(self, *words):
        timer = threading.Timer(STALL_S, self.work.process.kill)
        timer.start()
        try:
            return self.work.ask(*words)
        except AssertionError as error:
            raise Stalled(f"{' '.join(map(str, words))}: {error}") from error
        finally:
            timer.cancel()

    def work_until(self, moment):
        while time.monotonic() < moment:
            chore = self.chance.choice(list(CHORES))
            self.ask(*chore)
            self.kernels += CHORES[chore]


class Visit:
    """One rocprofv3 --pmc, from its start on."""

    def __init__(self, pid, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [ROCPROFV3, "--pid", str(pid), "--pmc", "SQ_WAVES", "GRBM_COUNT", "-f", "csv", "-d", folder, "-o", "x"], env=HOST,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def await_attached(self):
        said = []
        while not said or ":: success" not in said[-1]:
            said.append(self.process.stdout.readline())
            if not said[-1]:
                raise Stalled(f"not attached: {self.process.wait()} {said}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def end(self):
        said, _ = self.process.communicate("\n", timeout=STALL_S)
        if self.process.returncode:
            raise Stalled(f"rocprofv3 ended with {self.process.returncode}: {said}")

    def values(self):
        """(how many, the wrong ones) of the waves of kernels."""
        path = pathlib.Path(self.folder) / "x_counter_collection.csv"
        if not path.exists():
            return 0, []
        with open(path) as file:
            rows = [(int(row["Grid_Size"]), float(row["Counter_Value"])) for row in csv.DictReader(file)
                    if row["Counter_Name"] == "SQ_WAVES"]
        path.unlink()
        return len(rows), [row for row in rows if row[1] != -(-row[0] // WAVE)]


def number_of(program, word):
    return [int(number) for number in program.ask(word)[0][1:]]


def visit_once(program, folder, is_killed, chance):
    """Of the values of one visit, as Visit.values(); of one that is killed nothing is left."""
    visit = Visit(program.work.pid, folder)
    if is_killed:
        program.work_until(time.monotonic() + chance.uniform(0, VISIT_S))
        visit.kill()
        return 0, []
    visit.await_attached()
    program.work_until(time.monotonic() + VISIT_S)
    visit.end()
    return visit.values()


def run(report, seconds, kills, seed, folder):
    chance = random.Random(seed)
    program = Program(chance)
    counted, wrong, killed, visits, stall = 0, [], 0, 0, None
    try:
        visit_once(program, folder, False, chance)
        sets = number_of(program, "sets")[0]
        end = time.monotonic() + seconds
        while time.monotonic() < end or killed < kills:
            is_killed = killed < kills and chance.random() < 0.8
            some, bad = visit_once(program, folder, is_killed, chance)
            counted, wrong, killed, visits = counted + some, wrong + bad, killed + is_killed, visits + 1
        some, bad = visit_once(program, folder, False, chance)
        counted, wrong = counted + some, wrong + bad
        left = number_of(program, "sets")[0] - sets
        bank = number_of(program, "bank")
    except (Stalled, subprocess.TimeoutExpired) as error:
        stall = str(error)
    finally:
        program.work.close()
    report.check("no queue stalls", stall, f"{program.kernels} kernels, {visits} visits, {killed} killed")
    if stall:
        return
    report.check("no value is wrong", f"{len(wrong)}: {wrong[:5]}" if wrong else None if counted else "none was counted",
                 f"{counted} values")
    report.check("no packets are lost", f"{left} sets" if left > 0 else None)
    report.check("devices were stopped and read as often as started", None if len(set(bank)) == 1 else str(bank), f"{bank[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--short", action="store_true", help=f"{SHORT_S} seconds, three kills")
    options = parser.parse_args()
    if options.short:
        options.seconds, options.kills = SHORT_S, 3
    print(f"seed {options.seed}", flush=True)
    report = Report()
    with tempfile.TemporaryDirectory(prefix="limpet-counters-") as folder:
        run(report, options.seconds, options.kills, options.seed, folder)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
