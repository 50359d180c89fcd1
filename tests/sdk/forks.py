"""A program that forks all the time, on the stand-ins of AMD's runtimes, while limpet comes and goes."""

import itertools
import time

from sdk import CASES, Log, Work, harness, tool

TOOLS = ("--tool", ":".join(str(tool(name)) for name in ("callbacks", "buffers", "work")))

# What limpet does there, and with which register library the program was started.
VISITS = {
    "attach": ("amds", ()),
    "attach, unload": ("amds", ("--unload",)),
    "tools": ("amds", TOOLS),
    "tools, unload": ("amds", (*TOOLS, "--unload")),
    "tools, no tables handed over": ("unprepared", TOOLS),
    "tools by the listener": ("limpets door", TOOLS),
    "trace": ("amds", None),
}


class Storm:
    """What became of its children is told by end()."""

    def __init__(self, case, threads):
        self.work = Work(**CASES[case], program="standin_forks")
        self.log = Log()
        self.work.ask("begin", threads)

    def visit(self, arguments, name):
        """None, or what went wrong."""
        if arguments is None:
            result = harness.limpet("record", "-p", self.work.pid, "--hip-trace", "--function=getenv", "--duration",
                                    "50ms", "--force", "-o", f"{self.log.folder.name}/{name}.limpet")
        else:
            result = harness.limpet("attach", self.work.pid, "--duration", "10ms", "--env", f"SDK_LOG={self.log.path}",
                                    *arguments)
        return None if result.code in (0, harness.BUSY) or "nothing was recorded" in result.stderr else str(result)

    def end(self):
        """Name to number, and where children were lost."""
        self.work.tell("end")
        lines = self.work.lines()
        return {words[0]: int(words[1]) for words in lines[:3]}, [words[1] for words in lines[3:]]

    def close(self):
        self.work.close()
        self.log.close()


def storm(visit, seconds, threads):
    """(what went wrong or None, in words what happened)."""
    case, arguments = VISITS[visit]
    target, problem = Storm(case, threads), None
    try:
        end = time.monotonic() + seconds
        for count in itertools.count(1):
            problem = target.visit(arguments, count)
            if problem or time.monotonic() > end:
                break
        numbers, lost = target.end()
    finally:
        target.close()
    if not problem and (lost or not numbers["forks"]):
        problem = f"{numbers}, in {', '.join(sorted(set(lost)))}"
    return problem, f"{count} visits, {numbers['forks']} children"
