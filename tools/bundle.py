"""Makes a bundle of a build tree: limpet, its test programs and its quick suites, for a machine that has only Python.

  bundle/run             runs the suites (tests/bundle/run)
  bundle/manifest.json   the suites as meson knows them, with {root}, {build} and {python} for paths of this machine
  bundle/tree            the files of the repository, with the build tree as build, the staged install tree as out, and
                         libraries that the test programs need as lib/NAME/NAME, used where the machine has none

Runs on the developer's machine, for tools/cross.py.
"""

import hashlib
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
LIMIT_MIB = 60
# Of a build tree: objects and what only ninja and meson need.
SKIP_SUFFIXES = (".o", ".a", ".d", ".ninja")
SKIP_NAMES = ("compile_commands.json", "go-cache", "cppcheck", "ui-pictures", "bundle", "bundle.tar.xz")
# Programs whose debug information no suite reads.
STRIPPED = ("build/tests/unit", "build/tests/fuzz", "build/src/host", "build/compat", "build/tests/programs/amd_output",
            "build/tests/programs/trace_probe", "out")
# Test programs are much alike, megabytes apart: the window counts, not the effort.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 64 << 20}]
CARRIED = ("libcmocka.so.0", "libOpenCL.so.1", "libstdc++.so.6", "libgcc_s.so.1")
NOT_CARRIED = {"style": "checks of the source, the same on every machine"}


def copy_repository(tree):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if os.path.lexists(ROOT / name):
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)


def skip_build_files(folder, names):
    """For shutil.copytree()."""
    return [name for name in names
            if name.endswith((".p", *SKIP_SUFFIXES)) or name.startswith(("meson-", ".ninja")) or name in SKIP_NAMES]


def stage(build, target):
    """The install tree of a build tree."""
    scratch = target.with_name("staging")
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", scratch], check=True,
                   stdout=subprocess.DEVNULL)
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    prefix = next(option["value"] for option in options if option["name"] == "prefix")
    shutil.move(f"{scratch}{prefix}", target)
    shutil.rmtree(scratch)


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def strip(tree, program):
    for name in STRIPPED:
        paths = [tree / name] if (tree / name).is_file() else (tree / name).rglob("*")
        chosen = [path for path in paths if is_elf(path)]
        if chosen:
            subprocess.run([program, "--strip-debug", *chosen], check=True)


def carry_libraries(tree, find):
    """find(name) is the path of a library for that machine, or None."""
    for name in CARRIED:
        path = find(name)
        if path:
            (tree / "lib" / name).mkdir(parents=True)
            shutil.copy(path, tree / "lib" / name / name)


def manifest_entry(test, build):
    def tell(text):
        return text.replace(str(build), "{build}").replace(str(ROOT), "{root}")

    suite = test["suite"][0].rpartition(":")[2]
    command = [tell(word) for word in test["cmd"]]
    if os.path.basename(command[0]).startswith("python3"):
        command[0] = "{python}"
        if "unittest.main(" in pathlib.Path(test["cmd"][1]).read_text():
            command.append("-v")  # names what is skipped
    entry = {key: test[key] for key in ("name", "timeout", "is_parallel", "priority")}
    entry.update(suite=suite, cmd=command, env={key: tell(value) for key, value in test["env"].items()})
    if suite in NOT_CARRIED:
        entry["skip"] = NOT_CARRIED[suite]
    return entry


def write_manifest(folder, build, arch):
    found = subprocess.run(["meson", "introspect", "--tests", build], stdout=subprocess.PIPE, check=True).stdout
    tests = [manifest_entry(test, build) for test in json.loads(found)]
    tests.sort(key=lambda test: -test["priority"])
    (folder / "manifest.json").write_text(json.dumps({"machine": MACHINES[arch], "tests": tests}, indent=1))
    return len(tests)


def link_equal_files(tree):
    """Files with the same content become one, so that the archive has it once."""
    seen = {}
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size < 65536:
            continue
        key = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
        first = seen.setdefault(key, path)
        if first != path:
            path.unlink()
            os.link(first, path)


def open_to_all(folder):
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444))


def pack(folder, path):
    def owned_by_root(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    with lzma.open(path, "wb", filters=FILTERS) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        archive.add(folder, "bundle", filter=owned_by_root)
    return path.stat().st_size / (1 << 20)


def make(build, arch, stripper, find_library):
    """Makes build/bundle and build/bundle.tar.xz; a text that says what."""
    folder = build / "bundle"
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    tree.mkdir(parents=True)
    copy_repository(tree)
    shutil.copytree(build, tree / "build", symlinks=True, ignore=skip_build_files)
    stage(build, tree / "out")
    strip(tree, stripper)
    carry_libraries(tree, find_library)
    count = write_manifest(folder, build, arch)
    shutil.copy(ROOT / "tests/bundle/run", folder / "run")
    open_to_all(folder)
    link_equal_files(tree)
    size_mib = pack(folder, build / "bundle.tar.xz")
    if size_mib > LIMIT_MIB:
        raise SystemExit(f"bundle: {size_mib:.0f} MiB compressed, more than {LIMIT_MIB}")
    return f"made {(build / 'bundle.tar.xz').relative_to(ROOT)}: {count} suites, {size_mib:.1f} MiB"
