#!/usr/bin/env python3
"""
The verbs that only look, and the frame around all verbs: words, exit codes, JSON, completion.
"""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, limpet, status_of, wait_until  # noqa: E402

NOBODY = 65534
PTRACE_DETACH, PTRACE_SEIZE = 17, 0x4206


def as_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


class Looking(unittest.TestCase):
    def start(self, *command, **options):
        """A process that is past its exec and ends with the test."""
        process = subprocess.Popen(command or ("sleep", "60"), **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: status_of(process.pid)["State"].startswith("S"))
        return process.pid

    def judge(self, pid, code, *words):
        """doctor's verdict, which is attach's: in the exit code, on stderr and in the summary."""
        result = limpet("doctor", pid, "--json")
        self.assertEqual(result.code, code, str(result))
        summary = result.events[-1]
        self.assertEqual((summary["event"], summary["exit"]), ("summary", code))
        for word in words:
            self.assertIn(word, summary["error"] + summary["why"] + summary["fix"])
        return result


class Ps(Looking):
    def test_lists_every_process_as_json(self):
        pid = self.start()
        result = limpet("ps", "--json")
        self.assertEqual(result.code, 0, str(result))
        *processes, summary = result.events
        self.assertEqual((summary["event"], summary["verb"]), ("summary", "ps"))
        self.assertEqual(summary["processes"], len(processes))
        ours = [process for process in processes if process["pid"] == pid][0]
        self.assertEqual((ours["name"], ours["command"], ours["threads"]), ("sleep", "sleep 60", 1))
        self.assertTrue(ours["attachable"])
        self.assertEqual(ours["uid"], os.geteuid())
        self.assertIn(ours["libc"]["flavour"], ("glibc", "musl"))
        self.assertEqual(ours["namespaces"]["pid"], "same")

    def test_passwords_are_not_shown(self):
        pid = self.start(sys.executable, "-c", "import time; time.sleep(60)", "--password", "hunter2",
                         "postgres://me:hunter2@db/x")
        rows = [one for one in limpet("ps", "--json").events if one.get("pid") == pid]
        self.assertTrue(rows[0]["command"].endswith(" --password *** postgres://***@db/x"), rows)
        self.assertNotIn("hunter2", limpet("doctor", pid).out + limpet("ps").out)

    def test_filters_by_name(self):
        pid = self.start("sleep", "61.25")
        result = limpet("ps", "61.25", "--json")
        self.assertEqual([event.get("pid") for event in result.events], [pid, None])
        result = limpet("ps", "no such process at all", "--json")
        self.assertEqual(result.code, 4)
        self.assertIn("no such process at all", result.err)

    def test_finds_gpu_runtimes(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libamdhip64.so.6")
            with open(library, "wb") as file:
                file.write(b"x" * 4096)
            code = ("import mmap,time; f = open(%r); m = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ); "
                    "time.sleep(60)" % library)
            pid = self.start(sys.executable, "-c", code)

            def runtimes():
                events = limpet("ps", "--gpu", "--json").events
                return [event["runtimes"] for event in events if event.get("pid") == pid]

            self.assertTrue(wait_until(lambda: runtimes() == [["hip"]]), runtimes())

    def test_prints_a_table(self):
        pid = self.start("sleep", "61.5")
        result = limpet("ps", "61.5")
        self.assertEqual(result.code, 0)
        head, row = result.out.splitlines()
        self.assertTrue(head.split()[:2] == ["PID", "USER"] and row.split()[0] == str(pid))
        self.assertIn(" yes ", row)

    def lines_at(self, width, *arguments, **variables):
        """The lines of ps on a terminal of that width."""
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        with subprocess.Popen([LIMPET, "ps", *arguments], stdout=other, env={**environment, **variables}) as process:
            os.close(other)
            text = b""
            with contextlib.suppress(OSError):  # the other side is closed
                while part := os.read(main, 65536):
                    text += part
        os.close(main)
        self.assertEqual(process.returncode, 0)
        return text.decode().replace("\r", "").splitlines()

    def test_shows_the_command_on_narrow_terminals(self):
        self.start("sleep", "61.75", "0", "0")
        for width in (200, 132, 100, 80, 60, 40, 30):
            head, row = self.lines_at(width, "sleep 61.75")
            self.assertIn("sleep 61.75 0 0", row, width)
            self.assertIn("COMMAND", head)
            self.assertLessEqual(max(len(head), len(row)), width)
            self.assertGreaterEqual(width - head.index("COMMAND"), 20, head)
        self.assertIn("ATTACH", self.lines_at(80, "sleep 61.75")[0])
        self.assertNotIn("LIBC", self.lines_at(200, "sleep 61.75", COLUMNS="80")[0])
        self.assertIn("LIBC", limpet("ps", "sleep 61.75").out)

    def test_shows_the_name_of_the_program_where_its_path_has_no_room(self):
        folder = tempfile.TemporaryDirectory(prefix="a-folder-with-a-long-name-")
        self.addCleanup(folder.cleanup)
        path = shutil.copy(shutil.which("sleep"), os.path.join(folder.name, "limpet-far"))
        self.start(path, "60")
        self.assertTrue(self.lines_at(80, "limpet-far")[1].endswith(" limpet-far 60"))
        self.assertTrue(self.lines_at(250, "limpet-far")[1].endswith(f" {path} 60"))

    def test_verdicts_leave_room_for_the_command(self):
        pid = self.start("sleep", "61.875")
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: status_of(pid)["State"].startswith("T"))
        self.assertIn("sleep 61.875", self.lines_at(80, "sleep 61.875")[1])

    def test_is_fast(self):
        """In time of its own, so that a busy machine does not matter."""
        for _ in range(50):
            self.start()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        limpet("ps")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 0.5)


