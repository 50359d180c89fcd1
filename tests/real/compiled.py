#!/usr/bin/env python3
"""Programs of Debian that compile while they run, sampled: node, WebAssembly in node, java, guile, erlang and luajit.

  tests/real/compiled.py [node|wasm|java|guile|erlang|luajit]...

Of node's stacks at least 99.5 % must reach the root, with and without its perf map; with the map its
functions have their names; so have those of WebAssembly, in the order of the module's calls. Java is asked for its
names by its own attach protocol; of its stacks, without frame pointers, at least 99 % must reach the root on both
samplers, and none may be wrong (java_stacks.py). Code of Erlang keeps no frames: such stacks must not be called
complete.
LIMPET names the limpet to test. Ends with "N passed, N failed".
"""

import glob
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

import java_stacks
from progress import Progress
from report import Report
from wasm_chain import wasm_chain

LIMPET = os.environ.get("LIMPET", "limpet")
PROGRAMS = HERE / "programs"
PATIENCE_S = 300
WARM_S = 2.0  # of processor time: the compilers have done their work
BUSY_S = 4.0
GOES_ON_S = 3.0
LEAST_COMPLETE = 99.5
APART = "--no-turbo-inlining"  # each function has code of its own


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu(pid, seconds, *others):
    """Until it has had so much more processor time, or one of the others has ended."""
    begin, end = cpu_seconds(pid), time.monotonic() + PATIENCE_S
    while cpu_seconds(pid) - begin < seconds and all(other.poll() is None for other in others):
        if time.monotonic() > end:
            raise TimeoutError(f"{pid} had no {seconds} s of processor time in {PATIENCE_S} s")
        time.sleep(0.05)


class Trial:
    """A live program; what limpet says about a recording of it."""

    def __init__(self, *command, user=None, folder="/"):
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        self.folder = tempfile.mkdtemp(prefix="limpet-compiled-")
        self.process = subprocess.Popen([*as_user, *map(str, command)], cwd=folder, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid

    def __enter__(self):
        wait_for_cpu(self.pid, WARM_S, self.process)
        return self

    def __exit__(self, *_):
        problem = Progress(self.pid, process=self.process).problem(GOES_ON_S)
        self.end()
        if problem:
            raise AssertionError(problem)

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)
        for left in glob.glob(f"/tmp/perf-{self.pid}.map") + glob.glob(f"/tmp/.java_pid{self.pid}"):
            os.unlink(left)

    def record(self, *options):
        path = os.path.join(self.folder, "it.limpet")
        limpet = subprocess.Popen([LIMPET, "record", "-p", str(self.pid), "-o", path, "--json", "-F", "499",
                                   *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for_cpu(self.pid, BUSY_S, limpet, self.process)
            limpet.send_signal(2)
            out, err = limpet.communicate(timeout=PATIENCE_S)
        finally:
            limpet.kill()
        if limpet.returncode:
            raise RuntimeError(f"limpet record ended with {limpet.returncode}: {err.strip()[-300:]}")
        report = subprocess.run([LIMPET, "report", path, "--json"], capture_output=True, text=True, check=True)
        events = [json.loads(line) for line in out.splitlines()]
        self.path = path
        return next(e for e in events if e["event"] == "recorded"), \
            {e["name"]: e for line in report.stdout.splitlines()
             if (e := json.loads(line))["event"] == "sampled_function"}


def complete_problem(told, least=LEAST_COMPLETE):
    if told["samples"] < 500:
        return f"only {told['samples']} samples"
    if told["complete_percent"] < least:
        return f"{told['complete_percent']} % complete of {told['samples']}: {told['stacks']}"
    return None


def name_problem(functions, wanted):
    hot = {name: f["total_percent"] for name, f in functions.items() if f["total_percent"] > 1}
    missing = [name for name in wanted if not any(name in known for known in hot)]
    return f"not among the hot functions: {missing}; there are {sorted(hot)[:20]}" if missing else None


def try_node(report):
    node = shutil.which("node")
    if not node:
        report.skip("node", "not installed")
        return
    for option in ([], ["--perf-basic-prof"], ["--interpreted-frames-native-stack", "--perf-basic-prof"]):
        option = option and [*option, APART]
        name = " ".join(["node", *option])
        with tempfile.TemporaryDirectory() as folder, Trial(node, *option, PROGRAMS / "hot.js", folder=folder) as it:
            told, functions = it.record()
            report.check(f"{name}: stacks reach the root", complete_problem(told),
                         f"{told['complete_percent']} % of {told['samples']}, by {told['sampler']}")
            if option:
                report.check(f"{name}: functions by name",
                             name_problem(functions, ["outerWork", "middleStep", "innerLoop"]))
    with tempfile.TemporaryDirectory() as folder, \
            Trial(node, "--perf-prof", APART, PROGRAMS / "hot.js", folder=folder) as it:
        told, functions = it.record()
        report.check("node --perf-prof: names from its jitdump",
                     name_problem(functions, ["outerWork", "innerLoop"]))


def chain_problem(path, chain):
    """Every stack with the innermost function of a chain has the others before it."""
    folded = subprocess.run([LIMPET, "export", path, "-f", "folded", "-o", "-"], capture_output=True, text=True, check=True)
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in folded.stdout.splitlines()]
    ways = [[name for name in stack if any(part in name for part in chain)] for stack in stacks if any(chain[-1] in name for name in stack)]
    wrong = [way for way in ways if len(way) != len(chain) or any(part not in name for part, name in zip(chain, way))]
    return f"{len(wrong)} of {len(ways)} differ: {wrong[:2]}" if wrong or not ways else None


def try_wasm(report):
    node, chain = shutil.which("node"), ["wasm_outer", "wasm_middle", "wasm_leaf"]
    if not node:
        report.skip("WebAssembly in node", "not installed")
        return
    for option in ([], ["--perf-basic-prof"], ["--perf-prof"]):
        name = " ".join(["WebAssembly in node", *option])
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder) / "chain.wasm"
            module.write_bytes(wasm_chain())
            with Trial(node, *option, PROGRAMS / "wasm.js", module, folder=folder) as it:
                for sampler in ("bpf", "copy"):
                    told, _ = it.record("--sampler", sampler)
                    report.check(f"{name} by {sampler}: stacks reach the root", complete_problem(told),
                                 f"{told['complete_percent']} % of {told['samples']}")
                    if option:
                        report.check(f"{name} by {sampler}: functions by name, called by the right ones", chain_problem(it.path, chain))


