"""Debian packages of any release and architecture, fetched and unpacked into the user's cache.

Runs on the developer's machine. Works with a private apt directory for each release and
architecture, so the machine's own apt configuration is never read or written, and no right is
needed. Nothing is installed or configured: packages are only unpacked.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "limpet"


class Unavailable(Exception):
    """Something that must be downloaded cannot be had now."""


def mirror():
    """Where this machine's own apt gets Debian from; LIMPET_DEBIAN_MIRROR says otherwise."""
    named = os.environ.get("LIMPET_DEBIAN_MIRROR")
    if named:
        return named
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"],
                            stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    found = [uri for uri in listed if uri.rstrip("/").endswith("/debian")]
    if not found:
        raise Unavailable("apt has no Debian mirror; name one with LIMPET_DEBIAN_MIRROR")
    return found[0].rstrip("/")


@contextlib.contextmanager
def locked(name):
    """One user of a cached thing at a time: a second run waits for the first."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def call(argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise Unavailable(f"{' '.join(map(str, argv[:3]))}...: {done.stderr.strip()[-400:]}")
    return done.stdout


class Archive:
    """The packages of one Debian release for one architecture."""

    def __init__(self, release, arch):
        self.release, self.arch = release, arch
        self.directory = CACHE / "apt" / f"{release}-{arch}"
        self.config = self.directory / "apt.conf"

    def prepare(self):
        """Writes the private apt directory and reads the package lists, once."""
        if (self.directory / "ready").exists():
            return
        for part in ("state/lists/partial", "cache/archives/partial", "etc"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        (self.directory / "state/status").touch()
        (self.directory / "etc/sources.list").write_text(
            f"deb [signed-by={KEYRING}] {mirror()} {self.release} main\n"
        )
        self.config.write_text(self.configuration())
        self.apt("apt-get", "-q", "update")
        (self.directory / "ready").touch()

    def configuration(self):
        return "".join(
            f'{name} "{value}";\n'
            for name, value in (
                ("Dir::State", self.directory / "state"),
                ("Dir::State::status", self.directory / "state/status"),
                ("Dir::Cache", self.directory / "cache"),
                ("Dir::Etc", self.directory / "etc"),
                ("APT::Architecture", self.arch),
                ("APT::Architectures", self.arch),
                ("APT::Install-Recommends", "false"),
                ("APT::Sandbox::User", "root"),
                ("Acquire::Languages", "none"),
                ("Acquire::Retries", "3"),
                ("Acquire::Check-Valid-Until", "false"),
            )
        )

    def apt(self, program, *arguments, cwd=None):
        return call([program, *arguments], cwd=cwd, env={**os.environ, "APT_CONFIG": str(self.config)})

    def dependencies(self, package):
        """Names of the packages that this one depends on directly."""
        text = self.apt("apt-cache", "depends", "--important", package)
        return [line.split()[-1] for line in text.splitlines() if "Depends:" in line]

    def closure(self, packages):
        """The packages and all they need, as apt would install them on an empty system."""
        text = self.apt("apt-get", "-q", "-s", "install", *packages)
        return sorted(line.split()[1] for line in text.splitlines() if line.startswith("Inst "))

    def unpack(self, packages, target):
        """Downloads packages and lays their files under target."""
        target.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            holder = self.directory / "download"
            shutil.rmtree(holder, ignore_errors=True)
            holder.mkdir()
            stack.callback(shutil.rmtree, holder, True)
            self.apt("apt-get", "-q", "download", *packages, cwd=holder)
            for package in sorted(holder.glob("*.deb")):
                call(["dpkg-deb", "-x", package, target])


def tree(name, release, arch, choose):
    """A cached directory of unpacked packages; choose(archive) names them when it is missing."""
    target = CACHE / "trees" / name
    with locked(name):
        if target.exists():
            return target
        archive = Archive(release, arch)
        partial = target.with_name(target.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with locked(f"apt-{release}-{arch}"):
            archive.prepare()
            archive.unpack(choose(archive), partial)
        partial.rename(target)
    return target
