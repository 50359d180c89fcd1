#!/usr/bin/env python3
"""Checks that the files of a folder call each other in one direction only.

A folder with a list of its files, calls.txt, lowest first: a file may use what is defined in the folder
only by files above its own line. The list holds the files of its subfolders, too, unless they have a
list of their own. Read from the objects that the build made.

usage: check-calls.py BUILD [ROOT]
"""

import json
import pathlib
import sys

import object_symbols

ROOTS = ("src", "compat")


def read_list(path):
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def objects_of(build):
    """{source: its object}; objects of the product, not of tests."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        source = (build / command["file"]).resolve()
        if not command["output"].startswith("tests/"):
            found.setdefault(source, build / command["output"])
    return found


def is_of_another_list(path, folder):
    return any((parent / "calls.txt").exists() for parent in path.parents if folder in parent.parents)


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.c") if not is_of_another_list(path, folder)}


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
    there = files_of(folder)
    for name in sorted(there ^ set(names)):
        yield f"{name}: is {'not in' if name in there else 'only in'} calls.txt"
    known = [name for name in names if (folder / name).resolve() in objects]
    paths = {name: objects[(folder / name).resolve()] for name in known}
    tables = object_symbols.read_symbols(paths.values())
    yield from check_order(known, {name: tables[path] for name, path in paths.items()})


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent.parent).resolve()
    objects = objects_of(build)
    complaints = []
    for folder in sorted(path.parent for base in ROOTS for path in (root / base).rglob("calls.txt")):
        complaints += [f"{folder.relative_to(root)}/{complaint}" for complaint in check_folder(folder, objects)]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
