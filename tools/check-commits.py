#!/usr/bin/env python3
"""Checks the messages of commits: a subject of at most 72 columns, and a body that gives the reason. Older commits were
made before this rule. An argument names another repository. 77, which skips a test: there is no git, or no history."""

import pathlib
import shutil
import subprocess
import sys

COLUMNS = 72
SINCE = "2026-11-21T00:00:00Z"


def complaint_of(commit, subject, body):
    if len(subject) > COLUMNS:
        return f"{commit}: the subject has {len(subject)} columns, {COLUMNS} at most: {subject}"
    return "" if body else f"{commit}: no body gives the reason: {subject}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    git = shutil.which("git")
    if not git:
        return 77
    log = [git, "-C", root, "log", "--no-merges", f"--since={SINCE}", "--format=%h%x00%s%x00%b%x01"]
    done = subprocess.run(log, capture_output=True, text=True, check=False)
    if done.returncode:
        return 77
    commits = [entry.strip("\n").split("\0") for entry in done.stdout.split("\1") if entry.strip()]
    complaints = [text for text in (complaint_of(*commit) for commit in commits) if text]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
