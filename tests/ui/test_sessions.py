#!/usr/bin/env python3
"""
Sessions of `limpet ui`: a live program from the list of processes to its detach, its end, and bounds.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from server import LIMPET, PATIENCE_S, Server, program, progress, read_answer, wait_until

# Reads and asks for memory in a thread, and computes a little, for ever.
READER = """
import ctypes, threading, time
def work():
    blocks = []
    while True:
        with open("/proc/self/stat", "rb") as file:
            blocks.append(bytearray(file.read()[:1] * 200000))
        sum(range(2000))
        if len(blocks) > 50:
            blocks.clear()
        time.sleep(0.001)
def wait():
    ctypes.CDLL(None).prctl(15, b"kernel-name", 0, 0, 0)
    while True:
        sum(range(1000))
        time.sleep(0.01)
threading.Thread(target=work, name="block-worker", daemon=True).start()
threading.Thread(target=wait, daemon=True).start()
time.sleep(3600)
"""


class Sessions(unittest.TestCase):
    def target(self, *arguments):
        process = subprocess.Popen([program("spinner"), *arguments])
        if not arguments:  # a quiet one does nothing that could go on
            progress.note_visit([process.pid])
        self.addCleanup(progress.end, process)
        return process.pid

    def start(self, server, pid, **more):
        answer = server.post("/api/sessions", {"pid": pid, **more})
        if answer.status == 409 and os.geteuid():
            self.skipTest(answer.json()["error"]["what"])
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.json()["session"]

    def test_from_the_list_to_the_detach(self):
        pid = self.target()
        with Server() as server:
            row = next(row for row in server.ask("/api/processes")["processes"] if row["pid"] == pid)
            self.assertEqual((row["name"], row["sampled"]), ("spinner", False))
            session = self.start(server, pid, start=row["start"], sample={"hz": 499, "off_cpu": True})
            self.assertEqual((session["id"], session["state"], session["kind"]), (1, "recording", "live"))
            live = server.wait_for("/api/live?session=1&since=0",
                                   lambda answer: any(row["name"] == "spin_leaf" for row in answer["top"]))
            self.assertEqual(live["session"]["name"], "spinner")
            self.assertGreaterEqual(len(live["threads"]), 3)
            flame = server.ask("/api/flame?session=1&kind=cpu")
            self.check_tree(flame)
            self.assertIn("spin_hot", flame["columns"]["names"])
            row = next(row for row in server.ask("/api/processes")["processes"] if row["pid"] == pid)
            self.assertEqual((row["sampled"], row["session"]), (True, 1))
            self.assertEqual(server.post("/api/sessions", {"pid": pid}).status, 409)
            for verb, state in (("stop", "stopped"), ("start", "recording"), ("detach", "detached")):
                answer = server.post(f"/api/sessions/1/{verb}")
                self.assertEqual((answer.status, answer.json()["session"]["state"]), (200, state), answer.raw)
            self.assertEqual(server.post("/api/sessions/1/start").status, 409)
            # What was seen stays until it is closed.
            self.assertGreater(server.ask("/api/flame?session=1&kind=cpu")["samples"], 0)
            self.assertEqual(server.post("/api/sessions/1/close").json(), {"closed": 1})
            self.assertEqual(server.get("/api/flame?session=1").status, 404)
            self.assertEqual(server.end(), 0)
        os.kill(pid, 0)

    def check_tree(self, flame):
        """Parents come first; the weights add up to what is said of the whole."""
        columns = flame["columns"]
        self.assertEqual(columns["up"][0], 0)
        for i, up in enumerate(columns["up"]):
            self.assertTrue(up >= 1 or i == 0)
            self.assertLessEqual(up, i)
        self.assertEqual(sum(columns["self"]), flame["total"])
        self.assertEqual(sum(columns["count"]), flame["samples"])

    def test_attach_first_and_sample_later(self):
        pid = self.target()
        with Server() as server:
            self.assertEqual(self.start(server, pid, sample=None)["state"], "stopped")
            answer = server.post("/api/sessions/1/start", {"sample": {"hz": 199, "off_cpu": False}})
            session = answer.json()["session"]
            self.assertEqual((session["state"], session["hz"], session["off_cpu"]), ("recording", 199, False))
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0)

    def test_ranges_count_from_the_beginning_of_the_session(self):
        """Also those of exports, though the first sample came a second later."""
        pid = self.target()
        with Server() as server:
            self.start(server, pid, sample=None)
            time.sleep(1)
            server.post("/api/sessions/1/start", {"sample": {"hz": 199, "off_cpu": False}})
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 300)
            end = server.post("/api/sessions/1/stop").json()["session"]["end_ns"]
            for begin, until in ((0, 500_000_000), (1_000_000_000, (10**9 + end) // 2), (end - 300_000_000, end)):
                range_ = f"session=1&from={begin}&to={until}"
                functions, flame = server.ask(f"/api/functions?{range_}"), server.ask(f"/api/flame?{range_}")
                answer = server.get(f"/api/export?{range_}&format=folded")
                lines = answer.body.decode().splitlines() if answer.status == 200 else []
                exported = sum(int(line.rpartition(" ")[2]) for line in lines)
                self.assertEqual((exported, flame["samples"]), (functions["samples"],) * 2, (begin, until, end))
                self.assertEqual(answer.status, 200 if exported else 409, answer.raw[:300])
                self.assertEqual(bool(exported), begin > 0)

    def test_the_end_of_the_target(self):
        process = subprocess.Popen([program("spinner")])
        with Server() as server:
            self.start(server, process.pid)
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0)
            process.kill()
            # Not waited for yet: it is a zombie, and that is an end too.
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["state"] == "ended")
            answer = server.post("/api/sessions", {"pid": process.pid})
            self.assertEqual(answer.status, 404, answer.raw)
            self.assertIn("ended", answer.json()["error"]["what"])
            process.wait()
            self.assertEqual(server.end(), 0)

    def test_a_number_that_another_process_has_by_now(self):
        pid = self.target()
        with Server() as server:
            answer = server.post("/api/sessions", {"pid": pid, "start": 1})
            self.assertEqual(answer.status, 409, answer.raw)
            self.assertIn("another process", answer.json()["error"]["what"])
            self.assertEqual(server.ask("/api/sessions")["sessions"], [])

    def test_refusals_say_why(self):
        with Server() as server:
            for body, status in (({"pid": 2 ** 22 + 7}, 404), ({"pid": server.process.pid}, 400),
                                 ({"pid": 2 ** 22 + 7, "traces": ["alloc"]}, 404)):
                answer = server.post("/api/sessions", body)
                self.assertEqual(answer.status, status, answer.raw)
                self.assertTrue(answer.json()["error"]["what"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_a_process_of_another_user(self):
        """It is refused, with the right that is missing and the command that helps; not shown without stacks."""
        pid = self.target("quiet")
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        with tempfile.TemporaryDirectory(prefix="user-") as folder:
            # Where the build is, others may not look.
            binary = shutil.copy(LIMPET, os.path.join(folder, "limpet"))
            os.chmod(folder, 0o755)
            with Server(executable=binary, **nobody) as server:
                for body in ({"pid": pid}, {"pid": pid, "sample": None}, {"pid": pid, "traces": ["alloc"]}):
                    answer = server.post("/api/sessions", body)
                    self.assertEqual(answer.status, 409, answer.raw)
                    error = answer.json()["error"]
                    self.assertIn("uid 65534", error["why"], error)
                    self.assertRegex(error["fix"], f"sudo limpet (ui|attach) {pid}")
                    self.assertEqual(error["exit"], 3)
                self.assertEqual(server.ask("/api/sessions")["sessions"], [])
                [listed] = [one for one in server.ask("/api/processes")["processes"] if one["pid"] == pid]
                self.assertEqual(listed["fix"].splitlines(), [f"sudo limpet ui {pid}", "limpet doctor --setup"])
            done = subprocess.run([binary, "ui", "--no-open", str(pid)], capture_output=True, text=True,
                                  timeout=PATIENCE_S, **nobody)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"sudo limpet ui {pid}", done.stderr)

    def test_several_pages_are_answered_from_one_adding_up(self):
        """The end of the range is the moment at which it was added up."""
        with Server(self.target()) as server:
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0)

            def ask_by_all(connections):
                for connection in connections:
                    connection.sendall(server.head("/api/flame?session=1&kind=cpu&format=json").encode())
                return {read_answer(connection).json()["to"] for connection in connections}

            connections = [server.connect() for _ in range(10)]
            try:
                # On a machine this busy each may be answered too late for the others, but not always.
                self.assertTrue(wait_until(lambda: len(ask_by_all(connections)) < 10))
                first = ask_by_all(connections)
                self.assertTrue(wait_until(lambda: not ask_by_all(connections) & first))
            finally:
                for connection in connections:
                    connection.close()

    def test_sampling_from_the_command_line(self):
        with Server(self.target()) as server:
            self.assertEqual(server.ask("/api/about")["open"], [1])
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0)

    def test_sessions_are_bounded(self):
        with Server() as server:
            answers = [server.post("/api/sessions", {"pid": self.target("quiet"), "sample": {"hz": 1, "off_cpu": False}})
                       for _ in range(9)]
            if answers[0].status == 409 and os.geteuid():
                self.skipTest("no right to sample")
            self.assertEqual([answer.status for answer in answers], [200] * 8 + [429])
            self.assertEqual(server.post("/api/sessions/3/close").status, 200)
            self.assertEqual(server.post("/api/sessions", {"pid": self.target("quiet")}).status, 200)
            begin = time.monotonic()
            self.assertEqual(server.end(), 0)
            self.assertLess(time.monotonic() - begin, PATIENCE_S)

    def test_doctor(self):
        pid = self.target("quiet")
        with Server() as server:
            self.assertIsNone(server.ask("/api/doctor")["process"])
            answer = server.ask(f"/api/doctor?pid={pid}")
            self.assertEqual(answer["process"]["pid"], pid)
            self.assertIn(answer["sampling"]["works"], ("yes", "partly", "no"))
            self.assertTrue(answer["features"])

    def test_a_browser_is_opened_by_the_user_and_sees_no_secret_in_its_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            opener = os.path.join(folder, "xdg-open")
            with open(opener, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\n{{ id -u; stat -c %a "$1"; echo "$@"; cat "$1"; }} >{folder}/seen.draft\n'
                           f"mv {folder}/seen.draft {folder}/seen\n")
            os.chmod(opener, 0o755)
            user = {"SUDO_UID": "65534", "SUDO_GID": "65534"} if os.geteuid() == 0 else {}
            variables = {**os.environ, **user, "DISPLAY": ":7", "PATH": f"{folder}:{os.environ['PATH']}"}
            process = subprocess.Popen([os.environ["LIMPET"], "ui"], stdout=subprocess.PIPE, text=True, env=variables)
            with process:
                url = process.stdout.readline().strip()
                self.assertTrue(wait_until(lambda: os.path.exists(f"{folder}/seen"), PATIENCE_S))
                with open(f"{folder}/seen", encoding="utf-8") as file:
                    who, mode, page, *content = file.read().splitlines()
                self.assertEqual((int(who), mode), (65534 if user else os.geteuid(), "600"))
                self.assertIn(url, "".join(content))
                self.assertNotIn(url.partition("#token=")[2], page)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(PATIENCE_S), 0)
            self.assertFalse(os.path.exists(page))

class Recorded(unittest.TestCase):
    """Sessions that trace, or are written to a file: by the engine of `limpet record`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="recorded-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.target = subprocess.Popen([sys.executable, "-c", READER])
        progress.note_visit([self.target.pid])
        self.addCleanup(progress.end, self.target)

    def start(self, server, **more):
        answer = server.post("/api/sessions", {"pid": self.target.pid, **more})
        if answer.status == 409 and os.geteuid():
            self.skipTest(answer.json()["error"]["what"])
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.json()["session"]

    def report(self, path):
        done = subprocess.run([LIMPET, "report", path, "--json"], capture_output=True, text=True, timeout=PATIENCE_S,
                              check=True)
        return json.loads(done.stdout.splitlines()[-1])

    def test_traces_are_seen_while_they_come_in(self):
        with Server(cwd=self.folder) as server:
            session = self.start(server, traces=["io", "alloc", "kernel"], sample={"hz": 199, "off_cpu": False})
            self.assertEqual((session["traces"], session["recording"]), (["io", "alloc", "kernel"], ""))
            self.assertEqual({"alloc", "gpu", "io"} - set(session["kinds"]), set(), "they can be looked at before the first is there")
            self.assertNotIn("no traced calls", server.ask("/api/spans?session=1")["empty"])
            spans = server.wait_for("/api/spans?session=1", lambda answer: answer["columns"]["lane"])
            self.assertIn("calls", [lane["type"] for lane in spans["lanes"]])
            # The lane is that of a thread that has samples, too.
            server.wait_for("/api/spans?session=1", lambda answer: any(lane["thread"] >= 0 for lane in answer["lanes"]))
            # Its stacks have names: functions of the interpreter, exported by it, called for them.
            alloc = server.wait_for("/api/flame?session=1&kind=alloc&width=0", self.has_interpreter)
            self.assertEqual(alloc["unit"], "bytes")
            calls = server.wait_for("/api/flame?session=1&kind=io&width=0", lambda answer: answer["total"])
            self.assertEqual(calls["unit"], "ns")
            self.assertIn("traced call", server.ask("/api/flame?session=1&kind=lock&width=0")["empty"])
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0 and
                            answer["session"]["calls"] > 0 and "alloc" in answer["session"]["kinds"])
            self.check_threads(server)
            self.assertEqual(server.post("/api/sessions/1/detach").json()["session"]["state"], "detached")
            spans = server.wait_for("/api/spans?session=1", lambda answer: not answer["is_behind"])
            self.assertTrue(spans["columns"]["lane"])
            self.assertEqual(spans["empty"], "")
            self.assertEqual(server.end(), 0)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIsNone(self.target.poll())

    def has_interpreter(self, flame):
        columns = flame["columns"]
        return any(type == 3 and columns["names"][name].startswith(("Py", "_Py"))
                   for name, type in zip(columns["name"], columns["type"]))

    def check_threads(self, server):
        """Threads that have samples have asked for memory; one that is not there has not."""
        def numbers():
            return server.ask("/api/threads?session=1")["columns"]["number"]

        self.assertTrue(wait_until(lambda: numbers() and self.alloc_total(server, numbers()) > 0))
        self.assertEqual(self.alloc_total(server, [max(numbers()) + 1000]), 0)

    def alloc_total(self, server, threads):
        return server.ask(f"/api/flame?session=1&kind=alloc&threads={','.join(map(str, threads))}")["total"]

    def test_a_recording_that_is_kept(self):
        with Server(cwd=self.folder) as server:
            session = self.start(server, record=True)
            name = f"limpet-{self.target.pid}.limpet"
            self.assertEqual((session["state"], session["recording"]), ("recording", name))
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0)
            self.assertEqual(server.post("/api/sessions/1/stop").json()["session"]["state"], "stopped")
            seen = server.ask("/api/sessions")["sessions"][0]["samples"]
            self.assertEqual(self.report(os.path.join(self.folder, name))["samples"], seen)
            # The next one is another file.
            self.assertEqual(server.post("/api/sessions/1/start").status, 200)
            self.assertEqual(server.post("/api/sessions/1/close").status, 200)
            self.assertEqual(server.end(), 0)

    def test_names_and_memory_are_those_that_were_seen_live(self):
        """The file has the names that Python gave its threads, the memory in use and a curve of the processor, as the page had."""
        with Server(cwd=self.folder) as server:
            self.start(server, record=True)
            named = lambda answer: any(row["name"] == "block-worker" for row in answer["threads"])
            server.wait_for("/api/live?session=1&since=0", lambda answer: named(answer) and answer["session"]["samples"])
            time.sleep(2)
            live = server.ask("/api/live?session=1&since=0")
            names = {row["name"] for row in live["threads"]}
            self.assertIn("kernel-name", names)  # not the "Thread-1 (wait)" that Python made up
            server.post("/api/sessions/1/stop")
            kept = set(server.ask("/api/threads?session=1")["columns"]["name"])
        with Server(os.path.join(self.folder, f"limpet-{self.target.pid}.limpet")) as server:
            saved = server.ask("/api/threads?session=1")["columns"]["name"]
            curves = server.ask("/api/curves?session=1")
        self.assertIn("block-worker", kept)
        self.assertEqual(set(saved), kept)
        self.assertLessEqual(kept, names)
        self.assertEqual(curves["empty_rss"], "")
        columns = curves["columns"]
        self.assertGreater(len(columns["time"]), 5)
        rss = [value for value in columns["rss_bytes"] if value]
        self.assertGreater(len(rss), len(columns["time"]) / 2)
        self.assertGreater(min(rss), live["rss_bytes"] / 3)
        self.assertLess(max(rss), live["rss_bytes"] * 3)
        self.assertGreater(max(columns["cpu_percent"]), 0)

    def test_names_while_nothing_is_recorded(self):
        with Server() as server:
            self.start(server)
            server.wait_for("/api/live?session=1&since=0",
                            lambda answer: any(row["name"] == "block-worker" and row["samples"] for row in answer["threads"]))

    def test_no_such_trace(self):
        with Server(cwd=self.folder) as server:
            answer = server.post("/api/sessions", {"pid": self.target.pid, "traces": ["nonsense"]})
            self.assertEqual(answer.status, 400, answer.raw)
            self.assertIn("nonsense", answer.json()["error"]["what"])
            self.assertEqual(server.ask("/api/sessions")["sessions"], [])

    def test_record_and_watch(self):
        path = os.path.join(self.folder, "it.limpet")
        with Server("-p", self.target.pid, "-o", path, "--io-trace", "-F", 199, "--ui", verb="record") as server:
            self.assertEqual(server.ask("/api/about")["open"], [1])
            server.wait_for("/api/live?session=1&since=0", lambda answer: answer["session"]["samples"] > 0 and
                            answer["session"]["calls"] > 0)
            self.assertEqual(server.ask("/api/sessions")["sessions"][0]["recording"], path)
            server.wait_for("/api/spans?session=1", lambda answer: answer["columns"]["lane"])
            for verb in ("close", "start"):
                self.assertEqual(server.post(f"/api/sessions/1/{verb}").status, 409)
            self.assertEqual(server.end(), 0)
        summary = self.report(path)
        self.assertGreater(min(summary["samples"], summary["calls"]), 0)
        self.assertIsNone(self.target.poll())
        with Server(path) as server:  # Opened, calls are those of the threads that have samples.
            sampled = server.ask("/api/threads?session=1")["columns"]["number"]
            lanes = [lane["thread"] for lane in server.ask("/api/spans?session=1")["lanes"] if lane["type"] == "calls"]
            self.assertTrue(set(sampled) & set(lanes), (sampled, lanes))
            part = server.ask(f"/api/spans?session=1&threads={(set(sampled) & set(lanes)).pop()}")
            self.assertTrue(part["columns"]["lane"])

    def test_record_and_watch_refuses(self):
        for arguments in (["--ui", "--", "true"], ["--ui", "-p", str(self.target.pid), "-p", str(os.getpid())]):
            done = subprocess.run([LIMPET, "record", *arguments], capture_output=True, text=True, timeout=PATIENCE_S,
                                  cwd=self.folder, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--ui", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])


class Leaving(unittest.TestCase):
    """Who asks for the end of one session, or closes the page, ends that and nothing else."""

    def reader(self):
        process = subprocess.Popen([sys.executable, "-c", READER])
        progress.note_visit([process.pid])
        self.addCleanup(progress.end, process)
        self.assertTrue(wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 1))
        return process.pid

    def trace(self, server, pid, **more):
        answer = server.post("/api/sessions", {"pid": pid, "traces": ["io"], "sample": None, **more})
        if answer.status == 409 and os.geteuid():
            self.skipTest(answer.json()["error"]["what"])
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.json()["session"]["id"]

    def has_limpet(self, pid):
        names = []
        for tid in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{tid}/comm") as file:
                    names.append(file.read().strip())
            except OSError:
                pass
        return "limpet" in names

    def sessions(self, server):
        return {one["id"]: one for one in server.ask("/api/sessions")["sessions"]}

    def assert_at_work(self, pid):
        """It goes on reading after limpet has left."""
        def count():
            with open(f"/proc/{pid}/io") as file:
                return int(file.readline().split()[1])
        before = count()
        self.assertTrue(wait_until(lambda: count() > before))

    def test_detach_ends_one_session(self):
        first, second = self.reader(), self.reader()
        with Server("--lease", "0") as server:
            ids = [self.trace(server, pid) for pid in (first, second)]
            calls = server.wait_for(f"/api/live?session={ids[0]}&since=0", lambda answer: answer["session"]["calls"] > 0)
            result = subprocess.run([LIMPET, "detach", str(first)], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIsNone(server.process.poll(), "limpet ui has ended")
            found = self.sessions(server)
            self.assertEqual([found[one]["state"] for one in ids], ["detached", "recording"])
            self.assertIn(f"limpet detach {first}", found[ids[0]]["stopped_why"])
            self.assertGreaterEqual(found[ids[0]]["calls"], calls["session"]["calls"], "what was recorded stays")
            self.assertFalse(self.has_limpet(first))
            self.assertTrue(self.has_limpet(second))
            self.assert_at_work(first)
            self.assertEqual(server.end(), 0)

    def test_detach_of_an_orphan(self):
        """The child of a child that has ended: no descendant any more, but followed."""
        work = "while True: open('/proc/self/stat').read(); time.sleep(0.002)"
        code = ("import os, sys, time\n"
                "if not os.fork():\n"
                "    if os.fork(): sys.stdin.read(1); os._exit(0)\n"
                "    print(os.getpid(), flush=True)\n"
                f"    {work}\n"
                "os.wait()\n"
                f"{work}\n")
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        orphan = int(process.stdout.readline())
        parent = self.parent_of(orphan)
        self.addCleanup(os.kill, orphan, signal.SIGKILL)
        with Server("--lease", "0") as server:
            session = self.trace(server, process.pid, children=True)
            self.assertTrue(wait_until(lambda: self.has_limpet(orphan)))
            process.stdin.close()
            process.stdin = None
            self.assertTrue(wait_until(lambda: self.parent_of(orphan) != parent))
            result = subprocess.run([LIMPET, "detach", str(orphan)], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.sessions(server)[session]["state"], "detached")
            self.assertFalse(self.has_limpet(orphan))
        self.assert_at_work(orphan)

    @staticmethod
    def parent_of(pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2].split()[1]

    def test_a_hidden_page_may_ask_once_a_minute(self):
        pid = self.reader()
        with Server("--lease", "300ms") as server:
            server.ask("/api/about?hidden=1")
            session = self.trace(server, pid)
            time.sleep(1)
            self.assertEqual(self.sessions(server)[session]["state"], "recording")
            self.assertTrue(self.has_limpet(pid))
        self.assert_at_work(pid)

    def test_a_closed_page_leaves_no_trace_running(self):
        traced, sampled = self.reader(), self.reader()
        with Server("--lease", "1500ms") as server:
            one = self.trace(server, traced)
            server.post("/api/sessions", {"pid": sampled})
            server.wait_for(f"/api/live?session={one}&since=0", lambda answer: answer["session"]["calls"] > 0)
            self.assertTrue(self.has_limpet(traced))
            self.assertTrue(wait_until(lambda: not self.has_limpet(traced)), "the agent is still in the target")
            self.assert_at_work(traced)
            found = self.sessions(server)
            self.assertEqual(found[one]["state"], "stopped")
            self.assertIn("no page had asked for 1.5 s", found[one]["stopped_why"])
            self.assertGreater(found[one]["calls"], 0)
            self.assertEqual([other["state"] for id, other in found.items() if id != one], ["recording"],
                             "samples have nothing in the target")
            again = server.post(f"/api/sessions/{one}/start")
            self.assertEqual((again.status, again.json()["session"]["stopped_why"]), (200, ""), again.raw)


if __name__ == "__main__":
    unittest.main()
