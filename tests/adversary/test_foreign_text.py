#!/usr/bin/env python3
"""
A program whose names are written for whoever shows them: escapes for terminals, letters that turn lines around,
tags, formulas, bytes that are no text.  Every verb is run on it, as text, as JSON and into every format, and all
that limpet wrote is read letter by letter: nothing of it may be obeyed by anybody.
"""

import csv
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from harness import LIMPET, PATIENCE_S, PROGRAMS, attached_wait, limpet_finish

ADVERSARY = pathlib.Path(os.environ.get("ADVERSARY", "."))
ROCPROFV3 = os.environ.get("ROCPROFV3", "rocprofv3")
PAGE = pathlib.Path(__file__).resolve().parents[2] / "src/host/export/profile/flamegraph.html"

TITLE = b"\x1b]0;owned\x07"
BIDI = "\u202e\u2066\u200f\u061c".encode()
C1 = "\u009b31m\u0085".encode()
MARKUP = b"<svg onload=1>\"'&]]>"
# Of a path, a command line, a variable: everything but zeros (and slashes).
HOSTILE = b"=cmd|x" + TITLE + b"\x1b[2J" + C1 + b"\x7f" + BIDI + b"\xff\xc3\n\r\t" + MARKUP + b";"
# Threads have 15 bytes.
HOSTILE_NAME = b"=\x1b[m\xc2\x9b\x7f\xe2\x80\xae\xff\n<b>"
PLACEHOLDER = b"placeholder_function_______________"
HOSTILE_SYMBOL = b"=f\x1b[2J\xc2\x9b\x7f\xe2\x80\xae\xff\n<script>\"'&;)".ljust(len(PLACEHOLDER), b"_")

FORBIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
CALL_FORMATS = ("chrome", "csv", "json", "rocprof-json")
SAMPLE_FORMATS = ("flamegraph", "svg", "folded", "speedscope", "firefox", "perf-script")
BINARY_FORMATS = ("pftrace", "rocpd", "pprof")
TABS = ("perf-script", "csv", "rocprof-csv", "flamegraph")  # the page itself has some


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))


class Target:
    """The program at its hostile path, with a hostile library and everything else."""

    def __init__(self):
        self.folder = os.fsencode(tempfile.mkdtemp(prefix="foreign-"))
        self.program = self.plant("hostile_names", HOSTILE)
        self.library = self.plant("hostile_names_library.so", HOSTILE + b".so")
        # Spaces would make it two.
        self.tool = os.path.join(self.folder, HOSTILE.replace(b" ", b"") + b"tool.so")
        self.bad_tool = os.path.join(self.folder, HOSTILE.replace(b" ", b"") + b"bad.so")
        self.file = os.path.join(self.folder, HOSTILE + b"file")
        for path in (self.bad_tool, self.file):
            with open(path, "wb") as file:
                file.write(b"no library")
        shutil.copy(os.path.join(PROGRAMS, "life_a.so"), self.tool)
        self.process = subprocess.Popen(
            [self.program, self.library, self.file, HOSTILE_NAME, HOSTILE], stdout=subprocess.PIPE,
            env={**os.environb, b"HOSTILE": HOSTILE, b"ROCP_" + HOSTILE.replace(b"=", b""): HOSTILE})
        assert self.process.stdout.readline() == b"ready\n"
        self.pid = str(self.process.pid)

    def plant(self, name, as_name):
        path = os.path.join(self.folder, as_name)
        content = (ADVERSARY / name).read_bytes()
        assert PLACEHOLDER in content
        with open(path, "wb") as file:
            file.write(content.replace(PLACEHOLDER, HOSTILE_SYMBOL))
        os.chmod(path, 0o755)
        return path

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder)


class ForeignText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = Target()
        cls.addClassCleanup(cls.target.close)
        cls.pid = cls.target.pid

    def path(self, name):
        return os.path.join(os.fsdecode(self.target.folder), name)

    def check(self, content, where, tabs=False):
        """Text that nobody obeys; the text."""
        text = content.decode("utf-8")  # or it is none
        found = FORBIDDEN.search(text.replace("\r\n", "\n"))
        if found:
            self.fail(f"{where}: {found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}")
        if not tabs:
            self.assertNotIn("\t", text, where)
        return text

    def run_it(self, *arguments, codes=(0,), program=LIMPET, **options):
        """What it said, checked; a string of both streams."""
        done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=2 * PATIENCE_S, **options)
        if codes:
            self.assertIn(done.returncode, codes, done.stderr)
        out, err = self.check(done.stdout, arguments), self.check(done.stderr, arguments)
        if "--json" in arguments:
            for line in out.splitlines():
                json.loads(line, parse_constant=self.fail)
        return out + err

    def both(self, *arguments, **options):
        for more in ((), ("--json",)):
            with self.subTest(arguments=(*arguments, *more)):
                self.assertTrue(self.run_it(*arguments, *more, **options))


