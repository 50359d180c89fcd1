"""Profiles as `go tool pprof` reads them: those that limpet exports, held against `limpet report --json`, and those that
`limpet push` sends, held against its own totals.  The servers of stores that cannot be had here are named."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from driving import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "push"))
from store import Store, every  # noqa: E402

import analysis  # noqa: E402
import collector  # noqa: E402
import gomodules  # noqa: E402
import pyroscope  # noqa: E402
import samples  # noqa: E402

# "  12  34.5%  34.5%  20  57.1%  name (inline)": self samples and total samples.
ROW = re.compile(r"\s*(\d+)\s+\S+%\s+\S+%\s+(\d+)\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$")
OPTIONS = ["-top", "-symbolize=none", "-sample_index=samples", "-nodecount=0", "-nodefraction=0", "-edgefraction=0"]
PUSHES = 3
# What could not be installed, or was not tried, where these tests were written.
ABSENT = {
    "Pyroscope's server": "its Go module builds only with the module of its API of the same day, which is not published; its push API "
                          "is held against the API's module",
    "Parca": "its Go module is not served by the public module proxy, and it is in no Debian or npm package",
    "Perfetto's trace processor": "the Python package downloads the program from a bucket that is not reachable; pftrace is read by "
                                  "tests/recording/perfetto.py",
}


class Unavailable(Exception):
    """It cannot be had here, and why."""


def pprof_install():
    if not shutil.which("go"):
        raise Unavailable("go is not there (apt install golang-go)")
    done = subprocess.run(["go", "tool", "pprof", "-h"], capture_output=True, text=True, timeout=300)
    if "pprof" not in done.stdout + done.stderr or "no such tool" in done.stderr:
        raise Unavailable("this go has no pprof: " + (done.stderr.strip() or "?").splitlines()[-1])


def pprof_functions(*paths):
    """{name: (self, total)}, of all files together."""
    done = subprocess.run(["go", "tool", "pprof", *OPTIONS, *paths], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError("go tool pprof: " + done.stderr.strip()[:300])
    found = {}
    for line in done.stdout.splitlines():
        row = ROW.match(line)
        if row:
            samples.add(found, row[3], (int(row[1]), int(row[2])))
    return found


def of_report(recording):
    wanted = {}
    for event in samples.events_of(recording, "sampled_function"):
        if event["view"] == "on-cpu":
            samples.add(wanted, event["name"], (event["self_samples"], event["total_samples"]))
    return wanted


def difference(found, wanted):
    for name in sorted(set(found) | set(wanted)):
        if found.get(name) != wanted.get(name):
            return f"{name}: {found.get(name)}, not {wanted.get(name)}"
    return ""


def check_export(report, recording):
    found = pprof_functions(samples.export(recording, ".pb.gz", "--view", "on-cpu"))
    found.pop("[incomplete stack]", None)
    report.check(f"{recording.stem}: go tool pprof has self and total samples of each function",
                 difference(found, of_report(recording)) or ("" if found else "it has none"), f"{len(found)} functions")


def check_refusal(report, recording):
    """A reader that takes anything proves nothing."""
    cut = recording.with_name("cut.pb.gz")
    cut.write_bytes(recording.with_suffix(".pb.gz").read_bytes()[:-20])
    try:
        pprof_functions(cut)
        report.not_ok("go tool pprof refuses a file that was cut", "it took it")
    except RuntimeError as problem:
        report.ok("go tool pprof refuses a file that was cut", str(problem).splitlines()[-1])


def push_until(has_come, url, *options):
    """Pushes a program until has_come() is true; what push says has arrived."""
    target = subprocess.Popen([harness.program("spinner")])
    try:
        process = harness.limpet_start("push", url, "-p", target.pid, "--interval", "1s", "--json", "--service", "shop", *options,
                                       env={**os.environ, "no_proxy": "*"})
        is_there = has_come()
        process.terminate()
        result = harness.limpet_finish(process, 60)
    finally:
        target.kill()
        target.wait()
    if not is_there or result.code:
        raise RuntimeError(f"push: {result}")
    return result.event("totals")["pushed"]


def push(url, store, *options):
    return push_until(lambda: store.wait(PUSHES, harness.PATIENCE_S), url, *options)


def check_pushed(report, folder):
    store, paths = Store(), []
    try:
        pushed = push(store.url, store)
        for _, body in store.requests:
            for series in every(body, 1):
                paths.append(folder / f"pushed-{len(paths)}.pb.gz")
                paths[-1].write_bytes(every(every(series, 2)[0], 1)[0])
        own, labels = store.profiles(), {profile.labels["service_name"] for profile in store.profiles()}
    finally:
        store.close()
    found = pprof_functions(*paths)
    count = sum(own_samples for own_samples, _ in found.values())
    report.check("pushed: go tool pprof has as many samples as push says",
                 "" if count == pushed["samples"] > 0 else f"{count}, not {pushed['samples']}", f"{count} samples in {len(paths)} profiles")
    wanted = set().union(*(profile.functions for profile in own))
    report.check("pushed: its functions, under the label of the service",
                 "" if set(found) <= wanted and "spin_leaf" in found and labels == {"shop"} else f"{sorted(found)[:9]}, {labels}",
                 f"{len(found)} functions")


def try_pprof(report, folder):
    try:
        pprof_install()
        recordings = [samples.made(folder, "made-for-pprof", "calm"), samples.live(folder, "live-for-pprof")]
        for recording in recordings:
            check_export(report, recording)
        check_refusal(report, recordings[0])
        check_pushed(report, folder)
    except Unavailable as reason:
        report.skip("go tool pprof", str(reason))
    except (RuntimeError, subprocess.SubprocessError) as problem:
        report.not_ok("go tool pprof", " / ".join(str(problem).splitlines()[:6]))


def try_server(report, name, module, check):
    """module.install() builds the server; check(program) pushes to it."""
    try:
        check(module.install())
    except gomodules.Unavailable as reason:
        report.skip(name, str(reason))
    except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
        report.not_ok(name, " / ".join(str(problem).splitlines()[:6]))


def try_servers(report, folder):
    try_server(report, "OpenTelemetry's collector", collector,
               lambda program: collector.check_pushed(report, program, folder, push))
    try_server(report, "Pyroscope's API", pyroscope, lambda program: pyroscope.check_pushed(report, program, push_until))


def try_all(report, folder):
    try_pprof(report, folder)
    try_servers(report, folder)
    analysis.try_all(report, folder)
    for name, why in ABSENT.items():
        report.skip(name, why)
