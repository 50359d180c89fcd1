"""Pyroscope's push API as Grafana publishes it (its generated server, and pprof's reader), built from Go's modules into the
user's cache: takes what `limpet push` sends, and says what it found."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import threading

from driving import harness

import gomodules

VERSION = "v1.6.0"
MODULES = (f"github.com/grafana/pyroscope/api@{VERSION}", "github.com/google/pprof@latest")
SOURCE = pathlib.Path(__file__).resolve().parent / "pyroscope.go"
HZ = 99  # as push samples when nothing is said
PUSHES = 3


def install():
    """The program; what is there stays."""
    program = gomodules.folder("pyroscope") / f"pyroscope-{VERSION}"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    folder = gomodules.folder_make("pyroscope")
    shutil.copy(SOURCE, folder / "main.go")
    gomodules.go(folder, "mod", "init", "limpet.test/pyroscope")
    gomodules.go(folder, "get", *MODULES)
    gomodules.go(folder, "mod", "tidy")
    gomodules.go(folder, "build", "-o", program, ".")
    return program


@contextlib.contextmanager
def running(program):
    """Its address, and the list of what it has found, which grows."""
    found = []
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = json.loads(process.stdout.readline())["port"]
            threading.Thread(target=lambda: found.extend(map(json.loads, process.stdout)), daemon=True).start()
            yield f"http://127.0.0.1:{port}", found
        finally:
            process.kill()


def check_pushed(report, program, push_until):
    """push_until(has_come, url): pushes a program whose service is "shop"; what push says has arrived."""
    with running(program) as (url, found):
        wanted = push_until(lambda: harness.wait_until(lambda: len(found) >= PUSHES, harness.PATIENCE_S), url)["samples"]
        total = lambda: sum(sum(one["functions"].values()) for one in found)  # noqa: E731
        harness.wait_until(lambda: round(total() * HZ / 10**9) >= wanted, harness.PATIENCE_S)
        count, services = round(total() * HZ / 10**9), {one["labels"].get("service_name") for one in found}
    functions = {name for one in found for name in one["functions"]}
    report.check("Pyroscope's API: as many samples as push says, by the name of the service",
                 "" if abs(count - wanted) <= 1 and count and services == {"shop"} else f"{count}, not {wanted}; {services}",
                 f"{count} samples in {len(found)} profiles")
    report.check("Pyroscope's API: functions, and CPU time as its type",
                 "" if "spin_leaf" in functions and {one["types"][-1] for one in found} == {"cpu:nanoseconds"} else str(found[:1]),
                 f"{len(functions)} functions")
