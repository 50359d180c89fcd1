"""What object files define for others and what they need of others.

One nm reads all of them: to start it takes 50 ms, and to read an object 1 ms.
"""

import pathlib
import subprocess


def read_symbols(paths):
    """{path: (defined, needed)}."""
    paths = sorted(pathlib.Path(path) for path in paths)
    tables = {path: (set(), set()) for path in paths}
    # -A: each line begins with its file's name and a colon, however many there are.
    listing = subprocess.run(["nm", "-A", *map(str, paths)], check=True, stdout=subprocess.PIPE, text=True).stdout if paths else ""
    for line in listing.splitlines():
        path, _, words = line.rpartition(":")
        kind, name = words.split()[-2:]
        defined, needed = tables[pathlib.Path(path)]
        if kind == "U":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return tables
