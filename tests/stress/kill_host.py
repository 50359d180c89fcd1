#!/usr/bin/env python3
"""
Kills limpet and looks at the target: at each ptrace call and each remote write of the injector (strace
injects SIGKILL at call N, so the product needs no test hooks), and at random times.  After each kill
the target must live, compute right, and be attachable again.

One EINTR is allowed and counted apart: the injector died between its interrupt and its first register
write while the thread was in a call like epoll_wait (docs: decision 4).
"""

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness
from harness import Unavailable, Workload, limpet, limpet_finish, limpet_start

WORKLOADS = {
    "idle": "plain",
    "busy": "plain",
    "malloc1": "plain",
    "alarm": "signals",
    "altstack": "signals",
    "epoll": "calls",
    "vector": "registers",
}
CALLS = ("ptrace", "pwrite64")
CALL_MAX = 200
COMPLAINTS_MAX = 20
BUSY = 7
REST_LIMIT_S = harness.PATIENCE_S
HARM = ("corruptions", "errors", "signals_lost", "early")


class Score:
    def __init__(self):
        self.kills = self.dead = self.stuck = self.harmed = self.lost = self.window_eintr = 0
        self.left = 0
        self.complaints = []

    def failed(self):
        return bool(self.complaints)

    def row(self, name):
        return "%-28s %6d kills  dead %d  stuck %d  harmed %d  not attachable %d  left %d  " \
            "EINTR in the window %d" % (name, self.kills, self.dead, self.stuck, self.harmed,
                                        self.lost, self.left, self.window_eintr)


def attach_again(pid):
    """A killed limpet may be noticed a moment later by the agent it left: that is told as busy."""
    end = time.monotonic() + REST_LIMIT_S
    while True:
        result = limpet("attach", pid, "--json", "--duration", "0")
        if result.code != BUSY or time.monotonic() > end:
            return result
        time.sleep(0.02)


def eintr_judge(score, gained, is_window, where):
    if gained and is_window:
        score.window_eintr += gained
    elif gained:
        score.harmed += 1
        score.complaints.append(f"{where}: {gained} EINTR")


def target_judge(score, target, threads, where, is_window):
    """False when the target is lost for further kills."""
    score.kills += 1
    if not target.alive():
        score.dead += 1
        score.complaints.append(f"{where}: target dead: {target.fate()}")
        return False
    if not target.stats.wait_turn():
        score.stuck += 1
        score.complaints.append(f"{where}: target stuck")
        return False
    eintr_judge(score, target.stats.word("eintr"), is_window, where)
    result = attach_again(target.pid)
    if result.code != 0:
        score.lost += 1
        score.complaints.append(f"{where}: cannot attach again: {result}")
    if not harness.wait_until(lambda: harness.thread_count(target.pid) == threads):
        score.left += 1
        score.complaints.append(f"{where}: threads {threads} -> {harness.thread_count(target.pid)}")
    if not target.alive():
        score.dead += 1
        score.complaints.append(f"{where}: target dead after the next attach: {target.fate()}")
        return False
    harm = {name: target.stats.word(name) for name in HARM if target.stats.word(name)}
    if harm:
        score.harmed += 1
        score.complaints.append(f"{where}: {harm} {target.stats.detail()}")
    return not harm and target.stats.word("eintr") == 0 and result.code == 0


def strace_run(pid, call, number, log):
    command = ["strace", "-f", "-qq", "-o", log, "-e", "trace=ptrace,pwrite64",
               "-e", f"inject={call}:signal=SIGKILL:when={number}"]
    process = harness.subprocess.Popen(
        [*command, harness.LIMPET, "attach", str(pid), "--json", "--duration", "0"],
        stdin=harness.subprocess.DEVNULL, stdout=harness.subprocess.PIPE,
        stderr=harness.subprocess.PIPE, text=True, start_new_session=True)
    return limpet_finish(process)


def log_read(log):
    """Whether somebody was killed, and whether it was before its first change of registers.  A visit has up to two injectors:
    the second gives libc's mode for one thread back."""
    with open(log) as file:
        lines = file.read().splitlines()
    killed = {line.split()[0] for line in lines if "+++ killed by SIGKILL" in line}
    is_changed = any(line.split()[0] in killed and re.search(r"PTRACE_SETREGSET, \d+, NT_PRSTATUS.*\) = 0", line) for line in lines)
    return bool(killed), not is_changed


