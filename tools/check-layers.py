#!/usr/bin/env python3
"""Checks that every include of src/ respects tools/layers.txt. An argument names another tree.

Also: each folder with sources is listed, each included file exists, the public headers use no
private one, and code of one process (host, target, injector) never includes that of another.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SOURCES = {".c", ".h", ".S"}
PLACES = ("host", "target", "injector")


def read_layers(path):
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def layer_of(name, layers):
    """The longest listed folder that holds the file, or None."""
    found = [layer for layer in layers if name.startswith(layer + "/")]
    return max(found, key=len, default=None)


def place_of(layer):
    return next((place for place in PLACES if layer.split("/")[0] == place), None)


def resolve(src, path, include):
    """The included file relative to src/, or None when it is not one of ours."""
    for candidate in (src / include, path.parent / include):
        if candidate.exists():
            return candidate.resolve().relative_to(src.resolve()).as_posix()
    return None


def check_include(src, path, include, layers):
    """A complaint, or None."""
    name = path.relative_to(src).as_posix()
    own = layer_of(name, layers)
    other_name = resolve(src, path, include)
    if own is None:
        return f"{name}: its folder is not in tools/layers.txt"
    if other_name is None:
        if (src.parent / "include" / include).exists():
            return None
        # Generated headers (embedded bytes) live in the build tree, beside the folder's objects.
        if layer_of(include, layers) == own:
            return None
        return f'{name}: includes "{include}", which is not in src/'
    other = layer_of(other_name, layers)
    if other is None:
        return f"{other_name}: its folder is not in tools/layers.txt"
    if place_of(own) and place_of(other) and place_of(own) != place_of(other):
        return f"{name}: {place_of(own)} includes {place_of(other)} ({other_name})"
    if layers.index(other) > layers.index(own):
        return f"{name}: {own} includes the higher {other} ({other_name})"
    return None


def check_tree(root, layers):
    src = root / "src"
    for path in sources(src):
        if layer_of(path.relative_to(src).as_posix(), layers) is None:
            yield f"{path.relative_to(src)}: its folder is not in tools/layers.txt"
        for include in INCLUDE.findall(path.read_text()):
            complaint = check_include(src, path, include, layers)
            if complaint:
                yield complaint
    for path in sources(root / "include"):
        for include in INCLUDE.findall(path.read_text()):
            if not (path.parent / include).exists():
                yield f'{path.relative_to(root)}: public, but includes "{include}"'


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    complaints = sorted(set(check_tree(root, read_layers(root / "tools" / "layers.txt"))))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
