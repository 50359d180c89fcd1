"""Small roots of other releases of Debian, and of Ubuntu, kept in the user's cache, and how to run programs in them.

Runs on the developer's machine as root (debootstrap and chroot want it). A root is made once; its
/proc is mounted only inside the mount namespace of the program that wants it.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernels"))

from archive import Unavailable, mirror  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet"
RELEASES = ("bullseye", "trixie", "sid")
UBUNTU = "http://archive.ubuntu.com/ubuntu"
# Debian 12 has no key of Ubuntu's, and its debootstrap no script for these releases; the scripts of all are the same.
UBUNTU_RELEASES = ("noble",)
UBUNTU_OPTIONS = ("--no-check-gpg", "--components=main,universe")
UBUNTU_SCRIPT = "/usr/share/debootstrap/scripts/gutsy"
INSTALL = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "--no-install-recommends", "install")
PACKAGES_S = 1800
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)


def root(release):
    """The directory of a root with perl and a compiler."""
    if os.geteuid():
        raise Unavailable("debootstrap and chroot need root")
    target = CACHE / "roots" / release
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target):
        if not target.exists():
            make(release, target)
    return target


@contextlib.contextmanager
def locked(target):
    with open(target.parent / f".{target.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def bootstrap(release, target):
    if release in UBUNTU_RELEASES:
        return ["debootstrap", *UBUNTU_OPTIONS, "--variant=minbase", release, target, UBUNTU, UBUNTU_SCRIPT]
    return ["debootstrap", "--variant=minbase", "--include=gcc,libc6-dev", release, target, mirror()]


def make(release, target):
    partial = target.with_name(release + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        done = subprocess.run(bootstrap(release, partial), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError as missing:
        raise Unavailable("debootstrap is not installed") from missing
    if done.returncode:
        raise Unavailable(f"debootstrap {release}: {done.stdout.strip().splitlines()[-1:]}")
    for package in (partial / "var/cache/apt/archives").glob("*.deb"):
        package.unlink()
    if release in UBUNTU_RELEASES:
        lines = "".join(f"deb {UBUNTU} {suite} main universe\n" for suite in (release, f"{release}-updates"))
        (partial / "etc/apt/sources.list").write_text(lines)
    partial.rename(target)


def root_with(release, packages):
    """A root in which these packages are installed, once; whoever wants others meanwhile waits."""
    target = root(release)
    with locked(target):
        missing = [package for package in packages if not (target / f"var/lib/dpkg/info/{package}.list").exists()
                   and not (target / f"var/lib/dpkg/info/{package}:{ARCHITECTURE}.list").exists()]  # fmt: skip
        if missing:
            install(target, missing)
    return target


def install(target, packages):
    shutil.copy("/etc/resolv.conf", target / "etc/resolv.conf")
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        inside = enter(target, pathlib.Path(scratch))
        for command in (("apt-get", "-q", "update"), (*INSTALL, *packages)):
            done = subprocess.run([*inside, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PACKAGES_S)
            if done.returncode:
                raise Unavailable(f"{' '.join(packages)}: {done.stderr.strip()[-200:]}")


def enter(directory, scratch, with_proc=True):
    """The command in front of one that shall run in the root, with its pid.

    scratch, a directory below /tmp, has the same path inside; nothing is written to the root itself.
    """
    steps = ['mount -t tmpfs tmpfs "$0/tmp"', f'mkdir "$0{scratch}"', f'mount --bind "{scratch}" "$0{scratch}"']
    if with_proc:
        steps.append('mount -t proc proc "$0/proc"')
    script = " && ".join([*steps, 'exec chroot "$0" "$@"'])
    return ["unshare", "--mount", "sh", "-c", script, str(directory)]
