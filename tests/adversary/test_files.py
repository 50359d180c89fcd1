#!/usr/bin/env python3
"""
Files that a target or a stranger laid in limpet's way: devices and pipes where debug files are looked for, links out of
a container, ELF files and recordings that promise more than there is.

Environment: LIMPET, ADVERSARY (the hostile programs).
"""

import os
import resource
import shutil
import subprocess
import tempfile
import unittest

import hostile_files
from hostile_files import Canary, Elf

LIMPET = os.environ.get("LIMPET", "limpet")
STANDING = os.path.join(os.environ.get("ADVERSARY", "."), "standing")
PATIENCE_S = int(os.environ.get("PATIENCE_S", "60"))


class Answer:
    """What limpet said, how long it took and how much memory it had."""

    def __init__(self, *words, limit_bytes=0):
        def bound():
            if limit_bytes:
                resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))

        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([LIMPET, *map(str, words)], stdout=out, stderr=errors,
                                       stdin=subprocess.DEVNULL, preexec_fn=bound)
            timer = hostile_files.threading.Timer(PATIENCE_S, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            errors.seek(0)
            self.text, self.errors = out.read(), errors.read()
        self.peak_bytes = usage.ru_maxrss << 10


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="files-")
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name):
        return os.path.join(self.folder, name)

    def canary(self, name):
        canary = Canary(self.file(name))
        self.addCleanup(lambda: canary.thread.is_alive() and canary.close())
        return canary

    def start(self, path, before=None):
        process = subprocess.Popen([path], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, preexec_fn=before)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def standing(self, name="standing"):
        """A copy of the program that every limpet can name."""
        return shutil.copy(STANDING, self.file(name))

    def linked(self, checksum_of=STANDING):
        """A stripped copy whose .gnu_debuglink names standing.debug."""
        path = self.file("standing")
        link = shutil.copy(checksum_of, self.file("standing.debug"))
        subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=" + link, STANDING, path], check=True)
        os.unlink(link)
        return path


class Devices(Folder):
    """Whatever is no regular file is looked at, never opened."""

    def test_a_debug_file_that_is_a_pipe(self):
        path = self.linked()
        canary = self.canary("standing.debug")
        answer = Answer("dump", self.start(path).pid)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertFalse(canary.close())

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_a_link_out_of_a_container(self):
        path = self.linked()
        canary = self.canary("pipe")
        root = self.file("root")
        os.mkdir(root)
        shutil.move(path, root)
        os.symlink(canary.path, os.path.join(root, "standing.debug"))
        answer = Answer("dump", self.start("/standing", lambda: hostile_files.enter_root(root)).pid)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertFalse(canary.close())

    def test_a_recording_that_names_a_pipe(self):
        canary = self.canary("pipe")
        recording = self.file("stranger.limpet")
        with open(recording, "wb") as file:
            file.write(hostile_files.unnamed_sample(canary.path, bytes(range(20))))
        answer = Answer("report", recording)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn("1 sample", answer.text)
        self.assertFalse(canary.close())

    def test_a_recording_that_names_a_file_of_the_kernel(self):
        recording = self.file("stranger.limpet")
        with open(recording, "wb") as file:
            file.write(hostile_files.unnamed_sample("/proc/self/environ", bytes(range(20))))
        answer = Answer("report", recording)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn("/proc/self/environ is not read: it is in a file system of the kernel's own", answer.errors)

    @unittest.skipUnless(shutil.which("cc"), "needs a compiler")
    def test_split_debug_information_that_names_a_pipe(self):
        """libdw itself opens what DW_AT_dwo_name says."""
        source = self.file("split.c")
        with open(source, "w", encoding="ascii") as file:
            file.write('#include <stdio.h>\nvolatile long turns;\nint main(void)\n'
                       '{\n\tputs("ready");\n\tfflush(stdout);\n\tfor (;;)\n\t\tturns++;\n}\n')
        subprocess.run(["cc", "-g", "-gsplit-dwarf", "-O1", "-c", "-o", self.file("split.o"), source], check=True,
                       cwd=self.folder)
        subprocess.run(["cc", "-o", self.file("split"), self.file("split.o")], check=True, cwd=self.folder)
        os.unlink(self.file("split.dwo"))
        canary = self.canary("split.dwo")
        answer = Answer("dump", self.start(self.file("split")).pid)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn("main", answer.text)
        self.assertFalse(canary.close())


if __name__ == "__main__":
    unittest.main()
