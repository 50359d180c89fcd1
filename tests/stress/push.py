#!/usr/bin/env python3
"""
`limpet push -a` while short programs start all the time: its memory and its descriptors are after the last quarter what
they were after the first one.

  tests/stress/push.py [--seconds N]

LIMPET is the limpet to test. Needs the rights to sample every process. Ends with "N passed, N failed".
"""

import argparse
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common")]

from driving import harness
from report import Report

GROWTH_MIB, DESCRIPTORS_MORE = 64, 64
WORK = ["sha256sum", "sort", "gzip"]  # each reads a file, and writes to /dev/null


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes everything."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def start_programs(folder, is_over):
    """Each is a file of its own, which is gone when it ends."""
    at, food = 0, sys.executable
    while not is_over.is_set():
        name = WORK[at % len(WORK)]
        copy = shutil.copy(shutil.which(name), folder / f"{name}-{at}")
        subprocess.run([copy, *(["-c"] if name == "gzip" else []), food], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        copy.unlink()
        at += 1


def look(pid):
    """Memory of its own in MiB, and descriptors."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace")
    (kib,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")]
    return kib / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def watch(report, process, seconds):
    """Four looks; the first one is what the others are held against."""
    looks = []
    for _ in range(4):
        time.sleep(seconds / 4)
        if process.poll() is not None:
            report.not_ok("push goes on", str(harness.limpet_finish(process)))
            return
        looks.append(look(process.pid))
        print(f"# {looks[-1][0]:.0f} MiB, {looks[-1][1]} descriptors", flush=True)
    (first_mib, first_fds), (mib, fds) = looks[0], looks[-1]
    report.check("memory is flat", "" if mib < first_mib + GROWTH_MIB else f"{first_mib:.0f} MiB became {mib:.0f}", f"{mib:.0f} MiB")
    report.check("descriptors are flat", "" if fds < first_fds + DESCRIPTORS_MORE else f"{first_fds} became {fds}", str(fds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=480)
    options = parser.parse_args()
    report, is_over = Report(), threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-push-"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    programs = threading.Thread(target=start_programs, args=(folder, is_over))
    programs.start()
    process = harness.limpet_start("push", f"http://127.0.0.1:{server.server_port}", "-a", "--json")
    try:
        watch(report, process, options.seconds)
        process.terminate()
        result = harness.limpet_finish(process, 60)
        report.check("push ends well", "" if result.code == 0 else str(result))
    finally:
        is_over.set()
        process.kill()
        programs.join()
        shutil.rmtree(folder)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
