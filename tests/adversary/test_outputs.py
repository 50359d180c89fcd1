#!/usr/bin/env python3
"""
A stranger tries to turn what limpet writes as root into a file of his choice: with links, pipes and files that he
has put there before, and with a program that replaces whatever appears in his folder by a link.  strace makes
limpet slow where it opens files, so that the stranger always comes in time.

Needs root (for the stranger) and strace.
"""

import ctypes
import glob
import os
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import unittest

from harness import LIMPET, PATIENCE_S, PROGRAMS, Workload, limpet

NOBODY = 65534
VICTIM = b"root:secret\n"
IN_CREATE = 0x100
FORMATS = ("pftrace", "chrome", "csv", "json", "rocpd")
SAMPLE_FORMATS = ("flamegraph", "svg", "folded", "pprof", "speedscope", "firefox", "perf-script")
EXPORT_SLOWLY = ("strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=openat,mkdirat",
                 "-e", "inject=openat,mkdirat:delay_exit=30000")


def swap_for_ever(folder, victim, begun):
    """As the stranger: each new name in the folder becomes a link to the victim, at once."""
    libc = ctypes.CDLL(None, use_errno=True)
    inotify = libc.inotify_init1(0)
    if libc.inotify_add_watch(inotify, folder.encode(), IN_CREATE) < 0:
        os._exit(1)
    os.write(begun, b"r")
    count = 0
    while True:
        events, at = os.read(inotify, 65536), 0
        while at < len(events):
            _, _, _, size = struct.unpack_from("iIII", events, at)
            name = events[at + 16:at + 16 + size].split(b"\0")[0]
            at += 16 + size
            path = os.path.join(os.fsencode(folder), name)
            if b"aside" in name or os.path.islink(path):
                continue
            count += 1
            try:
                os.rename(path, os.path.join(os.fsencode(folder), b"aside%d" % count))
                os.symlink(victim, path)
            except OSError:
                pass


class Swapper:
    """A process of the stranger's, as long as the block lasts."""

    def __init__(self, folder, victim):
        ready, begun = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                signal.alarm(10 * PATIENCE_S)
                swap_for_ever(folder, victim, begun)
            finally:
                os._exit(1)
        os.close(begun)
        with open(ready, "rb") as pipe:
            assert pipe.read(1) == b"r"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="outputs-")
        os.chmod(cls.scratch, 0o755)
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.calls = os.path.join(cls.scratch, "calls.limpet")
        subprocess.run([os.path.join(PROGRAMS, "make_recording"), cls.calls, "2", "50", "calm"], check=True,
                       stdout=subprocess.DEVNULL, timeout=PATIENCE_S)
        cls.target = Workload("plain", "busy")
        cls.addClassCleanup(cls.target.close)
        cls.samples = os.path.join(cls.scratch, "samples.limpet")
        done = limpet("record", "-p", str(cls.target.pid), "-F", "999", "--duration", "1s", "-o", cls.samples)
        assert done.code == 0, str(done)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.scratch)
        os.chmod(self.folder, 0o755)
        self.own = tempfile.mkdtemp(dir=self.scratch)
        self.victim = os.path.join(self.own, "shadow")
        self.put(VICTIM)

    def put(self, content):
        with open(self.victim, "wb") as file:
            file.write(content)

    def path(self, name):
        return os.path.join(self.folder, name)

    def give_away(self, mode=0o755, owner=NOBODY):
        if os.geteuid():
            self.skipTest("needs root")
        os.chown(self.folder, owner, owner)
        os.chmod(self.folder, mode)

    def unharmed(self, content=VICTIM):
        with open(self.victim, "rb") as file:
            self.assertEqual(file.read(), content)

    def record(self, *arguments, before=(), **options):
        """For longer where the machine is so busy that no sample was taken (5)."""
        for duration in ("300ms", "2s", "8s"):
            result = subprocess.run(
                [*before, LIMPET, "record", "-p", str(self.target.pid), "-F", "999", "--duration", duration, *arguments],
                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=2 * PATIENCE_S, **options)
            if result.returncode != 5:
                break
        return result


