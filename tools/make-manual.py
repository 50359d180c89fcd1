#!/usr/bin/env python3
"""Makes the page of limpet export: make-manual.py PAGE.in exporters.def OUT. The formats are those of the table."""

import pathlib
import re
import sys

LINE = re.compile(r'^EXPORTER\(\w+, "([^"]+)", ([A-Z |]+), "([^"]*)", (.*)\)$', re.MULTILINE)


def entry(name, text, extensions):
    """One format, as a paragraph of a list."""
    names = [name for name in re.findall(r'"([^"]*)"', extensions) if name]
    told = ".RI ( " + ' ", " '.join(names) + " )." if names else ""
    lines = [".TP", f".B {name}".replace("-", "\\-"), text + ("" if told else "."), told]
    return "\n".join(line for line in lines if line)


def main():
    page, table, out = map(pathlib.Path, sys.argv[1:4])
    formats = LINE.findall(table.read_text())
    lists = {
        "@SAMPLES@": [entry(name, text, rest) for name, holds, text, rest in formats if "CALLS" not in holds],
        "@CALLS@": [entry(name, text, rest) for name, holds, text, rest in formats if "CALLS" in holds],
    }
    text = page.read_text()
    for mark, entries in lists.items():
        if mark not in text or not entries:
            sys.exit(f"{page}: {mark} is missing, or {table} has no such format")
        text = text.replace(mark, "\n".join(entries))
    out.write_text(text)


if __name__ == "__main__":
    main()
