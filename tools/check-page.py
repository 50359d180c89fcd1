#!/usr/bin/env python3
"""Checks the page of `limpet ui`: check-page.py APP.JS APP.CSS [PACKED...]. It stays small, goes into a page of its own
(export and share) as it is, makes no element from text, and asks nobody but limpet."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1] / "ui"
MOST_RAW = 150_000
MOST_PACKED = 50_000
MARKUP = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|srcdoc|eval|new Function)\b")
ELSEWHERE = re.compile(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}")


def problems_of_sources():
    for path in sorted(ROOT.rglob("*.ts")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for what in MARKUP.findall(line):
                yield f"{path.relative_to(ROOT)}:{number}: {what} makes elements or code from text"


def problems_of_bundle(script, style):
    raw = len(script) + len(style) + (ROOT / "page.html").stat().st_size
    if raw > MOST_RAW:
        yield f"the page has {raw} bytes, more than {MOST_RAW}"
    if "</script" in script or "</style" in style:
        yield "the bundle would end the element that it stands in"
    for what in ELSEWHERE.findall(script + style):
        yield f"the page names another machine: {what}"


def main():
    script, style, *packed = map(pathlib.Path, sys.argv[1:])
    problems = list(problems_of_sources()) + list(problems_of_bundle(script.read_text(), style.read_text()))
    size = sum(path.stat().st_size for path in packed)
    if size > MOST_PACKED:
        problems.append(f"packed, the page has {size} bytes, more than {MOST_PACKED}")
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
