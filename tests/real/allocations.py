#!/usr/bin/env python3
"""Allocation stacks of live programs: redis-server, MariaDB (C++ with threads, without frame pointers) and PyTorch on the CPU.

  tests/real/allocations.py [--pictures FOLDER] [NAME...]     redis mariadb pytorch; all by default

Of each, recorded with --alloc-sample: known functions are in the stacks, most bytes have complete stacks, the exports of
--view alloc agree with the report, `go tool pprof` reads the pprof file and adds up the same, and the program goes on
when limpet has left. Then --io-stacks of redis. With --pictures the flame graphs are written there, as PNG where
rsvg-convert is installed. TORCH_PYTHON names a Python that has PyTorch; else pip installs it into the user's cache.
Ends with "N passed, N failed".
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common"), str(HERE.parent / "attach")]
os.environ.setdefault("LIMPET", str(HERE.parent.parent / "out/bin/limpet"))

from busy import Mariadb
from harness import limpet
from load import Load, SelfLoad
from report import Report
from servers import Redis, Server, Unavailable, find, wait_for

SECONDS = 5
PATIENCE_S = 180
INSTALL_S = 1800
PICTURE_WIDTH = 2400
TORCH = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet" / "torch"
VIEWS = ("memory.folded", "memory.pb.gz", "memory.svg", "memory.html", "memory.speedscope.json", "memory.firefox.json")
SQL = ("select json_pretty(json_array(group_concat(md5(seq)))), json_length(json_arrayagg(repeat(seq, 50)))"
       " from seq_1_to_20000 group by seq % 7")


class MariadbQueries(Mariadb):
    """Statements that allocate, on several threads."""

    def load(self):
        queries = ";".join([SQL] * 20)
        argv = [find("mariadb-slap", "/usr/bin"), "--no-defaults", "-S", self.folder / "socket", "--concurrency=4", "--iterations=1",
                "--create-schema=test", "--delimiter=;", f"--query={queries}"]  # fmt: skip
        return Load(list(map(str, argv)), lambda text: (int("Average" in text), 0))


def make_torch():
    """A Python with PyTorch, made once."""
    python = TORCH / "bin/python3"
    if not (TORCH / "made").exists():
        for command in ([sys.executable, "-m", "venv", TORCH], [python, "-m", "pip", "install", "--quiet", "torch"]):
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=INSTALL_S, check=False)
            if done.returncode:
                raise Unavailable("pip could not install torch: " + (done.stderr.strip() or "?").splitlines()[-1])
        (TORCH / "made").touch()
    return python


class PyTorch(Server):
    """A small net that learns, on several threads."""

    name = "pytorch"

    def open(self):
        python = os.environ.get("TORCH_PYTHON") or make_torch()
        self.start(python, HERE / "programs/learn.py", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


# redis also takes the address of its allocator's functions by the entries that it calls them through.
OPTIONS = {Redis: ("--alloc-sample", "16K", "--address-entries"), MariadbQueries: ("--alloc-sample", "64K"), PyTorch: ("--alloc-sample", "64K")}
# Functions that must lie in one stack, outermost first, and how many of the bytes must have complete stacks.
EXPECTED = {
    Redis: ((("main", "aeMain", "processCommand", "malloc"),), 80),
    MariadbQueries: ((("start_thread", "dispatch_command", "mysql_execute_command", "malloc"),), 80),
    PyTorch: ((("<module>", "main", "learn", "Net.forward", "alloc_cpu", "posix_memalign"), ("learn", "backward", "alloc_cpu", "posix_memalign")), 50),
}


def is_in(words, stack):
    """Whether the stack has functions with these words in their names, in this order."""
    names = iter(stack)
    return all(any(word in name for name in names) for word in words)


def pprof_total(path, index):
    """What `go tool pprof` says that the profile adds up to."""
    done = subprocess.run([find("go"), "tool", "pprof", "-top", "-unit=bytes", f"-sample_index={index}", str(path)],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)  # fmt: skip
    found = re.search(r"of ([\d.]+)B total", done.stdout)
    return (int(float(found[1])) if found else None), done.stdout + done.stderr


class Recording:
    def __init__(self, folder, name, report):
        self.folder, self.name, self.report = folder, name, report
        self.path = folder / "it.limpet"

    def check(self, what, problem, note=""):
        return self.report.check(f"{self.name}: {what}", problem, note)

    def make(self, pid, *options):
        done = limpet("record", "-p", pid, "-d", SECONDS, "-o", self.path, "--overwrite", "--json", *options)
        return self.check("is recorded", done.code and str(done)[-600:])

    def sites(self):
        return [event for event in limpet("report", self.path, "--json").events if event["event"] == "allocation"]

    def stacks(self, chains, least):
        sites = self.sites()
        total = sum(site["bytes"] for site in sites)
        whole = sum(site["bytes"] for site in sites if site.get("stack_end") == "complete")
        self.check("complete stacks", 100 * whole < least * total and f"{whole} of {total} bytes",
                   f"{100 * whole / max(total, 1):.2f} % of {total} bytes in {sum(site['records'] for site in sites)} samples")
        for chain in chains:
            found = [site for site in sites if is_in(chain, [*site["stack"][::-1], site["function"]])]
            self.check(" > ".join(chain), not found and "in no stack", f"{sum(site['bytes'] for site in found)} bytes")
        return sum(site["bytes"] for site in sites), sum(site["out_bytes"] for site in sites), len(sites)

    def export(self, view, names):
        for name in names:
            done = limpet("export", self.path, "--view", view, "-o", self.folder / f"{view}-{name}")
            if not self.check(f"{view}-{name}", done.code and str(done)):
                return

    def totals(self, wanted, sites):
        """Estimates are rounded to whole bytes, for each site and thread."""
        with open(self.folder / "alloc-memory.folded", encoding="utf-8") as file:
            folded = sum(int(line.rsplit(" ", 1)[1]) for line in file)
        self.check("folded adds up", abs(folded - wanted[0]) > sites * 100 and f"{folded}, not {wanted[0]}", f"{folded} bytes")
        if not shutil.which("go"):
            self.report.skip(f"{self.name}: go tool pprof", "no go")
            return
        for index, bytes_wanted in zip(("alloc_space", "inuse_space"), wanted):
            total, text = pprof_total(self.folder / "alloc-memory.pb.gz", index)
            self.check(f"go tool pprof {index}", (total is None or abs(total - bytes_wanted) > sites * 100) and f"{total}, not {bytes_wanted}: {text[:300]}",
                       f"{total} bytes")

    def picture(self, folder):
        """For people to look at."""
        svg = self.folder / "alloc-memory.svg"
        if not folder or not svg.exists():
            return
        shutil.copy(svg, folder / f"{self.name}.svg")
        if shutil.which("rsvg-convert"):
            subprocess.run(["rsvg-convert", "-w", str(PICTURE_WIDTH), svg, "-o", folder / f"{self.name}.png"], check=True)


def try_io(recording, pid):
    if not recording.make(pid, "--io-stacks"):
        return
    sites = [event for event in limpet("report", recording.path, "--json").events if event["event"] == "call_site"]
    calls = sum(site["calls"] for site in sites)
    whole = sum(site["calls"] for site in sites if site.get("stack_end") == "complete")
    found = [site for site in sites if is_in(("main", "read"), [*site["stack"][::-1], site["function"]])]
    recording.check("reads by stack", not found and "main > read is in no stack", f"{100 * whole / max(calls, 1):.2f} % of {calls} calls complete")


def try_program(kind, pictures, report):
    chains, least = EXPECTED[kind]
    with tempfile.TemporaryDirectory(prefix="limpet-allocations-") as folder:
        program = kind(pathlib.Path(folder))
        try:
            program.open()
            load = program.load().start()
            try:
                wait_for(lambda: load.problem or load.requests, "work that is done", PATIENCE_S)
                recording = Recording(pathlib.Path(folder), kind.name, report)
                pid = program.targets()[0]
                if recording.make(pid, *OPTIONS[kind]):
                    *wanted, sites = recording.stacks(chains, least)
                    recording.export("alloc", VIEWS)
                    recording.export("live", VIEWS[:1])
                    recording.totals(wanted, sites)
                    recording.picture(pictures)
                if kind is Redis:
                    try_io(recording, pid)
            finally:
                load.finish()
            report.check(f"{kind.name}: goes on", program.goes_on_problem())
        except Unavailable as reason:
            report.skip(kind.name, str(reason))
        finally:
            program.close()


def main():
    names = sys.argv[1:]
    pictures = None
    if names[:1] == ["--pictures"]:
        pictures = pathlib.Path(names[1])
        pictures.mkdir(parents=True, exist_ok=True)
        del names[:2]
    report = Report()
    for kind in EXPECTED:
        if not names or kind.name in names:
            try_program(kind, pictures, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
