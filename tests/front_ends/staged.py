"""
The staged product, and programs that use its front ends.  Everything is installed into a temporary folder, so
that what is found relative to what, and every RUNPATH, is as users have it.

Environment, besides that of tests/attach/harness.py: BUILD is the build tree, PREFIX its prefix, DOORS the
folder with the built test callers; STAGED, in a bundle, a tree that is installed already.
"""

import atexit
import functools
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/attach"))

import harness  # noqa: E402

SUCCESS, ERROR, INVALID, NOT_SUPPORTED, BUSY, NOT_PERMITTED, NOT_FOUND = range(7)
NOBODY = 65534
DEADLINE_S = harness.PATIENCE_S
AT_ONCE_S = DEADLINE_S / 2  # for what need not wait for anybody


class Prefix:
    """An installed tree in a temporary folder, readable for everybody."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="front-ends-")
        os.chmod(self.folder, 0o755)
        self.root = self.folder + os.environ["PREFIX"]
        if "STAGED" in os.environ:
            shutil.copytree(os.environ["STAGED"], self.root, symlinks=True)
        else:
            self.install()

    def install(self):
        subprocess.run(
            ["meson", "install", "-C", os.environ["BUILD"], "--no-rebuild", "--quiet"],
            env={**os.environ, "DESTDIR": self.folder}, check=True, stdout=subprocess.DEVNULL,
        )

    def library(self, name):
        return os.path.join(self.root, "lib", name)

    def program(self, name):
        return os.path.join(self.root, "bin", name)

    def close(self):
        shutil.rmtree(self.folder)


@functools.cache
def prefix():
    """The tree of this test, which nobody changes; gone at its end."""
    installed = Prefix()
    atexit.register(installed.close)
    return installed


class Log:
    """What a tool writes, read as lines; it is told where by a variable that reaches it through the attach."""

    def __init__(self):
        handle, self.path = tempfile.mkstemp(prefix="tool-")
        os.close(handle)
        os.chmod(self.path, 0o666)

    def lines(self):
        with open(self.path) as file:
            return [line.rstrip("\n") for line in file]

    def events(self):
        """The second word of each line: which function of the tool was called."""
        return [line.split()[1] for line in self.lines()]

    def clear(self):
        os.truncate(self.path, 0)

    def close(self):
        os.unlink(self.path)


def environment(log=None, tools=(), **more):
    """The caller's: no variable of the front end's is inherited."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("ROC")}
    found.pop("LD_LIBRARY_PATH", None)
    if log:
        found["ROCP_TEST_LOG"] = log.path
    if tools:
        found["ROCPROF_ATTACH_TOOL_LIBRARY"] = ":".join(tools)
    return {**found, **more}


class Caller:
    """tests/front_ends/caller.c: one question, one answer."""

    def __init__(self, library, env, before=()):
        self.process = subprocess.Popen(
            [*before, os.path.join(os.environ["DOORS"], "caller"), library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd="/",
        )
        self.greeting = self.read_line()

    def read_line(self, deadline_s=DEADLINE_S):
        """Raises TimeoutError when the front end hangs."""
        line, end = b"", time.monotonic() + deadline_s
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("no answer")
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode().strip()

    def send(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, *words, deadline_s=DEADLINE_S):
        self.send(*words)
        return self.read_line(deadline_s)

    def call(self, *words):
        """The numbers that the function returned: one, or two when it was called twice at once."""
        numbers = [int(word) for word in self.ask(*words).split()]
        return numbers[0] if len(numbers) == 1 else numbers

    def end(self):
        """Lets it end by itself; what it wrote on stderr."""
        _, err = self.process.communicate(timeout=DEADLINE_S)
        return err.decode()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.process.wait()
