"""Asks a FastCGI server on a socket file for a page, for some seconds: prints "done N failed N"."""

import socket
import struct
import sys
import time


def record(kind, content):
    return struct.pack(">BBHHBB", 1, kind, 1, len(content), 0, 0) + content


def pair(name, value):
    return struct.pack(">BB", len(name), len(value)) + name.encode() + value.encode()


def ask(path, page):
    names = {"SCRIPT_FILENAME": page, "REQUEST_METHOD": "GET"}
    parameters = b"".join(pair(name, value) for name, value in names.items())
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(60)
        server.connect(path)
        server.sendall(record(1, b"\0\1" + bytes(6)) + record(4, parameters) + record(4, b"") + record(5, b""))
        answer = b""
        while piece := server.recv(65536):
            answer += piece
    return b"\r\n\r\nright" in answer


path, page, seconds = sys.argv[1:]
end = time.monotonic() + float(seconds)
results = []
while time.monotonic() < end:
    results.append(ask(path, page))
print(f"done {len(results)} failed {results.count(False)}")
