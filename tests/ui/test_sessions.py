#!/usr/bin/env python3
"""
Sessions of `limpet ui`: a live program from the list of processes to its detach, its end, and bounds.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import os
import subprocess
import time
import unittest

from server import PATIENCE_S, Server, program


class Sessions(unittest.TestCase):
    def target(self, *arguments):
        process = subprocess.Popen([program("spinner"), *arguments])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
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
                                 ({"pid": os.getpid(), "traces": ["alloc"]}, 409)):
                answer = server.post("/api/sessions", body)
                self.assertEqual(answer.status, status, answer.raw)
                self.assertTrue(answer.json()["error"]["what"])

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


if __name__ == "__main__":
    unittest.main()
