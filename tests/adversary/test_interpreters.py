"""
What interpreters and helpers tell limpet, told by somebody who means it ill: lists of made code, servers of debug
files.  Whatever they say, limpet ends in time, in its memory, and prints nothing that a terminal obeys.
"""

import os
import struct
import subprocess
import tempfile
import time
import unittest

from harness import TargetTest, limpet, status_of, wait_until

ADVERSARY = os.environ.get("ADVERSARY", ".")
GIB = 1 << 30


class MadeCode(TargetTest):
    """perf-PID.map, jit-PID.dump"""

    def setUp(self):
        self.target_process = subprocess.Popen(
            [os.path.join(ADVERSARY, "made_code")], stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.nice(19),
        )
        self.addCleanup(self.end_process, self.target_process)
        self.pid = self.target_process.pid
        self.address = self.target_process.stdout.readline().strip()
        self.map = f"/tmp/perf-{self.pid}.map"
        self.addCleanup(lambda: os.path.lexists(self.map) and os.unlink(self.map))

    def look(self):
        """What dump and record say, in bounded memory."""
        with tempfile.TemporaryDirectory(prefix="interpreters-") as folder:
            file = os.path.join(folder, "x.limpet")
            shown = limpet("dump", self.pid)
            self.assertEqual(shown.code, 0, shown)
            recorded = limpet("record", "-p", self.pid, "--duration", "500ms", "-o", file)
            self.assertIn(recorded.code, (0, 5), recorded)
            reported = limpet("report", file)
        for result in (shown, recorded, reported):
            self.assertNotIn("\033", result.out + result.err)
        self.assertIsNone(self.target_process.poll())
        return shown.out

    def write(self, text):
        with open(self.map, "wb") as file:
            file.write(text)
            return file

    def test_a_pipe(self):
        os.mkfifo(self.map)
        self.assertIn("[JIT]", self.look())

    def test_a_link_to_a_device(self):
        os.symlink("/dev/zero", self.map)
        self.assertIn("[JIT]", self.look())

    def test_names_that_a_terminal_obeys(self):
        self.write(f"{self.address} 1000 \033]0;mine\007\233\n".encode("latin-1"))
        self.assertIn("mine", self.look())

    def test_gigabytes_of_nothing(self):
        self.write(f"{self.address} 1000 named\n".encode())
        os.truncate(self.map, 3 * GIB)
        begun = os.times()
        self.assertIn("named", self.look())
        spent = os.times()
        # Children's time: a gigabyte of it took three times as long.
        self.assertLess(spent.children_user - begun.children_user + spent.children_system - begun.children_system, 4)

    def test_lines_that_make_no_sense(self):
        self.write(b"".join(
            b"%x %x o%d\n" % ((int(self.address, 16) - i) & (2**64 - 1), 2**63 - i, i) for i in range(20000)
        ) + b"0x\n0x1\nffffffffffffffffffffffffff 1 x\n1 ffffffffffffffff y\n\0\0\0\n" + b"z" * 5000)
        self.look()

    def test_a_jitdump_with_wrong_sizes(self):
        machine = 62 if os.uname().machine == "x86_64" else 183
        head = struct.pack("<6I2Q", 0x4A695444, 1, 40, machine, 0, self.pid, 0, 0)
        with tempfile.TemporaryDirectory(prefix="interpreters-") as folder:
            script = os.path.join(folder, "mapper.py")
            dump = os.path.join(folder, "jit-%d.dump")
            with open(script, "w") as file:
                file.write(
                    "import mmap, os, sys\n"
                    f"path = {dump!r} % os.getpid()\n"
                    "file = open(path, 'w+b')\n"
                    "file.write(bytes.fromhex(sys.argv[1]))\n"
                    "file.truncate(1 << 40)\n"
                    "file.flush()\n"
                    "mapped = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)\n"
                    "print('ready', flush=True)\n"
                    "while True: pass\n"
                )
            for size in (0, 15, 16, 17, 2**31, 2**32 - 1):
                record = struct.pack("<2IQ", 0, size, 0) + b"\xff" * 200
                process = subprocess.Popen(
                    ["python3", script, (head + record).hex()], stdout=subprocess.PIPE, text=True,
                    preexec_fn=lambda: os.nice(19),
                )
                self.addCleanup(self.end_process, process)
                self.assertEqual(process.stdout.readline(), "ready\n")
                result = limpet("dump", process.pid)
                self.assertEqual(result.code, 0, result)
                self.end_process(process)


class Helpers(TargetTest):
    """A debuginfod-find that means it ill, or is broken."""

    TIMEOUT_S = 1

    def ask(self, script):
        with tempfile.TemporaryDirectory(prefix="interpreters-") as folder:
            helper = os.path.join(folder, "debuginfod-find")
            with open(helper, "w") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(helper, 0o755)
            sleeper = subprocess.Popen(["sleep", "1000"])
            self.addCleanup(self.end_process, sleeper)
            self.assertTrue(wait_until(lambda: status_of(sleeper.pid)["State"].startswith("S")))
            environment = dict(
                os.environ, PATH=f"{folder}:{os.environ['PATH']}", DEBUGINFOD_URLS="http://127.0.0.1:1",
                DEBUGINFOD_TIMEOUT=str(self.TIMEOUT_S),
            )
            begun = time.monotonic()
            result = limpet("dump", sleeper.pid, "--debuginfod", env=environment, deadline_s=100)
            self.assertFalse(result.hung, result)
            self.assertEqual(result.code, 0, result)
            self.assertLess(time.monotonic() - begun, 90)  # of 60 s for all files, and of 1 s for each
            self.assertNotIn("\033", result.out + result.err)

    def test_one_that_hangs(self):
        self.ask("exec sleep 1000\n")

    def test_one_that_speaks_and_stays(self):
        self.ask("echo /nowhere\nexec >&- 2>&-\nexec sleep 1000\n")

    def test_one_that_never_stops_speaking(self):
        self.ask("trap '' PIPE\nwhile :; do printf '/\\033[31mx' 2>/dev/null; done\n")

    def test_one_that_names_a_device(self):
        self.ask("echo /dev/zero\n")


if __name__ == "__main__":
    unittest.main()
