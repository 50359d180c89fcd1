#!/usr/bin/env python3
"""Checks that every include respects tools/layers.txt. An argument names another tree.

Also: each folder with sources has a line, each included file exists, edges make no circle, the public headers and
the examples use no private one, and code of one process (host, target, injector) never includes that of another.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SOURCES = {".c", ".h", ".S", ".def"}
ROOTS = ("src", "compat", "examples", "include")
PROCESSES = ("host", "target", "injector")


def read_layers(path):
    """{folder: folders that it may include}."""
    layers = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, _, others = line.partition(":")
            layers[folder.strip()] = others.split()
    return layers


def name_of(root, path):
    """As layers.txt names it: relative to src/, or to the tree."""
    name = path.relative_to(root).as_posix()
    return name[len("src/"):] if name.startswith("src/") else name


def sources(root):
    return sorted(path for folder in ROOTS for path in (root / folder).rglob("*") if path.suffix in SOURCES)


def is_in(name, folder):
    return name == folder or name.startswith(folder + "/")


def layer_of(name, layers):
    """The longest listed folder that holds the file, or None."""
    return max((layer for layer in layers if is_in(name, layer)), key=len, default=None)


def process_of(name):
    return next((process for process in PROCESSES if name.split("/")[0] == process), None)


def resolve(root, path, include):
    """The included file, or None when it is not one of ours."""
    folders = [path.parent, root / "src", root / "include", root, *sorted((root / "compat").glob("*/"))]
    found = next((folder / include for folder in folders if (folder / include).is_file()), None)
    return found.resolve() if found else None


def check_include(root, path, include, layers):
    """A complaint, or None."""
    name = name_of(root, path)
    own = layer_of(name, layers)
    found = resolve(root, path, include)
    if found is None:
        # Generated headers (embedded bytes) live in the build tree, beside the folder's objects.
        if layer_of(include, layers) == own:
            return None
        return f'{name}: includes "{include}", which is not in src/'
    other = name_of(root.resolve(), found)
    if process_of(name) and process_of(other) and process_of(name) != process_of(other):
        return f"{name}: {process_of(name)} includes {process_of(other)} ({other})"
    if layer_of(other, layers) is None:
        return f"{other}: its folder is not in tools/layers.txt"
    if layer_of(other, layers) == own or any(is_in(other, allowed) for allowed in layers[own]):
        return None
    if name.startswith("include/"):
        return f'{name}: public, but includes "{include}"'
    return f"{name}: {own} may not include {layer_of(other, layers)} ({other})"


def whole(folder):
    """The folder that a part belongs to: host/export/amd is one of host/export's."""
    return "/".join(folder.split("/")[:2])


def check_circles(layers):
    """Complaints about edges that lead back."""
    edges = {}
    for folder, others in layers.items():
        reached = {whole(layer) for layer in layers for other in others if is_in(layer, other)}
        edges.setdefault(whole(folder), set()).update((reached | {whole(other) for other in others}) - {whole(folder)})
    done, path = set(), []

    def follow(folder):
        if folder in path:
            yield "tools/layers.txt: a circle: " + " -> ".join(path[path.index(folder):] + [folder])
        elif folder not in done:
            path.append(folder)
            for other in sorted(edges.get(folder, ())):
                yield from follow(other)
            done.add(path.pop())

    for folder in sorted(edges):
        yield from follow(folder)


def check_tree(root, layers):
    yield from check_circles(layers)
    for path in sources(root):
        if layer_of(name_of(root, path), layers) is None:
            yield f"{name_of(root, path)}: its folder is not in tools/layers.txt"
            continue
        for include in INCLUDE.findall(path.read_text()):
            complaint = check_include(root, path, include, layers)
            if complaint:
                yield complaint


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    complaints = sorted(set(check_tree(root, read_layers(root / "tools" / "layers.txt"))))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
