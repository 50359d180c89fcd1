"""Load generators: a command run over and over until told to stop, its requests and failures counted."""

import re
import signal
import subprocess
import threading

REDIS_REQUESTS = 20000  # of each kind


class Load:
    """
    Runs a command in rounds on a thread. count(text) gives (requests, failed requests) of a round.
    end_signal, where given, makes the command end its round early and well.
    """

    def __init__(self, argv, count, end_signal=None, **options):
        self.argv, self.count, self.end_signal, self.options = argv, count, end_signal, options
        self.requests = self.failed = self.rounds = 0
        self.problem, self.ending, self.process = None, False, None
        self.lines = []  # of all rounds
        self.gate = threading.Lock()  # whoever has it keeps a round from beginning
        self.thread = threading.Thread(target=self.repeat)

    def start(self):
        self.thread.start()
        return self

    def repeat(self):
        while not self.ending and not self.problem:
            self.round()

    def round(self):
        with self.gate:
            self.process = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, **self.options,
            )  # fmt: skip
        text = self.read()
        self.rounds += 1
        requests, failed = self.count(text)
        self.requests += requests
        self.failed += failed
        if self.process.returncode or failed or not requests:
            self.problem = f"{self.argv[0]} ended with {self.process.returncode}: {text.strip()[-300:]}"

    def read(self):
        """All that a round says, to its end."""
        text = ""
        with self.process.stdout:
            for line in self.process.stdout:
                self.lines.append(line)
                text += line
        self.process.wait()
        return text

    def pause(self):
        """No request is made until resume(): the clients are stopped, not the server."""
        self.gate.acquire()
        if self.process:
            self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        if self.process:
            self.process.send_signal(signal.SIGCONT)
        self.gate.release()

    def finish(self):
        """Lets the round end that is under way: a load cut short could hide a failure."""
        self.ending = True
        if self.end_signal and self.process:
            self.process.send_signal(self.end_signal)
        self.thread.join()


class SelfLoad:
    """A program that works by itself and prints "done N failed N"; reads the last such line."""

    def __init__(self, process):
        self.process, self.rounds = process, 0
        self.requests = self.failed = 0
        self.problem = None
        self.thread = threading.Thread(target=self.read, daemon=True)

    def start(self):
        self.thread.start()
        return self

    def read(self):
        for line in self.process.stdout:
            found = re.match(r"done (\d+) failed (\d+)", line)
            if found:
                self.requests, self.failed = map(int, found.groups())
            else:
                self.problem = line.strip()

    def finish(self):
        if self.failed:
            self.problem = self.problem or "wrong results"


class NoLoad:
    """A program that works by itself and says nothing of it."""

    requests, problem = 0, None

    def start(self):
        return self

    def finish(self):
        pass


def number(pattern, text):
    """The sum of all numbers that the pattern's group finds."""
    return sum(int(found) for found in re.findall(pattern, text))


def count_wrk(text):
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    socket_errors = sum(map(int, errors.groups())) if errors else 0
    return number(r"(\d+) requests in", text), socket_errors + number(r"Non-2xx or 3xx responses: (\d+)", text)


def count_self(text):
    return number(r"done (\d+)", text), number(r"failed (\d+)", text)


def count_pgbench(text):
    done = number(r"transactions actually processed: (\d+)", text)
    return done, number(r"failed transactions: (\d+)", text) + text.count("aborted")


def count_redis(text, requests=REDIS_REQUESTS):
    """--csv prints a head and one line for each kind of request; it ends at the first error."""
    lines = [line for line in text.splitlines() if re.match(r'"[A-Z]', line)]
    return len(lines) * requests, len(re.findall(r"(?i)error|closed", text))
