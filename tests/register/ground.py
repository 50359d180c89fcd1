"""Folders with the register library and a profiler library side by side, as they are installed."""

import os
import pathlib
import shutil
import subprocess
import tempfile

TESTS = pathlib.Path(os.environ["REGISTER_TESTS"])
REGISTER = pathlib.Path(os.environ["REGISTER"])
SDK = pathlib.Path(os.environ["SDK"])  # limpet's own
STANDIN = pathlib.Path(os.environ["STANDIN"])
RECORDING = TESTS / "recording_sdk.so"

REGISTER_NAME = "librocprofiler-register.so.0"
SDK_NAME = "librocprofiler-sdk.so.1"


class Ground:
    """A folder that holds the register library under its name and, beside it, a profiler's."""

    def __init__(self, sdk=None):
        self.folder = tempfile.TemporaryDirectory(prefix="register-")
        self.path = pathlib.Path(self.folder.name)
        os.chmod(self.path, 0o777)
        # Copies: maps and the loader tell the file that a link leads to.
        shutil.copy(REGISTER, self.path / REGISTER_NAME)
        if sdk:
            shutil.copy(sdk, self.path / SDK_NAME)
        # A program with the library's code inside looks for a profiler beside itself.
        for name in ("probe", "probe_inside"):
            (self.path / name).symlink_to(TESTS / name)
        self.log = self.path / "log"

    def environment(self, **more):
        """That of this process without what would steer the library, and with what a test wants."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("ROCP")}
        # Looking for leaks takes seconds for each process; test_functions.py does it once.
        return {"ASAN_OPTIONS": "detect_leaks=0", **plain, "LD_LIBRARY_PATH": str(self.path),
                "RECORDING_LOG": str(self.log), **more}

    def run(self, program, *arguments, timeout=60, **variables):
        return subprocess.run(
            [str(program), *map(str, arguments)], env=self.environment(**variables), text=True,
            capture_output=True, timeout=timeout)

    def start(self, program, *arguments, before=(), **variables):
        return subprocess.Popen(
            [*map(str, before), str(program), *map(str, arguments)], text=True,
            env=self.environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def lines(self):
        """What the recording profiler wrote, by words."""
        return [line.split() for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def close(self):
        self.folder.cleanup()
