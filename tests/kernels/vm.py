"""A Debian kernel booted under software emulation with a root that lives in memory.

Runs on the developer's machine. One call boots, runs one command inside, hands back what it
printed and its exit status. Nothing survives in the guest; nothing of the host is visible to it
but the files it was given.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import archive
import cpio

RELEASES = {"5.10": "bullseye", "6.1": "bookworm", "6.12": "trixie", "6.12-16k": "trixie"}
# The small kernel for virtual machines, but where only the whole one is made with larger pages.
PACKAGES = {"6.12-16k": "linux-image-{arch}-16k"}
CLOUD = "linux-image-cloud-{arch}"
ROOT_RELEASE = "bookworm"
MACHINES = {
    "amd64": ["qemu-system-x86_64", "-machine", "q35"],
    "arm64": ["qemu-system-aarch64", "-machine", "virt"],
}
# Everything the emulator has (AVX2, SVE), but: qemu 7.2 spoils the flags after cmpxchg16b, which
# Linux 6.12 does not survive; without pauth-impdef an arm64 guest boots five times slower.
CPUS = {"amd64": "max,-cx16", "arm64": "max,pauth-impdef=on"}
CONSOLES = {"amd64": "ttyS0", "arm64": "ttyAMA0"}
NATIVE = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
# Part of the cached names: raise it when the package list or the layout of the root changes.
ROOT_VERSION = 1
ROOT_PACKAGES = (
    "busybox-static libc6 libgcc-s1 libstdc++6 bash dash coreutils util-linux procps grep sed mawk"
    " findutils diffutils perl-base python3 strace gdb libcap2-bin libjemalloc2"
    " libtcmalloc-minimal4 musl binutils kmod"
).split()
# Documentation and translations: a third of the bytes, and the guest unpacks every one of them.
ROOT_SKIP = {
    f"usr/share/{name}"
    for name in "doc man info locale i18n lintian bug zoneinfo bash-completion gdb/auto-load".split()
} | {"usr/lib/udev", "usr/share/perl5/Debian"}
BEGIN = "@@ begin @@"
END = re.compile(r"@@ exit (\d+) @@")
HERE = pathlib.Path(__file__).resolve().parent


def kernel(version, arch):
    """The path of a bootable Debian kernel."""

    def choose(packages):
        name = PACKAGES.get(version, CLOUD).format(arch=arch)
        found = [n for n in packages.dependencies(name) if n.startswith("linux-image-")]
        if not found:
            raise archive.Unavailable(f"no {name} in Debian {RELEASES[version]}")
        return found[:1]

    tree = archive.tree(f"kernel-{version}-{arch}", RELEASES[version], arch, choose)
    return next(iter(sorted(tree.glob("boot/vmlinuz-*"))))


def root_image(arch):
    """A cached cpio archive of a small Debian with python3, strace and gdb."""
    name = f"root{ROOT_VERSION}-{arch}"
    image = archive.CACHE / f"{name}.cpio"
    tree = archive.tree(name, ROOT_RELEASE, arch, lambda packages: packages.closure(ROOT_PACKAGES))
    with archive.locked(name + "-image"):
        if not image.exists():
            partial = image.with_suffix(".partial")
            with open(partial, "wb") as out:
                write_root(cpio.Cpio(out), tree)
            partial.rename(image)
    return image


def write_root(out, tree):
    out.tree(tree, skip=ROOT_SKIP)
    for name in ("proc", "sys", "dev", "tmp", "run", "root", "etc", "home"):
        if not (tree / name).is_dir():
            out.directory(name)
    out.node("dev/console", 5, 1)
    out.symlink("bin/sh", "dash")
    out.symlink("usr/bin/awk", "mawk")
    out.file("etc/passwd", b"root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n", 0o644)
    out.file("etc/group", b"root:x:0:\nuser:x:1000:\n", 0o644)
    out.close()


def write_image(path, arch, files, command):
    """The root, and after it what is special to this run."""
    with open(root_image(arch), "rb") as base, open(path, "wb") as out:
        while chunk := base.read(1 << 22):
            out.write(chunk)
        extra = cpio.Cpio(out)
        extra.file("init", (HERE / "init").read_bytes())
        extra.file("command", command.encode() + b"\n")
        extra.directory("files")
        for name, source in files.items():
            add_files(extra, pathlib.Path(source), name)
        extra.close()


def add_files(out, source, name):
    """A file or a directory as /files/NAME; NAME '' lays a directory's content into /files."""
    path = f"files/{name}".rstrip("/")
    for parent in reversed(pathlib.PurePath(path).parents):
        if str(parent) not in (".", "files"):
            out.directory(str(parent))
    if source.is_dir():
        if name:
            out.directory(path)
        out.tree(source, prefix=path)
    else:
        out.add(source.resolve(), path)


class Result:
    """What one boot gave: lines printed, exit status (None: it never came), seconds."""

    def __init__(self):
        self.lines, self.status, self.boot_s, self.total_s = [], None, None, None


class Machine:
    """One guest: architecture, kernel, size."""

    def __init__(self, arch=NATIVE, version="6.1", memory_mb=2048, cpus=2, cpu=None, append="", show=False):
        self.arch, self.version, self.memory_mb, self.cpus = arch, version, memory_mb, cpus
        self.cpu = cpu or CPUS[arch]
        self.append, self.show = append, show

    def argv(self, image):
        line = f"console={CONSOLES[self.arch]} panic=-1 {'' if self.show else 'quiet loglevel=1'} {self.append}"
        return [
            *MACHINES[self.arch], "-cpu", self.cpu, "-smp", str(self.cpus), "-m", str(self.memory_mb),
            "-accel", "tcg", "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio", "-net", "none",
            "-kernel", str(kernel(self.version, self.arch)), "-initrd", str(image), "-append", line,
        ]  # fmt: skip

    def run(self, command, files=None, timeout_s=900, on_line=print):
        """Boots, runs the command with /bin/sh, powers off; on_line gets what it prints."""
        with tempfile.TemporaryDirectory(prefix="limpet-vm-") as scratch:
            image = pathlib.Path(scratch) / "initrd"
            write_image(image, self.arch, files or {}, command)
            return self.boot(self.argv(image), timeout_s, on_line)

    def boot(self, argv, timeout_s, on_line):
        result, start = Result(), time.monotonic()
        try:
            qemu = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        except FileNotFoundError as missing:
            raise archive.Unavailable(f"{missing.filename} is not installed") from missing
        timer = threading.Timer(timeout_s, qemu.kill)
        timer.start()
        try:
            self.read(qemu.stdout, result, start, on_line)
        finally:
            timer.cancel()
            qemu.kill()
            qemu.wait()
        result.total_s = time.monotonic() - start
        return result

    def read(self, stream, result, start, on_line):
        """Lines before the begin mark are the kernel's, after it the command's."""
        for raw in stream:
            line = raw.decode(errors="replace").rstrip("\r\n")
            if result.boot_s is None and line.endswith(BEGIN):
                result.boot_s = time.monotonic() - start
                result.lines.clear()
                continue
            end = END.search(line)
            line = line[: end.start()] if end else line
            if line or not end:
                result.lines.append(line)
                if self.show or result.boot_s is not None:
                    on_line(line)
            if end:
                result.status = int(end.group(1))
                return
