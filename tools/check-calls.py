#!/usr/bin/env python3
"""Checks that the files of a runtime's folder call each other in one direction only.

Each folder of src/target/domains has a list of its files, calls.txt, lowest first: a file may use
what is defined in its own folder only by files above its own line.  Read from the tracer's objects.

usage: check-calls.py BUILD [ROOT]
"""

import pathlib
import sys

import object_symbols

OBJECTS = "src/target/liblimpet-tracer.so.p"
DOMAINS = "src/target/domains"


def read_list(path):
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def check_order(names, tables):
    """Complaints about a list of files with their (defined, needed) symbols."""
    home = {symbol: name for name in names for symbol in tables[name][0]}
    for at, name in enumerate(names):
        for symbol in sorted(tables[name][1]):
            other = home.get(symbol)
            if other is not None and names.index(other) > at:
                yield f"{name}: uses {symbol} of {other}, which is below it in calls.txt"


def check_folder(folder, objects):
    names = read_list(folder / "calls.txt")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.c")}
    for name in sorted(there ^ set(names)):
        yield f"{name}: is {'not in' if name in there else 'only in'} {folder.name}/calls.txt"
    known = [name for name in names if name in there]
    prefix = f"domains_{folder.name}_"
    paths = {name: objects / f"{prefix}{name.replace('/', '_')}.o" for name in known}
    tables = object_symbols.read_symbols(paths.values())
    yield from check_order(known, {name: tables[path] for name, path in paths.items()})


def main():
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent.parent
    complaints = []
    for folder in sorted({path.parent for path in (root / DOMAINS).glob("*/calls.txt")}):
        complaints += [f"{folder.name}/{complaint}" for complaint in check_folder(folder, build / OBJECTS)]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
