#!/usr/bin/env python3
"""
Hostile targets and strangers, again and again, while limpet attaches, traces, samples, dumps, asks and detaches.
After each round nobody may have escaped or gained a right, no well-behaved program may have died, no command may
have hung or crashed or left a process behind, no file may have been touched that is none of limpet's business, and no
control character of a target's may have reached the terminal.

What is done in a round follows from --seed and its number (--round does one alone); when it is done does not.
"""

import argparse
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common")]

import driving  # noqa: E402
import harness  # noqa: E402
import progress  # noqa: E402
from report import Report  # noqa: E402

BUILD = HERE.parent.parent / "build"
ADVERSARY = pathlib.Path(os.environ.get("ADVERSARY", BUILD / "tests/adversary/programs"))
REGISTER = pathlib.Path(os.environ.get("REGISTER", BUILD / "compat/register/librocprofiler-register.so.0"))
SDK = pathlib.Path(os.environ.get("SDK", BUILD / "src/target/librocprofiler-sdk.so.1"))
TOOL = pathlib.Path(harness.program("life_a.so"))
HER, STRANGER = 1234, 65534
DOCKER = 0xa80425fb  # capabilities of its containers
LIMIT_S = 90  # of one command of limpet's
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
CODES = set(range(9))

# A program that does these is unusual, and must live on.
GENTLE = ("exec", "fork", "names", "threads", "filter", "unshare", "setns")
# One that does these may fall over its own feet.
HARSH = ("close", "replace", "sockets", "scribble", "forge", "chroot", "exit")
WELL_BEHAVED = (("plain", "malloc8"), ("plain", "busy"), ("calls", "epoll"), ("plain", "idle"))


def as_user(uid):
    return () if uid == 0 else (
        "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all")


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def session_members(sid):
    """Living processes of a session: what a command has left behind."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(words[3]) == sid and words[0] not in "ZX":
            found.append(int(pid))
    return found


class Ground:
    """Copies of the programs where every user may run them, and canaries where nobody may look."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="adversary-")
        self.path = pathlib.Path(self.folder.name)
        os.chmod(self.path, 0o755)
        for name in ("hostile", "stranger", "reborn", "hostile_library.so"):
            shutil.copy(ADVERSARY / name, self.path)
        shutil.copy(self.path / "hostile", self.path / "hostile-setuid")
        os.chmod(self.path / "hostile-setuid", 0o4755)
        for source, name in ((REGISTER, "librocprofiler-register.so.0"), (SDK, "librocprofiler-sdk.so.1"),
                             (harness.LIMPET, "limpet"), (TOOL, "tool.so")):
            shutil.copy(source, self.path / name)
        self.secret = self.path / "secret"
        self.secret.mkdir(mode=0o700)
        self.canary = self.secret / "canary"
        for name in ("canary", "other"):
            (self.secret / name).write_bytes(os.urandom(64))
            os.chmod(self.secret / name, 0o600)
        self.report = self.path / "gained"
        self.report.write_text("")
        os.chmod(self.report, 0o666)
        self.output = self.path / "output"
        self.output.mkdir()
        self.roots = self.path / "roots"
        self.roots.mkdir()
        os.chmod(self.roots, 0o777)
        self.strangers_own = self.path / "strangers"
        self.strangers_own.mkdir()
        os.chown(self.strangers_own, STRANGER, STRANGER)
        self.before = self.look()

    def look(self):
        """Everything about the files that must stay as they are."""
        files = [*self.secret.iterdir(), *(self.path / name for name in ("limpet", "tool.so", "hostile"))]
        found = {}
        for path in sorted(files):
            stat = path.lstat()
            found[path.name] = (stat.st_mtime_ns, stat.st_mode, stat.st_uid, stat.st_size,
                                hashlib.sha256(path.read_bytes()).hexdigest())
        return found

    def problem(self):
        now = self.look()
        touched = sorted(name for name in now.keys() | self.before.keys() if now.get(name) != self.before.get(name))
        self.before = now
        if touched:
            return f"touched: {', '.join(touched)}"
        if self.report.read_text():
            self.report.write_text("")
            return "a library of hers ran as root"
        return None

    def clear(self):
        for folder in (self.output, self.strangers_own):
            for path in folder.iterdir():
                path.unlink()


