"""
What happens at the worst moment: numbers of processes that become another's, programs that are executed with more
rights, targets that do not answer when limpet is asked to end.
"""

import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from harness import (LIMPET, PATIENCE_S, TargetTest, attached_wait, limpet, limpet_finish, limpet_mappings, limpet_start,
                     status_of, wait_until)

ADVERSARY = os.environ.get("ADVERSARY", ".")
IS_ROOT = os.geteuid() == 0
NOBODY = 65534
# A second is what limpet has; the rest is the machine's, which may be busy.  Without it some would wait for ever.
SOON_S = 10


def adversary(name):
    return os.path.join(ADVERSARY, name)


class Moment(TargetTest):
    def start(self, *command, **options):
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, **options)
        self.addCleanup(self.end_process, process)
        return process

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="moments-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        return folder.name


class SecondSignal(Moment):
    """Who asks twice is not kept waiting, whatever a target does; and the target is well."""

    def ask_twice(self, process, between=lambda: time.sleep(1)):
        process.send_signal(signal.SIGINT)
        between()
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        result = limpet_finish(process, SOON_S)
        self.assertFalse(result.hung, result)
        self.assertLess(time.monotonic() - begun, SOON_S)
        return result

    def test_a_stopped_target(self):
        sleeper = self.start("sleep", 1000)
        process = limpet_start("attach", sleeper.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertIn("attached", process.stdout.readline())
        sleeper.send_signal(signal.SIGSTOP)
        result = self.ask_twice(process)
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, "interrupted before the agent had answered|second signal")
        sleeper.send_signal(signal.SIGCONT)
        rests = lambda: limpet("status", sleeper.pid, "--json").event("status").get("state") == "resting"
        self.assertTrue(wait_until(rests))
        self.assertIsNone(sleeper.poll())

    def test_once_is_not_twice(self):
        sleeper = self.start("sleep", 1000)
        process = limpet_start("attach", sleeper.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertIn("attached", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        result = limpet_finish(process)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.event("detached")["reason"], "signal")

    def test_one_wish_that_is_heard_twice(self):
        """As from timeout(1), which signals the process and its group."""
        spinner = self.start("yes", stdout=subprocess.DEVNULL)
        for delay_s in (0, 0.001, 0.01):
            process = limpet_start("record", "-p", spinner.pid, "-o", os.path.join(self.folder(), "x.limpet"))
            self.addCleanup(self.end_process, process)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            time.sleep(delay_s)
            process.send_signal(signal.SIGINT)
            result = limpet_finish(process)
            self.assertNotIn("second signal", result.err)
            self.assertNotIn("interrupted", result.err)


class Holders(Moment):
    """Who holds a process stands in that process's memory, which it may change."""

    def held(self):
        sleeper = self.start("sleep", 1000)
        process = limpet_start("attach", sleeper.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertTrue(attached_wait(process))
        return sleeper, process

    def start_tick(self, pid):
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[19])

    def rename_holder(self, pid, before, after):
        """Writes another one's number and time into the page of the agent."""
        pairs = [
            (struct.pack("<i", before), struct.pack("<i", after)),
            (struct.pack("<Q", self.start_tick(before)), struct.pack("<Q", self.start_tick(after))),
        ]
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            for line in maps:
                if "limpet-agent" not in line or " rw" not in line:
                    continue
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                memory.seek(start)
                old = memory.read(end - start)
                page = old.find(b"limpet")
                new = old
                for was, becomes in pairs:
                    at = new.find(was, max(page, 0))
                    new = new[:at] + becomes + new[at + len(was):] if at >= 0 else new
                for at in (i for i in range(0, len(old), 4) if old[i:i + 4] != new[i:i + 4]):
                    memory.seek(start + at)
                    memory.write(new[at:at + 4])

    def test_another_limpet_gets_no_signal(self):
        _, innocent = self.held()
        liar, its_own = self.held()
        self.rename_holder(liar.pid, its_own.pid, innocent.pid)
        told = limpet("status", liar.pid, "--json").event("status")
        self.assertIn(str(innocent.pid), str(told))
        result = limpet("detach", liar.pid)
        self.assertEqual(result.code, 7, str(result))
        time.sleep(0.5)
        self.assertIsNone(innocent.poll())
        its_own.send_signal(signal.SIGINT)
        self.assertEqual(limpet_finish(its_own).code, 0)

    def test_its_own_limpet_does(self):
        sleeper, process = self.held()
        result = limpet("detach", sleeper.pid)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(limpet_finish(process).code, 0)
        self.assertIsNone(sleeper.poll())


class FakeMachines(Moment):
    """What says that it is a Java virtual machine, and is not."""

    def machine(self, mode):
        folder = self.folder()
        library = os.path.join(folder, "libjvm.so")
        with open(library, "wb") as file:
            file.write(b"\0gHotSpotVMStructs\0".ljust(4096, b"\0"))
        machine = self.start(adversary("fake_machine"), library, mode, stdout=subprocess.PIPE, text=True)
        self.assertEqual(machine.stdout.readline(), "ready\n")
        for name in ("java", "attach"):
            self.addCleanup(self.remove, f"/tmp/.{name}_pid{machine.pid}")
        return machine

    def remove(self, path):
        if os.path.lexists(path):
            os.unlink(path)

    def record_until_woken(self, machine):
        process = limpet_start(
            "record", "-p", machine.pid, "--java-names", "--off-cpu", "-o", os.path.join(self.folder(), "x.limpet")
        )
        self.addCleanup(self.end_process, process)
        self.assertEqual(machine.stdout.readline(), "woken\n")
        return process

    def test_one_that_never_answers(self):
        for mode in ("silent", "mute"):
            with self.subTest(mode=mode):
                machine = self.machine(mode)
                process = self.record_until_woken(machine)
                begun = time.monotonic()
                process.send_signal(signal.SIGINT)
                process.send_signal(signal.SIGINT)
                time.sleep(1)
                process.send_signal(signal.SIGINT)
                result = limpet_finish(process, SOON_S)
                self.assertFalse(result.hung, result)
                self.assertLess(time.monotonic() - begun, SOON_S)
                trigger = f"/tmp/.attach_pid{machine.pid}"
                self.assertTrue(wait_until(lambda: not os.path.exists(trigger)))
                self.assertIsNone(machine.poll())

    def test_one_that_answers_without_an_end(self):
        machine = self.machine("endless")
        result = limpet("dump", machine.pid, "--java-names")
        self.assertFalse(result.hung, result)
        self.assertNotIn("\033", result.out + result.err)
        self.assertIn("it answered", result.err)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_socket_of_somebody_else(self):
        """A stranger's socket under the machine's name is not spoken to, nor is a link followed to one."""
        machine = self.machine("silent")
        path = f"/tmp/.java_pid{machine.pid}"
        stranger = self.start(
            "python3", "-c",
            "import os, socket, sys\n"
            f"os.setuid({NOBODY})\n"
            "server = socket.socket(socket.AF_UNIX)\n"
            "server.bind(sys.argv[1])\n"
            "server.listen()\n"
            "print('ready', flush=True)\n"
            "server.accept()\n"
            "print('visited', flush=True)\n", path,
            stdout=subprocess.PIPE, text=True,
        )
        self.assertEqual(stranger.stdout.readline(), "ready\n")
        process = limpet_start("dump", machine.pid, "--java-names")
        self.addCleanup(self.end_process, process)
        self.assertEqual(machine.stdout.readline(), "woken\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertFalse(limpet_finish(process, SOON_S).hung)
        stranger.kill()
        self.assertEqual(stranger.stdout.read(), "")


@unittest.skipUnless(IS_ROOT and shutil.which("strace"), "needs root and strace")
class Numbers(Moment):
    """A process ends while limpet looks at it, and another one gets its number."""

    def attach_late(self, first, path):
        """limpet stands still for some seconds after it opened this file of the first one."""
        tracer = self.start(
            "strace", "-qq", "-o", "/dev/null", "-P", path, "-e", "trace=openat", "-e",
            "inject=openat:delay_exit=3000000:when=1", LIMPET, "attach", first.pid, "--duration", "1ms",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        found = lambda: any(
            status_of(pid).get("TracerPid") == str(tracer.pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
        )
        self.assertTrue(wait_until(found))
        time.sleep(1)
        return tracer

    def test_the_namesake_is_left_alone(self):
        first = self.start("sleep", 1000)
        path = f"/proc/{first.pid}/maps"
        tracer = self.attach_late(first, path)
        first.kill()
        first.wait()
        second = self.start(adversary("namesake"), first.pid, "sleep", 1000, stderr=subprocess.PIPE, text=True)
        if not wait_until(lambda: status_of(first.pid).get("Name") == "sleep", 1):
            self.skipTest("the number cannot be had again: " + (second.stderr.readline() if second.poll() else ""))
        out, err = tracer.communicate(timeout=PATIENCE_S)
        self.assertEqual(limpet_mappings(first.pid), [])
        os.kill(first.pid, signal.SIGKILL)
        self.assertEqual(tracer.returncode, 4, out + err)


@unittest.skipUnless(IS_ROOT and shutil.which("setpriv"), "needs root and setpriv")
class MoreRights(Moment):
    """A user's program executes one with root's rights while his limpet is there."""

    def setUp(self):
        folder = self.folder()
        os.chmod(folder, 0o777)
        self.file = os.path.join(folder, "x.limpet")
        self.limpet = shutil.copy(LIMPET, folder)
        self.mighty = shutil.copy(os.path.realpath(shutil.which("sleep")), os.path.join(folder, "mighty"))
        os.chmod(self.mighty, 0o4755)
        self.user = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        self.climber = self.start(
            *self.user, "sh", "-c", 'read line; exec "$0" 1000', self.mighty, stdin=subprocess.PIPE
        )

    def start(self, *command, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(list(map(str, command)), **options)
        self.addCleanup(self.end_process, process)
        return process

    def climb(self):
        self.climber.stdin.write(b"\n")
        self.climber.stdin.flush()
        self.assertTrue(wait_until(lambda: status_of(self.climber.pid).get("Name") == "mighty"))
        if status_of(self.climber.pid)["Uid"].split()[1] != "0":
            self.skipTest("setuid has no effect here")

    def visit(self, *arguments, by_root=False):
        pid = str(self.climber.pid)
        self.assertTrue(wait_until(lambda: status_of(pid).get("Name") in ("sh", "mighty")))
        return self.start(
            *([] if by_root else self.user), self.limpet, *[pid if word == "PID" else word for word in arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def end(self, process):
        result = limpet_finish(process)
        self.assertFalse(result.hung, result)
        self.assertIsNone(self.climber.poll())
        return result

    def test_a_users_attach_ends(self):
        process = self.visit("attach", "PID", "--json")
        self.assertIn('"attached"', process.stdout.readline())
        self.climb()
        process.send_signal(signal.SIGINT)
        self.end(process)
        self.assertEqual(limpet_mappings(self.climber.pid), [])
        self.assertEqual(limpet("attach", self.climber.pid, "--duration", "1ms").code, 0)  # by root

    def test_a_users_recording_sees_nothing_of_it(self):
        for sampler in ("copy", "read"):
            with self.subTest(sampler=sampler):
                self.setUp()
                process = self.visit(
                    "record", "-p", "PID", "-o", self.file, "--off-cpu", "--sampler", sampler, "--duration", "3s",
                    "--json",
                )
                line = process.stdout.readline()
                if not line.startswith('{"event":"attached"'):
                    self.skipTest(f"{sampler} is not to be had by users here")
                self.climb()
                self.end(process)
                names = subprocess.run(
                    [LIMPET, "export", self.file, "-f", "folded", "-o", "-"], capture_output=True, text=True
                ).stdout
                self.assertNotIn("nanosleep", names)  # its name is no secret, its stack is

    def test_roots_recording_goes_on(self):
        process = self.visit(
            "record", "-p", "PID", "-o", self.file, "--off-cpu", "--duration", "2s", "--json", by_root=True
        )
        self.assertIn('"attached"', process.stdout.readline())
        self.climb()
        self.assertIn(self.end(process).code, (0, 5))

    def test_a_users_dump_is_refused(self):
        self.climb()
        result = self.end(self.visit("dump", "PID"))
        self.assertEqual(result.code, 3, result)
        self.assertNotIn("clock_nanosleep", result.out)


if __name__ == "__main__":
    unittest.main()
