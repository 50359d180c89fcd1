"""Samples in other people's readers: the Firefox profiler, speedscope's schema, flame graphs in Chromium.  Held
against `limpet report --json`."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

from driving import harness

import browser
import firefox
import pages

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = HERE.parent.parent / "build/foreign"
ROUNDS = 400
TICKS = os.sysconf("SC_CLK_TCK")


def made(folder, name, mode):
    path = folder / f"{name}.limpet"
    subprocess.run([harness.program("make_samples"), path, str(ROUNDS), mode], check=True, capture_output=True)
    return path


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def live(folder, name="live"):
    """A program of three threads, waits too."""
    path, target = folder / f"{name}.limpet", subprocess.Popen([harness.program("spinner")])
    process = harness.limpet_start("record", "-p", target.pid, "-o", path, "-F", "499", "--off-cpu", "--json")
    try:
        harness.wait_until(lambda: process.poll() is not None or (path.exists() and path.stat().st_size > 1000), 60)
        begin = cpu_seconds(target.pid)
        harness.wait_until(lambda: process.poll() is not None or cpu_seconds(target.pid) - begin > 1, 120)
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process, 60)
        if result.code:
            raise RuntimeError(str(result))
    finally:
        target.kill()
        target.wait()
    return path


def export(recording, extension, *options):
    path = recording.with_suffix(extension)
    result = harness.limpet("export", recording, "-o", path, *options, deadline_s=120)
    if result.code:
        raise RuntimeError(str(result))
    return path


def events_of(recording, kind):
    return [event for event in harness.limpet("report", recording, "--json", deadline_s=120).events
            if event["event"] == kind]


def add(sums, name, counts):
    sums[name] = tuple(map(sum, zip(sums.get(name, (0, 0)), counts)))


def check_firefox(report, command, recording, folder):
    name, sessions = f"{recording.stem}: Firefox on samples", folder / f"sessions-samples-{recording.stem}"
    sessions.mkdir()
    wanted = {}
    for event in events_of(recording, "sampled_function"):
        if event["view"] == "on-cpu":
            add(wanted, event["name"], (event["self_samples"], event["total_samples"]))
    threads = {(event["pid"], event["tid"], event["name"]): event for event in events_of(recording, "sampled_thread")}
    with firefox.Profile(command, export(recording, ".firefox.json"), sessions) as profile:
        shown, found, waits = profile.threads(), {}, {}
        for thread in shown:
            for function, counts in profile.functions(thread).items():
                add(found, function, counts)
            for (_, marker), (_, time_ns) in profile.markers(thread).items():
                waits[marker] = waits.get(marker, 0) + time_ns
    found.pop("[incomplete stack]", None)
    seen = {(pid, tid, thread) for pid, tid, _, thread in shown.values()}
    report.check(f"{name}: threads", "" if seen == set(threads) else f"{seen}, not {set(threads)}",
                 f"{len(seen)} threads")
    report.check(f"{name}: self and total samples of each function", "" if found == wanted else f"{found}, not {wanted}",
                 f"{len(found)} functions, {sum(count for count, _ in found.values())} samples")
    for marker, key in (("waiting", "waited_ns"), ("runnable", "runnable_ns")):
        sum_ns = sum(event[key] for event in threads.values())
        problem = "" if abs(waits.get(marker, 0) - sum_ns) <= sum_ns * 1e-6 + 1 else f"{waits.get(marker, 0)} ns, not {sum_ns} ns"
        report.check(f"{name}: markers '{marker}'", problem, f"{sum_ns / 1e6:.1f} ms")


def check_schema(report, command, recording):
    schema = firefox.CACHE / "node_modules/speedscope/dist/release/file-format-schema.json"
    path = export(recording, ".speedscope.json")

    def complaints(file):
        done = subprocess.run([command[0], HERE / "schema.js", firefox.CACHE, schema, file], capture_output=True,
                              text=True, timeout=300)
        return done.stderr.strip() if done.returncode else done.stdout.strip()

    report.check(f"{recording.stem}: speedscope's schema", complaints(path)[:300], f"{path.stat().st_size} bytes")
    data = json.loads(path.read_text())
    data["profiles"][0]["unit"] = "fortnights"
    wrong = path.with_name("wrong.speedscope.json")
    wrong.write_text(json.dumps(data))
    report.check(f"{recording.stem}: speedscope's schema refuses a wrong unit", "" if complaints(wrong) else "it took it")


def check_pages(report, before, after, lively, pictures):
    flame, changed, real = before.with_suffix(".html"), before.with_name("changed.html"), lively.with_suffix(".html")
    export(before, ".html")
    export(lively, ".html")
    result = harness.limpet("diff", before, after, "-o", changed)
    if result.code:
        raise RuntimeError(str(result))
    with browser.Browser() as shown:
        pages.check_page(report, shown, flame, pictures, "flame-graph", "inner", "outer",
                         threads={"worker": ["all", "outer", "middle", "inner"]}, view=("off-cpu", ["all", "outer", "waits"]))
        pages.check_page(report, shown, changed, pictures, "diff", "inner", "outer", widths=["A", "B", "A and B"])
        pages.check_page(report, shown, real, pictures, "live", "spin_leaf", "spin_hot")


def try_all(report, command, folder):
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    try:
        before, after, lively = made(folder, "before", "calm"), made(folder, "after", "changed"), live(folder)
        for recording in (before, lively):
            if command:
                check_firefox(report, command, recording, folder)
                check_schema(report, command, recording)
        check_pages(report, before, after, lively, PICTURES)
    except (firefox.Refused, RuntimeError, subprocess.SubprocessError, browser.Unavailable) as problem:
        report.not_ok("samples", " / ".join(str(problem).splitlines()[:6]))
