"""The servers whose calls are traced: one process of each does all the work, and lives through the trial."""

import re
import signal
import socket

from load import Load, count_pgbench, count_redis
from servers import Nginx, Postgres, Redis, find


class RedisClient:
    """One connection that speaks the server's protocol."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))

    def answer(self):
        line = self.file.readline().rstrip()
        if line[:1] == b"$":
            return self.file.read(int(line[1:]) + 2)[:-2]
        if line[:1] not in (b"+", b":"):
            raise AssertionError(f"redis answered {line!r}")
        return line[1:]

    def ask(self, *words):
        self.send(*words)
        return self.answer()

    def info(self, section):
        lines = self.ask("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def close(self):
        self.file.close()
        self.socket.close()


class TracedRedis(Redis):
    waits = True  # its threads wait for each other when there is nothing to do
    requests = 5000  # of each kind in a round
    rate_s = None  # what a rate was measured over: a time, or a number of requests
    rate = re.compile(r'"(?P<kind>[A-Z]+)[^"]*","(?P<rate>[\d.]+)"')

    def load(self):
        """No request that makes the data grow."""
        options = f"-h 127.0.0.1 -p {self.port} -n {self.requests} -c 20 -t set,get,incr --csv"
        count = lambda text: count_redis(text, self.requests)
        return Load([find("redis-benchmark"), *options.split()], count)


class TracedNginx(Nginx):
    waits = False
    rate_s = 2.0
    workers = 1
    rate = re.compile(r"(?P<kind>Requests/sec):\s+(?P<rate>[\d.]+)")


class TracedPostgres(Postgres):
    waits = False
    rate_s = 1.0
    rate = re.compile(r"progress: .*?, (?P<rate>[\d.]+) (?P<kind>tps)")

    def load(self):
        """One connection for all the time; the alarm is how pgbench itself ends its time."""
        return Load(self.pgbench("-c", "1", "-T", "3600", "-P", "1"), count_pgbench, end_signal=signal.SIGALRM)


TRACED = (TracedRedis, TracedNginx, TracedPostgres)
