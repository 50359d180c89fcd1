#!/usr/bin/env python3
"""Checks that documents name what is there. An argument names another tree.

Every relative link of a Markdown file leads to a file, and so does every path of the repository that stands in
`backquotes`, patterns and placeholders in capitals left out. A line has at most 120 columns. docs/ui-api.md names every
route of the page. The README is at most 10 KB.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|compat|tests|tools|examples|include|docs|bench)/[\w./-]+)`")
ROUTES, ROUTES_DOCUMENT = "src/host/ui/request/routes.def", "docs/ui-api.md"
ROUTE = re.compile(r'^ROUTE\(\w+, \w+, (?:GET|POST), "([^"]+)"', re.MULTILINE)
README_BYTES = 10240
COLUMNS = 120
# What they tell of was so when they were written.
HISTORY = ("docs/adr/", "CHANGELOG.md", "docs/upgrading.md")


def documents(root):
    return [path for path in sorted(root.rglob("*.md"))
            if not any(part.startswith((".", "build", "out")) for part in path.relative_to(root).parts[:-1])]


def is_placeholder(path):
    return re.search(r"(?:^|[/_-])[A-Z]{4,}", pathlib.PurePath(path).with_suffix("").as_posix()) is not None


def complaints_of(root, path):
    name, text = path.relative_to(root).as_posix(), path.read_text()
    for link in LINK.findall(text):
        if not link.startswith(("http:", "https:", "mailto:")) and not (path.parent / link).exists():
            yield f"{name}: links to {link}, which is not there"
    if name.startswith(HISTORY):
        return
    for found in PATH.findall(text):
        there = root / found.rstrip("/.")
        if not is_placeholder(found) and not there.exists() and not list(there.parent.glob(there.name + ".*")):
            yield f"{name}: names {found}, which is not there"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, {COLUMNS} at most"


def complaints_of_routes(root):
    table, document = root / ROUTES, root / ROUTES_DOCUMENT
    if table.exists():
        text = document.read_text()
        for route in ROUTE.findall(table.read_text()):
            if route not in text and "/" + route.rpartition("#/")[2] not in text:
                yield f"{ROUTES_DOCUMENT}: the route {route} is missing"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    complaints = [complaint for path in documents(root) for complaint in complaints_of(root, path)]
    complaints += complaints_of_routes(root)
    readme = root / "README.md"
    if readme.exists() and readme.stat().st_size > README_BYTES:
        complaints.append(f"README.md: more than {README_BYTES} bytes: details belong into docs/")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
