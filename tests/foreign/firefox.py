"""Mozilla's profiler-cli, installed into the user's cache: it reads profiles with the code of the Firefox
profiler.  It keeps a process that holds the profile; here each has a folder of its own."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet" / "foreign"
READER, NODE = "@firefox-devtools/profiler-cli@0.10.0", "node@24"
SCHEMA = ["speedscope@1.25.0", "ajv@6"]
MAIN = CACHE / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"


class Unavailable(Exception):
    """It cannot be had here, and why."""


class Refused(Exception):
    """The reader does not take the file."""


def install():
    """The commands that run it, from npm; what is there stays."""
    node = CACHE / "node_modules/node/bin/node"
    needed = [MAIN, node, CACHE / "node_modules/speedscope", CACHE / "node_modules/ajv"]
    if not all(path.exists() for path in needed):
        if not shutil.which("npm"):
            raise Unavailable("npm is not there")
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", CACHE, READER, NODE, *SCHEMA],
                              capture_output=True, text=True)
        if done.returncode or not all(path.exists() for path in needed):
            raise Unavailable("npm could not install it: " + (done.stderr.strip() or "?").splitlines()[-1])
    return [str(node), str(MAIN)]


class Profile:
    """A file that was loaded; a context manager."""

    START_S = 120

    def __init__(self, command, path, folder):
        self.command, self.path, self.late = command, path, None
        self.environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder),
                            "PROFILER_CLI_LOAD_TIMEOUT_MS": "300000", "PROFILER_CLI_NO_SYMBOLICATE": "1"}

    def load(self):
        """Its process has half a second to start, which a busy machine does not give: then it is waited for."""
        try:
            self.ask("load", str(self.path))
            return
        except Refused as refusal:
            if "did not become ready" not in str(refusal):
                raise
            self.late = int(re.search(r"as pid (\d+)", str(refusal))[1])
        end = time.monotonic() + self.START_S
        while True:
            try:
                self.ask("status")
                return
            except Refused as refusal:
                if "load failed" in str(refusal):
                    raise
                if time.monotonic() > end:
                    raise RuntimeError("profiler-cli does not start")
            time.sleep(0.5)

    def ask(self, *words):
        done = subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=300,
                              env=self.environment, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Refused((done.stderr + done.stdout).strip())
        return done.stdout

    def __enter__(self):
        try:
            self.load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        subprocess.run([*self.command, "stop", "--all"], capture_output=True, env=self.environment,
                       stdin=subprocess.DEVNULL)
        try:
            if self.late and str(MAIN) in pathlib.Path(f"/proc/{self.late}/cmdline").read_text():
                os.kill(self.late, signal.SIGKILL)
        except OSError:
            pass  # it has ended

    def threads(self):
        """{handle: (pid, tid, process, thread)}."""
        found = {}
        for process in json.loads(self.ask("profile", "info", "--all", "--json"))["processes"]:
            for thread in process["threads"]:
                pid, tid = (int(number) for number in f"{process['pid']}:{thread['tid']}".split(":")[-2:])
                found[thread["threadHandle"]] = (pid, tid, process["name"], thread["name"])
        return found

    def markers(self, thread):
        """{(is it an interval, name): (how many, nanoseconds)}."""
        listed = json.loads(self.ask("thread", "markers", "--thread", thread, "--limit", "0", "--json"))
        if sum(group["count"] for group in listed["byType"]) != listed["totalMarkerCount"]:
            raise Refused("its groups do not add up")
        return {(group["isInterval"], group["markerName"]):
                (group["count"], group["durationStats"]["avg"] * group["count"] * 1e6 if group["isInterval"] else 0)
                for group in listed["byType"]}

    def functions(self, thread):
        """{name: (samples in it, samples in it and in what it called)}, those of one name together."""
        listed = json.loads(self.ask("thread", "functions", "--thread", thread, "--include-idle", "--limit", "0", "--json"))
        found = {}
        for row in listed["functions"]:
            self_samples, total_samples = found.get(row["name"], (0, 0))
            found[row["name"]] = self_samples + row["selfSamples"], total_samples + row["totalSamples"]
        return found
