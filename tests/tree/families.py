"""
Families of processes to attach to, and the limpet that follows them.  Used by the tests of trees and by
shortest.py.

The evidence that a worker was attached is its own: at its end it looks for a thread of limpet's in itself.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))
import harness  # noqa: E402

NOBODY = 65534
DROP = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# The process connector exists in the first network namespace only.
NO_EVENTS = ("unshare", "--net")
# As lxcfs does in containers: a file that is not the kernel's.
NO_COUNTER = ("unshare", "--net", "--mount", "sh", "-c",
              'mount --bind "$0" /proc/loadavg && exec "$@"')


class Answer:
    """What a worker says about its life."""

    def __init__(self, line):
        words = line.split()
        self.whole = len(words) == 4
        self.pid, self.attached, self.interrupts, self.square = map(int, words) if self.whole else (0,) * 4


class Held:
    """A worker that lives until it is released."""

    def __init__(self, connection):
        self.connection, self.file = connection, connection.makefile()
        self.pid = int(self.file.readline())

    def release(self):
        """Lets it end; its answer."""
        self.connection.shutdown(socket.SHUT_WR)
        answer = Answer(self.file.readline())
        self.close()
        return answer

    def close(self):
        self.file.close()
        self.connection.close()


class Server:
    """tests/programs/fork_server: a process for each request."""

    def __init__(self, before=()):
        self.folder = tempfile.mkdtemp(prefix="family-")
        os.chmod(self.folder, 0o777)
        self.path = os.path.join(self.folder, "socket")
        self.process = subprocess.Popen([*before, harness.program("fork_server"), self.path],
                                        stdout=subprocess.PIPE, start_new_session=True)
        if self.process.stdout.readline() != b"ready\n":
            self.close()
            raise harness.Unavailable("fork_server does not start")
        self.pid, self.answered = self.process.pid, 0

    def send(self, text):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(harness.PATIENCE_S)
        connection.connect(self.path)
        connection.sendall(text.encode() + b"\n")
        return connection

    def receive(self, connection):
        with connection, connection.makefile() as file:
            return file.readline()

    def start(self, way, life_ms, number):
        """Begins one request; finish() it to get the answer."""
        return self.send(f"{way} {life_ms} {number}")

    def finish(self, connection):
        return Answer(self.receive(connection))

    def hold(self, way, number):
        """Begins one request whose worker lives until it is released."""
        return Held(self.send(f"{way} -1 {number}"))

    def ask(self, way, life_ms, number):
        return self.finish(self.start(way, life_ms, number))

    def count(self):
        """How many workers were reaped, and how many of these did not end well."""
        return tuple(map(int, self.receive(self.send("count")).split()))

    def requests_answered(self):
        """Asks once more; how many were answered, for progress.check()."""
        self.count()
        self.answered += 1
        return self.answered

    def close(self):
        try:
            harness.progress.check(self.process.pid, self.requests_answered, self.process, harness.progress.ANSWERS_S)
        finally:
            self.end()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Follower:
    """
    limpet attach PID --children --json, with its events as they come.  In the folder for notes, where one is
    given, a file with its number tells a process that it is attached.
    """

    def __init__(self, pid, *arguments, before=(), notes=None):
        self.events, self.changed, self.notes = [], threading.Condition(), notes
        self.process = subprocess.Popen(
            [*before, harness.LIMPET, "attach", str(pid), "--children", "--json", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.errors = []
        self.readers = [threading.Thread(target=self.read_events), threading.Thread(target=self.read_errors)]
        for reader in self.readers:
            reader.start()

    def read_events(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()
            if self.notes and self.events[-1]["event"] == "attached":
                open(os.path.join(self.notes, str(self.events[-1]["pid"])), "w").close()
        with self.changed:
            self.events.append({"event": "end of output"})
            self.changed.notify_all()

    def read_errors(self):
        self.errors.extend(self.process.stderr)

    def of(self, kind):
        return [event for event in self.events if event["event"] == kind]

    def pids(self, kind):
        return {event["pid"] for event in self.of(kind)}

    def wait(self, condition, deadline_s=harness.PATIENCE_S):
        """True when condition() comes true in time, looked at with each event."""
        with self.changed:
            return self.changed.wait_for(lambda: condition() or self.of("end of output"), deadline_s) and condition()

    def has_attached(self, pid):
        """It is in there, and has told so."""
        return pid in self.pids("attached") and is_attached(pid)

    def wait_settled(self):
        return self.wait(lambda: self.of("tree"))

    def following(self):
        return self.of("tree")[0]["following"]

    def stop(self, number=15):
        """Ends it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.finish()

    def finish(self, deadline_s=harness.PATIENCE_S):
        try:
            code = self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            code = None
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        if not self.process.stdout.closed:
            self.finish()

    def __str__(self):
        return "\n".join(map(str, self.events)) + "\n--- stderr\n" + "".join(self.errors)


def family_of(root):
    """The process and its descendants that live now."""
    parents = {}
    for name in os.listdir("/proc"):
        status = harness.status_of(name) if name.isdigit() else {}
        if status and status["State"][0] not in "ZX":
            parents[int(name)] = int(status["PPid"])
    family = {root} & set(parents)
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        if not more:
            return family
        family |= more


def is_attached(pid):
    """Is there a thread of limpet's in the process?"""
    return any(harness.status_of(pid, tid).get("Name") == "limpet" for tid in harness.threads_of(pid))


def descriptors_of_limpet(pid):
    """Its descriptors live at high numbers."""
    try:
        return sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) >= 400)
    except (FileNotFoundError, ProcessLookupError):
        return []
