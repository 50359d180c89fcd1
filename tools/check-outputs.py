#!/usr/bin/env python3
"""Checks that files are made in one place only, src/host/core/output_*.c. An argument names another tree.

A file that is opened for writing by its name follows whatever a stranger has put there. What else opens, makes
or renames something is listed here with the reason why it is safe; a line that is not needed is an error, too.
Variables of the environment are asked for with secure_getenv(): they lead to files as well, and a limpet with
capabilities must not take them from its user.
"""

import pathlib
import re
import sys

WORDS = re.compile(
    r"\bO_(?:CREAT|TRUNC|WRONLY|RDWR|TMPFILE|APPEND)\b"
    r"|\b(?:fopen|freopen|fdopen|creat|tmpfile|mkstemp|mkostemp|mkdtemp|mktemp|tempnam|tmpnam|mkdir|mkdirat|mkfifo"
    r"|mkfifoat|mknod|mknodat|symlink|symlinkat|link|linkat|rename|renameat|renameat2|truncate|chmod|chown|lchown"
    r"|fchmodat|fchownat|getenv|open_memstream|sqlite3_open|sqlite3_open16|sqlite3_open_v2)(?=\()"
)
FOPEN_TO_READ = re.compile(r'\bfopen\((?:[^()]|\([^()]*\))*?, "r[be]*"\)')
COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
MACHINES = ("src/host", "src/injector", "compat")

# Where what may stand, and why it cannot hit a stranger's file.
ALLOWED = {
    "src/host/core/output/output_file.c": {"O_CREAT", "O_WRONLY", "fdopen", "mkdir", "renameat"},
    "src/host/core/output/output_location.c": {"O_CREAT", "O_WRONLY", "mkdirat"},
    # Below folders that are ours and that nobody else can write in; O_EXCL.
    "src/host/unwind/tables/cache.c": {"O_CREAT", "O_WRONLY", "mkdirat", "renameat"},
    # HotSpot's trigger file: made O_EXCL below the target's root, which foreign_file.c does not leave.
    "src/host/process/jvm/jvm.c": {"O_CREAT", "O_WRONLY"},
    "src/host/process/foreign_file.c": {"O_CREAT"},
    # The memory of a process, in /proc.
    "src/host/process/memory.c": {"O_RDWR"},
    "src/injector/target.c": {"O_RDWR"},
    # The driver of AMD's devices.
    "src/host/counters/amd/device_lock.c": {"O_RDWR"},
    # In a file system that nobody else can see yet.
    "src/host/attach/library.c": {"O_CREAT", "O_WRONLY", "symlinkat"},
    # Files without a name.
    "src/host/attach/children/spawn.c": {"O_TMPFILE", "O_RDWR"},
    # A page with a name by chance, O_EXCL, made with the rights of the user alone; /dev/null.
    "src/host/ui/browser.c": {"O_CREAT", "O_WRONLY", "O_RDWR"},
    # /dev/null.
    "src/host/cli/main.c": {"O_WRONLY"},
    "src/host/recorder/counter_watch.c": {"O_WRONLY"},
    "src/host/symbols/elf/debuginfod.c": {"O_WRONLY"},
    # Memory.
    "src/host/export/profile/flamegraph.c": {"open_memstream"},
    "src/host/export/profile/folded.c": {"open_memstream"},
    "src/host/fleet/export/trace_archive.c": {"open_memstream"},
    "src/host/cli/fleet/fleet_top.c": {"open_memstream"},
    "src/host/export/amd/rocpd/rocpd_parts.c": {"open_memstream"},
    "src/host/ui/answers/answer_threads.c": {"open_memstream"},
    "src/host/ui/reply/columns.c": {"open_memstream"},
    "src/host/ui/reply/reply.c": {"fdopen"},
    # The kind of terminal and its letters: what environment_distrust() leaves.
    "src/host/top/render/terminal.c": {"getenv"},
    # The draft of an output_file, by a path that nobody else can turn.
    "src/host/export/amd/rocpd/rocpd_file.c": {"sqlite3_open_v2"},
    # A folder of our own for recordings, which are output_begin()'s.
    "src/host/rocprofv3/job.c": {"mkdtemp"},
}


def blank(match):
    """Comments and texts go, line ends stay, and so does the mode of fopen()."""
    text = match.group()
    return text if re.fullmatch(r'"r[be]*"', text) else re.sub(r"[^\n]", " ", text)


def words_in(path):
    """(line, word) of each use."""
    text = COMMENTS.sub(blank, path.read_text())
    text = FOPEN_TO_READ.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return [(text.count("\n", 0, match.start()) + 1, match.group()) for match in WORDS.finditer(text)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found, complaints = {}, []
    for path in sorted(path for folder in MACHINES for path in (root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        for line, word in words_in(path):
            found.setdefault(name, set()).add(word)
            if word not in ALLOWED.get(name, ()):
                instead = "secure_getenv()" if word == "getenv" else "host/core/output/output_file.h"
                complaints.append(f"{name}:{line}: {word}: it is {instead} that does this")
    if len(sys.argv) <= 1:
        for name, words in ((name, words) for name, words in ALLOWED.items() if (root / name).exists()):
            for word in sorted(words - found.get(name, set())):
                complaints.append(f"tools/check-outputs.py: {name} has no {word}: take the allowance back")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
