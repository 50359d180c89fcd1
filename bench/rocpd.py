#!/usr/bin/env python3
"""
How fast AMD's database is written, and how large it gets: rows and records a second, bytes a record, beside
the other formats of the same recording.  The recording is of a GPU program that never ran (make_gpu_recording).

Environment: LIMPET is the executable, PROGRAMS the folder with make_gpu_recording.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../build")
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
PROGRAMS = os.environ.get("PROGRAMS", os.path.join(BUILD, "tests/programs"))
RECORDS_A_ROUND = 25.5
TABLES = ("string info_node info_process info_thread info_agent info_queue info_stream info_code_object "
          "info_kernel_symbol track event arg region sample kernel_dispatch memory_copy memory_allocate").split()


def make(folder, records):
    """The recording, and how many records it has."""
    path = os.path.join(folder, "app.limpet")
    done = subprocess.run([os.path.join(PROGRAMS, "make_gpu_recording"), path, str(round(records / RECORDS_A_ROUND))],
                          stdout=subprocess.PIPE, text=True, check=True)
    return path, json.loads(done.stdout)["records"]


def export(recording, form, out):
    """Seconds of the clock, seconds of the processor, and the largest memory in MiB so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run([LIMPET, "export", recording, "-f", form, "-o", out], stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, processor, after.ru_maxrss / 1024


def size_of(folder, name):
    return sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder) if file.startswith(name))


def count_rows(path):
    database = sqlite3.connect(path)
    rows = sum(database.execute(f"SELECT count(*) FROM rocpd_{table}").fetchone()[0] for table in TABLES)
    sound = database.execute("PRAGMA integrity_check").fetchone()[0]
    wrong = len(database.execute("PRAGMA foreign_key_check").fetchall())
    database.close()
    return rows, sound == "ok" and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--all", action="store_true", help="the other formats too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-rocpd-") as folder:
        recording, records = make(folder, options.records)
        print(f"{records} records, {os.path.getsize(recording) / 1e6:.1f} MB as .limpet\n")
        print("| format | clock s | processor s | records/s | MB | bytes/record | MiB of memory |")
        print("|---|---|---|---|---|---|---|")
        for form, name in (("rocpd", "x.db"), ("rocprof-csv", "y"), ("rocprof-json", "z_results.json"),
                           ("pftrace", "p.pftrace"))[:4 if options.all else 1]:
            wall, processor, memory = export(recording, form, os.path.join(folder, name))
            size = size_of(folder, name)
            print(f"| {form} | {wall:.1f} | {processor:.1f} | {records / wall:,.0f} | {size / 1e6:.0f} "
                  f"| {size / records:.0f} | {memory:.0f} |")
        rows, is_sound = count_rows(os.path.join(folder, "x.db"))
        wall, processor, _ = export(recording, "rocpd", os.path.join(folder, "x.db"))
        print(f"\nrocpd: {rows} rows, {rows / wall:,.0f} rows a second ({rows / processor:,.0f} a second of processor), "
              f"{'sound' if is_sound else 'NOT SOUND'}")
        return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
