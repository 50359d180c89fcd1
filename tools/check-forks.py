#!/usr/bin/env python3
"""Checks that code in targets calls libc's functions which take locks in one place only.

A child of fork finds such a lock as it was, and nobody who gives it back: each call takes its turn with the program's
forks (src/target/runtime/forks.h).  The files below call them; everybody else calls those files.
"""

import pathlib
import re
import sys

LOCKING = (
    "dlopen dlmopen dlclose dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr __cxa_atexit atexit on_exit "
    "__cxa_finalize __register_atfork pthread_atfork setenv unsetenv putenv clearenv strerror"
).split()
# Not of a name that is made of one; not what is declared or listed as a name of the program's.
CALL = re.compile(rf"(?<![\w\"])(?:{'|'.join(LOCKING)})\s*\(|(?:->|\.)\s*(?:{'|'.join(LOCKING)})\b|"
                  rf"\(\s*(?:\w+,\s*)?\"(?:{'|'.join(LOCKING)})\"")
COMMENT = re.compile(r"/\*.*?\*/", re.S)

KNOWN = {
    "src/target/runtime/libc_calls.c": "for agent and tracer, in turn with forks",
    "src/target/runtime/load.c": "for who holds the turn",
    "src/target/bootstrap/boot.c": "before the agent is there, and after; in turn with forks",
    "src/target/bootstrap/boot_forks.c": "registers the handlers themselves",
    "src/target/lifecycle/library_close.c": "only compares the address with what a library imports",
    "compat/register/process/loader.c": "for the register library, in turn with forks",
    "compat/register/inprocess.c": "strerror, in turn with forks",
}


def calls(path):
    return CALL.search(COMMENT.sub("", path.read_text()))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    found = {path.relative_to(root).as_posix(): calls(path)
             for folder in ("src/target", "compat/register") for path in (root / folder).rglob("*.[ch]")}
    unknown = {name: call for name, call in found.items() if call and name not in KNOWN}
    for name, call in sorted(unknown.items()):
        print(f"{name}: {call.group().strip()}: takes a lock that a child of fork may find held.  Call it by "
              "target/runtime/libc_calls.h (compat/register/process/loader.h)")
    return 1 if unknown or not found else 0


if __name__ == "__main__":
    sys.exit(main())
