"""The matrix: guest.py in a machine of each kernel and architecture, its lines counted here.

Runs on the developer's machine. limpet and the test programs are built for each architecture in
build trees of their own, with the cross compiler where the architecture is foreign.
"""

import pathlib
import subprocess
import sys

import archive
import vm

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = "looking attaching hooks families sampling rights".split()  # of guest.py

sys.path += [str(ROOT / "tests/common"), str(ROOT / "tools")]
import cross  # noqa: E402
from report import Report, table  # noqa: E402


def build(arch):
    """The build tree of that architecture, up to date."""
    if arch == vm.NATIVE:
        tree = ROOT / f"build-{arch}"
        if not (tree / "build.ninja").exists():
            archive.call(["meson", "setup", tree, ROOT, "--buildtype=debugoptimized"])
    else:
        tree = cross.configure(arch)
    done = subprocess.run(["ninja", "-C", tree], capture_output=True, text=True)
    if done.returncode:
        raise archive.Unavailable(f"ninja -C {tree.name}: {done.stdout[-600:]}")
    return tree


def find_limpet(tree):
    found = [path for path in tree.rglob("limpet") if path.is_file()]
    if not found:
        raise archive.Unavailable(f"no limpet in {tree.name}")
    return found[0]


def executables(folder):
    return [path for path in folder.iterdir() if path.is_file() and path.stat().st_mode & 0o100]


def files_for(arch):
    """What the guest gets, as {name in /files: path}."""
    tree = build(arch)
    programs, hooks = executables(tree / "tests/programs"), executables(tree / "tests/hooks")
    tracer = executables(tree / "src/target")
    modules = ("attach/harness.py", "common/driving.py", "common/report.py", "common/progress.py", "tree/families.py",
               "sampling/exactness.py", "sampling/elf_symbols.py", "hooks/test_hooks.py", "kernels/guest.py")
    sampled = [tree / "tests/sampling" / name for name in ("sampler_driver", "chain_50", "chain_50_signed", "chain_1000")]
    return {
        "limpet": find_limpet(tree),
        **{f"programs/{path.name}": path for path in programs},
        **{f"hooks/{path.name}": path for path in hooks},
        **{f"tracer/{path.name}": path for path in tracer},
        **{f"sampling/{path.name}": path for path in sampled if path.exists()},
        **{pathlib.Path(name).name: ROOT / "tests" / name for name in modules},
    }


def run_machine(arch, version, options, report):
    """One boot; its row for the table."""
    print(f"\n# Linux {version} on {arch}", flush=True)
    machine = vm.Machine(arch, version, options.memory, options.cpus, options.cpu, options.append, options.verbose)
    inside = Report()

    def on_line(line):
        if line.startswith(("ok ", "not ok ")):
            print(line, flush=True)
            report.read_line(line)
            inside.read_line(line)

    command = f"exec python3 -B /files/guest.py {' '.join(options.part or [])}"
    result = machine.run(command, files_for(arch), options.timeout, on_line)
    if result.status is None or not inside.passed + inside.failed:
        tail = "\n".join(result.lines[-30:])
        report.not_ok(f"Linux {version} on {arch}", f"the guest did not come to its end\n{tail}")
    return (f"{version} {arch}", inside.passed, inside.failed, inside.skipped, f"{result.total_s:.0f}")


def run(arches, versions, options):
    report, rows = Report(), [("kernel", "passed", "failed", "skipped", "s")]
    for arch in arches:
        for version in versions:
            try:
                rows.append(run_machine(arch, version, options, report))
            except archive.Unavailable as reason:
                report.skip(f"Linux {version} on {arch}", str(reason))
    print()
    table(rows)
    return report.end()
