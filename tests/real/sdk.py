#!/usr/bin/env python3
"""
Tool libraries written for AMD's SDK, as whoever calls this has built or installed them: each in FOLDER is attached to a live program on
the stand-ins of AMD's runtimes, and loaded at the start of one. The program must do the same as without, and end well; the tool must
load and be attached. What tools print is shown; what they write into the folder they run in is left in build/real-sdk/TOOL-late and
TOOL-launched. Variables ROCPROF_..., by which AMD's own tool is told what to do, are handed on to the program that is started with it.

    ./dev real sdk FOLDER
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
for name, path in {"LIMPET": "src/host/limpet", "PROGRAMS": "tests/programs", "STANDIN": "tests/standin",
                    "REGISTER_TESTS": "tests/register", "SDK": "src/target/librocprofiler-sdk.so.1", "SDK_TOOLS": "tests/sdk",
                    "REGISTER": "compat/register/librocprofiler-register.so.0"}.items():
    os.environ.setdefault(name, str(BUILD / path))
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "sdk")]

from sdk import Work, did, driver, harness  # noqa: E402

import subprocess  # noqa: E402

ROUNDS = 10


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
    failed = 0
    tools = sorted(pathlib.Path(sys.argv[1]).resolve().glob("*.so*"))
    plain = without()
    for path in tools:
        for way in (late, launched):
            folder = BUILD / "real-sdk" / f"{path.name}-{way.__name__}"
            folder.mkdir(parents=True, exist_ok=True)
            os.chdir(folder)
            try:
                verdict = way(path, plain)
            except (AssertionError, OSError, ValueError, IndexError) as error:
                verdict = f"the program: {error}"
            failed += verdict != "ok"
            print(f"{path.name} {way.__name__}: {verdict}", flush=True)
    print(f"{2 * len(tools) - failed} passed, {failed} failed")
    return 1 if failed or not tools else 0


if __name__ == "__main__":
    sys.exit(main())
