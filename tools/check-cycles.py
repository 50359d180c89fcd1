#!/usr/bin/env python3
"""Checks that includes between folders make no circle: neither between subfolders, nor with the folder above them.

usage: check-cycles.py [ROOT]
"""

import importlib
import pathlib
import sys

layers_check = importlib.import_module("check-layers")


def folder_of(name):
    return name.rpartition("/")[0]


def read_edges(root):
    """{folder: {another folder that it includes: an example}}."""
    edges = {}
    for path in layers_check.sources(root):
        name = layers_check.name_of(root, path)
        for include in layers_check.INCLUDE.findall(path.read_text()):
            found = layers_check.resolve(root, path, include)
            other = folder_of(layers_check.name_of(root, found)) if found else folder_of(name)
            if other != folder_of(name):
                edges.setdefault(folder_of(name), {}).setdefault(other, f"{name} includes {include}")
    return edges


def find_circles(edges):
    """Each circle once, as a list of folders."""
    done, path = set(), []

    def follow(folder):
        if folder in path:
            yield path[path.index(folder):] + [folder]
        elif folder not in done:
            path.append(folder)
            for other in sorted(edges.get(folder, ())):
                yield from follow(other)
            done.add(path.pop())

    for folder in sorted(edges):
        yield from follow(folder)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    edges = read_edges(root)
    circles = list(find_circles(edges))
    for circle in circles:
        print("a circle: " + "; ".join(edges[one][other] for one, other in zip(circle, circle[1:])))
    return 1 if circles else 0


if __name__ == "__main__":
    sys.exit(main())
