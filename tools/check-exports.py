#!/usr/bin/env python3
"""Checks the shared objects of a build tree: check-exports.py BUILD.

What each exports is exactly what its exports.map names. The agent, which lives in other people's
processes, also needs no library, leaves no symbol open, has no thread-local storage and no code
that aborts (stack protector, FORTIFY). The tracer, which lives there too, needs the agent, leaves open
what it wants of the agent, and has the sixteen bytes of thread-local storage that a library which comes
late may have.
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


def check_guest(library, needs, open_symbols, tls_bytes):
    """A library that lives in other people's processes."""
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library)):
        if needed not in needs:
            yield f"needs {needed}"
    for line in re.findall(r"^\s*TLS\s.*", readelf("-l", library), re.MULTILINE):
        if int(line.split()[5], 16) > tls_bytes:
            yield "has too much thread-local storage" if tls_bytes else "has thread-local storage"
    for name, section, is_global, _ in symbols(library, "--dyn-syms"):
        if section == "UND" and is_global and name and not fnmatch.fnmatchcase(name, open_symbols):
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
        if "agent" in library.name:
            complaints += check_guest(library, (), "", 0)
        if "tracer" in library.name:
            complaints += check_guest(library, ("librocprofiler-sdk.so.1",), "limpet_agent_*", 16)
        for complaint in complaints:
            print(f"{library.name}: {complaint}")
        failed += bool(complaints)
    if not found:
        print("no shared object with an exports.map in this build tree")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
