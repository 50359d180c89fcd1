#!/usr/bin/env python3
"""
What starting a sampler costs other programs: the latency of a loaded redis and a loaded Java server while
`limpet dump` and `limpet record` start in a loop, beside the same processor time burned by a plain program.

Slots alternate: idle, equal load, limpet.  The equal load is a child that spins for as much processor time as
one command of limpet's used, again and again.
"""

import argparse
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from report import Machine, progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SERVER = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
public class Server {
    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            byte[] answer = Integer.toString(new java.util.Random(7).ints(200).sum()).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
"""
WRK = 'done = function(summary, latency) io.write(string.format("p999 %f\\n", latency:percentile(99.9) / 1000)) end'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port):
    for _ in range(200):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


class Redis:
    name = "redis, GET, 8 clients"

    def __init__(self, _folder):
        self.port = free_port()
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        await_port(self.port)

    def p999_ms(self, seconds):
        count = str(int(seconds * 25000))
        command = ["redis-benchmark", "-p", str(self.port), "-t", "get", "-c", "8", "-n", count]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = re.findall(r"([0-9.]+)% <= ([0-9.]+) milliseconds", text)
        return min(float(limit) for share, limit in rows if float(share) >= 99.9)


class Java:
    name = "Java's HTTP server, 4 threads, 8 clients"

    def __init__(self, folder):
        self.port = free_port()
        source, self.script = os.path.join(folder, "Server.java"), os.path.join(folder, "p999.lua")
        for path, text in ((source, SERVER), (self.script, WRK)):
            with open(path, "w") as file:
                file.write(text)
        self.server = subprocess.Popen(["java", source, str(self.port)])
        await_port(self.port)
        self.p999_ms(5)

    def p999_ms(self, seconds):
        command = ["wrk", "-t1", "-c8", f"-d{seconds}s", "-s", self.script, f"http://127.0.0.1:{self.port}/"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return float(re.search(r"p999 ([0-9.]+)", text).group(1))


class Loop:
    """Runs a step again and again beside the load, and counts."""

    def __init__(self, step):
        self.step, self.count, self.is_over = step, 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.is_over:
            self.step()
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_quietly(command):
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


SPIN = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"


def burn(seconds):
    run_quietly([sys.executable, "-S", "-E", "-c", SPIN, str(seconds)])


def measure(server, command, slots, seconds):
    """Lists of p999 in ms: idle, equal, limpet; and how many commands ran in a limpet slot."""
    found, counts = {"idle": [], "equal": [], "limpet": []}, []
    before = children_cpu_s()
    for _ in range(3):
        run_quietly(command)
    cpu_s = (children_cpu_s() - before) / 3
    for slot in range(slots):
        progress(f"{server.name}: slot {slot + 1} of {slots}")
        found["idle"].append(server.p999_ms(seconds))
        with Loop(lambda: burn(cpu_s)):
            found["equal"].append(server.p999_ms(seconds))
        with Loop(lambda: run_quietly(command)) as loop:
            found["limpet"].append(server.p999_ms(seconds))
        counts.append(loop.count)
    return found, statistics.median(counts), cpu_s


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def row(server, what, found, count, cpu_s):
    ratio = statistics.median(found["limpet"]) / statistics.median(found["equal"])
    cells = [server.name, what, f"{cpu_s * 1000:.0f}", f"{count:.0f}"]
    cells += [spread(found[kind]) for kind in ("idle", "equal", "limpet")] + [f"{ratio:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limpet", default=os.path.join(ROOT, "out/bin/limpet"))
    parser.add_argument("--slots", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    options = parser.parse_args()
    machine = Machine(os.cpu_count(), os.uname(), os.getloadavg())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        idle = subprocess.Popen(["sleep", "100000"])
        for kind in (Redis, Java):
            server = kind(folder)
            recording = os.path.join(folder, "it.limpet")
            commands = {
                "dump of it": ["dump", str(server.server.pid)],
                "dump of a sleep": ["dump", str(idle.pid)],
                "record of it, 0.2 s": ["record", "-p", str(server.server.pid), "-d", "0.2", "-f", "-o", recording],
            }
            for what, arguments in commands.items():
                result = measure(server, [options.limpet, *arguments], options.slots, options.seconds)
                rows.append(row(server, what, *result))
            server.server.kill()
            server.server.wait()
        idle.kill()
        idle.wait()
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()) + "\n")
    print("| server | limpet in a loop | CPU ms each | commands a slot | p999 ms idle | equal load | limpet | limpet / equal |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
