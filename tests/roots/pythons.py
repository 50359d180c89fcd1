"""Interpreters of Python from other Debian releases, unpacked beside the machine's own."""

import os
import pathlib
import platform
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernels"))

import archive  # noqa: E402

RELEASES = {"bullseye": "python3.9", "trixie": "python3.13"}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
TESTS = HERE.parent / "sampling" / "test_python.py"
LIMIT_S = 1200


def tree(release):
    arch = ARCHITECTURES[platform.machine()]
    return archive.tree(f"python-{release}-{arch}", release, arch,
                        lambda packages: packages.closure([RELEASES[release]]))  # fmt: skip


def wrapper(root, script, variables, *words):
    """A script that becomes an interpreter, with the C library of its own release."""
    machine = platform.machine()
    loader = next(path for path in root.rglob(f"ld-linux-{machine.replace('_', '-')}.so.*") if path.is_file())
    libraries = ":".join(str(root / part / f"{machine}-linux-gnu") for part in ("lib", "usr/lib"))
    command = ["env", *variables, loader, "--library-path", libraries, *words]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def problem(release, folder, programs):
    """What is wrong with the Python functions that limpet sees there, or None."""
    root = tree(release)
    script = wrapper(root, folder / f"python-{release}", [f"PYTHONHOME={root}/usr"], root / "usr/bin" / RELEASES[release])
    environment = {**os.environ, "PYTHON": str(script), "SAMPLING_PROGRAMS": str(programs),
                   "SAMPLER_DRIVER": str(programs / "sampler_driver")}  # fmt: skip
    done = subprocess.run([sys.executable, str(TESTS)], env=environment, capture_output=True, text=True,
                          timeout=LIMIT_S)  # fmt: skip
    if done.returncode == 77:
        raise archive.Unavailable(done.stdout.strip())
    return None if done.returncode == 0 else done.stderr.strip()
