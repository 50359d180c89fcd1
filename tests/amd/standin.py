"""A program that uses the stand-ins of AMD's runtimes and says what it did, and what limpet saw of it."""

import json
import os
import pathlib
import signal
import sys
import tempfile
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "attach"), str(HERE.parent / "register")]

import harness  # noqa: E402
from ground import SDK, STANDIN, Ground  # noqa: E402

OPENCL_DRIVER = STANDIN.parent / "opencl/libstandin_cl.so"

# How the process came to its register library: none that tells its tables, limpet's, AMD's.
CASES = {
    "unprepared": {"library_path": STANDIN / "amd_register/old"},
    "limpets door": {"ROCP_TOOL_ATTACH": "1"},
    "limpets, shut": {},
    "amds": {"library_path": STANDIN / "amd_register"},
    "amds, opted in": {"library_path": STANDIN / "amd_register", "ROCP_TOOL_ATTACH": "1"},
}


# What programs answer at any time; "tables" when not named.
QUESTIONS = {"standin_forks": "begin 0", "standin_corners": "none 0"}


class Work:
    """A running standin_work, or another program that answers like it."""

    def __init__(self, library_path=None, program="standin_work", before=(), **variables):
        self.ground, self.question = Ground(SDK), QUESTIONS.get(program, "tables") + "\n"
        self.process = self.ground.start(
            STANDIN / program, before=before, LD_LIBRARY_PATH=str(library_path or self.ground.path), **variables)
        self.pid = int(self.process.stdout.readline().split()[1])

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def lines(self):
        """What it answers, by words, up to "end"."""
        found = []
        for line in iter(self.process.stdout.readline, "end\n"):
            if not line or line.startswith("wrong"):
                raise AssertionError(f"standin_work: {line or 'ended'}")
            found.append(line.split())
        return found

    def ask(self, *words):
        self.tell(*words)
        return self.lines()

    def tables(self):
        """Name to the addresses and numbers of slots of its parts."""
        found = {}
        for words in self.ask("tables"):
            if words[0] == "table":
                found.setdefault(words[1], []).append((int(words[3], 16), int(words[4])))
        return found

    def words(self, tables):
        """Everything in the tables, as bytes."""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            found = []
            for name, parts in sorted(tables.items()):
                for address, slots in parts:
                    memory.seek(address)
                    found.append(memory.read(16 + 8 * slots))
                if name == "hsa":
                    for i in range(6):
                        root = int.from_bytes(found[-1][16 + 8 * i:24 + 8 * i], "little")
                        memory.seek(root)
                        size = int.from_bytes(memory.read(8)[4:], "little")
                        memory.seek(root)
                        found[-1:-1] = [memory.read(size)]
            return found

    def leads_out_of(self, library, address):
        """Does the word at that address lead to code that is not the library's?"""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            memory.seek(address)
            value = int.from_bytes(memory.read(8), "little")
        with open(f"/proc/{self.pid}/maps") as maps:
            for line in maps:
                start, end = (int(text, 16) for text in line.split()[0].split("-"))
                if start <= value < end:
                    return library not in line
        return False

    def close(self):
        try:
            harness.progress.check(self.pid, harness.progress.Answers(self.process, self.question), self.process)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.ground.close()


class Recorder:
    """limpet record while it runs."""

    def __init__(self, pid, path, *options):
        self.path = path
        self.process = harness.limpet_start("record", "-p", pid, "-o", path, "--json", *options)
        self.attached = harness.attached_wait(self.process)

    def stop(self):
        os.kill(self.process.pid, signal.SIGINT)
        return harness.limpet_finish(self.process)


class Seen:
    """What is in a recording."""

    def __init__(self, path):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            result = harness.limpet("export", path, "-f", "json", "-o", file.name)
            if result.code:
                raise AssertionError(str(result))
            with open(file.name) as exported:
                data = json.load(exported)
        self.data, self.functions, self.calls = data, data["functions"], data["calls"]
        for call in self.calls:
            call.update(domain=self.functions[call["function"]]["domain"],
                        function=self.functions[call["function"]]["name"],
                        tid=data["threads"][call["thread"]]["tid"])

    def count(self, *domains):
        """Calls by name."""
        return Counter(call["function"] for call in self.calls if call["domain"] in domains)

    def of(self, domain):
        return [call for call in self.calls if call["domain"] == domain]

    def begin_ns(self, ticks):
        """As limpet makes times of ticks."""
        start, end = (self.data["clocks"][name] for name in ("start", "end"))
        slope = (end["boottime_ns"] - start["boottime_ns"]) / (end["ticks"] - start["ticks"])
        return start["boottime_ns"] + (ticks - start["ticks"]) * slope
