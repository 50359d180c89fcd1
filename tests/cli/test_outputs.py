#!/usr/bin/env python3
"""
Files that limpet writes: those of others are left alone, and a full disk costs nobody a good file.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_samples and make_recording.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PATIENCE_S, TargetTest, limpet, program, wait_until  # noqa: E402

OF_SAMPLES = ("flamegraph", "svg", "folded", "pprof", "speedscope", "firefox", "perf-script")
OF_CALLS = ("pftrace", "chrome", "kineto", "csv", "json", "rocpd", "rocprof-json")
SET = "rocprof-csv"  # several files
SET_FILE = "x_domain_stats.csv"
ROOM = 4 << 20


def make_recordings(folder):
    """One of samples, one of calls."""
    samples, calls = (os.path.join(folder, name) for name in ("samples.limpet", "calls.limpet"))
    subprocess.run([program("make_samples"), samples, "50", "calm"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program("make_recording"), calls, "2", "50", "calm"], check=True, stdout=subprocess.DEVNULL)
    return {**{name: samples for name in OF_SAMPLES}, **{name: calls for name in (*OF_CALLS, SET)}}


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="outputs-")
        self.addCleanup(folder.cleanup)
        self.recordings = make_recordings(folder.name)
        self.folder = os.path.join(folder.name, "out")
        os.mkdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def export(self, name, to, recording=None):
        return limpet("export", recording or self.recordings[name], "-f", name, "-o", self.path(to))

    def assert_left(self, result, name, content):
        self.assertEqual(result.code, 1, result)
        self.assertIn(f"write '{self.path(name)}': there is a file that limpet has not made", result.err)
        self.assertIn("fix: choose another name with -o FILE, or remove it", result.err)
        self.assertEqual(read(self.path(name)), content)
        self.assertEqual([entry for entry in os.listdir(self.folder) if entry.startswith(".")], [], "a draft stays")


class OfOthers(Files):
    """Are not replaced without a word."""

    TEXTS = (b"precious\n", b"<!DOCTYPE html><title>my page</title>\n", b'{"my": "data"}\n', b"a,b,c\n1,2,3\n",
             b"SQLite format 3\0" + bytes(100), b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(20), b"\n\n\n")

    def test_are_left(self):
        for name in (*OF_SAMPLES, *OF_CALLS):
            for text in self.TEXTS:
                self.write("x", text)
                self.assert_left(self.export(name, "x"), "x", text)
        self.write(SET_FILE, b"precious\n")
        self.assert_left(self.export(SET, "x"), SET_FILE, b"precious\n")

    def test_are_left_by_diff(self):
        samples = self.recordings["svg"]
        for name in ("x.html", "x.svg"):
            self.write(name, b"precious\n")
            self.assert_left(limpet("diff", samples, samples, "-o", self.path(name)), name, b"precious\n")
        shutil.copy(samples, self.path("x.html"))
        self.assert_left(limpet("diff", samples, samples, "-o", self.path("x.html")), "x.html", read(samples))

    def test_exports_of_another_kind_are_left(self):
        for name in (*OF_SAMPLES, *OF_CALLS):
            self.assertEqual(self.export(name, f"is.{name}").code, 0)
        names = (*OF_SAMPLES, *OF_CALLS)
        for number, name in enumerate(names):
            for other in ("folded", *(names[(number + step) % len(names)] for step in (1, 3, 5))):
                if other == name:
                    continue
                content = read(self.path(f"is.{other}"))
                self.assert_left(self.export(name, f"is.{other}"), f"is.{other}", content)

    def test_own_ones_are_replaced(self):
        for name in (*OF_SAMPLES, *OF_CALLS, SET):
            for _ in range(2):
                self.assertEqual(self.export(name, "x").code, 0, name)
            for entry in os.listdir(self.folder):
                os.remove(self.path(entry))
        samples = self.recordings["svg"]
        for name in ("x.html", "x.svg"):
            for _ in range(2):
                self.assertEqual(limpet("diff", samples, samples, "-o", self.path(name)).code, 0)
            self.assertEqual(limpet("export", samples, "-o", self.path(name)).code, 0)

    def test_those_of_a_live_recording_too(self):
        """Real names and stacks, of samples and calls in one file."""
        recording = self.path("it.limpet")
        done = limpet("record", "-o", recording, "-F", "999", "--io-trace", "--", "python3", "-c",
                      "sum(i * i for i in range(3000000))")
        self.assertEqual(done.code, 0, done)
        for name in (*OF_SAMPLES, *OF_CALLS, SET):
            for _ in range(2):
                self.assertEqual(self.export(name, f"x.{name}", recording).code, 0, name)

    def test_empty_ones_hold_nothing(self):
        for name in (*OF_SAMPLES, *OF_CALLS):
            self.write("x", b"")
            self.assertEqual(self.export(name, "x").code, 0, name)


class FullDisks(Files):
    """In a small file system that only these tests see."""

    def run_inside(self, test):
        names = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        mounts = [*names, "mount", "-t", "tmpfs", "none", self.folder]
        if subprocess.run(mounts, capture_output=True, check=False).returncode:
            self.skipTest("mount is not allowed here")
        script = 'mount -t tmpfs -o "size=$1" none "$2" && exec python3 "$3" "$4" "$2" "$5"'
        done = subprocess.run([*names, "sh", "-c", script, "sh", str(ROOM), self.folder, os.path.abspath(__file__), test,
                               os.path.dirname(self.folder)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=2 * PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_exports(self):
        self.run_inside("exports")

    def test_recordings(self):
        self.run_inside("recordings")

    def test_what_is_printed(self):
        target = subprocess.Popen([program("spinner")])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        recording = self.recordings["svg"]
        for words in (("report", recording), ("report", recording, "--json"), ("export", recording, "-o", "-", "-f", "svg"),
                      ("diff", recording, recording), ("dump", str(target.pid)), ("ps",), ("doctor",), ("--help",), ()):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([LIMPET, *words], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
            self.assertRegex(done.stderr, "No space left on device|not all of the output could be written")
            self.assertRegex(done.stderr, "fix: .*free some space")


class LongWork(TargetTest):
    """What record does after the last sample is told at a terminal, when it takes long."""

    @staticmethod
    def drain(reader):
        """What is there now; nothing before somebody writes."""
        try:
            while os.read(reader, 1 << 20):
                pass
        except BlockingIOError:
            pass

    def finish(self, is_terminal):
        """Into a pipe that is read only when that was said, so that the end has to wait; what was said."""
        folder = tempfile.TemporaryDirectory(prefix="outputs-")
        self.addCleanup(folder.cleanup)
        pipe = os.path.join(folder.name, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        ours, theirs = pty.openpty() if is_terminal else os.pipe()
        self.addCleanup(os.close, ours)
        target = self.target("plain", "malloc8")
        process = subprocess.Popen([LIMPET, "record", "-p", str(target.pid), "-o", pipe, "--alloc-trace", "-d", "200ms"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        self.addCleanup(self.end_process, process)
        os.close(theirs)
        said = ""
        while is_terminal and not re.search(r"finishing .* s ", said) and select.select([ours], [], [], PATIENCE_S)[0]:
            said += os.read(ours, 4096).decode(errors="replace")
        self.assertTrue(wait_until(lambda: self.drain(reader) or process.poll() is not None))
        self.assertEqual(process.returncode, 0, said)
        return said if is_terminal else os.read(ours, 65536).decode(errors="replace")

    def test_is_told_at_a_terminal(self):
        self.assertRegex(self.finish(True), r"\rfinishing .*pipe: 2 s ")

    def test_is_not_told_elsewhere(self):
        self.assertNotIn("finishing", self.finish(False))


def fill(folder):
    """Until not one page is left; where that is."""
    path = os.path.join(folder, "filling")
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return path


def check(is_true, what):
    if not is_true:
        raise AssertionError(str(what))


def contents(folder):
    return {name: read(os.path.join(folder, name)) for name in os.listdir(folder) if name != "filling"}


def check_refused(done, folder, before, what):
    check(done.code == 1, f"{what}: {done}")
    check("No space left on device" in done.err and "fix: " in done.err, f"{what}: {done}")
    check(contents(folder) == before, f"{what}: {sorted(os.listdir(folder))}")


def inside_exports(folder, recordings):
    for name, recording in recordings.items():
        command = ("export", recording, "-f", name, "-o", os.path.join(folder, "x"))
        for has_old in (False, True):
            if has_old:
                check(limpet(*command).code == 0, name)
            before = contents(folder)
            filling = fill(folder)
            check_refused(limpet(*command), folder, before, f"{name}, an old file: {has_old}")
            os.remove(filling)
        for entry in os.listdir(folder):
            os.remove(os.path.join(folder, entry))
    samples = recordings["svg"]
    fill(folder)
    for name in ("x.html", "x.svg"):
        check_refused(limpet("diff", samples, samples, "-o", os.path.join(folder, name)), folder, {}, name)


def inside_recordings(folder, recordings):
    path = os.path.join(folder, "x.limpet")
    command = ("record", "-o", path, "-F", "999", "--", program("launched"), "count", "1")
    for old in (None, read(recordings["svg"])):
        if old:
            with open(path, "wb") as file:
                file.write(old)
        before = contents(folder)
        filling = fill(folder)
        check_refused(limpet(*command), folder, before, f"record, an old file: {bool(old)}")
        check_refused(limpet(*command[:5], "--io-trace", *command[5:]), folder, before, f"io, an old file: {bool(old)}")
        os.remove(filling)


if __name__ == "__main__":
    inside = {"exports": inside_exports, "recordings": inside_recordings}
    if len(sys.argv) == 4 and sys.argv[1] in inside:
        parent = sys.argv[3]
        made = {name: os.path.join(parent, "samples.limpet") for name in OF_SAMPLES}
        made.update({name: os.path.join(parent, "calls.limpet") for name in (*OF_CALLS, SET)})
        inside[sys.argv[1]](sys.argv[2], made)
    else:
        unittest.main()