def try_chains(report, classes, *options):
    """Both samplers on one process: the first record also waits until the compilers have done most of their work."""
    with Trial("java", "-Xmx128m", *options, *java_stacks.CHOICES, "-cp", classes, "Chains") as it:
        for sampler in ("bpf", "copy"):
            name = " ".join(["java", *options, "by", sampler])
            told, _ = it.record("--java-names", "--sampler", sampler)
            report.check(f"{name}: stacks reach the root", complete_problem(told, java_stacks.LEAST_COMPLETE),
                         f"{told['complete_percent']} % of {told['samples']}")
            java_stacks.judge(report, name, LIMPET, it.path)
        dumped = subprocess.run([LIMPET, "dump", str(it.pid), "--java-names", "--json"], capture_output=True,
                                text=True)
        report.check(f"{' '.join(['java', *options])}: a dump", java_stacks.dump_problem(dumped.stdout))


def left_behind(pid):
    return (glob.glob(f"/tmp/.attach_pid{pid}") + glob.glob(f"/proc/{pid}/cwd/.attach_pid{pid}")
            + glob.glob(f"/tmp/perf-{pid}.map"))


def try_java(report):
    if not shutil.which("java") or not shutil.which("javac"):
        report.skip("java", "not installed")
        return
    nobody = pwd.getpwnam("nobody").pw_uid
    with tempfile.TemporaryDirectory() as classes:
        os.chmod(classes, 0o755)
        subprocess.run(["javac", "-d", classes, PROGRAMS / "Hot.java", PROGRAMS / "Chains.java"], check=True)
        for options in ([], ["-XX:+UseZGC"], ["-XX:TieredStopAtLevel=1"], ["-XX:+PreserveFramePointer"]):
            try_chains(report, classes, *options)
        for user in (None, nobody):
            name = "java" if user is None else "java of another user"
            with Trial("java", "-Xmx128m", "-cp", classes, "Hot", user=user) as it:
                told, functions = it.record("--java-names")
                report.check(f"{name}: methods by name", name_problem(functions, ["Hot.innerLoop"]),
                             f"{told['complete_percent']} % of {told['samples']} stacks complete")
                report.check(f"{name}: nothing is left in its /tmp", ", ".join(left_behind(it.pid)))
                report.check(f"{name}: goes on", None if it.process.poll() is None else "it ended")
        with Trial("java", "-Xrs", "-Xmx128m", "-cp", classes, "Hot") as it:
            done = subprocess.run([LIMPET, "dump", str(it.pid), "--java-names"], capture_output=True, text=True)
            report.check("java -Xrs: is not asked, and says why",
                         None if done.returncode and "SIGQUIT would end it" in done.stderr else done.stderr)
            report.check("java -Xrs: goes on", None if it.process.poll() is None else "it ended")


OTHERS = HERE.parent / "sampling/jit"


def try_other(report, name, *command, folder="/", least=LEAST_COMPLETE):
    """least None: none of its stacks may be called complete that ends in its code."""
    with Trial(*command, folder=folder) as it:
        for sampler in ("bpf", "copy"):
            told, functions = it.record("--sampler", sampler)
            unnamed = {known: one for known, one in functions.items() if "JIT" in known}
            share = sum(one["self_percent"] for one in unnamed.values())
            problem = complete_problem(told, least) if least else None
            if not least and told["complete_percent"] > 100 - share + 1:
                problem = f"{told['complete_percent']} % complete, {share:.2f} % end in its code"
            report.check(f"{name} by {sampler}: what is called complete", problem,
                         f"{told['complete_percent']} % of {told['samples']}")
            report.check(f"{name} by {sampler}: its code is one entry", None if len(unnamed) <= 1 else sorted(unnamed)[:5],
                         f"{share:.2f} %")


def try_guile(report):
    if not shutil.which("guile"):
        report.skip("guile", "not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        compiled = f"{folder}/hot.go"
        subprocess.run(["guile", "-c", f'(compile-file "{OTHERS}/hot.scm" #:output-file "{compiled}")'], check=True,
                       stdout=subprocess.DEVNULL)
        try_other(report, "guile", "guile", "-c", f'(load-compiled "{compiled}")')


def try_erlang(report):
    if not shutil.which("erlc"):
        report.skip("erlang", "not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["erlc", "-o", folder, OTHERS / "hot.erl"], check=True)
        try_other(report, "erlang", "erl", "-noshell", "-noinput", "-s", "hot", "main", folder=folder, least=None)


def try_luajit(report):
    if not shutil.which("luajit"):
        report.skip("luajit", "not installed")
        return
    try_other(report, "luajit", "luajit", OTHERS / "hot.lua")


def main():
    report = Report()
    tests = {"node": try_node, "wasm": try_wasm, "java": try_java, "guile": try_guile, "erlang": try_erlang, "luajit": try_luajit}
    names = sys.argv[1:] or list(tests)
    for name in names:
        try:
            tests[name](report)
        except TimeoutError as starved:
            report.not_ok(name, str(starved))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
