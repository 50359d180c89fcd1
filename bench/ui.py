#!/usr/bin/env python3
"""
What `limpet ui` takes to open a large recording and to add up ranges of it.

  bench/ui.py [--samples N] [--nodes N] [--ranges N]
  bench/ui.py --rounds N        a recording of made-up work of two devices instead, about 20 spans a round
  bench/ui.py --page [--rounds N]
                                the same in Chromium: what the page takes (needs playwright-core, see ./dev ui)
  bench/ui.py --peers [--samples N]
                                the same samples in speedscope (Chromium) and in the code of the Firefox profiler (node, which
                                draws nothing); both come from npm, see ./dev foreign
  bench/ui.py --live SECONDS [--threads N] [--tabs N] [--flames N] [--block BYTES]
                                a live session instead, with so many pages that look at it, and ask for N flame graphs a second
  bench/ui.py --live SECONDS --browser [--tabs N]
                                the same with tabs of Chromium, half of them hidden (needs playwright-core, see ./dev ui)
  bench/ui.py --size            by how much the page makes limpet larger: linked with and without it

Environment: LIMPET, BUILD (a build tree).
"""

import argparse
import os
import pathlib
import random
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("LIMPET", str(ROOT / "out/bin/limpet"))
sys.path.insert(0, str(ROOT / "tests/ui"))

from server import Server, read_answer  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet"
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))


def memory_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))


def cpu_ms(pid):
    """Processor time of all its threads: what counts where others keep the machine busy."""
    total = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(path.read_text(encoding="ascii").split()[0])
    return total / 1e6


def process_cpu_s(pid):
    """The same, also of threads that have ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Asking:
    """One connection, as a page has it."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connect()

    def time_ms(self, path):
        begin = time.monotonic()
        self.connection.sendall(self.server.head(path).encode())
        answer = read_answer(self.connection)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.raw[:300]!r}")
        return (time.monotonic() - begin) * 1000, len(answer.body)


def measure(asking, name, paths):
    before = cpu_ms(asking.server.process.pid)
    results = [asking.time_ms(path) for path in paths]
    cpu = (cpu_ms(asking.server.process.pid) - before) / len(results)
    times = sorted(time_ms for time_ms, _ in results)
    print(f"{name:34} p50 {statistics.median(times):8.1f} ms  p95 {times[int(len(times) * 0.95)]:8.1f} ms  "
          f"processor {cpu:8.1f} ms  "
          f"{statistics.median(size for _, size in results) / 1024:9.1f} KiB")


def ranges(end_ns, count, share):
    chance = random.Random(7)
    for _ in range(count):
        length = int(end_ns * share)
        begin = chance.randrange(max(end_ns - length, 1))
        yield f"&from={begin}&to={begin + length}"


TARGET = """
import hashlib, sys, threading, time
def work(counts, i):
    data = bytes(int(sys.argv[2]))
    while True:
        hashlib.sha256(data).digest()
        counts[i] += 1
counts = [0] * int(sys.argv[1])
for i in range(len(counts)):
    threading.Thread(target=work, args=(counts, i), daemon=True).start()
while True:
    print(time.monotonic(), sum(counts), flush=True)
    time.sleep(1)
"""


class Target:
    """Threads that compute; how much they do in a second."""

    def __init__(self, threads, block):
        self.process = subprocess.Popen([sys.executable, "-c", TARGET, str(threads), str(block)], stdout=subprocess.PIPE, text=True)
        self.points = []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.points.append(tuple(map(float, line.split())))

    def wait_for(self, count):
        while len(self.points) < count:
            time.sleep(0.1)

    def rate(self, seconds):
        """Blocks in a second of its own processor time: what others do on the machine does not count, what samples cost does."""
        self.wait_for(len(self.points) + 1)
        begin, cpu = len(self.points) - 1, cpu_ms(self.process.pid)
        time.sleep(seconds)
        self.wait_for(len(self.points) + 1)
        return (self.points[-1][1] - self.points[begin][1]) / (cpu_ms(self.process.pid) - cpu)


