#!/usr/bin/env python3
"""
What can be traced is defined once, in src/shared/wire/domains.def.  A made-up domain is added there by one line,
limpet is linked again with it, and the option, its help, completions, the report and every format have it.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_newer_recording.
"""

import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PROGRAMS, limpet  # noqa: E402

import perfetto  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEFINITION = "shared/wire/domains.def"
DEPENDS = re.compile(r"\bDOMAINS(_[A-Z]+)?\b|domains\.def|\bdomain_is_in\b")
# Not shifts, and not the bound of all numbers.
ORDER = re.compile(r"(?<![<>])[<>]=?\s*DOMAIN_(?!NUMBERS)[A-Z]|\bDOMAIN_[A-Z_]+\s*[<>](?![<>])|=\s*DOMAIN_\w+;.*\bDOMAINS\b")
NUMBER, KIND, HELP = 31, 63, "calls that nobody makes"
LINE = f"""DOMAIN({NUMBER}, MADE_UP, "made-up", "calls: made-up", CALL, OWN, {KIND}, "LIMPET_MADE_UP",
       IN_SYS, "made-up-trace", "{HELP}")
"""


def build_folder():
    return pathlib.Path(LIMPET).resolve().parent.parent.parent


def definition():
    """(number, name, key, title, form, list, kind, kind's name, option) of each domain."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "src" / DEFINITION).read_text(), flags=re.S)
    rows = []
    for match in re.finditer(r"^DOMAIN(?:_NO_OPTION)?\((.*?)\)$", text, re.S | re.M):
        fields = [field.strip().strip('"') for field in next(csv.reader([match[1].replace("\n", " ")],
                                                                        skipinitialspace=True))]
        rows.append((int(fields[0]), *fields[1:8], fields[9]))
    return rows


class Table(unittest.TestCase):
    def sources(self, *folders):
        for folder in folders:
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".c", ".h", ".def"):
                    yield path

    def test_a_domain_is_named_in_its_own_file_only(self):
        named = [path for path in self.sources("src", "compat") if re.search(r"\bDOMAIN_RCCL\b", path.read_text())]
        self.assertLessEqual(len(named), 2, named)

    def test_nobody_compares_domains_by_their_order(self):
        wrong = [path for path in self.sources("src", "compat")
                 if re.search(ORDER, path.read_text())]
        self.assertEqual(wrong, [])
        for text in ("domain >= DOMAIN_KERNEL", "DOMAIN_IO < x", "for (i = DOMAIN_KERNEL; i < DOMAINS; i++)"):
            self.assertRegex(text, ORDER)
        self.assertNotRegex("bits & 1u << DOMAIN_IO", ORDER)

    def test_numbers_are_those_of_old_recordings(self):
        """Never changed: files hold them."""
        keys = ["alloc", "io", "lock", "function", "marker", "opencl", "hip", "hip-compiler", "hsa-core", "hsa-amd",
                "hsa-image", "hsa-finalizer", "rccl", "kernel", "memory-copy", "memory-allocation", "scratch-memory"]
        found = {row[0]: row[2] for row in definition()}
        self.assertEqual([found.get(number) for number in range(len(keys))], keys)
        self.assertEqual(len(found), len(definition()), "a number is used twice")

    def test_the_documentation_has_the_table(self):
        text = (ROOT / "docs/recording-format.md").read_text()
        for number, _, key, title, form, _, kind, kind_name, option in sorted(definition()):
            option = "" if option == "NULL" else f"`--{option}`"
            self.assertIn(f"| {number} | `{key}` | {title} | {form.lower()} | {kind} `{kind_name}` | {option} |\n", text)


@unittest.skipUnless((build_folder() / "build.ninja").exists(), "needs a build tree")
class MadeUp(unittest.TestCase):
    """Linked again: what depends on the table is compiled, the rest is that of the build."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="domain-")
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.folder = pathlib.Path(folder)
        text = (ROOT / "src" / DEFINITION).read_text()
        overlay = cls.folder / "src" / DEFINITION
        overlay.parent.mkdir(parents=True)
        overlay.write_text(text.replace("/* clang-format on */", LINE + "/* clang-format on */"))
        cls.limpet = cls.link(cls.compile())
        cls.path = os.path.join(folder, "it.limpet")
        made = subprocess.run([os.path.join(PROGRAMS, "make_newer_recording"), cls.path, str(NUMBER)], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=60)
        cls.told = json.loads(made.stdout)

    @classmethod
    def compile(cls):
        """{object of the build: object with the domain}."""
        build, orders = build_folder(), {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            source = (build / entry["file"]).resolve()
            output = entry.get("output", "")
            if output.startswith(("src/host/libhost.a.p/", "src/host/limpet.p/")) and DEPENDS.search(source.read_text()):
                orders[output] = (shlex.split(entry["command"]), cls.folder / output.replace("/", "_"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda order: cls.run_compiler(*order), orders.values()))
        return {output: str(made) for output, (_, made) in orders.items()}

    @classmethod
    def run_compiler(cls, command, output):
        command[command.index("-o") + 1] = str(output)
        for option in ("-MQ", "-MF"):
            at = command.index(option)
            del command[at:at + 2]
        command.remove("-MD")
        first = next(at for at, word in enumerate(command) if word.startswith("-I"))
        command.insert(first, f"-I{cls.folder / 'src'}")
        subprocess.run(command + ["-O0", "-U_FORTIFY_SOURCE"], check=True, cwd=build_folder(), timeout=600)

    @classmethod
    def link(cls, objects):
        build = build_folder()
        orders = subprocess.run(["ninja", "-C", build, "-t", "commands", "src/host/limpet"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        command = [objects.get(word, word) for word in shlex.split(orders.strip().splitlines()[-1])]
        output = cls.folder / "limpet"
        command[command.index("-o") + 1] = str(output)
        # Before the archive that has the others of their names.
        at = command.index("src/host/libhost.a")
        command[at:at] = [made for name, made in objects.items() if name.startswith("src/host/libhost.a.p/")]
        subprocess.run(command, check=True, cwd=build, timeout=600)
        return str(output)

    def run_limpet(self, *arguments):
        result = subprocess.run([self.limpet, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def export(self, name, extension):
        out = str(self.folder / f"out.{name}{extension}")
        self.run_limpet("export", self.path, "-f", name, "-o", out)
        return out

    def test_without_it_it_is_other(self):
        self.assertIn(f"calls: other {NUMBER}\n", limpet("report", self.path).out)

    def test_option_and_help(self):
        self.assertRegex(self.run_limpet("record", "--help"), rf"--made-up-trace\s+{HELP}\n")

    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("made-up-trace", self.run_limpet("completions", shell))

    def test_report(self):
        self.assertIn("calls: made-up\n", self.run_limpet("report", self.path))
        events = [json.loads(line) for line in self.run_limpet("report", self.path, "--json").splitlines()]
        [event] = [event for event in events if event.get("domain") == "made-up"]
        self.assertEqual((event["name"], event["calls"]), ("futureCall", self.told["each"]))

    def test_formats_of_ours(self):
        with open(self.export("csv", ".csv"), newline="", encoding="utf-8") as file:
            self.assertIn("made-up", {row["domain"] for row in csv.DictReader(file)})
        with open(self.export("json", ".json"), encoding="utf-8") as file:
            self.assertIn("made-up", {function["domain"] for function in json.load(file)["functions"]})
        with open(self.export("chrome", ".trace"), encoding="utf-8") as file:
            self.assertIn("made-up", {event.get("cat") for event in json.load(file)["traceEvents"]})
        slices = perfetto.Trace(self.export("pftrace", ".pftrace")).slices
        self.assertIn("made-up", {slice_["category"] for slice_ in slices})

    def test_formats_of_amd(self):
        out = self.export("rocprof-csv", "")
        with open(out + "_limpet_api_trace.csv", newline="", encoding="utf-8") as file:
            self.assertIn("LIMPET_MADE_UP", {row["Domain"] for row in csv.DictReader(file)})
        with open(self.export("rocprof-json", ".json"), encoding="utf-8") as file:
            self.assertIn("LIMPET_MADE_UP", file.read())
        with sqlite3.connect(self.export("rocpd", ".db")) as database:
            [(count,)] = database.execute("SELECT count(*) FROM regions WHERE category = 'LIMPET_MADE_UP'")
        self.assertEqual(count, self.told["each"])

    def test_the_tracer_needs_one_file_more(self):
        """It compiles with the line alone; docs/howto/add-a-domain.md says where it is listed."""
        source = self.folder / "made_up.c"
        source.write_text('#include "target/domains/cpu/cpu.h"\n'
                          "static const struct traced calls[] = {\n"
                          '\t{ "madeUp", NULL, DOMAIN_MADE_UP, HOOK_ANY, .value_count = 0 },\n};\n'
                          "const struct domain_hooks hooks_made_up = { DOMAIN_MADE_UP, calls, 1, NULL };\n")
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-fsyntax-only", f"-I{self.folder / 'src'}",
                        f"-I{ROOT / 'src'}", str(source)], check=True, timeout=600)


if __name__ == "__main__":
    unittest.main()