class Target:
    """A hostile program."""

    def __init__(self, ground, seed, deeds, uid=0, listens=False):
        self.deeds, self.uid, self.said = deeds, uid, ""
        variables = [f"HOSTILE_REPORT={ground.report}"]
        if listens:
            variables += [f"LD_PRELOAD={ground.path}/librocprofiler-register.so.0", "ROCP_TOOL_ATTACH=1"]
        self.process = subprocess.Popen(
            [*as_user(uid), "env", *variables, str(ground.path / "hostile"), str(seed), str(ground.canary),
             ",".join(deeds)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=ground.roots)
        self.pid = self.process.pid
        os.set_blocking(self.process.stdout.fileno(), False)
        self.is_ready = harness.wait_until(lambda: "ready" in self.listen() or self.process.poll() is not None)

    def listen(self):
        self.said += (self.process.stdout.read() or b"").decode(errors="replace")
        return self.said

    def must_live(self):
        return not set(self.deeds) & set(HARSH)

    def rights_problem(self):
        """A thread with more rights than the program, which may take a moment to leave."""
        ids = {}

        def differ():
            ids.clear()
            for tid in harness.threads_of(self.pid):
                status = harness.status_of(self.pid, tid)
                if status and status["State"][0] not in "ZX":
                    ids[tid] = tuple(status[key] for key in ("Uid", "Gid", "CapEff", "CapPrm", "Seccomp"))
            return len(set(ids.values())) > 1

        if not harness.wait_until(lambda: not differ(), 20):
            return f"threads with different rights: {sorted(set(ids.values()))}"
        wrong = [each for each in set(ids.values())
                 if self.uid and "setuid" not in self.deeds and (
                     set(each[0].split()) != {str(self.uid)} or int(each[2], 16))
                 or "container" in self.deeds and int(each[3], 16) & ~DOCKER]
        return f"more rights than it should have: {wrong}" if wrong else None

    def problem(self):
        harness.wait_until(lambda: "settled" in self.listen() or self.process.poll() is not None)
        if "ESCAPED" in self.listen():
            return self.said[self.said.index("ESCAPED"):].splitlines()[0]
        if self.process.poll() is None:
            return self.rights_problem()
        if self.must_live():
            code = self.process.returncode
            return f"it died: {signal.Signals(-code).name if code < 0 else code}"
        return None


class Round:
    """One round: its dice, what it did, and what was wrong."""

    def __init__(self, ground, seed, number):
        self.ground, self.number = ground, number
        self.dice = random.Random(f"{seed}:{number}")
        self.story, self.problems, self.commands = [], [], []

    # What limpet is told to do.

    def command(self, pid, verbs=None):
        duration = f"{self.dice.choice((0, 1, 50, 300))}ms"
        output = self.ground.output / f"{len(self.commands)}.limpet"
        choices = {
            "attach": ("attach", pid, "--json", "--duration", duration),
            "tool": ("attach", pid, "--json", "--duration", duration, "--tool", self.ground.path / "tool.so"),
            "stay": ("attach", pid, "--duration", "500ms", "--tool", self.ground.path / "tool.so"),
            "unload": ("attach", pid, "--unload", "--duration", duration, "--tool", self.ground.path / "tool.so"),
            "trace": ("record", "-p", pid, "--alloc-trace", "--io-trace", "--lock-trace", "--duration", duration,
                      "-o", output),
            "sample": ("record", "-p", pid, "--duration", duration, "-o", output),
            "both": ("record", "-p", pid, "-F", "499", "--alloc-trace", "--duration", duration, "-o", output),
            "dump": ("dump", pid),
            "status": ("status", pid),
            "status json": ("status", pid, "--json"),
            "doctor": ("doctor", pid),
            "ps": ("ps",),
            "top": ("top", pid, "--batch", "-d", "100ms"),
            "detach": ("detach", pid, *self.dice.choice(((), ("--unload",)))),
        }
        name = self.dice.choice(verbs or sorted(choices))
        return name, choices[name]

    def start(self, pid, uid=0, verbs=None, arguments=None, cwd=None):
        name, command = (arguments[0], arguments) if arguments else self.command(pid, verbs)
        self.story.append(name)
        process = subprocess.Popen(
            [*as_user(uid), str(self.ground.path / "limpet"), *map(str, command)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape",
            start_new_session=True, cwd=cwd)
        self.commands.append(process)
        return name, process

    def finish(self, name, process):
        result = harness.limpet_finish(process, LIMIT_S)
        shown = UNPRINTABLE.search(result.out) or UNPRINTABLE.search(result.err)
        if result.hung:
            self.problems.append(f"{name}: hung for {LIMIT_S} s")
        elif result.code not in CODES:
            self.problems.append(f"{name}: limpet ended with {result.code}: {result.err[-300:]}")
        elif result.code and not result.err.strip() and name != "doctor":
            self.problems.append(f"{name}: exit {result.code} without a word")
        if shown:
            self.problems.append(f"{name}: shows {shown.string[max(0, shown.start() - 20):shown.end() + 20]!r}")
        if not harness.wait_until(lambda: not session_members(process.pid), 10):
            self.problems.append(f"{name}: left behind {session_members(process.pid)}")
        return result

    def disturb(self, pid, uid=0, verbs=None):
        """One to three commands, at times two at once."""
        for _ in range(self.dice.randint(1, 3)):
            time.sleep(self.dice.uniform(0, 0.05))
            together = [self.start(pid, uid, verbs) for _ in range(self.dice.choice((1, 1, 2)))]
            for name, process in together:
                self.finish(name, process)

    # Kinds of rounds.

    def hostile(self, deeds, uid=0, verbs=None):
        listens = "container" not in deeds and self.dice.random() < 0.25
        self.story.append(f"{'+'.join(deeds)} as {uid}{', listening' if listens else ''}:")
        target = Target(self.ground, self.dice.randrange(1, 1 << 30), deeds, uid, listens)
        try:
            if not target.is_ready or target.process.poll() == harness.SKIP:
                self.story.append("could not begin")
                return
            self.disturb(target.pid, uid if self.dice.random() < 0.5 else 0, verbs)
            self.note(target.problem())
        finally:
            if not target.must_live():
                progress.visited.pop(target.pid, None)
            end(target.process)

    def note(self, problem):
        if problem:
            self.problems.append(problem)

    def gentle(self):
        self.hostile(self.dice.sample(GENTLE, self.dice.randint(1, 2)), self.dice.choice((0, HER)))

    def dropping(self):
        """The program has one thread, and gives up being root."""
        self.hostile(["drop"], 0, ("stay", "stay", "tool", "trace", "both"))

    def harsh(self):
        self.hostile([*self.dice.sample(HARSH, self.dice.randint(1, 2)), *self.dice.sample(GENTLE, 1)],
                     self.dice.choice((0, HER)))

    def container(self):
        self.hostile(["container", "escape", *self.dice.sample(("fork", "names", "close", "exit"), 1)], 0,
                     ("attach", "tool", "unload", "trace", "both"))

    def setuid(self):
        """Her limpet, her library, and a program that is root's for a moment."""
        self.story.append("setuid as her:")
        target = Target(self.ground, self.dice.randrange(1, 1 << 30), ["setuid"], HER)
        try:
            for _ in range(self.dice.randint(2, 4)):
                time.sleep(self.dice.uniform(0, 0.1))
                self.finish(*self.start(target.pid, HER, arguments=(
                    "attach", target.pid, "--duration", "0", "--load", self.ground.path / "hostile_library.so")))
            self.note(target.problem())
        finally:
            end(target.process)

    def reborn(self):
        self.story.append("a number that many have:")
        process = subprocess.Popen([str(self.ground.path / "reborn"), str(self.dice.randrange(1 << 30))], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.disturb(int(process.stdout.readline()))
            process.stdin.write("end\n")
            process.stdin.flush()
            last = process.stdout.readline().strip()
            if last not in ("0 died", "cannot choose a number"):
                self.problems.append(f"of the processes with that number {last}")
        finally:
            end(process)

    def well_behaved(self):
        name = self.dice.choice(WELL_BEHAVED)
        self.story.append(f"{' '.join(name)}:")
        with harness.Workload(*name) as target:
            self.disturb(target.pid)
            self.note(driving.workload_problem(target, seconds=harness.progress.PROGRESS_S))

    def strangers(self):
        """Root records a program while a stranger swaps files in the folder where it does."""
        self.story.append("strangers:")
        with harness.Workload(*self.dice.choice(WELL_BEHAVED)) as target:
            stranger = subprocess.Popen(
                [*as_user(STRANGER), str(self.ground.path / "stranger"), str(self.ground.strangers_own),
                 str(self.ground.canary), str(target.pid)], stdout=subprocess.PIPE, text=True)
            try:
                stranger.stdout.readline()
                for _ in range(self.dice.randint(1, 3)):
                    trace = self.dice.choice(((), ("--alloc-trace",)))
                    result = self.finish(*self.start(target.pid, arguments=(
                        "record", "-p", target.pid, "--duration", "100ms", *trace),
                        cwd=self.ground.strangers_own))
                    if result.code == harness.BUSY:
                        self.problems.append(f"a stranger kept root out: {result.err[-300:]!r}")
                self.note(driving.workload_problem(target, seconds=harness.progress.PROGRESS_S))
            finally:
                end(stranger)

    def run(self, kind):
        try:
            getattr(self, kind)()
        except harness.Unavailable as reason:
            self.story.append(f"({reason})")
        finally:
            for process in self.commands:
                end(process)
        self.note(self.ground.problem())
        self.ground.clear()


KINDS = ("gentle", "harsh", "container", "setuid", "reborn", "well_behaved", "strangers", "dropping")


class Stress:
    def __init__(self, seed):
        self.seed, self.report = seed, Report()
        self.ground = Ground()

    def one(self, number, bystanders):
        kind = KINDS[number % len(KINDS)]
        this = Round(self.ground, self.seed, number)
        this.run(kind)
        for each in bystanders:
            problem = driving.workload_problem(each)
            if problem:
                this.problems.append(f"a bystander: {problem}")
        name = f"{number} {kind}: {' '.join(map(str, this.story))}"
        self.report.check(name, "; ".join(this.problems))
        if this.problems:
            print(f"    again: --seed {self.seed} --round {number}", flush=True)

    def rounds(self, numbers, seconds):
        finish = time.monotonic() + seconds
        with harness.Workload("plain", "idle") as idle, harness.Workload("calls", "epoll") as busy:
            for number in numbers:
                if time.monotonic() > finish:
                    break
                self.one(number, (idle, busy))
        self.ground.folder.cleanup()
        return self.report.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=1800, help="how long (1800)")
    parser.add_argument("--seed", type=int, help="what is done (default: by the clock)")
    parser.add_argument("--round", type=int, help="only this one")
    parser.add_argument("--short", action="store_true", help="two rounds of each kind, always the same")
    options = parser.parse_args()
    if os.geteuid():
        print("ok adversary # skip needs root to become others\n\n0 passed, 0 failed, 1 skipped")
        return harness.SKIP
    seed = options.seed if options.seed is not None else 1 if options.short else int(time.time())
    print(f"seed {seed}", flush=True)
    if options.round is not None:
        numbers = [options.round]
    else:
        numbers = range(2 * len(KINDS)) if options.short else range(1 << 30)
    return Stress(seed).rounds(numbers, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
