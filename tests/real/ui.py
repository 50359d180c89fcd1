#!/usr/bin/env python3
"""Live programs on the page: `limpet ui PID` on redis under load, a Python and a Java program, seen by its API.

  tests/real/ui.py [NAME...]     redis python3 java; all by default

Of each: samples come, functions and threads have their names, a range adds up to what `limpet report` says of it, no
request fails, and the program goes on when the page has let go. Then a process of another user, which is refused with
the command that helps. LIMPET names the limpet to test. Ends with "N passed, N failed".
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common"), str(HERE.parent / "ui")]
os.environ.setdefault("LIMPET", str(HERE.parent.parent / "out/bin/limpet"))

from report import Report
from server import LIMPET, Server
from servers import Java, Python, Redis, Unavailable, wait_for

LEAST_SAMPLES = 100
PATIENCE_S = 120
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
# A function, or a part of its name, that must be among those that are seen, and a thread.
EXPECTED = {Redis: (("aeMain", "aeProcessEvents"), "redis-server"), Python: (("work.py",), "python3"), Java: (("doubles", "objects"), "java")}


def seen(server, route, condition):
    """The answer when it is as it should be; what it was last."""
    until = time.monotonic() + PATIENCE_S
    while True:
        answer = server.ask(route)
        if condition(answer) or time.monotonic() > until:
            return answer
        time.sleep(0.5)


def names_of(flame):
    return {flame["columns"]["names"][at] for at in (*flame["columns"]["name"], *flame["columns"]["module"], *flame["columns"]["file"])}


def is_among(words, names):
    return any(word in name for word in words for name in names)


class Page:
    """One program on the page."""

    def __init__(self, server, program, kind, report):
        self.server, self.program, self.kind, self.report = server, program, kind, report

    def check(self, what, problem, note=""):
        self.report.check(f"{self.kind.name}: {what}", problem, note)

    def live(self):
        words, thread = EXPECTED[self.kind]
        session = seen(self.server, "/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] >= LEAST_SAMPLES)["session"]
        self.check("is seen live", session["state"] != "recording" and f"state {session['state']}: {session['error']}",
                   f"{session['samples']} samples by {session['sampler']}, {session['lost']} lost")
        flame = seen(self.server, "/api/flame?session=1&kind=wall&width=0", lambda answer: is_among(words, names_of(answer)))
        self.check("functions by their names", not is_among(words, names_of(flame)) and f"none of {words} in {sorted(names_of(flame))[:20]}")
        threads = self.server.ask("/api/threads?session=1")["columns"]["name"]
        self.check("threads by their names", not is_among((thread,), threads) and f"{thread} is not in {threads}", f"{len(threads)} threads")

    def ranges(self):
        """Two parts of the time are the whole; the whole is what is seen in the table of functions."""
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        half = end // 2
        parts = [self.server.ask(f"/api/flame?session=1&kind=cpu&from={begin}&to={to}")["total"] for begin, to in ((0, half), (half, end), (0, end))]
        self.check("ranges add up", parts[0] + parts[1] != parts[2] and f"{parts}", f"{parts[2] / 1e9:.2f} s on processors")
        functions = self.server.ask(f"/api/functions?session=1&kind=cpu&to={end}&limit=100000")
        self.check("functions add up", sum(functions["columns"]["self"]) > functions["total"] and "more than all")
        both = self.server.ask(f"/api/compare?session=1&to={half}&session_b=1&from_b={half}&to_b={end}&kind=cpu")
        self.check("two ranges are compared", (both["total"], both["total_b"]) != tuple(parts[:2]) and f"{both['total']} {both['total_b']}")

    def post(self, what):
        answer = self.server.post(f"/api/sessions/1/{what}")
        self.check(what, answer.status != 200 and repr(answer.raw[:300]))

    def ending(self):
        self.post("stop")
        self.ranges()
        self.post("detach")
        exported = self.server.get("/api/export?session=1&format=folded")
        self.check("is exported", (exported.status != 200 or not exported.body) and repr(exported.raw[:300]), f"{len(exported.body)} bytes")
        code = self.server.end()
        self.check("Ctrl-C", code and f"ended with {code}")


def try_program(kind, report):
    with tempfile.TemporaryDirectory(prefix="limpet-ui-") as folder:
        program = kind(pathlib.Path(folder))
        try:
            program.open()
            load = program.load().start()
            try:
                wait_for(lambda: load.problem or program.targets(), "a working process")
                with Server(program.targets()[0]) as server:
                    page = Page(server, program, kind, report)
                    page.live()
                    page.ending()
                before = load.requests
                time.sleep(1)
            finally:
                load.finish()
            page.check("no failed request", load.problem, f"{load.requests} requests, {load.requests - before} since it was left")
            page.check("goes on", program.goes_on_problem())
        except Unavailable as reason:
            report.skip(kind.name, str(reason))
        finally:
            program.close()


def try_another_user(report):
    """Of a process that belongs to somebody else the page says what would help."""
    if os.geteuid():
        report.skip("another user", "needs root to become one")
        return
    with tempfile.TemporaryDirectory(prefix="limpet-ui-") as folder:
        os.chmod(folder, 0o755)
        binary = shutil.copy(LIMPET, os.path.join(folder, "limpet"))
        target = subprocess.Popen(["sleep", "600"])
        try:
            done = subprocess.run([binary, "ui", "--no-open", str(target.pid)], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **NOBODY)
            helps = f"sudo limpet ui {target.pid}"
            report.check("another user: refused with the command that helps",
                         (done.returncode != 3 or helps not in done.stderr) and f"{done.returncode}: {done.stderr}", helps)
            with Server(executable=binary, **NOBODY) as server:
                row = next(row for row in server.ask("/api/processes")["processes"] if row["pid"] == target.pid)
                report.check("another user: the list says why", not (row.get("why") or row.get("reason")) and json.dumps(row))
        finally:
            target.kill()
            target.wait()


def main():
    names = sys.argv[1:]
    report = Report()
    for kind in EXPECTED:
        if not names or kind.name in names:
            try_program(kind, report)
    if not names:
        try_another_user(report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