class Swapped(Outputs):
    """The stranger's folder, and he is quick."""

    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        self.give_away()

    def test_the_usual_name_of_a_recording(self):
        name = f"limpet-{self.target.pid}.limpet"
        slowly = ("strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=openat", "-P", name,
                  "-e", "inject=openat:delay_exit=300000")
        with Swapper(self.folder, self.victim):
            self.record(cwd=self.folder, before=slowly)
        self.assertTrue(os.path.islink(self.path(name)), "the stranger was too late")
        self.unharmed()
        # What was recorded is where it went, and whole.
        self.assertEqual(limpet("report", glob.glob(self.path("aside*"))[0]).code, 0)

    def test_a_recording_that_is_named(self):
        slowly = ("strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=openat", "-P", "x.limpet",
                  "-e", "inject=openat:delay_exit=300000")
        with Swapper(self.folder, self.victim):
            self.record("-o", "x.limpet", cwd=self.folder, before=slowly)
        self.unharmed()

    def test_exports(self):
        for content in (VICTIM, b""):  # SQLite fills a file that is empty
            self.put(content)
            for name in FORMATS:
                with self.subTest(format=name, victim=content), Swapper(self.folder, self.victim):
                    subprocess.run([*EXPORT_SLOWLY, LIMPET, "export", self.calls, "-f", name,
                                    "-o", self.path("out." + name)], capture_output=True, timeout=2 * PATIENCE_S)
                    self.unharmed(content)


class Planted(Outputs):
    """What lay there before."""

    def links(self):
        self.give_away()
        link = self.path("out")
        os.symlink(self.victim, link)
        os.lchown(link, NOBODY, NOBODY)
        return link

    def test_a_link_is_not_followed(self):
        link = self.links()
        done = self.record("-o", link)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("it is a link", done.stderr)
        self.unharmed()
        for recording, formats in ((self.calls, FORMATS), (self.samples, SAMPLE_FORMATS)):
            for name in formats:
                with self.subTest(format=name):
                    done = limpet("export", recording, "-f", name, "-o", link)
                    self.assertEqual(done.code, 1, str(done))
                    self.unharmed()
                    self.assertTrue(os.path.islink(link))
        self.assertEqual(limpet("diff", self.samples, self.samples, "-o", link + ".svg").code, 0)
        self.assertEqual(os.listdir(self.folder), ["out", "out.svg"] if os.listdir(self.folder)[0] == "out"
                         else ["out.svg", "out"])

    def test_nor_in_a_folder_for_all(self):
        link = self.links()
        self.give_away(0o1777, 0)
        self.assertEqual(self.record("-o", link).returncode, 1)
        self.assertEqual(limpet("export", self.calls, "-f", "csv", "-o", link).code, 1)
        self.unharmed()

    def test_nor_in_a_folder_for_a_group(self):
        link = self.links()
        os.chown(self.folder, 0, NOBODY)
        os.chmod(self.folder, 0o2775)
        self.assertEqual(self.record("-o", link).returncode, 1)
        self.assertEqual(limpet("export", self.calls, "-f", "csv", "-o", link).code, 1)
        self.unharmed()

    def test_the_usual_names_are_others(self):
        self.give_away()
        os.symlink(self.victim, self.path(f"limpet-{self.target.pid}.limpet"))
        self.assertEqual(self.record(cwd=self.folder).returncode, 0)
        self.unharmed()
        self.assertEqual(mode_of(self.path(f"limpet-{self.target.pid}-2.limpet")), 0o600)

    def test_a_pipe_of_the_stranger_is_not_written_to(self):
        self.give_away()
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        os.chown(pipe, NOBODY, NOBODY)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assertEqual(self.record("-o", pipe).returncode, 1)
        self.assertEqual(limpet("export", self.calls, "-f", "csv", "-o", pipe).code, 1)
        self.assertEqual(os.read(reader, 100), b"")

    def test_another_name_of_a_file_stays(self):
        """A hard link: what is written takes the name, not the file."""
        self.give_away()
        table = self.path("table")
        self.assertEqual(limpet("export", self.calls, "-f", "csv", "-o", table).code, 0)
        for earlier, run in ((self.samples, lambda path: self.record("-o", path).returncode),
                             (table, lambda path: limpet("export", self.calls, "-f", "csv", "-o", path).code)):
            with open(earlier, "rb") as file:
                content = file.read()
            self.put(content)
            other = self.path("other")
            if os.path.exists(other):
                os.unlink(other)
            os.link(self.victim, other)
            self.assertEqual(run(other), 0)
            self.unharmed(content)
            self.assertNotEqual(os.stat(other).st_ino, os.stat(self.victim).st_ino)


