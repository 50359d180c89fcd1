#!/usr/bin/env python3
"""Lists the files with variables that outlive a function, from the objects of a build: check-state.py BUILD [ROOT].

The list "Variables that outlive a function" in ARCHITECTURE.md must name each such file of the host and of the
injector, and each such folder of the target and of the register library; and nothing else.
"""

import pathlib
import re
import subprocess
import sys

HEADING = "## Variables that outlive a function"
# Folders of objects, and where their sources are. Names of objects are paths with _ for /, which sources tell apart.
OBJECTS = (
    ("src/host/libhost.a.p", "src/host"), ("src/host/libprofile.a.p", "src/host"), ("src/host/libui.a.p", "src/host"),
    ("src/host/libfleet.a.p", "src/host"), ("src/host/limpet.p", "src/host"), ("src/injector/limpet-injector.p", "src/injector"),
    ("src/target/limpet-agent.so.p", "src/target"), ("src/target/liblimpet-tracer.so.p", "src/target"),
    ("src/target/liblimpet-amd-engine.a.p", "src/target"),
    ("compat/register/librocprofiler-register.so.0.p", "compat/register"), ("compat/attach/*.p", "compat/attach"),
    ("compat/avail/*.p", "compat/avail"),
)
BY_FOLDER = ("src/target/", "compat/")
MUTABLE = re.compile(r"^\.(data|bss|tdata|tbss)(?!\.rel\.ro)")


def has_state(path):
    listing = subprocess.run(["nm", "--format=sysv", path], capture_output=True, text=True, check=True).stdout
    return any(MUTABLE.match(line.split("|")[6].strip()) for line in listing.splitlines() if line.count("|") == 6)


def sources_by_object(root, folder):
    """{name of the object: path}; sources of other folders are named from where both meet."""
    found = {}
    for start in (root, root / "src", root / folder):
        found.update({path.relative_to(start).as_posix().replace("/", "_") + ".o": path.relative_to(root).as_posix()
                      for path in start.rglob("*.c")})
    return found


def found(build, root):
    """The files, of the target the folders, that have such variables."""
    for pattern, folder in OBJECTS:
        sources = sources_by_object(root, folder)
        for path in sorted(path for objects in build.glob(pattern) for path in objects.glob("*.o")):
            source = sources.get(re.sub(r"^(\.\._)+", "", path.name))
            if source and has_state(path):
                yield source.rpartition("/")[0] if source.startswith(BY_FOLDER) else source


def told(root):
    """What the list names, before the colon of each item."""
    text = (root / "ARCHITECTURE.md").read_text().split(HEADING, 1)[1].split("\n## ", 1)[0]
    names = [name for item in text.split("\n- ")[1:] for name in re.findall(r"`([^`]+)`", item.split(": ")[0])]
    return {name if name.startswith("compat/") else "src/" + name for name in names}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent.parent).resolve()
    have, listed = set(found(build, root)), told(root)
    complaints = [f"{name}: has variables that outlive a function, and is not in the table of ARCHITECTURE.md"
                  for name in sorted(have - listed)]
    complaints += [f"ARCHITECTURE.md: {name} has no variables that outlive a function" for name in sorted(listed - have)]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
