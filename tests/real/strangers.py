#!/usr/bin/python3
"""Programs of Ubuntu that limpet has not been tried on, and their stacks beside references that read no unwind rules.

  tests/real/strangers.py [--samples N] [--seconds S] [--details] [NAME...]

Ubuntu 24.04 compiles with frame pointers, and each program runs in a root of it, which is made once and kept in the user's
cache. While it works, limpet samples it (bpf, then copy), and at the same time `perf record --call-graph fp`.

wrong         of the stacks that limpet calls complete: behind no call, behind a call of another function (by the machine's
              instructions), or not from the outermost function
unconfirmed   a call by a register, of a function that neither instructions nor frame pointers have shown there
guessed       stacks that limpet marks as guesses; they are judged apart
apart         how far functions' shares are from the reference's, beyond what chance explains: of the innermost functions, of paths

At most 1 in 10,000 may be wrong, at most 1 in 100 incomplete. Runs in Debian's own Python, which has capstone, as root.
Ends with "N passed, N failed".
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common"), str(HERE.parent / "roots")]

import roots
from report import Report, table
from strangers_judge import Judge
from strangers_look import look
from strangers_programs import PROGRAMS, write_inputs

RELEASE = "noble"
SAMPLERS = ("bpf", "copy")
STARTERS = ("unshare", "sh", "chroot", "mount", "mkdir")
TURNS_MOST = 12
LEAST_SAMPLES = 500
WARM_S = 0.5
PATIENCE_S = 60
LIMIT_S = 300
SKIPPED = 77
FAULTS_MISSED_MOST = 0.5  # one call less of a function that calls itself is another right stack
WRONG_MOST, INCOMPLETE_MOST = 1 / 10000, 1 / 100
HEAD = ("program", "sampler", "samples", "wrong", "guessed wrong", "unconfirmed", "incomplete", "guessed", "lost", "reference", "apart")


def cpu_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Trial:
    def __init__(self, program, directory, folder, options):
        self.program, self.directory, self.folder, self.options = program, directory, folder, options
        self.judge = Judge(directory)
        self.counts = dict.fromkeys(SAMPLERS, 0)
        self.ended_badly = None

    def command(self, text):
        return [*roots.enter(self.directory, self.folder), "/usr/bin/env", "-i", "LC_ALL=C.UTF-8", f"HOME={self.folder}", "PATH=/usr/bin:/bin:/usr/games",
                "OMP_THREAD_LIMIT=2", "sh", "-c", f"cd {self.folder} && {text}"]  # fmt: skip

    def prepare(self):
        done = subprocess.run(self.command(self.program.prepare), capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            raise roots.Unavailable(f"what it reads cannot be made: {done.stderr.strip()[-200:]}")

    def wait_until_it_works(self, process):
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < end:
            name = pathlib.Path(f"/proc/{process.pid}/comm").read_text(errors="replace").strip()
            if name not in STARTERS and cpu_seconds(process.pid) > WARM_S:
                return True
            time.sleep(0.02)
        return False

    def run(self):
        self.prepare()
        for _ in range(TURNS_MOST):
            if min(self.counts.values()) >= self.options.samples:
                return
            self.run_once()

    def run_once(self):
        """The program from its begin, until it ends or both samplers have enough of it."""
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            process = subprocess.Popen(self.command("exec " + self.program.command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        try:
            if not self.wait_until_it_works(process):
                raise roots.Unavailable(f"it does not work: {self.said()}")
            for sampler in sorted(SAMPLERS, key=self.counts.get):
                if process.poll() is None and self.counts[sampler] < self.options.samples:
                    self.look(process.pid, sampler)
        finally:
            self.end(process)

    def look(self, pid, sampler):
        samples, chains, lost = look(pid, sampler, self.options.samples - self.counts[sampler], self.options.seconds)
        self.judge.add(sampler, samples, chains, lost)
        self.counts[sampler] += len(samples)

    def end(self, process):
        """What a program says at its own end counts, not what it says when it is killed here."""
        if process.poll() not in (None, 0):
            self.ended_badly = f"it ended with {process.returncode}: {self.said()}"
        process.kill()
        process.wait()

    def said(self):
        return (self.folder / "said").read_text(errors="replace").strip()[-200:]


def judge(report, trial):
    """A row for each sampler."""
    name, rows = trial.program.name, []
    report.check(f"{name}: goes on", trial.ended_badly)
    faults = trial.judge.faults_found()
    text = f"{faults['wrong']} of {faults.total()} wrong, {faults['unconfirmed']} unconfirmed"
    report.check(f"{name}: faults would be found", text if faults["fine"] > faults.total() * FAULTS_MISSED_MOST else None, text)
    for sampler, verdict in trial.judge.verdicts().items():
        wrong = f"{verdict.wrong} of {verdict.complete} complete stacks are wrong" if verdict.wrong > verdict.complete * WRONG_MOST else None
        if verdict.samples < LEAST_SAMPLES:
            wrong = f"only {verdict.samples} samples"
        report.check(f"{name} by {sampler}: no wrong stack is called complete", wrong, verdict.text())
        share = verdict.incomplete / max(verdict.samples, 1)
        report.check(f"{name} by {sampler}: stacks reach the root", f"{100 * share:.2f} % do not: {dict(verdict.ends)}" if share > INCOMPLETE_MOST else None)
        rows.append((name, sampler, *verdict.cells()))
        if trial.options.details or verdict.wrong:
            for line in verdict.lines():
                print(f"  {line}")
    return rows


def try_program(program, folder, report, options):
    try:
        trial = Trial(program, roots.root_with(RELEASE, program.packages), folder, options)
        trial.run()
    except (roots.Unavailable, subprocess.TimeoutExpired) as reason:
        report.skip(program.name, str(reason))
        return []
    return judge(report, trial)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--samples", type=int, default=5000, help="of each sampler and program")
    parser.add_argument("--seconds", type=float, default=20, help="at most, of each look")
    parser.add_argument("--details", action="store_true", help="show what is wrong, unconfirmed and incomplete")
    options = parser.parse_args()
    unknown = set(options.names) - {program.name for program in PROGRAMS}
    if unknown:
        parser.error(f"no such program: {' '.join(unknown)}")
    if os.uname().machine != "x86_64":
        print("skipped: machine code is read of x86-64 only", file=sys.stderr)
        return SKIPPED
    report, rows = Report(), [HEAD]
    with tempfile.TemporaryDirectory(prefix="limpet-strangers-", dir="/tmp") as folder:
        write_inputs(pathlib.Path(folder))
        for program in PROGRAMS:
            if not options.names or program.name in options.names:
                rows += try_program(program, pathlib.Path(folder), report, options)
    print()
    table(rows)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
