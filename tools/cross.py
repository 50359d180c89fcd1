#!/usr/bin/env python3
"""Builds for the other machine that limpet knows: tools/cross.py amd64|arm64 [--all|--bundle]

The static executable limpet, in build-cross-ARCH/src/host/limpet; with --all everything that this repository
builds for its tests too, but what needs musl's or Go's compiler. Needs Debian's cross compiler. What limpet is linked
with comes from Debian's packages for that machine, unpacked into the user's cache: nothing of it is installed.
With --bundle all of it and the quick suites in one folder and one archive (bundle.py), to run on a machine without a
compiler; for this machine's own architecture from the ordinary build tree.
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPU = {"amd64": "x86_64", "arm64": "aarch64"}
LIMPET = "src/host/limpet"
# What is linked with, and the C library itself: raise the number in the cached name when it changes.
PACKAGES = ("libc6 libc6-dev linux-libc-dev libzstd-dev libsqlite3-dev libyaml-dev libbpf-dev libelf-dev libdw-dev liblzma-dev "
            "zlib1g-dev libncurses-dev libcmocka-dev libcmocka0 ocl-icd-opencl-dev ocl-icd-libopencl1 opencl-c-headers opencl-clhpp-headers "
            "libstdc++6 libgcc-s1").split()
SYSROOT = "sysroot3-{}"

sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "tests/kernels"))
sys.path.append(str(ROOT / "tools"))
import archive  # noqa: E402
import bundle  # noqa: E402


def keep_links_inside(root):
    """Links to places from the root of that machine, as links from where they are."""
    for link in root.rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/"):
            wanted = os.path.relpath(f"{root}{os.readlink(link)}", link.parent)
            link.unlink()
            link.symlink_to(wanted)


def sysroot_file(arch):
    """A second cross file for meson: where that machine's libraries and headers are."""
    root = archive.tree(SYSROOT.format(arch), "bookworm", arch, lambda _: PACKAGES)
    keep_links_inside(root)
    triple = f"{CPU[arch]}-linux-gnu"
    # The folder of libraries is named although it is in the sysroot: the one of Debian's cross packages comes first
    # else, and the libm.a in it names files that are not there.
    names = archive.CACHE / f"sysroot-{arch}.ini"
    names.write_text(f"[binaries]\nc = ['{triple}-gcc', '--sysroot={root}']\n"
                     f"[built-in options]\nc_link_args = ['-L{root}/usr/lib/{triple}']\n")
    return names


def configure(arch):
    """The build tree of that machine, set up once."""
    tree = ROOT / f"build-cross-{arch}"
    if not (tree / "build.ninja").exists():
        done = subprocess.run(["meson", "setup", tree, ROOT, "--buildtype=debugoptimized", "-Dwerror=true",
                               "--cross-file", ROOT / f"tools/cross-{CPU[arch]}.ini",
                               "--cross-file", sysroot_file(arch)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise archive.Unavailable(f"meson setup {tree.name}: {done.stdout.strip()[-400:]}")
    return tree


def is_native(arch):
    return os.uname().machine == CPU[arch]


def library_finder(arch):
    """Finds libraries of that machine: in its sysroot, or for this machine where its loader does."""
    triple = f"{CPU[arch]}-linux-gnu"
    root = "/" if is_native(arch) else archive.CACHE / "trees" / SYSROOT.format(arch)
    folders = [pathlib.Path(root, name) for name in (f"usr/lib/{triple}", f"lib/{triple}", f"usr/{triple}/lib")]
    folders.append(pathlib.Path(f"/usr/{triple}/lib"))
    return lambda name: next((folder / name for folder in folders if (folder / name).exists()), None)


def make_bundle(arch):
    stripper = "strip" if is_native(arch) else f"{CPU[arch]}-linux-gnu-strip"
    tree = ROOT / "build" if is_native(arch) else ROOT / f"build-cross-{arch}"
    print(bundle.make(tree, arch, stripper, library_finder(arch)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arch", choices=sorted(CPU))
    parser.add_argument("--all", action="store_true", help="test programs and libraries too")
    parser.add_argument("--bundle", action="store_true", help="all of it, with the quick suites, in one archive")
    options = parser.parse_args()
    if options.bundle and is_native(options.arch):
        make_bundle(options.arch)  # of the ordinary build tree, which ./dev has brought up to date
        return
    try:
        tree = configure(options.arch)
    except archive.Unavailable as reason:
        sys.exit(f"cross: {reason}")
    code = subprocess.run(["ninja", "-C", tree, *([] if options.all or options.bundle else [LIMPET])]).returncode
    if not code and options.bundle:
        make_bundle(options.arch)
    elif not code:
        print(f"made {(tree / LIMPET).relative_to(ROOT)}")
    sys.exit(code)


if __name__ == "__main__":
    main()
