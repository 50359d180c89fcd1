#!/usr/bin/env python3
"""
What strangers try against `limpet ui`: other sites in the browser, other users of the machine, odd HTTP, floods.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import glob
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest

from server import LIMPET, PATIENCE_S, Server, program, read_answer

WRONG_TOKEN = "0" * 32
PROTECTION = {
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}

POLICY = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:", "base-uri 'none'",
    "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
}

# The least and the largest number that each parameter takes, and the routes that know it.
TIME_MAX = 3_153_600_000 * 10 ** 9
RANGED = ("threads", "flame", "functions", "sandwich", "heatmap", "timeline", "spans", "flows", "curves", "counters", "compare",
          "export?format=folded&", "share")
NUMBERS = {
    "session": (0, 2 ** 31 - 1, (*RANGED, "live", "stack", "span")),
    "from": (0, TIME_MAX, RANGED),
    "to": (0, TIME_MAX, RANGED),
    "threads": (0, 2 ** 32 - 2, ("flame", "functions", "sandwich", "heatmap", "timeline", "spans", "compare", "share")),
    "width": (0, 16384, ("flame", "timeline", "spans", "curves", "counters", "compare")),
    "invert": (0, 1, ("flame", "compare")),
    "by_thread": (0, 1, ("flame", "compare")),
    "limit": (0, 1_000_000, ("functions", "flows")),
    "cell_ms": (1, 60_000, ("heatmap",)),
    "thread": (0, 2 ** 32 - 2, ("stack",)),
    "time": (0, TIME_MAX, ("stack",)),
    "since": (0, TIME_MAX, ("live",)),
    "correlation": (0, 2 ** 63 - 1, ("span",)),
    "session_b": (0, 2 ** 31 - 1, ("compare",)),
    "from_b": (0, TIME_MAX, ("compare",)),
    "to_b": (0, TIME_MAX, ("compare",)),
    "threads_b": (0, 2 ** 32 - 2, ("compare",)),
    "size": (0, 1, ("share",)),
    "pid": (0, 2 ** 31 - 1, ("doctor",)),
}


class Numbers(unittest.TestCase):
    """No number in a query ends limpet: it is answered, or refused with the numbers that are taken."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="numbers-")
        path = os.path.join(cls.folder.name, "it.limpet")
        subprocess.run([program("make_samples"), path, "2"], check=True, timeout=PATIENCE_S)
        cls.server = Server(path)
        cls.connection = cls.server.connect()

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()
        status = cls.server.end()
        cls.server.__exit__()
        cls.folder.cleanup()
        assert status == 0, f"limpet ui ended with {status}"

    def ask(self, route, name, value):
        path = f"/api/{route}{'' if '?' in route else '?'}{name}={value}"
        if name != "session" and route != "doctor":
            path += "&session=1"
        if route == "compare" and name != "session_b":
            path += "&session_b=1"
        self.connection.sendall(self.server.head(path).encode())
        return read_answer(self.connection)

    def test_beyond_the_bounds(self):
        for name, (least, most, routes) in NUMBERS.items():
            for route in routes:
                values = {most + 1, most * 10 + 9, 2 ** 31 if most < 2 ** 31 else 10 ** 19, 2 ** 64, 2 ** 64 + 1, 10 ** 40}
                for value in (*sorted(values), *range(least), "-1", "1e3", "0x10", "", "%20", "1.5", "NaN"):
                    if value == "" and name.startswith("threads"):
                        continue
                    answer = self.ask(route, name, value)
                    self.assertEqual(answer.status, 400, f"{route} {name}={value}: {answer.raw[:300]!r}")
                    self.assertIn(f"'{name}' takes numbers from {least} to {most}", answer.json()["error"]["what"])

    def test_at_the_bounds(self):
        for name, (least, most, routes) in NUMBERS.items():
            for route in routes:
                for value in (least, least + 1, most - 1, most):
                    answer = self.ask(route, name, value)
                    self.assertIn(answer.status, (200, 400, 404, 409), f"{route} {name}={value}")
                    self.assertNotIn("takes numbers", answer.body.decode("latin-1"), f"{route} {name}={value}")


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        status = cls.server.end()
        cls.server.__exit__()
        assert status == 0, f"limpet ui ended with {status}"

    def refused(self, text, status):
        answer = self.server.raw(text)
        self.assertEqual(answer.status, status, f"{text!r}: {answer.raw!r}")
        return answer

    def test_the_page_is_free_and_protected(self):
        for path in ("/", "/app.js", "/app.css"):
            answer = self.server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers["content-encoding"], "gzip")
            for name, value in PROTECTION.items():
                self.assertEqual(answer.headers[name], value)
            self.assertEqual(set(answer.headers["content-security-policy"].split("; ")), POLICY)

    def test_every_answer_is_protected(self):
        """Data, refusals and what is no HTTP, too; no site is ever allowed to read any of them, and nothing is kept."""
        for text in (self.server.head("/api/processes"), self.server.head("/api/processes", token=WRONG_TOKEN), self.server.head("/api/nothing"),
                     self.server.head("/", Origin="http://evil.example"), self.server.head("/api/about", "OPTIONS"), "nonsense\r\n\r\n"):
            answer = self.server.raw(text)
            for name, value in PROTECTION.items():
                self.assertEqual(answer.headers.get(name), value, text)
            for name in answer.headers:
                self.assertFalse(name.startswith("access-control-") or name == "set-cookie", f"{text}: {name}")

    def test_the_token_is_needed_and_told_to_nobody(self):
        for headers in ({"Authorization": None}, {"token": WRONG_TOKEN},
                        {"Authorization": None, "Cookie": f"token={self.server.token}"},
                        {"Authorization": self.server.token}, {"Authorization": f"bearer {self.server.token}"}):
            answer = self.server.get("/api/processes", **headers)
            self.assertEqual(answer.status, 401, headers)
            self.assertNotIn(self.server.token.encode(), answer.raw)
        self.assertEqual(self.server.get(f"/api/processes?token={self.server.token}", Authorization=None).status, 401)
        good = self.server.get("/api/processes")
        self.assertEqual(good.status, 200)
        self.assertNotIn(self.server.token.encode(), good.raw)
        for pid in (self.server.process.pid, self.server.child()):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                self.assertNotIn(self.server.token.encode(), file.read())

    def test_other_names_for_this_machine_are_refused(self):
        for host in ("evil.example", "0.0.0.0", f"0.0.0.0:{self.server.port}", "127.0.0.1.evil.example", "localhost.",
                     "[::]", "127.1", "LOCALHOST@evil.example", ""):
            self.assertEqual(self.server.get("/", Host=host).status, 403, host)
        self.assertEqual(self.server.get("/", Host=None).status, 400)
        self.refused("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400)
        for host in ("localhost:1", "127.0.0.1:65535", "[::1]", "localhost"):
            self.assertEqual(self.server.get("/api/about", Host=host).status, 200, host)

    def test_other_sites_are_refused(self):
        own = f"http://127.0.0.1:{self.server.port}"
        for origin in ("null", "http://evil.example", "https" + own[4:], own + "/", "http://127.0.0.1:1"):
            self.assertEqual(self.server.get("/api/about", Origin=origin).status, 403, origin)
        self.assertEqual(self.server.get("/api/about", Origin=own).status, 200)
        for site in ("cross-site", "same-site", "nonsense"):
            self.assertEqual(self.server.get("/api/about", Sec_Fetch_Site=site).status, 403, site)
        # An image, a script, a frame of another site; a link that a person follows is fine.
        for destination in ("image", "script", "iframe", "empty"):
            answer = self.server.get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors",
                                     Sec_Fetch_Dest=destination)
            self.assertEqual(answer.status, 403, destination)
        answer = self.server.get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")
        self.assertEqual(answer.status, 200)

    def test_forms_change_nothing(self):
        for content in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None,
                        "application/jsonp"):
            answer = self.server.post("/api/sessions", {"pid": os.getpid()}, Content_Type=content)
            self.assertEqual(answer.status, 415, content)
        self.assertEqual(self.server.ask("/api/sessions")["sessions"], [])
        for what in ("stop", "start", "detach", "close"):
            self.assertEqual(self.server.get(f"/api/sessions/1/{what}").status, 405, what)
        self.assertEqual(self.server.raw(self.server.head("/api/processes", "POST", Content_Length="2",
                                                          Content_Type="application/json") + "{}").status, 405)

    def test_smuggling(self):
        host = "Host: localhost\r\n"
        for text, status in (
            (f"POST / HTTP/1.1\r\n{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            (f"POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length: 5\t\r\n\r\n12345", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length:\t5\r\n\r\n12345", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length: 0x5\r\n\r\n12345", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n", 400),
            (f"POST / HTTP/1.1\r\n{host}Content-Length : 5\r\n\r\n12345", 400),
            (f"POST / HTTP/1.1\r\n{host}X: y\r\n Content-Length: 5\r\n\r\n12345", 400),
            (f"GET / HTTP/1.1\n{host}\r\n", 400),
            (f"GET / HTTP/1.1\r\n{host}X: a\rb\r\n\r\n", 400),
            (f"GET / HTTP/1.1\r\n{host}X: a\0b\r\n\r\n", 400),
            (f"GET / HTTP/1.0\r\n{host}\r\n", 505),
            (f"GET http://localhost/ HTTP/1.1\r\n{host}\r\n", 400),
            (f"GET / HTTP/1.1\r\n{host}\r\nGET / HTTP/1.1\r\n{host}\r\n", 400),
            (f"GET / HTTP/1.1\r\n{host}Content-Length: 1\r\n\r\nx", 400),
            (f"OPTIONS / HTTP/1.1\r\n{host}\r\n", 405),
            (f"GET /../../etc/passwd HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET /%2e%2e/etc/passwd HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET /{'a' * 9000} HTTP/1.1\r\n{host}\r\n", 431),
            (f"GET / HTTP/1.1\r\n{host}" + "a: b\r\n" * 40 + "\r\n", 431),
            (f"POST /api/sessions HTTP/1.1\r\n{host}Content-Length: 65537\r\n\r\n", 413),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        ):
            answer = self.refused(text, status)
            if status != 404:
                self.assertEqual(answer.headers.get("connection"), "close")

    def test_what_makes_no_sense_is_refused(self):
        for path in ("/api/nothing", "/api/", "/api/sessions/1", "/api/flame?session=99"):
            self.assertEqual(self.server.get(path).status, 404, path)
        for path in ("/api/flame?session=x", "/api/flame?kind=hot", "/api/flame?from=-1", "/api/flame?from=1&from=2",
                     "/api/flame?path=/etc/passwd", "/api/flame?threads=1,x", "/api/flame?session=%zz",
                     "/api/sandwich?name=%00", "/api/flame?width=99999999999", "/api/flame?threads=" + "1," * 1025):
            self.assertEqual(self.server.get(path).status, 400, path)
        for body in ("", "{", "[]", '{"pid":1', '{"pid":1}x', '{"pid":"1"}', '{"pid":1.5}', '{"pid":1,"pid":1}',
                     '{"pid":1,"path":"/tmp/x"}', '{"pid":1,"sample":{"hz":99999}}', '{"pid":-1}', '{"pid":0}',
                     '{"pid":1,"traces":["' + "a" * 50 + '"]}', '{"pid":01}', '{"p\\u0069d":1}'):
            self.assertEqual(self.server.post("/api/sessions", body).status, 400, body)
        self.assertEqual(self.server.ask("/api/sessions")["sessions"], [])

    def stranger(self, sends=b""):
        """A connection without the token that takes no more than a few bytes of an answer."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(PATIENCE_S)
        connection.connect(("127.0.0.1", self.server.port))
        connection.sendall(sends)
        self.addCleanup(connection.close)
        return connection

    def test_strangers_cannot_hold_all_connections(self):
        """However they hold them: by silence, by half a head, by reading nothing of the page.  Who has the token gets in,
        and stays."""
        page = self.server.connect()
        self.addCleanup(page.close)
        for sends in (b"", b"GET / HTTP/1.1\r\nHost: ", b"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            page.sendall(self.server.head("/api/about").encode())
            self.assertEqual(read_answer(page).status, 200)
            for _ in range(3):
                for _ in range(40):
                    self.stranger(sends)
                self.assertEqual(self.server.get("/api/about").status, 200, sends)
            page.sendall(self.server.head("/api/about").encode())
            self.assertEqual(read_answer(page).status, 200, sends)

    def test_slow_clients_are_left_and_others_served(self):
        slow = [self.server.connect() for _ in range(20)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        self.assertEqual(self.server.get("/api/about").status, 200)
        # More than there are slots: those that came first are dropped, nobody is served wrongly.
        more = [self.server.connect() for _ in range(40)]
        for connection in slow:
            self.assertEqual(connection.recv(1), b"")
            connection.close()
        for connection in more:
            connection.close()
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_a_head_that_never_ends_is_left(self):
        """Also where there is room for others: after five seconds, whatever comes meanwhile."""
        with self.server.connect() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            began = time.monotonic()
            connection.settimeout(0.5)
            while True:
                try:
                    if not connection.recv(4096):
                        break
                except TimeoutError:
                    self.assertLess(time.monotonic() - began, PATIENCE_S)
                except ConnectionError:
                    break
                try:
                    connection.sendall(b"X: y\r\n")
                except OSError:
                    break
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_a_flood_of_connects(self):
        def open_files(pid):
            return len(os.listdir(f"/proc/{pid}/fd")) if os.geteuid() == 0 else 0

        child = self.server.child()
        for _ in range(2000):
            try:
                self.server.connect().close()
            except OSError:
                pass
        end = time.monotonic() + PATIENCE_S
        while open_files(child) > 48 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(open_files(child), 48)
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_answers_one_after_the_other(self):
        with self.server.connect() as connection:
            for path in ("/api/about", "/api/nothing", "/api/sessions", "/"):
                connection.sendall(self.server.head(path).encode())
                self.assertEqual(read_answer(connection).status, 404 if "nothing" in path else 200)

    def test_both_loopback_addresses(self):
        try:
            connection = socket.create_connection(("::1", self.server.port), timeout=PATIENCE_S)
        except OSError as error:
            self.skipTest(f"no IPv6: {error}")
        with connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n")
            self.assertEqual(read_answer(connection).status, 200)

    def test_no_other_address(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split()[1] for line in file if f":{self.server.port:04X} " in line.split(" 0A ")[0]]
        for address in lines:
            self.assertTrue(address.startswith("0100007F:"), address)

    def test_the_http_process_has_no_rights(self):
        with open(f"/proc/{self.server.child()}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertEqual(status["CapEff"], "0" * 16)
        self.assertEqual(status["CapPrm"], "0" * 16)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        if os.geteuid() == 0 and "SUDO_UID" not in os.environ:
            self.assertEqual(status["Uid"].split(), ["65534"] * 4)
            self.assertEqual(status["Groups"].strip(), "")


class Alone(unittest.TestCase):
    def await_end(self, pid):
        end = time.monotonic() + PATIENCE_S
        while glob.glob(f"/proc/{pid}/fd/*"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_only_loopback_can_be_asked_for(self):
        for wrong in (["--port", "70000"], ["--port", "x"], ["--address", "0.0.0.0"]):
            done = subprocess.run([LIMPET, "ui", *wrong], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_socket_file_is_for_its_user_alone(self):
        with tempfile.TemporaryDirectory(prefix="ui-") as folder:
            path = os.path.join(folder, "socket")
            with Server("--socket", path) as server:
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
                self.assertEqual(server.get("/api/about", Host="localhost:8080").status, 200)
                self.assertIn(f"ssh -L 8080:{path} ", server.listening["ssh"])
                other = subprocess.run([LIMPET, "ui", "--no-open", "--socket", path], capture_output=True, text=True,
                                       timeout=PATIENCE_S)
                self.assertEqual(other.returncode, 1, other.stderr)
                self.assertEqual(server.get("/api/about", Host="localhost:8080").status, 200)
                self.assertEqual(server.end(), 0)
            self.assertFalse(os.path.exists(path))

    def test_links_are_not_followed(self):
        with tempfile.TemporaryDirectory(prefix="ui-") as folder:
            path, precious = os.path.join(folder, "socket"), os.path.join(folder, "precious")
            os.symlink(precious, path)
            done = subprocess.run([LIMPET, "ui", "--no-open", "--socket", path], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertTrue(os.path.islink(path))
            self.assertFalse(os.path.exists(precious))

    def test_the_token_is_another_each_time_and_in_no_log(self):
        tokens = set()
        for _ in range(2):
            with Server() as server:
                tokens.add(server.token)
                self.assertEqual(server.get("/api/about").status, 200)
                self.assertEqual(server.get("/api/about", token=WRONG_TOKEN).status, 401)
                self.assertEqual(server.end(), 0)
                self.assertNotIn(server.token, server.process.stdout.read() + server.process.stderr.read())
        self.assertEqual(len(tokens), 2)

    def test_files_of_others_stay(self):
        with tempfile.TemporaryDirectory(prefix="ui-") as folder:
            path = os.path.join(folder, "mine")
            with open(path, "w", encoding="ascii") as file:
                file.write("precious")
            done = subprocess.run([LIMPET, "ui", "--no-open", "--socket", path], capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 1, done.stderr)
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "precious")

    def test_a_socket_that_is_left_is_replaced(self):
        with tempfile.TemporaryDirectory(prefix="ui-") as folder:
            path = os.path.join(folder, "socket")
            with Server("--socket", path) as server:
                child = server.child()
                server.process.kill()
                server.process.wait()
                self.await_end(child)
            self.assertTrue(os.path.exists(path))
            with Server("--socket", path) as server:
                self.assertEqual(server.get("/api/about", Host="localhost").status, 200)

    def test_without_its_http_process_it_ends(self):
        with Server() as server:
            os.kill(server.child(), 9)
            self.assertEqual(server.process.wait(PATIENCE_S), 1)
            self.assertRegex(server.process.stderr.read(), "HTTP process has ended")

    def test_the_http_process_ends_with_it(self):
        with Server() as server:
            child = server.child()
            server.process.kill()
            server.process.wait()
            self.await_end(child)

    def test_text_for_people(self):
        process = subprocess.Popen([LIMPET, "ui", "--no-open"], stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        process.terminate()
        rest = process.stdout.read()
        process.stdout.close()
        process.wait(PATIENCE_S)
        self.assertTrue(re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}\n", line), line)
        self.assertIn("Ctrl-C", rest)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
