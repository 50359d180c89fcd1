#!/usr/bin/env python3
"""
rocprof-compute of limpet's beside AMD's, unchanged: ./dev real compute FOLDER, where FOLDER is rocprofiler-compute's (its
src/ is in it, and its tests/workloads, if they are there too).

1. AMD's public recordings: limpet's own analysis has the numbers that AMD's has, cell by cell.
2. The four commands of AMD's page on attaching, as they stand there, on a (stand-in) program that runs: each leaves a folder
   that AMD's analysis accepts, and both analyses have the same numbers.

AMD's program needs Debian's python3-pandas, -numpy, -tabulate, -astunparse and -yaml.  What else it imports and never uses here
(pages in a browser, charts) is replaced by empty modules.  Nothing of AMD's is changed: it runs from a copy, since it writes
into the folders that it reads.

"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
for variable, path in {"LIMPET": "src/host/limpet", "PROGRAMS": "tests/programs", "STANDIN": "tests/standin",
                       "REGISTER_TESTS": "tests/register", "SDK": "src/target/librocprofiler-sdk.so.1",
                       "REGISTER": "compat/register/librocprofiler-register.so.0",
                       "COMPUTE": "compat/compute/rocprof-compute"}.items():
    os.environ.setdefault(variable, str(ROOT / "build" / path))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/amd"))

COMPUTE = os.environ["COMPUTE"]
PYTHON = "/usr/bin/python3"
LIMIT_S = 300
CHOSEN = ("vcopy", "ipblocks_CPC", "ipblocks_SQ_SPI_TA_TCC_CPF", "sort_kernels")  # of those of AMD's tests
ROUNDING = 0.011  # both print two digits

EMPTY_MODULES = '''
import importlib.machinery, sys, types
NAMES = ("colorlover", "dash", "dash_bootstrap_components", "dash_svg", "plotext", "plotille", "plotly", "kaleido", "pymongo",
         "rich", "textual", "textual_fspicker", "tqdm", "matplotlib", "sqlalchemy")
class Nothing:
    def __init__(self, *_, **__):
        pass
    def __getattr__(self, _):
        return lambda *_, **__: ""
class Empty(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Nothing,), {})
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Empty(spec.name)
    def exec_module(self, module):
        pass
sys.meta_path.append(Finder())
'''


class Failure(Exception):
    pass


def rows_of(text):
    """{"5.1.1": [cell, ...]} of the tables of metrics, without names and units."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split("[│|]", line)[1:-1]]
        if len(cells) > 2 and re.fullmatch(r"\d+\.\d+\.\d+", cells[0]):
            rows[cells[0]] = cells[2:]
    return rows


def is_number(text):
    return re.fullmatch(r"-?(\d+(\.\d+)?(e[+-]?\d+)?|inf)", text) is not None


def differences(ours, amds):
    """Cells with numbers that are not the same; what only one of them shows is told by its id."""
    for key in sorted(set(ours) | set(amds)):
        if key not in ours or key not in amds:
            yield key, "shown by limpet only" if key in ours else "shown by AMD's only", ""
            continue
        for left, right in zip(ours[key], amds[key]):
            if not is_number(left) and not is_number(right):
                continue
            if not (is_number(left) and is_number(right)):
                yield key, left, right
            elif float(left) != float(right) and abs(float(left) - float(right)) > ROUNDING + 1e-6 * abs(float(right)):
                yield key, left, right


class Programs:
    def __init__(self, folder, scratch):
        self.home = scratch / "rocprofiler-compute"
        shutil.copytree(folder / "src", self.home / "src")
        shutil.copy(folder / "VERSION", self.home / "VERSION")
        modules = scratch / "modules"
        modules.mkdir()
        (modules / "sitecustomize.py").write_text(EMPTY_MODULES)
        self.environment = {**os.environ, "PYTHONPATH": str(modules), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}

    def run(self, *command, **variables):
        return subprocess.run([str(word) for word in command], env={**self.environment, **variables}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)

    def analyze_amd(self, workload, *options):
        return self.run(PYTHON, self.home / "src/rocprof-compute", "analyze", "-p", workload, *options)

    def analyze_own(self, workload, *options):
        return self.run(COMPUTE, "analyze", "--native", "--config-dir",
                        self.home / "src/rocprof_compute_soc/analysis_configs", "-p", workload, *options)


