"""What redis itself counts: the memory that it has taken, and how often it read from its clients."""

import csv
import os

import uprobes
from driving import harness
from trace_servers import RedisClient

KEYS = 20000
BATCH = 50
SHARE = 0.005  # of the memory, that may differ: what was there before and is given back meanwhile


class Traffic:
    """INFO's total_reads_processed against the reads that were traced. An INFO is a read itself, which its own count has; the
    server may read for others between the question and its answer."""

    def __init__(self, server):
        self.client = RedisClient(server.port)
        self.begin = self.read()

    def read(self):
        asked_ns = uprobes.now_ns()
        count = int(self.client.info("stats")["total_reads_processed"])
        return count, asked_ns, uprobes.now_ns()

    def end(self):
        self.ended = self.read()
        self.reads = self.ended[0] - self.begin[0]
        self.client.close()
        return self

    def problem(self, calls, dropped):
        (_, begin_asked_ns, begin_told_ns), (_, end_asked_ns, end_told_ns) = self.begin, self.ended
        begins = [call.begin_ns for call in reads_of_sockets(calls)]
        least = sum(begin_told_ns <= ns <= end_asked_ns for ns in begins) + 1  # the last INFO's
        most = sum(begin_asked_ns <= ns <= end_told_ns for ns in begins) - 1  # without the first one's
        fits = least <= self.reads <= most + dropped
        return None if fits else f"recorded {least} to {most}, the server counts {self.reads}"


def reads_of_sockets(calls):
    """Reads of descriptors that were not got by open(): the server looks at /proc now and then."""
    files = set()
    for call in sorted(calls):
        if call.name == "open":
            files.add(call.result)
        elif call.name == "close":
            files.discard(call.descriptor)
        elif call.name == "read" and call.descriptor not in files:
            yield call


def size_class(size):
    """What jemalloc gives: multiples of 16 up to 128, then four sizes up to each power of two."""
    if size <= 128:
        return 8 if size <= 8 else -(-size // 16) * 16
    step = 1 << ((size - 1).bit_length() - 3)
    return -(-size // step) * step


class Blocks:
    """Follows blocks of memory through a recording, in Python; mappings are the allocator's own affair."""

    takes = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign")

    def __init__(self, table):
        self.live, self.strangers = {}, 0
        with open(table, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["domain"] == "alloc"]
        for row in sorted(rows, key=lambda row: int(row["begin_ns"])):
            self.take(row)

    def take(self, row):
        old, address = row["old_address"], row["address"]
        if row["function"] not in (*self.takes, "free"):
            return
        if old not in ("", "0x0") and self.live.pop(old, None) is None:
            self.strangers += 1
        if address not in ("", "0x0"):
            self.live[address] = int(row["size"])

    def asked(self):
        return sum(self.live.values())

    def usable(self):
        return sum(map(size_class, self.live.values()))


def add_keys(client):
    """Values of all sizes from nothing to some kilobytes; nothing is replaced."""
    for first in range(0, KEYS, BATCH):
        for number in range(first, first + BATCH):
            client.send("SET", f"limpet:{number}", b"v" * (number * 7919 % 3000))
        for _ in range(BATCH):
            client.answer()


def reported_bytes(path):
    """Outstanding bytes as `limpet report` adds them up."""
    result = harness.limpet("report", path, "--json", deadline_s=120)
    sites = [event for event in result.events if event["event"] == "allocation"]
    return sum(site["out_bytes"] for site in sites if site["function"] in Blocks.takes)


def blocks_of(path):
    table = f"{path}.csv"
    done = harness.limpet("export", path, "-f", "csv", "-o", table, deadline_s=120)
    if done.code:
        raise AssertionError(f"limpet export: {done}")
    blocks = Blocks(table)
    os.unlink(table)
    return blocks


def judge_bytes(path, used):
    """redis counts what the allocator really gave for each block, limpet what was asked for."""
    blocks, reported = blocks_of(path), reported_bytes(path)
    note = f"{used} bytes by INFO, {blocks.usable()} in blocks for {reported} asked; {blocks.strangers} from before"
    is_near = abs(blocks.usable() - used) <= SHARE * used
    return (None if is_near and reported == blocks.asked() and used > KEYS * 1000 else note), note


def check_bytes(trial, record):
    """A workload that only adds keys; record(path) begins a recording of the server."""
    path = trial.server.folder / "bytes.limpet"
    client = RedisClient(trial.server.port)
    used = lambda: int(client.info("memory")["used_memory"])
    used()
    with trial.quiet():
        recording = record(path)
        before = used()
        add_keys(client)
        difference = used() - before
        recording.end()
    client.close()
    trial.check("bytes: recorded, all put back", recording.problem(), f"{recording.dropped} dropped")
    trial.check("bytes as INFO counts them", *judge_bytes(path, difference))
