"""
A STAND-IN of a store of profiles: takes what `limpet push` sends, as the public contract of Pyroscope's push API says
(push.v1), and decodes it by field numbers. Its manners can be bad.
"""

import contextlib
import gzip
import re
import socket
import threading

CALL = "/push.v1.PusherService/Push"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 0\r\n\r\n"


def fields(data):
    """[(number, value)] of a message: numbers, or bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 1:
            found.append((key >> 3, int.from_bytes(data[at:at + 8], "little")))
            at += 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size = varint()
            assert at + size <= len(data), "a field ends behind its message"
            found.append((key >> 3, data[at:at + size]))
            at += size
    return found


def every(data, number):
    return [value for key, value in fields(data) if key == number]


class Profile:
    """One profile of a request, with its labels."""

    def __init__(self, series):
        pairs = [every(label, 1) + every(label, 2) for label in every(series, 1)]
        self.labels = {name.decode(): value.decode() for name, value in pairs}
        assert len(self.labels) == len(pairs), "a label is there twice"
        (raw,) = every(series, 2)
        self.id = every(raw, 2)[0].decode()
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", self.id), self.id
        data = gzip.decompress(every(raw, 1)[0])
        self.strings = [text.decode() for text in every(data, 6)]
        self.types = [(self.strings[every(kind, 1)[0]], self.strings[every(kind, 2)[0]]) for kind in every(data, 1)]
        self.time_ns, self.duration_ns = every(data, 9)[0], every(data, 10)[0]
        names = {every(function, 1)[0]: self.strings[every(function, 2)[0]] for function in every(data, 5)}
        lines = {every(place, 1)[0]: [names[every(line, 1)[0]] for line in every(place, 4)] for place in every(data, 4)}
        self.samples = [self.sample(sample, lines) for sample in every(data, 2)]
        self.functions = set(names.values())

    @staticmethod
    def packed(data):
        return [value for _, value in fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\0-\x7f]", data)))]

    def sample(self, sample, lines):
        """(stack innermost first, values); without labels, of which each value would be a series of its own."""
        assert not every(sample, 3), "a sample has labels"
        places = self.packed(b"".join(every(sample, 1)))
        return [name for place in places for name in lines[place]], self.packed(b"".join(every(sample, 2)))

    def count(self):
        return sum(values[0] for _, values in self.samples)


class Store:
    """Listens on a port of this machine; each connection is answered by `manner`, a function of (connection, self)."""

    def __init__(self, manner=None, is_listening=True):
        self.manner = manner or (lambda connection, _: connection.sendall(OK))
        self.requests, self.changed, self.is_over = [], threading.Condition(), False
        self.socket = socket.create_server(("127.0.0.1", 0)) if is_listening else socket.socket()
        if not is_listening:
            self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if is_listening:
            self.listen()

    def listen(self):
        self.socket.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while not self.is_over:
            with contextlib.suppress(OSError):
                connection, _ = self.socket.accept()
                threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection, contextlib.suppress(OSError):
            head, body = b"", b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(65536)
                if not part:
                    return
                head += part
            head, body = head.split(b"\r\n\r\n", 1)
            size = int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head)[1])
            while len(body) < size:
                body += connection.recv(65536)
            with self.changed:
                self.requests.append((head.decode(), body))
                self.changed.notify_all()
            self.manner(connection, self)

    def wait(self, count, patience_s):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.requests) >= count, patience_s)

    def profiles(self):
        return [Profile(series) for _, body in self.requests for series in every(body, 1)]

    def close(self):
        self.is_over = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
