"""Small Debian roots of other releases, kept in the user's cache, and how to run programs in them.

Runs on the developer's machine as root (debootstrap and chroot want it). A root is made once; its
/proc is mounted only inside the mount namespace of the program that wants it.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernels"))

from archive import Unavailable, mirror  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet"
RELEASES = ("bullseye", "trixie", "sid")


def root(release):
    """The directory of a root with perl and a compiler."""
    if os.geteuid():
        raise Unavailable("debootstrap and chroot need root")
    target = CACHE / "roots" / release
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / f".{release}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            make(release, target)
    return target


def make(release, target):
    partial = target.with_name(release + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", "--include=gcc,libc6-dev", release, partial, mirror()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
    except FileNotFoundError as missing:
        raise Unavailable("debootstrap is not installed") from missing
    if done.returncode:
        raise Unavailable(f"debootstrap {release}: {done.stdout.strip().splitlines()[-1:]}")
    for package in (partial / "var/cache/apt/archives").glob("*.deb"):
        package.unlink()
    partial.rename(target)


def enter(directory, scratch, with_proc=True):
    """The command in front of one that shall run in the root, with its pid.

    scratch, a directory below /tmp, has the same path inside; nothing is written to the root itself.
    """
    steps = ['mount -t tmpfs tmpfs "$0/tmp"', f'mkdir "$0{scratch}"', f'mount --bind "{scratch}" "$0{scratch}"']
    if with_proc:
        steps.append('mount -t proc proc "$0/proc"')
    script = " && ".join([*steps, 'exec chroot "$0" "$@"'])
    return ["unshare", "--mount", "sh", "-c", script, str(directory)]
