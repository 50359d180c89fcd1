#!/usr/bin/env python3
"""
limpet record -- CMD: everything from the first call on, a program that finds itself as if nobody had started it
for a reason, its end told, and nothing that stays stopped whoever dies.
"""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402

PROGRAM = harness.program("launched")
MAIN_SIZE, EARLY_SIZE, EARLY_COUNT = 4242, 333, 7
DEADLINE_S = 60


class Launch(harness.TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")

    def start(self, *command, options=("--alloc-trace",), **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(
            [harness.LIMPET, "record", "-o", self.path, "--json", *options, "--", *map(str, command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.end_process, process)
        return process

    def finish(self, process, code=0, said="", text=None):
        """What the program said, and what limpet did; after what it has said already."""
        out, err = process.communicate(text, timeout=DEADLINE_S)
        err = said + err
        self.assertEqual(process.returncode, code, f"{out}\n{err}")
        events = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
        return out, {event["event"]: event for event in events}, err

    def launch(self, *command, code=0, **more):
        return self.finish(self.start(*command, **more), code)

    def launch_read(self, word, *command, **more):
        """A program that goes on when it has read a line, which it gets when limpet has said that word."""
        process = self.start(*command, "read", stdin=subprocess.PIPE, **more)
        said = b""
        while word not in said:
            is_there, _, _ = select.select([process.stderr], [], [], DEADLINE_S)
            self.assertTrue(is_there, f"it did not say {word}: {said}")
            some = os.read(process.stderr.fileno(), 65536)
            self.assertTrue(some, f"it ended before it said {word}: {said}")
            said += some
        return self.finish(process, said=said.decode(), text="\n")

    def launch_slowly(self, word, *command, **more):
        """A program that stays for as long as limpet needs to say that word: the time is its last argument."""
        for time_ms in (500, 2000, 8000, 32000):
            out, events, err = self.launch(*command, time_ms, **more)
            if word in err:
                break
        self.assertIn(word, err)
        return out, events, err

    def blocks(self):
        """How many blocks of each size were allocated."""
        exported = os.path.join(self.folder, "it.json")
        result = harness.limpet("export", self.path, "-f", "json", "-o", exported)
        self.assertEqual(result.code, 0, str(result))
        with open(exported) as file:
            data = json.load(file)
        counts = {}
        for call in data["calls"]:
            if data["functions"][call["function"]]["name"] == "malloc":
                counts[call["size"]] = counts.get(call["size"], 0) + 1
        return counts

    def functions(self):
        result = harness.limpet("report", self.path, "--json")
        return {event["name"]: event for event in result.events if event["event"] == "function"}


class Counts(Launch):
    def test_from_the_first_call_on(self):
        for count in (0, 1, 1000):
            _, events, _ = self.launch(PROGRAM, "count", count)
            blocks = self.blocks()
            self.assertEqual(blocks.get(MAIN_SIZE, 0), count)
            self.assertEqual(blocks[EARLY_SIZE], EARLY_COUNT, "constructors of the program itself")
            self.assertEqual((events["program"]["status"], events["recorded"]["reason"]), (3, "exit"))

    def test_again_and_again(self):
        for _ in range(20):
            _, _, err = self.launch(PROGRAM, "count", 10)
            self.assertEqual(self.blocks()[MAIN_SIZE], 10)
            self.assertNotIn("another program", err, "an end is no exec")

    def test_script(self):
        script = os.path.join(self.folder, "script")
        with open(script, "w") as file:
            file.write(f"#!{PROGRAM} count\n")
        os.chmod(script, 0o755)
        # The words of the first line are one argument: "count" and the path of the script.
        _, events, _ = self.launch(script)
        self.assertEqual(events["program"]["status"], 3)
        self.assertEqual(self.blocks()[EARLY_SIZE], EARLY_COUNT)

    def test_many_arguments(self):
        """They leave nothing of the stack that the kernel has mapped."""
        _, events, _ = self.launch(PROGRAM, "count", 10, *range(20000))
        self.assertEqual((events["program"]["status"], self.blocks()[MAIN_SIZE]), (3, 10))

    def test_python(self):
        self.launch("/usr/bin/python3", "-c", "import os\nfor i in range(50): os.getppid()",
                    options=("--function", "*:getppid"))
        self.assertEqual(self.functions()["getppid"]["calls"], 50)

    def test_a_program_that_it_executes(self):
        """Attached anew when it is there; both are in the file."""
        self.launch_read(b"it executes another program now", PROGRAM, "execute", PROGRAM)
        self.assertEqual(self.blocks()[MAIN_SIZE], 10)
        summary = harness.limpet("report", self.path)
        self.assertEqual(summary.out.count("process "), 2, summary.out)

    def test_programs_that_only_execute_another(self):
        """Exec ends limpet's thread a moment before it replaces the program: this is not the end of the trace."""
        for _ in range(5):
            _, _, err = self.launch_read(b"it executes another program now", "/usr/bin/env", PROGRAM)
            self.assertNotIn("has closed limpet's descriptors", err)
            self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_a_program_that_it_executes_and_that_ends_at_once(self):
        """Too fast for an attach, most times: then it is said."""
        for _ in range(5):
            _, events, err = self.launch(PROGRAM, "execute", "true")
            self.assertEqual(events["program"]["status"], 0)
            self.assertTrue("another program" in err, err)

    def test_a_program_that_it_executes_and_that_cannot_be_attached(self):
        _, _, err = self.launch_slowly("which is not recorded", PROGRAM, "execute",
                                       harness.program("launched_static"), "sleep")
        self.assertIn("statically linked", err)
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_a_child_that_cannot_be_attached_is_not_said_to_have_nothing(self):
        _, _, err = self.launch_slowly("statically linked", "sh", "-c", '"$0" sleep "$1"; exit 0',
                                       harness.program("launched_static"), options=("--hip-trace", "--children"), code=5)
        self.assertNotIn("nothing to trace", err)

    def test_a_library_that_executes_the_program_again(self):
        """It does not come by where it would wait; it is attached to when it runs."""
        _, events, err = self.launch_read(b'"attached"', PROGRAM, env={
            **os.environ, "LD_PRELOAD": harness.program("launched_library.so")})
        self.assertIn("before main()", err)
        self.assertEqual((events["program"]["status"], self.blocks()[MAIN_SIZE]), (0, 5))

    def test_closes_all_descriptors(self):
        """None of them is limpet's, so it is traced to its end."""
        _, events, _ = self.launch_read(b'"attached"', PROGRAM, "close", options=("--alloc-trace",))
        self.assertEqual(events["program"]["status"], 6)
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_periods(self):
        self.launch_read(b'"attached"', PROGRAM, options=("--alloc-trace", "--collection-period", "200ms:3600s:1"))
        blocks = self.blocks()
        self.assertEqual(blocks[MAIN_SIZE], 5)
        self.assertNotIn(EARLY_SIZE, blocks)

    def test_a_duration_ends_the_recording_and_not_the_program(self):
        _, events, _ = self.launch_read(b'"recorded"', PROGRAM, options=("--alloc-trace", "--duration", "300ms"))
        self.assertEqual((events["recorded"]["reason"], events["program"]["status"]), ("duration", 0))
        blocks = self.blocks()
        self.assertEqual(blocks[EARLY_SIZE], EARLY_COUNT)
        self.assertNotIn(MAIN_SIZE, blocks)


class Traces(Launch):
    """What the program can know about it."""

    def sees(self, before, environment, program=PROGRAM):
        result = subprocess.run([*before, program, "self"], capture_output=True, text=True, env=environment,
                                stdin=subprocess.DEVNULL, timeout=DEADLINE_S)
        lines = result.stdout.splitlines()
        code = next(line.split() for line in lines if line.startswith("code"))
        return [line for line in lines if not line.startswith("code")], int(code[1])

    def test_finds_itself_as_ever(self):
        environment = {"PATH": os.environ["PATH"], "LD_BIND_NOW": "1", "SOME": "thing"}
        limpet = [harness.LIMPET, "record", "-o", self.path, "--alloc-trace", "--"]
        plain, _ = self.sees([], environment)
        launched, code = self.sees(limpet, environment)
        self.assertEqual(launched, plain)
        self.assertEqual((launched[0], launched[-1]), ("entry 1", "ended in order"))
        self.assertEqual(code, 1, "the bootstrap code of the agent, and nothing else that is nameless")

    def test_a_static_program_that_is_sampled_finds_itself_as_ever(self):
        environment = {"PATH": os.environ["PATH"], "SOME": "thing"}
        program = harness.program("launched_static")
        plain, _ = self.sees([], environment, program)
        for _ in range(5):
            launched, code = self.sees([harness.LIMPET, "record", "-o", self.path, "--"], environment, program)
            self.assertEqual(launched, plain)
            self.assertEqual((launched[0], launched[-1]), ("entry 1", "ended in order"))
            self.assertEqual(code, 0, "nothing of limpet's is left in it")

    def test_inherits_the_signals_of_whoever_started_limpet(self):
        """Ignored and blocked ones, as a shell or nohup leaves them."""
        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTRAP])
        plain = subprocess.run([PROGRAM, "self"], capture_output=True, text=True, preexec_fn=prepare,
                               restore_signals=False, stdin=subprocess.DEVNULL, timeout=DEADLINE_S).stdout
        out, _, _ = self.launch(PROGRAM, "self", preexec_fn=prepare, restore_signals=False)
        _, events, _ = self.launch(PROGRAM, "count", 1, preexec_fn=prepare, restore_signals=False)
        self.assertEqual(events["program"]["status"], 3)
        wanted = ("SigBlk", "SigIgn")
        self.assertEqual(*([line for line in text.splitlines() if line.startswith(wanted)]
                           for text in (out, plain)))

    def test_grandchildren_know_nothing(self):
        out, events, _ = self.launch(PROGRAM, "spawn", PROGRAM, "self")
        self.assertEqual(events["program"]["status"], 0)
        self.assertIn("entry 1", out)
        self.assertIn("code 0", out)
        self.assertNotIn("LD_PRELOAD", out)
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_reads_its_input(self):
        process = self.start(PROGRAM, "read", stdin=subprocess.PIPE)
        out, err = process.communicate("hello\n", timeout=DEADLINE_S)
        self.assertEqual((process.returncode, out), (0, "read hello\n"), err)

    def test_without_output(self):
        """What is closed stays closed, and nothing of limpet's is taken for it: signals are passed on."""
        def prepare():
            os.close(1)
        wanted = subprocess.Popen([PROGRAM, "wait"], preexec_fn=prepare)
        self.addCleanup(self.end_process, wanted)
        process = subprocess.Popen([harness.LIMPET, "record", "-o", self.path, "--alloc-trace", "--", PROGRAM, "wait"],
                                   stderr=subprocess.PIPE, text=True, preexec_fn=prepare)
        self.addCleanup(self.end_process, process)
        line = process.stderr.readline()
        self.assertIn("recording", line)
        child = int(line.split()[1])
        harness.wait_until(lambda: int(harness.status_of(child)["SigCgt"], 16) & 1 << signal.SIGTERM - 1)
        fds = [set(os.listdir(f"/proc/{pid}/fd")) & {"0", "1", "2"} for pid in (child, wanted.pid)]
        self.assertEqual(fds[0], fds[1])
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("exit status 9", err)

    def test_a_pipe_that_nobody_reads(self):
        """It ends the program, as ever, and not the recording."""
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen(
            [harness.LIMPET, "record", "-o", self.path, "--alloc-trace", "--", PROGRAM, "spawn", "true"],
            stdin=subprocess.DEVNULL, stdout=writer, stderr=writer)
        os.close(writer)
        self.addCleanup(self.end_process, process)
        process.wait(DEADLINE_S)
        self.assertGreaterEqual(process.returncode, 0, "killed by a signal")
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_has_the_terminal(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen(
            [harness.LIMPET, "record", "-o", self.path, "--alloc-trace", "--", PROGRAM, "wait"],
            stdin=slave, stdout=slave, stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.addCleanup(self.end_process, process)
        text = b""
        while b"ready" not in text:
            text += os.read(master, 1024)
        os.write(master, b"\x03")
        while b"signal" not in text:
            text += os.read(master, 1024)
        _, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(b"signal 2", text)
        self.assertEqual(text.count(b"signal 2"), 1)
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)


class Ends(Launch):
    def test_crash(self):
        _, events, _ = self.launch(PROGRAM, "crash")
        self.assertEqual(events["program"]["signal"], signal.SIGABRT)
        self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_its_last_thread_ends(self):
        """Those of limpet's do not keep it alive."""
        for status in (0, 7):
            self.assertEqual(subprocess.run([PROGRAM, "leave", str(status)]).returncode, status)
            _, events, _ = self.launch(PROGRAM, "leave", status)
            self.assertEqual(events["program"]["status"], status)
            self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_another_thread_is_the_last(self):
        """Threads of libc's end with 0, whatever the first one said long before."""
        self.assertEqual(subprocess.run([PROGRAM, "orphan", "7"]).returncode, 0)
        _, events, _ = self.launch(PROGRAM, "orphan", 7)
        self.assertEqual(events["program"]["status"], 0)

    def test_signals_to_limpet_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start(PROGRAM, "wait")
            self.assertTrue(process.stdout.readline().startswith("ready"))
            process.send_signal(number)
            out, events, _ = self.finish(process)
            self.assertEqual((out, events["program"]["status"]), (f"signal {int(number)}\n", 9))
            self.assertEqual(self.blocks()[MAIN_SIZE], 5)

    def test_nothing_called(self):
        _, events, err = self.launch(PROGRAM, "count", 0, options=("--function", "*:no_such_function"), code=5)
        self.assertEqual(events["program"]["status"], 3)
        self.assertIn("nothing was recorded", err)

    def test_ends_before_it_begins(self):
        """The dynamic linker refuses it."""
        _, events, err = self.launch(PROGRAM, "count", 1, env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, code=4)
        self.assertIn("ended before it began: exit status 0", err)
        self.assertFalse(os.path.exists(self.path))


class Refusals(Launch):
    def refuse(self, *command, code, words, **more):
        _, events, err = self.launch(*command, code=code, **more)
        for word in words:
            self.assertIn(word, err)
        self.assertFalse(os.path.exists(self.path), "a file was left")
        return err

    def test_programs_that_are_none(self):
        plain = os.path.join(self.folder, "plain")
        with open(plain, "w") as file:
            file.write("#!/no/such/interpreter\n")
        self.refuse("no_such_program_anywhere", code=1, words=["there is no such program", "PATH"])
        self.refuse("./no_such_program", code=1, words=["there is no such program"])
        self.refuse(plain, code=1, words=["Permission denied"])
        os.chmod(plain, 0o755)
        self.refuse(plain, code=1, words=["interpreter"])
        self.refuse(self.folder, code=1, words=["Permission denied"])

    def test_static(self):
        mark = os.path.join(self.folder, "mark")
        self.refuse(harness.program("launched_static"), "mark", mark, 0, code=6,
                    words=["statically linked", "it was not run", "fix: limpet record -- PROGRAM, without traces"])
        self.assertFalse(os.path.exists(mark))

    @unittest.skipUnless(harness.runs("plain_musl"), "no musl here")
    def test_musl(self):
        self.refuse(harness.program("plain_musl"), code=6, words=["musl", "it was not run"])

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_rights_of_its_own(self):
        program = os.path.join(self.folder, "setuid")
        mark = os.path.join(self.folder, "mark")
        os.chmod(self.folder, 0o777)
        with open(PROGRAM, "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.refuse(program, "mark", mark, 0, code=3, words=["gains rights when it starts", "it was not run"])
        self.assertFalse(os.path.exists(mark))

    def test_words_that_do_not_fit(self):
        for words in (["-p", "1", "--alloc-trace", "--", "ls"], ["--alloc-trace", "--"],
                      ["--alloc-trace", "4711", "--", "ls"]):
            self.assertEqual(harness.limpet("record", *words).code, 2, words)


class Deaths(Launch):
    """Whoever is killed, whenever: the program runs to its end, or it never began."""

    def kill_at(self, name, number, program=PROGRAM, options=("--alloc-trace", "--force")):
        mark = os.path.join(self.folder, f"{name}-{number}")
        result = subprocess.run(
            [harness.program("kill_at"), name, str(number), harness.LIMPET, "record", "-o", self.path,
             *options, "--", program, "mark", mark, "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            timeout=DEADLINE_S)
        if result.returncode == 77:
            self.skipTest("no seccomp filters with a listener here")
        # kill_at ends when nobody is left under the filter: the program too has ended.
        text = ""
        if os.path.exists(mark):
            with open(mark) as file:
                text = file.read()
        self.assertIn(text, ("", "begun\nended\n"), f"{name} killed at its call {number}")
        return "not killed" not in result.stdout, text

    def kill_at_some(self, name, numbers, **more):
        """How often the program ran, and never began, when somebody was killed."""
        ran = never = 0
        for number in numbers:
            was_killed, text = self.kill_at(name, number, **more)
            ran, never = ran + (was_killed and bool(text)), never + (was_killed and not text)
        return ran, never

    def test_injector(self):
        """limpet then does not let the program begin."""
        ran, never = self.kill_at_some("limpet-injector", range(1, 54, 3))
        self.assertEqual(ran, 0)
        self.assertGreater(never, 5)

    def test_injector_before_a_static_program_that_is_sampled(self):
        ran, never = self.kill_at_some("limpet-injector", range(1, 54, 3), options=(),
                                       program=harness.program("launched_static"))
        self.assertEqual(ran, 0)
        self.assertGreater(never, 1)

    def test_limpet(self):
        ran, _ = self.kill_at_some("limpet", range(1, 28, 2))
        self.assertGreater(ran, 0)


if __name__ == "__main__":
    unittest.main()
