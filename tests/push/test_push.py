#!/usr/bin/env python3
"""
`limpet push` to a STAND-IN of a store of profiles (store.py): what arrives, and what becomes of it when the store is
away, refuses, or is hostile.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner; OTEL_PROTO may name a checkout of
opentelemetry-proto, by which protoc decodes, too.
"""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PATIENCE_S, event_wait, limpet, limpet_finish, limpet_start, program, thread_count, wait_until  # noqa: E402
import otlp  # noqa: E402
from store import CALL, Store  # noqa: E402

USAGE, NO_PROCESS, PARTLY = 2, 4, 8


def answering(text):
    return lambda connection, _: connection.sendall(text)


def endless(text):
    """Never stops; what it says must not be waited for."""
    def manner(connection, store):
        connection.settimeout(1)
        while not store.is_over:
            connection.sendall(text * 1000)
    return manner


def silent(connection, store):
    while not store.is_over:
        time.sleep(0.05)


class Push(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        environment = {"PATH": os.environ["PATH"], "RANK": "3", "OTEL_SERVICE_NAME": "shop"}
        cls.target = subprocess.Popen([program("spinner")], env=environment)
        assert wait_until(lambda: thread_count(cls.target.pid) == 3), "it does not run"

    @classmethod
    def tearDownClass(cls):
        cls.target.kill()
        cls.target.wait()

    def store(self, *arguments, **options):
        store = Store(*arguments, **options)
        self.addCleanup(store.close)
        return store

    def start(self, url, *arguments):
        process = limpet_start("push", url, "-p", self.target.pid, "--interval", "1s", "--json", *arguments,
                               env={**os.environ, "no_proxy": "*"})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        return limpet_finish(process)

    def push(self, store, count, *arguments, url=None, code=0):
        """Until the store has that many; the totals."""
        process = self.start(url or store.url, *arguments)
        self.assertTrue(store.wait(count, PATIENCE_S), "nothing arrives")
        result = self.stop(process)
        self.assertEqual(result.code, code, str(result))
        return result.event("totals")

    def test_profiles_arrive_with_their_labels(self):
        store = self.store()
        begin_ns = time.time_ns()
        totals = self.push(store, 2, "--label", "region=eu", "--tenant", "team-a")
        profiles = store.profiles()
        for head, _ in store.requests:
            self.assertTrue(head.startswith(f"POST {CALL} HTTP/1.1\r\n"), head)
            self.assertIn("X-Scope-OrgID: team-a", head)
            self.assertIn("Content-Type: application/proto", head)
        for profile in profiles:
            # Inside a pod there are its own names, too.
            self.assertLessEqual({"__name__": "process_cpu", "service_name": "shop", "region": "eu",
                                  "host": socket.gethostname(), "rank": "3"}.items(), profile.labels.items())
            self.assertEqual(profile.types[:2], [("samples", "count"), ("cpu", "nanoseconds")])
            self.assertLess(begin_ns - 10**9, profile.time_ns)
            self.assertLess(profile.time_ns + profile.duration_ns, time.time_ns() + 10**9)
        self.assertEqual(len({profile.id for profile in profiles}), len(profiles))
        self.assertEqual(sum(profile.count() for profile in profiles), totals["pushed"]["samples"])
        self.assertEqual(len(store.requests), totals["pushed"]["profiles"])
        self.assertTrue(any("spin_leaf" in profile.functions for profile in profiles))
        self.assertTrue(any({"spin_leaf", "spin_hot"} <= set(stack) for profile in profiles
                            for stack, _ in profile.samples))

    def test_profiles_of_opentelemetry_arrive(self):
        store = self.store()
        begin_ns = time.time_ns()
        totals = self.push(store, 2, "--format", "otlp-v1development", "--label", "region=eu")
        requests = [otlp.Request(body) for _, body in store.requests]
        for head, _ in store.requests:
            self.assertTrue(head.startswith(f"POST {otlp.CALL} HTTP/1.1\r\n"), head)
            self.assertIn("Content-Type: application/x-protobuf", head)
            self.assertIn("Content-Encoding: gzip", head)
        profiles = [profile for request in requests for profile in request.profiles]
        for profile in profiles:
            self.assertLessEqual({"service.name": "shop", "region": "eu", "host.name": socket.gethostname(),
                                  "rank": "3"}.items(), profile.attributes.items())
            self.assertNotIn("__name__", profile.attributes)
            self.assertEqual((profile.type, profile.period), (("cpu", "nanoseconds"), 10**9 // 99))
            self.assertLess(begin_ns - 10**9, profile.time_ns)
            self.assertLess(profile.time_ns + profile.duration_ns, time.time_ns() + 10**9)
        self.assertEqual(len({profile.id for profile in profiles}), len(profiles))
        self.assertEqual(len(store.requests), totals["pushed"]["profiles"])
        # A sample stands for the time between two.
        times_ns = sum(value for profile in profiles for _, value in profile.samples)
        self.assertGreater(times_ns, totals["pushed"]["samples"] * (10**9 // 99) // 2)
        self.assertTrue(any({"spin_leaf", "spin_hot"} <= set(stack) for profile in profiles for stack in profile.stacks))
        if os.environ.get("OTEL_PROTO"):
            text = otlp.protoc_decode(requests[0].plain, os.environ["OTEL_PROTO"])
            self.assertIn('string_table: "spin_leaf"', text)
            self.assertNotRegex(text, r"(?m)^ *\d+[:{ ]", "fields that the published protos do not know")

    def test_waiting_threads_are_profiles_of_their_own(self):
        store = self.store()
        self.push(store, 2, "--format", "otlp-v1development", "--off-cpu")
        types = {profile.type[0] for _, body in store.requests for profile in otlp.Request(body).profiles}
        self.assertLessEqual(types, {"cpu", "off_cpu", "runnable"})
        self.assertIn("cpu", types)
        for _, body in store.requests:
            for profile in otlp.Request(body).profiles:
                self.assertEqual(bool(profile.period), profile.type[0] == "cpu")

    def test_what_opentelemetry_refuses_in_part_is_counted(self):
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n\x0a\x12\x08\x01\x12\x0eno \x1b[31mquota\x1b[0"
        answers = iter([answer])
        store = self.store(lambda connection, _: connection.sendall(next(answers, b"HTTP/1.1 200 OK\r\n\r\n")))
        process = self.start(store.url, "--format", "otlp-v1development")
        self.assertTrue(store.wait(2, PATIENCE_S), "nothing arrives")
        result = self.stop(process)
        self.assertEqual(result.code, PARTLY, str(result))
        self.assertEqual(result.event("totals")["refused"]["profiles"], 1)
        self.assertIn("quota", result.out)
        self.assertNotIn("\x1b", result.out + result.err)

    def test_refusals_of_opentelemetry_are_seen_however_they_come(self):
        """Long, in chunks, without a length behind the head, and as something else."""
        def field(number, data):
            size = len(data)
            return bytes([number << 3 | 2, size & 127 | 128, size >> 7]) + data
        refusal = field(1, b"\x08\x01" + field(2, b"quota " * 200))
        small = b"\x0a\x09\x08\x01\x12\x05quota"
        head = b"HTTP/1.1 200 OK\r\n"

        def in_pieces(*pieces):
            def manner(connection, _):
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(0.2)
            return manner
        manners = {
            "long": in_pieces(head + b"Content-Length: %d\r\n\r\n" % len(refusal), refusal),
            "chunks": in_pieces(head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + small[:5],
                                b"\r\n%x\r\n" % len(small[5:]) + small[5:] + b"\r\n0\r\n\r\n"),
            "no length": in_pieces(head + b"\r\n", small),
        }
        manners["by curl"] = manners["chunks"]
        page = in_pieces(head + b"content-type: Text/HTML; charset=utf-8\r\nContent-Length: 6\r\n\r\n<html>")
        manners["no protobuf"] = in_pieces(head + b"Content-Length: 6\r\n\r\n<html>")
        stores = {name: self.store(manner) for name, manner in manners.items() if name != "by curl" or shutil.which("curl")}
        started = {name: self.start(f"http://127.1:{store.port}" if name == "by curl" else store.url,
                                    "--format", "otlp-v1development") for name, store in stores.items()}
        stores["a page"] = self.store(page)
        started["a page"] = self.start(stores["a page"].url)
        for name, process in started.items():
            with self.subTest(name):
                self.assertTrue(stores[name].wait(1, PATIENCE_S), name)
                result = self.stop(process)
                totals = result.event("totals")
                self.assertNotEqual(result.code, 0, str(result))
                self.assertEqual(totals["pushed"]["profiles"], 0)
                if name in ("no protobuf", "a page"):
                    self.assertIn("cannot be read from its answer", result.event("trouble")["error"])
                    self.assertGreater(totals["unclear"]["profiles"], 0)
                    self.assertEqual(totals["refused"]["profiles"], 0)
                    continue
                self.assertGreater(totals["refused"]["profiles"], 0)
                self.assertIn("quota", result.event("trouble")["why"])

    def test_what_waited_while_the_store_was_away_arrives(self):
        store = self.store(is_listening=False)
        process = self.start(store.url)
        self.assertEqual(event_wait(process)["event"], "pushing")
        self.assertIn("refused", event_wait(process)["error"])
        store.listen()
        self.assertTrue(store.wait(2, PATIENCE_S), "nothing arrives")
        result = self.stop(process)
        self.assertEqual(result.code, 0, str(result))
        totals = result.event("totals")
        self.assertEqual(totals["lost"]["profiles"], 0)
        self.assertEqual(sum(profile.count() for profile in store.profiles()), totals["pushed"]["samples"])
        self.assertIn("answers again", result.err)

    def test_what_is_refused_is_not_sent_again(self):
        text = b'{"code":"invalid_argument","message":"no \x1b[31msuch\x1b[0m tenant"}'
        answers = iter([b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)])
        store = self.store(lambda connection, _: connection.sendall(next(answers, b"HTTP/1.1 200 OK\r\n\r\n")))
        process = self.start(store.url)
        self.assertTrue(store.wait(2, PATIENCE_S), "nothing arrives")
        result = self.stop(process)
        self.assertEqual(result.code, PARTLY, str(result))
        self.assertEqual(result.event("totals")["refused"]["profiles"], 1)
        self.assertRegex(result.event("trouble")["why"], "no .*such.* tenant")
        self.assertNotIn("\x1b", result.out + result.err)
        bodies = [body for _, body in store.requests]
        self.assertEqual(len(bodies), len(set(bodies)))

    def test_a_refusal_counts_also_where_the_connection_is_reset_behind_it(self):
        def manner(connection, _):
            connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 1000\r\n\r\ntoo large")
            time.sleep(0.2)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        store = self.store(manner)
        process = self.start(store.url)
        self.assertTrue(store.wait(2, PATIENCE_S), "nothing arrives")
        result = self.stop(process)
        self.assertEqual(result.code, 1, str(result))
        totals = result.event("totals")
        self.assertEqual(totals["lost"]["profiles"], 0)
        self.assertEqual(totals["refused"]["profiles"], len(store.requests))
        self.assertIn("413", result.event("trouble")["error"])

    def test_what_the_store_has_no_time_for_is_sent_again(self):
        answers = iter([b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"])
        store = self.store(lambda connection, _: connection.sendall(next(answers, b"HTTP/1.1 200 OK\r\n\r\n")))
        totals = self.push(store, 3)
        bodies = [body for _, body in store.requests]
        self.assertEqual(bodies[0], bodies[1])
        self.assertEqual(totals["lost"]["profiles"] + totals["refused"]["profiles"], 0)

    def test_no_store_can_hold_it(self):
        """All at once: none of them is waited for longer than a few seconds, and none is believed."""
        manners = {
            "endless head": endless(b"X-Header: x\r\n"),
            "endless line": endless(b"x"),
            "endless continue": endless(b"HTTP/1.1 100 Continue\r\n\r\n"),
            "no HTTP": answering(b"220 mail ESMTP\r\n\r\n"),
            "half a head": answering(b"HTTP/1.1 200 OK\r\nContent-"),
            "nothing": answering(b""),
            "silence": silent,
        }
        stores = {name: self.store(manner) for name, manner in manners.items()}
        started = {name: self.start(store.url) for name, store in stores.items()}
        for name, store in stores.items():
            self.assertTrue(store.wait(1, PATIENCE_S), name)
        for process in started.values():
            process.send_signal(signal.SIGINT)
        for name, process in started.items():
            with self.subTest(name):
                result = limpet_finish(process)
                self.assertEqual(result.code, 1, str(result))
                totals = result.event("totals")
                self.assertEqual(totals["pushed"]["profiles"], 0)
                self.assertGreater(totals["lost"]["samples"], 0)

    def test_an_answer_without_an_end_is_an_answer(self):
        def manner(connection, store):
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            endless(b"x")(connection, store)
        self.push(self.store(manner), 1)

    @unittest.skipUnless(shutil.which("curl"), "no curl here")
    def test_a_store_with_a_name_is_asked_by_curl(self):
        store = self.store()
        home = self.enterContext(tempfile.TemporaryDirectory())
        with open(os.path.join(home, ".curlrc"), "w", encoding="utf-8") as file:
            file.write(f'output = "{home}/written"\n')
        self.enterContext(unittest.mock.patch.dict(os.environ, {"HOME": home}))
        # No number as limpet wants them, and yet one that asks no server of names.
        totals = self.push(store, 1, "--tenant", "team-a", url=f"http://127.1:{store.port}/prefix/")
        self.assertEqual(sum(profile.count() for profile in store.profiles()), totals["pushed"]["samples"])
        for head, _ in store.requests:
            self.assertTrue(head.startswith(f"POST /prefix{CALL} HTTP/1.1\r\n"), head)
            self.assertIn("X-Scope-OrgID: team-a", head)
        self.assertNotIn("written", os.listdir(home))

    def test_a_process_that_is_not_there_is_named(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        result = limpet("push", "http://127.0.0.1:4040", "-p", gone.pid)
        self.assertEqual(result.code, NO_PROCESS, str(result))
        self.assertIn(f"there is no process {gone.pid}", result.err)

    def test_a_password_is_not_printed(self):
        for url in ("http://me:hunter2@127.0.0.1:4040", "ftp://me:hun?ter2@h", "me:hunter2@h", "http://h/x?key=hunter2"):
            result = limpet("push", url, "-p", self.target.pid)
            self.assertEqual(result.code, USAGE, str(result))
            self.assertNotIn("hun", result.out + result.err)

    def test_wrong_words_are_refused(self):
        pid = self.target.pid
        for words in (["http://127.0.0.1:4040"], ["ftp://127.0.0.1", "-p", pid], ["http://", "-p", pid],
                      ["http://a@b", "-p", pid], ["http://127.0.0.1:99999", "-p", pid],
                      ["http://127.0.0.1/a b", "-p", pid], ["http://127.0.0.1", "-p", pid, "--label", "1=2"],
                      ["http://127.0.0.1", "-p", pid, "--interval", "1ms"], ["http://127.0.0.1", "-p", pid, "-a"],
                      ["http://127.0.0.1", "-p", pid, "--tenant", "a\nb"],
                      ["http://127.0.0.1", "-p", pid, "--format", "otlp"]):
            with self.subTest(words):
                result = limpet("push", *words)
                self.assertEqual(result.code, USAGE, str(result))


if __name__ == "__main__":
    unittest.main(verbosity=2)
