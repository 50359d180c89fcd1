#!/usr/bin/env python3
"""Runs clang-tidy over src/ with what the build knows: check-tidy.py BUILD [FILE...].

gcc's own options are left out of the commands, each source is looked at once, and only what was
found is printed.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GCC_ONLY = {"-fno-tree-loop-distribute-patterns", "-mno-outline-atomics", "-mgeneral-regs-only"}


def commands(build, wanted):
    """The compile commands of the C sources, one for each, cleaned."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.suffix == ".c" and path.is_relative_to(ROOT / "src") and (not wanted or path in wanted):
            words = [word for word in entry["command"].split(" ") if word not in GCC_ONLY]
            found[path] = {**entry, "file": str(path), "command": " ".join(words)}
    return found


def tidy(path, database):
    argv = ["clang-tidy", "--quiet", "-p", database, "--extra-arg=-Wno-unknown-warning-option", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True)
    return done.returncode, done.stdout.replace(str(ROOT) + "/", "").strip()


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check-tidy.py BUILD [FILE...]")
    found = commands(pathlib.Path(sys.argv[1]).resolve(), {pathlib.Path(name).resolve() for name in sys.argv[2:]})
    failed = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        (pathlib.Path(database) / "compile_commands.json").write_text(json.dumps(list(found.values())))
        for status, text in pool.map(lambda path: tidy(path, database), sorted(found)):
            failed += status != 0
            if text:
                print(text, flush=True)
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
