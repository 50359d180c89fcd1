"""perf beside limpet: records with it, by its control pipe, and reads what it recorded."""

import os
import re
import shutil
import signal
import subprocess

PERF = shutil.which("perf")
MODES = {"dwarf": ["--call-graph", "dwarf"], "fp": ["--call-graph", "fp"], "no stacks": []}
LIMIT_S = 120
FRAMES_MOST = 2000  # perf's own limit would be 127


class Perf:
    """A `perf record` that counts nothing until it is told to.  It hears of no program that is executed before that:
    for those it is to begin by itself."""

    def __init__(self, folder, pid, rate, mode, event="cpu-clock", is_waiting=True):
        self.path = os.path.join(folder, "perf.data")
        self.ways = [os.path.join(folder, name) for name in ("control", "answer")]
        for way in self.ways:
            if not os.path.exists(way):
                os.mkfifo(way)
        argv = [PERF, "record", "-q", "-e", event, "-F", str(rate), *MODES[mode], "-p", str(pid), "-o", self.path,
                *(["-D", "-1"] if is_waiting else []), "--control", f"fifo:{self.ways[0]},{self.ways[1]}"]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.control, self.answer = (os.open(way, os.O_RDWR) for way in self.ways)

    def tell(self, word):
        os.write(self.control, word.encode() + b"\n")
        os.read(self.answer, 16)

    def stop(self):
        """Ends it as Ctrl-C does; its processor time in seconds."""
        self.process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stderr.close()
        os.close(self.control)
        os.close(self.answer)
        return usage.ru_utime + usage.ru_stime


def script(path, limit_s=LIMIT_S):
    """What any picture of a perf.data begins with."""
    argv = [PERF, "script", "--no-inline", "--max-stack", str(FRAMES_MOST), "-F", "comm,tid,ip,sym,dso", "-i", path]
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False).stdout


def counts(path):
    """(samples, samples that were lost) as the file tells; lost is None where it tells only how many times."""
    argv = [PERF, "report", "--stats", "-i", path]
    text = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout
    found = dict(re.findall(r"(\w+) events:\s*(\d+)", text))
    return int(found.get("SAMPLE", 0)), int(found.get("LOST_SAMPLES", 0)) + int(found.get("LOST", 0))


def stacks(text):
    """(symbol, file) of each frame, outermost first, for each sample of a perf script."""
    frames = []
    for line in text.splitlines():
        found = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if found:
            frames.append((re.sub(r"\+0x[0-9a-f]+$", "", found[1]), found[2]))
        elif frames:
            yield frames[::-1]
            frames = []
    if frames:
        yield frames[::-1]
