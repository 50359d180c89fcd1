#!/usr/bin/env python3
"""Runs clang-tidy over the product's sources with what the build knows: check-tidy.py BUILD [FILE...].

gcc's own options are left out of the commands, each source is looked at once, and only what was
found is printed. What was clean is kept in BUILD/tidy, and passed over until a byte of it changes.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "compat", "examples")
GCC_ONLY = {"-fno-tree-loop-distribute-patterns", "-mno-outline-atomics", "-mgeneral-regs-only"}


def commands(build, wanted):
    """The compile commands of the C sources, one for each, cleaned."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        is_ours = any(path.is_relative_to(ROOT / folder) for folder in FOLDERS)
        if path.suffix == ".c" and is_ours and (not wanted or path in wanted):
            words = [word for word in entry["command"].split(" ") if word not in GCC_ONLY]
            found[path] = {**entry, "file": str(path), "command": " ".join(words)}
    return found


@functools.cache
def rules():
    """The rules, and who applies them."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    return version + (ROOT / ".clang-tidy").read_bytes()


def fingerprint(entry):
    """Of all that clang-tidy would read: the source with its headers and their comments."""
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = "-"
    read = subprocess.run([*words, "-E", "-C"], cwd=entry["directory"], capture_output=True, check=True).stdout
    return hashlib.sha256(rules() + entry["command"].encode() + read).hexdigest()


def tidy(entry, database, clean):
    mark = clean / fingerprint(entry)
    if mark.exists():
        return 0, ""
    argv = ["clang-tidy", "--quiet", "-p", database, "--extra-arg=-Wno-unknown-warning-option", entry["file"]]
    done = subprocess.run(argv, capture_output=True, text=True)
    text = done.stdout.replace(str(ROOT) + "/", "").strip()
    if done.returncode == 0 and not text:
        mark.touch()
    return done.returncode, text


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check-tidy.py BUILD [FILE...]")
    build = pathlib.Path(sys.argv[1]).resolve()
    clean = build / "tidy"
    clean.mkdir(exist_ok=True)
    found = commands(build, {pathlib.Path(name).resolve() for name in sys.argv[2:]})
    failed = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        (pathlib.Path(database) / "compile_commands.json").write_text(json.dumps(list(found.values())))
        for status, text in pool.map(lambda path: tidy(found[path], database, clean), sorted(found)):
            failed += status != 0
            if text:
                print(text, flush=True)
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
