"""Mozilla's profiler-cli, installed into the user's cache: it reads Chrome JSON with the code of the Firefox
profiler.  It keeps a process that holds the profile; here each has a home folder of its own."""

import json
import os
import pathlib
import shutil
import subprocess

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet" / "foreign"
READER, NODE = "@firefox-devtools/profiler-cli@0.10.0", "node@24"
MAIN = CACHE / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"


class Unavailable(Exception):
    """It cannot be had here, and why."""


class Refused(Exception):
    """The reader does not take the file."""


def install():
    """The commands that run it, from npm; what is there stays."""
    node = CACHE / "node_modules/node/bin/node"
    if not MAIN.exists() or not node.exists():
        if not shutil.which("npm"):
            raise Unavailable("npm is not there")
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", CACHE, READER, NODE],
                              capture_output=True, text=True)
        if done.returncode or not MAIN.exists() or not node.exists():
            raise Unavailable("npm could not install it: " + (done.stderr.strip() or "?").splitlines()[-1])
    return [str(node), str(MAIN)]


class Profile:
    """A file that was loaded; a context manager."""

    def __init__(self, command, path, home):
        self.command, self.path = command, path
        self.environment = {**os.environ, "HOME": str(home)}

    def ask(self, *words):
        done = subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=300,
                              env=self.environment, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Refused((done.stderr + done.stdout).strip())
        return done.stdout

    def __enter__(self):
        try:
            self.ask("load", str(self.path))
        except Refused:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        subprocess.run([*self.command, "stop", "--all"], capture_output=True, env=self.environment,
                       stdin=subprocess.DEVNULL)

    def threads(self):
        """{handle: (pid, tid, process, thread)}."""
        found = {}
        for process in json.loads(self.ask("profile", "info", "--all", "--json"))["processes"]:
            for thread in process["threads"]:
                pid, tid = (int(number) for number in thread["tid"].split(":"))
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
