"""What is tried inside each virtual machine: prints "ok NAME" and "not ok NAME: why" lines.

  usage: guest.py [PART...]   all of PARTS when none is named

Runs as root in the guest, in a folder with limpet, the test programs (programs/) and the Python
modules of tests/attach and tests/common.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
os.environ["LIMPET"] = str(HERE / "limpet")
os.environ["PROGRAMS"] = str(HERE / "programs")
os.environ["PATIENCE_S"] = "300"  # an emulated machine may get little of a busy one
os.environ["HOOKS"] = str(HERE / "hooks")
os.environ["TRACER"] = str(HERE / "tracer/liblimpet-tracer.so")
os.environ["SAMPLER_DRIVER"] = str(HERE / "sampling/sampler_driver")
os.environ["SAMPLING_PROGRAMS"] = str(HERE / "sampling")

import exactness
import families
import test_hooks
from driving import cycle, harness, refusal_problem, result_problem, workload_problem
from report import Report

CYCLES = 20
USER = {"user": 1000, "group": 1000, "extra_groups": []}
YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
WORKLOADS = (
    ("plain", "idle"),
    ("plain", "busy"),
    ("plain", "malloc8"),
    ("calls", "epoll"),
    ("calls", "nanosleep"),
    ("registers", "vector"),
)
# Scope, who attaches, whose process, the exit status that follows. Scope 3 cannot be left again.
RIGHTS = (
    (0, "root", "root", 0),
    (0, "root", "user", 0),
    (0, "user", "user", 0),
    (0, "user", "root", 3),
    (1, "root", "user", 0),
    (1, "user", "user", 3),
    (2, "root", "user", 0),
    (2, "user", "user", 3),
    (3, "root", "root", 3),
    (3, "user", "user", 3),
)
# Of tests/hooks: what knows the machine's registers, stacks and instructions.
HOOKS = """
functions_of_every_shape_bound_late
functions_of_every_shape_bound_at_once_and_read_only
functions_of_every_shape_called_without_plt
functions_of_every_shape_in_writable_tables
a_process_that_traces_itself_sees_every_call
a_call_at_the_end_of_a_stack
arguments_on_the_stack_at_every_place_in_a_page
longjmp_out_of_a_traced_call
a_signal_handler_makes_traced_calls
words_and_protection_are_as_before
only_locks_that_are_held
files
""".split()
report = Report()


def as_user(who):
    return USER if who == "user" else {}


def start(family, name, owner="root"):
    """setpriv comes in front of a program that shall belong to the user."""
    drop = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"] if owner == "user" else []
    return harness.Workload(family, name, before=drop)


def attach_often(workload):
    for _ in range(CYCLES):
        wrong = result_problem(cycle(workload.pid, deadline_s=harness.PATIENCE_S)) or workload_problem(workload)
        if wrong:
            return wrong
    return None


def leave(workload):
    """The resident agent is seen, and goes when asked."""
    for expected, verb, *options in ((0, "status"), (0, "detach", "--unload"), (1, "status")):
        result = harness.limpet(verb, workload.pid, "--json", *options, deadline_s=harness.PATIENCE_S)
        wrong = result_problem(result, expected)
        if wrong:
            return f"{verb}: {wrong}"
    return workload_problem(workload)


def try_workload(family, name):
    try:
        with start(family, name) as workload:
            if report.check(f"{name}: attach and detach {CYCLES} times", attach_often(workload)):
                report.check(f"{name}: status and detach --unload", leave(workload))
    except harness.Unavailable as reason:
        report.skip(name, str(reason))


def rights_problem(scope, who, owner, expected):
    with start("plain", "idle", owner) as workload:
        result = cycle(workload.pid, deadline_s=harness.PATIENCE_S, **as_user(who))
        wrong = refusal_problem(result, expected) if expected else result_problem(result)
        why = result.event("summary").get("why", "")
        if not wrong and expected and scope and "ptrace_scope" not in why:
            wrong = f"the reason does not name ptrace_scope: {why}"
        return wrong or workload_problem(workload)


def try_rights():
    for scope, who, owner, expected in RIGHTS:
        name = f"ptrace_scope {scope}: {who} attaches to a program of {owner}: exit {expected}"
        if YAMA.exists():
            YAMA.write_text(str(scope))
        elif scope:
            report.skip(name, "this kernel has no Yama")
            continue
        report.check(name, rights_problem(scope, who, owner, expected))


def family_problem(who, source):
    """A server of that user, followed by that user: all workers are attached, by the source that this kernel has."""
    drop = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"] if who == "user" else []
    with families.Server(before=drop) as server:
        follower = families.Follower(server.pid, before=drop)
        try:
            if not follower.wait_settled() or follower.following() != source:
                return f"not followed by {source}: {follower}"
            try:
                workers = [server.hold(way, 1) for way in ("fork", "spawn", "daemon", "late_exec")]
            except (OSError, ValueError) as reason:
                return f"a worker does not answer ({reason}): {follower}"
            late = lambda: [worker.pid for worker in workers if not follower.has_attached(worker.pid)]
            if not harness.wait_until(lambda: not late()):
                return f"not attached: {late()}: {follower}"
            answers = [worker.release() for worker in workers]
            code = follower.stop()
        finally:
            follower.close()
        if [(answer.attached, answer.interrupts, answer.square) for answer in answers] != [(1, 0, 1)] * 4:
            return f"not every worker was attached and well: {follower}"
        return f"exit {code}" if code or server.count()[1] else None


def try_families():
    """The kernel's events are for everybody since 6.6."""
    version = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2]))
    for who, source in (("root", "events"), ("user", "events" if version >= (6, 6) else "numbers")):
        report.check(f"family of {who}: by {source}", family_problem(who, source))


