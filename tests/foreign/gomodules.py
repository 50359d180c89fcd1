"""Programs built from Go's modules into the user's cache, and ports for their servers."""

import contextlib
import shutil
import socket
import subprocess

import firefox

BUILD_S = 1800


class Unavailable(Exception):
    """It cannot be had here, and why."""


def folder(name):
    return firefox.CACHE / name


def folder_make(name):
    """A new, empty one, to build in."""
    if not shutil.which("go"):
        raise Unavailable("go is not there (apt install golang-go)")
    path = folder(name)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def go(path, *arguments):
    """What go prints, run in that folder."""
    try:
        done = subprocess.run(["go", *arguments], cwd=path, capture_output=True, text=True, timeout=BUILD_S)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"go {arguments[0]} took more than {BUILD_S} s") from None
    if done.returncode:
        raise Unavailable(f"go {arguments[0]}: " + (done.stderr.strip() or "?").splitlines()[-1])
    return done.stdout


def free_ports(count):
    """Ports of the loopback address that no program listens on."""
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]
