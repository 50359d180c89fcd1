#!/usr/bin/env python3
"""
`--debuginfod`: debug files from a server, asked by a child. The server here is real HTTP on the loopback; the
child, debuginfod-find, is a stand-in of a few lines that asks it as the real one does.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import LIMPET, PROGRAMS  # noqa: E402
from needs import needs  # noqa: E402

STAND_IN = """#!%s
# A stand-in for elfutils' debuginfod-find.
import os, shutil, sys, tempfile, time, urllib.request
if os.environ.get("STAND_IN_HANGS"):
    time.sleep(600)
url = os.environ["DEBUGINFOD_URLS"].split()[0] + "/buildid/" + sys.argv[2] + "/" + sys.argv[1]
path = os.path.join(os.environ["STAND_IN_CACHE"], sys.argv[2])
try:
    with urllib.request.urlopen(url, timeout=30) as answer, open(path, "wb") as file:
        shutil.copyfileobj(answer, file)
except OSError as reason:
    sys.exit(f"{url}: {reason}")
print(path)
"""


class Server(http.server.BaseHTTPRequestHandler):
    files = {}
    asked = []

    def do_GET(self):
        type(self).asked.append(self.path)
        content = type(self).files.get(self.path)
        self.send_response(200 if content else 404)
        self.end_headers()
        if content:
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


@needs("readelf", "objcopy")
class Debuginfod(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="debuginfod-")
        self.addCleanup(shutil.rmtree, self.folder)
        whole = os.path.join(PROGRAMS, "spinner")
        self.program, debug = os.path.join(self.folder, "bare"), os.path.join(self.folder, "debug")
        subprocess.run(["objcopy", "--strip-all", whole, self.program], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
        with open(debug, "rb") as file:
            Server.files = {f"/buildid/{build_id(whole)}/debuginfo": file.read()}
        Server.asked = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        with open(os.path.join(self.folder, "debuginfod-find"), "w", encoding="ascii") as file:
            file.write(STAND_IN % sys.executable)
            os.fchmod(file.fileno(), 0o755)
        self.target = subprocess.Popen([self.program])
        self.addCleanup(self.target.wait)
        self.addCleanup(self.target.kill)
        harness.wait_until(lambda: harness.thread_count(self.target.pid) == 3)  # main waits now

    def dump(self, *options, **environment):
        variables = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"], "DEBUGINFOD_URLS": self.url,
                     "STAND_IN_CACHE": self.folder, "no_proxy": "*", **environment}
        return subprocess.run([LIMPET, "dump", str(self.target.pid), "--user", *options], capture_output=True,
                              text=True, timeout=300, check=False,
                              env={name: value for name, value in variables.items() if value is not None})

    def test_names_come_from_a_server(self):
        done = self.dump("--debuginfod")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("main (bare)", done.stdout)
        self.assertRegex(done.stdout, r"main \(bare\) at \w+\.c:\d+")
        self.assertRegex(done.stderr, r"debuginfod: [1-9]\d* of \d+ debug files found")

    def test_nobody_is_asked_by_default(self):
        done = self.dump()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("main (bare)", done.stdout)
        self.assertEqual(Server.asked, [])

    def test_a_file_of_another_build_is_not_believed(self):
        with open(os.path.join(PROGRAMS, "named"), "rb") as file:
            other = file.read()
        Server.files = {path: other for path in Server.files}
        done = self.dump("--debuginfod")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("main (bare)", done.stdout)

    def test_a_server_that_does_not_answer(self):
        done = self.dump("--debuginfod", STAND_IN_HANGS="1", DEBUGINFOD_TIMEOUT="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"0 of \d+ debug files found, [1-9]\d* not in time")

    def test_what_is_missing_is_said(self):
        done = self.dump("--debuginfod", DEBUGINFOD_URLS=None)
        self.assertEqual(done.returncode, 2)
        self.assertIn("DEBUGINFOD_URLS is not set", done.stderr)
        done = self.dump("--debuginfod", PATH="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt install debuginfod", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
