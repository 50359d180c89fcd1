"""A program on the stand-in runtimes with a tool of tests/sdk in it, and what the tool wrote down."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "amd"), str(HERE.parent / "attach"), str(HERE.parent / "register")]

import harness  # noqa: E402
from standin import CASES, STANDIN, Work  # noqa: E402,F401

TOOLS = pathlib.Path(os.environ["SDK_TOOLS"])
UNLOADS = 10


def tool(name):
    return TOOLS / f"tool_{name}.so"


def driver(folder):
    """What to start a program with so that it has AMD's driver: HSA does not run yet when a tool that is there from the start asks for
    agents, and the driver tells them."""
    shared = pathlib.Path(folder).resolve() / "driver"
    shared.write_bytes(bytes(4096))
    return STANDIN / "standin_kfd", "free", HERE.parent / "counters/amd/topology", shared


class Log:
    """The lines that tools write, by words."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sdk-")
        os.chmod(self.folder.name, 0o777)
        self.path = pathlib.Path(self.folder.name) / "log"

    def lines(self, first=None):
        text = self.path.read_text() if self.path.exists() else ""
        found = [line.split() for line in text.splitlines()]
        return [words for words in found if first is None or words[0] == first]

    def clear(self):
        self.path.unlink(missing_ok=True)

    def fields(self, first):
        """The last line that begins so: name to number of "name number" pairs in it."""
        words = self.lines(first)[-1][1:]
        return {name: int(value) for name, value in zip(words, words[1:]) if value.isdigit()}

    def counts(self):
        """Function to (before, after), of the last list."""
        found = {}
        for words in self.lines("call"):
            found[words[2]] = (int(words[3]), int(words[4]))
        return found

    def close(self):
        self.folder.cleanup()


class Attached:
    """limpet attach with tools, until it is left."""

    def __init__(self, work, log, *names, arguments=()):
        for _ in range(3):
            self.process = harness.limpet_start(
                "attach", work.pid, "--json", "--tool", ":".join(str(tool(name)) for name in names),
                "--env", f"SDK_LOG={log.path}", *arguments, stdin=subprocess.PIPE)
            if harness.attached_wait(self.process):
                return
            result = harness.limpet_finish(self.process)
            if result.code != harness.BUSY:
                break
        raise AssertionError(f"not attached: {result}")

    def leave(self):
        return harness.limpet_finish_enter(self.process)


class ToolCase(unittest.TestCase):
    """A test of tools that write into one log."""

    def setUp(self):
        self.log = Log()
        self.addCleanup(self.log.close)

    def attach(self, work, *names, arguments=()):
        attached = Attached(work, self.log, *names, arguments=arguments)
        self.addCleanup(attached.process.kill)
        return attached

    def leave(self, attached):
        result = attached.leave()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.log.lines("wrong"), [])
        return result

    def unload(self, begin, act=lambda: None):
        """Attaches with --unload, acts and leaves: again where a thread that began meanwhile was at work whenever limpet looked, since the
        machine is busy."""
        for _ in range(UNLOADS):
            attached = begin()
            act()
            result = self.leave(attached)
            if "never waits" not in result.out + result.err:
                break
        return result


def did(lines):
    """What standin_work says that it did."""
    return {words[1]: int(words[2]) for words in lines if words[0] == "did"}