class Verbs(ForeignText):
    def test_looking(self):
        self.assertIn("]0;owned", self.run_it("ps", "owned"))
        self.both("ps", "--all")
        self.assertIn("]0;owned", self.run_it("doctor", self.pid, codes=None))
        self.both("doctor", self.pid, codes=None)
        self.both("dump", self.pid, codes=None)
        self.both("top", self.pid, "--batch", "--duration", "1s", codes=None)
        self.both("stat", self.pid, "--threads", "--duration", "100ms", codes=None)
        self.run_it("stat", self.pid, "--csv", "--threads", "--duration", "100ms", codes=None)
        self.run_it()

    def test_mistakes(self):
        # As a name of a process it must be nobody's.
        for word in (HOSTILE + b"none", b"--" + HOSTILE, b"--duration=" + HOSTILE):
            for verb in ("attach", "detach", "status", "dump", "doctor", "record", "report", "export", "top", "diff",
                         "stat"):
                with self.subTest(verb=verb, word=word):
                    self.run_it(verb, word, codes=(1, 2, 4))
        self.run_it(HOSTILE, codes=(2,))
        self.run_it("stat", self.pid, "-e", HOSTILE, codes=(2,))
        self.run_it("help", HOSTILE, codes=(2,))
        self.run_it("record", "--", os.path.join(self.target.folder, HOSTILE + b"none"), codes=None)
        self.run_it("export", self.target.bad_tool, "-f", HOSTILE, codes=(2,))
        self.run_it("export", self.target.bad_tool, "-f", "csv", "-o", HOSTILE, codes=(1,))

    def test_attached(self):
        self.both("attach", self.pid, "--tool", self.target.tool, "--duration", "10ms", "--unload", codes=(0, 7))
        self.both("attach", self.pid, "--tool", self.target.bad_tool, "--duration", "10ms", codes=None)
        self.both("attach", self.pid, "--load", self.target.bad_tool, "--duration", "10ms", codes=None)
        self.both("attach", self.pid, "--strict", "--tool", self.target.bad_tool + b"none", codes=(1,))
        self.both("attach", self.pid, "--env", HOSTILE.replace(b"=", b""), codes=None)
        self.both("attach", self.pid, "--children", "--tool", self.target.bad_tool, "--duration", "10ms", codes=None)

    def test_status(self):
        # A holder with a hostile name, and a tool with a hostile path.
        holder = self.path("holder" + os.fsdecode(HOSTILE_NAME.replace(b"\n", b"")))
        os.symlink(LIMPET, holder)
        process = subprocess.Popen(
            [holder, "attach", self.pid, "--tool", self.target.tool, "--json"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertTrue(attached_wait(process))
        try:
            self.assertIn("held by", self.run_it("status", self.pid))
            self.both("status", self.pid)
            self.both("attach", self.pid, codes=(7,))
        finally:
            process.stdin.write("\n")
            process.stdin.flush()
            limpet_finish(process)
        self.both("status", self.pid)
        self.both("detach", self.pid, "--unload", codes=(0, 1))


class Files(ForeignText):
    """Recordings and what is made of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.samples, cls.calls = (os.path.join(os.fsdecode(cls.target.folder), name) for name in ("s", "c"))
        for path, options in ((cls.samples, ("-F", "499", "--off-cpu")), (cls.calls, ("--io-trace",))):
            process = subprocess.run([LIMPET, "record", "-p", cls.pid, *options, "--duration", "1500ms", "-o", path],
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * PATIENCE_S)
            assert process.returncode == 0, process.stderr
            assert not FORBIDDEN.search(process.stderr.decode() + process.stdout.decode()), process.stderr

    def export(self, recording, name):
        path = self.path("out." + name)
        self.run_it("export", recording, "-f", name, "-o", path)
        with open(path, "rb") as file:
            return file.read()

    def test_names_are_there(self):
        """Or the rest would prove nothing."""
        self.assertIn("=f?[2J", self.run_it("report", self.samples))
        self.assertIn("]0;owned", self.run_it("report", self.calls))
        text = self.export(self.calls, "csv").decode()
        self.assertIn("]0;owned", text)

    def test_report(self):
        for recording in (self.samples, self.calls):
            self.both("report", recording)
        self.run_it("report", self.samples, "--tree")
        self.both("diff", self.samples, self.samples, "--threads")

    def test_text_formats(self):
        for recording, formats in ((self.samples, SAMPLE_FORMATS), (self.calls, CALL_FORMATS)):
            for name in formats:
                with self.subTest(format=name):
                    text = self.check(self.export(recording, name), name, tabs=name in TABS)
                    if name in ("chrome", "json", "speedscope", "firefox", "rocprof-json"):
                        json.loads(text, parse_constant=self.fail)

    def test_binary_formats_are_made(self):
        for name in BINARY_FORMATS:
            self.assertTrue(self.export(self.samples if name == "pprof" else self.calls, name))
        base = sqlite3.connect(self.path("out.rocpd"))
        for (string,) in base.execute("SELECT string FROM rocpd_string"):
            self.assertIsInstance(string, str)
        base.close()

    def test_pages(self):
        self.export(self.samples, "flamegraph")
        self.run_it("diff", self.samples, self.samples, "-o", self.path("d.html"))
        own = Tags(PAGE.read_text()).tags
        for name in ("out.flamegraph", "d.html"):
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(Tags(self.check(file.read().encode(), name, tabs=True)).tags, own)

    def test_pictures(self):
        self.export(self.samples, "svg")
        self.run_it("diff", self.samples, self.samples, "-o", self.path("d.svg"))
        for name in ("out.svg", "d.svg"):
            root = xml.etree.ElementTree.parse(self.path(name)).getroot()
            tags = {element.tag.split("}")[1] for element in root.iter()}
            self.assertLessEqual(tags, {"svg", "rect", "g", "title", "text"})
            for element in root.iter():
                self.assertNotIn("onload", element.attrib)

    def test_spreadsheets(self):
        self.run_it("export", self.calls, "-f", "rocprof-csv", "-o", self.path("set"))
        files = [self.path("out.csv"), *(self.path(name) for name in os.listdir(self.path(".")) if name.startswith("set_"))]
        self.export(self.calls, "csv")
        for name in files:
            with open(name, "rb") as file:
                text = self.check(file.read(), name, tabs=True)
            rows = list(csv.reader(io.StringIO(text, newline="")))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)
            for cell in (cell for row in rows for cell in row):
                self.assertFalse(re.match(r"[=+@\t]|-[^0-9]", cell), cell)

    def test_folded(self):
        for line in self.export(self.samples, "folded").decode().splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)* \d+$")


class Amd(ForeignText):
    def test_rocprofv3(self):
        inputs = os.path.join(self.target.folder, b"input.")
        for end, text in ((b"json", b'{"jobs":[{"' + HOSTILE.replace(b'"', b"").replace(b"\n", b"").replace(b"\r", b"")
                           .replace(b"\t", b"") + b'":1}]}'),
                          (b"json", b'{"jobs":[{"\\u001b]0;x\\u0007\\u009b\\u202e":true}]}'),
                          (b"txt", b"pmc: " + HOSTILE), (b"yaml", b"jobs:\n  - " + HOSTILE + b": true\n")):
            with open(inputs + end, "wb") as file:
                file.write(text)
            self.run_it("-i", inputs + end, "--", "true", program=ROCPROFV3, codes=None)
        for arguments in ((b"--" + HOSTILE,), ("--attach", HOSTILE), ("-d", HOSTILE, "--attach", self.pid, "-f", HOSTILE),
                          ("--hip-trace", "--attach", self.pid, "--attach-duration-msec", "10", "-d", self.target.bad_tool),
                          ("--sys-trace", "--", os.path.join(self.target.folder, HOSTILE + b"none"))):
            with self.subTest(arguments=arguments):
                self.run_it(*arguments, program=ROCPROFV3, codes=None)


if __name__ == "__main__":
    unittest.main()
