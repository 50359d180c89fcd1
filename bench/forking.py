#!/usr/bin/env python3
"""
What `--children` costs servers that make a process for each connection: PostgreSQL with a new connection for
each transaction, and Python's forking server.

Slots alternate: nothing, nothing again, limpet, and the limpet of --peer-limpet where one is named. "Traced" is the
share of the server's processes that are in the recording: a limpet that misses most of them costs less.
"""

import argparse
import json
import os
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from latency import await_port, free_port
from report import Machine, progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SERVER = """
import socketserver, sys
class Sum(socketserver.StreamRequestHandler):
    def handle(self):
        count = int(self.rfile.readline() or 0)
        self.wfile.write(b"%d\\n" % sum(i * i for i in range(count)))
class Server(socketserver.ForkingMixIn, socketserver.TCPServer):
    request_queue_size = 128
Server(("127.0.0.1", int(sys.argv[1])), Sum).serve_forever()
"""
PYTHON_WORK = 20000  # about 2 ms for each process


class Postgres:
    name = "PostgreSQL, a connection for each transaction, 2 clients"

    def __init__(self, folder):
        programs = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        self.user, self.port, data = pwd.getpwnam("postgres"), free_port(), folder
        os.chmod(os.path.dirname(folder), 0o755)
        os.mkdir(data)
        os.chown(data, self.user.pw_uid, self.user.pw_gid)
        self.run([f"{programs}/initdb", "-D", data, "-A", "trust"])
        self.server = subprocess.Popen([f"{programs}/postgres", "-D", data, "-p", str(self.port), "-k", data],
                                       user=self.user.pw_uid, group=self.user.pw_gid, stderr=subprocess.DEVNULL)
        await_port(self.port)
        self.load = ["pgbench", "-h", "127.0.0.1", "-p", str(self.port)]
        self.run([*self.load, "-i", "-q", "postgres"])

    def run(self, command):
        return subprocess.run(command, user=self.user.pw_uid, group=self.user.pw_gid, capture_output=True, text=True,
                              check=True).stdout

    def per_second(self, seconds):
        text = self.run([*self.load, "-S", "-C", "-c", "2", "-T", str(seconds), "postgres"])
        return float(re.search(r"tps = ([0-9.]+)", text).group(1))

    def end(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait()


class Python:
    name = "Python's forking server, 2 ms of work each, 1 client"

    def __init__(self, _folder):
        self.port = free_port()
        self.server = subprocess.Popen(["/usr/bin/python3", "-c", SERVER, str(self.port)])
        await_port(self.port)

    def per_second(self, seconds):
        begin, count = time.monotonic(), 0
        while time.monotonic() < begin + seconds:
            with socket.create_connection(("127.0.0.1", self.port)) as client:
                client.sendall(b"%d\n" % PYTHON_WORK)
                count += bool(client.recv(100))
        return count / (time.monotonic() - begin)

    def end(self):
        self.server.kill()
        self.server.wait()


class Recording:
    """limpet, from when it has attached until it has left."""

    def __init__(self, limpet, pid, option, folder):
        path = os.path.join(folder, "it.limpet")
        self.process = subprocess.Popen([limpet, "record", "-p", str(pid), "--children", "--json", "-o", path, "-f", option],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def __enter__(self):
        if not self.process.stdout.readline():
            sys.exit("limpet did not attach")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        events = [json.loads(line) for line in self.process.communicate()[0].splitlines()]
        self.processes = sum(event["processes"] for event in events if event["event"] == "recorded")


def measure(servers, limpets, option, folder, slots, seconds):
    """Rates, and shares that were traced. Each limpet has a server of its own: an agent of another version is refused."""
    found, traced = {"off": [], "off again": [], **{name: [] for name in limpets}}, {name: [] for name in limpets}
    for slot in range(slots):
        progress(f"{servers['limpet'].name}, {option}: slot {slot + 1} of {slots}")
        for name, values in found.items():
            server = servers.get(name, servers["limpet"])
            if name not in limpets:
                values.append(server.per_second(seconds))
                continue
            with Recording(limpets[name], server.server.pid, option, folder) as recording:
                values.append(server.per_second(seconds))
            traced[name].append(recording.processes / (values[-1] * seconds))
    return found, traced


def ratio(found, traced, name):
    pairs = [one / off for one, off in zip(found[name], found["off"])]
    share = f", {min(statistics.median(traced[name]), 1):.0%} traced" if name in traced else ""
    return f"{statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f}){share}"


def measure_kind(kind, limpets, folder, options):
    servers = {}
    try:
        for name in limpets:
            servers[name] = kind(os.path.join(folder, name))
        for option in ("--io-trace", "--alloc-sample"):
            found, traced = measure(servers, limpets, option, folder, options.slots, options.seconds)
            ratios = [ratio(found, traced, name) for name in found if name != "off"]
            yield [kind.name, option, f"{statistics.median(found['off']):.0f}", *ratios]
    finally:
        for server in servers.values():
            server.end()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench forking", description=__doc__)
    parser.add_argument("--limpet", default=os.path.join(ROOT, "out/bin/limpet"))
    parser.add_argument("--peer-limpet", metavar="PATH", help="measure another limpet in turns with this one")
    parser.add_argument("--slots", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    options = parser.parse_args()
    limpets = {"limpet": options.limpet, **({"other": options.peer_limpet} if options.peer_limpet else {})}
    machine, rows = Machine(os.cpu_count(), os.uname(), os.getloadavg()), []
    for kind in [Python, *([Postgres] if shutil.which("pg_config") and shutil.which("pgbench") else [])]:
        with tempfile.TemporaryDirectory() as folder:
            rows += measure_kind(kind, limpets, folder, options)
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()) + "\n")
    head = ["server", "trace", "processes a second, off", "off again / off", *[f"{name} / off" for name in limpets]]
    for line in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
