"""Stacks of Java without frame pointers: a program whose chains of calls are known, sampled on both samplers that
have stacks. Of its stacks nearly all must reach the root, and none that does may be wrong."""

import collections
import json
import re
import subprocess

LEAST_COMPLETE = 99.0
DEPTH = 40
METHOD = re.compile(r"Chains(?:\$\w+)?\.(\w+)")
CHOICES = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,*.*Apart",
           "-XX:CompileCommand=exclude,*.*Slow"]

# What a thread's stack may have of this program, outermost first; where it may stop between.
CHAINS = {
    "chain": ["outerApart", "middleApart", "innerApart"],
    "mixed": ["rootApart", "Interpreter", "leafApart", "innerApart"],
    "deep": ["downApart"] * (DEPTH + 1) + ["innerApart"],
    "virtual": ["virtualApart", "areaApart", "innerApart"],
    "locked 1": ["lockedApart", "innerApart"],
    "locked 2": ["lockedApart", "innerApart"],
    "thrown": ["catchApart", "throwApart"],
    "allocating": ["allocateApart"],
    "slow": ["Interpreter"],
}
OTHER_WAYS = {"mixed": ["rootApart", "manyApart"]}
# Below the first of those: the thread's run() and its lambda, interpreted or compiled or inlined.
OUTSIDE = {"run", "lambda", "start"}


def is_outside(name):
    return any(name.startswith(word) for word in OUTSIDE)


def own_frames(names):
    """Of a stack, outermost first: this program's methods and what is interpreted, behind the thread's own run()."""
    found = []
    for name in names:
        method = METHOD.search(name)
        if method and not is_outside(method[1]):
            found.append(method[1])
        elif name == "Interpreter" and found:
            found.append("Interpreter")
    return found


def chain_problem(thread, names):
    """Why this stack of that thread cannot be true; None when it can."""
    chain, frames = CHAINS.get(thread), own_frames(names)
    if chain is None or not frames or thread == "slow":
        return None
    for way in (chain, OTHER_WAYS.get(thread, chain)):
        if frames == way[:len(frames)]:
            return None
    return f"{thread}: {' > '.join(frames)}"


def read_folded(limpet, path):
    text = subprocess.run([limpet, "export", path, "--format", "folded", "-o", "-"], capture_output=True,
                          text=True, check=True).stdout
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        thread, *names = stack.split(";")
        yield thread, names, int(count)


def root_problem(names):
    """A thread begins in libc."""
    is_root = any(name in ("clone3", "clone", "thread_start", "_start") for name in names[:2]) or names[0].startswith("libc.so.6+")
    return None if is_root else " > ".join(names[:4])


def judge(report, name, limpet, path):
    wrong, checked, whole, reached = collections.Counter(), 0, 0, collections.Counter()
    for thread, names, count in read_folded(limpet, path):
        if names[:1] == ["[incomplete stack]"]:
            continue
        whole += count
        problem = chain_problem(thread, names) or root_problem(names)
        if problem:
            wrong[problem] += count
        if thread in CHAINS:
            checked += count
            if own_frames(names) == CHAINS[thread]:
                reached[thread] += count
    report.check(f"{name}: no stack is wrong", f"{sum(wrong.values())} of {whole}: {wrong.most_common(5)}" if wrong
                 else None, f"{checked} of {whole} on known chains")
    missing = [thread for thread in ("chain", "mixed", "deep", "virtual") if not reached[thread]]
    report.check(f"{name}: chains are seen to their ends", f"never: {missing}" if missing else None,
                 ", ".join(f"{thread} {count}" for thread, count in reached.items()))


def dump_problem(text):
    """Of one look at all threads; one of them may be met in a moment that has no rule."""
    threads = [e for line in text.splitlines() if (e := json.loads(line))["event"] == "thread" and e["has_stack"]]
    cut = [f"{e['name']}: {e['end']}" for e in threads if not e["complete"]]
    missing = set(CHAINS) - {e["name"] for e in threads}
    if missing:
        return f"no stack of {sorted(missing)}"
    return f"incomplete: {cut}" if len(cut) > 1 else None
