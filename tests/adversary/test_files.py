#!/usr/bin/env python3
"""
Files that a target or a stranger laid in limpet's way: devices and pipes where debug files are looked for, links out of
a container, ELF files and recordings that promise more than there is.

Environment: LIMPET, PROGRAMS, ADVERSARY (the hostile programs).
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import hostile_files
from hostile_files import Canary, Elf

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402, F401

LIMPET = os.environ.get("LIMPET", "limpet")
PROGRAMS = os.environ.get("PROGRAMS", ".")
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
        if not shutil.which("objcopy"):
            self.skipTest("needs objcopy")
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

    @unittest.skipIf(os.geteuid() or not os.path.exists("/dev/fuse"), "needs root and FUSE")
    def test_a_file_system_that_never_answers(self):
        path = self.linked()
        os.mkdir(self.file(".debug"))
        silence = hostile_files.Silence()
        self.addCleanup(silence.close)
        try:
            target = self.start(path, lambda: silence.mount(self.file(".debug")))
        except subprocess.SubprocessError:
            self.skipTest("FUSE cannot be mounted here")
        silence.greet()
        answer = Answer("dump", target.pid)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn("program of another user answers (FUSE), and may never do so", answer.errors)

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


GIB = 1 << 30
# A limpet that looks at one small program has some twenty megabytes.
PEAK_BYTES = 300 << 20


class Promises(Folder):
    """What headers promise is not believed: other files and the stack are unaffected, and the reason is told."""

    def look(self, path, *words):
        answer = Answer("dump", self.start(path).pid, *words)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertLess(answer.peak_bytes, PEAK_BYTES)
        self.assertIn("standing", answer.text)
        return answer

    def test_a_debug_file_of_four_terabytes(self):
        path = self.linked()
        debug = shutil.copy(STANDING, self.file("standing.debug"))
        try:
            os.truncate(debug, 4096 * GIB)
        except OSError:
            os.truncate(debug, 1024 * GIB)
        self.assertIn(f"file {debug} is not read", self.look(path).errors)

    def test_a_debug_file_of_holes(self):
        path = self.linked()
        debug = shutil.copy(STANDING, self.file("standing.debug"))
        os.truncate(debug, 60 * GIB)
        self.assertIn(f"debug file {debug} is ignored: it has 61440 MiB", self.look(path).errors)

    def test_symbols_and_strings_of_holes(self):
        for section in (".symtab", ".strtab"):
            with self.subTest(section=section):
                path = self.standing("standing" + section)
                Elf(path).promise(section, 3 * GIB)
                self.assertIn(f"names of {path} are not read: with its section {section} it would have",
                              self.look(path).errors)

    def test_debug_information_of_holes(self):
        for section in (".debug_info", ".debug_line", ".debug_abbrev"):
            with self.subTest(section=section):
                path = self.standing("standing" + section)
                Elf(path).promise(section, 3 * GIB)
                answer = self.look(path)
                self.assertIn(f"lines of {path} are not read: with its section {section} it would have", answer.errors)
                self.assertIn(" stand (", answer.text)

    def test_unwind_information_of_holes(self):
        path = self.standing()
        Elf(path).promise(".eh_frame", 3 * GIB)
        self.assertIn(f"unwind information of {path} is not read", self.look(path).errors)

    def test_names_of_sections_of_holes(self):
        path = self.standing()
        Elf(path).promise(".shstrtab", 3 * GIB)
        self.assertIn(f"names of {path} are not read", self.look(path).errors)

    def test_too_many_sections(self):
        path = self.standing()
        Elf(path).promise_sections(4 << 20)
        self.assertIn(f"names of {path} are not read: it says that it has 4194304 sections", self.look(path).errors)

    def test_packed_debug_information(self):
        path = self.standing()
        Elf(path).pack(".debug_str", 400 << 20)
        self.assertIn(f"lines of {path} are not read: with its section .debug_str", self.look(path).errors)

    def test_debug_information_that_is_deep(self):
        path = self.standing()
        elf = Elf(path)
        elf.bury(".debug_info", ".debug_abbrev", 500000)
        self.assertIn(" stand (", self.look(path).text)

    def test_strings_without_an_end(self):
        path = self.standing()
        elf = Elf(path)
        elf.replace(".strtab", b"\0" + b"_" * (48 << 20))
        elf.replace(".symtab", elf.symbols(1 << 20))
        self.assertIn(f"names of {path} are not read: its section .strtab has no end", self.look(path).errors)

    def test_names_that_are_long(self):
        path = self.standing()
        elf = Elf(path)
        elf.replace(".strtab", b"\0" + b"_" * (24 << 20) + b"\0")
        elf.replace(".symtab", elf.symbols(1 << 19))
        self.look(path)


class Runtimes(Folder):
    """What a runtime writes of its code."""

    def test_a_perf_map_of_holes(self):
        process = subprocess.Popen([os.path.join(PROGRAMS, "compiling")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        perf_map = f"/tmp/perf-{process.pid}.map"
        self.addCleanup(lambda: os.path.exists(perf_map) and os.unlink(perf_map))
        for clean in (process.stdin.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(clean)
        process.stdout.readline()
        os.truncate(perf_map, GIB)
        answer = Answer("record", "-p", process.pid, "--duration", "500ms", "-o", self.file("out.limpet"))
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn(f"the perf map of process {process.pid} is read no further: a line is longer than 1 MiB", answer.errors)


class Scarcity(Folder):
    """Little memory is an error in words, or less to show: never a crash."""

    @unittest.skipUnless(shutil.which("cc"), "needs a compiler")
    def test_a_small_address_space(self):
        source = self.file("deep.c")
        with open(source, "w", encoding="ascii") as file:
            file.write('#include <stdio.h>\nvolatile long turns;\n'
                       'int down(int n)\n{\n\tif (n)\n\t\treturn down(n - 1) + 1;\n\tfor (;;)\n\t\tturns++;\n}\n'
                       'int main(void)\n{\n\tputs("ready");\n\tfflush(stdout);\n\treturn down(100);\n}\n')
        subprocess.run(["cc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", self.file("deep"), source], check=True)
        pid = self.start(self.file("deep")).pid
        for kib in range(15000, 24000, 500):
            answer = Answer("dump", pid, limit_bytes=kib << 10)
            self.assertIn(answer.code, (0, 1), (kib, answer.errors))
            self.assertNotIn("libdw", answer.errors)


class Bombs(Folder):
    """Recordings of some kilobytes that stand for millions of records."""

    def bomb(self, chunks):
        path = self.file("bomb.limpet")
        data, count = hostile_files.bomb(chunks)
        with open(path, "wb") as file:
            file.write(data)
        return path, count

    def test_is_reported_as_far_as_its_size_allows(self):
        path, _ = self.bomb(10)
        answer = Answer("report", path)
        self.assertIn("more than a file of this size can", answer.text + answer.errors)
        self.assertIn("--max-records", answer.text + answer.errors)
        self.assertLess(answer.peak_bytes, PEAK_BYTES)

    def test_is_exported_as_far_as_its_size_allows(self):
        path, _ = self.bomb(10)
        answer = Answer("export", path, "-f", "rocpd", "-o", self.file("out.db"))
        self.assertIn("--max-records", answer.text + answer.errors)
        self.assertLess(answer.peak_bytes, PEAK_BYTES)

    def test_is_read_when_somebody_wants_it(self):
        path, count = self.bomb(1)
        answer = Answer("report", path, "--json", "--max-records", count)
        self.assertEqual(answer.code, 0, answer.errors)
        self.assertIn(f'"records":{count}', answer.text)


if __name__ == "__main__":
    unittest.main()
