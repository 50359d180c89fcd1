#!/usr/bin/env python3
"""Checks that every test script that runs limpet has the check of tests/common/progress.py.

A script has it when it imports progress, or a module of the tests that does.  Scripts that only read recordings are meant,
too: there is nothing to visit, and the import costs nothing.  Beyond subprocess a script may not start or end programs by
calls that progress does not see.
"""

import ast
import pathlib
import re
import sys

RUNS = re.compile(r"\bLIMPET\b|\bROCPROFV3\b|\bSAMPLER_DRIVER\b|bin/limpet\b")
UNSEEN = re.compile(r"\bos\.(?:posix_spawn\w*|spawn\w+|system|popen)\(|\bpidfd_send_signal\(|\bfrom subprocess import")
KNOWN = {
    "tests/style/test_checks.py": "examples of what is refused",
    "tests/bundle/run": "runs the tests, and no limpet",
    "tests/kernels/run": "names the limpet that it builds",
    "tests/roots/languages.py": "starts the tests of tests/sampling",
    "tests/roots/pythons.py": "starts the tests of tests/sampling",
    "tests/real/gdb_look.py": "runs inside gdb, in servers that tests/real/sampling.py checks",
    "tests/real/jhsdb_truth.py": "in servers that tests/real/sampling.py checks",
}


def is_script(path):
    if path.suffix == ".py":
        return True
    return not path.suffix and path.is_file() and path.read_bytes()[:32].startswith(b"#!/usr/bin/env python3")


def imports(text):
    """Names of the modules that a script imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    texts = {path: path.read_text() for path in sorted((root / "tests").rglob("*")) if is_script(path)}
    wanted = {path: set(imports(text)) for path, text in texts.items()}
    reached, grown = {"progress"}, True
    while grown:
        more = {path.stem for path, names in wanted.items() if names & reached} - reached
        reached, grown = reached | more, bool(more)
    complaints = []
    for path, text in texts.items():
        name = path.relative_to(root).as_posix()
        if UNSEEN.search(text) and name not in KNOWN:
            complaints.append(f"{name}: {UNSEEN.search(text).group()}: tests/common/progress.py does not see this.  Use subprocess.Popen")
        if RUNS.search(text) and name not in KNOWN and path.stem != "progress" and not wanted[path] & reached:
            complaints.append(f"{name}: runs limpet and does not import tests/common/progress.py: targets are not checked after the visit")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