class Ordinary(Outputs):
    """What must go on working."""

    def test_files_are_their_owners_alone(self):
        self.assertEqual(mode_of(self.samples), 0o600)
        for recording, formats in ((self.calls, FORMATS), (self.samples, SAMPLE_FORMATS)):
            for name in formats:
                self.assertEqual(limpet("export", recording, "-f", name, "-o", self.path(name)).code, 0)
                self.assertEqual(mode_of(self.path(name)), 0o600, name)
        self.assertEqual(limpet("diff", self.samples, self.samples, "-o", self.path("d.html")).code, 0)
        self.assertEqual(mode_of(self.path("d.html")), 0o600)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted((*FORMATS, *SAMPLE_FORMATS, "d.html")))

    @unittest.skipIf(os.geteuid(), "needs root, to be somebody else")
    def test_others_are_told_why_they_cannot_read_it(self):
        copy = shutil.copy(LIMPET, self.folder)
        done = subprocess.run([copy, "report", self.samples], capture_output=True, text=True, cwd="/", user=NOBODY,
                              group=NOBODY, extra_groups=[], timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("readable by their owner only", done.stderr)

    def test_what_the_owner_allowed_stays_allowed(self):
        path = self.path("a.csv")
        for run in (lambda: limpet("export", self.calls, "-o", path).code, lambda: self.record("-o", path).returncode):
            self.assertEqual(run(), 0)
            os.chmod(path, 0o644)
            self.assertEqual(run(), 0)
            self.assertEqual(mode_of(path), 0o644)
            os.unlink(path)

    def test_a_link_of_ones_own_is_followed(self):
        os.symlink("true.csv", self.path("link.csv"))
        for content in (b"", b"before"):
            self.assertEqual(limpet("export", self.calls, "-o", self.path("link.csv")).code, 0)
            self.assertTrue(os.path.islink(self.path("link.csv")))
            self.assertGreater(os.path.getsize(self.path("true.csv")), 100)
        os.unlink(self.path("true.csv"))
        self.assertEqual(self.record("-o", self.path("link.csv")).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link.csv")))
        self.assertEqual(limpet("report", self.path("true.csv")).code, 0)

    def test_streams(self):
        os.mkfifo(self.path("pipe"))
        for recording, formats in ((self.calls, ("csv", "json")), (self.samples, ("folded",))):
            for name in formats:
                whole = subprocess.run([LIMPET, "export", recording, "-f", name, "-o", "-"], capture_output=True)
                for out in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
                    done = subprocess.run([LIMPET, "export", recording, "-f", name, "-o", out], capture_output=True)
                    self.assertTrue(done.stdout.startswith(whole.stdout), out)
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE) as reader:
            self.assertEqual(self.record("-o", self.path("pipe")).returncode, 0)
            self.assertTrue(reader.communicate(timeout=PATIENCE_S)[0].startswith(b"limpet"))
        self.assertEqual(self.record("-o", "/dev/null").returncode, 0)
        self.assertEqual(self.record("-o", "/dev/full").returncode, 1)

    def test_what_is_appended_to_stays(self):
        with open(self.path("log"), "wb") as out:
            out.write(b"before\n")
        with open(self.path("log"), "ab") as out:
            subprocess.run([LIMPET, "export", self.calls, "-f", "csv", "-o", "/dev/stdout"], stdout=out, check=True)
        with open(self.path("log"), "rb") as written:
            self.assertTrue(written.read().startswith(b"before\n"))

    def test_databases_want_files(self):
        for out in ("-", "/dev/null", "/dev/stdout"):
            self.assertEqual(limpet("export", self.calls, "-f", "rocpd", "-o", out).code, 2, out)

    def test_no_such_place(self):
        for out, words in (("/no/such/x", "No such file"), (self.folder, "directory"), (self.folder + "/", "directory"),
                           (self.path("n" * 256), "write '")):
            with self.subTest(out=out):
                done = self.record("-o", out)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertEqual(limpet("export", self.calls, "-f", "csv", "-o", out).code, 1)
        os.symlink("loop", self.path("loop"))
        self.assertIn("Too many levels", self.record("-o", self.path("loop")).stderr)


if __name__ == "__main__":
    unittest.main()
