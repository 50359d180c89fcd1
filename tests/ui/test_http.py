#!/usr/bin/env python3
"""
Nothing that limpet's parser of requests takes means anything else to llhttp, the parser of node: the same end of the head, method,
target, host and length, over a corpus and mutations of it.  limpet refuses more; how much is printed.

Environment: PROGRAMS is the folder with the built test programs.  Skipped (77) where there is no node.
"""

import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import unittest

from server import PATIENCE_S, program

HERE = pathlib.Path(__file__).resolve().parent
MUTATIONS = 20_000

GET = b"GET /api/flame?session=1&kind=cpu HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer 0123\r\n\r\n"
POST = (b"POST /api/sessions HTTP/1.1\r\nHost: localhost:1\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"
        b"Connection: keep-alive\r\n\r\n{\"pid\":4711}")
CORPUS = [
    GET, POST,
    GET.replace(b"\r\n", b"\n"), GET.replace(b"HTTP/1.1", b"HTTP/1.0"), GET.replace(b"HTTP/1.1", b"HTTP/2.0"),
    GET.replace(b"Host: ", b"Host : "), GET.replace(b"Host: ", b"Host:\t"), GET.replace(b"\r\nAuth", b"\r\n Auth"),
    GET.replace(b"GET /", b"GET  /"), GET.replace(b"GET /", b"GET http://evil/"), GET.replace(b"GET", b"get"),
    GET.replace(b"Host: 127.0.0.1:8080\r\n", b"Host: a\r\nHost: b\r\n"), GET[:-2], GET[:20], b"\r\n" + GET,
    GET.replace(b"Authorization: Bearer 0123", b"Connection: close"), GET.replace(b"Authorization: Bearer 0123", b"Upgrade: h2c"),
    GET.replace(b"Authorization: Bearer 0123", b"Content-Length: 0"), GET.replace(b"kind=cpu", b"kind=%00\xff"),
    POST.replace(b"Content-Length: 12", b"Content-Length: 12\r\nContent-Length: 12"),
    POST.replace(b"Content-Length: 12", b"Content-Length: 12\r\nContent-Length: 0"),
    POST.replace(b"Content-Length: 12", b"Content-Length: +12"), POST.replace(b"Content-Length: 12", b"Content-Length: 12, 12"),
    POST.replace(b"Content-Length: 12", b"Content-Length: 0x0c"), POST.replace(b"Content-Length: 12", b"Content-Length: 012"),
    POST.replace(b"Content-Length: 12", b"Transfer-Encoding: chunked"),
    POST.replace(b"Content-Length: 12", b"Content-Length: 12\r\nTransfer-Encoding: chunked"),
    POST.replace(b"Content-Length: 12", b"Transfer-Encoding: xchunked"), POST.replace(b"Content-Length: 12", b"Content-Length: 99999"),
    POST.replace(b"Content-Length: 12", b"Content-Length : 12"), POST.replace(b"keep-alive", b"close"), POST + GET,
]
PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"\r\n\r\n", b"\r\n ", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
          b"Host: evil\r\n", b"HTTP/1.1", b"GET ", b"\x80", b"\xff", b"%0d%0a", b"Connection: close\r\n", b"X: y\r\n", b"0"]


def mutate(chance, case):
    """A few bytes changed, taken out, doubled, or a piece put in."""
    data = bytearray(case)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        way = chance.randrange(4)
        if way == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif way == 1:
            del data[at:at + chance.randint(1, 5)]
        elif way == 2:
            data[at:at] = chance.choice(PIECES)
        else:
            data[at:at] = data[max(0, at - chance.randint(1, 30)):at]
    return bytes(data)


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chance = random.Random(4711)
        cls.cases = CORPUS + [mutate(chance, chance.choice(CORPUS[:2] + CORPUS)) for _ in range(MUTATIONS)]
        data = b"".join(struct.pack("<I", len(case)) + case for case in cls.cases)
        cls.ours = cls.run_on(data, program("http_heads")).rstrip("\n").split("\n")
        cls.theirs = [json.loads(line) for line in
                      cls.run_on(data, "node", "--no-deprecation", HERE / "llhttp.mjs").rstrip("\n").split("\n")]

    @staticmethod
    def run_on(data, *command):
        return subprocess.run([str(word) for word in command], input=data, capture_output=True, timeout=2 * PATIENCE_S,
                              check=True).stdout.decode("latin-1")

    def test_all_were_read(self):
        self.assertEqual((len(self.ours), len(self.theirs)), (len(self.cases), len(self.cases)))

    def test_what_is_taken_means_the_same(self):
        taken = 0
        for case, ours, theirs in zip(self.cases, self.ours, self.theirs):
            status, *facts = ours.split(" ", 6)
            if status != "0":
                continue
            taken += 1
            self.check(case, facts, theirs)
        print(f"{len(self.cases)} requests, {taken} taken by limpet, "
              f"{sum(one['complete'] and not one['error'] for one in self.theirs)} by llhttp")
        self.assertGreater(taken, 100)

    def check(self, case, facts, theirs):
        method, target, head_size, body_size, is_last, host = facts
        self.assertTrue(theirs["complete"], case)
        self.assertEqual((theirs["method"], theirs["url"].rstrip("?"), theirs["version"]), (method, target, "1.1"), case)
        self.assertEqual((theirs["isKept"], bool(theirs["upgrade"])), (is_last == "0", False), case)
        fields = [(name.lower(), value) for name, value in zip(theirs["fields"][::2], theirs["fields"][1::2])]
        self.assertEqual([value for name, value in fields if name == "host" and value], [] if host == "-" else [host], case)
        lengths = [value for name, value in fields if name == "content-length"]
        self.assertEqual([int(value) for value in lengths], [int(body_size)] if lengths else [], case)
        self.assertEqual(int(body_size) if not lengths else 0, 0, case)
        self.assertFalse([name for name, _ in fields if name == "transfer-encoding"], case)
        self.assertEqual(case.find(b"\r\n\r\n") + 4, int(head_size), case)

    def test_what_is_incomplete_is_so(self):
        """Where limpet waits for more, llhttp has no whole head either."""
        for case, ours, theirs in zip(self.cases, self.ours, self.theirs):
            if ours == "1":
                self.assertFalse(theirs["complete"], case)


if __name__ == "__main__":
    if not shutil.which("node"):
        print("skipped: there is no node, whose parser limpet's is compared with")
        sys.exit(77)
    unittest.main()