def compare(programs, workload, name, *options):
    """The number of equal metrics, None where AMD's refuses it; raises where one differs."""
    amd = programs.analyze_amd(workload, *options)
    if amd.returncode:
        return None
    own = programs.analyze_own(workload, *options)
    if own.returncode:
        raise Failure(f"{name}: limpet's ends with {own.returncode}\n{own.stdout[-1500:]}")
    # The memory chart is drawn by AMD's, and a table of limpet's.
    ours = {key: cells for key, cells in rows_of(own.stdout).items() if not key.startswith("3.1.")}
    amds = rows_of(amd.stdout)
    found = list(differences(ours, amds))
    if found:
        raise Failure(f"{name}: {len(found)} differ, limpet / AMD's: " + "; ".join(map(str, found[:8])))
    print(f"  {name}: {len(amds)} metrics alike", flush=True)
    return len(amds)


def recordings(programs, folder, scratch):
    found = []
    for workload in sorted((folder / "tests/workloads").glob("*/*")):
        if workload.parent.name not in CHOSEN or not (workload / "pmc_perf.csv").exists():
            continue
        copy = scratch / "recordings" / workload.parent.name / workload.name
        shutil.copytree(workload, copy)
        found.append(compare(programs, copy, f"{workload.parent.name}/{workload.name}"))
    print(f"recordings of AMD's: {len(found)}, {found.count(None)} refused by AMD's, {sum(filter(None, found))} metrics alike",
          flush=True)


def live(programs, scratch):
    """The commands of AMD's page; Enter is pressed where no duration is given."""
    from standin import STANDIN, Work

    made_up = ROOT / "tests/counters/amd"
    variables = {**os.environ, "HSA_MODEL_TOPOLOGY": str(made_up / "topology"), "ROCPROF_COMPUTE_HOME": str(programs.home / "src")}
    work = Work(library_path=f"{STANDIN}/amd_register/old:{STANDIN}", program="standin_hsa_work", STANDIN_GFX="gfx942")
    work.ask("solo", 2)
    metrics = 0
    try:
        for choice in ("-b 3.1.1 4.1.1 5.1.1", "--set launch_stats"):
            for duration in ("", " --attach-duration-msec 1500"):
                line = f"rocprof-compute profile -n try_live_attach_detach {choice} --no-roof -VVV --attach-pid {work.pid}{duration}"
                metrics += live_one(programs, scratch, work, line, variables)
    finally:
        work.close()
    print(f"commands of AMD's page: 4, {metrics} metrics alike", flush=True)


def live_one(programs, scratch, work, line, variables):
    words = line.split()
    process = subprocess.Popen([COMPUTE, *words[1:]], cwd=scratch, env=variables, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = []
    while not said or ":: success" not in said[-1]:
        said.append(process.stdout.readline())
        if not said[-1]:
            raise Failure(f"{line}: {process.wait()}\n" + "".join(said))
    work.ask("solo", 5)
    rest, _ = process.communicate("" if "--attach-duration-msec" in line else "\n", timeout=LIMIT_S)
    said = "".join(said) + rest
    if process.returncode:
        raise Failure(f"{line}: ends with {process.returncode}\n{said}")
    if "4.1.1" in line and "Skipping 4.1.1: " not in said:
        raise Failure(f"{line}: 4.1.1 is not skipped\n{said}")
    folder = next((scratch / "workloads/try_live_attach_detach").iterdir())
    shutil.rmtree(folder / "out")
    alike = compare(programs, folder, line)
    if not alike:
        raise Failure(f"{line}: AMD's analysis refuses the folder\n{programs.analyze_amd(folder).stdout[-2000:]}")
    shutil.rmtree(folder)
    return alike


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "src/rocprof-compute").exists():
        print("usage: compute.py FOLDER: rocprofiler-compute's, with src/rocprof-compute in it", file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        programs = Programs(folder, scratch)
        try:
            recordings(programs, folder, scratch)
            live(programs, scratch)
        except Failure as failure:
            print(f"FAILED {failure}")
            return 1
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
