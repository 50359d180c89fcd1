#!/usr/bin/env python3
"""Checks the shared objects of a build tree: check-exports.py BUILD.

What each exports is exactly what its exports.map names. The agent, which lives in other people's
processes, also needs no library, leaves no symbol open, has no thread-local storage and no code
that aborts (stack protector, FORTIFY).
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

ABORTING = re.compile(r"^(__stack_chk_\w+|__\w+_chk)$")


def readelf(option, path):
    return subprocess.run(
        ["readelf", "-W", option, str(path)], check=True, capture_output=True, text=True
    ).stdout


def symbols(path, option):
    """(name, section index, visibility-and-bind is global) of each symbol of a table."""
    for line in readelf(option, path).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            yield fields[7].split("@")[0], fields[6], fields[4] in ("GLOBAL", "WEAK", "UNIQUE"), fields[3]


def exports(path):
    return {
        name
        for name, section, is_global, kind in symbols(path, "--dyn-syms")
        if is_global and section not in ("UND", "ABS") and kind != "SECTION"
    }


def map_patterns(path):
    """The names after "global:" of a version script."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    blocks = re.findall(r"global:(.*?)(?:local:|\})", text, flags=re.DOTALL)
    return [name for block in blocks for name in re.findall(r"[\w*?]+", block)]


def check_exports(library, patterns):
    found = exports(library)
    for name in sorted(found):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield f"exports {name}, which its exports.map does not name"
    for pattern in patterns:
        if not fnmatch.filter(found, pattern):
            yield f"does not export {pattern}, which its exports.map names"


def check_agent(library):
    dynamic = readelf("-d", library)
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        yield f"needs {needed}"
    if re.search(r"^\s*TLS\s", readelf("-l", library), re.MULTILINE):
        yield "has thread-local storage"
    for name, section, is_global, _ in symbols(library, "--dyn-syms"):
        if section == "UND" and is_global and name:
            yield f"leaves {name} undefined"
    for name in sorted({name for name, *_ in symbols(library, "-s")}):
        if ABORTING.match(name):
            yield f"can abort its process: {name}"


def libraries(build):
    """(shared object, version script) of each link with one, from the build's own words."""
    text = (build / "build.ninja").read_text().replace("$\n", "")
    for output, rule in re.findall(r"^build (\S+): c_LINKER\S*(.*?)^$", text, re.MULTILINE | re.DOTALL):
        script = re.search(r"--version-script[=,]([^\s'\",]+)", rule)
        if script and ".so" in output:
            yield build / output, build / script.group(1)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check-exports.py BUILD")
    found = list(libraries(pathlib.Path(sys.argv[1]).resolve()))
    failed = 0
    for library, script in found:
        complaints = list(check_exports(library, map_patterns(script)))
        complaints += check_agent(library) if "agent" in library.name else ()
        for complaint in complaints:
            print(f"{library.name}: {complaint}")
        failed += bool(complaints)
    if not found:
        print("no shared object with an exports.map in this build tree")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