def try_hooks():
    for name in HOOKS:
        result, title = unittest.TestResult(), f"hooks: {name.replace('_', ' ')}"
        test_hooks.Hooks(f"test_{name}").run(result)
        wrong = [text for _, text in result.failures + result.errors]
        if result.skipped:
            report.skip(title, result.skipped[0][1])
        else:
            report.check(title, wrong and " / ".join(wrong[0].splitlines()[-3:]))


def is_true(stack, depth):
    """Functions call each other in order; the leaf has all of them above it."""
    functions = [name for name in stack if name.startswith("f_")]
    has_leaf = bool({"leaf_spin", "leaf_sleep"} & set(stack))
    return functions == [f"f_{number:04}" for number in range(len(functions))] and (
        not has_leaf or len(functions) == depth)


def stack_problem(recording, depth, least):
    if recording.error:
        return f"{recording.error['what']}: {recording.error['why']}"
    if recording.counts["lost"]:
        return f"{recording.counts['lost']} lost"
    partial = [one for one in recording.samples if one["end"] != "complete"]
    if partial:
        outermost = recording.stack(partial[0])[:2]
        return (f"{len(partial)} of {len(recording.samples)} are not complete: {partial[0]['end']} behind "
                f"{len(partial[0]['frames'])} frames, the outermost are {outermost}")
    stacks = [recording.stack(one) for one in recording.samples]
    wrong = [stack for stack in stacks if not is_true(stack, depth)]
    if wrong:
        return f"{len(wrong)} of {len(stacks)} are wrong: {wrong[0]}"
    deep = [stack for stack in stacks if len(stack) > depth / 2]
    return None if len(deep) >= least else f"{len(deep)} deep stacks only of {len(stacks)}"


def old_kernel_problem(recording):
    """Refused with the reason, and the next sampler does it."""
    if not recording.error or "5.17" not in recording.error["why"]:
        return f"not refused with the kernel's version: {recording.error}"
    with exactness.running(f"{HERE}/sampling/chain_50", "1") as process:
        recording = exactness.sample("best", process.pid, "max=100", rate=99, seconds=60)
    refused = [one["sampler"] for one in recording.refused]
    if refused != ["bpf"] or recording.ready != "copy":
        return f"refused {refused}, then {recording.ready}"
    return stack_problem(recording, 50, 20)


def namespace_problem():
    """The driver and its target live in a namespace of pids of their own."""
    command = f"{HERE}/sampling/chain_50 1 & sleep 2; {exactness.DRIVER} bpf $! 99 60 max=20; kill $!"
    done = subprocess.run(["unshare", "-pf", "--mount-proc", "sh", "-c", command], stdout=subprocess.PIPE, text=True)
    recording = exactness.Recording(done.stdout)
    pids = {one["pid"] for one in recording.samples} - {2}
    return f"of processes {pids}" if pids else stack_problem(recording, 50, 2)


def signs_addresses():
    """Whether this processor signs return addresses (aarch64)."""
    return "paca" in pathlib.Path("/proc/cpuinfo").read_text().split()


def try_signed():
    """A program whose return addresses carry signatures, by each way to walk."""
    if not signs_addresses():
        report.skip("signed return addresses", "this processor has none")
        return
    for sampler in ("bpf", "copy"):
        with exactness.running(f"{HERE}/sampling/chain_50_signed", "1") as process:
            recording = exactness.sample(sampler, process.pid, "max=100", rate=99, seconds=60)
            report.check(f"signed return addresses, by {sampler}", stack_problem(recording, 50, 10))


def try_sampling():
    """The kernel's own walk up stacks: exact, or refused by name."""
    if not os.path.exists(os.environ["SAMPLER_DRIVER"]):
        report.skip("sampling by BPF", "not built for this machine")
        return
    version = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2]))
    # An emulated processor takes milliseconds for a thousand frames.
    for depth, rate, count in ((50, 99, 100), (1000, 10, 20)):
        with exactness.running(f"{HERE}/sampling/chain_{depth}", "1") as process:
            recording = exactness.sample("bpf", process.pid, "kernel", f"max={count}", rate=rate, seconds=60)
            if version < (5, 17):
                report.check("sampling by BPF is refused by name", old_kernel_problem(recording))
                return
            guessed = sum(one["guessed"] for one in recording.samples)
            report.check(f"sampling by BPF, {depth} deep", stack_problem(recording, depth, count / 10),
                         f"{guessed} of {len(recording.samples)} met memory that was not there" if guessed else "")
    report.check("sampling by BPF in a namespace of pids", namespace_problem())
    try_signed()
    with exactness.running(f"{HERE}/sampling/chain_50", "3", "sleepy") as process:
        recording = exactness.sample("bpf", process.pid, "off", "kernel", "max=300", rate=99, seconds=60)
        report.check("threads off the processor by BPF", stack_problem(recording, 50, 100))
        recording = exactness.sample("snapshot", process.pid, "kernel")
        recording.counts = {"lost": 0}
        report.check("a snapshot by BPF", stack_problem(recording, 50, 3))


def try_looking():
    for arguments in (("ps", "--json"), ("doctor", "--json")):
        result = harness.limpet(*arguments, deadline_s=harness.PATIENCE_S)
        report.check(f"limpet {' '.join(arguments)}", result_problem(result))


def try_attaching():
    for family, name in WORKLOADS:
        try_workload(family, name)


# In this order: Yama's last scope cannot be left again.
PARTS = {
    "looking": try_looking,
    "attaching": try_attaching,
    "hooks": try_hooks,
    "families": try_families,
    "sampling": try_sampling,
    "rights": try_rights,
}


def main():
    tempfile.tempdir = "/tmp"
    for name, part in PARTS.items():
        if name in (sys.argv[1:] or PARTS):
            part()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
