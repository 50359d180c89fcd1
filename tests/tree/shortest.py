#!/usr/bin/env python3
"""
How short may a worker live and still be attached?  For each way of following, each way of being born and each
length of life: the share of workers that found limpet in themselves at their end.

usage: shortest.py [WORKERS]     as root, on a machine that is otherwise quiet
"""

import sys
import tempfile
import time

import families
from families import Follower, Server

LIVES_MS = (3, 5, 7, 10, 15, 20, 30, 50)
WAYS = ("fork", "spawn", "daemon")


def sources():
    loadavg = tempfile.NamedTemporaryFile(delete=False)
    loadavg.write(b"0.00 0.00 0.00 1/100 1000\n")
    loadavg.close()
    return (("events", ()), ("numbers", families.NO_EVENTS), ("walk", (*families.NO_COUNTER, loadavg.name)))


def share(server, way, life_ms, workers):
    attached = 0
    for number in range(workers):
        attached += server.ask(way, life_ms, number).attached
        time.sleep(0.02)
    return 100 * attached / workers


def main():
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print("| following | born by | " + " | ".join(f"{life} ms" for life in LIVES_MS) + " |")
    print("|---|---|" + "---|" * len(LIVES_MS))
    for name, before in sources():
        for way in WAYS:
            with Server() as server:
                follower = Follower(server.pid, before=before)
                assert follower.wait_settled() and follower.following() == name, str(follower)
                shares = [share(server, way, life, workers) for life in LIVES_MS]
                follower.stop()
            print(f"| {name} | {way} | " + " | ".join(f"{one:.0f} %" for one in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