def recorded_rate(target, seconds, path):
    """The same while limpet record has it."""
    command = [os.environ["LIMPET"], "record", "-p", str(target.process.pid), "-F", "999", "--off-cpu", "-o", path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recording:
        time.sleep(3)
        rate = target.rate(seconds)
        recording.send_signal(signal.SIGINT)
        recording.wait()
    return rate


def show_recorded(target, alone, seconds, options):
    """What limpet record costs; also beside pages that keep the processors as busy, with something else."""
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        path, failures = os.path.join(folder, "it.limpet"), []
        print(f"target with record: {100 * recorded_rate(target, seconds, path) / alone:.1f} % of alone", flush=True)
        with Server(path) as server:
            for _ in range(options.tabs):
                until = time.monotonic() + 2 * seconds + 10
                threading.Thread(target=tab, args=(server, until, failures, options.flames), daemon=True).start()
            print(f"beside as many pages that show a recording: {100 * target.rate(seconds) / alone:.1f} %, with record "
                  f"{100 * recorded_rate(target, seconds, path + '.again') / alone:.1f} %", flush=True)
            time.sleep(max(until - time.monotonic(), 0) + 1)


def tab(server, until, failures, flames):
    """What a page asks for: everything that is new ten times a second, the flame graph once or more often."""
    asking, turn = Asking(server), 0
    while time.monotonic() < until:
        try:
            asking.time_ms("/api/live?session=1&since=1")
            if turn % (10 // flames) == 0:
                asking.time_ms("/api/flame?session=1&width=1500")
        except (OSError, RuntimeError) as error:
            failures.append(str(error))
            asking = Asking(server)
        turn += 1
        time.sleep(0.1)


def tabs_start(server, until, failures, options):
    """What looks at the session; what has to be waited for."""
    if options.browser:
        url = server.listening["url"].replace("#", "#session=1&")
        return [subprocess.Popen(["node", str(ROOT / "bench/ui_tabs.mjs"), url, str(until - time.monotonic()), str(options.tabs)], env=page_environment())]
    for _ in range(options.tabs):
        threading.Thread(target=tab, args=(server, until, failures, options.flames), daemon=True).start()
    return []


def live(options):
    target = Target(options.threads, options.block)
    try:
        target.rate(5)
        alone = target.rate(20)
        show_recorded(target, alone, 30, options)
        with Server() as server:
            answer = server.post("/api/sessions", {"pid": target.process.pid, "sample": {"hz": 999, "off_cpu": True}})
            if answer.status != 200:
                raise RuntimeError(answer.raw)
            failures, pid, until = [], server.process.pid, time.monotonic() + options.live
            browsers = tabs_start(server, until, failures, options)
            while time.monotonic() < until:
                before = cpu_ms(pid) + cpu_ms(server.child())
                rate = target.rate(max(min(30, until - time.monotonic() - 2), 3))
                session = server.ask("/api/sessions")["sessions"][0]
                print(f"{session['end_ns'] / 1e9:6.0f} s  {session['samples']:9} samples  {session['lost']} lost  "
                      f"oldest {(session['end_ns'] - session['oldest_ns']) / 1e9:.0f} s  {memory_mib(pid)} MiB + "
                      f"{memory_mib(server.child())} MiB  target {100 * rate / alone:.1f} % of alone  "
                      f"limpet {(cpu_ms(pid) + cpu_ms(server.child()) - before) / 1000:.1f} s of processor", flush=True)
            for browser in browsers:
                browser.wait()
            print(f"{len(failures)} answers failed {failures[:3]}")
    finally:
        target.process.kill()
        target.process.wait()


def spans_make(path, options):
    command = [BUILD / "tests/programs/make_gpu_recording", path, options.rounds, 1, options.nodes]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def samples_make(path, options):
    subprocess.run([str(BUILD / "bench/make_samples_file"), path, str(options.samples), str(options.nodes)], check=True)


def page_environment():
    return {**os.environ, "UI_MODULES": str(CACHE / "ui")}


def page(options):
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        path = os.path.join(folder, "it.limpet")
        (spans_make if options.rounds else samples_make)(path, options)
        subprocess.run(["node", str(ROOT / "bench/ui_page.mjs"), path, "gpu" if options.rounds else "cpu"], check=True,
                       env=page_environment())


def page_time(path):
    """From the start of limpet to the page's first picture."""
    out = subprocess.run(["node", str(ROOT / "bench/ui_page.mjs"), path, "cpu", "first"], check=True, env=page_environment(), capture_output=True, text=True)
    print(f"limpet ui: {out.stdout.strip()}", flush=True)


def firefox_time(path, folder):
    sys.path.insert(0, str(ROOT / "tests/foreign"))
    import firefox
    begin = time.monotonic()
    try:
        with firefox.Profile(firefox.install(), path, folder):
            print(f"the Firefox profiler's code: read after {time.monotonic() - begin:.2f} s", flush=True)
    except (firefox.Refused, firefox.Unavailable, RuntimeError) as problem:
        print(f"the Firefox profiler's code: {str(problem).splitlines()[0]}", flush=True)


def peers(options):
    release = CACHE / "foreign/node_modules/speedscope/dist/release"
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        path = os.path.join(folder, "it.limpet")
        samples_make(path, options)
        for name in ("speedscope", "firefox"):
            subprocess.run([os.environ["LIMPET"], "export", path, "-f", name, "-o", f"{path}.{name}.json"], check=True, stdout=subprocess.DEVNULL)
            print(f"{options.samples} samples for {name}: {os.path.getsize(f'{path}.{name}.json') >> 20} MiB (limpet {os.path.getsize(path) >> 20} MiB)", flush=True)
        page_time(path)
        subprocess.run(["node", str(ROOT / "bench/ui_peers.mjs"), str(release), f"{path}.speedscope.json"], check=True, env=page_environment())
        firefox_time(f"{path}.firefox.json", folder)


def spans(options):
    """Lanes, arrows and the flame graph of devices."""
    asked = (("lanes", "/api/spans?session=1&width=1500"), ("flame of devices", "/api/flame?session=1&kind=gpu&width=1500"),
             ("functions of devices", "/api/functions?session=1&kind=gpu"), ("arrows", "/api/flows?session=1&limit=2000"))
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        path = os.path.join(folder, "spans.limpet")
        spans_make(path, options)
        begin = time.monotonic()
        with Server(path) as server:
            asking, end_ns = Asking(server), server.ask("/api/sessions")["sessions"][0]["end_ns"]
            for name, route in asked:
                asking.time_ms(route)
                print(f"first {name} after {time.monotonic() - begin:.2f} s (processor {process_cpu_s(server.process.pid):.2f} s)")
            lanes = server.ask("/api/spans?session=1&width=1")["lanes"]
            print(f"{sum(lane['spans'] for lane in lanes)} spans in {len(lanes)} lanes, {memory_mib(server.process.pid)} MiB")
            for share in (0.5, 0.1, 0.01):
                for name, route in asked:
                    measure(asking, f"{name} of {share:.0%}", [route + part for part in ranges(end_ns, options.ranges, share)])


# Instead of what the command line calls of the page.
WITHOUT_PAGE = """
const char command_ui[256] = { 1 };
int record_watched(void);
int record_watched(void) { return -38; }
int share_recording(void);
int share_recording(void) { return -38; }
"""
PAGE_PARTS = ("libui.a", "cli_cmd_ui.c.o", "cli_ui_page.c.o", "cli_record_watched.c.o")


def stripped_size(command, folder, name):
    path = os.path.join(folder, name)
    subprocess.run([*command, "-o", path, "-s"], check=True, cwd=BUILD, stderr=subprocess.DEVNULL)
    return os.path.getsize(path)


def size():
    """What only the page needs of the libraries is left out with it: the linker takes from them what is called."""
    commands = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "src/host/limpet"], check=True, capture_output=True, text=True)
    words = shlex.split(commands.stdout.splitlines()[-1])
    del words[words.index("-o"):words.index("-o") + 2]
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        stub = pathlib.Path(folder, "without_page.c")
        stub.write_text(WITHOUT_PAGE, encoding="ascii")
        whole = stripped_size(words, folder, "with")
        without = stripped_size([word for word in words if not word.endswith(PAGE_PARTS)] + [str(stub)], folder, "without")
    print(f"limpet {whole} bytes, without the page {without}: {(whole - without) / 1024:.1f} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--ranges", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--live", type=int, default=0)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--tabs", type=int, default=20)
    parser.add_argument("--block", type=int, default=1 << 15, help="bytes between two waits of a thread")
    parser.add_argument("--browser", action="store_true", help="real tabs instead of clients that ask as they do")
    parser.add_argument("--size", action="store_true")
    parser.add_argument("--flames", type=int, choices=(1, 2, 5, 10), default=1)
    options = parser.parse_args()
    if options.live:
        live(options)
        return
    if options.size:
        size()
        return
    if options.page:
        page(options)
        return
    if options.peers:
        peers(options)
        return
    if options.rounds:
        spans(options)
        return
    with tempfile.TemporaryDirectory(prefix="bench-ui-") as folder:
        path = os.path.join(folder, "large.limpet")
        samples_make(path, options)
        print(f"{options.samples} samples, {options.nodes} nodes, {os.path.getsize(path) >> 20} MiB")
        begin = time.monotonic()
        with Server(path) as server:
            opened, opened_cpu = time.monotonic() - begin, process_cpu_s(server.process.pid)
            asking = Asking(server)
            first = asking.time_ms("/api/flame?session=1&width=1500")[0] / 1000
            print(f"open {opened:.2f} s (processor {opened_cpu:.2f} s), first flame graph after {opened + first:.2f} s "
                  f"(processor {process_cpu_s(server.process.pid):.2f} s), {memory_mib(server.process.pid)} MiB")
            end_ns = server.ask("/api/sessions")["sessions"][0]["end_ns"]
            for share in (1.0, 0.5, 0.1, 0.01):
                measure(asking, f"flame of {share:.0%}",
                        [f"/api/flame?session=1&width=1500{part}" for part in ranges(end_ns, options.ranges, share)])
            for route, more in (("functions", ""), ("heatmap", "&cell_ms=100"), ("timeline", "&width=1500"),
                                ("threads", "")):
                measure(asking, f"{route} of 50%",
                        [f"/api/{route}?session=1{part}{more}" for part in ranges(end_ns, options.ranges, 0.5)])
            half = f"&to={end_ns // 2}"
            measure(asking, "compare of halves", [f"/api/compare?session=1{half}&session_b=1&from_b={end_ns // 2}"] * 10)


if __name__ == "__main__":
    main()
