#!/usr/bin/env python3
"""Checks that foreign text reaches nobody as it is. An argument names another tree.

What limpet prints or exports goes through host/core/text/print.h, foreign.h or json.h, which know what a terminal, a
browser or a spreadsheet would obey. The C library's functions may write literals and numbers, no more: no %s, no
text that is not written down in the call. Exceptions are listed with their reason; one that is not needed is an
error, too.
"""

import pathlib
import re
import sys

CALL = re.compile(
    r"(?<![\w>.])(printf|fprintf|dprintf|vprintf|vfprintf|vdprintf|puts|fputs|fputs_unlocked|putchar|fputc|putc|fwrite"
    r"|fwrite_unlocked|perror|psignal|error|warn|warnx|errx|syslog|writev|write|addstr|addnstr|mvaddstr|mvaddnstr|addwstr"
    r"|mvaddwstr|addnwstr|mvaddnwstr|printw|mvprintw|wprintw|fputws|wprintf|fwprintf)\("
)
COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
LITERALS = re.compile(r'(?:\s*(?:"(?:\\.|[^"\\])*"|PRI[a-zA-Z0-9]+))+\s*')
CHOICE = re.compile(r"[^\"]*\?" + LITERALS.pattern + ":" + LITERALS.pattern)
LETTER = re.compile(r"\s*'(?:\\.|[^'\\])'\s*")
TEXT_CONVERSION = re.compile(r"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|j|z|t|L)?[sS]")
FOLDERS = ("src/host", "compat")

ALLOWED = {
    # The layer that this is about.
    "src/host/core/text/foreign.c": {"fputs", "fwrite"},
    "src/host/core/text/print.c": {"fwrite"},
    "src/host/core/text/json.c": {"fputc", "fputs", "fwrite"},
    # Writes what foreign_clean() has cleaned.
    "compat/attach/outcome.c": {"write"},
    # A literal, where only system calls are left.
    "src/host/core/self/interrupt.c": {"write"},
    # Cells of screen.c, whose letters are from letter_at().
    "src/host/top/render/terminal.c": {"mvaddnwstr"},
    # Bytes for machines: lengths stand before texts, and nobody reads them on a terminal.
    "src/host/export/profile/pprof.c": {"fwrite"},
    "src/host/export/trace/pftrace_packet.c": {"fwrite"},
    "src/host/fleet/export/trace_archive.c": {"fwrite"},
    # Bytes for machines, cleaned by foreign_copy() before, and JSON of json.c.
    "src/host/ui/reply/columns.c": {"fwrite"},
    # The page itself, and answers as base64.
    "src/host/ui/answers/share.c": {"fwrite"},
    # The page itself, and JSON of json.c in which no '<' is left.
    "src/host/export/profile/flamegraph.c": {"fwrite"},
    # limpet's own help, letter by letter.
    "src/host/cli/cmd_completions.c": {"putchar"},
}
NOT_PRINTING = {"write": ("STDOUT_FILENO", "STDERR_FILENO", "1", "2")}


def arguments_at(text, at):
    """The arguments of the call whose '(' is before `at`, as texts."""
    parts, depth, begin = [], 0, at
    string = None
    while at < len(text):
        letter = text[at]
        if string:
            at += letter == "\\"
            string = None if letter == string else string
        elif letter in "\"'":
            string = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}" and depth:
            depth -= 1
        elif letter == ")" or letter == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
            if letter == ")":
                return parts
        at += 1
    return parts


def is_literal(argument):
    return LITERALS.fullmatch(argument) or CHOICE.fullmatch(argument)


def is_harmless(name, arguments):
    """Does the call write nothing but what stands in it?"""
    if name in ("printf", "fprintf", "dprintf"):
        index = 0 if name == "printf" else 1
        form = arguments[index] if len(arguments) > index else ""
        return bool(is_literal(form)) and not TEXT_CONVERSION.search(form.replace("%%", ""))
    if name in ("puts", "fputs"):
        return bool(is_literal(arguments[0]))
    if name in ("putchar", "fputc", "putc"):
        return bool(LETTER.fullmatch(arguments[0]))
    if name in NOT_PRINTING:
        return arguments[0] not in NOT_PRINTING[name]
    return False


def blank(match):
    """Comments go, line ends stay."""
    return match.group() if match.group()[0] == '"' else re.sub(r"[^\n]", " ", match.group())


def calls_in(path):
    """(line, name) of each call that writes something else."""
    text = COMMENT.sub(blank, path.read_text())
    for match in CALL.finditer(text):
        line_begin = text.rfind("\n", 0, match.start()) + 1
        before = text[line_begin:match.start()]
        if before.count('"') % 2 or re.match(r"(?:static |extern )?[\w ]+ \*?$", before) and not before.startswith("\t"):
            continue  # within a text, or the definition of a function of ours
        if not is_harmless(match.group(1), arguments_at(text, match.end())):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def defines(text, name):
    """Is there a function of the file's own with that name?"""
    return re.search(rf"^static [\w *]*\b{name}\(", text, re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found, complaints = {}, []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.c")):
        name, text = path.relative_to(root).as_posix(), path.read_text()
        for line, call in calls_in(path):
            if defines(text, call):
                continue
            found.setdefault(name, set()).add(call)
            if call not in ALLOWED.get(name, ()):
                complaints.append(f"{name}:{line}: {call}() may write foreign text: host/core/text/print.h, foreign.h, json.h")
    if len(sys.argv) <= 1:
        for name, calls in ((name, calls) for name, calls in ALLOWED.items() if (root / name).exists()):
            for call in sorted(calls - found.get(name, set())):
                complaints.append(f"tools/check-words.py: {name} has no such {call}(): take the allowance back")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
