#!/usr/bin/env python3
"""Checks that what is used of another folder is of one that tools/layers.txt lets its user include.

A header may bring others along, and with them functions that check-layers.py does not see. Read from the host's objects.

usage: check-uses.py BUILD [ROOT]
"""

import importlib
import pathlib
import sys

import object_symbols

FOLDER = "src/host"

layers_check = importlib.import_module("check-layers")


def objects_of(build, root):
    """{name as layers.txt has it: object}, of all sources of the host that were compiled."""
    there = {path.name: path for path in sorted((build / FOLDER).rglob("*.o"))}
    sources = {path: path.relative_to(root / FOLDER).as_posix().replace("/", "_") + ".o" for path in (root / FOLDER).rglob("*.c")}
    return {layers_check.name_of(root, path): there[name] for path, name in sorted(sources.items()) if name in there}


def symbols_of(objects):
    """{name: (defined, needed)}."""
    tables = object_symbols.read_symbols(objects.values())
    return {name: tables[path] for name, path in objects.items()}


def is_allowed(own, other, layers):
    """Parts of one folder may use each other: tables of formats name all of them."""
    return layers_check.whole(own) == layers_check.whole(other) or any(layers_check.is_in(other, folder) for folder in layers[own])


def check_uses(tables, layers):
    """Complaints."""
    home = {symbol: name for name, (defined, _) in tables.items() for symbol in defined}
    for name, (_, needed) in tables.items():
        own = layers_check.layer_of(name, layers)
        for symbol in sorted(needed & home.keys()):
            if own is not None and not is_allowed(own, home[symbol], layers):
                yield f"{name}: {own} may not use {symbol} of {home[symbol]}"


def main():
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent.parent
    objects = objects_of(build, root)
    complaints = list(check_uses(symbols_of(objects), layers_check.read_layers(root / "tools" / "layers.txt")))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