def call_kills(name, call, score):
    """Kills at call 1, 2, ... until a run makes fewer such calls; one target as long as it is well."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        number = 1
        while number < CALL_MAX and len(score.complaints) < COMPLAINTS_MAX:
            with Workload(WORKLOADS[name], name) as target:
                threads = harness.thread_count(target.pid)
                number, is_over = calls_on_target(target, threads, call, number, log, score)
            if is_over:
                return


def calls_on_target(target, threads, call, number, log, score):
    while number < CALL_MAX:
        result = strace_run(target.pid, call, number, log)
        where = f"{call} {number}"
        if result.hung:
            score.complaints.append(f"{where}: limpet hung")
        was_killed, is_window = log_read(log)
        if not was_killed:
            if result.code != 0:
                score.complaints.append(f"{where}: not killed, yet {result}")
            return number, True
        number += 1
        if not target_judge(score, target, threads, where, is_window):
            break
    return number, False


def children_of(pid):
    """All descendants, nearest first."""
    found = []
    try:
        for tid in harness.threads_of(pid):
            with open(f"/proc/{pid}/task/{tid}/children") as file:
                found += [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found + [grandchild for child in found for grandchild in children_of(child)]


def pid_kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def victims_of(process, who):
    children = children_of(process.pid)
    return {"all": [process.pid, *children], "host": [process.pid], "injector": children}[who], children


def random_kill(target, threads, longest_s, score):
    who = random.choice(("all", "host", "injector"))
    duration = random.choice(("0", "5ms"))
    delay = random.uniform(0, longest_s)
    process = limpet_start("attach", target.pid, "--json", "--duration", duration)
    time.sleep(delay)
    victims, children = victims_of(process, who)
    for pid in victims:
        pid_kill(pid)
    result = limpet_finish(process)
    where = f"{who} killed after {delay * 1e3:.2f} ms"
    if result.hung:
        score.complaints.append(f"{where}: limpet hung")
    if not harness.wait_until(lambda: not any(map(harness.status_of, children))):
        score.complaints.append(f"{where}: the injector stays")
        for pid in children:
            pid_kill(pid)
    return target_judge(score, target, threads, where, is_window=True)


def attach_time_s(target):
    """How long a whole run takes here: the time in which a kill can hit."""
    start = time.monotonic()
    for _ in range(3):
        limpet("attach", target.pid, "--json", "--duration", "5ms")
    return (time.monotonic() - start) / 3


def random_kills(count, score):
    names = list(WORKLOADS)
    while score.kills < count and len(score.complaints) < COMPLAINTS_MAX:
        name = names[score.kills // 10 % len(names)]
        with Workload(WORKLOADS[name], name) as target:
            threads = harness.thread_count(target.pid)
            longest_s = attach_time_s(target) * 1.1
            for _ in range(min(10, count - score.kills)):
                if not random_kill(target, threads, longest_s, score):
                    break


def score_print(name, score):
    print(score.row(name), flush=True)
    for text in score.complaints:
        print("    " + text.replace("\n", "\n    "))
    return score.failed()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="only this workload")
    parser.add_argument("--random", type=int, default=1000, help="kills at random times")
    parser.add_argument("--short", action="store_true", help="epoll, 20 random kills")
    options = parser.parse_args()
    names = options.only or (["epoll"] if options.short else list(WORKLOADS))
    results = []
    if not shutil.which("strace"):
        print("skipped: kills at each call: strace is not installed")
        names = []
    for name in names:
        for call in CALLS:
            score = Score()
            call_kills(name, call, score)
            results.append(score_print(f"{name} at each {call}", score))
    score = Score()
    random_kills(20 if options.short else options.random, score)
    results.append(score_print("random times", score))
    print(f"{results.count(False)} passed, {results.count(True)} failed")
    return 1 if any(results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as reason:
        print("skipped:", reason)
        sys.exit(harness.SKIP)