class Doctor(Looking):
    def test_examines_the_machine(self):
        result = limpet("doctor", "--json")
        self.assertEqual(result.code, 0, str(result))
        features = {event["name"]: event for event in result.events if event["event"] == "feature"}
        self.assertLessEqual({"processes", "attach", "tools"}, set(features))
        for feature in features.values():
            self.assertEqual(bool(feature["missing"]), feature["works"] != "yes", feature)
            self.assertEqual(bool(feature["fix"]), feature["works"] != "yes", feature)
        self.assertIn("attach", limpet("doctor").out)

    def test_approves_of_an_ordinary_process(self):
        pid = self.start()
        result = self.judge(pid, 0)
        threads = [event for event in result.events if event["event"] == "thread"]
        self.assertEqual([(thread["tid"], thread["name"]) for thread in threads], [(pid, "sleep")])
        self.assertIn("should work", limpet("doctor", pid).out)

    def test_no_such_process(self):
        self.judge(2 ** 31 - 1, 4, "there is no process")

    def test_zombie(self):
        child = os.fork()
        if child == 0:
            os._exit(0)
        self.addCleanup(os.waitpid, child, 0)
        wait_until(lambda: status_of(child)["State"].startswith("Z"))
        self.judge(child, 4, "zombie", str(os.getpid()))
        for verb in ("status", "detach"):
            self.assertEqual(limpet(verb, child).code, 4)

    def test_stopped(self):
        pid = self.start()
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: status_of(pid)["State"].startswith("T"))
        self.judge(pid, 7, f"limpet attach {pid} --cont")

    def test_traced(self):
        pid = self.start()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(PTRACE_SEIZE, pid, None, None) < 0:
            self.skipTest("no ptrace here")
        self.addCleanup(libc.ptrace, PTRACE_DETACH, pid, None, None)
        self.judge(pid, 7, f"process {os.getpid()}")

    @unittest.skipUnless(shutil.which("busybox"), "needs busybox")
    def test_static(self):
        pid = self.start("busybox", "sleep", "60")
        if b"INTERP" in subprocess.run(["readelf", "-lW", shutil.which("busybox")],
                                       capture_output=True, check=False).stdout:
            self.skipTest("busybox is not static here")
        self.judge(pid, 6, "statically linked")

    def test_thread(self):
        code = "import threading,time; threading.Thread(target=time.sleep, args=(60,)).start()"
        pid = self.start(sys.executable, "-c", code)
        wait_until(lambda: len(os.listdir(f"/proc/{pid}/task")) == 2)
        tid = max(map(int, os.listdir(f"/proc/{pid}/task")))
        self.judge(tid, 2, f"{tid} ", "is a thread, not a process", f"process {pid}", f"the number of the process: {pid}")
        for verb in Named.VERBS:
            result = limpet(verb, tid)
            self.assertEqual(result.code, 2, str(result))
            self.assertIn(f"the number of the process: {pid}\n", result.err)

    def test_kernel_thread(self):
        if status_of(2).get("Name") != "kthreadd":
            self.skipTest("kernel threads are not visible here")
        self.judge(2, 6, "kernel thread")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_other_user(self):
        pid = self.start()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(LIMPET, folder)
            doctor, *others = [subprocess.run([copy, verb, str(pid)], capture_output=True, text=True,
                                              preexec_fn=as_nobody, check=False)
                               for verb in ("doctor", "status", "detach")]  # fmt: skip
        self.assertEqual(doctor.returncode, 3, doctor.stderr)
        self.assertIn("it belongs to root (uid 0); limpet runs as uid 65534", doctor.stderr)
        self.assertIn(f"  fix: sudo limpet attach {pid}\n  or : limpet doctor --setup\n", doctor.stderr)
        for result in others:
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, r"  why: .* of user root\n  fix: run limpet as root, or: limpet doctor --setup\n")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_other_group(self):
        """The user is the same: the true reason is the group."""
        def with_other_group():
            os.setgroups([])
            os.setresgid(NOBODY - 1, NOBODY - 1, NOBODY - 1)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        pid = self.start(preexec_fn=with_other_group)
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(LIMPET, folder)
            doctor, status = [subprocess.run([copy, verb, str(pid)], capture_output=True, text=True,
                                             preexec_fn=as_nobody, check=False) for verb in ("doctor", "status")]
        self.assertEqual(doctor.returncode, 3, doctor.stderr)
        self.assertIn(f"the same user but another group (gid {NOBODY - 1}", doctor.stderr)
        self.assertEqual(status.returncode, 3, status.stderr)
        self.assertIn(f"group {NOBODY - 1}", status.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_every_right_but_one(self):
        """As nobody, doctor names what is missing for each feature."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(LIMPET, folder)
            result = subprocess.run([copy, "doctor"], capture_output=True, text=True,
                                    preexec_fn=as_nobody, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("missing: CAP_SYS_", result.stdout)
        self.assertIn("fix:     sudo ", result.stdout)


class Rights(Looking):
    @unittest.skipIf(os.geteuid(), "needs root, to be somebody else")
    def test_what_may_not_be_read_is_not_called_empty(self):
        if not all(os.stat(path).st_mode & 1 for path in pathlib.Path(LIMPET).resolve().parents):
            self.skipTest("others cannot reach the folder of the build")
        pid = self.start()
        for verb in ("status", "detach"):
            result = subprocess.run([LIMPET, verb, str(pid), "--json"], capture_output=True, text=True, check=False,
                                    preexec_fn=as_nobody)
            self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
            self.assertIn("why: ", result.stderr)
            self.assertIn("fix: run limpet as root", result.stderr)
            self.assertNotIn("attach", result.stderr)  # nobody asked for that
            self.assertEqual(limpet(verb, pid).code, 1)

    @unittest.skipIf(os.geteuid() or not shutil.which("setpriv"), "needs root and setpriv")
    def test_root_is_not_told_to_become_root(self):
        pid = self.start(preexec_fn=as_nobody)
        for words in (("status",), ("detach",), ("dump",), ("record", "--duration", "100ms", "-o", "/dev/null"),
                      ("attach",)):
            result = subprocess.run(["setpriv", "--bounding-set=-all", "--inh-caps=-all", LIMPET, *words, "-p", str(pid)],
                                    capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                                    env={**os.environ, "container": "podman"})
            self.assertEqual(result.returncode, 3, str(words) + result.stderr)
            self.assertNotRegex(result.stderr, "as root|sudo limpet", words)

    @unittest.skipIf(os.geteuid() or not shutil.which("setpriv"), "needs root and setpriv")
    def test_root_from_whom_processes_are_hidden(self):
        pid = self.start(preexec_fn=as_nobody)
        hidden = 'mount -t proc -o hidepid=2,gid=12345 proc /proc && exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
        result = subprocess.run(["unshare", "--mount", "sh", "-c", hidden, "sh", LIMPET, "attach", str(pid)],
                                capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                                env={**os.environ, "container": "podman"})
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("hidepid", result.stderr)
        self.assertNotRegex(result.stderr, "as root|sudo")
        self.assertIn("--cap-add", result.stderr)


class Named(Looking):
    """-p PID and names do for every verb of one process."""

    VERBS = ("attach", "dump", "top", "status", "detach", "doctor", "record")

    def copy(self, name):
        """A program with a name of its own."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return shutil.copy(shutil.which("sleep"), os.path.join(folder.name, name))

    def test_an_option_does_what_the_operand_does(self):
        for verb in self.VERBS:
            by_option, by_operand = limpet(verb, "-p", 2 ** 31 - 1), limpet(verb, 2 ** 31 - 1)
            self.assertEqual((by_option.code, by_option.err), (by_operand.code, by_operand.err))
            self.assertEqual(by_option.code, 4, str(by_option))

    def test_only_one_process(self):
        for verb in self.VERBS:
            twice = () if verb == "record" else (("-p", 1, "-p", 2),)  # which takes several
            for words in (*twice, ("-p", 1, 2), (1, 2)):
                result = limpet(verb, *words)
                self.assertEqual(result.code, 2, str(result))
                self.assertIn("'2'", result.err)

    def test_a_name_of_one_process(self):
        pid = self.start(self.copy("limpet-lonely"), "60")
        result = limpet("doctor", "limpet-lonely", "--json")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn(f"limpet-lonely is process {pid}\n", result.err)
        self.assertIn(pid, [event.get("pid") for event in result.events])
        self.assertIn(f"is process {pid}\n", limpet("status", "-p", "limpet-lonely").err)

    def test_a_name_of_several_processes(self):
        path = self.copy("limpet-twin")
        pids = [self.start(path, "60") for _ in range(2)]
        result = limpet("attach", "limpet-twin")
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("2 processes are named 'limpet-twin'", result.err)
        for pid in pids:
            self.assertIn(f": {pid}: limpet-twin 60\n", result.err)
        self.assertIn("fix: give the PID of one", result.err)

    def script(self, name):
        """A script of that name that sleeps."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("import time\ntime.sleep(60)\n")
        return path

    def test_a_script_of_an_interpreter(self):
        path = self.script("limpet_shop.py")
        pid = self.start(sys.executable, "-u", "-X", "utf8", path, "--port", "80")
        self.start(sys.executable, "-c", "import time; time.sleep(60)", "limpet_shop.py")
        self.start("sleep", "60.5", "0.5")
        for words in (("status", "limpet_shop.py"), ("doctor", "-p", "limpet_shop.py")):
            self.assertIn(f"limpet_shop.py is process {pid}\n", limpet(*words).err)
        second = self.start(sys.executable, path)
        result = limpet("dump", "limpet_shop.py")
        self.assertEqual(result.code, 2, str(result))
        for each in (pid, second):
            self.assertIn(f": {each}: {os.path.basename(sys.executable)} ", result.err)

    def test_a_name_of_no_process(self):
        for verb in self.VERBS:
            result = limpet(verb, "limpet-nobody")
            self.assertEqual(result.code, 4, str(result))
            self.assertIn("no process is named 'limpet-nobody'", result.err)
            self.assertIn("fix: limpet ps", result.err)

    def test_part_of_a_name_is_no_name(self):
        pid = self.start(self.copy("limpet-whole"), "60")
        for verb in self.VERBS:
            result = limpet(verb, "limpet-who")
            self.assertEqual(result.code, 4, str(result))
            self.assertIn(f"fix: limpet-whole, process {pid}, has it in its name; limpet ps limpet-who", result.err)


class Frame(unittest.TestCase):
    def assert_usage(self, result, *words):
        self.assertEqual(result.code, 2, str(result))
        for word in words:
            self.assertIn(word, result.err)

    def test_mistakes_get_the_nearest_right_name(self):
        self.assert_usage(limpet("attahc", 1), "unknown command 'attahc'", "fix: limpet attach")
        self.assert_usage(limpet("4242"), "fix: limpet attach 4242")
        self.assert_usage(limpet("ps", "--jsno"), "unknown option --jsno", "fix: --json")
        self.assert_usage(limpet("doctor", "0"), "'0' is not a process ID")
        self.assert_usage(limpet("doctor", "+1"), "'+1' is not a process ID")
        self.assert_usage(limpet("ps", "a", "b"), "'b'")
        self.assert_usage(limpet("completions", "tcsh"), "bash, zsh and fish")

    def test_help_is_made_from_the_tables(self):
        verbs = ("ps", "doctor", "attach", "detach", "status", "completions")
        overview = limpet("help").out
        for verb in verbs:
            self.assertIn(f"\n  {verb} ", overview)
            self.assertEqual(limpet("help", verb).out, limpet(verb, "--help").out)
            self.assertIn(f"usage: limpet {verb} ", limpet(verb, "-h").out)
        self.assertRegex(limpet("--version").out, r"^limpet \d+\.\d+")

    def test_start_page_has_examples_and_processes(self):
        result = limpet()
        self.assertEqual(result.code, 0, str(result))
        indexes = [result.out.index(f"limpet {word}") for word in ("record -p 4242", "report", "export", "attach 4242")]
        self.assertEqual(indexes, sorted(indexes))
        self.assertIn("flame", result.out)
        self.assertIn("processes", result.out)
        self.assertIn("limpet ui 4242", result.out)

    def test_start_page_fits_a_small_terminal(self):
        lines = limpet().out.splitlines()
        self.assertLessEqual(len(lines), 23, "the prompt has a line, too")
        self.assertLessEqual(max(map(len, lines)), 80, lines)

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([LIMPET, "ps"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"not all of the output could be written", result.stderr)

    def test_bash_completes_verbs_and_options(self):
        script = limpet("completions", "bash").out + """
            complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _limpet; echo "${COMPREPLY[*]}"; }
            complete_words limpet at
            complete_words limpet ps --js
        """
        shell = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        self.assertEqual(shell.stdout, "attach\n--json\n", shell.stderr)

    def test_bash_completes_formats_and_processes(self):
        attachable = subprocess.Popen(["sleep", "60"])
        self.addCleanup(attachable.wait)
        self.addCleanup(attachable.kill)
        ended = subprocess.Popen(["true"])
        self.addCleanup(ended.wait)
        wait_until(lambda: status_of(ended.pid)["State"].startswith("Z"))
        wait_until(lambda: status_of(attachable.pid)["State"].startswith("S"))
        script = limpet("completions", "bash").out + f"""
            complete_words() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _limpet; echo "${{COMPREPLY[*]}}"; }}
            complete_words {LIMPET} export x.limpet -f fla
            complete_words {LIMPET} export x.limpet --format sp
            complete_words {LIMPET} record -p {attachable.pid}
            complete_words {LIMPET} top {attachable.pid}
            complete_words {LIMPET} top {ended.pid}
        """
        shell = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        first, second, third, fourth, fifth = (line.split() for line in shell.stdout.split("\n")[:5])
        self.assertEqual((first, second), (["flamegraph"], ["speedscope"]), shell.stderr)
        self.assertIn(str(attachable.pid), third)
        self.assertIn(str(attachable.pid), fourth)
        self.assertNotIn(str(ended.pid), fifth)

    def test_other_shells_accept_their_scripts(self):
        for shell in ("zsh", "fish"):
            script = limpet("completions", shell).out
            self.assertIn("attach", script)
            if shutil.which(shell):
                checked = subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True,
                                         capture_output=True, check=False)
                self.assertEqual(checked.returncode, 0, checked.stderr)


if __name__ == "__main__":
    unittest.main()
