#!/usr/bin/env python3
"""
Writes the numbers and names of the machine's system calls, from the headers of the compiler that limpet is built with.

    make-syscall-numbers.py OUTPUT COMPILER [ARGUMENT]...

A line for each: SYSCALL(0, "read")
"""

import re
import subprocess
import sys

# Names of the header's own, and of parts of a call.
NO_CALLS = re.compile(r"^(syscalls|arch_specific_syscall|Linux|.*_BASE)$")


def preprocess(compiler, text, *options):
    return subprocess.run([*compiler, "-E", "-P", "-x", "c", *options, "-"], input=text, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def numbers(compiler):
    """{number: name}.  Some are defined by others, so the preprocessor is asked what each of them is."""
    include = "#include <asm/unistd.h>\n"
    names = sorted(set(re.findall(r"^#define __NR_(\w+)\b", preprocess(compiler, include, "-dM"), re.MULTILINE)))
    names = [name for name in names if not NO_CALLS.match(name)]
    lines = "".join(f"CALL {name}_ __NR_{name}\n" for name in names)
    found = {}
    for name, number in re.findall(r"^CALL (\w+)_ \(?(\d+)\)?$", preprocess(compiler, include + lines), re.MULTILINE):
        found.setdefault(int(number), name)
    return found


def main():
    output, compiler = sys.argv[1], sys.argv[2:]
    found = numbers(compiler)
    if len(found) < 200 or "openat" not in found.values():
        sys.exit(f"the headers of {compiler[0]} name {len(found)} system calls only")
    with open(output, "w", encoding="ascii") as file:
        for number, name in sorted(found.items()):
            file.write(f'SYSCALL({number}, "{name}")\n')


main()
