"""
A `limpet ui` under test: started, asked by raw sockets, and ended by SIGINT.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PATIENCE_S, program, progress, wait_until  # noqa: E402, F401


class Answer:
    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if raw else 0
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}

    def json(self):
        return json.loads(self.body)


def read_answer(connection):
    """One answer: its head, and as much body as it says."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        more = connection.recv(65536)
        if not more:
            return Answer(raw if b"\r\n\r\n" in raw else b"")
        raw += more
    answer = Answer(raw)
    size = int(answer.headers.get("content-length", "0"))
    while len(answer.body) < size:
        more = connection.recv(1 << 20)
        if not more:
            break
        answer.body += more
    answer.raw = raw + answer.body
    return answer


class Server:
    """Use as a context manager."""

    def __init__(self, *arguments, verb="ui", **how):
        command = [LIMPET, verb, "--json", "--no-open", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"limpet ui did not start: {self.process.stderr.read()}")
        self.listening = json.loads(line)
        self.port = self.listening["port"]
        self.path = self.listening["socket"]
        self.token = self.listening["url"].partition("#token=")[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()
        self.process.stdout.close()
        self.process.stderr.close()

    def end(self):
        """Ctrl-C; its exit status."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "hung"

    def connect(self, address="127.0.0.1"):
        if self.path:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE_S)
            connection.connect(self.path)
            return connection
        return socket.create_connection((address, self.port), timeout=PATIENCE_S)

    def raw(self, text, address="127.0.0.1"):
        """Sends these bytes and reads what comes back."""
        data = text.encode("latin-1") if isinstance(text, str) else text
        with self.connect(address) as connection:
            connection.sendall(data)
            return read_answer(connection)

    def head(self, path, method="GET", token=None, **headers):
        lines = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {token or self.token}"}
        lines.update({name.replace("_", "-"): value for name, value in headers.items()})
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return f"{method} {path} HTTP/1.1\r\n{text}\r\n"

    def get(self, path, **headers):
        return self.raw(self.head(path, **headers))

    def ask(self, path):
        """The answer as JSON, which must be there."""
        sign = "&" if "?" in path else "?"
        answer = self.get(f"{path}{sign}format=json")
        if answer.status != 200:
            raise AssertionError(f"{path}: {answer.raw[:500]!r}")
        return answer.json()

    def post(self, path, body="{}", **headers):
        body = body if isinstance(body, str) else json.dumps(body)
        headers.setdefault("Content_Type", "application/json")
        return self.raw(self.head(path, "POST", Content_Length=str(len(body)), **headers) + body)

    def wait_for(self, path, holds):
        """Asks again and again until it holds; what was answered."""
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self.ask(path)
            if holds(answer):
                return answer
            if time.monotonic() > end:
                raise AssertionError(f"{path}: {str(answer)[:2000]}")
            time.sleep(0.05)

    def child(self):
        """The process that speaks HTTP."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])
