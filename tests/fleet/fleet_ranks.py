"""
Ranks of this machine and nodes by scripts, for the tests of `limpet fleet`.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PROGRAMS, limpet, progress  # noqa: E402

RANK = os.path.join(PROGRAMS, "fleet_rank")
PATIENCE = ("--timeout", "60")


class Ranks(unittest.TestCase):
    """Programs that are ranks, each under a name that nobody else has."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-fleet-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.name = f"fleet-{os.getpid()}-{id(self) % 9973}"[:15]
        shutil.copy(RANK, self.folder / self.name)

    def start(self, *arguments, before=(), program=None, **variables):
        """A rank, when it runs."""
        environment = {"PATH": os.environ["PATH"], "ENDS_WITH_PARENT": "1", **variables}
        process = subprocess.Popen([*before, str(self.folder / (program or self.name)), *map(str, arguments)],
                                   env=environment, stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.kill_group, process.pid)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        progress.note_visit([process.pid])  # by its name
        return process

    @staticmethod
    def kill_group(pid):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)

    def fleet(self, verb, *arguments, code=0):
        result = limpet("fleet", verb, *PATIENCE, *arguments)
        self.assertEqual(result.code, code, str(result))
        return result

    def events(self, verb, *arguments, code=0):
        """{kind: objects} of --json."""
        found = {}
        for event in self.fleet(verb, *arguments, "--json", code=code).events:
            found.setdefault(event["event"], []).append(event)
        return found

    def ranks(self, *arguments, code=0):
        """{rank: object} of fleet ps."""
        return {rank["rank"]: rank for rank in self.events("ps", *arguments, code=code)["rank"]}

    def script(self, text, name="launcher"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)


class Nodes(Ranks):
    """Nodes by a command: what a node is told to be is in its script."""

    def launched(self, hosts, cases, *arguments, verb="dump", code=0):
        """Each host runs the part of a shell's `case` that it is given; "$@" is the node part."""
        body = "".join(f"{host}) {command} ;;\n" for host, command in cases.items())
        script = self.script(f'#!/bin/sh\nhost=$1; shift\ncase $host in\n{body}esac\n')
        return self.fleet(verb, "--launcher", f"{script} {{host}}", "--hosts", hosts, "--match", self.name, *arguments,
                          code=code)

    def start_two(self):
        for rank in range(2):
            self.start(1, RANK=str(rank), WORLD_SIZE="2")
