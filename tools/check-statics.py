#!/usr/bin/env python3
"""Checks that static functions are named by noun and verb, as all others are. An argument names another tree.

They are read in backtraces and flame graphs, where the file's name does not stand beside them: "take" says nothing there.
Inline functions are left out.
"""

import pathlib
import re
import sys

FOLDERS = ("src", "compat")
STATIC = re.compile(r"^static (?!inline)(?:\w+(?:\([^()\n]*\))?[ \n]|\*)*(\w+)\(", re.MULTILINE)


def bare_names(text):
    """(line, name) of each static function whose name is one word."""
    for match in STATIC.finditer(text):
        if "_" not in match[1]:
            yield text.count("\n", 0, match.start(1)) + 1, match[1]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    complaints = [
        f"{path.relative_to(root)}:{line}: {name}() says nothing in a backtrace: name it by noun and verb"
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.[ch]"))
        for line, name in bare_names(path.read_text())
    ]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
