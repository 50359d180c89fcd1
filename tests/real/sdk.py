#!/usr/bin/env python3
"""
Tool libraries written for AMD's SDK, as whoever calls this has built or installed them: each in FOLDER is attached to a live program on
the stand-ins of AMD's runtimes, and loaded at the start of one. The program must do the same as without, and end well; the tool must
load and be attached. What tools print is shown; what they write into the folder they run in is left in build/real-sdk/TOOL-late and
TOOL-launched. Variables ROCPROF_..., by which AMD's own tool is told what to do, are handed on to the program that is started with it.

Tools that count single kernels are attached once more, to a program on HSA whose devices have counters (made up, tests/counters/amd): AMD's own
as with --pmc SQ_WAVES. All packets must come back, and waves that a tool writes down, in AMD's forms, must be those of the kernel.
What they write is left in TOOL-counted.

    ./dev real sdk FOLDER
"""

import csv
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
for name, path in {"LIMPET": "src/host/limpet", "PROGRAMS": "tests/programs", "STANDIN": "tests/standin",
                    "REGISTER_TESTS": "tests/register", "SDK": "src/target/librocprofiler-sdk.so.1", "SDK_TOOLS": "tests/sdk",
                    "REGISTER": "compat/register/librocprofiler-register.so.0"}.items():
    os.environ.setdefault(name, str(BUILD / path))
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "sdk")]

from sdk import STANDIN, Work, did, driver, harness  # noqa: E402

import subprocess  # noqa: E402

ROUNDS = 10
MADE_UP = HERE.parent / "counters/amd"
BATCHES, KERNELS = 20, 20  # of a batch the first has one wave, the next two, ...
WAVE = 64
AMD_SAMPLE = re.compile(r"\[record_callback\] Dispatch_Id=(\d+), (.*)")


def counts(work):
    done = did(work.ask("well", ROUNDS))
    return {name: number for name, number in done.items() if name != "scratch"}


def end(work):
    work.process.stdin.close()
    return work.process.wait(harness.PATIENCE_S)


def late(path, plain):
    work = Work()
    try:
        work.tables()
        limpet = harness.limpet_start("attach", work.pid, "--json", "--tool", path, stdin=subprocess.PIPE)
        event = harness.attached_wait(limpet)
        if not event or not all(tool["ok"] for tool in event["tools"]):
            return f"not attached: {event and event['tools'][0]['error']}"
        done = counts(work)
        result = harness.limpet_finish_enter(limpet)
        if result.code:
            return f"limpet ended with {result.code}: {result.err.strip()}"
        code = end(work)
        return "ok" if done == plain and not code else f"the program ended with {code}, or did something else"
    finally:
        work.close()


def is_loaded(work, path):
    with open(f"/proc/{work.pid}/maps") as maps:
        return any(line.rstrip().endswith(str(path)) for line in maps)


def launched(path, plain):
    told = {name: value for name, value in os.environ.items() if name.startswith("ROCPROF_")}
    work = Work(before=driver("."), ROCP_TOOL_LIBRARIES=str(path), **told)
    try:
        work.tables()
        # The register library says nothing of a tool that cannot be loaded: the program goes on without it.
        if not is_loaded(work, path):
            return "not loaded"
        done = counts(work)
        code = end(work)
        return "ok" if done == plain and not code else f"the program ended with {code}, or did something else"
    finally:
        work.close()


def counts_kernels(path):
    return b"_dispatch_counting_service" in path.read_bytes()


def csv_rows():
    for path in pathlib.Path(".").rglob("*counter_collection.csv"):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["Counter_Name"] == "SQ_WAVES":
                    yield int(row["Grid_Size"]) // WAVE, float(row["Counter_Value"])


def sample_rows():
    """Of AMD's callback sample, which counts waves: they are told by where they ran."""
    text = pathlib.Path("sample.log").read_text() if pathlib.Path("sample.log").exists() else ""
    for dispatch, values in AMD_SAMPLE.findall(text):
        yield (int(dispatch) - 1) % KERNELS + 1, sum(map(float, re.findall(r"Value \[D\]: ([0-9.]+)", values)))


def judge(starts, stops, reads, came_back):
    """After the program's end: AMD's own tool writes then."""
    rows = [*csv_rows(), *sample_rows()]
    wrong = [row for row in rows if row[0] != row[1]]
    print(f"    packets around {reads} of {BATCHES * KERNELS} kernels; {len(rows)} rows of SQ_WAVES, {len(wrong)} of them wrong")
    if not came_back or not 0 < starts == stops == reads:
        return f"packets are missing: {starts} starts, {stops} stops, {reads} reads"
    return f"wrong: {wrong[:4]}" if wrong else "ok"


def counted(path, _plain):
    os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))
    try:
        return counted_with_devices(path)
    finally:
        del os.environ["HSA_MODEL_TOPOLOGY"], os.environ["ROCPROFILER_METRICS_PATH"]


def counted_with_devices(path):
    told = {"ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": "pmc: SQ_WAVES", "ROCPROF_OUTPUT_PATH": ".", "ROCPROF_OUTPUT_FILE_NAME": "pmc",
            "ROCPROF_OUTPUT_FORMAT": "csv,json", "ROCPROFILER_SAMPLE_OUTPUT_FILE": "sample.log"}
    for old in (*pathlib.Path(".").rglob("*counter_collection.csv"), pathlib.Path("sample.log")):
        old.unlink(missing_ok=True)
    work = Work(library_path=f"{STANDIN}/amd_register/old:{STANDIN}", program="standin_hsa_work", STANDIN_GFX="gfx942")
    try:
        work.ask("solo", 1)
        limpet = harness.limpet_start("attach", work.pid, "--json", "--tool", path, *(word for item in told.items() for word in ("--env", "=".join(item))),
                                      stdin=subprocess.PIPE)
        event = harness.attached_wait(limpet)
        if not event or not all(tool["ok"] for tool in event["tools"]):
            return f"not attached: {event and event['tools'][0]['error']}"
        for _ in range(BATCHES):
            work.ask("solo", KERNELS)
            time.sleep(0.02)
        result = harness.limpet_finish_enter(limpet)
        came_back = harness.wait_until(lambda: work.ask("sets") == [["sets", "0"]])
        bank = map(int, work.ask("bank")[0][1:])
        code = end(work)
        if result.code or code:
            return f"limpet ended with {result.code}, the program with {code}: {result.err.strip()}"
        return judge(*bank, came_back)
    finally:
        work.close()


def ways_of(path):
    """What counts kernels and does nothing else is right not to start where devices have no counters."""
    if not counts_kernels(path):
        return late, launched
    return (late, launched, counted) if b"_tracing_service" in path.read_bytes() else (launched, counted)


def without():
    work = Work()
    try:
        work.tables()
        return counts(work)
    finally:
        work.close()


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        print("usage: ./dev real sdk FOLDER: a folder with tool libraries", file=sys.stderr)
        return 2
    failed = done = 0
    tools = sorted(pathlib.Path(sys.argv[1]).resolve().glob("*.so*"))
    plain = without()
    for path in tools:
        for way in ways_of(path):
            folder = BUILD / "real-sdk" / f"{path.name}-{way.__name__}"
            folder.mkdir(parents=True, exist_ok=True)
            os.chdir(folder)
            try:
                verdict = way(path, plain)
            except (AssertionError, OSError, ValueError, IndexError) as error:
                verdict = f"the program: {error}"
            failed += verdict != "ok"
            done += 1
            print(f"{path.name} {way.__name__}: {verdict}", flush=True)
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed or not tools else 0


if __name__ == "__main__":
    sys.exit(main())
