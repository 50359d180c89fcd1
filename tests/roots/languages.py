"""Interpreters of Ruby and Perl from another Debian release, unpacked beside the machine's own."""

import os
import platform
import subprocess
import sys

from pythons import ARCHITECTURES, HERE, LIMIT_S, archive, wrapper

RELEASE = "trixie"
PACKAGES = ["ruby3.3", "perl-base"]
TESTS = HERE.parent / "sampling" / "test_languages.py"


def scripts(folder):
    """By the variable that names them to the tests."""
    arch, triplet = ARCHITECTURES[platform.machine()], f"{platform.machine()}-linux-gnu"
    root = archive.tree(f"languages-{RELEASE}-{arch}", RELEASE, arch, lambda packages: packages.closure(PACKAGES))
    ruby = wrapper(root, folder / "ruby", [], root / "usr/bin/ruby3.3", "--disable-gems")
    perl = wrapper(root, folder / "perl", [f"PERL5LIB={root}/usr/lib/{triplet}/perl-base"], root / "usr/bin/perl")
    return {"RUBY": str(ruby), "PERL": str(perl)}


def problem(folder, programs):
    """What is wrong with the functions that limpet sees there, or None."""
    environment = {**os.environ, **scripts(folder), "SAMPLING_PROGRAMS": str(programs),
                   "SAMPLER_DRIVER": str(programs / "sampler_driver")}  # fmt: skip
    done = subprocess.run([sys.executable, str(TESTS), "Ruby", "Perl"], env=environment, capture_output=True, text=True,
                          timeout=LIMIT_S)  # fmt: skip
    if done.returncode == 77:
        raise archive.Unavailable(done.stdout.strip())
    return None if done.returncode == 0 else done.stderr.strip()
